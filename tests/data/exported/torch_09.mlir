builtin.module {
  func.func @main(%v2_weight: tensor<16x16xf32> {tile_tensor.parameter = "2.weight"}, %input: tensor<1x9x16xf32> {tile_tensor.input = "input"}) -> (tensor<1x9x16xf32> {tile_tensor.output = "out0"}) {
    %0 = tile_hlo.reduce %input {kind = "max", dimensions = array<i64: 1>} : (tensor<1x9x16xf32>) -> tensor<1x16xf32>
    %1 = tile_hlo.reshape %0 : (tensor<1x16xf32>) -> tensor<1x1x16xf32>
    %2 = tile_hlo.broadcast_in_dim %1 {dimensions = array<i64: 0, 1, 2>} : (tensor<1x1x16xf32>) -> tensor<1x9x16xf32>
    %3 = tile_hlo.subtract %input, %2 : (tensor<1x9x16xf32>, tensor<1x9x16xf32>) -> tensor<1x9x16xf32>
    %4 = tile_hlo.reduce %input {kind = "sum", dimensions = array<i64: 1>} : (tensor<1x9x16xf32>) -> tensor<1x16xf32>
    %5 = tile_hlo.reshape %4 : (tensor<1x16xf32>) -> tensor<1x1x16xf32>
    %6 = tile_hlo.constant {value = dense<9.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %7 = tile_hlo.broadcast_in_dim %6 {dimensions = array<i64>} : (tensor<f32>) -> tensor<1x1x16xf32>
    %8 = tile_hlo.divide %5, %7 : (tensor<1x1x16xf32>, tensor<1x1x16xf32>) -> tensor<1x1x16xf32>
    %9 = tile_hlo.broadcast_in_dim %8 {dimensions = array<i64: 0, 1, 2>} : (tensor<1x1x16xf32>) -> tensor<1x9x16xf32>
    %10 = tile_hlo.add %3, %9 : (tensor<1x9x16xf32>, tensor<1x9x16xf32>) -> tensor<1x9x16xf32>
    %11 = tile_hlo.constant {value = dense<2.000000e+01> : tensor<f32>} : () -> tensor<f32>
    %12 = tile_hlo.broadcast_in_dim %11 {dimensions = array<i64>} : (tensor<f32>) -> tensor<1x9x16xf32>
    %13 = tile_hlo.compare %10, %12 {direction = "GT"} : (tensor<1x9x16xf32>, tensor<1x9x16xf32>) -> tensor<1x9x16xi1>
    %14 = tile_hlo.abs %10 : (tensor<1x9x16xf32>) -> tensor<1x9x16xf32>
    %15 = tile_hlo.negate %14 : (tensor<1x9x16xf32>) -> tensor<1x9x16xf32>
    %16 = tile_hlo.exponential %15 : (tensor<1x9x16xf32>) -> tensor<1x9x16xf32>
    %17 = tile_hlo.log_plus_one %16 : (tensor<1x9x16xf32>) -> tensor<1x9x16xf32>
    %18 = tile_hlo.constant {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %19 = tile_hlo.broadcast_in_dim %18 {dimensions = array<i64>} : (tensor<f32>) -> tensor<1x9x16xf32>
    %20 = tile_hlo.maximum %10, %19 : (tensor<1x9x16xf32>, tensor<1x9x16xf32>) -> tensor<1x9x16xf32>
    %21 = tile_hlo.add %20, %17 : (tensor<1x9x16xf32>, tensor<1x9x16xf32>) -> tensor<1x9x16xf32>
    %22 = tile_hlo.select %13, %10, %21 : (tensor<1x9x16xi1>, tensor<1x9x16xf32>, tensor<1x9x16xf32>) -> tensor<1x9x16xf32>
    %23 = tile_hlo.tanh %22 : (tensor<1x9x16xf32>) -> tensor<1x9x16xf32>
    %24 = tile_hlo.multiply %10, %23 : (tensor<1x9x16xf32>, tensor<1x9x16xf32>) -> tensor<1x9x16xf32>
    %25 = tile_hlo.dot_general %24, %v2_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x9x16xf32>, tensor<16x16xf32>) -> tensor<1x9x16xf32>
    func.return %25 : tensor<1x9x16xf32>
  }
}
