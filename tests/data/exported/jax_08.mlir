module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12xf32>, %arg1: tensor<12x12xf32>, %arg2: tensor<12x6xf32>, %arg3: tensor<12x6xf32>, %arg4: tensor<12x12xf32>, %arg5: tensor<12xf32>, %arg6: tensor<9x12xf32>) -> (tensor<9x12xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg6 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<9x12xf32>, tensor<f32>) -> tensor<9xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<9xf32>) -> tensor<9x1xf32>
    %cst_0 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<9x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<9x1xf32>
    %4 = stablehlo.multiply %arg6, %arg6 : tensor<9x12xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<9x12xf32>, tensor<f32>) -> tensor<9xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<9xf32>) -> tensor<9x1xf32>
    %cst_2 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<9x1xf32>
    %8 = stablehlo.divide %6, %7 : tensor<9x1xf32>
    %9 = stablehlo.multiply %3, %3 : tensor<9x1xf32>
    %10 = stablehlo.subtract %8, %9 : tensor<9x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<9x1xf32>
    %12 = stablehlo.maximum %11, %10 : tensor<9x1xf32>
    %13 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<9x1xf32>) -> tensor<9x12xf32>
    %14 = stablehlo.subtract %arg6, %13 : tensor<9x12xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<9x1xf32>
    %16 = stablehlo.add %12, %15 : tensor<9x1xf32>
    %17 = stablehlo.rsqrt %16 : tensor<9x1xf32>
    %18 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<12xf32>) -> tensor<1x12xf32>
    %19 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<9x1xf32>) -> tensor<9x12xf32>
    %20 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<9x12xf32>
    %21 = stablehlo.multiply %19, %20 : tensor<9x12xf32>
    %22 = stablehlo.multiply %14, %21 : tensor<9x12xf32>
    %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<9x12xf32>
    %24 = stablehlo.multiply %22, %23 : tensor<9x12xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_6) applies stablehlo.maximum across dimensions = [0] : (tensor<9x12xf32>, tensor<f32>) -> tensor<12xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<12xf32>
    %27 = stablehlo.maximum %26, %25 : tensor<12xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [1] : (tensor<12xf32>) -> tensor<1x12xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<9x12xf32>
    %30 = stablehlo.subtract %24, %29 : tensor<9x12xf32>
    %31 = stablehlo.exponential %30 : tensor<9x12xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.reduce(%31 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<9x12xf32>, tensor<f32>) -> tensor<12xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [1] : (tensor<12xf32>) -> tensor<1x12xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<9x12xf32>
    %35 = stablehlo.divide %31, %34 : tensor<9x12xf32>
    %36 = stablehlo.add %22, %35 : tensor<9x12xf32>
    %37 = stablehlo.dot_general %36, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<9x12xf32>, tensor<12x12xf32>) -> tensor<9x12xf32>
    %38 = stablehlo.reshape %37 : (tensor<9x12xf32>) -> tensor<9x4x3xf32>
    %39 = stablehlo.dot_general %36, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<9x12xf32>, tensor<12x6xf32>) -> tensor<9x6xf32>
    %40 = stablehlo.reshape %39 : (tensor<9x6xf32>) -> tensor<9x2x3xf32>
    %41 = stablehlo.dot_general %36, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<9x12xf32>, tensor<12x6xf32>) -> tensor<9x6xf32>
    %42 = stablehlo.reshape %41 : (tensor<9x6xf32>) -> tensor<9x2x3xf32>
    %43 = stablehlo.broadcast_in_dim %38, dims = [1, 2, 3] : (tensor<9x4x3xf32>) -> tensor<1x9x4x3xf32>
    %44 = stablehlo.broadcast_in_dim %40, dims = [1, 2, 3] : (tensor<9x2x3xf32>) -> tensor<1x9x2x3xf32>
    %45 = stablehlo.broadcast_in_dim %42, dims = [1, 2, 3] : (tensor<9x2x3xf32>) -> tensor<1x9x2x3xf32>
    %46 = stablehlo.reshape %43 : (tensor<1x9x4x3xf32>) -> tensor<1x9x2x2x3xf32>
    %47 = stablehlo.dot_general %46, %44, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x9x2x2x3xf32>, tensor<1x9x2x3xf32>) -> tensor<1x2x9x2x9xf32>
    %cst_9 = stablehlo.constant dense<0.577350259> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<1x2x9x2x9xf32>
    %49 = stablehlo.multiply %47, %48 : tensor<1x2x9x2x9xf32>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %50 = stablehlo.reduce(%49 init: %cst_10) applies stablehlo.maximum across dimensions = [4] : (tensor<1x2x9x2x9xf32>, tensor<f32>) -> tensor<1x2x9x2xf32>
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<1x2x9x2xf32>
    %52 = stablehlo.maximum %51, %50 : tensor<1x2x9x2xf32>
    %53 = stablehlo.transpose %52, dims = [3, 0, 1, 2] : (tensor<1x2x9x2xf32>) -> tensor<2x1x2x9xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2, 3] : (tensor<2x1x2x9xf32>) -> tensor<2x1x2x9x1xf32>
    %55 = stablehlo.transpose %49, dims = [3, 0, 1, 2, 4] : (tensor<1x2x9x2x9xf32>) -> tensor<2x1x2x9x9xf32>
    %56 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2, 3, 4] : (tensor<2x1x2x9x1xf32>) -> tensor<2x1x2x9x9xf32>
    %57 = stablehlo.subtract %55, %56 : tensor<2x1x2x9x9xf32>
    %58 = stablehlo.exponential %57 : tensor<2x1x2x9x9xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %59 = stablehlo.reduce(%58 init: %cst_12) applies stablehlo.add across dimensions = [4] : (tensor<2x1x2x9x9xf32>, tensor<f32>) -> tensor<2x1x2x9xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2, 3] : (tensor<2x1x2x9xf32>) -> tensor<2x1x2x9x1xf32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2, 3, 4] : (tensor<2x1x2x9x1xf32>) -> tensor<2x1x2x9x9xf32>
    %62 = stablehlo.divide %58, %61 : tensor<2x1x2x9x9xf32>
    %63 = stablehlo.dot_general %45, %62, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<1x9x2x3xf32>, tensor<2x1x2x9x9xf32>) -> tensor<1x2x3x2x9xf32>
    %64 = stablehlo.transpose %63, dims = [3, 0, 4, 1, 2] : (tensor<1x2x3x2x9xf32>) -> tensor<2x1x9x2x3xf32>
    %65 = stablehlo.transpose %64, dims = [1, 2, 3, 0, 4] : (tensor<2x1x9x2x3xf32>) -> tensor<1x9x2x2x3xf32>
    %66 = stablehlo.reshape %65 : (tensor<1x9x2x2x3xf32>) -> tensor<1x9x4x3xf32>
    %67 = stablehlo.reshape %66 : (tensor<1x9x4x3xf32>) -> tensor<9x4x3xf32>
    %68 = stablehlo.reshape %67 : (tensor<9x4x3xf32>) -> tensor<9x12xf32>
    %69 = stablehlo.dot_general %68, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<9x12xf32>, tensor<12x12xf32>) -> tensor<9x12xf32>
    %70 = stablehlo.add %36, %69 : tensor<9x12xf32>
    %71 = stablehlo.multiply %70, %70 : tensor<9x12xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%71 init: %cst_13) applies stablehlo.add across dimensions = [1] : (tensor<9x12xf32>, tensor<f32>) -> tensor<9xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0] : (tensor<9xf32>) -> tensor<9x1xf32>
    %cst_14 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<9x1xf32>
    %75 = stablehlo.divide %73, %74 : tensor<9x1xf32>
    %cst_15 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<9x1xf32>
    %77 = stablehlo.add %75, %76 : tensor<9x1xf32>
    %78 = stablehlo.rsqrt %77 : tensor<9x1xf32>
    %79 = stablehlo.broadcast_in_dim %78, dims = [0, 1] : (tensor<9x1xf32>) -> tensor<9x12xf32>
    %80 = stablehlo.multiply %70, %79 : tensor<9x12xf32>
    %81 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<12xf32>) -> tensor<1x12xf32>
    %82 = stablehlo.broadcast_in_dim %81, dims = [0, 1] : (tensor<1x12xf32>) -> tensor<9x12xf32>
    %83 = stablehlo.multiply %80, %82 : tensor<9x12xf32>
    return %83 : tensor<9x12xf32>
  }
}
