// RUN: tile-opt --print-layouts=full --split-input-file --machine t16 %s -p tile-plan-layouts | filecheck %s

// Products of one row and one column read panels of 16 x 8 elements: 64 times what there is. A sequence of such
// operands is kept unpadded, a member is laid out when it is used.
// CHECK-LABEL: func.func @small_products
// CHECK-SAME: %w: !tile_repeat.sequence<8 x tensor<33x2x1xf32, #tile_layout.at<"[66/8@1] %16", "[33a*2, 2a, 1]">>>
// CHECK: tile_tensor.matmul
func.func @small_products(%x: tensor<33x1x2xf32>,
    %w: !tile_repeat.sequence<8 x tensor<33x2x1xf32>> {tile_tensor.parameter = ["0", "1", "2", "3", "4", "5", "6", "7"]})
    -> !tile_repeat.sequence<8 x tensor<33x1x1xf32>> {
  %zero = tile_tensor.constant dense<0.0> : tensor<1xf32>
  %n, %r = tile_repeat.repeat "layers" count 8 carried(%c = %zero : tensor<1xf32>) invariant(%a = %x : tensor<33x1x2xf32>)
      iterated(%b = %w : !tile_repeat.sequence<8 x tensor<33x2x1xf32>>) -> (tensor<1xf32>, !tile_repeat.sequence<8 x tensor<33x1x1xf32>>) {
    %p = tile_tensor.matmul %a, %b {plan = {grid = array<i64: 1, 1, 1, 1>, swap = false, share = 1 : i64, base = 0 : i64}}
      : (tensor<33x1x2xf32>, tensor<33x2x1xf32>) -> tensor<33x1x1xf32>
    tile_repeat.yield %c : tensor<1xf32> collect %p : tensor<33x1x1xf32>
  }
  func.return %r : !tile_repeat.sequence<8 x tensor<33x1x1xf32>>
}

// -----

// Nothing can be written through the view of a broadcast: a sequence that begins with one has members of their own.
// CHECK-LABEL: func.func @broadcast_first
// CHECK: tile_repeat.pack {{.*}} : !tile_repeat.sequence<2 x tensor<4x6xf16, #tile_layout.at<"[24/16@1] %16", "[4a*6, 6a]">>>
func.func @broadcast_first(%x: tensor<4x6xf16>, %b: tensor<6xf16>) -> !tile_repeat.sequence<2 x tensor<4x6xf16>> {
  %c = tile_tensor.broadcast %b dimensions [1] : (tensor<6xf16>) -> tensor<4x6xf16>
  %p = tile_repeat.pack %c, %x : !tile_repeat.sequence<2 x tensor<4x6xf16>>
  func.return %p : !tile_repeat.sequence<2 x tensor<4x6xf16>>
}
