// RUN: tile-opt %s -p 'tile-fold-norms{parameters=%S/Inputs/parameters.safetensors into=%t.safetensors}' | filecheck %s
// RUN: not tile-opt %s -p tile-fold-norms 2>&1 | filecheck %s --check-prefix=VALUES

// The matrix and the bias are other parameters, gamma and beta are gone from the norm.

func.func @main(%x: tensor<4x8xf16>, %w: tensor<8x8xf16> {tile_tensor.parameter = "w"}, %b: tensor<8xf16> {tile_tensor.parameter = "b"}, %g: tensor<8xf16> {tile_tensor.parameter = "g"}, %o: tensor<8xf16> {tile_tensor.parameter = "o"}) -> tensor<4x8xf16> {
  %n = tile_tensor.layer_norm %x, %g, %o epsilon 1.0e-06 : (tensor<4x8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  %p = tile_tensor.matmul %n, %w : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
  %y = tile_tensor.add %p, %b : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// CHECK: %w: tensor<8x8xf16> {tile_tensor.parameter = "w*g"}, %b: tensor<8xf16> {tile_tensor.parameter = "b*o"}
// CHECK: %n = tile_tensor.layer_norm %x epsilon 1.000000e-06 : (tensor<4x8xf16>) -> tensor<4x8xf16>
// VALUES: error: tile-fold-norms needs the values of the parameters
// VALUES: hint: parameters=FILE
