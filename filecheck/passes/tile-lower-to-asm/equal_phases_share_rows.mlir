// RUN: tile-opt %s -p tile-schedule-exchange,tile-allocate-memory,tile-lower-to-asm | filecheck %s

// The same buffers at the same places: both phases execute one copy of the rows.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main() {
    %x = tile.alloc "x" activations : !tile.buffer<f32, "[4/1@1, 64]">
    %y = tile.alloc "y" activations : !tile.buffer<f32, "[4, 64]">
    tile.exchange "one" (%x "[4a, 64b]" -> %y "[4a, 64b]") : !tile.buffer<f32, "[4/1@1, 64]">, !tile.buffer<f32, "[4, 64]">
    tile.compute "copy" (%y "a=0 b=1") -> (%y "a=0 b=1") axes "a b" : !tile.buffer<f32, "[4, 64]">, !tile.buffer<f32, "[4, 64]">
    tile.exchange "two" (%x "[4a, 64b]" -> %y "[4a, 64b]") : !tile.buffer<f32, "[4/1@1, 64]">, !tile.buffer<f32, "[4, 64]">
    func.return
  }
}

// CHECK:     tile_asm.table "rows0" rows
// CHECK-NOT: tile_asm.table "rows1" rows
// CHECK:     tile_asm.exchange "one" rows "rows0" from "one"
// CHECK:     tile_asm.exchange "two" rows "rows0" from "two"
