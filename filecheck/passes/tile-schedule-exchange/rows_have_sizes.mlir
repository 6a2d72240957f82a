// RUN: tile-opt %s -p 'tile-schedule-exchange{machine=t4}' | filecheck %s

// Each phase gets the bytes of its longest row, which memory allocation reserves on every tile. A copy for every tile
// is one send that all hear: the rows are far from four times as long.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main() {
    %x = tile.alloc "x" activations : !tile.buffer<f32, "[1, 64]">
    %all = tile.alloc "all" activations : !tile.buffer<f32, "[1, 64] *4@1">
    %one = tile.alloc "one" activations : !tile.buffer<f32, "[1, 64] +3">
    tile.exchange "to one" (%x "[1, 64b]" -> %one "[1, 64b]") : !tile.buffer<f32, "[1, 64]">, !tile.buffer<f32, "[1, 64] +3">
    tile.exchange "to all" (%x "[1, 64b]" -> %all "[1, 64b]") : !tile.buffer<f32, "[1, 64]">, !tile.buffer<f32, "[1, 64] *4@1">
    tile.compute "copy" (%x "a=0 b=1") -> (%x "a=0 b=1") axes "a b" : !tile.buffer<f32, "[1, 64]">, !tile.buffer<f32, "[1, 64]">
    func.return
  }
}

// CHECK: tile.exchange "to one" ({{.*}}) rows {{[12][0-9]}} : {{.*}}
// CHECK: tile.exchange "to all" ({{.*}}) rows {{[123][0-9]}} : {{.*}}
// CHECK-NEXT: tile.compute "copy" ({{.*}}) -> ({{.*}}) axes "a b" : {{.*}}
