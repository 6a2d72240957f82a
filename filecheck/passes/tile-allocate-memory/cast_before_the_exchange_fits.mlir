// RUN: tile-opt %s -p "tile-schedule-exchange,tile-allocate-memory" --verify-memory | filecheck %s

// As cast_before_the_exchange.mlir, with the cast where the activation lies.
builtin.module attributes {tile.machine = "c600"} {
  func.func @main() {
    %w = tile.alloc "weights" parameters : !tile.buffer<i8, "[11264] interleaved", 27>
    %home = tile.alloc "activation" activations : !tile.buffer<f16, "[2, 21024|28] a.b0.b1 +1 %1472 interleaved">
    tile.bind input %home view "[2a, 21024b]" tensors ["x"] : !tile.buffer<f16, "[2, 21024|28] a.b0.b1 +1 %1472 interleaved">
    tile.repeat "layers" count 27 sequences (%m = %w : !tile.buffer<i8, "[11264] interleaved", 27>) {
      %cast = tile.alloc "x.cast" staging : !tile.buffer<f8E4M3FNUZ, "[2, 21024|28] a.b0.b1 +1 %1472 interleaved">
      %narrow = tile.alloc "x.f8" staging : !tile.buffer<f8E4M3FNUZ, "[2, 21024|28] a.b0.b1 interleaved">
      tile.compute "cast" (%home "x=0 y=1") -> (%cast "x=0 y=1") axes "x y" : !tile.buffer<f16, "[2, 21024|28] a.b0.b1 +1 %1472 interleaved">, !tile.buffer<f8E4M3FNUZ, "[2, 21024|28] a.b0.b1 +1 %1472 interleaved">
      tile.exchange "MLP input" (%cast "[2a, 21024b]" -> %narrow "[2a, 21024b]") : !tile.buffer<f8E4M3FNUZ, "[2, 21024|28] a.b0.b1 +1 %1472 interleaved">, !tile.buffer<f8E4M3FNUZ, "[2, 21024|28] a.b0.b1 interleaved">
    }
    tile.bind parameter %w view "[11264a]" tensors ["w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10", "w11", "w12", "w13", "w14", "w15", "w16", "w17", "w18", "w19", "w20", "w21", "w22", "w23", "w24", "w25", "w26"] : !tile.buffer<i8, "[11264] interleaved", 27>
    func.return
  }
}

// CHECK: tile.alloc "weights" parameters at 0x{{[0-9a-f]+}} stride 11264
// CHECK: tile.alloc "x.f8" staging at 0x
