module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<24xbf16>, %arg1: tensor<24xbf16>, %arg2: tensor<24xbf16>, %arg3: tensor<6x24xbf16>) -> (tensor<6x24xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg3 : (tensor<6x24xbf16>) -> tensor<6x24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x24xf32>, tensor<f32>) -> tensor<6xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %cst_0 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<6x1xf32>
    %5 = stablehlo.convert %4 : (tensor<6x1xf32>) -> tensor<6x1xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = call @_var(%arg3, %c) : (tensor<6x24xbf16>, tensor<i32>) -> tensor<6x1xbf16>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<6x1xbf16>) -> tensor<6x24xbf16>
    %8 = stablehlo.subtract %arg3, %7 : tensor<6x24xbf16>
    %cst_1 = stablehlo.constant dense<9.983770e-07> : tensor<bf16>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<6x1xbf16>
    %10 = stablehlo.add %6, %9 : tensor<6x1xbf16>
    %11 = stablehlo.rsqrt %10 : tensor<6x1xbf16>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<6x1xbf16>) -> tensor<6x24xbf16>
    %13 = stablehlo.multiply %8, %12 : tensor<6x24xbf16>
    %14 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<24xbf16>) -> tensor<1x24xbf16>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<1x24xbf16>) -> tensor<6x24xbf16>
    %16 = stablehlo.multiply %13, %15 : tensor<6x24xbf16>
    %17 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<24xbf16>) -> tensor<1x24xbf16>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<1x24xbf16>) -> tensor<6x24xbf16>
    %19 = stablehlo.add %16, %18 : tensor<6x24xbf16>
    %20 = stablehlo.convert %19 : (tensor<6x24xbf16>) -> tensor<6x24xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<6x24xf32>, tensor<f32>) -> tensor<6xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %cst_3 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %24 = stablehlo.divide %22, %23 : tensor<6x1xf32>
    %25 = stablehlo.multiply %20, %20 : tensor<6x24xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<6x24xf32>, tensor<f32>) -> tensor<6xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %cst_5 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %29 = stablehlo.divide %27, %28 : tensor<6x1xf32>
    %30 = stablehlo.multiply %24, %24 : tensor<6x1xf32>
    %31 = stablehlo.subtract %29, %30 : tensor<6x1xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %33 = stablehlo.maximum %32, %31 : tensor<6x1xf32>
    %34 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x24xf32>
    %35 = stablehlo.subtract %20, %34 : tensor<6x24xf32>
    %cst_7 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %37 = stablehlo.add %33, %36 : tensor<6x1xf32>
    %38 = stablehlo.rsqrt %37 : tensor<6x1xf32>
    %39 = stablehlo.convert %arg2 : (tensor<24xbf16>) -> tensor<24xf32>
    %40 = stablehlo.broadcast_in_dim %39, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %41 = stablehlo.broadcast_in_dim %38, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x24xf32>
    %42 = stablehlo.broadcast_in_dim %40, dims = [0, 1] : (tensor<1x24xf32>) -> tensor<6x24xf32>
    %43 = stablehlo.multiply %41, %42 : tensor<6x24xf32>
    %44 = stablehlo.multiply %35, %43 : tensor<6x24xf32>
    %45 = stablehlo.convert %44 : (tensor<6x24xf32>) -> tensor<6x24xbf16>
    return %45 : tensor<6x24xbf16>
  }
  func.func private @_var(%arg0: tensor<6x24xbf16>, %arg1: tensor<i32>) -> tensor<6x1xbf16> {
    %0 = stablehlo.convert %arg0 : (tensor<6x24xbf16>) -> tensor<6x24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<6x24xf32>, tensor<f32>) -> tensor<6xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %cst_0 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<6x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x24xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<6x24xf32>
    %7 = chlo.square %6 : tensor<6x24xf32> -> tensor<6x24xf32>
    %8 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %9 = stablehlo.subtract %cst_1, %8 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%7 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<6x24xf32>, tensor<f32>) -> tensor<6xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %12 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<6x1xf32>
    %13 = stablehlo.divide %11, %12 : tensor<6x1xf32>
    %14 = stablehlo.convert %13 : (tensor<6x1xf32>) -> tensor<6x1xbf16>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.compare GT, %9, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %16 = call @_where(%15, %14, %cst_4) : (tensor<i1>, tensor<6x1xbf16>, tensor<f32>) -> tensor<6x1xbf16>
    return %16 : tensor<6x1xbf16>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<6x1xbf16>, %arg2: tensor<f32>) -> tensor<6x1xbf16> {
    %0 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<6x1xbf16>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<6x1xbf16>
    return %2 : tensor<6x1xbf16>
  }
}
