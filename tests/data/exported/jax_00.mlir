module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<10x16xf32>) -> (tensor<10x16xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10x16xf32>
    %1 = stablehlo.multiply %arg2, %0 : tensor<10x16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<10x16xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %4 = stablehlo.maximum %3, %2 : tensor<10xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x16xf32>
    %7 = stablehlo.subtract %1, %6 : tensor<10x16xf32>
    %8 = stablehlo.exponential %7 : tensor<10x16xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<10x16xf32>, tensor<f32>) -> tensor<10xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x16xf32>
    %12 = stablehlo.divide %8, %11 : tensor<10x16xf32>
    %13 = stablehlo.add %arg2, %12 : tensor<10x16xf32>
    %14 = stablehlo.dot_general %13, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x16xf32>, tensor<16x16xf32>) -> tensor<10x16xf32>
    %15 = stablehlo.tanh %14 : tensor<10x16xf32>
    %16 = stablehlo.dot_general %15, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x16xf32>, tensor<16x16xf32>) -> tensor<10x16xf32>
    %17 = stablehlo.add %13, %16 : tensor<10x16xf32>
    return %17 : tensor<10x16xf32>
  }
}
