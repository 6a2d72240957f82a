// RUN: tile-opt --print-layouts=full %s --pass-pipeline='builtin.module(tile-plan-layouts,tile-lower-to-buffers)' | filecheck %s

// A product whose contraction is divided: operands go to where they are multiplied, partial sums to the owners of the
// result, who add them in the partials' type. Every buffer is bound before it is used; the function has nothing left
// but buffers.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x: tensor<8x32xf16> {tile_tensor.input = "x"}, %w: tensor<32x16xf16> {tile_tensor.parameter = "w", tile_tensor.scale = -3 : i32}) -> (tensor<8x16xf16> {tile_tensor.output = "y"}) {
    %y = tile_tensor.matmul %x, %w scale -3 {plan = {grid = array<i64: 1, 2, 1, 2>}} : (tensor<8x32xf16>, tensor<32x16xf16>) -> tensor<8x16xf16>
    func.return %y : tensor<8x16xf16>
  }
}

// CHECK:      func.func @main() {
// CHECK-NEXT:   %[[X:[a-z0-9_]+]] = tile.alloc "x" activations : [[XT:!tile.buffer<f16, "[^"]*">]]
// CHECK-NEXT:   tile.bind input %[[X]] view "{{.*}}" tensors ["x"] : [[XT]]
// CHECK-NEXT:   %[[W:[a-z0-9_]+]] = tile.alloc "w" parameters : [[WT:!tile.buffer<f16, "[^"]*">]]
// CHECK-NEXT:   tile.bind parameter %[[W]] view "{{.*}}" tensors ["w"] scale -3 : [[WT]]
// CHECK:        %[[RIGHT:[a-z0-9_]+]] = tile.alloc "y.right" staging : [[RT:!tile.buffer<f16, "[^"]*">]]
// CHECK:        %[[PARTIAL:[a-z0-9_]+]] = tile.alloc "y.partial" partials : [[PT:!tile.buffer<f32, "[^"]*">]]
// CHECK:        %[[ARRIVED:[a-z0-9_]+]] = tile.alloc "y.arrived" partials : [[AT:!tile.buffer<f32, "[^"]*">]]
// CHECK:        %[[Y:[a-z0-9_]+]] = tile.alloc "y.result" activations : [[YT:!tile.buffer<f16, "[^"]*">]]
// CHECK:        tile.exchange "y: matmul operands" ({{.*}}%[[W]] "{{.*}}" -> %[[RIGHT]] "{{.*}}") : {{.*}}[[WT]], [[RT]]
// CHECK:        tile.compute "gemm.f16.f32" (%{{.*}} "b=0 m=1 k=2", %[[RIGHT]] "b=0 n=1 k=2") -> (%[[PARTIAL]] "b=1 m=2 n=3") axes "b m n k" scalars {scale = -3 : i64} for "y: matmul" : {{.*}}, [[RT]], [[PT]]
// CHECK:        tile.exchange "y: matmul partials" (%[[PARTIAL]] "[[V:.*]]" -> %[[ARRIVED]] "[[V]]") : [[PT]], [[AT]]
// CHECK:        tile.compute "reduce_partials.wide" (%[[ARRIVED]] "p=0 b=1 m=2 n=3") -> (%[[Y]] "b=0 m=1 n=2") axes "p b m n" for "y: matmul: add 2 partials" : [[AT]], [[YT]]
// CHECK-NEXT:   tile.bind value %[[Y]] view "{{.*}}" tensors ["y"] : [[YT]]
// CHECK-NEXT:   tile.bind output %[[Y]] view "{{.*}}" tensors ["y"] : [[YT]]
// CHECK-NEXT:   func.return
// CHECK-NOT:    tile_tensor
