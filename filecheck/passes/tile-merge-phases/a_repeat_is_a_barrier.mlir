// RUN: tile-opt %s -p tile-merge-phases | filecheck %s

// Phases of a body are merged among themselves; nothing moves across the repeat.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main() {
    %x = tile.alloc "x" activations : !tile.buffer<f32, "[4/1@1, 64]">
    %a = tile.alloc "a" staging : !tile.buffer<f32, "[4, 64]">
    %b = tile.alloc "b" staging : !tile.buffer<f32, "[4, 64]">
    %c = tile.alloc "c" staging : !tile.buffer<f32, "[4, 64]">
    tile.exchange "before" (%x "[4a, 64b]" -> %a "[4a, 64b]") : !tile.buffer<f32, "[4/1@1, 64]">, !tile.buffer<f32, "[4, 64]">
    tile.repeat "layers" count 2 {
      tile.exchange "left" (%x "[4a, 64b]" -> %b "[4a, 64b]") : !tile.buffer<f32, "[4/1@1, 64]">, !tile.buffer<f32, "[4, 64]">
      tile.compute "copy" (%b "a=0 b=1") -> (%b "a=0 b=1") axes "a b" : !tile.buffer<f32, "[4, 64]">, !tile.buffer<f32, "[4, 64]">
      tile.exchange "right" (%x "[4a, 64b]" -> %c "[4a, 64b]") : !tile.buffer<f32, "[4/1@1, 64]">, !tile.buffer<f32, "[4, 64]">
    }
    func.return
  }
}

// CHECK:      tile.exchange "before"
// CHECK-NEXT: tile.repeat "layers" count 2 {
// CHECK-NEXT:   tile.exchange "left | right" (%x "[4a, 64b]" -> %b "[4a, 64b]", %x "[4a, 64b]" -> %c "[4a, 64b]")
// CHECK-NEXT:   tile.compute "copy"
// CHECK-NEXT: }
// CHECK-NEXT: func.return
