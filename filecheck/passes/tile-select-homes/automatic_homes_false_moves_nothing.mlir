// RUN: tile-opt --print-layouts=full %s --machine t16 -p "tile-select-homes{automatic-homes=false}" | filecheck %s

#home = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 chunk 16">
#want = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 interleaved">

func.func @main(%w: tensor<64x64xf16, #home> {tile_tensor.parameter = "w"}) -> tensor<64x64xf16, #want> {
  %m = tile_layout.materialize %w : tensor<64x64xf16, #home> -> tensor<64x64xf16, #want>
  func.return %m : tensor<64x64xf16, #want>
}

// CHECK: %w: tensor<64x64xf16, #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 chunk 16">>
