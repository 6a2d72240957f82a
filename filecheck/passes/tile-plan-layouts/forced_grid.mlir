// RUN: tile-opt --print-layouts=full %s -p tile-plan-layouts | filecheck %s

// A plan on the operation decides its layouts: two row blocks by two parts of the contraction on four tiles. The
// operator's name is that of its result; every value has a layout, and so has the function's type.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x: tensor<8x32xf16> {tile_tensor.input = "x"}, %w: tensor<32x16xf16> {tile_tensor.parameter = "w"}) -> tensor<8x16xf16> {
    %y = tile_tensor.matmul %x, %w {plan = {grid = array<i64: 1, 2, 1, 2>}} : (tensor<8x32xf16>, tensor<32x16xf16>) -> tensor<8x16xf16>
    func.return %y : tensor<8x16xf16>
  }
}

// CHECK:      builtin.module attributes {tile.machine = "t4"} {
// CHECK-NEXT:   func.func @main(%[[X:x]]: tensor<8x32xf16, #tile_layout.at<[[XAT:"[^>]*"]]>> {tile_tensor.input = "x"}, %[[W:w]]: tensor<32x16xf16, #tile_layout.at<[[WAT:"[^>]*"]]>> {tile_tensor.parameter = "w"}) -> tensor<8x16xf16, #tile_layout.at<[[YAT:"[^>]*"]]>> {
// CHECK-NEXT:     %[[Y:y]] = tile_tensor.matmul %[[X]], %[[W]] {plan = {strategy = "grid", grid = array<i64: 1, 2, 1, 2>, swap = false, share = 1 : i64{{.*}}}, tile.value = "y"}
// CHECK-SAME:       : (tensor<8x32xf16, #tile_layout.at<[[XAT]]>>, tensor<32x16xf16, #tile_layout.at<[[WAT]]>>) -> tensor<8x16xf16, #tile_layout.at<[[YAT]]>>
// CHECK-NEXT:     func.return %[[Y]] : tensor<8x16xf16, #tile_layout.at<[[YAT]]>>
