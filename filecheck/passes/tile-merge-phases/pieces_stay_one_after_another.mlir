// RUN: tile-opt %s -p 'tile-plan-layouts{machine=t16},tile-lower-to-buffers{machine=t16},tile-merge-phases' | filecheck %s

// The streamed operand of each product arrives in two pieces, in one buffer. Pieces of products that do not depend on each other
// share phases; the second pieces wait until the kernels have read the first, and arrive while the products of those leave.

func.func @main(%x: tensor<32x64xf16>, %u: tensor<64x32xf16>, %v: tensor<64x32xf16>) -> (tensor<32x32xf16>, tensor<32x32xf16>) {
  %y = tile_tensor.matmul %x, %u {plan = {strategy = "grid", grid = [1, 2, 1, 4], pieces = 2}} : (tensor<32x64xf16>, tensor<64x32xf16>) -> tensor<32x32xf16>
  %z = tile_tensor.matmul %x, %v {plan = {strategy = "grid", grid = [1, 2, 1, 4], pieces = 2, base = 8}} : (tensor<32x64xf16>, tensor<64x32xf16>) -> tensor<32x32xf16>
  func.return %y, %z : tensor<32x32xf16>, tensor<32x32xf16>
}

// CHECK:      !buffer4 = !tile.buffer<f16, "[1/1@8, 16/16@8/8@1, 64/16@2|16]
// CHECK:      tile.alloc "y.left" staging : !buffer4
// CHECK:      tile.exchange "y: matmul operands | z: matmul operands"
// CHECK:      %arg0 "[1, 2b*16, 8b, 64c]" -> %left
// CHECK:      tile.compute "gemm.f16.f32" (%left "{{.*}} -> (%partial "
// CHECK:      tile.compute "gemm.f16.f32" (%left_1 "{{.*}} -> (%partial_1 "
// CHECK:      tile.exchange "y: matmul partials, operands | z: matmul partials, operands"
// CHECK:      "[1, 2b*16, 8b, 64c] + (0, 8, 0)" -> %left
// CHECK:      tile.compute "gemm.f16.f32" (%left "{{.*}} -> (%partial2 "
// CHECK:      tile.compute "gemm.f16.f32" (%left_1 "{{.*}} -> (%partial2_1 "
// CHECK:      tile.exchange "y: matmul partials | z: matmul partials"
// CHECK-NOT:  tile.exchange
// CHECK:      tile.compute "reduce_partials
// CHECK-NOT:  tile.exchange
