// RUN: tile-opt --print-layouts=full %s --machine t16 -p "tile-plan-layouts{homes=ready},tile-convert-compact-micro-panels" | filecheck %s

func.func @main(%x: tensor<16x512xf32>, %g: tensor<512xf32> {tile_tensor.parameter = "g"}) -> tensor<16x512xf32> {
  %y = tile_tensor.rms_norm %x, %g epsilon 1.0e-05 {plan = {parts = 0, split = false}} : (tensor<16x512xf32>, tensor<512xf32>) -> tensor<16x512xf32>
  func.return %y : tensor<16x512xf32>
}

// 64 elements are 256 bytes.
// CHECK: %g: tensor<512xf32, #tile_layout.at<"[512|64] %16 chunk 1">>
// CHECK: tile_layout.materialize %g
