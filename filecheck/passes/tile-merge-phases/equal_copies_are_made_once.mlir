// RUN: tile-opt --print-layouts=full --machine t4 %s -p "tile-plan-layouts,tile-lower-to-buffers,tile-merge-phases" | filecheck %s

// Three operators take pieces that cut words of one tensor: their moves are one phase, and one widened copy serves
// all of them.
// CHECK-COUNT-1: tile.compute "widen"
// CHECK-NOT: tile.compute "widen"
// CHECK: tile.exchange "a: pad | b: pad | c: pad" (%words {{.*}}, %words {{.*}}, %words {{.*}})
// CHECK-NOT: tile.compute "widen"
func.func @pads(%x: tensor<9x5xf16>) -> (tensor<3x6xf16>, tensor<3x6xf16>, tensor<3x6xf16>) {
  %0 = tile_tensor.slice %x offsets [6, 0] sizes [3, 5] : (tensor<9x5xf16>) -> tensor<3x5xf16>
  %1 = tile_tensor.slice %x offsets [3, 0] sizes [3, 5] : (tensor<9x5xf16>) -> tensor<3x5xf16>
  %2 = tile_tensor.slice %x offsets [0, 0] sizes [3, 5] : (tensor<9x5xf16>) -> tensor<3x5xf16>
  %a = tile_tensor.pad %0 low [0, 1] high [0, 0] : (tensor<3x5xf16>) -> tensor<3x6xf16>
  %b = tile_tensor.pad %1 low [0, 1] high [0, 0] : (tensor<3x5xf16>) -> tensor<3x6xf16>
  %c = tile_tensor.pad %2 low [0, 1] high [0, 0] : (tensor<3x5xf16>) -> tensor<3x6xf16>
  func.return %a, %b, %c : tensor<3x6xf16>, tensor<3x6xf16>, tensor<3x6xf16>
}
