// SPDX-License-Identifier: Apache-2.0
// f16 x f16 -> f16 matmul with an f16 accumulator: K = 4096 of ones gives 2048 (iree-org/iree#19347).

func.func @main(%a0: tensor<1x4096xf16>, %a1: tensor<4096x1xf16>) -> tensor<1x1xf16> {
  %r = tile_tensor.matmul %a0, %a1 : (tensor<1x4096xf16>, tensor<4096x1xf16>) -> tensor<1x1xf16>
  func.return %r : tensor<1x1xf16>
}
