// SPDX-License-Identifier: Apache-2.0
// concat along a last dimension of 50 (RoPE): padding of the first operand lands between the two
// (tenstorrent/tt-mlir#795).

func.func @main(%a0: tensor<2x12x50xf32>, %a1: tensor<2x12x50xf32>) -> tensor<2x12x100xf32> {
  %r = tile_tensor.concat %a0, %a1 axis 2 : (tensor<2x12x50xf32>, tensor<2x12x50xf32>) -> tensor<2x12x100xf32>
  func.return %r : tensor<2x12x100xf32>
}
