// An op that carries another location is shown where it stands in this file, with the place it came from.

// RUN: not tile-opt %s 2>&1 | filecheck %s --match-full-lines

func.func @f(%a: f32) -> i32 {
  func.return %a : f32 loc(callsite("layers.py":12:4 at "model.py":3:1))
}

// CHECK: {{.*}}_source.mlir:6:3: error: `func.return` does not verify: {{.*}}
// CHECK: note: the op comes from layers.py:12:4
// CHECK: note: called from model.py:3:1
