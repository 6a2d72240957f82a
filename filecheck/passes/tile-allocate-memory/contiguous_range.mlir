// RUN: not tile-opt %s -p "tile-allocate-memory{machine=t4}" 2>&1 | filecheck %s

// The members fit one by one; the sequence needs one range for all of them.
func.func @main() {
  %w = tile.alloc "weights" parameters : !tile.buffer<f16, "[10000] %4", 7>
  tile.bind parameter %w view "[10000a]" tensors ["w0", "w1", "w2", "w3", "w4", "w5", "w6"] : !tile.buffer<f16, "[10000] %4", 7>
  func.return
}

// CHECK:      contiguous_range.mlir:5:8: error: weights: sequence of 7 x 20000 bytes, 140000 in all, exceed the largest contiguous range, 128944 bytes
// CHECK:      note: on tile 0 at event 0 (loading): 140000 bytes live, 128944 bytes available, 11056 short
// CHECK-NEXT: note: no order of allocation can help
