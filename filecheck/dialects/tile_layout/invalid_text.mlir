// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

func.func private @f(tensor<8xf16, #tile_layout.at<"[8/4@]">>) -> ()
// CHECK: '[8/4@]' is not a layout at column 6

// -----

func.func private @f(tensor<8xf16, #tile_layout.at<"[8]", "8a">>) -> ()
// CHECK: '8a' is not a view at column 1

// -----

func.func private @f(tensor<8xf16, #tile_layout.at<"[8|3] a0">>) -> ()
// CHECK: the order of a layout names every digit of its axes once: a0 is not an order of a0.a1

// -----

func.func private @f(tensor<8xf16, #tile_layout.at<"[8|6|4]">>) -> ()
// CHECK: panel 4 does not divide the panel 6 around it

// -----

func.func private @f(tensor<8x6xf16, #tile_layout.at<"[8/4@1, 6/3@1]">>) -> ()
// CHECK: layout '[8/4@1, 6/3@1]' puts two parts on tile 1; 4 parts and copies are on 3 tiles; every part and copy needs a tile of its own

// -----

func.func private @f(tensor<8xf16, #tile_layout.at<"[8/2@1] %3">>) -> ()
// CHECK: layout '[8/2@1] %3' puts two parts on tile 0 (tile numbers wrap at 3)

// -----

func.func private @f(tensor<8xf16, #tile_layout.at<"[8/2@1|2] chunk 1">>) -> ()
// CHECK: a linear home deals whole panels to tiles: its axes have no splits

// -----

func.func private @f(tensor<8x8xf16, #tile_layout.at<"[8|2, 8|2] chunk 1">>) -> ()
// CHECK: a linear home enumerates panels: the outermost digit of every axis comes first

// -----

func.func private @f(tensor<8x8xf16, #tile_layout.at<"[8, 8]", "[8a*0, 8b] + (1)">>) -> ()
// CHECK: a digit has a negative size or stride or names a storage axis beyond the 1 there are
