// Values must be defined before they are used; xDSL's verifier does not ask.

// RUN: not tile-opt %s 2>&1 | filecheck %s --match-full-lines

func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %c : i32
  %c = arith.addi %a, %a : i32
  func.return %b : i32
}

// CHECK: {{.*}}use_before_definition.mlir:6:8: error: operand 1 of `arith.addi` (%c) is not defined before its use
// CHECK-NEXT:   %b = arith.addi %a, %c : i32
// CHECK-NEXT:        ^~~~~~~~~~
// CHECK-NEXT: note: it is a result of `arith.addi` at {{.*}}use_before_definition.mlir:7:8
