// The pipeline as MLIR writes it, and as xDSL does.

// RUN: tile-opt %s --pass-pipeline='builtin.module(canonicalize, cse)' | filecheck %s
// RUN: tile-opt %s --pass-pipeline="builtin.module( cse , canonicalize )" | filecheck %s
// RUN: tile-opt %s -p canonicalize,cse | filecheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module()' | filecheck %s --check-prefix=NOTHING
// RUN: tile-opt %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-sizes=4,8}' | filecheck %s --check-prefix=NOTHING

func.func @f() -> i32 {
  %a = arith.constant 2 : i32
  %b = arith.addi %a, %a : i32
  func.return %b : i32
}

// CHECK: %b = arith.constant 4 : i32
// NOTHING: arith.addi
