// SPDX-License-Identifier: Apache-2.0
// uniform softmax over 512 in bf16 gives 1/256: the denominator stuck at 256 (pytorch/executorch#20089).

func.func @main(%a0: tensor<4x512xbf16>) -> tensor<4x512xbf16> {
  %m = tile_tensor.reduce max %a0 axes [1] keep_dims : (tensor<4x512xbf16>) -> tensor<4x1xbf16>
  %s = tile_tensor.sub %a0, %m : (tensor<4x512xbf16>, tensor<4x1xbf16>) -> tensor<4x512xbf16>
  %e = tile_tensor.exp %s : (tensor<4x512xbf16>) -> tensor<4x512xbf16>
  %d = tile_tensor.reduce sum %e axes [1] keep_dims : (tensor<4x512xbf16>) -> tensor<4x1xbf16>
  %q = tile_tensor.div %e, %d : (tensor<4x512xbf16>, tensor<4x1xbf16>) -> tensor<4x512xbf16>
  func.return %q : tensor<4x512xbf16>
}
