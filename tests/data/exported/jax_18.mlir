module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x24xf32>, %arg1: tensor<24x12xf32>, %arg2: tensor<11x12xf32>) -> (tensor<11x12xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg2, %c) : (tensor<11x12xf32>, tensor<i32>) -> tensor<12x12xf32>
    %1 = stablehlo.slice %0 [0:11, 0:12] : (tensor<12x12xf32>) -> tensor<11x12xf32>
    %2 = stablehlo.reverse %arg2, dims = [0] : tensor<11x12xf32>
    %3 = stablehlo.add %1, %2 : tensor<11x12xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<11x12xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<11x12xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<11x12xf32>, tensor<f32>) -> tensor<11xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<11xf32>
    %8 = stablehlo.maximum %7, %6 : tensor<11xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<11xf32>) -> tensor<11x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<11x1xf32>) -> tensor<11x12xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<11x12xf32>
    %12 = stablehlo.exponential %11 : tensor<11x12xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<11x12xf32>, tensor<f32>) -> tensor<11xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<11xf32>) -> tensor<11x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<11x1xf32>) -> tensor<11x12xf32>
    %16 = stablehlo.divide %12, %15 : tensor<11x12xf32>
    %17 = stablehlo.add %3, %16 : tensor<11x12xf32>
    %18 = stablehlo.dot_general %17, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<11x12xf32>, tensor<12x24xf32>) -> tensor<11x24xf32>
    %19 = stablehlo.negate %18 : tensor<11x24xf32>
    %20 = stablehlo.exponential %19 : tensor<11x24xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<11x24xf32>
    %22 = stablehlo.add %21, %20 : tensor<11x24xf32>
    %23 = stablehlo.divide %18, %22 : tensor<11x24xf32>
    %24 = stablehlo.dot_general %23, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<11x24xf32>, tensor<24x12xf32>) -> tensor<11x12xf32>
    %25 = stablehlo.add %17, %24 : tensor<11x12xf32>
    return %25 : tensor<11x12xf32>
  }
  func.func private @_pad(%arg0: tensor<11x12xf32>, %arg1: tensor<i32>) -> tensor<12x12xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<11x12xf32>, tensor<f32>) -> tensor<12x12xf32>
    return %1 : tensor<12x12xf32>
  }
}
