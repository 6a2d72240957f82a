// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

tile_asm.program "p" machine "t4" supervisor 0x71000 {
  tile_asm.exchange "swap" rows "nothing"
}

// CHECK: no table is named 'nothing'

// -----

tile_asm.program "p" machine "t4" supervisor 0x71000 {
  tile_asm.tap "v" in "nothing"
}

// CHECK: no binding is named 'nothing'

// -----

tile_asm.program "p" machine "t4" supervisor 0x71000 {
  tile_asm.table "t" rows at 0x72000 <[1, 1], "00000000">
  tile_asm.table "t" rows at 0x72004 <[1, 1], "00000000">
}

// CHECK: two tables are named 't'

// -----

tile_asm.program "p" machine "t4" supervisor 0x71000 {
  tile_asm.table "t" other at 0x72000 <[1, 1], "00000000">
}

// CHECK: table category 'other' is none of rows, patch tables, arguments

// -----

tile_asm.program "p" machine "t4" supervisor 0x71000 {
  tile_asm.binding "x" elsewhere at 0x79000 f16 layout "[4]" view "[4a]" shape [4]
}

// CHECK: binding kind 'elsewhere' is none of parameter, input, output, constant, value

// -----

tile_asm.program "p" machine "t4" supervisor 0x71000 {
  tile_asm.repeat "r" count -1 {
  }
}

// CHECK: a repeat cannot run -1 times

// -----

tile_asm.program "p" machine "t4" supervisor 0x71000 {
  tile_asm.repeat "r" count 1 {
    tile_asm.code "copy" at 0x70000 size 8
  }
}

// CHECK: a repeat holds instructions, not 'tile_asm.code'

// -----

tile_asm.program "p" machine "t4" supervisor 0x71000 {
  tile_asm.table "t" rows at 0x72000 <[2, 1], "00000000">
}

// CHECK: 4 bytes are given for 2 rows of 1 words

// -----

tile_asm.program "p" machine "t4" supervisor 0x71000 {
  tile_asm.table "t" rows at 0x72000 <[1, 1], "0000000g">
}

// CHECK: expected words as hexadecimal text
