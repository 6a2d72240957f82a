// RUN: tile-opt --print-layouts=full %s -p tile-unroll-repeat,tile-roll-repeat | filecheck %s

func.func @main(%x0: tensor<4x4xf16>, %ws: !tile_repeat.sequence<3 x tensor<4x4xf16>> {tile_tensor.parameter = ["a", "b", "c"]}) -> tensor<4x4xf16> {
  %s = tile_tensor.exp %x0 : (tensor<4x4xf16>) -> tensor<4x4xf16>
  %y = tile_repeat.repeat "layers" count 3 carried(%x = %s : tensor<4x4xf16>) iterated(%w = %ws : !tile_repeat.sequence<3 x tensor<4x4xf16>>) -> (tensor<4x4xf16>) {
    %p = tile_tensor.matmul %x, %w : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
    %n = tile_tensor.neg %p : (tensor<4x4xf16>) -> tensor<4x4xf16>
    tile_repeat.yield %n : tensor<4x4xf16>
  }
  func.return %y : tensor<4x4xf16>
}

// CHECK:      [[S:%.*]] = tile_tensor.exp
// CHECK-NEXT: tile_repeat.repeat "repeat0" count 3 carried([[X:%.*]] = [[S]] : tensor<4x4xf16>) iterated([[W:%.*]] = %{{.*}} : !tile_repeat.sequence<3 x tensor<4x4xf16>>)
// CHECK-NEXT:   [[P:%.*]] = tile_tensor.matmul [[X]], [[W]]
// CHECK-NEXT:   [[N:%.*]] = tile_tensor.neg [[P]]
// CHECK-NEXT:   tile_repeat.yield [[N]]
