// RUN: tile-opt %s -p "tile-allocate-memory{machine=t4}" --verify-memory | filecheck %s

// Four parameters of 100 KB, each on a tile of its own, lie at one address.
func.func @main() {
  %a = tile.alloc "a" parameters : !tile.buffer<f32, "[25000] interleaved">
  tile.bind parameter %a view "[25000a]" tensors ["a"] : !tile.buffer<f32, "[25000] interleaved">
  %b = tile.alloc "b" parameters : !tile.buffer<f32, "[25000] +1 %4 interleaved">
  tile.bind parameter %b view "[25000a]" tensors ["b"] : !tile.buffer<f32, "[25000] +1 %4 interleaved">
  %c = tile.alloc "c" parameters : !tile.buffer<f32, "[25000] +2 %4 interleaved">
  tile.bind parameter %c view "[25000a]" tensors ["c"] : !tile.buffer<f32, "[25000] +2 %4 interleaved">
  func.return
}

// CHECK: tile.alloc "a" parameters at [[AT:0x[0-9a-f]+]] :
// CHECK: tile.alloc "b" parameters at [[AT]] :
// CHECK: tile.alloc "c" parameters at [[AT]] :
