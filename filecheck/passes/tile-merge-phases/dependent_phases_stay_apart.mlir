// RUN: tile-opt %s -p tile-merge-phases | filecheck %s

// A second exchange that writes what the first one's reader still needs, or reads what the first one wrote, is a phase of
// its own; a program without anything to merge keeps its order.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main() {
    %x = tile.alloc "x" activations : !tile.buffer<f32, "[4/1@1, 64]">
    %l = tile.alloc "l" staging : !tile.buffer<f32, "[4, 64]">
    %y = tile.alloc "y" staging : !tile.buffer<f32, "[4/1@1, 64]">
    tile.exchange "one" (%x "[4a, 64b]" -> %l "[4a, 64b]") : !tile.buffer<f32, "[4/1@1, 64]">, !tile.buffer<f32, "[4, 64]">
    tile.compute "copy" (%l "a=0 b=1") -> (%l "a=0 b=1") axes "a b" : !tile.buffer<f32, "[4, 64]">, !tile.buffer<f32, "[4, 64]">
    tile.exchange "reads it" (%l "[4a, 64b]" -> %y "[4a, 64b]") : !tile.buffer<f32, "[4, 64]">, !tile.buffer<f32, "[4/1@1, 64]">
    tile.exchange "writes it" (%x "[4a, 64b]" -> %l "[4a, 64b]") : !tile.buffer<f32, "[4/1@1, 64]">, !tile.buffer<f32, "[4, 64]">
    func.return
  }
}

// CHECK:      tile.exchange "one"
// CHECK-NEXT: tile.compute "copy"
// CHECK-NEXT: tile.exchange "reads it"
// CHECK-NEXT: tile.exchange "writes it"
// CHECK-NEXT: func.return
