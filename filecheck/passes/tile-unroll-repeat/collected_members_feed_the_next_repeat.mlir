// RUN: tile-opt %s -p tile-unroll-repeat | filecheck %s

func.func @main(%x0: tensor<4xf16>) -> tensor<4xf16> {
  %y, %c = tile_repeat.repeat "first" count 2 carried(%x = %x0 : tensor<4xf16>) -> (tensor<4xf16>, !tile_repeat.sequence<2 x tensor<4xf16>>) {
    %a = tile_tensor.exp %x : (tensor<4xf16>) -> tensor<4xf16>
    tile_repeat.yield %a : tensor<4xf16> collect %a : tensor<4xf16>
  }
  %z = tile_repeat.repeat "second" count 2 carried(%x = %y : tensor<4xf16>) iterated(%m = %c : !tile_repeat.sequence<2 x tensor<4xf16>>) -> (tensor<4xf16>) {
    %a = tile_tensor.sub %x, %m : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
    tile_repeat.yield %a : tensor<4xf16>
  }
  func.return %z : tensor<4xf16>
}

// CHECK:      func.func @main([[X0:%.*]]: tensor<4xf16>)
// CHECK-NEXT:   [[E0:%.*]] = tile_tensor.exp [[X0]]
// CHECK-NEXT:   [[E1:%.*]] = tile_tensor.exp [[E0]]
// CHECK-NEXT:   [[S0:%.*]] = tile_tensor.sub [[E1]], [[E0]]
// CHECK-NEXT:   [[S1:%.*]] = tile_tensor.sub [[S0]], [[E1]]
// CHECK-NEXT:   func.return [[S1]]
