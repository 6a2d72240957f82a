// SPDX-License-Identifier: Apache-2.0
// tiled matmul of ones, K = 64: partial sums of K tiles are dropped (16 instead of 64) and output tiles
// missed (0) (iree-org/iree#19343).

func.func @main(%a0: tensor<64x64xf32>, %a1: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %r = tile_tensor.matmul %a0, %a1 : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  func.return %r : tensor<64x16xf32>
}
