module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12x12xf32>, %arg1: tensor<12x6xf32>, %arg2: tensor<12x6xf32>, %arg3: tensor<12x12xf32>, %arg4: tensor<3x12x12xf32>, %arg5: tensor<10x12xf32>) -> (tensor<10x12xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg5, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x12xf32>, tensor<12x12xf32>) -> tensor<10x12xf32>
    %1 = stablehlo.reshape %0 : (tensor<10x12xf32>) -> tensor<10x4x3xf32>
    %2 = stablehlo.dot_general %arg5, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x12xf32>, tensor<12x6xf32>) -> tensor<10x6xf32>
    %3 = stablehlo.reshape %2 : (tensor<10x6xf32>) -> tensor<10x2x3xf32>
    %4 = stablehlo.dot_general %arg5, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x12xf32>, tensor<12x6xf32>) -> tensor<10x6xf32>
    %5 = stablehlo.reshape %4 : (tensor<10x6xf32>) -> tensor<10x2x3xf32>
    %6 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 3] : (tensor<10x2x3xf32>) -> tensor<10x2x2x3xf32>
    %7 = stablehlo.reshape %6 : (tensor<10x2x2x3xf32>) -> tensor<10x4x3xf32>
    %8 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 3] : (tensor<10x2x3xf32>) -> tensor<10x2x2x3xf32>
    %9 = stablehlo.reshape %8 : (tensor<10x2x2x3xf32>) -> tensor<10x4x3xf32>
    %10 = stablehlo.dot_general %1, %7, batching_dims = [1] x [1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<10x4x3xf32>, tensor<10x4x3xf32>) -> tensor<4x10x10xf32>
    %cst = stablehlo.constant dense<1.73205078> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x10x10xf32>
    %12 = stablehlo.divide %10, %11 : tensor<4x10x10xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %13 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<10x10xi1>
    %14 = call @tril(%13) : (tensor<10x10xi1>) -> tensor<10x10xi1>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %15 = call @_where(%14, %12, %cst_0) : (tensor<10x10xi1>, tensor<4x10x10xf32>, tensor<f32>) -> tensor<4x10x10xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_1) applies stablehlo.maximum across dimensions = [2] : (tensor<4x10x10xf32>, tensor<f32>) -> tensor<4x10xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x10xf32>
    %18 = stablehlo.maximum %17, %16 : tensor<4x10xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<4x10xf32>) -> tensor<4x10x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<4x10x1xf32>) -> tensor<4x10x10xf32>
    %21 = stablehlo.subtract %15, %20 : tensor<4x10x10xf32>
    %22 = stablehlo.exponential %21 : tensor<4x10x10xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<4x10x10xf32>, tensor<f32>) -> tensor<4x10xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1] : (tensor<4x10xf32>) -> tensor<4x10x1xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<4x10x1xf32>) -> tensor<4x10x10xf32>
    %26 = stablehlo.divide %22, %25 : tensor<4x10x10xf32>
    %27 = stablehlo.dot_general %9, %26, batching_dims = [1] x [0], contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<10x4x3xf32>, tensor<4x10x10xf32>) -> tensor<4x3x10xf32>
    %28 = stablehlo.transpose %27, dims = [2, 0, 1] : (tensor<4x3x10xf32>) -> tensor<10x4x3xf32>
    %29 = stablehlo.reshape %28 : (tensor<10x4x3xf32>) -> tensor<10x12xf32>
    %30 = stablehlo.dot_general %29, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x12xf32>, tensor<12x12xf32>) -> tensor<10x12xf32>
    %31 = stablehlo.add %arg5, %30 : tensor<10x12xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<3x10xf32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %33:4 = stablehlo.while(%iterArg = %arg4, %iterArg_8 = %c_5, %iterArg_9 = %31, %iterArg_10 = %32) : tensor<3x12x12xf32>, tensor<i32>, tensor<10x12xf32>, tensor<3x10xf32>
    cond {
      %c_11 = stablehlo.constant dense<3> : tensor<i32>
      %40 = stablehlo.compare LT, %iterArg_8, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %40 : tensor<i1>
    } do {
      %40 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_8) : (tensor<3x12x12xf32>, tensor<i32>) -> tensor<12x12xf32>
      %41:2 = func.call @closed_call(%iterArg_9, %40) : (tensor<10x12xf32>, tensor<12x12xf32>) -> (tensor<10x12xf32>, tensor<10xf32>)
      %42 = func.call @dynamic_update_index_in_dim(%iterArg_10, %41#1, %iterArg_8) : (tensor<3x10xf32>, tensor<10xf32>, tensor<i32>) -> tensor<3x10xf32>
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %43 = stablehlo.add %iterArg_8, %c_11 : tensor<i32>
      stablehlo.return %iterArg, %43, %41#0, %42 : tensor<3x12x12xf32>, tensor<i32>, tensor<10x12xf32>, tensor<3x10xf32>
    }
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33#3 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<3x10xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_7 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %36 = stablehlo.divide %34, %35 : tensor<10xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0] : (tensor<10xf32>) -> tensor<10x1xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1] : (tensor<10x1xf32>) -> tensor<10x12xf32>
    %39 = stablehlo.add %33#2, %38 : tensor<10x12xf32>
    return %39 : tensor<10x12xf32>
  }
  func.func private @tril(%arg0: tensor<10x10xi1>) -> tensor<10x10xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<10x10xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<10x10xi32>
    %2 = stablehlo.add %0, %1 : tensor<10x10xi32>
    %3 = stablehlo.iota dim = 1 : tensor<10x10xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<10x10xi32>, tensor<10x10xi32>) -> tensor<10x10xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<10x10xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<10x10xi1>, tensor<10x10xi1>
    return %6 : tensor<10x10xi1>
  }
  func.func private @_where(%arg0: tensor<10x10xi1>, %arg1: tensor<4x10x10xf32>, %arg2: tensor<f32>) -> tensor<4x10x10xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<10x10xi1>) -> tensor<4x10x10xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x10x10xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<4x10x10xi1>, tensor<4x10x10xf32>
    return %3 : tensor<4x10x10xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x12x12xf32>, %arg1: tensor<i32>) -> tensor<12x12xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 12, 12] : (tensor<3x12x12xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x12x12xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x12x12xf32>) -> tensor<12x12xf32>
    return %1 : tensor<12x12xf32>
  }
  func.func private @closed_call(%arg0: tensor<10x12xf32>, %arg1: tensor<12x12xf32>) -> (tensor<10x12xf32>, tensor<10xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10x12xf32>, tensor<12x12xf32>) -> tensor<10x12xf32>
    %1 = stablehlo.tanh %0 : tensor<10x12xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<10x12xf32>, tensor<f32>) -> tensor<10xf32>
    %cst_0 = stablehlo.constant dense<1.200000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %4 = stablehlo.divide %2, %3 : tensor<10xf32>
    return %1, %4 : tensor<10x12xf32>, tensor<10xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x10xf32>, %arg1: tensor<10xf32>, %arg2: tensor<i32>) -> tensor<3x10xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<3x10xf32>, tensor<1x10xf32>, tensor<i32>, tensor<i32>) -> tensor<3x10xf32>
    return %1 : tensor<3x10xf32>
  }
}
