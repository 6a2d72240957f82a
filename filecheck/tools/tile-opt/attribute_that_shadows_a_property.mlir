// An attribute with the name of a property would be ignored without a word.

// RUN: not tile-opt %s 2>&1 | filecheck %s

func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = tile_tensor.gelu %a {approximate = "tanh"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// CHECK: property.mlir:6:8: error: `tile_tensor.gelu` does not verify: attribute `approximate` has the name of a property
