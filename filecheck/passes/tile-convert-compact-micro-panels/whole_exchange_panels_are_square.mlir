// RUN: tile-opt --print-layouts=full %s --machine t16 -p "tile-plan-layouts{homes=ready},tile-convert-compact-micro-panels{panels=whole}" | filecheck %s

func.func @main(%x: tensor<16x64xf8E4M3FNUZ>, %w: tensor<64x128xf8E4M3FNUZ> {tile_tensor.parameter = "w"}) -> tensor<16x128xf16> {
  %p = tile_tensor.matmul %x, %w {plan = {grid = array<i64: 1, 2, 4, 1>, swap = false}} : (tensor<16x64xf8E4M3FNUZ>, tensor<64x128xf8E4M3FNUZ>) -> tensor<16x128xf16>
  func.return %p : tensor<16x128xf16>
}

// CHECK: %w: tensor<64x128xf8E4M3FNUZ, #tile_layout.at<"[1, 128|32|16, 64|32] a.b0.c0.b1.b2.c1 %16 chunk 1", "[64c, 128b]">>
