module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<24x24xf32>, %arg1: tensor<24x24xf32>, %arg2: tensor<24x24xf32>, %arg3: tensor<24x24xf32>, %arg4: tensor<24xf32>, %arg5: tensor<5x24xf32>) -> (tensor<5x24xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.tanh %arg5 : tensor<5x24xf32>
    %1 = stablehlo.dot_general %0, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x24xf32>, tensor<24x24xf32>) -> tensor<5x24xf32>
    %2 = stablehlo.reshape %1 : (tensor<5x24xf32>) -> tensor<5x4x6xf32>
    %3 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x24xf32>, tensor<24x24xf32>) -> tensor<5x24xf32>
    %4 = stablehlo.reshape %3 : (tensor<5x24xf32>) -> tensor<5x4x6xf32>
    %5 = stablehlo.dot_general %0, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x24xf32>, tensor<24x24xf32>) -> tensor<5x24xf32>
    %6 = stablehlo.reshape %5 : (tensor<5x24xf32>) -> tensor<5x4x6xf32>
    %7 = stablehlo.broadcast_in_dim %2, dims = [1, 2, 3] : (tensor<5x4x6xf32>) -> tensor<1x5x4x6xf32>
    %8 = stablehlo.broadcast_in_dim %4, dims = [1, 2, 3] : (tensor<5x4x6xf32>) -> tensor<1x5x4x6xf32>
    %9 = stablehlo.broadcast_in_dim %6, dims = [1, 2, 3] : (tensor<5x4x6xf32>) -> tensor<1x5x4x6xf32>
    %10 = stablehlo.reshape %7 : (tensor<1x5x4x6xf32>) -> tensor<1x5x4x1x6xf32>
    %11 = stablehlo.dot_general %10, %8, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x5x4x1x6xf32>, tensor<1x5x4x6xf32>) -> tensor<1x4x5x1x5xf32>
    %cst = stablehlo.constant dense<0.408248305> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x4x5x1x5xf32>
    %13 = stablehlo.multiply %11, %12 : tensor<1x4x5x1x5xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_0) applies stablehlo.maximum across dimensions = [4] : (tensor<1x4x5x1x5xf32>, tensor<f32>) -> tensor<1x4x5x1xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x4x5x1xf32>
    %16 = stablehlo.maximum %15, %14 : tensor<1x4x5x1xf32>
    %17 = stablehlo.transpose %16, dims = [3, 0, 1, 2] : (tensor<1x4x5x1xf32>) -> tensor<1x1x4x5xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<1x1x4x5xf32>) -> tensor<1x1x4x5x1xf32>
    %19 = stablehlo.transpose %13, dims = [3, 0, 1, 2, 4] : (tensor<1x4x5x1x5xf32>) -> tensor<1x1x4x5x5xf32>
    %20 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3, 4] : (tensor<1x1x4x5x1xf32>) -> tensor<1x1x4x5x5xf32>
    %21 = stablehlo.subtract %19, %20 : tensor<1x1x4x5x5xf32>
    %22 = stablehlo.exponential %21 : tensor<1x1x4x5x5xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_2) applies stablehlo.add across dimensions = [4] : (tensor<1x1x4x5x5xf32>, tensor<f32>) -> tensor<1x1x4x5xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<1x1x4x5xf32>) -> tensor<1x1x4x5x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3, 4] : (tensor<1x1x4x5x1xf32>) -> tensor<1x1x4x5x5xf32>
    %26 = stablehlo.divide %22, %25 : tensor<1x1x4x5x5xf32>
    %27 = stablehlo.dot_general %9, %26, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<1x5x4x6xf32>, tensor<1x1x4x5x5xf32>) -> tensor<1x4x6x1x5xf32>
    %28 = stablehlo.transpose %27, dims = [3, 0, 4, 1, 2] : (tensor<1x4x6x1x5xf32>) -> tensor<1x1x5x4x6xf32>
    %29 = stablehlo.transpose %28, dims = [1, 2, 3, 0, 4] : (tensor<1x1x5x4x6xf32>) -> tensor<1x5x4x1x6xf32>
    %30 = stablehlo.reshape %29 : (tensor<1x5x4x1x6xf32>) -> tensor<1x5x4x6xf32>
    %31 = stablehlo.reshape %30 : (tensor<1x5x4x6xf32>) -> tensor<5x4x6xf32>
    %32 = stablehlo.reshape %31 : (tensor<5x4x6xf32>) -> tensor<5x24xf32>
    %33 = stablehlo.dot_general %32, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x24xf32>, tensor<24x24xf32>) -> tensor<5x24xf32>
    %34 = stablehlo.add %0, %33 : tensor<5x24xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<5x24xf32>, tensor<f32>) -> tensor<5xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0] : (tensor<5xf32>) -> tensor<5x1xf32>
    %cst_4 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<5x1xf32>
    %38 = stablehlo.divide %36, %37 : tensor<5x1xf32>
    %39 = stablehlo.multiply %34, %34 : tensor<5x24xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_5) applies stablehlo.add across dimensions = [1] : (tensor<5x24xf32>, tensor<f32>) -> tensor<5xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0] : (tensor<5xf32>) -> tensor<5x1xf32>
    %cst_6 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<5x1xf32>
    %43 = stablehlo.divide %41, %42 : tensor<5x1xf32>
    %44 = stablehlo.multiply %38, %38 : tensor<5x1xf32>
    %45 = stablehlo.subtract %43, %44 : tensor<5x1xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<5x1xf32>
    %47 = stablehlo.maximum %46, %45 : tensor<5x1xf32>
    %48 = stablehlo.broadcast_in_dim %38, dims = [0, 1] : (tensor<5x1xf32>) -> tensor<5x24xf32>
    %49 = stablehlo.subtract %34, %48 : tensor<5x24xf32>
    %cst_8 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<5x1xf32>
    %51 = stablehlo.add %47, %50 : tensor<5x1xf32>
    %52 = stablehlo.rsqrt %51 : tensor<5x1xf32>
    %53 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %54 = stablehlo.broadcast_in_dim %52, dims = [0, 1] : (tensor<5x1xf32>) -> tensor<5x24xf32>
    %55 = stablehlo.broadcast_in_dim %53, dims = [0, 1] : (tensor<1x24xf32>) -> tensor<5x24xf32>
    %56 = stablehlo.multiply %54, %55 : tensor<5x24xf32>
    %57 = stablehlo.multiply %49, %56 : tensor<5x24xf32>
    return %57 : tensor<5x24xf32>
  }
}
