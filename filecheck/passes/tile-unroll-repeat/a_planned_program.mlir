// RUN: tile-opt --print-layouts=full --machine t16 %s -p "tile-plan-layouts{search=off},tile-unroll-repeat" | filecheck %s
// RUN: tile-opt --print-layouts=full --machine t16 %s -p "tile-plan-layouts{search=off},tile-unroll-repeat,tile-compile" | filecheck --check-prefix=PROGRAM %s

// The body is planned with the layout of the carried value: every iteration gets it by a conversion, as the repeat
// would bring it there. Values of different iterations have different names.
// CHECK: func.func @main
// CHECK-NOT: tile_repeat.repeat
// CHECK: %p = tile_tensor.matmul %x0, {{.*}}tile.value = "layers.p"
// CHECK: %t = tile_tensor.tanh %p
// CHECK: %[[NEXT:[0-9]+]] = tile_layout.convert %t : {{.*}} -> tensor<8x16xf16, #tile_layout.at<"[128/16@1] %16", "[8a*16, 16a]">>
// CHECK: tile_tensor.matmul %[[NEXT]], {{.*}}tile.value = "layers.p_2"
// CHECK: %y = tile_layout.convert
// CHECK: %trace = tile_repeat.pack
// CHECK: func.return %y, %{{.*}}, %trace
// PROGRAM: tile_asm.program "main" machine "t16"
func.func @main(%x0: tensor<8x16xf16> {tile_tensor.input = "x"}, %i0: tensor<1xi32> {tile_tensor.input = "i"},
    %ws: !tile_repeat.sequence<2 x tensor<16x16xf16>> {tile_tensor.parameter = ["w0", "w1"]})
    -> (tensor<8x16xf16> {tile_tensor.output = "y"}, tensor<1xi32> {tile_tensor.output = "n"},
        !tile_repeat.sequence<2 x tensor<8x16xf16>> {tile_tensor.output = "trace"}) {
  %one = tile_tensor.constant dense<1> : tensor<1xi32>
  %y, %n, %trace = tile_repeat.repeat "layers" count 2
    carried(%x = %x0 : tensor<8x16xf16>, %i = %i0 : tensor<1xi32>)
    invariant(%c = %one : tensor<1xi32>)
    iterated(%w = %ws : !tile_repeat.sequence<2 x tensor<16x16xf16>>)
    -> (tensor<8x16xf16>, tensor<1xi32>, !tile_repeat.sequence<2 x tensor<8x16xf16>>) {
    %p = tile_tensor.matmul %x, %w : (tensor<8x16xf16>, tensor<16x16xf16>) -> tensor<8x16xf16>
    %t = tile_tensor.tanh %p : (tensor<8x16xf16>) -> tensor<8x16xf16>
    %i1 = tile_tensor.add %i, %c : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    tile_repeat.yield %t, %i1 : tensor<8x16xf16>, tensor<1xi32> collect %p : tensor<8x16xf16>
  }
  func.return %y, %n, %trace : tensor<8x16xf16>, tensor<1xi32>, !tile_repeat.sequence<2 x tensor<8x16xf16>>
}
