// RUN: TILE_ROUNDTRIP
// RUN: TILE_GENERIC_ROUNDTRIP

module attributes {tile.machine = "t4"} {
  tile_asm.program "sample" machine "t4" supervisor 0x71000 {
    tile_asm.code "gemm.f16.f16" at 0x70000 size 1536
    tile_asm.table "extents" arguments at 0x72000 <[4, 2] shared, "0100000002000000">
    tile_asm.table "rows" rows at 0x74000 <[2, 1], "0000a0430100a043">
    tile_asm.table "positions" "patch tables" at 0x73000 <[4, 0], "">
    tile_asm.constant "c" f16 [3] <[1, 2], "0000003c00400000">
    tile_asm.binding "x" input at 0x79000 f16 layout "[40/10@1, 32|16]" view "[40a, 32b]" shape [40, 32]
    tile_asm.binding "w" parameter at 0x80400 f8E4M3FNUZ layout "[4]" view "[4a]" shape [4] tensors ["a", "b"] count 2 stride 64 scale -3
    tile_asm.placed "x" activations at 0x79000 size 640 live 0 3
    tile_asm.placed "pad" padding at 495616 size 0 live 0 0
    tile_asm.exchange "" rows "rows"
    tile_asm.repeat "layers" count 3 patches [rows "rows" at "positions" by -256 field 3] {
      tile_asm.call "gemm.f16.f16" (0x79000 f16 [0:0, 0:16, 0:160 16:1] steps [1024, -8], 0x80400 f16 []) -> (0x98000 f32 [0:1]) scalars {scale = -2, epsilon = 1.0e-06, value = "inf"} extents "extents" from "model.mlir:7:3"
      tile_asm.tap "state" in "x" {note = 1 : i32}
    }
  }
}

// CHECK:      module attributes {tile.machine = "t4"} {
// CHECK-NEXT:   tile_asm.program "sample" machine "t4" supervisor 0x71000 {
// CHECK-NEXT:     tile_asm.code "gemm.f16.f16" at 0x70000 size 1536
// CHECK-NEXT:     tile_asm.table "extents" arguments at 0x72000 <[4, 2] shared, "0100000002000000">
// CHECK-NEXT:     tile_asm.table "rows" rows at 0x74000 <[2, 1], "0000a0430100a043">
// CHECK-NEXT:     tile_asm.table "positions" "patch tables" at 0x73000 <[4, 0] shared, "">
// CHECK-NEXT:     tile_asm.constant "c" f16 [3] <[1, 2], "0000003c00400000">
// CHECK-NEXT:     tile_asm.binding "x" input at 0x79000 f16 layout "[40/10@1, 32|16]" view "[40a, 32b]" shape [40, 32]
// CHECK-NEXT:     tile_asm.binding "w" parameter at 0x80400 f8E4M3FNUZ layout "[4]" view "[4a]" shape [4] tensors ["a", "b"] count 2 stride 64 scale -3
// CHECK-NEXT:     tile_asm.placed "x" activations at 0x79000 size 640 live 0 3
// CHECK-NEXT:     tile_asm.placed "pad" padding at 0x79000 size 0 live 0 0
// CHECK-NEXT:     tile_asm.exchange "" rows "rows"
// CHECK-NEXT:     tile_asm.repeat "layers" count 3 patches [rows "rows" at "positions" by -256 field 3] {
// CHECK-NEXT:       tile_asm.call "gemm.f16.f16" (0x79000 f16 [0:0, 0:16, 0:160 16:1] steps [1024, -8], 0x80400 f16 []) -> (0x98000 f32 [0:1]) scalars {scale = -2, epsilon = 1.0e-06, value = "inf"} extents "extents" from "model.mlir:7:3"
// CHECK-NEXT:       tile_asm.tap "state" in "x" {note = 1 : i32}
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }

// CHECK-GENERIC: "tile_asm.table"() <{sym = "extents", category = "arguments", address = 466944 : i64, words = #tile_asm.words<[4, 2] shared, "0100000002000000">}> : () -> ()
// CHECK-GENERIC: ins = [#tile_asm.operand<0x79000 f16 [0:0, 0:16, 0:160 16:1] steps [1024, -8]>, #tile_asm.operand<0x80400 f16 []>]
// CHECK-GENERIC-SAME: scalars = #tile_asm.scalars<{scale = -2, epsilon = 1.0e-06, value = "inf"}>
