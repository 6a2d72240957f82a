// RUN: tile-opt --print-layouts=full %s -p tile-roll-repeat | filecheck %s

func.func @main(%x0: tensor<4x4xf16>, %a: tensor<4x4xf16> {tile_tensor.parameter = "w.0", tile_tensor.scale = -2 : i32}, %m: tensor<4x4xf16>, %b: tensor<4x4xf16> {tile_tensor.parameter = "w.1", tile_tensor.scale = -2 : i32}) -> tensor<4x4xf16> {
  %p0 = tile_tensor.matmul %x0, %a : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %y0 = tile_tensor.add %p0, %m : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %p1 = tile_tensor.matmul %y0, %b : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %y1 = tile_tensor.add %p1, %m : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  func.return %y1 : tensor<4x4xf16>
}

// CHECK:      func.func @main([[X0:%.*]]: tensor<4x4xf16> {tile_tensor.input = "arg0"}, [[WS:%.*]]: !tile_repeat.sequence<2 x tensor<4x4xf16>> {tile_tensor.parameter = ["w.0", "w.1"], tile_tensor.scale = -2 : i32}, [[M0:%.*]]: tensor<4x4xf16> {tile_tensor.input = "arg2"}) -> tensor<4x4xf16> {
// CHECK-NEXT:   [[Y:%.*]] = tile_repeat.repeat "repeat0" count 2 carried([[X:%.*]] = [[X0]] : tensor<4x4xf16>) invariant([[M:%.*]] = [[M0]] : tensor<4x4xf16>) iterated([[W:%.*]] = [[WS]] : !tile_repeat.sequence<2 x tensor<4x4xf16>>) -> (tensor<4x4xf16>) {
// CHECK-NEXT:     [[P:%.*]] = tile_tensor.matmul [[X]], [[W]]
// CHECK-NEXT:     [[N:%.*]] = tile_tensor.add [[P]], [[M]]
// CHECK-NEXT:     tile_repeat.yield [[N]]
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return [[Y]]
