builtin.module {
  func.func @main(%v0_q_weight: tensor<8x8xf32> {tile_tensor.parameter = "0.q.weight"}, %v0_q_bias: tensor<8xf32> {tile_tensor.parameter = "0.q.bias"}, %v0_k_weight: tensor<4x8xf32> {tile_tensor.parameter = "0.k.weight"}, %v0_k_bias: tensor<4xf32> {tile_tensor.parameter = "0.k.bias"}, %v0_v_weight: tensor<4x8xf32> {tile_tensor.parameter = "0.v.weight"}, %v0_v_bias: tensor<4xf32> {tile_tensor.parameter = "0.v.bias"}, %v0_o_weight: tensor<8x8xf32> {tile_tensor.parameter = "0.o.weight"}, %v0_o_bias: tensor<8xf32> {tile_tensor.parameter = "0.o.bias"}, %v1_weight: tensor<8xf32> {tile_tensor.parameter = "1.weight"}, %v1_bias: tensor<8xf32> {tile_tensor.parameter = "1.bias"}, %v2_gate_weight: tensor<8x8xf32> {tile_tensor.parameter = "2.gate.weight"}, %v2_up_weight: tensor<8x8xf32> {tile_tensor.parameter = "2.up.weight"}, %input: tensor<2x4x8xf32> {tile_tensor.input = "input"}) -> (tensor<2x4x8xf32> {tile_tensor.output = "out0"}) {
    %0 = tile_hlo.dot_general %input, %v0_q_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    %1 = tile_hlo.broadcast_in_dim %v0_q_bias {dimensions = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x4x8xf32>
    %2 = tile_hlo.add %0, %1 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %3 = tile_hlo.reshape %2 : (tensor<2x4x8xf32>) -> tensor<2x4x4x2xf32>
    %4 = tile_hlo.transpose %3 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
    %5 = tile_hlo.dot_general %input, %v0_k_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x4xf32>
    %6 = tile_hlo.broadcast_in_dim %v0_k_bias {dimensions = array<i64: 2>} : (tensor<4xf32>) -> tensor<2x4x4xf32>
    %7 = tile_hlo.add %5, %6 : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %8 = tile_hlo.reshape %7 : (tensor<2x4x4xf32>) -> tensor<2x4x2x2xf32>
    %9 = tile_hlo.transpose %8 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x2x2xf32>) -> tensor<2x2x4x2xf32>
    %10 = tile_hlo.dot_general %input, %v0_v_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x4xf32>
    %11 = tile_hlo.broadcast_in_dim %v0_v_bias {dimensions = array<i64: 2>} : (tensor<4xf32>) -> tensor<2x4x4xf32>
    %12 = tile_hlo.add %10, %11 : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %13 = tile_hlo.reshape %12 : (tensor<2x4x4xf32>) -> tensor<2x4x2x2xf32>
    %14 = tile_hlo.transpose %13 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x2x2xf32>) -> tensor<2x2x4x2xf32>
    %15 = tile_tensor.attention %4, %9, %14 scale 0.707106769 causal : (tensor<2x4x4x2xf32>, tensor<2x2x4x2xf32>, tensor<2x2x4x2xf32>) -> tensor<2x4x4x2xf32>
    %16 = tile_hlo.transpose %15 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
    %17 = tile_hlo.reshape %16 : (tensor<2x4x4x2xf32>) -> tensor<2x4x8xf32>
    %18 = tile_hlo.dot_general %17, %v0_o_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    %19 = tile_hlo.broadcast_in_dim %v0_o_bias {dimensions = array<i64: 2>} : (tensor<8xf32>) -> tensor<2x4x8xf32>
    %20 = tile_hlo.add %18, %19 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %21 = tile_hlo.add %input, %20 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %22 = tile_tensor.layer_norm %21, %v1_weight, %v1_bias epsilon 1.000000e-03 : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
    %23 = tile_hlo.dot_general %22, %v2_gate_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    %24 = tile_tensor.silu %23 : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    %25 = tile_hlo.dot_general %22, %v2_up_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    %26 = tile_hlo.multiply %24, %25 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
    func.return %26 : tensor<2x4x8xf32>
  }
}
