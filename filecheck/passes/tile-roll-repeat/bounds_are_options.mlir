// Code is rolled only if it repeats often enough and its body is large enough.

// RUN: tile-opt %s -p tile-roll-repeat | filecheck %s
// RUN: tile-opt %s -p 'tile-roll-repeat{min-count=3}' | filecheck %s --check-prefix=LEFT
// RUN: tile-opt %s -p 'tile-roll-repeat{min-ops=3}' | filecheck %s --check-prefix=LEFT

func.func @main(%x0: tensor<4x4xf16>, %a: tensor<4x4xf16> {tile_tensor.parameter = "w.0"}, %m: tensor<4x4xf16>, %b: tensor<4x4xf16> {tile_tensor.parameter = "w.1"}) -> tensor<4x4xf16> {
  %p0 = tile_tensor.matmul %x0, %a : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %y0 = tile_tensor.add %p0, %m : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %p1 = tile_tensor.matmul %y0, %b : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %y1 = tile_tensor.add %p1, %m : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  func.return %y1 : tensor<4x4xf16>
}

// CHECK: tile_repeat.repeat "repeat0" count 2
// LEFT-NOT: tile_repeat.repeat
// LEFT: tile_tensor.add
// LEFT: tile_tensor.add
