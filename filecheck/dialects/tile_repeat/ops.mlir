// RUN: TILE_ROUNDTRIP
// RUN: TILE_GENERIC_ROUNDTRIP

func.func @main(
    %x0: tensor<4x4xf16>,
    %mask: tensor<4x4xf16>,
    %ws: !tile_repeat.sequence<3 x tensor<4x4xf16>> {tile_tensor.parameter = ["w.0", "w.1", "w.2"]}
) -> (tensor<4x4xf16>, !tile_repeat.sequence<3 x tensor<4x4xf16>>) {
  %y, %trace = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<4x4xf16>) invariant(%m = %mask : tensor<4x4xf16>) iterated(%w = %ws : !tile_repeat.sequence<3 x tensor<4x4xf16>>) -> (tensor<4x4xf16>, !tile_repeat.sequence<3 x tensor<4x4xf16>>) {
    %a = tile_tensor.add %x, %m : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
    %b = tile_tensor.matmul %a, %w : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
    tile_repeat.yield %b : tensor<4x4xf16> collect %a : tensor<4x4xf16>
  }
  func.return %y, %trace : tensor<4x4xf16>, !tile_repeat.sequence<3 x tensor<4x4xf16>>
}

// CHECK:      func.func @main(%x0: tensor<4x4xf16>, %mask: tensor<4x4xf16>, %ws: !tile_repeat.sequence<3 x tensor<4x4xf16>> {tile_tensor.parameter = ["w.0", "w.1", "w.2"]}) -> (tensor<4x4xf16>, !tile_repeat.sequence<3 x tensor<4x4xf16>>) {
// CHECK-NEXT:   %y, %trace = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<4x4xf16>) invariant(%m = %mask : tensor<4x4xf16>) iterated(%w = %ws : !tile_repeat.sequence<3 x tensor<4x4xf16>>) -> (tensor<4x4xf16>, !tile_repeat.sequence<3 x tensor<4x4xf16>>) {
// CHECK-NEXT:     %a = tile_tensor.add %x, %m : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK-NEXT:     %b = tile_tensor.matmul %a, %w : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK-NEXT:     tile_repeat.yield %b : tensor<4x4xf16> collect %a : tensor<4x4xf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return %y, %trace : tensor<4x4xf16>, !tile_repeat.sequence<3 x tensor<4x4xf16>>

// CHECK-GENERIC:      "tile_repeat.repeat"(%x0, %mask, %ws) <{repeat_name = "layers", count = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 1>}> ({
// CHECK-GENERIC-NEXT: ^bb0(%x: tensor<4x4xf16>, %m: tensor<4x4xf16>, %w: tensor<4x4xf16>):

func.func @count_zero_and_nothing_carried() {
  tile_repeat.repeat "empty" count 0 attributes {note = "nothing to do"} {
  }
  func.return
}

// CHECK:      tile_repeat.repeat "empty" count 0 attributes {note = "nothing to do"} {
// CHECK-NEXT:   tile_repeat.yield
// CHECK-NEXT: }

func.func @nested(%ws: !tile_repeat.sequence<2 x !tile_repeat.sequence<3 x tensor<8xf16>>>, %x0: tensor<8xf16>) -> tensor<8xf16> {
  %y = tile_repeat.repeat "outer" count 2 carried(%x = %x0 : tensor<8xf16>) iterated(%w = %ws : !tile_repeat.sequence<2 x !tile_repeat.sequence<3 x tensor<8xf16>>>) -> (tensor<8xf16>) {
    %z = tile_repeat.repeat "inner" count 3 carried(%s = %x : tensor<8xf16>) iterated(%v = %w : !tile_repeat.sequence<3 x tensor<8xf16>>) -> (tensor<8xf16>) {
      %t = tile_tensor.add %s, %v : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
      tile_repeat.yield %t : tensor<8xf16>
    }
    tile_repeat.yield %z : tensor<8xf16>
  }
  func.return %y : tensor<8xf16>
}

// CHECK:      tile_repeat.repeat "outer" count 2 carried(%x = %x0 : tensor<8xf16>) iterated(%w = %ws : !tile_repeat.sequence<2 x !tile_repeat.sequence<3 x tensor<8xf16>>>) -> (tensor<8xf16>) {
// CHECK-NEXT:   tile_repeat.repeat "inner" count 3 carried(%s = %x : tensor<8xf16>) iterated(%v = %w : !tile_repeat.sequence<3 x tensor<8xf16>>) -> (tensor<8xf16>) {

func.func @sequences(%a: tensor<8xf16>) -> tensor<8xf16> {
  %p = tile_repeat.pack %a, %a : !tile_repeat.sequence<2 x tensor<8xf16>>
  %none = tile_repeat.pack : !tile_repeat.sequence<0 x tensor<8xf16>>
  %m = tile_repeat.member %p[1] : !tile_repeat.sequence<2 x tensor<8xf16>>
  func.return %m : tensor<8xf16>
}

// CHECK:      %p = tile_repeat.pack %a, %a : !tile_repeat.sequence<2 x tensor<8xf16>>
// CHECK-NEXT: %none = tile_repeat.pack : !tile_repeat.sequence<0 x tensor<8xf16>>
// CHECK-NEXT: %m = tile_repeat.member %p[1] : !tile_repeat.sequence<2 x tensor<8xf16>>
