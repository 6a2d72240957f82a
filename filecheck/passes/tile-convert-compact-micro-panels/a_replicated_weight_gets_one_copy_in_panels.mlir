// RUN: tile-opt %s --machine t16 -p "tile-plan-layouts{homes=ready},tile-convert-compact-micro-panels" | filecheck %s

func.func @main(%x: tensor<16x64xf16>, %w: tensor<64x128xf16> {tile_tensor.parameter = "w"}) -> tensor<16x128xf16> {
  %p = tile_tensor.matmul %x, %w {plan = {grid = array<i64: 1, 2, 4, 1>, swap = false}} : (tensor<16x64xf16>, tensor<64x128xf16>) -> tensor<16x128xf16>
  func.return %p : tensor<16x128xf16>
}

// CHECK:      func.func @main(%x: {{.*}}, %w: tensor<64x128xf16, #tile_layout.at<"[1, 128|16, 64|16] a.b0.c0.b1.c1 %16 chunk 4", "[64c, 128b]">>
// CHECK-NEXT:   [[W:%.*]] = tile_layout.materialize %w : tensor<64x128xf16, #tile_layout.at<"[1, 128|16, 64|16] a.b0.c0.b1.c1 %16 chunk 4", "[64c, 128b]">> -> tensor<64x128xf16, #tile_layout.at<"{{.*}} interleaved", "[64c, 128b]">>
// CHECK-NEXT:   tile_tensor.matmul %x, [[W]]
