// RUN: tile-opt --print-layouts=full %s --machine t16 -p "tile-plan-layouts{homes=ready},tile-convert-compact-micro-panels" | filecheck %s
// RUN: tile-opt --print-layouts=full %s -p "tile-plan-layouts{machine=t16 homes=ready},tile-convert-compact-micro-panels{machine=t16 budget=100000}" | filecheck %s
// RUN: not tile-opt %s -p "tile-convert-compact-micro-panels{budget=0}" 2>&1 | filecheck %s --check-prefix=BUDGET

func.func @main(%x: tensor<16x64xf16>, %w: tensor<64x128xf16> {tile_tensor.parameter = "w"}) -> tensor<16x128xf16> {
  %p = tile_tensor.matmul %x, %w {plan = {grid = array<i64: 1, 2, 4, 1>, swap = false}} : (tensor<16x64xf16>, tensor<64x128xf16>) -> tensor<16x128xf16>
  func.return %p : tensor<16x128xf16>
}

// BUDGET: hint: its range: at least 1
// CHECK:      func.func @main(%x: {{.*}}, %w: tensor<64x128xf16, #tile_layout.at<"[1, 128|16, 64|16] a.b0.c0.b1.c1 %16 chunk 4", "[64c, 128b]">>
// CHECK-NEXT:   [[W:%.*]] = tile_layout.materialize %w : tensor<64x128xf16, #tile_layout.at<"[1, 128|16, 64|16] a.b0.c0.b1.c1 %16 chunk 4", "[64c, 128b]">> -> tensor<64x128xf16, #tile_layout.at<"{{.*}} interleaved", "[64c, 128b]">>
// CHECK-NEXT:   tile_tensor.matmul %x, [[W]]
