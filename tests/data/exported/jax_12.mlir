module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x12xbf16>, %arg1: tensor<12x12xbf16>, %arg2: tensor<12x12xbf16>, %arg3: tensor<12xbf16>, %arg4: tensor<12x12xbf16>, %arg5: tensor<12x6xbf16>, %arg6: tensor<12x6xbf16>, %arg7: tensor<12x12xbf16>, %arg8: tensor<12x12xbf16>, %arg9: tensor<12x12xbf16>, %arg10: tensor<12x12xbf16>, %arg11: tensor<12x12xbf16>, %arg12: tensor<8x12xbf16>) -> (tensor<8x12xbf16> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[[1.453130e+00, 9.882810e-01, 1.156250e+00, -5.234380e-01, -4.804690e-01, -1.585940e+00, -7.226560e-01, -1.179690e+00], [-2.988280e-01, 6.289060e-01, -1.669920e-01, -3.789060e-01, 6.406250e-01, 1.468750e+00, 1.039060e+00, -1.750000e+00], [1.703130e+00, -4.863280e-01, -1.492190e+00, -4.042970e-01, 9.609370e-01, -2.718750e+00, 1.265630e+00, 1.767580e-01], [5.195310e-01, -1.414060e+00, -5.976560e-01, -1.179690e+00, 1.140630e+00, -8.203130e-01, 3.339840e-01, -7.031250e-01], [-1.710940e+00, 8.398430e-01, 1.148440e+00, 1.468750e+00, -6.015630e-01, 5.798330e-03, 6.523440e-01, 2.910160e-01], [1.708980e-01, 2.296880e+00, -4.628910e-01, 8.437500e-01, -5.781250e-01, 1.382810e+00, -3.027340e-01, -1.031250e+00], [7.148430e-01, 1.123050e-02, -4.238280e-01, -2.636720e-01, -6.601560e-01, 4.804690e-01, 2.910160e-01, 1.632810e+00], [-7.226560e-01, 1.398440e+00, 5.156250e-01, -1.453130e+00, 1.468750e+00, -1.820310e+00, 4.746090e-01, -1.906250e+00]]> : tensor<8x8xbf16>
    %0 = stablehlo.dot_general %arg12, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12xbf16>, tensor<12x12xbf16>) -> tensor<8x12xbf16>
    %1 = stablehlo.negate %0 : tensor<8x12xbf16>
    %2 = stablehlo.exponential %1 : tensor<8x12xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<8x12xbf16>
    %4 = stablehlo.add %3, %2 : tensor<8x12xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<8x12xbf16>
    %6 = stablehlo.divide %5, %4 : tensor<8x12xbf16>
    %7 = stablehlo.dot_general %6, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12xbf16>, tensor<12x12xbf16>) -> tensor<8x12xbf16>
    %8 = stablehlo.add %arg12, %7 : tensor<8x12xbf16>
    %9 = stablehlo.dot_general %8, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12xbf16>, tensor<12x12xbf16>) -> tensor<8x12xbf16>
    %10 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<12xbf16>) -> tensor<1x12xbf16>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x12xbf16>) -> tensor<8x12xbf16>
    %12 = stablehlo.add %9, %11 : tensor<8x12xbf16>
    %13 = stablehlo.dot_general %12, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12xbf16>, tensor<12x12xbf16>) -> tensor<8x12xbf16>
    %14 = stablehlo.reshape %13 : (tensor<8x12xbf16>) -> tensor<8x4x3xbf16>
    %15 = stablehlo.dot_general %12, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12xbf16>, tensor<12x6xbf16>) -> tensor<8x6xbf16>
    %16 = stablehlo.reshape %15 : (tensor<8x6xbf16>) -> tensor<8x2x3xbf16>
    %17 = stablehlo.dot_general %12, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12xbf16>, tensor<12x6xbf16>) -> tensor<8x6xbf16>
    %18 = stablehlo.reshape %17 : (tensor<8x6xbf16>) -> tensor<8x2x3xbf16>
    %19 = stablehlo.broadcast_in_dim %14, dims = [1, 2, 3] : (tensor<8x4x3xbf16>) -> tensor<1x8x4x3xbf16>
    %20 = stablehlo.broadcast_in_dim %16, dims = [1, 2, 3] : (tensor<8x2x3xbf16>) -> tensor<1x8x2x3xbf16>
    %21 = stablehlo.broadcast_in_dim %18, dims = [1, 2, 3] : (tensor<8x2x3xbf16>) -> tensor<1x8x2x3xbf16>
    %22 = stablehlo.reshape %19 : (tensor<1x8x4x3xbf16>) -> tensor<1x8x2x2x3xbf16>
    %23 = stablehlo.dot_general %22, %20, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<1x8x2x2x3xbf16>, tensor<1x8x2x3xbf16>) -> tensor<1x2x8x2x8xf32>
    %cst_2 = stablehlo.constant dense<0.577350259> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x2x8x2x8xf32>
    %25 = stablehlo.multiply %23, %24 : tensor<1x2x8x2x8xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_3) applies stablehlo.maximum across dimensions = [4] : (tensor<1x2x8x2x8xf32>, tensor<f32>) -> tensor<1x2x8x2xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x2x8x2xf32>
    %28 = stablehlo.maximum %27, %26 : tensor<1x2x8x2xf32>
    %29 = stablehlo.transpose %28, dims = [3, 0, 1, 2] : (tensor<1x2x8x2xf32>) -> tensor<2x1x2x8xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<2x1x2x8xf32>) -> tensor<2x1x2x8x1xf32>
    %31 = stablehlo.transpose %25, dims = [3, 0, 1, 2, 4] : (tensor<1x2x8x2x8xf32>) -> tensor<2x1x2x8x8xf32>
    %32 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3, 4] : (tensor<2x1x2x8x1xf32>) -> tensor<2x1x2x8x8xf32>
    %33 = stablehlo.subtract %31, %32 : tensor<2x1x2x8x8xf32>
    %34 = stablehlo.exponential %33 : tensor<2x1x2x8x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_5) applies stablehlo.add across dimensions = [4] : (tensor<2x1x2x8x8xf32>, tensor<f32>) -> tensor<2x1x2x8xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 1, 2, 3] : (tensor<2x1x2x8xf32>) -> tensor<2x1x2x8x1xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2, 3, 4] : (tensor<2x1x2x8x1xf32>) -> tensor<2x1x2x8x8xf32>
    %38 = stablehlo.divide %34, %37 : tensor<2x1x2x8x8xf32>
    %39 = stablehlo.convert %38 : (tensor<2x1x2x8x8xf32>) -> tensor<2x1x2x8x8xbf16>
    %40 = stablehlo.dot_general %21, %39, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<1x8x2x3xbf16>, tensor<2x1x2x8x8xbf16>) -> tensor<1x2x3x2x8xbf16>
    %41 = stablehlo.transpose %40, dims = [3, 0, 4, 1, 2] : (tensor<1x2x3x2x8xbf16>) -> tensor<2x1x8x2x3xbf16>
    %42 = stablehlo.transpose %41, dims = [1, 2, 3, 0, 4] : (tensor<2x1x8x2x3xbf16>) -> tensor<1x8x2x2x3xbf16>
    %43 = stablehlo.reshape %42 : (tensor<1x8x2x2x3xbf16>) -> tensor<1x8x4x3xbf16>
    %44 = stablehlo.reshape %43 : (tensor<1x8x4x3xbf16>) -> tensor<8x4x3xbf16>
    %45 = stablehlo.reshape %44 : (tensor<8x4x3xbf16>) -> tensor<8x12xbf16>
    %46 = stablehlo.dot_general %45, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12xbf16>, tensor<12x12xbf16>) -> tensor<8x12xbf16>
    %47 = stablehlo.add %12, %46 : tensor<8x12xbf16>
    %48 = stablehlo.dot_general %47, %arg8, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12xbf16>, tensor<12x12xbf16>) -> tensor<8x12xbf16>
    %49 = stablehlo.reshape %48 : (tensor<8x12xbf16>) -> tensor<8x4x3xbf16>
    %50 = stablehlo.dot_general %47, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12xbf16>, tensor<12x12xbf16>) -> tensor<8x12xbf16>
    %51 = stablehlo.reshape %50 : (tensor<8x12xbf16>) -> tensor<8x4x3xbf16>
    %52 = stablehlo.dot_general %47, %arg10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12xbf16>, tensor<12x12xbf16>) -> tensor<8x12xbf16>
    %53 = stablehlo.reshape %52 : (tensor<8x12xbf16>) -> tensor<8x4x3xbf16>
    %54 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 3] : (tensor<8x4x3xbf16>) -> tensor<8x4x1x3xbf16>
    %55 = stablehlo.reshape %54 : (tensor<8x4x1x3xbf16>) -> tensor<8x4x3xbf16>
    %56 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 3] : (tensor<8x4x3xbf16>) -> tensor<8x4x1x3xbf16>
    %57 = stablehlo.reshape %56 : (tensor<8x4x1x3xbf16>) -> tensor<8x4x3xbf16>
    %58 = stablehlo.dot_general %49, %55, batching_dims = [1] x [1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x3xbf16>, tensor<8x4x3xbf16>) -> tensor<4x8x8xbf16>
    %cst_6 = stablehlo.constant dense<1.734380e+00> : tensor<bf16>
    %59 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<bf16>) -> tensor<4x8x8xbf16>
    %60 = stablehlo.divide %58, %59 : tensor<4x8x8xbf16>
    %61 = stablehlo.broadcast_in_dim %cst, dims = [1, 2] : (tensor<8x8xbf16>) -> tensor<1x8x8xbf16>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2] : (tensor<1x8x8xbf16>) -> tensor<4x8x8xbf16>
    %63 = stablehlo.add %60, %62 : tensor<4x8x8xbf16>
    %cst_7 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %64 = stablehlo.reduce(%63 init: %cst_7) applies stablehlo.maximum across dimensions = [2] : (tensor<4x8x8xbf16>, tensor<bf16>) -> tensor<4x8xbf16>
    %cst_8 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %65 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<bf16>) -> tensor<4x8xbf16>
    %66 = stablehlo.maximum %65, %64 : tensor<4x8xbf16>
    %67 = stablehlo.broadcast_in_dim %66, dims = [0, 1] : (tensor<4x8xbf16>) -> tensor<4x8x1xbf16>
    %68 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2] : (tensor<4x8x1xbf16>) -> tensor<4x8x8xbf16>
    %69 = stablehlo.subtract %63, %68 : tensor<4x8x8xbf16>
    %70 = stablehlo.exponential %69 : tensor<4x8x8xbf16>
    %71 = stablehlo.convert %70 : (tensor<4x8x8xbf16>) -> tensor<4x8x8xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%71 init: %cst_9) applies stablehlo.add across dimensions = [2] : (tensor<4x8x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8x1xf32>
    %74 = stablehlo.convert %73 : (tensor<4x8x1xf32>) -> tensor<4x8x1xbf16>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1, 2] : (tensor<4x8x1xbf16>) -> tensor<4x8x8xbf16>
    %76 = stablehlo.divide %70, %75 : tensor<4x8x8xbf16>
    %77 = stablehlo.dot_general %57, %76, batching_dims = [1] x [0], contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x3xbf16>, tensor<4x8x8xbf16>) -> tensor<4x3x8xbf16>
    %78 = stablehlo.transpose %77, dims = [2, 0, 1] : (tensor<4x3x8xbf16>) -> tensor<8x4x3xbf16>
    %79 = stablehlo.reshape %78 : (tensor<8x4x3xbf16>) -> tensor<8x12xbf16>
    %80 = stablehlo.dot_general %79, %arg11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12xbf16>, tensor<12x12xbf16>) -> tensor<8x12xbf16>
    %81 = stablehlo.add %47, %80 : tensor<8x12xbf16>
    return %81 : tensor<8x12xbf16>
  }
}
