module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x16xf16>, %arg1: tensor<16xf16>, %arg2: tensor<16xf16>, %arg3: tensor<16xf16>, %arg4: tensor<16x16xf16>, %arg5: tensor<16x8xf16>, %arg6: tensor<16x8xf16>, %arg7: tensor<16x16xf16>, %arg8: tensor<7x16xf16>) -> (tensor<7x16xf16> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[[1.782230e-01, -2.885740e-01, -1.136720e+00, -6.196290e-01, -2.500000e-01, 1.369140e+00, -6.103520e-01], [1.793950e+00, -9.287100e-01, -3.576660e-01, 8.437500e-01, -2.402340e-01, -8.300780e-01, -1.318360e-01], [4.487300e-01, -1.715820e+00, -2.485350e-01, -1.093140e-01, -4.038090e-01, 7.353520e-01, -5.683590e-01], [-3.645020e-01, 3.762820e-02, 7.290030e-01, -2.211910e-01, 1.516600e+00, -9.077140e-01, 1.286130e+00], [-8.579100e-01, -1.630860e-01, 3.640140e-01, 2.054690e+00, 8.959960e-01, -4.057620e-01, 1.298830e+00], [-2.137450e-01, -7.915030e-01, 4.487300e-01, 9.448240e-02, 9.536130e-01, -5.498050e-01, 3.815920e-01], [6.347650e-01, 2.780760e-01, -2.897640e-02, -6.977530e-01, 9.038080e-01, 1.372070e-01, 4.963380e-01]]> : tensor<7x7xf16>
    %0 = stablehlo.dot_general %arg8, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x16xf16>, tensor<16x16xf16>) -> tensor<7x16xf16>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<16xf16>) -> tensor<1x16xf16>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x16xf16>) -> tensor<7x16xf16>
    %3 = stablehlo.add %0, %2 : tensor<7x16xf16>
    %4 = stablehlo.convert %3 : (tensor<7x16xf16>) -> tensor<7x16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<7x16xf32>, tensor<f32>) -> tensor<7xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<7xf32>) -> tensor<7x1xf32>
    %cst_1 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<7x1xf32>
    %8 = stablehlo.divide %6, %7 : tensor<7x1xf32>
    %9 = stablehlo.convert %8 : (tensor<7x1xf32>) -> tensor<7x1xf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %10 = call @_var(%3, %c) : (tensor<7x16xf16>, tensor<i32>) -> tensor<7x1xf16>
    %11 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<7x1xf16>) -> tensor<7x16xf16>
    %12 = stablehlo.subtract %3, %11 : tensor<7x16xf16>
    %cst_2 = stablehlo.constant dense<1.013280e-06> : tensor<f16>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f16>) -> tensor<7x1xf16>
    %14 = stablehlo.add %10, %13 : tensor<7x1xf16>
    %15 = stablehlo.rsqrt %14 : tensor<7x1xf16>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<7x1xf16>) -> tensor<7x16xf16>
    %17 = stablehlo.multiply %12, %16 : tensor<7x16xf16>
    %18 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<16xf16>) -> tensor<1x16xf16>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<1x16xf16>) -> tensor<7x16xf16>
    %20 = stablehlo.multiply %17, %19 : tensor<7x16xf16>
    %21 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<16xf16>) -> tensor<1x16xf16>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<1x16xf16>) -> tensor<7x16xf16>
    %23 = stablehlo.add %20, %22 : tensor<7x16xf16>
    %cst_3 = stablehlo.constant dense<9.521480e-01> : tensor<f16>
    %24 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f16>) -> tensor<7x16xf16>
    %25 = stablehlo.compare GT, %23, %24, FLOAT : (tensor<7x16xf16>, tensor<7x16xf16>) -> tensor<7x16xi1>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f16>
    %26 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f16>) -> tensor<7x16xf16>
    %27 = stablehlo.multiply %26, %23 : tensor<7x16xf16>
    %cst_5 = stablehlo.constant dense<9.521480e-01> : tensor<f16>
    %28 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f16>) -> tensor<7x16xf16>
    %29 = stablehlo.subtract %27, %28 : tensor<7x16xf16>
    %30 = call @_where_0(%25, %23, %29) : (tensor<7x16xi1>, tensor<7x16xf16>, tensor<7x16xf16>) -> tensor<7x16xf16>
    %31 = stablehlo.dot_general %30, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x16xf16>, tensor<16x16xf16>) -> tensor<7x16xf16>
    %32 = stablehlo.reshape %31 : (tensor<7x16xf16>) -> tensor<7x4x4xf16>
    %33 = stablehlo.dot_general %30, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x16xf16>, tensor<16x8xf16>) -> tensor<7x8xf16>
    %34 = stablehlo.reshape %33 : (tensor<7x8xf16>) -> tensor<7x2x4xf16>
    %35 = stablehlo.dot_general %30, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x16xf16>, tensor<16x8xf16>) -> tensor<7x8xf16>
    %36 = stablehlo.reshape %35 : (tensor<7x8xf16>) -> tensor<7x2x4xf16>
    %37 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 3] : (tensor<7x2x4xf16>) -> tensor<7x2x2x4xf16>
    %38 = stablehlo.reshape %37 : (tensor<7x2x2x4xf16>) -> tensor<7x4x4xf16>
    %39 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 3] : (tensor<7x2x4xf16>) -> tensor<7x2x2x4xf16>
    %40 = stablehlo.reshape %39 : (tensor<7x2x2x4xf16>) -> tensor<7x4x4xf16>
    %41 = stablehlo.dot_general %32, %38, batching_dims = [1] x [1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<7x4x4xf16>, tensor<7x4x4xf16>) -> tensor<4x7x7xf16>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f16>
    %42 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f16>) -> tensor<4x7x7xf16>
    %43 = stablehlo.divide %41, %42 : tensor<4x7x7xf16>
    %44 = stablehlo.broadcast_in_dim %cst, dims = [1, 2] : (tensor<7x7xf16>) -> tensor<1x7x7xf16>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2] : (tensor<1x7x7xf16>) -> tensor<4x7x7xf16>
    %46 = stablehlo.add %43, %45 : tensor<4x7x7xf16>
    %c_7 = stablehlo.constant dense<true> : tensor<i1>
    %47 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i1>) -> tensor<7x7xi1>
    %48 = call @tril(%47) : (tensor<7x7xi1>) -> tensor<7x7xi1>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %49 = call @_where_1(%48, %46, %cst_8) : (tensor<7x7xi1>, tensor<4x7x7xf16>, tensor<f32>) -> tensor<4x7x7xf16>
    %cst_9 = stablehlo.constant dense<0xFC00> : tensor<f16>
    %50 = stablehlo.reduce(%49 init: %cst_9) applies stablehlo.maximum across dimensions = [2] : (tensor<4x7x7xf16>, tensor<f16>) -> tensor<4x7xf16>
    %cst_10 = stablehlo.constant dense<0xFC00> : tensor<f16>
    %51 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f16>) -> tensor<4x7xf16>
    %52 = stablehlo.maximum %51, %50 : tensor<4x7xf16>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 1] : (tensor<4x7xf16>) -> tensor<4x7x1xf16>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2] : (tensor<4x7x1xf16>) -> tensor<4x7x7xf16>
    %55 = stablehlo.subtract %49, %54 : tensor<4x7x7xf16>
    %56 = stablehlo.exponential %55 : tensor<4x7x7xf16>
    %57 = stablehlo.convert %56 : (tensor<4x7x7xf16>) -> tensor<4x7x7xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.reduce(%57 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<4x7x7xf32>, tensor<f32>) -> tensor<4x7xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1] : (tensor<4x7xf32>) -> tensor<4x7x1xf32>
    %60 = stablehlo.convert %59 : (tensor<4x7x1xf32>) -> tensor<4x7x1xf16>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2] : (tensor<4x7x1xf16>) -> tensor<4x7x7xf16>
    %62 = stablehlo.divide %56, %61 : tensor<4x7x7xf16>
    %63 = stablehlo.dot_general %40, %62, batching_dims = [1] x [0], contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<7x4x4xf16>, tensor<4x7x7xf16>) -> tensor<4x4x7xf16>
    %64 = stablehlo.transpose %63, dims = [2, 0, 1] : (tensor<4x4x7xf16>) -> tensor<7x4x4xf16>
    %65 = stablehlo.reshape %64 : (tensor<7x4x4xf16>) -> tensor<7x16xf16>
    %66 = stablehlo.dot_general %65, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x16xf16>, tensor<16x16xf16>) -> tensor<7x16xf16>
    %67 = stablehlo.add %30, %66 : tensor<7x16xf16>
    return %67 : tensor<7x16xf16>
  }
  func.func private @_var(%arg0: tensor<7x16xf16>, %arg1: tensor<i32>) -> tensor<7x1xf16> {
    %0 = stablehlo.convert %arg0 : (tensor<7x16xf16>) -> tensor<7x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<7x16xf32>, tensor<f32>) -> tensor<7xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<7xf32>) -> tensor<7x1xf32>
    %cst_0 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<7x1xf32>
    %4 = stablehlo.divide %2, %3 : tensor<7x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<7x1xf32>) -> tensor<7x16xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<7x16xf32>
    %7 = chlo.square %6 : tensor<7x16xf32> -> tensor<7x16xf32>
    %8 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<1.600000e+01> : tensor<f32>
    %9 = stablehlo.subtract %cst_1, %8 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%7 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<7x16xf32>, tensor<f32>) -> tensor<7xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<7xf32>) -> tensor<7x1xf32>
    %12 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<7x1xf32>
    %13 = stablehlo.divide %11, %12 : tensor<7x1xf32>
    %14 = stablehlo.convert %13 : (tensor<7x1xf32>) -> tensor<7x1xf16>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.compare GT, %9, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %16 = call @_where(%15, %14, %cst_4) : (tensor<i1>, tensor<7x1xf16>, tensor<f32>) -> tensor<7x1xf16>
    return %16 : tensor<7x1xf16>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<7x1xf16>, %arg2: tensor<f32>) -> tensor<7x1xf16> {
    %0 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<f16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f16>) -> tensor<7x1xf16>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<7x1xf16>
    return %2 : tensor<7x1xf16>
  }
  func.func private @_where_0(%arg0: tensor<7x16xi1>, %arg1: tensor<7x16xf16>, %arg2: tensor<7x16xf16>) -> tensor<7x16xf16> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<7x16xi1>, tensor<7x16xf16>
    return %0 : tensor<7x16xf16>
  }
  func.func private @tril(%arg0: tensor<7x7xi1>) -> tensor<7x7xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<7x7xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<7x7xi32>
    %2 = stablehlo.add %0, %1 : tensor<7x7xi32>
    %3 = stablehlo.iota dim = 1 : tensor<7x7xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<7x7xi32>, tensor<7x7xi32>) -> tensor<7x7xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<7x7xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<7x7xi1>, tensor<7x7xi1>
    return %6 : tensor<7x7xi1>
  }
  func.func private @_where_1(%arg0: tensor<7x7xi1>, %arg1: tensor<4x7x7xf16>, %arg2: tensor<f32>) -> tensor<4x7x7xf16> {
    %0 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<f16>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<7x7xi1>) -> tensor<4x7x7xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f16>) -> tensor<4x7x7xf16>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<4x7x7xi1>, tensor<4x7x7xf16>
    return %3 : tensor<4x7x7xf16>
  }
}
