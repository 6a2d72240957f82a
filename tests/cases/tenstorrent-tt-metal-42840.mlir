// SPDX-License-Identifier: Apache-2.0
// [394,6] -> [2,197,6] (ViT-base has 197 tokens): rows of batch 1 leak into batch 0's padding rows 197..223,
// and a later row reduction sees them (tenstorrent/tt-metal#42840).

func.func @main(%a0: tensor<394x6xf32>) -> tensor<2x6xf32> {
  %p = tile_tensor.reshape %a0 : (tensor<394x6xf32>) -> tensor<2x197x6xf32>
  %r = tile_tensor.reduce sum %p axes [1] : (tensor<2x197x6xf32>) -> tensor<2x6xf32>
  func.return %r : tensor<2x6xf32>
}
