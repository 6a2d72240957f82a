module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<24x48xf16>, %arg1: tensor<48x24xf16>, %arg2: tensor<4x24xf16>) -> (tensor<4x24xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x24xf16>, tensor<24x48xf16>) -> tensor<4x48xf16>
    %1 = stablehlo.negate %0 : tensor<4x48xf16>
    %2 = stablehlo.exponential %1 : tensor<4x48xf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<4x48xf16>
    %4 = stablehlo.add %3, %2 : tensor<4x48xf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<4x48xf16>
    %6 = stablehlo.divide %5, %4 : tensor<4x48xf16>
    %7 = stablehlo.dot_general %6, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x48xf16>, tensor<48x24xf16>) -> tensor<4x24xf16>
    %8 = stablehlo.add %arg2, %7 : tensor<4x24xf16>
    %9 = stablehlo.tanh %8 : tensor<4x24xf16>
    return %9 : tensor<4x24xf16>
  }
}
