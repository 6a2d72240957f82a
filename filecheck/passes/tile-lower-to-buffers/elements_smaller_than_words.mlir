// RUN: tile-opt --print-layouts=full %s --pass-pipeline='builtin.module(tile-plan-layouts,tile-lower-to-buffers)' | filecheck %s

// The fabric moves words: single f16 elements that change place are widened to a word each, sent, and narrowed.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x: tensor<8x8xf16> {tile_tensor.input = "x"}, %y: tensor<8x8xf16> {tile_tensor.input = "y"}) -> (tensor<8x8xf16>, tensor<8x8xf16>) {
    %t = tile_tensor.transpose %x permutation [1, 0] : (tensor<8x8xf16>) -> tensor<8x8xf16>
    %plain = tile_tensor.add %y, %x : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
    %sum = tile_tensor.add %plain, %t : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
    func.return %plain, %sum : tensor<8x8xf16>, tensor<8x8xf16>
  }
}

// CHECK:      tile.compute "widen" (%[[X:[a-z0-9_]+]] {{.*}}) -> (%[[WORDS:[a-z0-9_]+]] {{.*}}) {{.*}}for "{{.*}}: one element a word" : !tile.buffer<f16, {{.*}}>, !tile.buffer<u32, {{.*}}>
// CHECK:      tile.exchange "{{.*}}" (%[[WORDS]] {{.*}} -> %[[WIDE:[a-z0-9_]+]] {{.*}}) : !tile.buffer<u32, {{.*}}>, !tile.buffer<u32, {{.*}}>
// CHECK:      tile.compute "narrow" (%[[WIDE]] {{.*}}) -> (%[[OPERAND:[a-z0-9_]+]] {{.*}}) {{.*}} : !tile.buffer<u32, {{.*}}>, !tile.buffer<f16, {{.*}}>
// CHECK:      tile.compute "pointwise.add" (%{{.*}}, %[[OPERAND]] {{.*}}) -> (%[[SUM:[a-z0-9_]+]] {{.*}}
