// Layouts are aliases that every reader of MLIR takes, or cut short for the eye, or stand where they are used.

// RUN: tile-opt %s --print-layouts=alias | filecheck %s
// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s --print-layouts=full > %t.full
// RUN: tile-opt %s --print-layouts=alias > %t.alias.mlir && tile-opt %t.alias.mlir --print-layouts=full > %t.again && cmp %t.full %t.again
// RUN: xdsl-opt %t.alias.mlir > %t.again && cmp %t.full %t.again
// RUN: tile-opt %s --print-layouts=alias --print-op-generic | tile-opt --print-layouts=full > %t.again && cmp %t.full %t.again
// RUN: grep -v test.op %s | tile-opt -p 'tile-select-homes{machine=t16}' --print-ir-diff 2>&1 >/dev/null | filecheck %s --check-prefix=DIFF
// RUN: tile-opt %s --print-layouts=short | filecheck %s --check-prefix=SHORT
// RUN: grep -v test.op %s | tile-opt -p 'tile-lower-to-buffers{machine=t16}' --print-layouts=alias | filecheck %s --check-prefix=BUFFERS

#home = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 chunk 16">
#want = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 interleaved">

func.func @main(%w: tensor<64x64xf16, #home> {tile_tensor.parameter = "w"}) -> tensor<64x64xf16, #want> {
  %m = tile_layout.materialize %w : tensor<64x64xf16, #home> -> tensor<64x64xf16, #want>
  "test.op"() {text = "a long text, and another, in one line that has to be continued somewhere", more = "a long text, and another, in one line that has to be continued somewhere"} : () -> ()
  func.return %m : tensor<64x64xf16, #want>
}

// CHECK: #layout0 = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 chunk 16">
// CHECK-NEXT: #layout1 = #tile_layout.at<"[64|16, 64|16] a0.b0.a1.b1 %16 interleaved">
// CHECK-NEXT: builtin.module {
// CHECK-NEXT: func.func @main(%w: tensor<64x64xf16, #layout0> {tile_tensor.parameter = "w"}) -> tensor<64x64xf16, #layout1> {
// CHECK-NEXT: tile_layout.materialize %w : tensor<64x64xf16, #layout0> -> tensor<64x64xf16, #layout1>
// CHECK-NEXT: "test.op"() {text = "a long text, and another, in one line that has to be continued somewhere", more =
// CHECK-NEXT: "a long text, and another, in one line that has to be continued somewhere"} : () -> ()
// Aliases are the same in all prints of a run: what differs is what changed.
// DIFF-NOT: {{^[-+]}}#layout1 =
// DIFF: {{^}}+#layout2 = #tile_layout.at<
// DIFF: {{^}}-  func.func @main(%w: tensor<64x64xf16, #layout0>
// DIFF: {{^}}+  func.func @main(%w: tensor<64x64xf16, #layout2>
// SHORT: tensor<64x64xf16, #tile_layout.at<"[64|16, 64|16] a0.b0.a1
// BUFFERS: !buffer0 = !tile.buffer<f16, "[64|16, 64|16] a0.b0.a1.b1 %16 chunk 16">
// BUFFERS: tile.alloc "w" parameters : !buffer0
