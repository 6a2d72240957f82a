// SPDX-License-Identifier: Apache-2.0
// transposed left operand read with the untransposed strides (tracel-ai/burn#5304).

func.func @main(%a0: tensor<2x3xf32>, %a1: tensor<2x2xf32>) -> tensor<3x2xf32> {
  %r = tile_tensor.matmul %a0, %a1 transpose_a : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}
