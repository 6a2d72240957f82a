module @jit_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<24x48xbf16>, %arg1: tensor<48x24xbf16>, %arg2: tensor<24x24xbf16>, %arg3: tensor<24x24xbf16>, %arg4: tensor<24x24xbf16>, %arg5: tensor<24x24xbf16>, %arg6: tensor<24x24xbf16>, %arg7: tensor<11x24xbf16>) -> (tensor<11x24xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg7, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<11x24xbf16>, tensor<24x48xbf16>) -> tensor<11x48xbf16>
    %1 = call @silu(%0) : (tensor<11x48xbf16>) -> tensor<11x48xbf16>
    %2 = stablehlo.dot_general %1, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<11x48xbf16>, tensor<48x24xbf16>) -> tensor<11x24xbf16>
    %3 = stablehlo.add %arg7, %2 : tensor<11x24xbf16>
    %4 = stablehlo.dot_general %3, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<11x24xbf16>, tensor<24x24xbf16>) -> tensor<11x24xbf16>
    %5 = stablehlo.reshape %4 : (tensor<11x24xbf16>) -> tensor<11x4x6xbf16>
    %6 = stablehlo.dot_general %3, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<11x24xbf16>, tensor<24x24xbf16>) -> tensor<11x24xbf16>
    %7 = stablehlo.reshape %6 : (tensor<11x24xbf16>) -> tensor<11x4x6xbf16>
    %8 = stablehlo.dot_general %3, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<11x24xbf16>, tensor<24x24xbf16>) -> tensor<11x24xbf16>
    %9 = stablehlo.reshape %8 : (tensor<11x24xbf16>) -> tensor<11x4x6xbf16>
    %10 = stablehlo.broadcast_in_dim %5, dims = [1, 2, 3] : (tensor<11x4x6xbf16>) -> tensor<1x11x4x6xbf16>
    %11 = stablehlo.broadcast_in_dim %7, dims = [1, 2, 3] : (tensor<11x4x6xbf16>) -> tensor<1x11x4x6xbf16>
    %12 = stablehlo.broadcast_in_dim %9, dims = [1, 2, 3] : (tensor<11x4x6xbf16>) -> tensor<1x11x4x6xbf16>
    %13 = stablehlo.reshape %10 : (tensor<1x11x4x6xbf16>) -> tensor<1x11x4x1x6xbf16>
    %14 = stablehlo.dot_general %13, %11, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<1x11x4x1x6xbf16>, tensor<1x11x4x6xbf16>) -> tensor<1x4x11x1x11xf32>
    %cst = stablehlo.constant dense<0.408248305> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x4x11x1x11xf32>
    %16 = stablehlo.multiply %14, %15 : tensor<1x4x11x1x11xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %17 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<1x4x11x11xi1>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %18 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<11x11xi1>
    %19 = call @tril(%18) : (tensor<11x11xi1>) -> tensor<11x11xi1>
    %20 = stablehlo.broadcast_in_dim %19, dims = [2, 3] : (tensor<11x11xi1>) -> tensor<1x1x11x11xi1>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<1x1x11x11xi1>) -> tensor<1x4x11x11xi1>
    %22 = stablehlo.and %17, %21 : tensor<1x4x11x11xi1>
    %cst_1 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %23 = call @_where(%22, %16, %cst_1) : (tensor<1x4x11x11xi1>, tensor<1x4x11x1x11xf32>, tensor<f32>) -> tensor<1x1x4x11x11xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_2) applies stablehlo.maximum across dimensions = [4] : (tensor<1x1x4x11x11xf32>, tensor<f32>) -> tensor<1x1x4x11xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x1x4x11xf32>
    %26 = stablehlo.maximum %25, %24 : tensor<1x1x4x11xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2, 3] : (tensor<1x1x4x11xf32>) -> tensor<1x1x4x11x1xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2, 3, 4] : (tensor<1x1x4x11x1xf32>) -> tensor<1x1x4x11x11xf32>
    %29 = stablehlo.subtract %23, %28 : tensor<1x1x4x11x11xf32>
    %30 = stablehlo.exponential %29 : tensor<1x1x4x11x11xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%30 init: %cst_4) applies stablehlo.add across dimensions = [4] : (tensor<1x1x4x11x11xf32>, tensor<f32>) -> tensor<1x1x4x11xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2, 3] : (tensor<1x1x4x11xf32>) -> tensor<1x1x4x11x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2, 3, 4] : (tensor<1x1x4x11x1xf32>) -> tensor<1x1x4x11x11xf32>
    %34 = stablehlo.divide %30, %33 : tensor<1x1x4x11x11xf32>
    %35 = stablehlo.convert %34 : (tensor<1x1x4x11x11xf32>) -> tensor<1x1x4x11x11xbf16>
    %36 = stablehlo.dot_general %12, %35, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<1x11x4x6xbf16>, tensor<1x1x4x11x11xbf16>) -> tensor<1x4x6x1x11xbf16>
    %37 = stablehlo.transpose %36, dims = [3, 0, 4, 1, 2] : (tensor<1x4x6x1x11xbf16>) -> tensor<1x1x11x4x6xbf16>
    %38 = stablehlo.transpose %37, dims = [1, 2, 3, 0, 4] : (tensor<1x1x11x4x6xbf16>) -> tensor<1x11x4x1x6xbf16>
    %39 = stablehlo.reshape %38 : (tensor<1x11x4x1x6xbf16>) -> tensor<1x11x4x6xbf16>
    %40 = stablehlo.reshape %39 : (tensor<1x11x4x6xbf16>) -> tensor<11x4x6xbf16>
    %41 = stablehlo.reshape %40 : (tensor<11x4x6xbf16>) -> tensor<11x24xbf16>
    %42 = stablehlo.dot_general %41, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<11x24xbf16>, tensor<24x24xbf16>) -> tensor<11x24xbf16>
    %43 = stablehlo.add %3, %42 : tensor<11x24xbf16>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %44 = call @_pad(%43, %c_5) : (tensor<11x24xbf16>, tensor<i32>) -> tensor<12x24xbf16>
    %45 = stablehlo.slice %44 [0:11, 0:24] : (tensor<12x24xbf16>) -> tensor<11x24xbf16>
    %46 = stablehlo.reverse %43, dims = [0] : tensor<11x24xbf16>
    %47 = stablehlo.add %45, %46 : tensor<11x24xbf16>
    %c_6 = stablehlo.constant dense<0> : tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %48:4 = stablehlo.while(%iterArg = %arg6, %iterArg_8 = %c_7, %iterArg_9 = %c_6, %iterArg_10 = %47) : tensor<24x24xbf16>, tensor<i32>, tensor<i32>, tensor<11x24xbf16>
    cond {
      %c_11 = stablehlo.constant dense<2> : tensor<i32>
      %49 = stablehlo.compare LT, %iterArg_8, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %49 : tensor<i1>
    } do {
      %49:2 = func.call @closed_call(%iterArg, %iterArg_9, %iterArg_10) : (tensor<24x24xbf16>, tensor<i32>, tensor<11x24xbf16>) -> (tensor<i32>, tensor<11x24xbf16>)
      %c_11 = stablehlo.constant dense<1> : tensor<i32>
      %50 = stablehlo.add %iterArg_8, %c_11 : tensor<i32>
      stablehlo.return %iterArg, %50, %49#0, %49#1 : tensor<24x24xbf16>, tensor<i32>, tensor<i32>, tensor<11x24xbf16>
    }
    return %48#3 : tensor<11x24xbf16>
  }
  func.func private @silu(%arg0: tensor<11x48xbf16>) -> tensor<11x48xbf16> {
    %0 = stablehlo.negate %arg0 : tensor<11x48xbf16>
    %1 = stablehlo.exponential %0 : tensor<11x48xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<11x48xbf16>
    %3 = stablehlo.add %2, %1 : tensor<11x48xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<11x48xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<11x48xbf16>
    %6 = stablehlo.multiply %arg0, %5 : tensor<11x48xbf16>
    return %6 : tensor<11x48xbf16>
  }
  func.func private @tril(%arg0: tensor<11x11xi1>) -> tensor<11x11xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<11x11xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<11x11xi32>
    %2 = stablehlo.add %0, %1 : tensor<11x11xi32>
    %3 = stablehlo.iota dim = 1 : tensor<11x11xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<11x11xi32>, tensor<11x11xi32>) -> tensor<11x11xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<11x11xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<11x11xi1>, tensor<11x11xi1>
    return %6 : tensor<11x11xi1>
  }
  func.func private @_where(%arg0: tensor<1x4x11x11xi1>, %arg1: tensor<1x4x11x1x11xf32>, %arg2: tensor<f32>) -> tensor<1x1x4x11x11xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<1x4x11x11xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3, 4] : (tensor<1x4x11x11xi1>) -> tensor<1x1x4x11x11xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<1x4x11x11xf32>) -> tensor<1x1x4x11x11xf32>
    %3 = stablehlo.transpose %arg1, dims = [3, 0, 1, 2, 4] : (tensor<1x4x11x1x11xf32>) -> tensor<1x1x4x11x11xf32>
    %4 = stablehlo.select %1, %3, %2 : tensor<1x1x4x11x11xi1>, tensor<1x1x4x11x11xf32>
    return %4 : tensor<1x1x4x11x11xf32>
  }
  func.func private @_pad(%arg0: tensor<11x24xbf16>, %arg1: tensor<i32>) -> tensor<12x24xbf16> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<bf16>
    %1 = stablehlo.pad %arg0, %0, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<11x24xbf16>, tensor<bf16>) -> tensor<12x24xbf16>
    return %1 : tensor<12x24xbf16>
  }
  func.func private @closed_call(%arg0: tensor<24x24xbf16>, %arg1: tensor<i32>, %arg2: tensor<11x24xbf16>) -> (tensor<i32>, tensor<11x24xbf16>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c : tensor<i32>
    %1 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<11x24xbf16>, tensor<24x24xbf16>) -> tensor<11x24xbf16>
    %2 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<bf16>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<bf16>) -> tensor<11x24xbf16>
    %4 = stablehlo.add %1, %3 : tensor<11x24xbf16>
    %5 = stablehlo.tanh %4 : tensor<11x24xbf16>
    return %0, %5 : tensor<i32>, tensor<11x24xbf16>
  }
}
