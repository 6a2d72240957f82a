// SPDX-License-Identifier: Apache-2.0
// f8E4M3FN add of finite values past the range (448 + 18): NaN without saturation; 448 + 16 = 464 rounds to
// 448 (ROCm/rocm-systems#9556~2).

func.func @main(%a0: tensor<4xf8E4M3FN>, %a1: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %r = tile_tensor.add %a0, %a1 {saturate = false} : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  func.return %r : tensor<4xf8E4M3FN>
}
