// RUN: tile-opt %s -p tile-store-f16 | filecheck %s

// Values of f32 are stored in f16; sums, and what is computed from sums alone, stay f32.

// CHECK:       func.func @main(%x: tensor<4x8xf16>, %w: tensor<8x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:  %[[P:.*]] = tile_tensor.matmul %x, %w : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:  %[[S:.*]] = tile_tensor.reduce sum %[[P]] axes [1] keep_dims : (tensor<4x8xf16>) -> tensor<4x1xf32>
// CHECK-NEXT:  %[[R:.*]] = tile_tensor.rsqrt %[[S]] : (tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT:  %[[Y:.*]] = tile_tensor.mul %[[P]], %[[R]] : (tensor<4x8xf16>, tensor<4x1xf32>) -> tensor<4x8xf16>
// CHECK-NEXT:  func.return %[[Y]] : tensor<4x8xf16>
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %p = tile_tensor.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %s = tile_tensor.reduce sum %p axes [1] keep_dims : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %r = tile_tensor.rsqrt %s : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = tile_tensor.mul %p, %r : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}
