// Nested pipelines run on each operation that their anchor names, alone; symbols of others are left in peace.

// RUN: tile-opt %s --pass-pipeline='builtin.module(func.func(cse,canonicalize))' | filecheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(any(cse))' | filecheck %s
// RUN: tile-opt %s --pass-pipeline='any(cse)' | filecheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(builtin.module(func.func(cse)))' | filecheck %s --check-prefix=INNER
// RUN: tile-opt %s -p 'func.func(cse)' --dump-pass-pipeline 2>&1 >/dev/null | filecheck %s --check-prefix=DUMP

func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32
  %d = arith.muli %b, %c : i32
  func.return %d : i32
}
func.func @g(%a: i32) -> i32 {
  %b = func.call @f(%a) : (i32) -> i32
  func.return %b : i32
}
builtin.module @inner {
  func.func @h(%a: i32) -> i32 {
    %b = arith.addi %a, %a : i32
    %c = arith.addi %a, %a : i32
    %d = arith.muli %b, %c : i32
    func.return %d : i32
  }
}

// CHECK: func.func @f
// CHECK-NEXT: arith.addi
// CHECK-NEXT: arith.muli %b, %b
// CHECK: func.func @g
// CHECK: call @f
// CHECK: builtin.module @inner

// INNER: func.func @f
// INNER-NEXT: arith.addi
// INNER-NEXT: arith.addi
// INNER: func.func @h
// INNER-NEXT: arith.addi
// INNER-NEXT: arith.muli

// DUMP: builtin.module(func.func(cse))
