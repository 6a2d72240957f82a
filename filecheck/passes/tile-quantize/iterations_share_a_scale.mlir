// RUN: tile-opt --print-layouts=full %s -p tile-quantize --inputs %S/Inputs/sample.safetensors | filecheck %s

// One scale for both members of the parameter, whose largest value is 4, and one for the carried value, which reaches 14 before
// the first iteration and 56 after it: 56 * 2^2 is at most 240.
func.func @main(
  %x: tensor<2x2xf16> {tile_tensor.input = "x"},
  %first: tensor<2x2xf16> {tile_tensor.parameter = "first"},
  %ws: !tile_repeat.sequence<2 x tensor<2x2xf16>> {tile_tensor.parameter = ["w0", "w1"]}
) -> tensor<2x2xf16> {
  %start = tile_tensor.matmul %x, %first : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  %r = tile_repeat.repeat "layers" count 2 carried(%h = %start : tensor<2x2xf16>)
      iterated(%w = %ws : !tile_repeat.sequence<2 x tensor<2x2xf16>>) -> (tensor<2x2xf16>) {
    %next = tile_tensor.matmul %h, %w transpose_b : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
    tile_repeat.yield %next : tensor<2x2xf16>
  }
  func.return %r : tensor<2x2xf16>
}

// CHECK: %ws: !tile_repeat.sequence<2 x tensor<2x2xf8E4M3FNUZ>> {tile_tensor.parameter = ["w0", "w1"], tile_tensor.scale = -5 : i32}
// CHECK: iterated(%w = %ws : !tile_repeat.sequence<2 x tensor<2x2xf8E4M3FNUZ>>)
// CHECK-NEXT: [[LEFT:%.*]] = tile_tensor.cast %h scale -2 : (tensor<2x2xf16>) -> tensor<2x2xf8E4M3FNUZ>
// CHECK-NEXT: %next = tile_tensor.matmul [[LEFT]], %w transpose_b accumulate f16 scale -7 :
