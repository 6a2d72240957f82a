module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x24x24xf32>, %arg1: tensor<24x48xf32>, %arg2: tensor<48x24xf32>, %arg3: tensor<9x24xf32>) -> (tensor<9x24xf32> {jax.result_info = "result"}) {
    %0 = call @relu(%arg3) : (tensor<9x24xf32>) -> tensor<9x24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x9xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:4 = stablehlo.while(%iterArg = %arg0, %iterArg_6 = %c, %iterArg_7 = %0, %iterArg_8 = %1) : tensor<3x24x24xf32>, tensor<i32>, tensor<9x24xf32>, tensor<3x9xf32>
    cond {
      %c_9 = stablehlo.constant dense<3> : tensor<i32>
      %27 = stablehlo.compare LT, %iterArg_6, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %27 : tensor<i1>
    } do {
      %27 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_6) : (tensor<3x24x24xf32>, tensor<i32>) -> tensor<24x24xf32>
      %28:2 = func.call @closed_call(%iterArg_7, %27) : (tensor<9x24xf32>, tensor<24x24xf32>) -> (tensor<9x24xf32>, tensor<9xf32>)
      %29 = func.call @dynamic_update_index_in_dim(%iterArg_8, %28#1, %iterArg_6) : (tensor<3x9xf32>, tensor<9xf32>, tensor<i32>) -> tensor<3x9xf32>
      %c_9 = stablehlo.constant dense<1> : tensor<i32>
      %30 = stablehlo.add %iterArg_6, %c_9 : tensor<i32>
      stablehlo.return %iterArg, %30, %28#0, %29 : tensor<3x24x24xf32>, tensor<i32>, tensor<9x24xf32>, tensor<3x9xf32>
    }
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2#3 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<3x9xf32>, tensor<f32>) -> tensor<9xf32>
    %cst_1 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %5 = stablehlo.divide %3, %4 : tensor<9xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<9xf32>) -> tensor<9x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<9x1xf32>) -> tensor<9x24xf32>
    %8 = stablehlo.add %2#2, %7 : tensor<9x24xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<9x24xf32>
    %10 = stablehlo.multiply %8, %9 : tensor<9x24xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_3) applies stablehlo.maximum across dimensions = [0] : (tensor<9x24xf32>, tensor<f32>) -> tensor<24xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %13 = stablehlo.maximum %12, %11 : tensor<24xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<1x24xf32>) -> tensor<9x24xf32>
    %16 = stablehlo.subtract %10, %15 : tensor<9x24xf32>
    %17 = stablehlo.exponential %16 : tensor<9x24xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<9x24xf32>, tensor<f32>) -> tensor<24xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<1x24xf32>) -> tensor<9x24xf32>
    %21 = stablehlo.divide %17, %20 : tensor<9x24xf32>
    %22 = stablehlo.add %8, %21 : tensor<9x24xf32>
    %23 = stablehlo.dot_general %22, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<9x24xf32>, tensor<24x48xf32>) -> tensor<9x48xf32>
    %24 = stablehlo.tanh %23 : tensor<9x48xf32>
    %25 = stablehlo.dot_general %24, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<9x48xf32>, tensor<48x24xf32>) -> tensor<9x24xf32>
    %26 = stablehlo.add %22, %25 : tensor<9x24xf32>
    return %26 : tensor<9x24xf32>
  }
  func.func private @relu(%arg0: tensor<9x24xf32>) -> tensor<9x24xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<9x24xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<9x24xf32>
    return %1 : tensor<9x24xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<3x24x24xf32>, %arg1: tensor<i32>) -> tensor<24x24xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 24, 24] : (tensor<3x24x24xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x24x24xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x24x24xf32>) -> tensor<24x24xf32>
    return %1 : tensor<24x24xf32>
  }
  func.func private @closed_call(%arg0: tensor<9x24xf32>, %arg1: tensor<24x24xf32>) -> (tensor<9x24xf32>, tensor<9xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<9x24xf32>, tensor<24x24xf32>) -> tensor<9x24xf32>
    %1 = stablehlo.tanh %0 : tensor<9x24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<9x24xf32>, tensor<f32>) -> tensor<9xf32>
    %cst_0 = stablehlo.constant dense<2.400000e+01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %4 = stablehlo.divide %2, %3 : tensor<9xf32>
    return %1, %4 : tensor<9x24xf32>, tensor<9xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<3x9xf32>, %arg1: tensor<9xf32>, %arg2: tensor<i32>) -> tensor<3x9xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<9xf32>) -> tensor<1x9xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<3x9xf32>, tensor<1x9xf32>, tensor<i32>, tensor<i32>) -> tensor<3x9xf32>
    return %1 : tensor<3x9xf32>
  }
}
