// RUN: tile-opt %s -p tile-raise-patterns --split-input-file | filecheck %s

// Zero in place of NaN behind a softmax, as exporters write rows that see no key.

// CHECK-LABEL: @zero
// CHECK-NEXT:  %[[P:.*]] = tile_tensor.softmax %x empty_rows zero : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:  func.return %[[P]]
func.func @zero(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = tile_tensor.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = tile_hlo.compare %p, %p {direction = "NE"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %z = tile_hlo.constant {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
  %w = tile_hlo.broadcast_in_dim %z {dimensions = array<i64>} : (tensor<f32>) -> tensor<4x8xf32>
  %r = tile_hlo.select %n, %w, %p : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// The same said by what is a number, behind a conversion.

// CHECK-LABEL: @number
// CHECK-NEXT:  %[[P:.*]] = tile_tensor.softmax %x empty_rows zero : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:  %[[C:.*]] = tile_hlo.convert %[[P]] : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK-NEXT:  func.return %[[C]]
func.func @number(%x: tensor<4x8xf32>) -> tensor<4x8xf16> {
  %p = tile_tensor.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = tile_hlo.convert %p : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %n = tile_hlo.compare %c, %c {direction = "NE"} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xi1>
  %m = tile_hlo.not %n : (tensor<4x8xi1>) -> tensor<4x8xi1>
  %z = tile_hlo.constant {value = dense<0.000000e+00> : tensor<f16>} : () -> tensor<f16>
  %w = tile_hlo.broadcast_in_dim %z {dimensions = array<i64>} : (tensor<f16>) -> tensor<4x8xf16>
  %r = tile_hlo.select %m, %c, %w : (tensor<4x8xi1>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %r : tensor<4x8xf16>
}

// -----

// Another number, the NaN of the scores, and a softmax that is read elsewhere stay as they are written.

// CHECK-LABEL: @one
// CHECK-NOT:   empty_rows
// CHECK:       tile_hlo.select
func.func @one(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = tile_tensor.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = tile_hlo.compare %p, %p {direction = "NE"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %z = tile_hlo.constant {value = dense<1.250000e-01> : tensor<f32>} : () -> tensor<f32>
  %w = tile_hlo.broadcast_in_dim %z {dimensions = array<i64>} : (tensor<f32>) -> tensor<4x8xf32>
  %r = tile_hlo.select %n, %w, %p : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: @scores
// CHECK-NOT:   empty_rows
// CHECK:       tile_hlo.select
func.func @scores(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = tile_tensor.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = tile_hlo.compare %x, %x {direction = "NE"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %z = tile_hlo.constant {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
  %w = tile_hlo.broadcast_in_dim %z {dimensions = array<i64>} : (tensor<f32>) -> tensor<4x8xf32>
  %r = tile_hlo.select %n, %w, %p : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: @read_elsewhere
// CHECK-NOT:   empty_rows
// CHECK:       tile_hlo.select
func.func @read_elsewhere(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %p = tile_tensor.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = tile_hlo.compare %p, %p {direction = "NE"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %z = tile_hlo.constant {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
  %w = tile_hlo.broadcast_in_dim %z {dimensions = array<i64>} : (tensor<f32>) -> tensor<4x8xf32>
  %r = tile_hlo.select %n, %w, %p : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r, %p : tensor<4x8xf32>, tensor<4x8xf32>
}
