module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x16xf32>, %arg1: tensor<16x8xf32>, %arg2: tensor<16x8xf32>, %arg3: tensor<16x16xf32>, %arg4: tensor<7x16xf32>) -> (tensor<7x16xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<[2, 4, 2, 3, 6, 1, 4]> : tensor<7xi32>
    %0 = call @_take(%arg4, %c) : (tensor<7x16xf32>, tensor<7xi32>) -> tensor<7x16xf32>
    %1 = stablehlo.add %arg4, %0 : tensor<7x16xf32>
    %2 = stablehlo.dot_general %1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x16xf32>, tensor<16x16xf32>) -> tensor<7x16xf32>
    %3 = stablehlo.reshape %2 : (tensor<7x16xf32>) -> tensor<7x4x4xf32>
    %4 = stablehlo.dot_general %1, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x16xf32>, tensor<16x8xf32>) -> tensor<7x8xf32>
    %5 = stablehlo.reshape %4 : (tensor<7x8xf32>) -> tensor<7x2x4xf32>
    %6 = stablehlo.dot_general %1, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x16xf32>, tensor<16x8xf32>) -> tensor<7x8xf32>
    %7 = stablehlo.reshape %6 : (tensor<7x8xf32>) -> tensor<7x2x4xf32>
    %8 = stablehlo.broadcast_in_dim %3, dims = [1, 2, 3] : (tensor<7x4x4xf32>) -> tensor<1x7x4x4xf32>
    %9 = stablehlo.broadcast_in_dim %5, dims = [1, 2, 3] : (tensor<7x2x4xf32>) -> tensor<1x7x2x4xf32>
    %10 = stablehlo.broadcast_in_dim %7, dims = [1, 2, 3] : (tensor<7x2x4xf32>) -> tensor<1x7x2x4xf32>
    %11 = stablehlo.reshape %8 : (tensor<1x7x4x4xf32>) -> tensor<1x7x2x2x4xf32>
    %12 = stablehlo.dot_general %11, %9, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<1x7x2x2x4xf32>, tensor<1x7x2x4xf32>) -> tensor<1x2x7x2x7xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x2x7x2x7xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<1x2x7x2x7xf32>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %15 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<1x2x7x7xi1>
    %c_1 = stablehlo.constant dense<true> : tensor<i1>
    %16 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<7x7xi1>
    %17 = call @tril(%16) : (tensor<7x7xi1>) -> tensor<7x7xi1>
    %18 = stablehlo.broadcast_in_dim %17, dims = [2, 3] : (tensor<7x7xi1>) -> tensor<1x1x7x7xi1>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<1x1x7x7xi1>) -> tensor<1x2x7x7xi1>
    %20 = stablehlo.and %15, %19 : tensor<1x2x7x7xi1>
    %cst_2 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %21 = call @_where(%20, %14, %cst_2) : (tensor<1x2x7x7xi1>, tensor<1x2x7x2x7xf32>, tensor<f32>) -> tensor<2x1x2x7x7xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_3) applies stablehlo.maximum across dimensions = [4] : (tensor<2x1x2x7x7xf32>, tensor<f32>) -> tensor<2x1x2x7xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x1x2x7xf32>
    %24 = stablehlo.maximum %23, %22 : tensor<2x1x2x7xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2, 3] : (tensor<2x1x2x7xf32>) -> tensor<2x1x2x7x1xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3, 4] : (tensor<2x1x2x7x1xf32>) -> tensor<2x1x2x7x7xf32>
    %27 = stablehlo.subtract %21, %26 : tensor<2x1x2x7x7xf32>
    %28 = stablehlo.exponential %27 : tensor<2x1x2x7x7xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.reduce(%28 init: %cst_5) applies stablehlo.add across dimensions = [4] : (tensor<2x1x2x7x7xf32>, tensor<f32>) -> tensor<2x1x2x7xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2, 3] : (tensor<2x1x2x7xf32>) -> tensor<2x1x2x7x1xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2, 3, 4] : (tensor<2x1x2x7x1xf32>) -> tensor<2x1x2x7x7xf32>
    %32 = stablehlo.divide %28, %31 : tensor<2x1x2x7x7xf32>
    %33 = stablehlo.dot_general %10, %32, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<1x7x2x4xf32>, tensor<2x1x2x7x7xf32>) -> tensor<1x2x4x2x7xf32>
    %34 = stablehlo.transpose %33, dims = [3, 0, 4, 1, 2] : (tensor<1x2x4x2x7xf32>) -> tensor<2x1x7x2x4xf32>
    %35 = stablehlo.transpose %34, dims = [1, 2, 3, 0, 4] : (tensor<2x1x7x2x4xf32>) -> tensor<1x7x2x2x4xf32>
    %36 = stablehlo.reshape %35 : (tensor<1x7x2x2x4xf32>) -> tensor<1x7x4x4xf32>
    %37 = stablehlo.reshape %36 : (tensor<1x7x4x4xf32>) -> tensor<7x4x4xf32>
    %38 = stablehlo.reshape %37 : (tensor<7x4x4xf32>) -> tensor<7x16xf32>
    %39 = stablehlo.dot_general %38, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x16xf32>, tensor<16x16xf32>) -> tensor<7x16xf32>
    %40 = stablehlo.add %1, %39 : tensor<7x16xf32>
    return %40 : tensor<7x16xf32>
  }
  func.func private @_take(%arg0: tensor<7x16xf32>, %arg1: tensor<7xi32>) -> tensor<7x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<7xi32>) -> tensor<7x1xi32>
    %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16>}> : (tensor<7x16xf32>, tensor<7x1xi32>) -> tensor<7x16xf32>
    return %1 : tensor<7x16xf32>
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
  func.func private @_where(%arg0: tensor<1x2x7x7xi1>, %arg1: tensor<1x2x7x2x7xf32>, %arg2: tensor<f32>) -> tensor<2x1x2x7x7xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<1x2x7x7xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3, 4] : (tensor<1x2x7x7xi1>) -> tensor<2x1x2x7x7xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<1x2x7x7xf32>) -> tensor<2x1x2x7x7xf32>
    %3 = stablehlo.transpose %arg1, dims = [3, 0, 1, 2, 4] : (tensor<1x2x7x2x7xf32>) -> tensor<2x1x2x7x7xf32>
    %4 = stablehlo.select %1, %3, %2 : tensor<2x1x2x7x7xi1>, tensor<2x1x2x7x7xf32>
    return %4 : tensor<2x1x2x7x7xf32>
  }
}
