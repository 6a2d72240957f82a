// RUN: tile-opt --print-layouts=full %s -p tile-lower-to-asm | filecheck %s
// RUN: tile-opt --print-layouts=full %s -p 'tile-lower-to-asm{machine=t4}' | filecheck %s
// RUN: sed -e 's/rows 32 at/rows 4 at/' %s | not tile-opt -p tile-lower-to-asm 2>&1 | filecheck %s --check-prefix=ROWS
// RUN: sed -e 's/ rows 32 at 0x68fb8//' %s | not tile-opt -p tile-lower-to-asm 2>&1 | filecheck %s --check-prefix=UNSCHEDULED
// RUN: sed -e 's/ at 0x6d720//' %s | not tile-opt -p tile-lower-to-asm 2>&1 | filecheck %s --check-prefix=ADDRESS
// RUN: sed -e 's/attributes {tile.support.*}} {/{/' %s | not tile-opt -p tile-lower-to-asm 2>&1 | filecheck %s --check-prefix=SUPPORT
// RUN: sed -e 's/"supervisor bytes" = 512/"supervisor bytes" = 16/' %s | not tile-opt -p tile-lower-to-asm 2>&1 | filecheck %s --check-prefix=SUPERVISOR

// Buffers become addresses, exchanges rows of words, extents tables of arguments. An operand that is the member of a
// sequence moves on by the stride; a row that sends it is patched by the stride in words.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main() attributes {tile.support = {"code pointwise.add" = 0x68000 : i64, "code pointwise.add bytes" = 512 : i64, supervisor = 0x68200 : i64, "supervisor bytes" = 512 : i64, arguments = 0x68400 : i64, "arguments bytes" = 64 : i64, patches = 0x68440 : i64, "patches bytes" = 16 : i64}} {
    %x = tile.alloc "x" activations at 0x6d6e0 : !tile.buffer<f32, "[4/1@1, 8] %4">
    %ws = tile.alloc "w" parameters at 0x88000 stride 32 : !tile.buffer<f32, "[4/1@1, 8] %4", 3>
    %moved = tile.alloc "moved" staging at 0x6d720 : !tile.buffer<f32, "[4/1@1, 8] +1 %4">
    tile.bind input %x view "[4a, 8b]" tensors ["x"] : !tile.buffer<f32, "[4/1@1, 8] %4">
    tile.bind parameter %ws view "[4a, 8b]" tensors ["w0", "w1", "w2"] : !tile.buffer<f32, "[4/1@1, 8] %4", 3>
    tile.repeat "layers" count 3 sequences (%w = %ws : !tile.buffer<f32, "[4/1@1, 8] %4", 3>) {
      tile.exchange "rotate" (%w "[4a, 8b]" -> %moved "[4a, 8b]") rows 32 at 0x68fb8 : !tile.buffer<f32, "[4/1@1, 8] %4">, !tile.buffer<f32, "[4/1@1, 8] +1 %4">
      tile.compute "pointwise.add" (%x "r=0 c=1", %w "r=0 c=1") -> (%x "r=0 c=1") axes "r c" for "sum" : !tile.buffer<f32, "[4/1@1, 8] %4">, !tile.buffer<f32, "[4/1@1, 8] %4">, !tile.buffer<f32, "[4/1@1, 8] %4">
      tile.bind value %x view "[4a, 8b]" tensors ["layers.x"] : !tile.buffer<f32, "[4/1@1, 8] %4">
    }
    tile.bind output %x view "[4a, 8b]" tensors ["y"] : !tile.buffer<f32, "[4/1@1, 8] %4">
    func.return
  }
}

// CHECK:      tile_asm.program "main" machine "t4" supervisor 0x68200 {
// CHECK-NEXT:   tile_asm.code "pointwise.add" at 0x68000 size 512
// CHECK-NEXT:   tile_asm.table "[[R0:rows0]]" rows at 0x68fb8 <[4, {{[0-9]+}}], "{{[0-9a-f]+}}">
// CHECK-NEXT:   tile_asm.table "[[PATCH:rows0.patch0]]" "patch tables" at 0x68440 <[4, 2] shared, "{{[0-9a-f]+}}ffffffff">
// CHECK-NEXT:   tile_asm.table "[[EXTENTS:extents0]]" arguments at 0x68400 <[4, 2] shared, "0100000008000000">
// CHECK-NEXT:   tile_asm.binding "x" input at 0x6d6e0 f32 layout "[4/1@1, 8] %4" view "[4a, 8b]" shape [4, 8] tensors ["x"]
// CHECK-NEXT:   tile_asm.binding "parameter w0" parameter at 0x88000 f32 layout "[4/1@1, 8] %4" view "[4a, 8b]" shape [4, 8] tensors ["w0", "w1", "w2"] count 3 stride 32
// CHECK-NEXT:   tile_asm.binding "[[VALUE:layers.x#0]]" value at 0x6d6e0 f32 {{.*}} tensors ["layers.x"]
// CHECK-NEXT:   tile_asm.binding "y" output at 0x6d6e0 f32 {{.*}} tensors ["y"]
// CHECK:        tile_asm.placed "[[R0]]" rows at 0x68fb8 size {{[0-9]+}}
// CHECK:        tile_asm.placed "w" parameters at 0x88000 size 96
// CHECK:        tile_asm.repeat "layers" count 3 patches [rows "[[R0]]" at "[[PATCH]]" by 8 field 3] {
// CHECK-NEXT:     tile_asm.exchange "rotate" rows "[[R0]]" from "rotate"
// CHECK-NEXT:     tile_asm.call "pointwise.add" (0x6d6e0 f32 [0:8, 0:1], 0x88000 f32 [0:8, 0:1] steps [32]) -> (0x6d6e0 f32 [0:8, 0:1]) extents "[[EXTENTS]]" from "sum"
// CHECK-NEXT:     tile_asm.tap "layers.x" in "[[VALUE]]"
// CHECK-NEXT:   }

// ROWS:        error: the rows of this phase have {{[0-9]+}} bytes; 4 were reserved
// ROWS:        note: in pass `tile-lower-to-asm`
// ROWS-NEXT:   hint: run tile-schedule-exchange and tile-allocate-memory again
// UNSCHEDULED: error: an exchange has no row address
// UNSCHEDULED: hint: run tile-allocate-memory first
// ADDRESS:     error: a buffer has no address
// ADDRESS-NEXT: %moved = tile.alloc "moved" staging
// ADDRESS:     hint: run tile-allocate-memory first
// SUPPORT:     error: memory is not allocated
// SUPPORT:     hint: run tile-allocate-memory first
// SUPERVISOR:  error: the supervisor program has {{[0-9]+}} bytes; 16 were reserved
