// RUN: not tile-opt %s --allow-unregistered-dialect -p tile-convert-stablehlo,tile-convert-hlo 2>&1 | filecheck %s

func.func @main(%x: tensor<4x8xf32>, %d: tensor<4xf64>) -> (tensor<4x8xf32>, tensor<4xf64>) {
  %a = "stablehlo.cholesky"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = "stablehlo.cholesky"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = "stablehlo.custom_call"(%b) <{call_target_name = "lapack_geev"}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = "stablehlo.exponential"(%d) : (tensor<4xf64>) -> tensor<4xf64>
  func.return %c, %e : tensor<4x8xf32>, tensor<4xf64>
}

// CHECK:      missing_in_one_error.mlir:7:9: error: 5 operations have no meaning on tiles
// CHECK:      note: argument 1 of tensor<4xf64>, once: the machine has no f64: export the model in f32
// CHECK-NEXT: note: tile_hlo.exponential of tensor<4xf64>, once, at {{.*}}:7:9: the machine has no f64: export the model in f32
// CHECK-NEXT: note: stablehlo.cholesky, 2 times, first at {{.*}}:4:9
// CHECK-NEXT: note: stablehlo.custom_call, once, at {{.*}}:6:9: it calls lapack_geev
