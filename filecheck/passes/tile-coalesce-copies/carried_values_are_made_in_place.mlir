// RUN: tile-opt %s --split-input-file --machine t16 -p tile-plan-layouts,tile-lower-to-buffers,tile-merge-phases,tile-coalesce-copies | filecheck %s

// The old value is read before the new one is begun.

func.func @free(%x: tensor<32x96xf16> {tile_tensor.input = "x"}, %w: tensor<96x96xf16> {tile_tensor.parameter = "w"})
  -> (tensor<32x96xf16> {tile_tensor.output = "out"}) {
  %out = tile_repeat.repeat "steps" count 3 carried(%h = %x : tensor<32x96xf16>) invariant(%m = %w : tensor<96x96xf16>) -> (tensor<32x96xf16>) {
    %a = tile_tensor.exp %h : (tensor<32x96xf16>) -> tensor<32x96xf16>
    %next = tile_tensor.tanh %a : (tensor<32x96xf16>) -> tensor<32x96xf16>
    tile_repeat.yield %next : tensor<32x96xf16>
  }
  func.return %out : tensor<32x96xf16>
}
// CHECK-LABEL: @free
// CHECK:       tile.repeat "steps"
// CHECK:       tile.compute "pointwise.tanh" (%{{.*}}) -> (%h
// CHECK-NOT:   tile.compute "copy"
// CHECK:       func.return

// -----

// The old value is read where the new one is made.

func.func @late(%x: tensor<32x96xf16> {tile_tensor.input = "x"}, %w: tensor<96x96xf16> {tile_tensor.parameter = "w"})
  -> (tensor<32x96xf16> {tile_tensor.output = "out"}) {
  %out = tile_repeat.repeat "steps" count 3 carried(%h = %x : tensor<32x96xf16>) invariant(%m = %w : tensor<96x96xf16>) -> (tensor<32x96xf16>) {
    %a = tile_tensor.exp %h : (tensor<32x96xf16>) -> tensor<32x96xf16>
    %next = tile_tensor.add %a, %h : (tensor<32x96xf16>, tensor<32x96xf16>) -> tensor<32x96xf16>
    tile_repeat.yield %next : tensor<32x96xf16>
  }
  func.return %out : tensor<32x96xf16>
}
// CHECK-LABEL: @late
// CHECK:       pointwise.add
// CHECK:       tile.compute "copy" {{.*}} -> (%h
