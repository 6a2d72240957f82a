// RUN: tile-opt --print-layouts=full %s --machine t16 -p tile-select-homes | filecheck %s

#home = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 +3 %16 chunk 16">
#want = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 interleaved">

func.func @main(%v: tensor<64x64xf16, #home> {tile_tensor.parameter = "v", tile_layout.pinned}, %w: tensor<64x64xf16> {tile_tensor.parameter = "w"}) -> (tensor<64x64xf16, #want>, tensor<64x64xf16, #want>) {
  %m = tile_layout.materialize %v : tensor<64x64xf16, #home> -> tensor<64x64xf16, #want>
  %h = tile_layout.home %w pinned : tensor<64x64xf16> -> tensor<64x64xf16, #home>
  %n = tile_layout.materialize %h : tensor<64x64xf16, #home> -> tensor<64x64xf16, #want>
  func.return %m, %n : tensor<64x64xf16, #want>, tensor<64x64xf16, #want>
}

// CHECK: %v: tensor<64x64xf16, #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 +3 %16 chunk 16">>
// CHECK: tile_layout.home %w pinned : tensor<64x64xf16> -> tensor<64x64xf16, #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 +3 %16 chunk 16">>
