// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

// A view or layout for another shape, and one that leaves the layout.
func.func @f(%x: tensor<8x6xf16>) {
  %a = tile_layout.convert %x : tensor<8x6xf16> -> tensor<8x6xf16, #tile_layout.at<"[8/4@1, 7]">>
  func.return
}
// CHECK: result: layout '[8/4@1, 7]' is for shape 8x7, the tensor has 8x6

// -----

func.func @f(%x: tensor<8x6xf16>) {
  %a = tile_layout.convert %x : tensor<8x6xf16> -> tensor<8x6xf16, #tile_layout.at<"[8/4@1, 6]", "[6b, 8a]">>
  func.return
}
// CHECK: result: view '[6b, 8a]' is for shape 6x8, the tensor has 8x6

// -----

func.func @f(%x: tensor<8x6xf16, #tile_layout.at<"[8, 6]", "[8a, 5b] + (1, 0)">>) {
  func.return
}
// CHECK: view '[8a, 5b] + (1, 0)' reaches index 8 of storage axis a, which has 8 elements

// -----

func.func @f(%x: tensor<8x6xf16, #tile_layout.at<"[8, 6]", "[8a, 6a]">>) {
  func.return
}
// CHECK: view '[8a, 6a]' is onto 1 storage axes, the layout has 2

// -----

// What an operation of the dialect keeps.
func.func @f(%x: tensor<8x6xf16>) {
  %a = tile_layout.convert %x : tensor<8x6xf16> -> tensor<6x8xf16, #tile_layout.at<"[6, 8]">>
  func.return
}
// CHECK: tile_layout.convert keeps the shape: 8x6 became 6x8

// -----

func.func @f(%x: tensor<8xf16>) {
  %a = tile_layout.home %x : tensor<8xf16> -> tensor<8xf32, #tile_layout.at<"[8]">>
  func.return
}
// CHECK: tile_layout.home keeps the element type: f16 became f32; tile_tensor.cast changes it

// -----

func.func @f(%x: tensor<8xf16>) {
  %a = tile_layout.convert %x : tensor<8xf16> -> tensor<8xf16>
  func.return
}
// CHECK: tile_layout.convert places its result: tensor<8xf16> has no #tile_layout.at encoding

// -----

func.func @f(%x: !tile_repeat.sequence<3 x tensor<8xf16>>) {
  %a = tile_layout.home %x : !tile_repeat.sequence<3 x tensor<8xf16>> -> !tile_repeat.sequence<2 x tensor<8xf16, #tile_layout.at<"[8]">>>
  func.return
}
// CHECK: tile_layout.home keeps the members of a sequence

// -----

func.func @f(%x: tensor<8xf16, #tile_layout.at<"[8]">>) {
  %a = tile_layout.home %x : tensor<8xf16, #tile_layout.at<"[8]">> -> tensor<8xf16, #tile_layout.at<"[8] +1">>
  func.return
}
// CHECK: a parameter has one home: the operand already has another layout

// -----

func.func @f(%x: tensor<8xf16>) {
  %a = tile_layout.materialize %x : tensor<8xf16> -> tensor<8xf16, #tile_layout.at<"[8]">>
  func.return
}
// CHECK: a parameter is materialised from its home: tensor<8xf16> has no layout

// -----

func.func @f(%x: tensor<4x8xf16>) {
  %a = tile_layout.convert %x : tensor<4x8xf16> -> tensor<4x8xf16, #tile_layout.at<"[8]", "[4_, 8a]">>
  func.return
}
// CHECK: result: view '[4_, 8a]' gives several elements one place, nothing can be written through it

// -----

// The machine has to have the tiles.
module attributes {tile.machine = "t4"} {
  func.func @f(%x: tensor<8xf16>) {
    %a = tile_layout.convert %x : tensor<8xf16> -> tensor<8xf16, #tile_layout.at<"[8/1@1]">>
    func.return
  }
}
// CHECK: result: layout '[8/1@1]' uses tile 7, but machine t4 has tiles 0 to 3

// -----

module attributes {tile.machine = "t4"} {
  func.func @f(%x: tensor<8xf16, #tile_layout.at<"[8/4@1] %16">>) {
    %a = tile_layout.convert %x : tensor<8xf16, #tile_layout.at<"[8/4@1] %16">> -> tensor<8xf16, #tile_layout.at<"[8]">>
    func.return
  }
}
// CHECK: operand: tile numbers of layout '[8/4@1] %16' wrap at 16, but machine t4 has 4 tiles
