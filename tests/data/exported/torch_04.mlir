builtin.module {
  func.func @main(%v0_inner_weight: tensor<16x1x3xf32> {tile_tensor.parameter = "0.inner.weight"}, %v0_inner_bias: tensor<16xf32> {tile_tensor.parameter = "0.inner.bias"}, %v1_inner_weight: tensor<16xf32> {tile_tensor.parameter = "1.inner.weight"}, %v1_inner_bias: tensor<16xf32> {tile_tensor.parameter = "1.inner.bias"}, %v1_inner_running_mean: tensor<16xf32> {tile_tensor.parameter = "1.inner.running_mean"}, %v1_inner_running_var: tensor<16xf32> {tile_tensor.parameter = "1.inner.running_var"}, %input: tensor<2x9x16xf32> {tile_tensor.input = "input"}) -> (tensor<2x9x16xf32> {tile_tensor.output = "out0"}) {
    %0 = tile_hlo.transpose %input {permutation = array<i64: 0, 2, 1>} : (tensor<2x9x16xf32>) -> tensor<2x16x9xf32>
    %1 = tile_hlo.convolution %0, %v0_inner_weight {strides = array<i64: 1>, padding = array<i64: 1, 1>, input_dilation = array<i64: 1>, kernel_dilation = array<i64: 1>, input_layout = array<i64: 0, 1, 2>, kernel_layout = array<i64: 0, 1, 2>, output_layout = array<i64: 0, 1, 2>, feature_groups = 16 : i64, batch_groups = 1 : i64} : (tensor<2x16x9xf32>, tensor<16x1x3xf32>) -> tensor<2x16x9xf32>
    %2 = tile_hlo.broadcast_in_dim %v0_inner_bias {dimensions = array<i64: 1>} : (tensor<16xf32>) -> tensor<2x16x9xf32>
    %3 = tile_hlo.add %1, %2 : (tensor<2x16x9xf32>, tensor<2x16x9xf32>) -> tensor<2x16x9xf32>
    %4 = tile_hlo.transpose %3 {permutation = array<i64: 0, 2, 1>} : (tensor<2x16x9xf32>) -> tensor<2x9x16xf32>
    %5 = tile_hlo.transpose %4 {permutation = array<i64: 0, 2, 1>} : (tensor<2x9x16xf32>) -> tensor<2x16x9xf32>
    %6 = tile_hlo.constant {value = dense<1.000000e-05> : tensor<f32>} : () -> tensor<f32>
    %7 = tile_hlo.broadcast_in_dim %6 {dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %8 = tile_hlo.add %v1_inner_running_var, %7 : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %9 = tile_hlo.rsqrt %8 : (tensor<16xf32>) -> tensor<16xf32>
    %10 = tile_hlo.multiply %9, %v1_inner_weight : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %11 = tile_hlo.multiply %v1_inner_running_mean, %10 : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %12 = tile_hlo.negate %11 : (tensor<16xf32>) -> tensor<16xf32>
    %13 = tile_hlo.add %12, %v1_inner_bias : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %14 = tile_hlo.broadcast_in_dim %10 {dimensions = array<i64: 1>} : (tensor<16xf32>) -> tensor<2x16x9xf32>
    %15 = tile_hlo.multiply %5, %14 : (tensor<2x16x9xf32>, tensor<2x16x9xf32>) -> tensor<2x16x9xf32>
    %16 = tile_hlo.broadcast_in_dim %13 {dimensions = array<i64: 1>} : (tensor<16xf32>) -> tensor<2x16x9xf32>
    %17 = tile_hlo.add %15, %16 : (tensor<2x16x9xf32>, tensor<2x16x9xf32>) -> tensor<2x16x9xf32>
    %18 = tile_hlo.transpose %17 {permutation = array<i64: 0, 2, 1>} : (tensor<2x16x9xf32>) -> tensor<2x9x16xf32>
    %19 = tile_hlo.negate %18 : (tensor<2x9x16xf32>) -> tensor<2x9x16xf32>
    %20 = tile_hlo.constant {value = dense<0x7f800000> : tensor<f32>} : () -> tensor<f32>
    %21 = tile_hlo.broadcast_in_dim %20 {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x9x16xf32>
    %22 = tile_hlo.compare %19, %21 {direction = "GT"} : (tensor<2x9x16xf32>, tensor<2x9x16xf32>) -> tensor<2x9x16xi1>
    %23 = tile_hlo.abs %19 : (tensor<2x9x16xf32>) -> tensor<2x9x16xf32>
    %24 = tile_hlo.negate %23 : (tensor<2x9x16xf32>) -> tensor<2x9x16xf32>
    %25 = tile_hlo.exponential %24 : (tensor<2x9x16xf32>) -> tensor<2x9x16xf32>
    %26 = tile_hlo.log_plus_one %25 : (tensor<2x9x16xf32>) -> tensor<2x9x16xf32>
    %27 = tile_hlo.constant {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %28 = tile_hlo.broadcast_in_dim %27 {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x9x16xf32>
    %29 = tile_hlo.maximum %19, %28 : (tensor<2x9x16xf32>, tensor<2x9x16xf32>) -> tensor<2x9x16xf32>
    %30 = tile_hlo.add %29, %26 : (tensor<2x9x16xf32>, tensor<2x9x16xf32>) -> tensor<2x9x16xf32>
    %31 = tile_hlo.select %22, %19, %30 : (tensor<2x9x16xi1>, tensor<2x9x16xf32>, tensor<2x9x16xf32>) -> tensor<2x9x16xf32>
    %32 = tile_hlo.negate %31 : (tensor<2x9x16xf32>) -> tensor<2x9x16xf32>
    func.return %32 : tensor<2x9x16xf32>
  }
}
