// RUN: TILE_ROUNDTRIP

// Three spellings of one encoding: the view that maps axis i to axis i says nothing.

func.func @f(%a: tensor<8x6xf16, #tile_layout.at<"[8, 6]">>, %b: tensor<8x6xf16, #tile_layout.at<"[8,6]", "[8a, 6b]">>,
             %c: tensor<8x6xf16, #tile_layout.at<" [ 8, 6 ] a.b ", "[8a*1, 2b*3.3b] + (0, 0)">>) {
  func.return
}

// CHECK: func.func @f(%a: tensor<8x6xf16, #tile_layout.at<"[8, 6]">>, %b: tensor<8x6xf16, #tile_layout.at<"[8, 6]">>, %c: tensor<8x6xf16, #tile_layout.at<"[8, 6]">>) {
