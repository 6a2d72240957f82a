// RUN: tile-opt --print-layouts=full %s -p tile-quantize --inputs %S/Inputs/sample.safetensors | filecheck %s

// The product of the input stays; the parameter of the second one is stored in FP8; the scales are off again in the product.
// The first product reaches 7 * 2, the parameter 1: 14 * 2^4 and 1 * 2^7 are at most 240.
func.func @main(
  %x: tensor<2x2xf16> {tile_tensor.input = "x"},
  %first: tensor<2x2xf16> {tile_tensor.parameter = "first"},
  %w: tensor<2x2xf16> {tile_tensor.parameter = "w"}
) -> tensor<2x2xf16> {
  %embedded = tile_tensor.matmul %x, %first accumulate f32 : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  %y = tile_tensor.matmul %embedded, %w accumulate f32 : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  func.return %y : tensor<2x2xf16>
}

// CHECK: %w: tensor<2x2xf8E4M3FNUZ> {tile_tensor.parameter = "w", tile_tensor.scale = -7 : i32}
// CHECK: %embedded = tile_tensor.matmul %x, %first accumulate f32 : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
// CHECK-NEXT: [[LEFT:%.*]] = tile_tensor.cast %embedded scale -4 : (tensor<2x2xf16>) -> tensor<2x2xf8E4M3FNUZ>
// CHECK-NEXT: %y = tile_tensor.matmul [[LEFT]], %w accumulate f16 scale -11 : (tensor<2x2xf8E4M3FNUZ>, tensor<2x2xf8E4M3FNUZ>) -> tensor<2x2xf16>
