// A pipeline, and a compilation in it, stops and goes on at any pass or stage; the two halves make the whole.

// RUN: tile-opt %s -p 'cse,tile-compile{machine=t4}' > %t.whole
// RUN: tile-opt %s -p 'cse,tile-compile{machine=t4}' --stop-after=tile-merge-phases > %t.half
// RUN: filecheck %s --input-file %t.half
// RUN: tile-opt %t.half -p 'cse,tile-compile{machine=t4}' --start-after=tile-merge-phases > %t.again
// RUN: cmp %t.whole %t.again
// RUN: tile-opt %s -p 'cse,tile-compile{machine=t4}' --stop-after=cse | filecheck %s --check-prefix=FIRST
// RUN: tile-opt %s -p 'cse,tile-compile{machine=t4}' --start-after=cse --stop-after=tile-outline --dump-pass-pipeline 2>&1 >/dev/null | filecheck %s --check-prefix=DUMP
// RUN: not tile-opt %s -p cse --stop-after=csse 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not tile-opt %s -p 'tile-compile{stop-after=tile-outlin}' 2>&1 | filecheck %s --check-prefix=STAGE
// RUN: not tile-opt %s -p 'tile-compile{start-after=tile-lower-to-asm stop-after=tile-outline}' 2>&1 | filecheck %s --check-prefix=ORDER

func.func @main(%x: tensor<4x8xf16> {tile_tensor.input = "x"}) -> tensor<4x8xf16> {
  %y = tile_tensor.neg %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// CHECK: tile.
// CHECK-NOT: tile_asm
// FIRST: tile_tensor.neg
// DUMP: builtin.module(tile-compile{machine="t4" stop_after="tile-outline"})
// DUMP-NEXT: tile-compile runs: tile-inline-calls, tile-outline
// UNKNOWN: error: the pipeline has no pass or stage `csse`
// UNKNOWN: hint: did you mean `cse`?
// STAGE: error: there is no stage `tile-outlin`
// ORDER: error: the stage `tile-outline` is not behind `tile-lower-to-asm`
