// Expected diagnostics are compared, piece by piece; those that do not come, and others, are faults.

// RUN: tile-opt %s --split-input-file --verify-diagnostics

"test.op"() : () -> !test.nope // expected-error {{has no type `test.nope`}}

// -----

func.func @f(%a: f32) -> i32 {
  // expected-error-re@+1 {{`func.return` does not verify: {{.*}} expected [i32], got [f32]}}
  func.return %a : f32
}

// -----

func.func @f(%a: i32) -> i32 {
  // expected-error@below {{operand 1 of `arith.addi` (%c) is not defined before its use}}
  // expected-note@below {{it is a result of `arith.addi`}}
  %b = arith.addi %a, %c : i32
  %c = arith.addi %a, %a : i32
  func.return %b : i32
}
