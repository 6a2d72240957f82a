// RUN: not tile-opt %s --machine t16 -p "tile-plan-layouts,tile-convert-compact-micro-panels" 2>&1 | filecheck %s

func.func @main(%x: tensor<16x64xf8E4M3FNUZ>, %w: tensor<64x128xf8E4M3FNUZ, #tile_layout.at<"[64/4@1, 128] %16">> {tile_tensor.parameter = "w", tile_layout.pinned}) -> tensor<16x128xf16> {
  %p = tile_tensor.matmul %x, %w : (tensor<16x64xf8E4M3FNUZ>, tensor<64x128xf8E4M3FNUZ, #tile_layout.at<"[64/4@1, 128] %16">>) -> tensor<16x128xf16>
  func.return %p : tensor<16x128xf16>
}

// CHECK: error: a pinned home cannot be materialised: w: spans of 1 byte of f8E4M3FNUZ from order '[64/4@1, 128] %16' to order
// CHECK: hint: store it in the consumer's panel order, or drop the pin
