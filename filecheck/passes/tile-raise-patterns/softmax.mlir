// RUN: tile-opt %s -p tile-raise-patterns --split-input-file | filecheck %s

// A softmax that stands alone gives NaN in rows of minus infinities: the default of `empty_rows`.

// CHECK-LABEL: @softmax
// CHECK-NEXT:  tile_tensor.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:  func.return
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = tile_hlo.reduce %x {kind = "max", dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %mb = tile_hlo.broadcast_in_dim %m {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = tile_hlo.subtract %x, %mb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = tile_hlo.exponential %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tile_hlo.reduce %e {kind = "sum", dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %sb = tile_hlo.broadcast_in_dim %s {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %r = tile_hlo.divide %e, %sb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// The maximum of another tensor makes no softmax.

// CHECK-LABEL: @not_its_maximum
// CHECK-NOT:   tile_tensor.softmax
func.func @not_its_maximum(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = tile_hlo.reduce %y {kind = "max", dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %mb = tile_hlo.broadcast_in_dim %m {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = tile_hlo.subtract %x, %mb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = tile_hlo.exponential %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tile_hlo.reduce %e {kind = "sum", dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %sb = tile_hlo.broadcast_in_dim %s {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %r = tile_hlo.divide %e, %sb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
