// RUN: tile-opt %s -p tile-merge-phases | filecheck %s

// Two exchanges that do not depend on each other become one phase with the moves and the reasons of both; what is computed
// from them follows it in the order of the program. The exchange of a result stays behind the computation that it waits for.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main() {
    %x = tile.alloc "x" activations : !tile.buffer<f32, "[4/1@1, 64]">
    %l = tile.alloc "l" staging : !tile.buffer<f32, "[4, 64]">
    tile.exchange "left" (%x "[4a, 64b]" -> %l "[4a, 64b]") : !tile.buffer<f32, "[4/1@1, 64]">, !tile.buffer<f32, "[4, 64]">
    tile.compute "copy" (%l "a=0 b=1") -> (%l "a=0 b=1") axes "a b" for "first" : !tile.buffer<f32, "[4, 64]">, !tile.buffer<f32, "[4, 64]">
    %r = tile.alloc "r" staging : !tile.buffer<f32, "[4, 64]">
    tile.exchange "right" (%x "[4a, 64b]" -> %r "[4a, 64b]") : !tile.buffer<f32, "[4/1@1, 64]">, !tile.buffer<f32, "[4, 64]">
    tile.compute "copy" (%r "a=0 b=1") -> (%r "a=0 b=1") axes "a b" for "second" : !tile.buffer<f32, "[4, 64]">, !tile.buffer<f32, "[4, 64]">
    tile.exchange "back" (%r "[4a, 64b]" -> %x "[4a, 64b]") : !tile.buffer<f32, "[4, 64]">, !tile.buffer<f32, "[4/1@1, 64]">
    func.return
  }
}

// CHECK:      tile.exchange "left | right" (%x "[4a, 64b]" -> %l "[4a, 64b]", %x "[4a, 64b]" -> %r "[4a, 64b]")
// CHECK-NEXT: tile.compute "copy" {{.*}} for "first"
// CHECK-NEXT: tile.compute "copy" {{.*}} for "second"
// CHECK-NEXT: tile.exchange "back"
// CHECK-NEXT: func.return
