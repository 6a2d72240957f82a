// RUN: tile-opt %s -p tile-decompose | filecheck %s

// Windows that lie side by side are a view of the operand: nothing is copied, and the product has the name.

// CHECK:      func.func @main
// CHECK-NEXT:   tile_tensor.reshape %x {{.*}} -> tensor<1x2x4x2x4x3xf16>
// CHECK-NEXT:   tile_tensor.transpose %{{.*}} permutation [0, 1, 3, 2, 4, 5]
// CHECK-NEXT:   tile_tensor.reshape %{{.*}} -> tensor<4x16x1x3xf16>
// CHECK:        tile_tensor.matmul %{{.*}}, %{{.*}} {tile.value = "y"} : (tensor<4x48xf16>, tensor<48x5xf16>) -> tensor<4x5xf16>
// CHECK-NEXT:   tile_tensor.reshape %{{.*}} -> tensor<1x2x2x5xf16>
// CHECK-NEXT:   func.return
func.func @main(%x: tensor<1x8x8x3xf16>, %w: tensor<4x4x3x5xf16>) -> tensor<1x2x2x5xf16> {
  %y = tile_tensor.convolution %x, %w strides [4, 4] : (tensor<1x8x8x3xf16>, tensor<4x4x3x5xf16>) -> tensor<1x2x2x5xf16>
  func.return %y : tensor<1x2x2x5xf16>
}
