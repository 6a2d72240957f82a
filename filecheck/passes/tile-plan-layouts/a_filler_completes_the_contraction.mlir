// RUN: tile-opt %s -p 'tile-plan-layouts{machine=t16},tile-lower-to-buffers{machine=t16}' | filecheck %s
// RUN: sed 's/{tile_tensor.parameter = "w"}//' %s > %t.mlir
// RUN: not tile-opt %t.mlir -p 'tile-plan-layouts{machine=t16},tile-lower-to-buffers{machine=t16}' 2>&1 | filecheck %s --check-prefix=INPUT

// 80 elements end inside a panel of 32: copies of the last 16 arrive behind them, the parameter has zeros there,
// and no kernel fills.

func.func @main(%x: tensor<16x80xf16>, %w: tensor<80x32xf8E4M3FNUZ> {tile_tensor.parameter = "w"}) -> tensor<16x32xf16> {
  %x8 = tile_tensor.cast %x : (tensor<16x80xf16>) -> tensor<16x80xf8E4M3FNUZ>
  %x9 = tile_tensor.exp %x8 : (tensor<16x80xf8E4M3FNUZ>) -> tensor<16x80xf8E4M3FNUZ>
  %y = tile_tensor.matmul %x9, %w {plan = {strategy = "grid", grid = [1, 1, 1, 3], filler = true}} : (tensor<16x80xf8E4M3FNUZ>, tensor<80x32xf8E4M3FNUZ>) -> tensor<16x32xf16>
  func.return %y : tensor<16x32xf16>
}

// CHECK-NOT: tile.compute "fill"
// CHECK: tile.exchange "y: matmul operands" ({{.*}} -> %left "[16b, 80c]", {{.*}} "[16a*80, 16a] + (64)" -> %left "[16b, 16c] + (0, 0, 80)"
// CHECK-NOT: tile.compute "fill"
// INPUT: error: {{.*}}a filler is for a contraction that ends inside a panel, of a parameter and something else
// INPUT: hint: use filler = false
