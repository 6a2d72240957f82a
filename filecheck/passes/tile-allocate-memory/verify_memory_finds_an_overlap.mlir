// RUN: not tile-opt %s -p "canonicalize" --machine t4 --verify-memory 2>&1 | filecheck %s

func.func @main() {
  %a = tile.alloc "a" parameters at 0x90000 : !tile.buffer<f32, "[100]">
  tile.bind parameter %a view "[100a]" tensors ["a"] : !tile.buffer<f32, "[100]">
  %b = tile.alloc "b" parameters at 0x90188 : !tile.buffer<f32, "[100]">
  tile.bind parameter %b view "[100a]" tensors ["b"] : !tile.buffer<f32, "[100]">
  func.return
}

// CHECK: verify_memory_finds_an_overlap.mlir:4:8: error: a and b overlap at 0x90188 (event 0, tile 0)
// CHECK: note: the memory is wrong after pass `canonicalize`
