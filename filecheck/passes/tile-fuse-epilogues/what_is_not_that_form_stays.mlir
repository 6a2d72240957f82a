// RUN: tile-opt %s -p tile-fuse-epilogues | filecheck %s

// The exact gelu, a sum that something else reads, a sum of two full tensors, a vector along another axis, and operations
// that a plan names apart: none has the kernel.

func.func @exact(%x: tensor<8x16xf16>, %b: tensor<16xf16>) -> tensor<8x16xf16> {
  %s = tile_tensor.add %x, %b : (tensor<8x16xf16>, tensor<16xf16>) -> tensor<8x16xf16>
  %y = tile_tensor.gelu %s approximate none : (tensor<8x16xf16>) -> tensor<8x16xf16>
  func.return %y : tensor<8x16xf16>
}
func.func @read_twice(%x: tensor<8x16xf16>, %b: tensor<16xf16>) -> (tensor<8x16xf16>, tensor<8x16xf16>) {
  %s = tile_tensor.add %x, %b : (tensor<8x16xf16>, tensor<16xf16>) -> tensor<8x16xf16>
  %y = tile_tensor.gelu %s approximate tanh : (tensor<8x16xf16>) -> tensor<8x16xf16>
  func.return %y, %s : tensor<8x16xf16>, tensor<8x16xf16>
}
func.func @two_tensors(%x: tensor<8x16xf16>, %b: tensor<8x16xf16>) -> tensor<8x16xf16> {
  %s = tile_tensor.add %x, %b : (tensor<8x16xf16>, tensor<8x16xf16>) -> tensor<8x16xf16>
  %y = tile_tensor.gelu %s approximate tanh : (tensor<8x16xf16>) -> tensor<8x16xf16>
  func.return %y : tensor<8x16xf16>
}
func.func @column(%x: tensor<8x16xf16>, %b: tensor<8x1xf16>) -> tensor<8x16xf16> {
  %s = tile_tensor.add %x, %b : (tensor<8x16xf16>, tensor<8x1xf16>) -> tensor<8x16xf16>
  %y = tile_tensor.gelu %s approximate tanh : (tensor<8x16xf16>) -> tensor<8x16xf16>
  func.return %y : tensor<8x16xf16>
}
func.func @planned(%x: tensor<8x16xf16>, %b: tensor<16xf16>) -> tensor<8x16xf16> {
  %s = tile_tensor.add %x, %b {plan = {}} : (tensor<8x16xf16>, tensor<16xf16>) -> tensor<8x16xf16>
  %y = tile_tensor.gelu %s approximate tanh : (tensor<8x16xf16>) -> tensor<8x16xf16>
  func.return %y : tensor<8x16xf16>
}

// CHECK-NOT:   bias_gelu
// CHECK-LABEL: @exact
// CHECK:         tile_tensor.add
// CHECK-NEXT:    tile_tensor.gelu
// CHECK-LABEL: @read_twice
// CHECK:         tile_tensor.add
// CHECK-NEXT:    tile_tensor.gelu
// CHECK-LABEL: @two_tensors
// CHECK:         tile_tensor.add
// CHECK-NEXT:    tile_tensor.gelu
// CHECK-LABEL: @column
// CHECK:         tile_tensor.add
// CHECK-NEXT:    tile_tensor.gelu
// CHECK-LABEL: @planned
// CHECK:         tile_tensor.add
// CHECK-NEXT:    tile_tensor.gelu
