// SPDX-License-Identifier: Apache-2.0
// add of (1,32,11,11) and (1,1,11,11): only the first slice of dim 1 is added (tenstorrent/tt-mlir#1242).

func.func @main(%a0: tensor<1x5x11x11xf32>, %a1: tensor<1x1x11x11xf32>) -> tensor<1x5x11x11xf32> {
  %b = tile_tensor.broadcast %a1 dimensions [0, 1, 2, 3] : (tensor<1x1x11x11xf32>) -> tensor<1x5x11x11xf32>
  %r = tile_tensor.add %a0, %b : (tensor<1x5x11x11xf32>, tensor<1x5x11x11xf32>) -> tensor<1x5x11x11xf32>
  func.return %r : tensor<1x5x11x11xf32>
}
