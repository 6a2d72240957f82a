builtin.module {
  func.func @main(%v0_q_weight: tensor<8x8xf32> {tile_tensor.parameter = "0.q.weight"}, %v0_q_bias: tensor<8xf32> {tile_tensor.parameter = "0.q.bias"}, %v0_k_weight: tensor<8x8xf32> {tile_tensor.parameter = "0.k.weight"}, %v0_k_bias: tensor<8xf32> {tile_tensor.parameter = "0.k.bias"}, %v0_v_weight: tensor<8x8xf32> {tile_tensor.parameter = "0.v.weight"}, %v0_v_bias: tensor<8xf32> {tile_tensor.parameter = "0.v.bias"}, %v0_o_weight: tensor<8x8xf32> {tile_tensor.parameter = "0.o.weight"}, %v0_o_bias: tensor<8xf32> {tile_tensor.parameter = "0.o.bias"}, %v1_inner_0_weight: tensor<16x8xf32> {tile_tensor.parameter = "1.inner.0.weight"}, %v1_inner_0_bias: tensor<16xf32> {tile_tensor.parameter = "1.inner.0.bias"}, %v1_inner_3_weight: tensor<8x16xf32> {tile_tensor.parameter = "1.inner.3.weight"}, %v1_inner_3_bias: tensor<8xf32> {tile_tensor.parameter = "1.inner.3.bias"}, %input: tensor<2x3x8xf32> {tile_tensor.input = "input"}) -> (tensor<2x3x8xf32> {tile_tensor.output = "out0"}) {
    %0 = tile_hlo.dot_general %input, %v0_q_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
    %1 = tile_hlo.broadcast_in_dim %v0_q_bias {dimensions = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
    %2 = tile_hlo.add %0, %1 : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
    %3 = tile_hlo.reshape %2 : (tensor<2x3x8xf32>) -> tensor<2x3x4x2xf32>
    %4 = tile_hlo.transpose %3 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x3x4x2xf32>) -> tensor<2x4x3x2xf32>
    %5 = tile_hlo.dot_general %input, %v0_k_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
    %6 = tile_hlo.broadcast_in_dim %v0_k_bias {dimensions = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
    %7 = tile_hlo.add %5, %6 : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
    %8 = tile_hlo.reshape %7 : (tensor<2x3x8xf32>) -> tensor<2x3x4x2xf32>
    %9 = tile_hlo.transpose %8 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x3x4x2xf32>) -> tensor<2x4x3x2xf32>
    %10 = tile_hlo.dot_general %input, %v0_v_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
    %11 = tile_hlo.broadcast_in_dim %v0_v_bias {dimensions = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
    %12 = tile_hlo.add %10, %11 : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
    %13 = tile_hlo.reshape %12 : (tensor<2x3x8xf32>) -> tensor<2x3x4x2xf32>
    %14 = tile_hlo.transpose %13 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x3x4x2xf32>) -> tensor<2x4x3x2xf32>
    %15 = tile_hlo.transpose %9 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x4x3x2xf32>) -> tensor<2x4x2x3xf32>
    %16 = tile_hlo.dot_general %4, %15 {lhs_batching = array<i64: 0, 1>, rhs_batching = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_contracting = array<i64: 2>} : (tensor<2x4x3x2xf32>, tensor<2x4x2x3xf32>) -> tensor<2x4x3x3xf32>
    %17 = tile_hlo.constant {value = dense<1.41421354> : tensor<f32>} : () -> tensor<f32>
    %18 = tile_hlo.broadcast_in_dim %17 {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x4x3x3xf32>
    %19 = tile_hlo.divide %16, %18 : (tensor<2x4x3x3xf32>, tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
    %20 = tile_tensor.softmax %19 : (tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
    %21 = tile_hlo.dot_general %20, %14 {lhs_batching = array<i64: 0, 1>, rhs_batching = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_contracting = array<i64: 2>} : (tensor<2x4x3x3xf32>, tensor<2x4x3x2xf32>) -> tensor<2x4x3x2xf32>
    %22 = tile_hlo.transpose %21 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x3x2xf32>) -> tensor<2x3x4x2xf32>
    %23 = tile_hlo.reshape %22 : (tensor<2x3x4x2xf32>) -> tensor<2x3x8xf32>
    %24 = tile_hlo.dot_general %23, %v0_o_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<8x8xf32>) -> tensor<2x3x8xf32>
    %25 = tile_hlo.broadcast_in_dim %v0_o_bias {dimensions = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
    %26 = tile_hlo.add %24, %25 : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
    %27 = tile_hlo.add %input, %26 : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
    %28 = tile_hlo.dot_general %27, %v1_inner_0_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<16x8xf32>) -> tensor<2x3x16xf32>
    %29 = tile_hlo.broadcast_in_dim %v1_inner_0_bias {dimensions = array<i64: 2>} : (tensor<16xf32>) -> tensor<2x3x16xf32>
    %30 = tile_hlo.add %28, %29 : (tensor<2x3x16xf32>, tensor<2x3x16xf32>) -> tensor<2x3x16xf32>
    %31 = tile_tensor.relu %30 : (tensor<2x3x16xf32>) -> tensor<2x3x16xf32>
    %32 = tile_hlo.dot_general %31, %v1_inner_3_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x3x16xf32>, tensor<8x16xf32>) -> tensor<2x3x8xf32>
    %33 = tile_hlo.broadcast_in_dim %v1_inner_3_bias {dimensions = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x3x8xf32>
    %34 = tile_hlo.add %32, %33 : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
    %35 = tile_hlo.add %27, %34 : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
    func.return %35 : tensor<2x3x8xf32>
  }
}
