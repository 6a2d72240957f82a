// RUN: not tile-opt %s -p "tile-allocate-memory{machine=t4}" 2>&1 | filecheck %s

// The hole between the pinned buffers has the 516 bytes of w, but begins 4 bytes behind a multiple of 8.
func.func @main() {
  %low = tile.alloc "low" parameters at 0x80400 : !tile.buffer<f32, "[8193] interleaved">
  tile.bind parameter %low view "[8193a]" tensors ["low"] : !tile.buffer<f32, "[8193] interleaved">
  %high = tile.alloc "high" parameters at 0x88608 : !tile.buffer<f32, "[23914] interleaved">
  tile.bind parameter %high view "[23914a]" tensors ["high"] : !tile.buffer<f32, "[23914] interleaved">
  %w = tile.alloc "w" parameters : !tile.buffer<f32, "[129] interleaved">
  tile.bind parameter %w view "[129a]" tensors ["w"] : !tile.buffer<f32, "[129] interleaved">
  func.return
}

// CHECK: alignment.mlir:9:8: error: w: 516 bytes found no place: alignment leaves no room
// CHECK: note: largest hole for 'w' is 516 bytes, 516 needed
