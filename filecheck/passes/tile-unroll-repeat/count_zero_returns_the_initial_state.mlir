// RUN: tile-opt %s -p tile-unroll-repeat | filecheck %s

func.func @main(%x0: tensor<4xf16>) -> (tensor<4xf16>, !tile_repeat.sequence<0 x tensor<4xf16>>) {
  %y, %c = tile_repeat.repeat "layers" count 0 carried(%x = %x0 : tensor<4xf16>) -> (tensor<4xf16>, !tile_repeat.sequence<0 x tensor<4xf16>>) {
    %a = tile_tensor.neg %x : (tensor<4xf16>) -> tensor<4xf16>
    tile_repeat.yield %a : tensor<4xf16> collect %x : tensor<4xf16>
  }
  func.return %y, %c : tensor<4xf16>, !tile_repeat.sequence<0 x tensor<4xf16>>
}

// CHECK:      func.func @main([[X0:%.*]]: tensor<4xf16>)
// CHECK-NEXT:   [[C:%.*]] = tile_repeat.pack : !tile_repeat.sequence<0 x tensor<4xf16>>
// CHECK-NEXT:   func.return [[X0]], [[C]]
