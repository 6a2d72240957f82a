// RUN: tile-opt %s -p 'tile-fold-pooling{parameters=%S/Inputs/parameters.safetensors into=%t.safetensors}' | filecheck %s
// RUN: tile-opt %s -p 'tile-fold-pooling{parameters=%S/Inputs/parameters.safetensors}' --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: not tile-opt %s -p tile-fold-pooling 2>&1 | filecheck %s --check-prefix=VALUES

// Scores of the tokens themselves, tokens pooled by them, then the values' matrix and bias.

func.func @main(%x: tensor<6x16xf16>, %probe: tensor<1x16xf16> {tile_tensor.parameter = "probe"}, %k: tensor<16x16xf16> {tile_tensor.parameter = "k"}, %v: tensor<16x16xf16> {tile_tensor.parameter = "v"}, %b: tensor<16xf16> {tile_tensor.parameter = "b"}) -> tensor<2x1x8xf16> {
  %q = tile_tensor.reshape %probe : (tensor<1x16xf16>) -> tensor<2x1x8xf16>
  %k0 = tile_tensor.matmul %x, %k : (tensor<6x16xf16>, tensor<16x16xf16>) -> tensor<6x16xf16>
  %k1 = tile_tensor.reshape %k0 : (tensor<6x16xf16>) -> tensor<6x2x8xf16>
  %k2 = tile_tensor.transpose %k1 permutation [1, 0, 2] : (tensor<6x2x8xf16>) -> tensor<2x6x8xf16>
  %v0 = tile_tensor.matmul %x, %v : (tensor<6x16xf16>, tensor<16x16xf16>) -> tensor<6x16xf16>
  %v1 = tile_tensor.add %v0, %b : (tensor<6x16xf16>, tensor<16xf16>) -> tensor<6x16xf16>
  %v2 = tile_tensor.reshape %v1 : (tensor<6x16xf16>) -> tensor<6x2x8xf16>
  %v3 = tile_tensor.transpose %v2 permutation [1, 0, 2] : (tensor<6x2x8xf16>) -> tensor<2x6x8xf16>
  %y = tile_tensor.attention %q, %k2, %v3 scale 5.000000e-01 : (tensor<2x1x8xf16>, tensor<2x6x8xf16>, tensor<2x6x8xf16>) -> tensor<2x1x8xf16>
  func.return %y : tensor<2x1x8xf16>
}

// CHECK: %x: tensor<6x16xf16>, %b: tensor<16xf16> {tile_tensor.parameter = "b"}
// CHECK: tensor<2x16xf16> {tile_tensor.parameter = "k*queries"}
// CHECK: tensor<2x16x8xf16> {tile_tensor.parameter = "v by head"}
// CHECK: %y_padded = tile_tensor.pad {{.*}} -> tensor<1x16x16xf16>
// CHECK: %y_scores = tile_tensor.matmul %y_queries, %y_padded plus %y_mask transpose_b
// CHECK: %y_probabilities = tile_tensor.softmax %y_scores
// CHECK: %y_turned = tile_tensor.matmul %y_identity
// CHECK: %y_pooled = tile_tensor.matmul %y_probabilities
// CHECK: %y_projected = tile_tensor.matmul %y_pooled_heads, %y_matrix
// CHECK: tile_tensor.add %y_projected
// CHECK-NOT: tile_tensor.attention
// REMARK: `y` pools before it projects: k*queries and v by head for probe, k, v
// VALUES: error: tile-fold-pooling needs the values of the parameters
// VALUES: hint: parameters=FILE
