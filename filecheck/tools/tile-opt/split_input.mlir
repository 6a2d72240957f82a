// Lines are counted in the whole file, not in the chunk.

// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s
// RUN: tile-opt %s --split-input-file --parsing-diagnostics | filecheck %s --check-prefix=SHOWN

func.func private @f() -> ()

// -----

"test.op"() : () -> !test.nope

// CHECK: func.func private @f
// CHECK: split_input.mlir:10:22: error: dialect `test` has no type `test.nope`
// CHECK-NEXT: "test.op"() : () -> !test.nope

// SHOWN: split_input.mlir:10:22
