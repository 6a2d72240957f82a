// RUN: tile-opt %s -p tile-raise-patterns --split-input-file | filecheck %s

// Keys and values whose heads are repeated, behind views in any order, are shared; a constant causal mask is a flag.

// CHECK-LABEL: @repeated
// CHECK-NEXT:  %[[A:.*]] = tile_tensor.attention %q, %k, %v causal : (tensor<1x4x3x2xf32>, tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x4x3x2xf32>
// CHECK-NEXT:  func.return %[[A]]
func.func @repeated(%q: tensor<1x4x3x2xf32>, %k: tensor<1x2x3x2xf32>, %v: tensor<1x2x3x2xf32>) -> tensor<1x4x3x2xf32> {
  %kt = tile_hlo.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x2x3x2xf32>) -> tensor<1x2x2x3xf32>
  %k5 = tile_hlo.broadcast_in_dim %kt {dimensions = array<i64: 0, 1, 3, 4>} : (tensor<1x2x2x3xf32>) -> tensor<1x2x2x2x3xf32>
  %k4 = tile_hlo.reshape %k5 : (tensor<1x2x2x2x3xf32>) -> tensor<1x4x2x3xf32>
  %kr = tile_hlo.transpose %k4 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x4x2x3xf32>) -> tensor<1x4x3x2xf32>
  %v5 = tile_hlo.broadcast_in_dim %v {dimensions = array<i64: 0, 1, 3, 4>} : (tensor<1x2x3x2xf32>) -> tensor<1x2x2x3x2xf32>
  %vr = tile_hlo.reshape %v5 : (tensor<1x2x2x3x2xf32>) -> tensor<1x4x3x2xf32>
  %m = tile_hlo.constant {value = dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>} : () -> tensor<3x3xi1>
  %a = tile_tensor.attention %q, %kr, %vr, %m : (tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>, tensor<3x3xi1>) -> tensor<1x4x3x2xf32>
  func.return %a : tensor<1x4x3x2xf32>
}

// -----

// All heads one after the other, and again, are not shared by neighbours; keys alone are not either; a mask with
// another hole is none that a flag says.

// CHECK-LABEL: @not_repeated
// CHECK:       tile_tensor.attention %q, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>, tensor<3x3xi1>)
// CHECK:       tile_tensor.attention %q, %{{.*}}, %q : (tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>)
func.func @not_repeated(%q: tensor<1x4x3x2xf32>, %k: tensor<1x2x3x2xf32>) -> (tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>) {
  %k5 = tile_hlo.broadcast_in_dim %k {dimensions = array<i64: 0, 2, 3, 4>} : (tensor<1x2x3x2xf32>) -> tensor<1x2x2x3x2xf32>
  %kr = tile_hlo.reshape %k5 : (tensor<1x2x2x3x2xf32>) -> tensor<1x4x3x2xf32>
  %m = tile_hlo.constant {value = dense<[[true, false, false], [false, true, false], [true, true, true]]> : tensor<3x3xi1>} : () -> tensor<3x3xi1>
  %a = tile_tensor.attention %q, %kr, %kr, %m : (tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>, tensor<3x3xi1>) -> tensor<1x4x3x2xf32>
  %s5 = tile_hlo.broadcast_in_dim %k {dimensions = array<i64: 0, 1, 3, 4>} : (tensor<1x2x3x2xf32>) -> tensor<1x2x2x3x2xf32>
  %sr = tile_hlo.reshape %s5 : (tensor<1x2x2x3x2xf32>) -> tensor<1x4x3x2xf32>
  %b = tile_tensor.attention %q, %sr, %q : (tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>) -> tensor<1x4x3x2xf32>
  func.return %a, %b : tensor<1x4x3x2xf32>, tensor<1x4x3x2xf32>
}
