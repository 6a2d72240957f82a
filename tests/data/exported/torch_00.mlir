builtin.module {
  func.func @main(%v0_self_attn_in_proj_weight: tensor<36x12xf32> {tile_tensor.parameter = "0.self_attn.in_proj_weight"}, %v0_self_attn_in_proj_bias: tensor<36xf32> {tile_tensor.parameter = "0.self_attn.in_proj_bias"}, %v0_self_attn_out_proj_weight: tensor<12x12xf32> {tile_tensor.parameter = "0.self_attn.out_proj.weight"}, %v0_self_attn_out_proj_bias: tensor<12xf32> {tile_tensor.parameter = "0.self_attn.out_proj.bias"}, %v0_linear1_weight: tensor<24x12xf32> {tile_tensor.parameter = "0.linear1.weight"}, %v0_linear1_bias: tensor<24xf32> {tile_tensor.parameter = "0.linear1.bias"}, %v0_linear2_weight: tensor<12x24xf32> {tile_tensor.parameter = "0.linear2.weight"}, %v0_linear2_bias: tensor<12xf32> {tile_tensor.parameter = "0.linear2.bias"}, %v0_norm1_weight: tensor<12xf32> {tile_tensor.parameter = "0.norm1.weight"}, %v0_norm1_bias: tensor<12xf32> {tile_tensor.parameter = "0.norm1.bias"}, %v0_norm2_weight: tensor<12xf32> {tile_tensor.parameter = "0.norm2.weight"}, %v0_norm2_bias: tensor<12xf32> {tile_tensor.parameter = "0.norm2.bias"}, %v1_weight: tensor<12x12xf32> {tile_tensor.parameter = "1.weight"}, %v1_bias: tensor<12xf32> {tile_tensor.parameter = "1.bias"}, %input: tensor<2x7x12xf32> {tile_tensor.input = "input"}) -> (tensor<2x7x12xf32> {tile_tensor.output = "out0"}) {
    %0 = tile_tensor.layer_norm %input, %v0_norm1_weight, %v0_norm1_bias epsilon 1.000000e-05 : (tensor<2x7x12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<2x7x12xf32>
    %1 = tile_hlo.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<2x7x12xf32>) -> tensor<7x2x12xf32>
    %2 = tile_hlo.dot_general %1, %v0_self_attn_in_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<7x2x12xf32>, tensor<36x12xf32>) -> tensor<7x2x36xf32>
    %3 = tile_hlo.broadcast_in_dim %v0_self_attn_in_proj_bias {dimensions = array<i64: 2>} : (tensor<36xf32>) -> tensor<7x2x36xf32>
    %4 = tile_hlo.add %2, %3 : (tensor<7x2x36xf32>, tensor<7x2x36xf32>) -> tensor<7x2x36xf32>
    %5 = tile_hlo.reshape %4 : (tensor<7x2x36xf32>) -> tensor<7x2x3x12xf32>
    %6 = tile_hlo.reshape %5 : (tensor<7x2x3x12xf32>) -> tensor<1x7x2x3x12xf32>
    %7 = tile_hlo.transpose %6 {permutation = array<i64: 3, 1, 2, 0, 4>} : (tensor<1x7x2x3x12xf32>) -> tensor<3x7x2x1x12xf32>
    %8 = tile_hlo.reshape %7 : (tensor<3x7x2x1x12xf32>) -> tensor<3x7x2x12xf32>
    %9 = tile_hlo.slice %8 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 7, 2, 12>, strides = array<i64: 1, 1, 1, 1>} : (tensor<3x7x2x12xf32>) -> tensor<1x7x2x12xf32>
    %10 = tile_hlo.reshape %9 : (tensor<1x7x2x12xf32>) -> tensor<7x2x12xf32>
    %11 = tile_hlo.slice %8 {start = array<i64: 1, 0, 0, 0>, limit = array<i64: 2, 7, 2, 12>, strides = array<i64: 1, 1, 1, 1>} : (tensor<3x7x2x12xf32>) -> tensor<1x7x2x12xf32>
    %12 = tile_hlo.reshape %11 : (tensor<1x7x2x12xf32>) -> tensor<7x2x12xf32>
    %13 = tile_hlo.slice %8 {start = array<i64: 2, 0, 0, 0>, limit = array<i64: 3, 7, 2, 12>, strides = array<i64: 1, 1, 1, 1>} : (tensor<3x7x2x12xf32>) -> tensor<1x7x2x12xf32>
    %14 = tile_hlo.reshape %13 : (tensor<1x7x2x12xf32>) -> tensor<7x2x12xf32>
    %15 = tile_hlo.reshape %10 : (tensor<7x2x12xf32>) -> tensor<7x8x3xf32>
    %16 = tile_hlo.transpose %15 {permutation = array<i64: 1, 0, 2>} : (tensor<7x8x3xf32>) -> tensor<8x7x3xf32>
    %17 = tile_hlo.reshape %12 : (tensor<7x2x12xf32>) -> tensor<7x8x3xf32>
    %18 = tile_hlo.transpose %17 {permutation = array<i64: 1, 0, 2>} : (tensor<7x8x3xf32>) -> tensor<8x7x3xf32>
    %19 = tile_hlo.reshape %14 : (tensor<7x2x12xf32>) -> tensor<7x8x3xf32>
    %20 = tile_hlo.transpose %19 {permutation = array<i64: 1, 0, 2>} : (tensor<7x8x3xf32>) -> tensor<8x7x3xf32>
    %21 = tile_hlo.reshape %16 : (tensor<8x7x3xf32>) -> tensor<2x4x7x3xf32>
    %22 = tile_hlo.reshape %18 : (tensor<8x7x3xf32>) -> tensor<2x4x7x3xf32>
    %23 = tile_hlo.reshape %20 : (tensor<8x7x3xf32>) -> tensor<2x4x7x3xf32>
    %24 = tile_tensor.attention %21, %22, %23 scale 0.577350259 : (tensor<2x4x7x3xf32>, tensor<2x4x7x3xf32>, tensor<2x4x7x3xf32>) -> tensor<2x4x7x3xf32>
    %25 = tile_hlo.transpose %24 {permutation = array<i64: 2, 0, 1, 3>} : (tensor<2x4x7x3xf32>) -> tensor<7x2x4x3xf32>
    %26 = tile_hlo.reshape %25 : (tensor<7x2x4x3xf32>) -> tensor<14x12xf32>
    %27 = tile_hlo.dot_general %26, %v0_self_attn_out_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<14x12xf32>, tensor<12x12xf32>) -> tensor<14x12xf32>
    %28 = tile_hlo.broadcast_in_dim %v0_self_attn_out_proj_bias {dimensions = array<i64: 1>} : (tensor<12xf32>) -> tensor<14x12xf32>
    %29 = tile_hlo.add %27, %28 : (tensor<14x12xf32>, tensor<14x12xf32>) -> tensor<14x12xf32>
    %30 = tile_hlo.reshape %29 : (tensor<14x12xf32>) -> tensor<7x2x12xf32>
    %31 = tile_hlo.transpose %30 {permutation = array<i64: 1, 0, 2>} : (tensor<7x2x12xf32>) -> tensor<2x7x12xf32>
    %32 = tile_hlo.add %input, %31 : (tensor<2x7x12xf32>, tensor<2x7x12xf32>) -> tensor<2x7x12xf32>
    %33 = tile_tensor.layer_norm %32, %v0_norm2_weight, %v0_norm2_bias epsilon 1.000000e-05 : (tensor<2x7x12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<2x7x12xf32>
    %34 = tile_hlo.dot_general %33, %v0_linear1_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x7x12xf32>, tensor<24x12xf32>) -> tensor<2x7x24xf32>
    %35 = tile_hlo.broadcast_in_dim %v0_linear1_bias {dimensions = array<i64: 2>} : (tensor<24xf32>) -> tensor<2x7x24xf32>
    %36 = tile_hlo.add %34, %35 : (tensor<2x7x24xf32>, tensor<2x7x24xf32>) -> tensor<2x7x24xf32>
    %37 = tile_tensor.relu %36 : (tensor<2x7x24xf32>) -> tensor<2x7x24xf32>
    %38 = tile_hlo.dot_general %37, %v0_linear2_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x7x24xf32>, tensor<12x24xf32>) -> tensor<2x7x12xf32>
    %39 = tile_hlo.broadcast_in_dim %v0_linear2_bias {dimensions = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x7x12xf32>
    %40 = tile_hlo.add %38, %39 : (tensor<2x7x12xf32>, tensor<2x7x12xf32>) -> tensor<2x7x12xf32>
    %41 = tile_hlo.add %32, %40 : (tensor<2x7x12xf32>, tensor<2x7x12xf32>) -> tensor<2x7x12xf32>
    %42 = tile_hlo.dot_general %41, %v1_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x7x12xf32>, tensor<12x12xf32>) -> tensor<2x7x12xf32>
    %43 = tile_hlo.broadcast_in_dim %v1_bias {dimensions = array<i64: 2>} : (tensor<12xf32>) -> tensor<2x7x12xf32>
    %44 = tile_hlo.add %42, %43 : (tensor<2x7x12xf32>, tensor<2x7x12xf32>) -> tensor<2x7x12xf32>
    func.return %44 : tensor<2x7x12xf32>
  }
}
