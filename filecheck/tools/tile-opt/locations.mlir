// Ops know where they were parsed; explicit locations are kept; passes of xDSL keep what they do not touch.

// RUN: tile-opt %s --print-debuginfo | filecheck %s

func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.muli %b, %a : i32 loc("model.py":7:3)
  func.return %c : i32
}

// CHECK: %b = arith.addi %a, %a : i32 loc("{{.*}}locations.mlir":6:8)
// CHECK: %c = arith.muli %b, %a : i32 loc("model.py":7:3)
// CHECK: } loc("{{.*}}locations.mlir":5:1)
