// RUN: tile-opt %s -p 'tile-plan-layouts{machine=t16},tile-lower-to-buffers{machine=t16}' | filecheck %s
// RUN: sed 's/pieces = 3/pieces = 17/' %s > %t.many.mlir
// RUN: not tile-opt %t.many.mlir -p 'tile-plan-layouts{machine=t16}' 2>&1 | filecheck %s --check-prefix=MANY
// RUN: sed 's/pieces = 3/pieces = "three"/' %s > %t.text.mlir
// RUN: not tile-opt %t.text.mlir -p 'tile-plan-layouts{machine=t16}' 2>&1 | filecheck %s --check-prefix=TEXT
// RUN: sed 's/pieces = 3/pieces = 3, filler = true/' %s > %t.filler.mlir
// RUN: not tile-opt %t.filler.mlir -p 'tile-plan-layouts{machine=t16}' 2>&1 | filecheck %s --check-prefix=FILLER

// Blocks of 13 rows in pieces of 5, 5 and 3: all in one buffer of 5 rows a block, and the parameter arrives whole.

func.func @main(%x: tensor<26x48xf8E4M3FNUZ>, %w: tensor<48x32xf8E4M3FNUZ> {tile_tensor.parameter = "w"}) -> tensor<26x32xf16> {
  %y = tile_tensor.matmul %x, %w {plan = {strategy = "grid", grid = [1, 2, 1, 2], pieces = 3}} : (tensor<26x48xf8E4M3FNUZ>, tensor<48x32xf8E4M3FNUZ>) -> tensor<26x32xf16>
  func.return %y : tensor<26x32xf16>
}

// CHECK: !buffer3 = !tile.buffer<f8E4M3FNUZ, "[1/1@4, 10/10@4/5@1, 48/32@2|32]
// CHECK: tile.alloc "y.left" staging : !buffer3
// CHECK: tile.exchange "y: matmul operands" (%w "[48c, 32b]" -> %right "[48c, 32b]")
// CHECK: tile.exchange "y: matmul operands" (%arg0 "[1, 2b*13, 5b, 48c]" -> %left "[1, 2b*5, 5b, 48c]")
// CHECK: tile.compute "gemm.f8" (%left "{{.*}} -> (%partial "
// CHECK: tile.exchange "y: matmul partials, operands" (%partial "[2a, 1, 2c*5, 5c, 32d]" -> %arrived "[2a, 1, 2c*13, 5c, 32d]", %arg0
// CHECK: "[1, 2b*13, 5b, 48c] + (0, 5, 0)" -> %left "[1, 2b*5, 5b, 48c]")
// CHECK: tile.compute "gemm.f8" (%left "{{.*}} -> (%partial2 "
// CHECK: tile.exchange "y: matmul partials, operands" (%partial2
// CHECK: "[1, 2b*13, 3b, 48c] + (0, 10, 0)" -> %left "[1, 2b*5, 3b, 48c]")
// CHECK: tile.compute "gemm.f8" (%left "{{.*}} -> (%partial3 "
// CHECK: tile.exchange "y: matmul partials" (%partial3 "[2a, 1, 2c*3, 3c, 32d]" -> %arrived "[2a, 1, 2c*13, 3c, 32d] + (0, 0, 10, 0)")
// CHECK: tile.compute "reduce_partials

// MANY: error: {{.*}}pieces 17 does not cut the 13 streamed rows of a block
// MANY: hint: use pieces 1
// TEXT: error: plan field 'pieces' is an integer, not 'three'
// FILLER: error: {{.*}}pieces are for a contraction without a filler and without groups
