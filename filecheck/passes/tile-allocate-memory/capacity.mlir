// RUN: not tile-opt %s -p "tile-allocate-memory{machine=t4}" 2>&1 | filecheck %s

// Each fits alone, all four together do not fit on tile 2.
func.func @main() {
  %a = tile.alloc "a" parameters : !tile.buffer<f32, "[15000] *4@1 %4">
  tile.bind parameter %a view "[15000a]" tensors ["a"] : !tile.buffer<f32, "[15000] *4@1 %4">
  %b = tile.alloc "b" parameters : !tile.buffer<f32, "[15000] *4@1 %4">
  tile.bind parameter %b view "[15000a]" tensors ["b"] : !tile.buffer<f32, "[15000] *4@1 %4">
  %c = tile.alloc "c" parameters : !tile.buffer<f32, "[15000] *4@1 %4">
  tile.bind parameter %c view "[15000a]" tensors ["c"] : !tile.buffer<f32, "[15000] *4@1 %4">
  %d = tile.alloc "d" parameters : !tile.buffer<f32, "[15000] +2 %4">
  tile.bind parameter %d view "[15000a]" tensors ["d"] : !tile.buffer<f32, "[15000] +2 %4">
  func.return
}

// CHECK:      capacity.mlir:5:8: error: tile memory is {{[0-9]+}} bytes short
// CHECK:      note: on tile 2 at event 0 (loading): {{[0-9]+}} bytes live, 221392 bytes available, {{[0-9]+}} short
// CHECK-NEXT: note: no order of allocation can help
// CHECK-NEXT: note:     60000 bytes  parameters   a: at {{.*}}capacity.mlir:5:8, layout [15000] *4@1 %4, resident parameter
// CHECK-NEXT: note:     60000 bytes  parameters   b:
// CHECK-NEXT: note:     60000 bytes  parameters   c:
// CHECK-NEXT: note:     60000 bytes  parameters   d: at {{.*}}, layout [15000] +2 %4, resident parameter
// CHECK:      note: in pass `tile-allocate-memory`
