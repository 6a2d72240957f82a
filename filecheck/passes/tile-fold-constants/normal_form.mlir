// RUN: tile-opt %s -p tile-fold-constants --split-input-file | filecheck %s

// What depends on no argument is folded, in its own type; a number that stands everywhere stays a scalar.

// CHECK-LABEL: @table
// CHECK-NEXT:  %[[C:.*]] = tile_hlo.constant {value = dense<[0.000000e+00, 5.000000e-01, 1.000000e+00]> : tensor<3xf32>}
// CHECK-NEXT:  func.return %[[C]]
func.func @table() -> tensor<3xf32> {
  %i = tile_hlo.iota {dimension = 0 : i64} : () -> tensor<3xi64>
  %f = tile_hlo.convert %i : (tensor<3xi64>) -> tensor<3xf32>
  %h = tile_hlo.constant {value = dense<0.5> : tensor<3xf32>} : () -> tensor<3xf32>
  %m = tile_hlo.multiply %f, %h : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %m : tensor<3xf32>
}

// -----

// Views sink: the transposes meet and go, the broadcast follows the operation.

// CHECK-LABEL: @views
// CHECK-NEXT:  %[[E:.*]] = tile_hlo.exponential %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:  %[[S:.*]] = tile_hlo.exponential %r : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:  %[[B:.*]] = tile_hlo.broadcast_in_dim %[[S]] {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:  func.return %[[E]], %[[B]]
func.func @views(%x: tensor<4x8xf32>, %r: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %t = tile_hlo.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %e = tile_hlo.exponential %t : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %u = tile_hlo.transpose %e {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %k = tile_hlo.broadcast_in_dim %r {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x1xf32>
  %b = tile_hlo.broadcast_in_dim %k {dimensions = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %f = tile_hlo.exponential %b : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %u, %f : tensor<4x8xf32>, tensor<4x8xf32>
}
