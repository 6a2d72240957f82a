// RUN: rm -rf %t && tile-opt %s --machine t4 --search=off --pass-pipeline='builtin.module(tile-compile)' --dump-layouts=%t -o %t.out
// RUN: ls %t | filecheck %s --check-prefix FILES
// RUN: cat %t/w.svg | filecheck %s --check-prefix VALUE
// RUN: cat %t/w-to-y.right.svg | filecheck %s --check-prefix MOVES
// RUN: rm -rf %t.none && tile-opt %s --machine t4 --dump-layouts=%t.none | filecheck %s --check-prefix WITHOUT
// RUN: not ls %t.none

// FILES: w-to-y.right.svg
// FILES: w.svg
// FILES: x-to-y.left.svg
// FILES: x.svg
// FILES: y.svg

// VALUE: <svg xmlns="http://www.w3.org/2000/svg"
// VALUE: >w</text>
// VALUE-SAME: >64 x 32 of f16 (argument)</text>
// VALUE-SAME: >on 4 of 4 tiles; at most 1,024 bytes</text>
// VALUE-SAME: >padding: 0 of 4,096 bytes</text>

// MOVES: >y: matmul operands</text>
// MOVES: 4,096 bytes move

// Without layouts there is nothing to draw.
// WITHOUT: tile_tensor.matmul

func.func @main(%x: tensor<16x64xf16> {tile_tensor.input = "x"}, %w: tensor<64x32xf16> {tile_tensor.parameter = "w"}) -> tensor<16x32xf16> {
  %y = tile_tensor.matmul %x, %w accumulate f16 : (tensor<16x64xf16>, tensor<64x32xf16>) -> tensor<16x32xf16>
  func.return %y : tensor<16x32xf16>
}
