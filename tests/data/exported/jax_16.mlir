module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x16xbf16>, %arg1: tensor<16x16xbf16>, %arg2: tensor<16x32xbf16>, %arg3: tensor<32x16xbf16>, %arg4: tensor<7x16xbf16>) -> (tensor<7x16xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg4, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x16xbf16>, tensor<16x16xbf16>) -> tensor<7x16xbf16>
    %1 = call @silu(%0) : (tensor<7x16xbf16>) -> tensor<7x16xbf16>
    %2 = stablehlo.dot_general %arg4, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x16xbf16>, tensor<16x16xbf16>) -> tensor<7x16xbf16>
    %3 = stablehlo.multiply %1, %2 : tensor<7x16xbf16>
    %4 = stablehlo.dot_general %3, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x16xbf16>, tensor<16x32xbf16>) -> tensor<7x32xbf16>
    %5 = call @silu_0(%4) : (tensor<7x32xbf16>) -> tensor<7x32xbf16>
    %6 = stablehlo.dot_general %5, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<7x32xbf16>, tensor<32x16xbf16>) -> tensor<7x16xbf16>
    %7 = stablehlo.add %3, %6 : tensor<7x16xbf16>
    return %7 : tensor<7x16xbf16>
  }
  func.func private @silu(%arg0: tensor<7x16xbf16>) -> tensor<7x16xbf16> {
    %0 = stablehlo.negate %arg0 : tensor<7x16xbf16>
    %1 = stablehlo.exponential %0 : tensor<7x16xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<7x16xbf16>
    %3 = stablehlo.add %2, %1 : tensor<7x16xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<7x16xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<7x16xbf16>
    %6 = stablehlo.multiply %arg0, %5 : tensor<7x16xbf16>
    return %6 : tensor<7x16xbf16>
  }
  func.func private @silu_0(%arg0: tensor<7x32xbf16>) -> tensor<7x32xbf16> {
    %0 = stablehlo.negate %arg0 : tensor<7x32xbf16>
    %1 = stablehlo.exponential %0 : tensor<7x32xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<7x32xbf16>
    %3 = stablehlo.add %2, %1 : tensor<7x32xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<7x32xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<7x32xbf16>
    %6 = stablehlo.multiply %arg0, %5 : tensor<7x32xbf16>
    return %6 : tensor<7x32xbf16>
  }
}
