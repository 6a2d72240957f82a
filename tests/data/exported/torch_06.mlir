builtin.module {
  func.func @main(%v0_inner_weight: tensor<12xf32> {tile_tensor.parameter = "0.inner.weight"}, %v0_inner_bias: tensor<12xf32> {tile_tensor.parameter = "0.inner.bias"}, %v1_weight: tensor<2x12x6xf32> {tile_tensor.parameter = "1.weight"}, %input: tensor<1x6x12xf32> {tile_tensor.input = "input"}) -> (tensor<1x6x12xf32> {tile_tensor.output = "out0"}) {
    %0 = tile_hlo.transpose %input {permutation = array<i64: 0, 2, 1>} : (tensor<1x6x12xf32>) -> tensor<1x12x6xf32>
    %1 = tile_hlo.reshape %0 : (tensor<1x12x6xf32>) -> tensor<1x2x36xf32>
    %2 = tile_tensor.layer_norm %1 epsilon 1.000000e-05 : (tensor<1x2x36xf32>) -> tensor<1x2x36xf32>
    %3 = tile_hlo.reshape %2 : (tensor<1x2x36xf32>) -> tensor<1x12x6xf32>
    %4 = tile_hlo.broadcast_in_dim %v0_inner_weight {dimensions = array<i64: 1>} : (tensor<12xf32>) -> tensor<1x12x6xf32>
    %5 = tile_hlo.multiply %3, %4 : (tensor<1x12x6xf32>, tensor<1x12x6xf32>) -> tensor<1x12x6xf32>
    %6 = tile_hlo.broadcast_in_dim %v0_inner_bias {dimensions = array<i64: 1>} : (tensor<12xf32>) -> tensor<1x12x6xf32>
    %7 = tile_hlo.add %5, %6 : (tensor<1x12x6xf32>, tensor<1x12x6xf32>) -> tensor<1x12x6xf32>
    %8 = tile_hlo.transpose %7 {permutation = array<i64: 0, 2, 1>} : (tensor<1x12x6xf32>) -> tensor<1x6x12xf32>
    %9 = tile_hlo.reshape %8 : (tensor<1x6x12xf32>) -> tensor<1x6x12x1xf32>
    %10 = tile_hlo.reshape %9 : (tensor<1x6x12x1xf32>) -> tensor<1x6x12x1x1xf32>
    %11 = tile_hlo.transpose %10 {permutation = array<i64: 0, 1, 3, 4, 2>} : (tensor<1x6x12x1x1xf32>) -> tensor<1x6x1x1x12xf32>
    %12 = tile_hlo.reshape %v1_weight : (tensor<2x12x6xf32>) -> tensor<2x12x6x1xf32>
    %13 = tile_hlo.reshape %12 : (tensor<2x12x6x1xf32>) -> tensor<2x12x6x1x1xf32>
    %14 = tile_hlo.transpose %13 {permutation = array<i64: 3, 4, 0, 2, 1>} : (tensor<2x12x6x1x1xf32>) -> tensor<1x1x2x6x12xf32>
    %15 = tile_hlo.transpose %11 {permutation = array<i64: 1, 4, 0, 2, 3>} : (tensor<1x6x1x1x12xf32>) -> tensor<6x12x1x1x1xf32>
    %16 = tile_hlo.reshape %15 : (tensor<6x12x1x1x1xf32>) -> tensor<1x6x12xf32>
    %17 = tile_hlo.transpose %14 {permutation = array<i64: 4, 0, 2, 3, 1>} : (tensor<1x1x2x6x12xf32>) -> tensor<12x1x2x6x1xf32>
    %18 = tile_hlo.reshape %17 : (tensor<12x1x2x6x1xf32>) -> tensor<1x12x12xf32>
    %19 = tile_hlo.dot_general %16, %18 {lhs_batching = array<i64: 0>, rhs_batching = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x6x12xf32>, tensor<1x12x12xf32>) -> tensor<1x6x12xf32>
    %20 = tile_hlo.reshape %19 : (tensor<1x6x12xf32>) -> tensor<6x1x1x2x6xf32>
    %21 = tile_hlo.transpose %20 {permutation = array<i64: 2, 0, 3, 4, 1>} : (tensor<6x1x1x2x6xf32>) -> tensor<1x6x2x6x1xf32>
    %22 = tile_hlo.reshape %21 : (tensor<1x6x2x6x1xf32>) -> tensor<1x6x2x6xf32>
    %23 = tile_hlo.reshape %22 : (tensor<1x6x2x6xf32>) -> tensor<1x6x12xf32>
    func.return %23 : tensor<1x6x12xf32>
  }
}
