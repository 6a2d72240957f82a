// SPDX-License-Identifier: Apache-2.0
// i8 x i8 -> i32 dot: products and sum in i32 (openxla/stablehlo#2953~2).

func.func @main(%a0: tensor<1x128xi8>, %a1: tensor<128x1xi8>) -> tensor<1x1xi32> {
  %r = tile_tensor.matmul %a0, %a1 : (tensor<1x128xi8>, tensor<128x1xi8>) -> tensor<1x1xi32>
  func.return %r : tensor<1x1xi32>
}
