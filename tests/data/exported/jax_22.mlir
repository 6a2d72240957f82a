module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9x12xf16>) -> (tensor<9x12xf16> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.500000e+00> : tensor<f32>
    %0 = call @clip(%arg0, %cst, %cst_0) : (tensor<9x12xf16>, tensor<f32>, tensor<f32>) -> tensor<9x12xf16>
    %1 = stablehlo.abs %arg0 : tensor<9x12xf16>
    %cst_1 = stablehlo.constant dense<2.500000e-01> : tensor<f16>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f16>) -> tensor<9x12xf16>
    %3 = stablehlo.multiply %1, %2 : tensor<9x12xf16>
    %4 = stablehlo.add %0, %3 : tensor<9x12xf16>
    return %4 : tensor<9x12xf16>
  }
  func.func private @clip(%arg0: tensor<9x12xf16>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<9x12xf16> {
    %0 = stablehlo.convert %arg1 : (tensor<f32>) -> tensor<f16>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f16>) -> tensor<9x12xf16>
    %2 = stablehlo.maximum %1, %arg0 : tensor<9x12xf16>
    %3 = stablehlo.convert %arg2 : (tensor<f32>) -> tensor<f16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f16>) -> tensor<9x12xf16>
    %5 = stablehlo.minimum %4, %2 : tensor<9x12xf16>
    return %5 : tensor<9x12xf16>
  }
}
