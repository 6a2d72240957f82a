// RUN: tile-opt %s -p tile-drop-unit-axes --split-input-file | filecheck %s

// A batch of one in front of rows and columns: the product, its bias and the norm meet without reshapes.

// CHECK-LABEL: @linear
// CHECK-NEXT:  %[[X:.*]] = tile_tensor.reshape %x : (tensor<1x4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:  %[[N:.*]] = tile_tensor.layer_norm %[[X]], %g, %b epsilon 1.000000e-06
// CHECK-NEXT:  %[[P:.*]] = tile_tensor.matmul %[[N]], %w
// CHECK-NEXT:  %[[S:.*]] = tile_tensor.add %[[P]], %c : (tensor<4x6xf16>, tensor<6xf16>) -> tensor<4x6xf16>
// CHECK-NEXT:  %[[A:.*]] = tile_tensor.relu %[[S]] : (tensor<4x6xf16>) -> tensor<4x6xf16>
// CHECK-NEXT:  %[[Y:.*]] = tile_tensor.reshape %[[A]] : (tensor<4x6xf16>) -> tensor<1x4x6xf16>
// CHECK-NEXT:  func.return %[[Y]]
func.func @linear(%x: tensor<1x4x8xf16>, %g: tensor<8xf16>, %b: tensor<8xf16>, %w: tensor<8x6xf16>,
                  %c: tensor<6xf16>) -> tensor<1x4x6xf16> {
  %n = tile_tensor.layer_norm %x, %g, %b epsilon 1.000000e-06 : (tensor<1x4x8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<1x4x8xf16>
  %r = tile_tensor.reshape %n : (tensor<1x4x8xf16>) -> tensor<4x8xf16>
  %p = tile_tensor.matmul %r, %w : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16>
  %q = tile_tensor.reshape %p : (tensor<4x6xf16>) -> tensor<1x4x6xf16>
  %s = tile_tensor.add %q, %c : (tensor<1x4x6xf16>, tensor<6xf16>) -> tensor<1x4x6xf16>
  %a = tile_tensor.relu %s : (tensor<1x4x6xf16>) -> tensor<1x4x6xf16>
  func.return %a : tensor<1x4x6xf16>
}

// -----

// Axes count from those that stay.

// CHECK-LABEL: @axes
// CHECK:       tile_tensor.concat %{{.*}}, %{{.*}} axis 0 : (tensor<2x8xf32>, tensor<3x8xf32>) -> tensor<5x8xf32>
// CHECK:       tile_tensor.slice %{{.*}} offsets [1, 0] sizes [4, 8] : (tensor<5x8xf32>) -> tensor<4x8xf32>
// CHECK:       tile_tensor.softmax %{{.*}} axis 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:  func.return
func.func @axes(%x: tensor<2x8xf32>, %y: tensor<1x1x3x8xf32>) -> tensor<4x8xf32> {
  %w = tile_tensor.reshape %x : (tensor<2x8xf32>) -> tensor<1x1x2x8xf32>
  %c = tile_tensor.concat %w, %y axis 2 : (tensor<1x1x2x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x1x5x8xf32>
  %s = tile_tensor.slice %c offsets [0, 0, 1, 0] sizes [1, 1, 4, 8] : (tensor<1x1x5x8xf32>) -> tensor<1x1x4x8xf32>
  %p = tile_tensor.softmax %s axis 2 : (tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  %r = tile_tensor.reshape %p : (tensor<1x1x4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// A value that is reshaped several times in one way is reshaped once.

// CHECK-LABEL: @once
// CHECK-NEXT:  %[[X:.*]] = tile_tensor.reshape %x
// CHECK-NEXT:  %[[Q:.*]] = tile_tensor.matmul %[[X]], %w
// CHECK-NEXT:  tile_tensor.add %[[X]], %[[Q]]
// CHECK-NEXT:  func.return
func.func @once(%x: tensor<1x4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %a = tile_tensor.reshape %x : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
  %q = tile_tensor.matmul %a, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = tile_tensor.reshape %x : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
  %s = tile_tensor.add %b, %q : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s : tensor<4x8xf32>
}

// -----

// Where reshapes would become more, nothing changes.

// CHECK-LABEL: @alone
// CHECK-NEXT:  tile_tensor.neg %y : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
func.func @alone(%y: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> {
  %a = tile_tensor.neg %y : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  func.return %a : tensor<1x4x8xf32>
}

// -----

// A batch of two stays, and so do heads, an operation along the axis of one, a slice out of several batches,
// and what somebody planned.

// CHECK-LABEL: @stays
// CHECK:       tile_tensor.neg %{{.*}} : (tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
// CHECK:       tile_tensor.neg %{{.*}} : (tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32>
// CHECK:       tile_tensor.softmax %{{.*}} axis 0 : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
// CHECK:       tile_tensor.slice %{{.*}} offsets [1, 0, 0] sizes [1, 2, 4]
// CHECK:       tile_tensor.neg %{{.*}} {plan = {tiles = 4 : i64}} : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
func.func @stays(%x: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>) {
  %x1 = tile_tensor.reshape %x : (tensor<4x4xf32>) -> tensor<2x2x4xf32>
  %a = tile_tensor.neg %x1 : (tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  %a1 = tile_tensor.reshape %a : (tensor<2x2x4xf32>) -> tensor<4x4xf32>
  %x2 = tile_tensor.reshape %x : (tensor<4x4xf32>) -> tensor<1x2x2x4xf32>
  %b = tile_tensor.neg %x2 : (tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32>
  %b1 = tile_tensor.reshape %b : (tensor<1x2x2x4xf32>) -> tensor<4x4xf32>
  %x3 = tile_tensor.reshape %x : (tensor<4x4xf32>) -> tensor<1x4x4xf32>
  %c = tile_tensor.softmax %x3 axis 0 : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %c1 = tile_tensor.reshape %c : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
  %d = tile_tensor.slice %x1 offsets [1, 0, 0] sizes [1, 2, 4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
  %d1 = tile_tensor.reshape %d : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %e = tile_tensor.neg %x3 {plan = {tiles = 4 : i64}} : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %e1 = tile_tensor.reshape %e : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
  func.return %a1, %b1, %c1, %d1, %e1 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>
}
