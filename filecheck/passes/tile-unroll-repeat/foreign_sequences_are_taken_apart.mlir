// RUN: tile-opt %s -p tile-unroll-repeat --allow-unregistered-dialect | filecheck %s

func.func @main(%x0: tensor<4xf16>, %in: !tile_repeat.sequence<2 x tensor<4xf16>>) -> tensor<4xf16> {
  %f = "other.read"() : () -> !tile_repeat.sequence<2 x tensor<4xf16>>
  %y = tile_repeat.repeat "layers" count 2 carried(%x = %x0 : tensor<4xf16>) iterated(%m = %f : !tile_repeat.sequence<2 x tensor<4xf16>>, %n = %in : !tile_repeat.sequence<2 x tensor<4xf16>>) -> (tensor<4xf16>) {
    %a = tile_tensor.sub %x, %m : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
    %b = "other.op"(%a, %n) ({
    ^bb0(%i: tensor<4xf16>):
      "other.yield"(%i) : (tensor<4xf16>) -> ()
    }) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
    tile_repeat.yield %b : tensor<4xf16>
  }
  "other.use"(%f) : (!tile_repeat.sequence<2 x tensor<4xf16>>) -> ()
  func.return %y : tensor<4xf16>
}

// CHECK:      func.func @main([[X0:%.*]]: tensor<4xf16>, [[IN:%.*]]: !tile_repeat.sequence<2 x tensor<4xf16>>)
// CHECK-NEXT:   [[F:%.*]] = "other.read"()
// CHECK-NEXT:   [[F0:%.*]] = tile_repeat.member [[F]][0]
// CHECK-NEXT:   [[F1:%.*]] = tile_repeat.member [[F]][1]
// CHECK-NEXT:   [[N0:%.*]] = tile_repeat.member [[IN]][0]
// CHECK-NEXT:   [[N1:%.*]] = tile_repeat.member [[IN]][1]
// CHECK-NEXT:   [[A0:%.*]] = tile_tensor.sub [[X0]], [[F0]]
// CHECK-NEXT:   [[B0:%.*]] = "other.op"([[A0]], [[N0]]) ({
// CHECK-NEXT:   ^{{.*}}([[I:%.*]]: tensor<4xf16>):
// CHECK-NEXT:     "other.yield"([[I]])
// CHECK-NEXT:   })
// CHECK-NEXT:   [[A1:%.*]] = tile_tensor.sub [[B0]], [[F1]]
// CHECK-NEXT:   [[B1:%.*]] = "other.op"([[A1]], [[N1]]) ({
// CHECK-NEXT:   ^{{.*}}([[J:%.*]]: tensor<4xf16>):
// CHECK-NEXT:     "other.yield"([[J]])
// CHECK-NEXT:   })
// CHECK-NEXT:   "other.use"([[F]])
// CHECK-NEXT:   func.return [[B1]]
