// RUN: tile-opt %s -p tile-quantize --inputs %S/Inputs/sample.safetensors | filecheck %s

// Nothing here is a product of an activation and a parameter: the program need not even have a reference.
func.func @main(%x: tensor<2x2xf16> {tile_tensor.input = "x"}) -> tensor<2x2xf16> {
  %s = tile_tensor.square %x : (tensor<2x2xf16>) -> tensor<2x2xf16>
  %y = tile_tensor.matmul %s, %s : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  func.return %y : tensor<2x2xf16>
}

// CHECK-NOT: cast
// CHECK: %y = tile_tensor.matmul %s, %s : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
