module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<24xbf16>, %arg1: tensor<9x24xbf16>) -> (tensor<9x24xbf16> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<[8, 0, 4, 5, 2, 3, 5, 7, 5]> : tensor<9xi32>
    %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %0 = call @clip(%arg1, %cst, %cst_0) : (tensor<9x24xbf16>, tensor<f32>, tensor<f32>) -> tensor<9x24xbf16>
    %1 = stablehlo.abs %arg1 : tensor<9x24xbf16>
    %cst_1 = stablehlo.constant dense<2.500000e-01> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<9x24xbf16>
    %3 = stablehlo.multiply %1, %2 : tensor<9x24xbf16>
    %4 = stablehlo.add %0, %3 : tensor<9x24xbf16>
    %5 = call @_take(%4, %c) : (tensor<9x24xbf16>, tensor<9xi32>) -> tensor<9x24xbf16>
    %6 = stablehlo.add %4, %5 : tensor<9x24xbf16>
    %7 = stablehlo.convert %6 : (tensor<9x24xbf16>) -> tensor<9x24xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<9x24xf32>, tensor<f32>) -> tensor<9xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<9xf32>) -> tensor<9x1xf32>
    %cst_3 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<9x1xf32>
    %11 = stablehlo.divide %9, %10 : tensor<9x1xf32>
    %12 = stablehlo.multiply %7, %7 : tensor<9x24xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<9x24xf32>, tensor<f32>) -> tensor<9xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0] : (tensor<9xf32>) -> tensor<9x1xf32>
    %cst_5 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<9x1xf32>
    %16 = stablehlo.divide %14, %15 : tensor<9x1xf32>
    %17 = stablehlo.multiply %11, %11 : tensor<9x1xf32>
    %18 = stablehlo.subtract %16, %17 : tensor<9x1xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<9x1xf32>
    %20 = stablehlo.maximum %19, %18 : tensor<9x1xf32>
    %21 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<9x1xf32>) -> tensor<9x24xf32>
    %22 = stablehlo.subtract %7, %21 : tensor<9x24xf32>
    %cst_7 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<9x1xf32>
    %24 = stablehlo.add %20, %23 : tensor<9x1xf32>
    %25 = stablehlo.rsqrt %24 : tensor<9x1xf32>
    %26 = stablehlo.convert %arg0 : (tensor<24xbf16>) -> tensor<24xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %28 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<9x1xf32>) -> tensor<9x24xf32>
    %29 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<1x24xf32>) -> tensor<9x24xf32>
    %30 = stablehlo.multiply %28, %29 : tensor<9x24xf32>
    %31 = stablehlo.multiply %22, %30 : tensor<9x24xf32>
    %32 = stablehlo.convert %31 : (tensor<9x24xf32>) -> tensor<9x24xbf16>
    return %32 : tensor<9x24xbf16>
  }
  func.func private @clip(%arg0: tensor<9x24xbf16>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<9x24xbf16> {
    %0 = stablehlo.convert %arg1 : (tensor<f32>) -> tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<bf16>) -> tensor<9x24xbf16>
    %2 = stablehlo.maximum %1, %arg0 : tensor<9x24xbf16>
    %3 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<bf16>) -> tensor<9x24xbf16>
    %5 = stablehlo.minimum %4, %2 : tensor<9x24xbf16>
    return %5 : tensor<9x24xbf16>
  }
  func.func private @_take(%arg0: tensor<9x24xbf16>, %arg1: tensor<9xi32>) -> tensor<9x24xbf16> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<9xi32>) -> tensor<9x1xi32>
    %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 24>}> : (tensor<9x24xbf16>, tensor<9x1xi32>) -> tensor<9x24xbf16>
    return %1 : tensor<9x24xbf16>
  }
}
