// RUN: tile-opt %s -p tile-fuse-epilogues | filecheck %s

// A sum is fused with its gelu only where its type shows in nothing but the last place.

// CHECK-LABEL: func.func @one_type
// CHECK-NEXT: tile_tensor.bias_gelu %x, %b {saturate = false}
func.func @one_type(%x: tensor<4x8xf16>, %b: tensor<8xf16>) -> tensor<4x8xf16> {
  %s = tile_tensor.add %x, %b : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  %y = tile_tensor.gelu %s approximate tanh {saturate = false} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// CHECK-LABEL: func.func @f32_into_f8
// CHECK-NEXT: tile_tensor.bias_gelu
func.func @f32_into_f8(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf8E4M3FNUZ> {
  %s = tile_tensor.add %x, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %y = tile_tensor.gelu %s approximate tanh : (tensor<4x8xf32>) -> tensor<4x8xf8E4M3FNUZ>
  func.return %y : tensor<4x8xf8E4M3FNUZ>
}

// CHECK-LABEL: func.func @f8_sum
// CHECK-NEXT: tile_tensor.add
// CHECK-NEXT: tile_tensor.gelu
func.func @f8_sum(%x: tensor<4x8xf16>, %b: tensor<8xf16>) -> tensor<4x8xf16> {
  %s = tile_tensor.add %x, %b : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf8E4M3FNUZ>
  %y = tile_tensor.gelu %s approximate tanh : (tensor<4x8xf8E4M3FNUZ>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// CHECK-LABEL: func.func @f8_throughout
// CHECK-NEXT: tile_tensor.add
// CHECK-NEXT: tile_tensor.gelu
func.func @f8_throughout(%x: tensor<4x8xf8E5M2>, %b: tensor<8xf8E5M2>) -> tensor<4x8xf8E5M2> {
  %s = tile_tensor.add %x, %b : (tensor<4x8xf8E5M2>, tensor<8xf8E5M2>) -> tensor<4x8xf8E5M2>
  %y = tile_tensor.gelu %s approximate tanh : (tensor<4x8xf8E5M2>) -> tensor<4x8xf8E5M2>
  func.return %y : tensor<4x8xf8E5M2>
}

// CHECK-LABEL: func.func @f16_sum_into_f32
// CHECK-NEXT: tile_tensor.add
// CHECK-NEXT: tile_tensor.gelu
func.func @f16_sum_into_f32(%x: tensor<4x8xf16>, %b: tensor<8xf16>) -> tensor<4x8xf32> {
  %s = tile_tensor.add %x, %b : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  %y = tile_tensor.gelu %s approximate tanh : (tensor<4x8xf16>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @narrow_sum
// CHECK-NEXT: tile_tensor.add
// CHECK-NEXT: tile_tensor.gelu
func.func @narrow_sum(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf16> {
  %s = tile_tensor.add %x, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf16>
  %y = tile_tensor.gelu %s approximate tanh : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}
