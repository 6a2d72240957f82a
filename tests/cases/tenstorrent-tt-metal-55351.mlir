// SPDX-License-Identifier: Apache-2.0
// rank 7 with a broadcast at dim -6: outer dims folded into one counter (tenstorrent/tt-metal#55351).

func.func @main(%a0: tensor<2x1x1x1x1x2x2xf32>, %a1: tensor<2x3x1x1x1x2x2xf32>) -> tensor<2x3x1x1x1x2x2xf32> {
  %b = tile_tensor.broadcast %a0 dimensions [0, 1, 2, 3, 4, 5, 6] : (tensor<2x1x1x1x1x2x2xf32>) -> tensor<2x3x1x1x1x2x2xf32>
  %r = tile_tensor.add %b, %a1 : (tensor<2x3x1x1x1x2x2xf32>, tensor<2x3x1x1x1x2x2xf32>) -> tensor<2x3x1x1x1x2x2xf32>
  func.return %r : tensor<2x3x1x1x1x2x2xf32>
}
