// RUN: tile-opt --print-layouts=full %s --pass-pipeline='builtin.module(tile-plan-layouts{search=off},tile-lower-to-buffers)' | filecheck %s

// A repeat stays a repeat. Its carried value is one buffer that every iteration updates in place; the sequence of
// weights is one buffer of which each iteration sees its member.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x0: tensor<8x16xf16> {tile_tensor.input = "x"}, %ws: !tile_repeat.sequence<3 x tensor<16x16xf16>> {tile_tensor.parameter = ["w0", "w1", "w2"]}) -> (tensor<8x16xf16> {tile_tensor.output = "y"}) {
    %y = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<8x16xf16>) iterated(%w = %ws : !tile_repeat.sequence<3 x tensor<16x16xf16>>) -> (tensor<8x16xf16>) {
      %m = tile_tensor.matmul %x, %w : (tensor<8x16xf16>, tensor<16x16xf16>) -> tensor<8x16xf16>
      tile_repeat.yield %m : tensor<8x16xf16>
    }
    func.return %y : tensor<8x16xf16>
  }
}

// CHECK:      %[[WS:[a-z0-9_]+]] = tile.alloc "w0" parameters : !tile.buffer<f16, "[[L:.*]]", 3>
// CHECK-NEXT: tile.bind parameter %[[WS]] view "{{.*}}" tensors ["w0", "w1", "w2"] : !tile.buffer<f16, "[[L]]", 3>
// CHECK:      %[[X:[a-z0-9_]+]] = tile.alloc "layers.x" activations : [[XT:!tile.buffer<f16, "[^"]*">]]
// CHECK:      tile.{{compute|exchange}} {{.*}}%[[X]] {{.*}}initial
// CHECK:      tile.repeat "layers" count 3 sequences (%[[W:[a-z0-9_]+]] = %[[WS]] : !tile.buffer<f16, "[[L]]", 3>) {
// CHECK:        tile.exchange "layers.m: matmul operands" ({{.*}}%[[W]] {{.*}}
// CHECK:        tile.compute "gemm.f16.f32"
// CHECK:        tile.bind value %[[M:[a-z0-9_]+]] view {{.*}} tensors ["layers.m"]
// CHECK:        next carried value{{.*}}(%[[M]] "{{.*}}" -> %[[X]] "{{.*}}")
// CHECK-NEXT: }
// CHECK-NEXT: tile.bind output %[[X]] view "{{.*}}" tensors ["y"] : [[XT]]
