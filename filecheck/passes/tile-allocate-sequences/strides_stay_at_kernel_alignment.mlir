// RUN: tile-opt %s -p "tile-allocate-sequences{machine=t4}" | filecheck %s
// RUN: tile-opt %s -p "tile-allocate-sequences{machine=t4},tile-allocate-memory{machine=t4}" --verify-memory | filecheck %s --check-prefixes=CHECK,ALL

// 1000 bytes a member, a multiple of 8: no member is padded, in either region; single buffers come later.
func.func @main() {
  %a = tile.alloc "a" parameters : !tile.buffer<f16, "[500] interleaved", 3>
  tile.bind parameter %a view "[500a]" tensors ["a0", "a1", "a2"] : !tile.buffer<f16, "[500] interleaved", 3>
  %b = tile.alloc "b" parameters : !tile.buffer<f16, "[500] standard", 3>
  tile.bind parameter %b view "[500a]" tensors ["b0", "b1", "b2"] : !tile.buffer<f16, "[500] standard", 3>
  %c = tile.alloc "c" parameters : !tile.buffer<f16, "[500]">
  tile.bind parameter %c view "[500a]" tensors ["c"] : !tile.buffer<f16, "[500]">
  func.return
}

// CHECK: tile.alloc "a" parameters at 0x8{{[0-9a-f]+}} stride 1000 :
// CHECK: tile.alloc "b" parameters at 0x{{[67][0-9a-f]+}} stride 1000 :
// CHECK: tile.alloc "c" parameters
// ALL-SAME: at 0x
