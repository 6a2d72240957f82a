// RUN: tile-opt %s --machine t4 -p tile-plan-layouts | filecheck %s

// Grids of scores whose rows see a part of the keys have a price, exponentials by themselves included.

func.func @main(%q: tensor<1x4x7x6xf32>, %k: tensor<1x2x7x6xf32>, %v: tensor<1x2x7x6xf32>) -> tensor<1x4x7x6xf32> {
  %y = tile_tensor.attention %q, %k, %v scale 0.4 causal : (tensor<1x4x7x6xf32>, tensor<1x2x7x6xf32>, tensor<1x2x7x6xf32>) -> tensor<1x4x7x6xf32>
  func.return %y : tensor<1x4x7x6xf32>
}

// CHECK: tile_tensor.attention
