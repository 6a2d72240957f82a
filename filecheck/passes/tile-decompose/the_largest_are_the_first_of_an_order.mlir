// RUN: tile-opt %s -p tile-decompose | filecheck %s

// CHECK: tile_tensor.sort %x axis 0 descending {{.*}} : (tensor<8x3xf16>) -> tensor<8x3xf16>
// CHECK: tile_tensor.slice %{{.*}} offsets [0, 0] sizes [2, 3]
// CHECK: tile_tensor.argsort %x descending {{.*}} : (tensor<8x3xf16>) -> tensor<8x3xi32>
// CHECK: tile_tensor.slice %{{.*}} offsets [0, 0] sizes [8, 1]
func.func @main(%x: tensor<8x3xf16>) -> (tensor<2x3xf16>, tensor<8x1xi32>) {
  %v = tile_tensor.top_k %x count 2 axis 0 : (tensor<8x3xf16>) -> tensor<2x3xf16>
  %i = tile_tensor.top_k_indices %x count 1 : (tensor<8x3xf16>) -> tensor<8x1xi32>
  func.return %v, %i : tensor<2x3xf16>, tensor<8x1xi32>
}
