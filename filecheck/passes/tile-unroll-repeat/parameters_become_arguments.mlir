// RUN: tile-opt --print-layouts=full %s -p tile-unroll-repeat | filecheck %s

func.func @main(
    %x0: tensor<4x4xf16>,
    %ws: !tile_repeat.sequence<2 x tensor<4x4xf16>> {tile_tensor.parameter = ["w.0", "w.1"], tile_tensor.scale = -2 : i32},
    %mask: tensor<4x4xf16>
) -> tensor<4x4xf16> {
  %y = tile_repeat.repeat "layers" count 2 carried(%x = %x0 : tensor<4x4xf16>) invariant(%m = %mask : tensor<4x4xf16>) iterated(%w = %ws : !tile_repeat.sequence<2 x tensor<4x4xf16>>) -> (tensor<4x4xf16>) {
    %a = tile_tensor.matmul %x, %w : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
    %b = tile_tensor.add %a, %m : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
    tile_repeat.yield %b : tensor<4x4xf16>
  }
  func.return %y : tensor<4x4xf16>
}

// CHECK:      func.func @main([[X0:%.*]]: tensor<4x4xf16>, [[W0:%.*]]: tensor<4x4xf16> {tile_tensor.parameter = "w.0", tile_tensor.scale = -2 : i32}, [[W1:%.*]]: tensor<4x4xf16> {tile_tensor.parameter = "w.1", tile_tensor.scale = -2 : i32}, [[M:%.*]]: tensor<4x4xf16> {tile_tensor.input = "arg2"}) -> tensor<4x4xf16> {
// CHECK-NEXT:   [[A0:%.*]] = tile_tensor.matmul [[X0]], [[W0]]
// CHECK-NEXT:   [[B0:%.*]] = tile_tensor.add [[A0]], [[M]]
// CHECK-NEXT:   [[A1:%.*]] = tile_tensor.matmul [[B0]], [[W1]]
// CHECK-NEXT:   [[B1:%.*]] = tile_tensor.add [[A1]], [[M]]
// CHECK-NEXT:   func.return [[B1]] : tensor<4x4xf16>
