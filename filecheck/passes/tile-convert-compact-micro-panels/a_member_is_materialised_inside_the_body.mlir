// RUN: tile-opt --print-layouts=full %s --machine t16 -p "tile-plan-layouts{homes=ready},tile-convert-compact-micro-panels" | filecheck %s

func.func @main(%x0: tensor<16x64xf16>, %ws: !tile_repeat.sequence<3 x tensor<64x64xf16>> {tile_tensor.parameter = ["a", "b", "c"]}) -> tensor<16x64xf16> {
  %y = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<16x64xf16>) iterated(%w = %ws : !tile_repeat.sequence<3 x tensor<64x64xf16>>) -> (tensor<16x64xf16>) {
    %p = tile_tensor.matmul %x, %w {plan = {grid = array<i64: 1, 4, 4, 1>, swap = false}} : (tensor<16x64xf16>, tensor<64x64xf16>) -> tensor<16x64xf16>
    tile_repeat.yield %p : tensor<16x64xf16>
  }
  func.return %y : tensor<16x64xf16>
}

// CHECK:      %ws: !tile_repeat.sequence<3 x tensor<64x64xf16, #tile_layout.at<"[1, 64|16, 64|16] a.b0.c0.b1.c1 %16 chunk 1", "[64c, 64b]">>>
// CHECK-NOT:  materialize
// CHECK:      tile_repeat.repeat "layers" count 3
// CHECK-SAME: iterated(%w = %ws : !tile_repeat.sequence<3 x tensor<64x64xf16, #tile_layout.at<"[1, 64|16, 64|16] a.b0.c0.b1.c1 %16 chunk 1", "[64c, 64b]">>>)
// CHECK-NEXT:   tile_layout.materialize %w
// CHECK-NEXT:   tile_tensor.matmul
