builtin.module {
  func.func @main(%v0_q_weight: tensor<16x16xbf16> {tile_tensor.parameter = "0.q.weight"}, %v0_q_bias: tensor<16xbf16> {tile_tensor.parameter = "0.q.bias"}, %v0_k_weight: tensor<16x16xbf16> {tile_tensor.parameter = "0.k.weight"}, %v0_k_bias: tensor<16xbf16> {tile_tensor.parameter = "0.k.bias"}, %v0_v_weight: tensor<16x16xbf16> {tile_tensor.parameter = "0.v.weight"}, %v0_v_bias: tensor<16xbf16> {tile_tensor.parameter = "0.v.bias"}, %v0_o_weight: tensor<16x16xbf16> {tile_tensor.parameter = "0.o.weight"}, %v0_o_bias: tensor<16xbf16> {tile_tensor.parameter = "0.o.bias"}, %v1_inner_0_weight: tensor<32x16xbf16> {tile_tensor.parameter = "1.inner.0.weight"}, %v1_inner_0_bias: tensor<32xbf16> {tile_tensor.parameter = "1.inner.0.bias"}, %v1_inner_3_weight: tensor<16x32xbf16> {tile_tensor.parameter = "1.inner.3.weight"}, %v1_inner_3_bias: tensor<16xbf16> {tile_tensor.parameter = "1.inner.3.bias"}, %v2_weight: tensor<16xbf16> {tile_tensor.parameter = "2.weight"}, %input: tensor<1x6x16xbf16> {tile_tensor.input = "input"}) -> (tensor<1x6x16xbf16> {tile_tensor.output = "out0"}) {
    %0 = tile_hlo.dot_general %input, %v0_q_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x6x16xbf16>, tensor<16x16xbf16>) -> tensor<1x6x16xbf16>
    %1 = tile_hlo.broadcast_in_dim %v0_q_bias {dimensions = array<i64: 2>} : (tensor<16xbf16>) -> tensor<1x6x16xbf16>
    %2 = tile_hlo.add %0, %1 : (tensor<1x6x16xbf16>, tensor<1x6x16xbf16>) -> tensor<1x6x16xbf16>
    %3 = tile_hlo.reshape %2 : (tensor<1x6x16xbf16>) -> tensor<1x6x4x4xbf16>
    %4 = tile_hlo.transpose %3 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x6x4x4xbf16>) -> tensor<1x4x6x4xbf16>
    %5 = tile_hlo.dot_general %input, %v0_k_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x6x16xbf16>, tensor<16x16xbf16>) -> tensor<1x6x16xbf16>
    %6 = tile_hlo.broadcast_in_dim %v0_k_bias {dimensions = array<i64: 2>} : (tensor<16xbf16>) -> tensor<1x6x16xbf16>
    %7 = tile_hlo.add %5, %6 : (tensor<1x6x16xbf16>, tensor<1x6x16xbf16>) -> tensor<1x6x16xbf16>
    %8 = tile_hlo.reshape %7 : (tensor<1x6x16xbf16>) -> tensor<1x6x4x4xbf16>
    %9 = tile_hlo.transpose %8 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x6x4x4xbf16>) -> tensor<1x4x6x4xbf16>
    %10 = tile_hlo.dot_general %input, %v0_v_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x6x16xbf16>, tensor<16x16xbf16>) -> tensor<1x6x16xbf16>
    %11 = tile_hlo.broadcast_in_dim %v0_v_bias {dimensions = array<i64: 2>} : (tensor<16xbf16>) -> tensor<1x6x16xbf16>
    %12 = tile_hlo.add %10, %11 : (tensor<1x6x16xbf16>, tensor<1x6x16xbf16>) -> tensor<1x6x16xbf16>
    %13 = tile_hlo.reshape %12 : (tensor<1x6x16xbf16>) -> tensor<1x6x4x4xbf16>
    %14 = tile_hlo.transpose %13 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x6x4x4xbf16>) -> tensor<1x4x6x4xbf16>
    %15 = tile_tensor.attention %4, %9, %14 scale 5.000000e-01 : (tensor<1x4x6x4xbf16>, tensor<1x4x6x4xbf16>, tensor<1x4x6x4xbf16>) -> tensor<1x4x6x4xbf16>
    %16 = tile_hlo.transpose %15 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x4x6x4xbf16>) -> tensor<1x6x4x4xbf16>
    %17 = tile_hlo.reshape %16 : (tensor<1x6x4x4xbf16>) -> tensor<1x6x16xbf16>
    %18 = tile_hlo.dot_general %17, %v0_o_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x6x16xbf16>, tensor<16x16xbf16>) -> tensor<1x6x16xbf16>
    %19 = tile_hlo.broadcast_in_dim %v0_o_bias {dimensions = array<i64: 2>} : (tensor<16xbf16>) -> tensor<1x6x16xbf16>
    %20 = tile_hlo.add %18, %19 : (tensor<1x6x16xbf16>, tensor<1x6x16xbf16>) -> tensor<1x6x16xbf16>
    %21 = tile_hlo.add %input, %20 : (tensor<1x6x16xbf16>, tensor<1x6x16xbf16>) -> tensor<1x6x16xbf16>
    %22 = tile_hlo.dot_general %21, %v1_inner_0_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x6x16xbf16>, tensor<32x16xbf16>) -> tensor<1x6x32xbf16>
    %23 = tile_hlo.broadcast_in_dim %v1_inner_0_bias {dimensions = array<i64: 2>} : (tensor<32xbf16>) -> tensor<1x6x32xbf16>
    %24 = tile_hlo.add %22, %23 : (tensor<1x6x32xbf16>, tensor<1x6x32xbf16>) -> tensor<1x6x32xbf16>
    %25 = tile_tensor.gelu %24 : (tensor<1x6x32xbf16>) -> tensor<1x6x32xbf16>
    %26 = tile_hlo.dot_general %25, %v1_inner_3_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x6x32xbf16>, tensor<16x32xbf16>) -> tensor<1x6x16xbf16>
    %27 = tile_hlo.broadcast_in_dim %v1_inner_3_bias {dimensions = array<i64: 2>} : (tensor<16xbf16>) -> tensor<1x6x16xbf16>
    %28 = tile_hlo.add %26, %27 : (tensor<1x6x16xbf16>, tensor<1x6x16xbf16>) -> tensor<1x6x16xbf16>
    %29 = tile_hlo.add %21, %28 : (tensor<1x6x16xbf16>, tensor<1x6x16xbf16>) -> tensor<1x6x16xbf16>
    %30 = tile_tensor.rms_norm %29, %v2_weight epsilon 7.812500e-03 : (tensor<1x6x16xbf16>, tensor<16xbf16>) -> tensor<1x6x16xbf16>
    func.return %30 : tensor<1x6x16xbf16>
  }
}
