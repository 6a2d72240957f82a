// RUN: tile-opt %s -p tile-lower-to-buffers --machine t4
#layout0 = #tile_layout.at<"[32/16@1] %4", "[4a*8, 8a]">
#layout1 = #tile_layout.at<"[6/3@2, 8/4@1] %4">
#layout2 = #tile_layout.at<"[1/8@1] %4">
#layout3 = #tile_layout.at<"[1/1@4, 8/16@2|16, 8/16@2|16] a.b0.c0.b1.c1 %4", "[8b, 8c]">
#layout4 = #tile_layout.at<"[1/1@4, 4/2@2/1@1, 8] %4", "[4b, 8c]">
#layout5 = #tile_layout.at<"[4/2@2, 8/4@1] %4">
#layout6 = #tile_layout.at<"[1/1@4, 4/2@2/1@1, 8/16@2|16] a.c0.b.c1 %4", "[4b, 8c]">
builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x0: tensor<4x8xf16, #layout0>, %t: tensor<6x8xf16, #layout1> {tile_tensor.parameter = "t"}, %i: tensor<4xi32, #layout2>, %ws:
      !tile_repeat.sequence<2 x tensor<8x8xf16, #layout3>> {tile_tensor.parameter = ["w0", "w1"]}) -> (tensor<4x8xf16, #layout0>, !tile_repeat.sequence<2 x
      tensor<4x8xf16, #layout4>>) {
    %r = tile_tensor.gather %t, %i {tile.value = "r", plan = {strategy = "grid", grid = array<i64: 2, 2>}} : (tensor<6x8xf16, #layout1>, tensor<4xi32,
        #layout2>) -> tensor<4x8xf16, #layout5>
    %y, %c = tile_repeat.repeat "layers" count 2 carried(%x = %x0 : tensor<4x8xf16, #layout0>) invariant(%b = %r : tensor<4x8xf16, #layout5>) iterated(%w = %ws
        : !tile_repeat.sequence<2 x tensor<8x8xf16, #layout3>>) -> (tensor<4x8xf16, #layout0>, !tile_repeat.sequence<2 x tensor<4x8xf16, #layout4>>) {
      %m = tile_tensor.matmul %x, %w transpose_b {tile.value = "layers.m", plan = {strategy = "grid", grid = array<i64: 1, 4, 1, 1>, swap = false, share = 1 :
          i64, base = 0 : i64, batch = 1 : i64, word = 0 : i64, target = "parts", filler = false, group = 0 : i64, inner = 0 : i64}} : (tensor<4x8xf16,
          #layout0>, tensor<8x8xf16, #layout3>) -> tensor<4x8xf16, #layout6>
      %h = tile_tensor.attention %m, %b, %x scale 2.500000e-01 {tile.value = "layers.h", plan = {strategy = "own_keys", grid = array<i64: 1, 4, 1>, group = 0 :
          i64, ones = true}} : (tensor<4x8xf16, #layout6>, tensor<4x8xf16, #layout5>, tensor<4x8xf16, #layout0>) -> tensor<4x8xf16, #layout4>
      %s = tile_tensor.add %h, %b {tile.value = "layers.s", plan = {strategy = "leader", leader = 0 : i64}} : (tensor<4x8xf16, #layout4>, tensor<4x8xf16,
          #layout5>) -> tensor<4x8xf16, #layout4>
      %z = tile_tensor.gelu %s approximate tanh {tile.value = "layers.z", plan = {strategy = "leader", leader = 0 : i64}} : (tensor<4x8xf16, #layout4>) ->
          tensor<4x8xf16, #layout4>
      tile_repeat.yield %z : tensor<4x8xf16, #layout4> collect %h : tensor<4x8xf16, #layout4>
    }
    func.return %y, %c : tensor<4x8xf16, #layout0>, !tile_repeat.sequence<2 x tensor<4x8xf16, #layout4>>
  }
}
