// RUN: not tile-opt %s -p "tile-allocate-memory{machine=t4}" 2>&1 | filecheck %s

// Code can only lie where two standard-memory parameters leave nothing, though the other region is empty.
func.func @main() {
  %a = tile.alloc "a" parameters : !tile.buffer<f32, "[19000] standard">
  tile.bind parameter %a view "[19000a]" tensors ["a"] : !tile.buffer<f32, "[19000] standard">
  %b = tile.alloc "b" parameters : !tile.buffer<f32, "[4090] standard">
  tile.bind parameter %b view "[4090a]" tensors ["b"] : !tile.buffer<f32, "[4090] standard">
  %y = tile.alloc "y" activations : !tile.buffer<f32, "[4090]">
  tile.compute "pointwise.exp" (%b "x=0") -> (%y "x=0") axes "x" : !tile.buffer<f32, "[4090] standard">, !tile.buffer<f32, "[4090]">
  tile.bind output %y view "[4090a]" tensors ["y"] : !tile.buffer<f32, "[4090]">
  func.return
}

// CHECK:      error: standard memory is {{[0-9]+}} bytes short
// CHECK:      note: on tile 0 at event 0 (loading): {{[0-9]+}} bytes live, 92448 standard bytes available
// CHECK:      bytes  parameters   a:
// CHECK:      bytes  code         code pointwise.exp: kernel code
// CHECK:      bytes  code         supervisor: supervisor program
