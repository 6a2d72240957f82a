// SPDX-License-Identifier: Apache-2.0
// statistics over padded rows: the error is affine, so PCC stays 1.0 and hides it; compare values
// (tenstorrent/tt-metal#50682).

func.func @main(%a0: tensor<5x49xf32>) -> tensor<5x49xf32> {
  %gamma = tile_tensor.constant dense<1.0> : tensor<49xf32>
  %beta = tile_tensor.constant dense<0.0> : tensor<49xf32>
  %y = tile_tensor.layer_norm %a0, %gamma, %beta epsilon 1.0e-6
      : (tensor<5x49xf32>, tensor<49xf32>, tensor<49xf32>) -> tensor<5x49xf32>
  func.return %y : tensor<5x49xf32>
}
