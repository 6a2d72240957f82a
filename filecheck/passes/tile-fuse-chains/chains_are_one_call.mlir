// RUN: tile-opt %s --split-input-file --machine t4 -p tile-plan-layouts,tile-lower-to-buffers,tile-merge-phases,tile-fuse-chains | filecheck %s

// Rotary positions: two products and their sum, in either order.

func.func @rotary(%x: tensor<8x32xf16> {tile_tensor.input = "x"}, %y: tensor<8x32xf16> {tile_tensor.input = "y"},
  %cos: tensor<8x32xf16> {tile_tensor.parameter = "cos"}, %sin: tensor<8x32xf16> {tile_tensor.parameter = "sin"})
  -> (tensor<8x32xf16> {tile_tensor.output = "out"}) {
  %a = tile_tensor.mul %x, %cos : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  %b = tile_tensor.mul %y, %sin : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  %out = tile_tensor.add %a, %b : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  func.return %out : tensor<8x32xf16>
}
// CHECK-LABEL: @rotary
// CHECK-NOT:   "a.result"
// CHECK-NOT:   pointwise
// CHECK:       tile.compute "chain.mul_mul_add"
// CHECK-NOT:   pointwise

// -----

// A product that is added to something else, which stands first.

func.func @scaled(%x: tensor<8x32xf32> {tile_tensor.input = "x"}, %y: tensor<8x32xf32> {tile_tensor.input = "y"},
  %s: tensor<32xf32> {tile_tensor.parameter = "s"}) -> (tensor<8x32xf32> {tile_tensor.output = "out"}) {
  %a = tile_tensor.mul %x, %s : (tensor<8x32xf32>, tensor<32xf32>) -> tensor<8x32xf32>
  %out = tile_tensor.add %y, %a : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  func.return %out : tensor<8x32xf32>
}
// CHECK-LABEL: @scaled
// CHECK:       tile.compute "chain.mul_add" (%{{.*}}, %{{.*}}, %{{.*}}) -> (%{{.*}}) {{.*}} for "out: add"

// -----

func.func @gated(%x: tensor<8x32xf16> {tile_tensor.input = "x"}, %y: tensor<8x32xf16> {tile_tensor.input = "y"})
  -> (tensor<8x32xf16> {tile_tensor.output = "out"}) {
  %a = tile_tensor.silu %x : (tensor<8x32xf16>) -> tensor<8x32xf16>
  %out = tile_tensor.mul %y, %a : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  func.return %out : tensor<8x32xf16>
}
// CHECK-LABEL: @gated
// CHECK:       tile.compute "chain.silu_mul"
