// RUN: tile-opt %s --print-layouts=full --allow-unregistered-dialect -p tile-convert-stablehlo --split-input-file | filecheck %s
// RUN: xdsl-opt %s --allow-unregistered-dialect -p tile-convert-stablehlo --split-input-file | filecheck %s

// Operations are known by their names, also where no dialect of them is registered.

func.func @main(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) -> tensor<4x6xf32> {
  %p = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%z) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
  %r = "stablehlo.maximum"(%p, %b) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return %r : tensor<4x6xf32>
}

// CHECK:      tile_hlo.dot_general %x, %w {{.*}}lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>
// CHECK-NEXT: tile_hlo.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: tile_hlo.broadcast_in_dim %{{.*}} {dimensions = array<i64>}
// CHECK-NEXT: tile_hlo.maximum

// -----

func.func @main(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %s = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %o = "stablehlo.cholesky"(%x) : (tensor<4x8xf32>) -> tensor<8x4xf32>
  func.return %s, %o : tensor<4xf32>, tensor<8x4xf32>
}

// CHECK:      tile_hlo.reduce %x {kind = "sum", dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT: tile_hlo.unsupported %x {source = "stablehlo.cholesky"} : (tensor<4x8xf32>) -> tensor<8x4xf32>
