// RUN: tile-opt %s -p "tile-allocate-memory{machine=t4}" --verify-memory | filecheck %s

func.func @main() {
  %a = tile.alloc "a" parameters at 0x90000 : !tile.buffer<f32, "[100]">
  tile.bind parameter %a view "[100a]" tensors ["a"] : !tile.buffer<f32, "[100]">
  %b = tile.alloc "b" parameters : !tile.buffer<f32, "[100]">
  tile.bind parameter %b view "[100a]" tensors ["b"] : !tile.buffer<f32, "[100]">
  func.return
}

// CHECK: tile.alloc "a" parameters at 0x90000 :
// CHECK: tile.alloc "b" parameters at 0x80400 :
