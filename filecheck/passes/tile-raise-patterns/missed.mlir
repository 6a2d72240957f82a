// RUN: tile-opt %s -p tile-raise-patterns --split-input-file --remarks=missed --verify-diagnostics > /dev/null

// The maximum of another tensor makes no softmax.
func.func @softmax(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = tile_hlo.reduce %y {kind = "max", dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %mb = tile_hlo.broadcast_in_dim %m {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = tile_hlo.subtract %x, %mb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = tile_hlo.exponential %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tile_hlo.reduce %e {kind = "sum", dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %sb = tile_hlo.broadcast_in_dim %s {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  // expected-remark@+1 {{this is almost a softmax, and is computed as it is written [tile-raise-patterns: missed]}}
  %r = tile_hlo.divide %e, %sb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// A sum where a norm has the mean.
func.func @norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %q = tile_hlo.multiply %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tile_hlo.reduce %q {kind = "sum", dimensions = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  // expected-remark@+1 {{this is almost a norm}}
  %v = tile_hlo.rsqrt %s : (tensor<4xf32>) -> tensor<4xf32>
  %b = tile_hlo.broadcast_in_dim %v {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %r = tile_hlo.multiply %x, %b : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

func.func @gelu(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-remark@+1 {{this is almost a gelu}}
  %e = tile_hlo.erf %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %e : tensor<4x8xf32>
}

// -----

func.func @nothing_is_missed(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tile_hlo.exponential %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %e : tensor<4x8xf32>
}
