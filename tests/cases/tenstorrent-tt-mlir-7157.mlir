// SPDX-License-Identifier: Apache-2.0
// shapes that no grid divides: 257 (DINOv2/ViT tokens, prime) and 31 (tenstorrent/tt-mlir#7157).

func.func @main(%a0: tensor<257x48xf32>, %a1: tensor<48x31xf32>) -> tensor<257x31xf32> {
  %r = tile_tensor.matmul %a0, %a1 : (tensor<257x48xf32>, tensor<48x31xf32>) -> tensor<257x31xf32>
  func.return %r : tensor<257x31xf32>
}
