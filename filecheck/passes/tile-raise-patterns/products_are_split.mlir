// RUN: tile-opt %s -p tile-raise-patterns --split-input-file | filecheck %s

// A product that is only read in pieces becomes one product for each: what is cut is the weight.

// CHECK-LABEL: @pieces
// CHECK:       %[[W0:.*]] = tile_hlo.slice %w {start = array<i64: 0, 0>, limit = array<i64: 8, 4>, strides = array<i64: 1, 1>}
// CHECK:       tile_hlo.dot_general %x, %[[W0]]
// CHECK:       %[[W1:.*]] = tile_hlo.slice %w {start = array<i64: 0, 4>, limit = array<i64: 8, 8>, strides = array<i64: 1, 1>}
// CHECK:       tile_hlo.dot_general %x, %[[W1]]
func.func @pieces(%x: tensor<3x8xf32>, %w: tensor<8x8xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %p = tile_hlo.dot_general %x, %w {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %a = tile_hlo.slice %p {start = array<i64: 0, 0>, limit = array<i64: 3, 4>, strides = array<i64: 1, 1>} : (tensor<3x8xf32>) -> tensor<3x4xf32>
  %b = tile_hlo.slice %p {start = array<i64: 0, 4>, limit = array<i64: 3, 8>, strides = array<i64: 1, 1>} : (tensor<3x8xf32>) -> tensor<3x4xf32>
  func.return %a, %b : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// One that is read as a whole as well stays one product.

// CHECK-LABEL: @whole
// CHECK:       %[[P:.*]] = tile_hlo.dot_general %x, %w
// CHECK:       tile_hlo.slice %[[P]]
func.func @whole(%x: tensor<3x8xf32>, %w: tensor<8x8xf32>) -> (tensor<3x8xf32>, tensor<3x4xf32>) {
  %p = tile_hlo.dot_general %x, %w {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>
  %a = tile_hlo.slice %p {start = array<i64: 0, 0>, limit = array<i64: 3, 4>, strides = array<i64: 1, 1>} : (tensor<3x8xf32>) -> tensor<3x4xf32>
  func.return %p, %a : tensor<3x8xf32>, tensor<3x4xf32>
}
