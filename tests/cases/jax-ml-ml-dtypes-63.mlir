// SPDX-License-Identifier: Apache-2.0
// bf16 sum of 1024 ones sticks at 256 (jax-ml/ml_dtypes#63).

func.func @main(%a0: tensor<1024xbf16>) -> tensor<bf16> {
  %r = tile_tensor.reduce sum %a0 axes [0] : (tensor<1024xbf16>) -> tensor<bf16>
  func.return %r : tensor<bf16>
}
