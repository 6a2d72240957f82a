// RUN: tile-opt %s --split-input-file --machine t4 -p tile-plan-layouts,tile-lower-to-buffers,tile-merge-phases,tile-fuse-stores | filecheck %s

func.func @cast(%x: tensor<8x32xf16> {tile_tensor.input = "x"}) -> (tensor<8x32xf8E4M3FNUZ> {tile_tensor.output = "out"}) {
  %a = tile_tensor.exp %x : (tensor<8x32xf16>) -> tensor<8x32xf16>
  %out = tile_tensor.cast %a scale -2 : (tensor<8x32xf16>) -> tensor<8x32xf8E4M3FNUZ>
  func.return %out : tensor<8x32xf8E4M3FNUZ>
}
// CHECK-LABEL: @cast
// CHECK-NOT:   "a.result"
// CHECK:       tile.compute "pointwise.exp" {{.*}}cast_scale = -2 : i64, cast_saturate = 1 : i64
// CHECK-NOT:   "cast"

// -----

// What is an output as well has to be stored.

func.func @read_twice(%x: tensor<8x32xf16> {tile_tensor.input = "x"})
  -> (tensor<8x32xf8E4M3FNUZ> {tile_tensor.output = "out"}, tensor<8x32xf16> {tile_tensor.output = "wide"}) {
  %a = tile_tensor.exp %x : (tensor<8x32xf16>) -> tensor<8x32xf16>
  %out = tile_tensor.cast %a : (tensor<8x32xf16>) -> tensor<8x32xf8E4M3FNUZ>
  func.return %out, %a : tensor<8x32xf8E4M3FNUZ>, tensor<8x32xf16>
}
// CHECK-LABEL: @read_twice
// CHECK-NOT:   cast_scale
// CHECK:       tile.compute "cast"
