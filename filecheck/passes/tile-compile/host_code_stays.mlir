// RUN: tile-opt %s --allow-unregistered-dialect > %t.before
// RUN: tile-opt %s --allow-unregistered-dialect -p tile-compile > %t.after
// RUN: tile-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(tile-outline,tile-fuse-epilogues,tile-plan-layouts,tile-lower-to-buffers,tile-merge-phases,tile-schedule-exchange,tile-allocate-memory,tile-lower-to-asm)' > %t.passes
// RUN: filecheck %s --input-file %t.after
// RUN: diff %t.after %t.passes
// RUN: tile-opt %t.after --allow-unregistered-dialect -p tile-compile > %t.again
// RUN: diff %t.after %t.again

// Host code that calls a program and has operations of its own; the machine program stands beside it. The
// passes one by one give the same, and what is compiled is left alone.

builtin.module attributes {tile.machine = "t4", own.version = 3 : i32} {
  func.func @host(%n: index, %x: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = scf.for %i = %0 to %n step %1 iter_args(%s = %x) -> (tensor<4x8xf16>) {
      %3 = func.call @f(%s) : (tensor<4x8xf16>) -> tensor<4x8xf16>
      scf.yield %3 : tensor<4x8xf16>
    }
    %4 = "own.op"(%2) {kept = 3 : i32} : (tensor<4x8xf16>) -> tensor<4x8xf16>
    func.return %4 : tensor<4x8xf16>
  }
  func.func @f(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %y = tile_tensor.exp %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
    func.return %y : tensor<4x8xf16>
  }
  "own.global"() {name = "g", of = @host} : () -> ()
}

// CHECK:      builtin.module attributes {tile.machine = "t4", own.version = 3 : i32} {
// CHECK-NEXT:   func.func @host(%n: index, %x: tensor<4x8xf16>) -> tensor<4x8xf16> {
// CHECK-NEXT:     %0 = arith.constant 0 : index
// CHECK-NEXT:     %1 = arith.constant 1 : index
// CHECK-NEXT:     %2 = scf.for %i = %0 to %n step %1 iter_args(%s = %x) -> (tensor<4x8xf16>) {
// CHECK-NEXT:       %3 = func.call @f(%s) : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:       scf.yield %3 : tensor<4x8xf16>
// CHECK-NEXT:     }
// CHECK-NEXT:     %4 = "own.op"(%2) {kept = 3 : i32} : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:     func.return %4 : tensor<4x8xf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   func.func private @f(tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:   "own.global"() {name = "g", of = @host} : () -> ()
// CHECK-NEXT:   builtin.module attributes {tile.program = "f", tile.machine = "t4"
// CHECK-NEXT:     tile_asm.program "f" machine "t4"
