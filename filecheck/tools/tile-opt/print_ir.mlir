// The IR between passes, and between the stages of a compilation, on stderr or in a tree of files.

// RUN: tile-opt %s -p canonicalize,cse --print-ir-before=cse 2>&1 >/dev/null | filecheck %s --check-prefix=BEFORE
// RUN: tile-opt %s -p canonicalize,cse --print-ir-after=cse,canonicalize 2>&1 >/dev/null | filecheck %s --check-prefix=AFTER
// RUN: tile-opt %s -p canonicalize,cse --print-ir-before-all --print-ir-after-all 2>&1 >/dev/null | filecheck %s --check-prefix=ALL
// RUN: tile-opt %s -p cse,cse --print-ir-after-change 2>&1 >/dev/null | filecheck %s --check-prefix=CHANGE
// RUN: tile-opt %s -p cse --print-ir-diff 2>&1 >/dev/null | filecheck %s --check-prefix=DIFF
// RUN: tile-opt %s -p 'tile-compile{machine=t4}' --print-ir-after=tile-fuse-epilogues 2>&1 >/dev/null | filecheck %s --check-prefix=STAGE
// RUN: not tile-opt %s -p 'tile-compile{machine=nowhere}' --print-ir-after-failure 2>&1 >/dev/null | filecheck %s --check-prefix=FAILED
// RUN: rm -rf %t && tile-opt %s -p 'cse,tile-compile{machine=t4}' --print-ir-tree-dir=%t > /dev/null
// RUN: filecheck %s --check-prefix=CSE --input-file %t/1_cse.mlir
// RUN: filecheck %s --check-prefix=FILE --input-file %t/2_tile-compile/5_tile-plan-layouts.mlir
// RUN: not tile-opt %s -p cse --print-ir-after=tile-fuse-epilogue 2>&1 | filecheck %s --check-prefix=NEAR

func.func @main(%x: tensor<4x8xf16> {tile_tensor.input = "x"}) -> tensor<4x8xf16> {
  %y = tile_tensor.neg %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %z = tile_tensor.neg %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %s = tile_tensor.add %y, %z : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %s : tensor<4x8xf16>
}

// BEFORE-NOT: canonicalize //
// BEFORE: // -----// IR Dump Before cse //----- //
// BEFORE-NEXT: builtin.module {

// AFTER: // -----// IR Dump After canonicalize //----- //
// AFTER: // -----// IR Dump After cse //----- //

// ALL: IR Dump Before canonicalize
// ALL: IR Dump After canonicalize
// ALL: IR Dump Before cse
// ALL: IR Dump After cse

// CHANGE: IR Dump After cse
// CHANGE-NOT: IR Dump

// DIFF: IR Dump After cse
// DIFF: -    %z = tile_tensor.neg
// DIFF: +    %s = tile_tensor.add %y, %y

// STAGE: IR Dump After tile-fuse-epilogues
// STAGE: tile_tensor.add
// STAGE-NOT: IR Dump After

// FAILED: IR Dump After {{.*}} Failed //----- //

// CSE: tile_tensor.add %y, %y
// FILE: IR Dump After tile-plan-layouts
// FILE: #tile_layout

// NEAR: error: there is no pass or stage `tile-fuse-epilogue` to print the IR at
// NEAR: hint: did you mean `tile-fuse-epilogues`
