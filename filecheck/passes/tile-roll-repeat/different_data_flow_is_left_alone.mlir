// RUN: tile-opt %s -p tile-roll-repeat | filecheck %s

func.func @main(%x0: tensor<4xf16>, %x1: tensor<4xf16>) -> tensor<4xf16> {
  %a0 = tile_tensor.sub %x0, %x1 : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %b0 = tile_tensor.neg %a0 : (tensor<4xf16>) -> tensor<4xf16>
  %a1 = tile_tensor.sub %x1, %b0 : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %b1 = tile_tensor.neg %a1 : (tensor<4xf16>) -> tensor<4xf16>
  func.return %b1 : tensor<4xf16>
}

// CHECK-NOT: tile_repeat
// CHECK: func.return
