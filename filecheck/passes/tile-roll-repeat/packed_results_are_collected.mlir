// RUN: tile-opt %s -p tile-roll-repeat | filecheck %s

func.func @main(%x0: tensor<4xf16>) -> (tensor<4xf16>, !tile_repeat.sequence<3 x tensor<4xf16>>) {
  %a0 = tile_tensor.exp %x0 : (tensor<4xf16>) -> tensor<4xf16>
  %b0 = tile_tensor.neg %a0 : (tensor<4xf16>) -> tensor<4xf16>
  %a1 = tile_tensor.exp %b0 : (tensor<4xf16>) -> tensor<4xf16>
  %b1 = tile_tensor.neg %a1 : (tensor<4xf16>) -> tensor<4xf16>
  %a2 = tile_tensor.exp %b1 : (tensor<4xf16>) -> tensor<4xf16>
  %b2 = tile_tensor.neg %a2 : (tensor<4xf16>) -> tensor<4xf16>
  %c = tile_repeat.pack %a0, %a1, %a2 : !tile_repeat.sequence<3 x tensor<4xf16>>
  func.return %b2, %c : tensor<4xf16>, !tile_repeat.sequence<3 x tensor<4xf16>>
}

// CHECK:      [[Y:%.*]], [[C:%.*]] = tile_repeat.repeat "repeat0" count 3 carried
// CHECK-NEXT:   [[A:%.*]] = tile_tensor.exp
// CHECK-NEXT:   [[B:%.*]] = tile_tensor.neg [[A]]
// CHECK-NEXT:   tile_repeat.yield [[B]] : tensor<4xf16> collect [[A]] : tensor<4xf16>
// CHECK-NEXT: }
// CHECK-NEXT: func.return [[Y]], [[C]]
