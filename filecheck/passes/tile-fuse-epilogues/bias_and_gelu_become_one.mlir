// RUN: tile-opt --print-layouts=full %s -p tile-fuse-epilogues | filecheck %s
// RUN: tile-opt --print-layouts=full %s -p tile-fuse-epilogues --print-debuginfo | filecheck %s --check-prefix=PLACE

// A sum with a vector whose only reader is a gelu: one operation, in either order of the operands, where the gelu stood.

func.func @vector_right(%x: tensor<8x16xf16>, %b: tensor<16xf16>) -> tensor<8x16xf16> {
  %s = tile_tensor.add %x, %b : (tensor<8x16xf16>, tensor<16xf16>) -> tensor<8x16xf16>
  %y = tile_tensor.gelu %s approximate tanh : (tensor<8x16xf16>) -> tensor<8x16xf16>
  func.return %y : tensor<8x16xf16>
}
func.func @vector_left(%x: tensor<8x16xf16>, %b: tensor<16xf16>) -> tensor<8x16xf16> {
  %s = tile_tensor.add %b, %x : (tensor<16xf16>, tensor<8x16xf16>) -> tensor<8x16xf16>
  %y = tile_tensor.gelu %s approximate tanh : (tensor<8x16xf16>) -> tensor<8x16xf16>
  func.return %y : tensor<8x16xf16>
}

// CHECK-LABEL: @vector_right(%x: tensor<8x16xf16>, %b: tensor<16xf16>)
// CHECK-NEXT:    %[[Y:[a-z0-9_]+]] = tile_tensor.bias_gelu %x, %b : (tensor<8x16xf16>, tensor<16xf16>) -> tensor<8x16xf16>
// CHECK-NEXT:    func.return %[[Y]]
// CHECK-LABEL: @vector_left(%x: tensor<8x16xf16>, %b: tensor<16xf16>)
// CHECK-NEXT:    %[[Y:[a-z0-9_]+]] = tile_tensor.bias_gelu %x, %b : (tensor<8x16xf16>, tensor<16xf16>) -> tensor<8x16xf16>
// CHECK-NEXT:    func.return %[[Y]]

// PLACE: tile_tensor.bias_gelu {{.*}}loc("{{.*}}bias_and_gelu_become_one.mlir":8:
