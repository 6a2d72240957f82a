// What passes and stages did to the number of operations.

// RUN: tile-opt %s -p cse,canonicalize --pass-statistics 2>&1 >/dev/null | filecheck %s

func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32
  func.return %b : i32
}

// CHECK: before after operations of
// CHECK-NEXT: 5 4 cse: -1 arith.addi
// CHECK-NEXT: 4 4 canonicalize
