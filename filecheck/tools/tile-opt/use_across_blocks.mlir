// A definition in one branch does not reach the block where the branches meet.

// RUN: not tile-opt %s 2>&1 | filecheck %s

func.func @f(%p: i1, %a: i32) -> i32 {
  cf.cond_br %p, ^left, ^right
^left:
  %b = arith.addi %a, %a : i32
  cf.br ^end
^right:
  cf.br ^end
^end:
  func.return %b : i32
}

// CHECK: use_across_blocks.mlir:13:3: error: operand 0 of `func.return` (%b) is not defined before its use
// CHECK: note: it is a result of `arith.addi` at {{.*}}use_across_blocks.mlir:8:8
