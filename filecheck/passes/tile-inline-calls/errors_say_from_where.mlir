// RUN: not tile-opt %s --machine t4 -p tile-compile 2>&1 | filecheck %s

// What is wrong with an inlined operation is said where it stands, and from where it was called.

func.func @layer(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = tile_tensor.softmax %x {plan = {parts = 9 : i64}} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}
func.func @main(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = func.call @layer(%x) : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// CHECK:      errors_say_from_where.mlir:6:8: error: softmax: 9 row parts; machine t4 has 4 tiles
// CHECK-NEXT:   %y = tile_tensor.softmax %x
// CHECK:      note: called from {{.*}}errors_say_from_where.mlir:10:8
