// RUN: tile-opt --print-layouts=full %s -p "tile-plan-layouts{search=off}" | filecheck %s

// The carried value has one layout: outside, as the argument of the body, and as the result. Members of a sequence lie
// as the sequence does. Operators in a repeat are called after it.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x0: tensor<8x16xf16> {tile_tensor.input = "x"}, %ws: !tile_repeat.sequence<3 x tensor<16x16xf16>> {tile_tensor.parameter = ["w0", "w1", "w2"]}) -> tensor<8x16xf16> {
    %y = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<8x16xf16>) iterated(%w = %ws : !tile_repeat.sequence<3 x tensor<16x16xf16>>) -> (tensor<8x16xf16>) {
      %m = tile_tensor.matmul %x, %w : (tensor<8x16xf16>, tensor<16x16xf16>) -> tensor<8x16xf16>
      tile_repeat.yield %m : tensor<8x16xf16>
    }
    func.return %y : tensor<8x16xf16>
  }
}

// CHECK:      %ws: !tile_repeat.sequence<3 x tensor<16x16xf16, #tile_layout.at<[[W:"[^>]*"]]>>>
// CHECK:      %y = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<8x16xf16, #tile_layout.at<[[X:"[^>]*"]]>>) iterated(%w = %ws : !tile_repeat.sequence<3 x tensor<16x16xf16, #tile_layout.at<[[W]]>>>) -> (tensor<8x16xf16, #tile_layout.at<[[X]]>>) {
// CHECK-NEXT:   %m = tile_tensor.matmul %x, %w {{.*}}tile.value = "layers.m"{{.*}} : (tensor<8x16xf16, #tile_layout.at<[[X]]>>, tensor<16x16xf16, #tile_layout.at<[[W]]>>) -> tensor<8x16xf16, #tile_layout.at<[[M:"[^>]*"]]>>
// CHECK-NEXT:   tile_repeat.yield %m : tensor<8x16xf16, #tile_layout.at<[[M]]>>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %y : tensor<8x16xf16, #tile_layout.at<[[X]]>>
