// RUN: TILE_ROUNDTRIP
// RUN: TILE_GENERIC_ROUNDTRIP

module attributes {tile.machine = "t16"} {
  func.func @f(%x: tensor<8x6xf16, #tile_layout.at<"[8/4@1, 6|2] b0.a.b1 +3 %16">>, %w: tensor<6x8xf16>,
               %ws: !tile_repeat.sequence<3 x tensor<4xf32>>) {
    %a = tile_layout.convert %x : tensor<8x6xf16, #tile_layout.at<"[8/4@1, 6|2] b0.a.b1 +3 %16">> -> tensor<8x6xf16, #tile_layout.at<"[6, 8/2@2]", "[8b, 6a]">>
    %h = tile_layout.home %w pinned : tensor<6x8xf16> -> tensor<6x8xf16, #tile_layout.at<"[6|2, 8|4] a0.b0.a1.b1 %16 interleaved chunk 1">>
    %m = tile_layout.materialize %h {note = "weights"} : tensor<6x8xf16, #tile_layout.at<"[6|2, 8|4] a0.b0.a1.b1 %16 interleaved chunk 1">> -> tensor<6x8xf16, #tile_layout.at<"[6, 8] *4@1">>
    %s = tile_layout.home %ws : !tile_repeat.sequence<3 x tensor<4xf32>> -> !tile_repeat.sequence<3 x tensor<4xf32, #tile_layout.at<"[4/1@1]">>>
    func.return
  }
}

// CHECK:      func.func @f(%x: tensor<8x6xf16, #tile_layout.at<"[8/4@1, 6|2] b0.a.b1 +3 %16">>, %w: tensor<6x8xf16>, %ws: !tile_repeat.sequence<3 x tensor<4xf32>>) {
// CHECK-NEXT:   %a = tile_layout.convert %x : tensor<8x6xf16, #tile_layout.at<"[8/4@1, 6|2] b0.a.b1 +3 %16">> -> tensor<8x6xf16, #tile_layout.at<"[6, 8/2@2]", "[8b, 6a]">>
// CHECK-NEXT:   %h = tile_layout.home %w pinned : tensor<6x8xf16> -> tensor<6x8xf16, #tile_layout.at<"[6|2, 8|4] a0.b0.a1.b1 %16 interleaved chunk 1">>
// CHECK-NEXT:   %m = tile_layout.materialize %h {note = "weights"} : tensor<6x8xf16, #tile_layout.at<"[6|2, 8|4] a0.b0.a1.b1 %16 interleaved chunk 1">> -> tensor<6x8xf16, #tile_layout.at<"[6, 8] *4@1">>
// CHECK-NEXT:   %s = tile_layout.home %ws : !tile_repeat.sequence<3 x tensor<4xf32>> -> !tile_repeat.sequence<3 x tensor<4xf32, #tile_layout.at<"[4/1@1]">>>

// CHECK-GENERIC: "tile_layout.convert"(%x) : (tensor<8x6xf16, #tile_layout.at<"[8/4@1, 6|2] b0.a.b1 +3 %16">>) -> tensor<8x6xf16, #tile_layout.at<"[6, 8/2@2]", "[8b, 6a]">>
// CHECK-GENERIC: "tile_layout.home"(%w) <{pinned}> : (tensor<6x8xf16>)
// CHECK-GENERIC: "tile_layout.materialize"(%h) {note = "weights"}
