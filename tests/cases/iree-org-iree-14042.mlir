// SPDX-License-Identifier: Apache-2.0
// rank-0 reduce over no dimensions (iree-org/iree#14042).

func.func @main(%a0: tensor<i32>) -> tensor<i32> {
  %r = tile_tensor.reduce max %a0 axes [] : (tensor<i32>) -> tensor<i32>
  func.return %r : tensor<i32>
}
