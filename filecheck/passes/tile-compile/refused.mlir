// RUN: not tile-opt %s -p tile-compile 2>&1 | filecheck %s --check-prefix=BIG
// RUN: sed -e 's/tensor<4096x4096xf16>, tensor<4096x4096xf16>) ->/tensor<4096x4096xf16>, tensor<4096x?xf16>) ->/; s/%%w: tensor<4096x4096xf16>/%%w: tensor<4096x?xf16>/' %s | not tile-opt -p tile-compile 2>&1 | filecheck %s --check-prefix=DYNAMIC
// RUN: sed -e 's/tensor<4096x4096xf16>, tensor<4096x4096xf16>) ->/tensor<4096x4096xf16>, tensor<4095x4096xf16>) ->/; s/%%w: tensor<4096x4096xf16>/%%w: tensor<4095x4096xf16>/' %s | not tile-opt -p tile-compile 2>&1 | filecheck %s --check-prefix=SHAPE
// RUN: sed -e 's/tile_tensor.matmul/tile_tensor.matmull/' %s | not tile-opt -p tile-compile 2>&1 | filecheck %s --check-prefix=OPERATION
// RUN: sed -e 's/tile_tensor.matmul/tile_tenser.matmul/' %s | not tile-opt -p tile-compile 2>&1 | filecheck %s --check-prefix=DIALECT
// RUN: not tile-opt %s -p tile-compile,tile-compile 2>&1 | filecheck %s --check-prefix=BIG

// Programs that do not fit, and programs that are not programs: the message stands at the operation, on one screen.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x: tensor<4096x4096xf16> {tile_tensor.input = "x"}, %w: tensor<4096x4096xf16> {tile_tensor.parameter = "w"}) -> tensor<4096x4096xf16> {
    %product = tile_tensor.matmul %x, %w : (tensor<4096x4096xf16>, tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
    func.return %product : tensor<4096x4096xf16>
  }
}

// BIG:        error: the parameters do not fit: they take 33,554,432 bytes, 32,675,008 too many
// BIG:        note: t4 has 879,424 bytes in 4 tiles, without its reservations and the code of gemm.f16.f32
// BIG-NEXT:   note: with the weights of products in FP8 they take 16,777,216 bytes, which does not fit either
// BIG:        note: in pass `tile-compile`
// DYNAMIC:    :12:16: error: `tile_tensor.matmul` does not verify: needs static shapes, found tensor<4096x?xf16>
// SHAPE:      :12:16: error: `tile_tensor.matmul` does not verify: {{.*}}
// OPERATION:  :12:16: error: dialect `tile_tensor` has no operation `tile_tensor.matmull`
// OPERATION:  hint: did you mean `tile_tensor.matmul`
// DIALECT:    :12:16: error: unknown dialect `tile_tenser` in `tile_tenser.matmul`
// DIALECT:    hint: did you mean `tile_tensor`
