// RUN: not tile-opt %s -p "tile-allocate-memory{machine=t4}" 2>&1 | filecheck %s

// Left operand and result of a product need separate elements; what the pinned buffer leaves is one element.
func.func @main() {
  %big = tile.alloc "big" parameters at 0x80400 : !tile.buffer<f32, "[30000] interleaved">
  tile.bind parameter %big view "[30000a]" tensors ["big"] : !tile.buffer<f32, "[30000] interleaved">
  %x = tile.alloc "x" activations : !tile.buffer<f16, "[1, 16, 16] interleaved">
  tile.bind input %x view "[1a, 16b, 16c]" tensors ["x"] : !tile.buffer<f16, "[1, 16, 16] interleaved">
  %y = tile.alloc "y" activations : !tile.buffer<f32, "[1, 16, 16] interleaved">
  tile.compute "gemm.f16.f32" (%x "b=0 m=1 k=2", %x "b=0 n=1 k=2") -> (%y "b=0 m=1 n=2") axes "b m n k" : !tile.buffer<f16, "[1, 16, 16] interleaved">, !tile.buffer<f16, "[1, 16, 16] interleaved">, !tile.buffer<f32, "[1, 16, 16] interleaved">
  tile.bind output %y view "[1a, 16b, 16c]" tensors ["y"] : !tile.buffer<f32, "[1, 16, 16] interleaved">
  func.return
}

// CHECK:      error: {{x|y}}: {{512|1024}} bytes found no place: buffers that need separate memory elements leave no room
// CHECK:      note: largest hole for '{{x|y}}' is {{[0-9]+}} bytes, {{512|1024}} needed; {{[0-9]+}} bytes free there, {{512|1024}} bytes not yet placed
// CHECK:      hint: it fits with {{[0-9]+}} bytes to spare if '{{x|y}}' and '{{x|y}}' are not live at once
