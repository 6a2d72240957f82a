// SPDX-License-Identifier: Apache-2.0
// a fully masked row is NaN by the program as written (-inf - -inf); torch's SDPA and ONNX Attention return
// 0 by a special rule (iree-org/iree#24175).

func.func @main(%a0: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %m = tile_tensor.reduce max %a0 axes [1] keep_dims : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %s = tile_tensor.sub %a0, %m : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %e = tile_tensor.exp %s : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %d = tile_tensor.reduce sum %e axes [1] keep_dims : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %q = tile_tensor.div %e, %d : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %q : tensor<3x4xf32>
}
