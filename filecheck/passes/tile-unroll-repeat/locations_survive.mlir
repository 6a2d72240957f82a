// RUN: tile-opt --print-layouts=full %s -p tile-unroll-repeat --print-debuginfo | filecheck %s

func.func @main(%x0: tensor<4xf16>, %ws: !tile_repeat.sequence<2 x tensor<4xf16>> {tile_tensor.parameter = ["a", "b"]} loc("weights.py":7:1)) -> tensor<4xf16> {
  %y = tile_repeat.repeat "layers" count 2 carried(%x = %x0 : tensor<4xf16>) iterated(%w = %ws : !tile_repeat.sequence<2 x tensor<4xf16>>) -> (tensor<4xf16>) {
    %a = tile_tensor.add %x, %w : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16> loc("model.py":3:5)
    tile_repeat.yield %a : tensor<4xf16>
  }
  func.return %y : tensor<4xf16>
}

// CHECK: tile_tensor.parameter = "a"} loc("weights.py":7:1)
// CHECK-SAME: tile_tensor.parameter = "b"} loc("weights.py":7:1)
// CHECK: tile_tensor.add {{.*}} loc("model.py":3:5)
// CHECK-NEXT: tile_tensor.add {{.*}} loc("model.py":3:5)
