// SPDX-License-Identifier: Apache-2.0
// live ranges that touch at one op are not disjoint when the op isn't elementwise in place: y = x^T + x, and
// z = y @ x (openxla/xla#46543).

func.func @main(%a0: tensor<7x7xf32>) -> tensor<7x7xf32> {
  %t = tile_tensor.transpose %a0 permutation [1, 0] : (tensor<7x7xf32>) -> tensor<7x7xf32>
  %y = tile_tensor.add %t, %a0 : (tensor<7x7xf32>, tensor<7x7xf32>) -> tensor<7x7xf32>
  %t2 = tile_tensor.transpose %y permutation [1, 0] : (tensor<7x7xf32>) -> tensor<7x7xf32>
  %r = tile_tensor.matmul %t2, %a0 : (tensor<7x7xf32>, tensor<7x7xf32>) -> tensor<7x7xf32>
  func.return %r : tensor<7x7xf32>
}
