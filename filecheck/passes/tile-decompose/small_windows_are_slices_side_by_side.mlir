// RUN: tile-opt %s -p tile-decompose | filecheck %s

// CHECK:      tile_tensor.pad %x low [0, 1, 0] high [0, 1, 0]
// CHECK:      tile_tensor.slice %{{.*}} offsets [0, 0, 0] sizes [1, 4, 2] strides [1, 2, 1]
// CHECK:      tile_tensor.slice %{{.*}} offsets [0, 1, 0] sizes [1, 4, 2] strides [1, 2, 1]
// CHECK:      tile_tensor.slice %{{.*}} offsets [0, 2, 0] sizes [1, 4, 2] strides [1, 2, 1]
// CHECK:      tile_tensor.concat {{.*}} -> tensor<1x4x6xf16>
// CHECK:      tile_tensor.matmul {{.*}} (tensor<4x6xf16>, tensor<6x3xf16>) -> tensor<4x3xf16>
func.func @main(%x: tensor<1x8x2xf16>, %w: tensor<3x2x3xf16>) -> tensor<1x4x3xf16> {
  %y = tile_tensor.convolution %x, %w strides [2] low [1] high [1] : (tensor<1x8x2xf16>, tensor<3x2x3xf16>) -> tensor<1x4x3xf16>
  func.return %y : tensor<1x4x3xf16>
}
