// The machine, what is balanced, how many rotations are tried, and whether the program is compiled to see that it still fits.

// RUN: tile-opt --print-layouts=full %s -p 'tile-select-homes{machine=t16 objective=load rotations=4 check=false}' | filecheck %s
// RUN: tile-opt --print-layouts=full %s -p 'tile-select-homes{machine=t16 objective=addresses automatic-homes=true}' | filecheck %s
// RUN: not tile-opt %s -p 'tile-select-homes{objective=bytes}' 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: not tile-opt %s -p 'tile-select-homes{rotations=65537}' 2>&1 | filecheck %s --check-prefix=MANY

#home = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 chunk 16">
#want = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 interleaved">

func.func @main(%w: tensor<64x64xf16, #home> {tile_tensor.parameter = "w"}) -> tensor<64x64xf16, #want> {
  %m = tile_layout.materialize %w : tensor<64x64xf16, #home> -> tensor<64x64xf16, #want>
  func.return %m : tensor<64x64xf16, #want>
}

// CHECK: %w: tensor<64x64xf16, #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 chunk 1">>
// OTHER: error: option `objective` of pass `tile-select-homes` cannot be `bytes`
// MANY: hint: its range: 1 to 65536
