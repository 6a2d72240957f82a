module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12xf32>, %arg1: tensor<12xf32>, %arg2: tensor<11x12xf32>) -> (tensor<11x12xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %0 = call @clip(%arg2, %cst, %cst_0) : (tensor<11x12xf32>, tensor<f32>, tensor<f32>) -> tensor<11x12xf32>
    %1 = stablehlo.abs %arg2 : tensor<11x12xf32>
    %cst_1 = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<11x12xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<11x12xf32>
    %4 = stablehlo.add %0, %3 : tensor<11x12xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<11x12xf32>, tensor<f32>) -> tensor<11xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<11xf32>) -> tensor<11x1xf32>
    %cst_3 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<11x1xf32>
    %8 = stablehlo.divide %6, %7 : tensor<11x1xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %9 = call @_var(%4, %c) : (tensor<11x12xf32>, tensor<i32>) -> tensor<11x1xf32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<11x1xf32>) -> tensor<11x12xf32>
    %11 = stablehlo.subtract %4, %10 : tensor<11x12xf32>
    %cst_4 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<11x1xf32>
    %13 = stablehlo.add %9, %12 : tensor<11x1xf32>
    %14 = stablehlo.rsqrt %13 : tensor<11x1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<11x1xf32>) -> tensor<11x12xf32>
    %16 = stablehlo.multiply %11, %15 : tensor<11x12xf32>
    %17 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<12xf32>) -> tensor<1x12xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<11x12xf32>
    %19 = stablehlo.multiply %16, %18 : tensor<11x12xf32>
    %20 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<12xf32>) -> tensor<1x12xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<11x12xf32>
    %22 = stablehlo.add %19, %21 : tensor<11x12xf32>
    return %22 : tensor<11x12xf32>
  }
  func.func private @clip(%arg0: tensor<11x12xf32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<11x12xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<11x12xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<11x12xf32>
    %3 = stablehlo.convert %arg2 : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<11x12xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<11x12xf32>
    return %5 : tensor<11x12xf32>
  }
  func.func private @_var(%arg0: tensor<11x12xf32>, %arg1: tensor<i32>) -> tensor<11x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<11x12xf32>, tensor<f32>) -> tensor<11xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<11xf32>) -> tensor<11x1xf32>
    %cst_0 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<11x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<11x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<11x1xf32>) -> tensor<11x12xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<11x12xf32>
    %6 = chlo.square %5 : tensor<11x12xf32> -> tensor<11x12xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<11x12xf32>, tensor<f32>) -> tensor<11xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<11xf32>) -> tensor<11x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<11x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<11x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %12, %cst_4) : (tensor<i1>, tensor<11x1xf32>, tensor<f32>) -> tensor<11x1xf32>
    return %14 : tensor<11x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<11x1xf32>, %arg2: tensor<f32>) -> tensor<11x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<11x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<11x1xf32>
    return %2 : tensor<11x1xf32>
  }
}
