// SPDX-License-Identifier: Apache-2.0
// sum of squares of ones over a width of 49 gives 64 (tenstorrent/tt-metal#43350).

func.func @main(%a0: tensor<4x49xf32>) -> tensor<4xf32> {
  %q = tile_tensor.mul %a0, %a0 : (tensor<4x49xf32>, tensor<4x49xf32>) -> tensor<4x49xf32>
  %r = tile_tensor.reduce sum %q axes [1] : (tensor<4x49xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
