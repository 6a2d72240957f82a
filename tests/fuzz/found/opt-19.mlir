// RUN: tile-opt %s -p tile-merge-phases,tile-schedule-exchange --machine t4
!buffer0 = !tile.buffer<f16, "[8/16@1] %4">
!buffer1 = !tile.buffer<f16, "[1/1@4, 4/2@2/1@1, 16/16@2|16] a.c0.b.c1 %4">
!buffer2 = !tile.buffer<f16, "[1/1@4, 8/16@2|16, 16/16@2|16] a.b0.c0.b1.c1 %4">
!buffer3 = !tile.buffer<f16, "[8] *4@1 %4">
!buffer4 = !tile.buffer<f16, "[1/1@4, 8/16@2|16, 16/16@2|16] a.b0.c0.b1.c1 *2@2 *2@1 %4 interleaved">
!buffer5 = !tile.buffer<f32, "[1/1@2, 1/1@4, 4/2@2/1@1, 8/16@2|16] a.b.d0.c.d1 %4 interleaved">
!buffer6 = !tile.buffer<f16, "[1/1@4, 4/2@2/1@1, 8/16@2|16] a.c0.b.c1 %4">
!buffer7 = !tile.buffer<f16, "[4/1@1, 8] %4">
!buffer8 = !tile.buffer<f16, "[32/2@1] %0">
builtin.module attributes {tile.machine = "t4"} {
  func.func @main() {
    %constant = tile.alloc "constant" parameters : !buffer0
    tile.bind constant %constant view "[8a]" tensors ["constant0"] contents dense<0xfc00> : tensor<8xf16> : !buffer0
    %x = tile.alloc "x" activations : !buffer1
    tile.bind input %x view "[4b, 8c]" tensors ["x"] : !buffer1
    %w = tile.alloc "w" parameters : !buffer2
    tile.bind parameter %w view "[8c, 8b]" tensors ["w"] : !buffer2
    %g = tile.alloc "g" parameters : !buffer3
    tile.bind parameter %g view "[8a]" tensors ["g"] : !buffer3
    %right = tile.alloc "m.right" staging : !buffer4
    %product = tile.alloc "m.product" partials : !buffer5
    %result = tile.alloc "m.result" activations : !buffer6
    tile.compute "fill" () -> (%right "pad=1") axes "x0 x1 x2" scalars {value = 0 : i64} for "m: matmul operands: padding" : !buffer4
    tile.exchange "m: matmul operands" (%w "[16c, 8b]" -> %right "[16c, 8b]") : !buffer2, !buffer4
    tile.compute "gemm.f16.f32" (%x "b=0 m=1 k=2", %right "b=0 n=1 k=2") -> (%product "b=1 m=2 n=3") axes "b m n k" scalars {scale = 0 : i64} for "m: matmul" :
        !buffer1, !buffer4, !buffer5
    tile.compute "cast" (%product "b=1 m=2 n=3") -> (%result "b=0 m=1 n=2") axes "b m n" scalars {saturate = 1 : i64, scale = 0 : i64} for
        "m: matmul: result type" : !buffer5, !buffer6
    tile.bind value %result view "[4b, 8c]" tensors ["m"] : !buffer6
    %rows = tile.alloc "n.rows" staging : !buffer7
    %result_1 = tile.alloc "n.result" activations : !buffer7
    tile.exchange "n: rms_norm operands" (%result "[4b, 8c]" -> %rows "[4a, 8b]") : !buffer6, !buffer7
    tile.compute "rms_norm" (%rows "r=0 c=1", %g "c=0") -> (%result_1 "r=0 c=1") axes "r c" scalars {epsilon = 1.000000e-05 : f32} for "n: rms_norm" : !buffer7,
        !buffer3, !buffer7
    tile.bind value %result_1 view "[4a, 8b]" tensors ["n"] : !buffer7
    %result_2 = tile.alloc "p.result" activations : !buffer8
    tile.compute "fill" () -> (%result_2 "flat") axes "n" scalars {value = 1040203264 : i64} for "p: pad: what no source writes" : !buffer8
    tile.exchange "p: pad" (%result_1 "[4a, 4b] + (0, 2)" -> %result_2 "[4a*8, 4a] + (2)") : !buffer7, !buffer8
    tile.bind value %result_2 view "[4a*8, 8a]" tensors ["p"] : !buffer8
    %operand1 = tile.alloc "a.operand1" staging : !buffer8
    %result_3 = tile.alloc "a.result" activations : !buffer8
    tile.exchange "a: maximum operands" (%constant "[4_, 8a]" -> %operand1 "[4a*8, 8a]") : !buffer0, !buffer8
    tile.compute "pointwise.max" (%result_2 "x0=0", %operand1 "x0=0") -> (%result_3 "x0=0") axes "x0" for "a: maximum" : !buffer8, !buffer8, !buffer8
    tile.bind value %result_3 view "[4a*8, 8a]" tensors ["a"] : !buffer8
    %rows_1 = tile.alloc "y.rows" staging : !buffer7
    %result_4 = tile.alloc "y.result" activations : !buffer7
    tile.exchange "y: softmax operands" (%result_3 "[4a*8, 8a]" -> %rows_1 "[4a, 8b]") : !buffer8, !buffer7
    tile.compute "softmax" (%rows_1 "r=0 c=1") -> (%result_4 "r=0 c=1") axes "r c" scalars {scale = 5.000000e-01 : f32} for "y: softmax" : !buffer7, !buffer7
    tile.bind value %result_4 view "[4a, 8b]" tensors ["y"] : !buffer7
    tile.bind output %result_4 view "[4a, 8b]" tensors ["y"] : !buffer7
    func.return
  }
}
