// RUN: tile-opt --print-layouts=full %s --machine t16 --allow-unregistered-dialect -p tile-select-homes | filecheck %s

#home = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 chunk 16">

func.func @main(%w: tensor<64x64xf16, #home> {tile_tensor.parameter = "w"}) -> tensor<4xf32> {
  %r = "other.read"(%w) {kept} : (tensor<64x64xf16, #home>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK: %w: tensor<64x64xf16, #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 chunk 16">>
// CHECK: "other.read"(%w) {kept}
