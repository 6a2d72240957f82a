// RUN: tile-opt %s -p tile-decompose | filecheck %s
// RUN: not tile-opt %s --machine t4 -p tile-plan-layouts 2>&1 | filecheck %s --check-prefix=PLAN

// A convolution of each channel by itself has a kernel; one with two outputs of each is made one of those.

// CHECK: tile_tensor.convolution %x, %w groups 4 :
// CHECK: tile_tensor.broadcast %x dimensions [0, 1, 2] {{.*}} : (tensor<1x8x4xf16>) -> tensor<1x8x4x2xf16>
// CHECK: tile_tensor.convolution %{{.*}}, %v strides [1] low [0] high [0] dilation [1] groups 8 : (tensor<1x8x8xf16>, tensor<3x1x8xf16>)
// CHECK: tile_tensor.reshape %i {{.*}} : (tensor<5xi32>) -> tensor<5x1xi32>
// CHECK: tile_tensor.compare eq
// CHECK: tile_tensor.cast %{{.*}} : (tensor<5x3xi1>) -> tensor<5x3xf16>

// PLAN: convolution: channels that mix have no plan of their own
// PLAN: hint: tile-decompose makes products of them
func.func @main(%x: tensor<1x8x4xf16>, %w: tensor<3x1x4xf16>, %v: tensor<3x1x8xf16>, %i: tensor<5xi32>) {
  %y = tile_tensor.convolution %x, %w groups 4 : (tensor<1x8x4xf16>, tensor<3x1x4xf16>) -> tensor<1x6x4xf16>
  %z = tile_tensor.convolution %x, %v groups 4 : (tensor<1x8x4xf16>, tensor<3x1x8xf16>) -> tensor<1x6x8xf16>
  %h = tile_tensor.one_hot %i : (tensor<5xi32>) -> tensor<5x3xf16>
  func.return
}
