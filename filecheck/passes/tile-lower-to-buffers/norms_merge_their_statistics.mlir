// RUN: tile-opt %s --machine t16 -p tile-plan-layouts,tile-lower-to-buffers | filecheck %s

func.func @norm(%x: tensor<48x192xf16> {tile_tensor.input = "x"}) -> (tensor<48x192xf16> {tile_tensor.output = "out"}) {
  %out = tile_tensor.layer_norm %x epsilon 1.0e-05 : (tensor<48x192xf16>) -> tensor<48x192xf16>
  func.return %out : tensor<48x192xf16>
}
// CHECK-LABEL: @norm
// CHECK:       tile.compute "norm.statistics"
// CHECK-NOT:   "norm.merge"
// CHECK:       tile.compute "norm.merge_mix" {{.*}} axes "p r c"
