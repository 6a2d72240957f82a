// RUN: tile-opt %s --machine t16 -p tile-select-homes --home-report %t.json -o %t.mlir && filecheck %s --input-file %t.json

#home = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 chunk 16">
#want = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 interleaved">

func.func @main(%w: tensor<64x64xf16, #home> {tile_tensor.parameter = "w"}) -> tensor<64x64xf16, #want> {
  %m = tile_layout.materialize %w : tensor<64x64xf16, #home> -> tensor<64x64xf16, #want>
  func.return %m : tensor<64x64xf16, #want>
}

// CHECK: "format": "tilewright-homes"
// CHECK: "before": {
// CHECK-NEXT: "max": 8192
// CHECK: "after": {
// CHECK-NEXT: "max": 512
// CHECK: "name": "w"
// CHECK: "copies": 1
