// A failing verifier is reported at the op, in one line, without the module around it.

// RUN: not tile-opt %s 2>&1 | filecheck %s --match-full-lines

func.func @f(%a: f32) -> i32 {
  func.return %a : f32
}

// CHECK: {{.*}}verification_names_the_op.mlir:6:3: error: `func.return` does not verify: Expected arguments to have the same types as the function output types: expected [i32], got [f32]
// CHECK-NEXT:   func.return %a : f32
// CHECK-NEXT:   ^~~~~~~~~~~
// CHECK-NOT: {{.+}}
