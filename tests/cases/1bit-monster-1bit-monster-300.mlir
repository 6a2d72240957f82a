// SPDX-License-Identifier: Apache-2.0
// decode of all 256 f8E4M3FN codes; the 7 subnormals are m * 2^-9 (1bit-MONSTER/1bit-MONSTER#300).

func.func @main(%a0: tensor<256xf8E4M3FN>) -> tensor<256xf32> {
  %r = tile_tensor.cast %a0 : (tensor<256xf8E4M3FN>) -> tensor<256xf32>
  func.return %r : tensor<256xf32>
}
