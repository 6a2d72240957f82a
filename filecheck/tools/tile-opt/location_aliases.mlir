// Locations are named before they are defined, as MLIR prints them.

// RUN: tile-opt %s --print-debuginfo | filecheck %s
// RUN: printf '"test.op"() : () -> () loc(#nowhere)\n' | not tile-opt 2>&1 | filecheck %s --check-prefix=UNDEFINED
// RUN: printf '"test.op"() : () -> () loc(#a)\n#a = loc(callsite(#a at "f":1:1))\n' | not tile-opt 2>&1 | filecheck %s --check-prefix=CYCLE

func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32 loc(#loc2)
  %c = arith.addi %b, %a : i32 loc(#loc)
  func.return %c : i32
}

#loc = loc("model.py":3:4)
#loc1 = loc("model.py":7:8)
#loc2 = loc(callsite(#loc1 at #loc))

// CHECK: %b = arith.addi %a, %a : i32 loc(callsite("model.py":7:8 at "model.py":3:4))
// CHECK: %c = arith.addi %b, %a : i32 loc("model.py":3:4)
// UNDEFINED: error: the alias `#nowhere` is not defined
// CYCLE: error: the alias `#a` is not defined here
// CYCLE: hint: only aliases of locations may be defined behind their use
