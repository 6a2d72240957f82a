// SPDX-License-Identifier: Apache-2.0
// two reshapes feeding a batched matmul give infinities: K = 1 is padded with what lay in the tile
// (tenstorrent/tt-metal#22012).

func.func @main(%a0: tensor<12xf32>, %a1: tensor<1x12x4x4xf32>) -> tensor<12x1x16xf32> {
  %p = tile_tensor.reshape %a0 : (tensor<12xf32>) -> tensor<12x1x1xf32>
  %q = tile_tensor.reshape %a1 : (tensor<1x12x4x4xf32>) -> tensor<12x1x16xf32>
  %r = tile_tensor.matmul %p, %q : (tensor<12x1x1xf32>, tensor<12x1x16xf32>) -> tensor<12x1x16xf32>
  func.return %r : tensor<12x1x16xf32>
}
