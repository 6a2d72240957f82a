// RUN: tile-opt --print-layouts=full %s -p tile-traverse-exchange-panels | filecheck %s

// FP8 panels are 32 along the contraction and 16 along the rows. Blocks of whole panels move in spans of 512 bytes; 20 rows
// a tile cut every second panel, and what is cut travels by itself.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main() {
    %x = tile.alloc "x" activations : !tile.buffer<f8E4M3FNUZ, "[64/16@1, 64|32] b0.a.b1">
    %a = tile.alloc "a" activations : !tile.buffer<f8E4M3FNUZ, "[64, 64/32@1|32] b0.a.b1">
    %y = tile.alloc "y" activations : !tile.buffer<f8E4M3FNUZ, "[64/20@1, 64|32] b0.a.b1">
    tile.exchange "whole" (%x "[64a, 64b]" -> %a "[64a, 64b]") : !tile.buffer<f8E4M3FNUZ, "[64/16@1, 64|32] b0.a.b1">, !tile.buffer<f8E4M3FNUZ, "[64, 64/32@1|32] b0.a.b1">
    tile.exchange "cut" (%y "[64a, 64b]" -> %a "[64a, 64b]") : !tile.buffer<f8E4M3FNUZ, "[64/20@1, 64|32] b0.a.b1">, !tile.buffer<f8E4M3FNUZ, "[64, 64/32@1|32] b0.a.b1">
    func.return
  }
}

// CHECK: tile.exchange "whole" ({{.*}}) attributes {panels = ["panels 16x32: 8 regions, 0 clipped, up to 1 receivers; spans of 512 to 512 bytes, median 512"]}
// CHECK: tile.exchange "cut" ({{.*}}) attributes {panels = ["panels 16x32: 14 regions, {{[0-9]+}} clipped, up to 1 receivers; spans of 128 to 640 bytes, median 640"]}
