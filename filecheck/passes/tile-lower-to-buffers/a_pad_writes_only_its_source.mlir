// RUN: tile-opt --split-input-file --machine t4 %s -p "tile-plan-layouts,tile-lower-to-buffers" | filecheck %s

// The slice is a view of x. Padded back to the shape of x it is seen at the same places of the same storage, but
// a copy along storage axes would bring the last column along.
// CHECK-LABEL: func.func @back_to_the_shape
// CHECK-NOT: reorder
// CHECK: tile.compute "fill" () -> (%wide "flat") {{.*}}for "y: pad: what no source writes"
// CHECK: tile.exchange "y: pad" (%words "[4a*8, 7a]" -> %wide "[4a*8, 7a]")
// CHECK-NOT: reorder
func.func @back_to_the_shape(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %s = tile_tensor.slice %x offsets [0, 0] sizes [4, 7] : (tensor<4x8xf16>) -> tensor<4x7xf16>
  %y = tile_tensor.pad %s low [0, 0] high [0, 1] : (tensor<4x7xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// -----

// The sum of a slice keeps its storage, one lane longer. The lane does not complete the last word of the move:
// that would write the padding.
// CHECK-LABEL: func.func @last_word
// CHECK: tile.compute "fill" () -> (%wide "flat") axes "n" scalars {value = 15872 : i64}
// CHECK: tile.exchange "y: pad" (%words "[1]{{.*}}" -> %wide "[1]{{.*}}")
func.func @last_word(%x: tensor<2xf16>) -> tensor<2xf16> {
  %s = tile_tensor.slice %x offsets [0] sizes [1] : (tensor<2xf16>) -> tensor<1xf16>
  %e = tile_tensor.add %s, %s : (tensor<1xf16>, tensor<1xf16>) -> tensor<1xf16>
  %y = tile_tensor.pad %e low [0] high [1] value 1.5 : (tensor<1xf16>) -> tensor<2xf16>
  func.return %y : tensor<2xf16>
}
