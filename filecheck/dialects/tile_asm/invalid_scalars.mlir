// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

// Scalars that are no numbers of a call.

// CHECK: expected a number, "inf", "-inf" or "nan"
tile_asm.program "p" machine "t4" supervisor 0x71000 {
  tile_asm.call "fill" () -> (0x98000 f32 [0:1]) scalars {value = "lots"} extents "extents"
}

// -----

// CHECK: integer 99999999999999999999 has more than 64 bits
tile_asm.program "p" machine "t4" supervisor 0x71000 {
  tile_asm.call "fill" () -> (0x98000 f32 [0:1]) scalars {value = 99999999999999999999} extents "extents"
}
