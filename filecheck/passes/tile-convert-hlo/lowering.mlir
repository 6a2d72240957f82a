// RUN: tile-opt %s -p tile-convert-hlo --split-input-file | filecheck %s

// A broadcast costs nothing where numpy's rule does it; 8-bit results do not saturate; i64 becomes i32.

// CHECK-LABEL: @broadcast
// CHECK:       tile_tensor.add %x, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
func.func @broadcast(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %w = tile_hlo.broadcast_in_dim %b {dimensions = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %r = tile_hlo.add %x, %w : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: @narrow
// CHECK-SAME:  tensor<4xi32>
// CHECK:       tile_tensor.cast %x {saturate = false} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
// CHECK:       tile_tensor.gather %{{.*}}, %i
func.func @narrow(%x: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<4xf8E4M3FN>, tensor<4xf32>) {
  %c = tile_hlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %t = tile_hlo.take %x, %i {axis = 0 : i64, out_of_range = "clamp"} : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  func.return %c, %t : tensor<4xf8E4M3FN>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @flattened
// CHECK:       %[[L:.*]] = tile_tensor.reshape %x : (tensor<2x3x8xf32>) -> tensor<6x8xf32>
// CHECK-NEXT:  %[[P:.*]] = tile_tensor.matmul %[[L]], %w transpose_b : (tensor<6x8xf32>, tensor<5x8xf32>) -> tensor<6x5xf32>
// CHECK-NEXT:  tile_tensor.reshape %[[P]] : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
func.func @flattened(%x: tensor<2x3x8xf32>, %w: tensor<5x8xf32>) -> tensor<2x3x5xf32> {
  %p = tile_hlo.dot_general %x, %w {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<5x8xf32>) -> tensor<2x3x5xf32>
  func.return %p : tensor<2x3x5xf32>
}
