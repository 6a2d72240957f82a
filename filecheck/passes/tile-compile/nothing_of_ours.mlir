// RUN: tile-opt %s -p tile-compile | filecheck %s
// RUN: tile-opt %s -p tile-plan-layouts,tile-lower-to-asm,tile-roll-repeat | filecheck %s
// RUN: not tile-run %s --machine t4 2>&1 | filecheck %s --check-prefix=REFUSED

// A module of foreign code alone is left as it is; nothing of it can be run.

func.func @f(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  func.return %y : f32
}
func.func @g(%x: f32) -> f32 {
  %y = func.call @f(%x) : (f32) -> f32
  func.return %y : f32
}

// CHECK:      func.func @f(%x: f32) -> f32 {
// CHECK-NEXT:   %y = arith.addf %x, %x : f32
// CHECK:      func.func @g(%x: f32) -> f32 {
// CHECK-NEXT:   %y = func.call @f(%x) : (f32) -> f32

// REFUSED:    error: the module has 2 functions and none is @main: @f, @g
