// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: expected [tiles, words]
tile_asm.program "p" machine "t4" supervisor 0x71000 {
  tile_asm.table "t" rows at 0x72000 <[1], "00000000">
}
