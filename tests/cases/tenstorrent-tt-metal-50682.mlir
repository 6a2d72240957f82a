// SPDX-License-Identifier: Apache-2.0
// statistics over padded rows: the error is affine, so PCC stays 1.0 and hides it; compare values
// (tenstorrent/tt-metal#50682).

func.func @main(%a0: tensor<5x49xf32>) -> tensor<5x49xf32> {
  %s = tile_tensor.reduce sum %a0 axes [1] : (tensor<5x49xf32>) -> tensor<5xf32>
  %count = tile_tensor.constant dense<49.0> : tensor<5xf32>
  %mean = tile_tensor.div %s, %count : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %means = tile_tensor.broadcast %mean dimensions [0] : (tensor<5xf32>) -> tensor<5x49xf32>
  %c = tile_tensor.sub %a0, %means : (tensor<5x49xf32>, tensor<5x49xf32>) -> tensor<5x49xf32>
  %c2 = tile_tensor.mul %c, %c : (tensor<5x49xf32>, tensor<5x49xf32>) -> tensor<5x49xf32>
  %v = tile_tensor.reduce sum %c2 axes [1] : (tensor<5x49xf32>) -> tensor<5xf32>
  %variance = tile_tensor.div %v, %count : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %epsilon = tile_tensor.constant dense<1.0e-6> : tensor<5xf32>
  %sum = tile_tensor.add %variance, %epsilon : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %r = tile_tensor.rsqrt %sum : (tensor<5xf32>) -> tensor<5xf32>
  %rs = tile_tensor.broadcast %r dimensions [0] : (tensor<5xf32>) -> tensor<5x49xf32>
  %y = tile_tensor.mul %c, %rs : (tensor<5x49xf32>, tensor<5x49xf32>) -> tensor<5x49xf32>
  func.return %y : tensor<5x49xf32>
}
