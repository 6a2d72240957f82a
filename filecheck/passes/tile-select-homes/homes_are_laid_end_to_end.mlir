// RUN: tile-opt --print-layouts=full %s --machine t16 -p "tile-select-homes{distribution=linear}" | filecheck %s

#home = #tile_layout.at<"[32|16, 64|16] a0.b0.a1.b1 %16 chunk 8">
#want = #tile_layout.at<"[32|16, 64|16] a0.b0.a1.b1 %16 interleaved">

func.func @main(%v: tensor<32x64xf16, #home> {tile_tensor.parameter = "v"}, %w: tensor<32x64xf16, #home> {tile_tensor.parameter = "w"}) -> (tensor<32x64xf16, #want>, tensor<32x64xf16, #want>) {
  %m = tile_layout.materialize %v : tensor<32x64xf16, #home> -> tensor<32x64xf16, #want>
  %n = tile_layout.materialize %w : tensor<32x64xf16, #home> -> tensor<32x64xf16, #want>
  func.return %m, %n : tensor<32x64xf16, #want>, tensor<32x64xf16, #want>
}

// CHECK: %v: tensor<32x64xf16, #tile_layout.at<"[32|16, 64|16] a0.b0.a1.b1 %16 chunk 1">>
// CHECK-SAME: %w: tensor<32x64xf16, #tile_layout.at<"[32|16, 64|16] a0.b0.a1.b1 +8 %16 chunk 1">>
