// RUN: not tile-opt %s -p "tile-allocate-sequences{machine=t4}" 2>&1 | filecheck %s

// One iteration needs 30,000 bytes of two sequences; resident are all members, which is what counts.
func.func @main() {
  %a = tile.alloc "a" parameters : !tile.buffer<f16, "[7500] interleaved", 5>
  tile.bind parameter %a view "[7500a]" tensors ["a0", "a1", "a2", "a3", "a4"] : !tile.buffer<f16, "[7500] interleaved", 5>
  %b = tile.alloc "b" parameters : !tile.buffer<f16, "[7500] interleaved", 5>
  tile.bind parameter %b view "[7500a]" tensors ["b0", "b1", "b2", "b3", "b4"] : !tile.buffer<f16, "[7500] interleaved", 5>
  func.return
}

// CHECK: error: interleaved memory is 21056 bytes short
// CHECK: note: on tile 0 at event 0 (loading): 150000 bytes live, 128944 interleaved bytes available
// CHECK: note:     75000 bytes  parameters   a (5 x 15000, every 15000)
