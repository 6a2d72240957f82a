// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

// Attributes and operands that do not go with the rank.

// CHECK: matmul needs operands of rank 2 or more, found 8 and 8x4
func.func @main(%x: tensor<8xf32>, %y: tensor<8x4xf32>) {
  %0 = tile_tensor.matmul %x, %y : (tensor<8xf32>, tensor<8x4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: reduced axes must be ascending and distinct, found [1, 0]
func.func @main(%x: tensor<4x8xf32>) {
  %0 = tile_tensor.reduce sum %x axes [1, 0] : (tensor<4x8xf32>) -> tensor<f32>
  func.return
}

// -----

// CHECK: key and value differ in their number of rows: 8 and 9
func.func @main(%q: tensor<4x16xf16>, %k: tensor<8x16xf16>, %v: tensor<9x16xf16>) {
  %0 = tile_tensor.attention %q, %k, %v scale 1.0 : (tensor<4x16xf16>, tensor<8x16xf16>, tensor<9x16xf16>) -> tensor<4x16xf16>
  func.return
}

// -----

// CHECK: slice of 4x8 needs 2 offsets and sizes, found 1 and 1
func.func @main(%x: tensor<4x8xf32>) {
  %0 = "tile_tensor.slice"(%x) {offsets = array<i64: 0>, sizes = array<i64: 4>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

// CHECK: pad of 4x8 needs 2 low and high counts, found 1 and 2
func.func @main(%x: tensor<4x8xf32>) {
  %0 = tile_tensor.pad %x low [1] high [0, 0] value 0.0 : (tensor<4x8xf32>) -> tensor<5x8xf32>
  func.return
}

// -----

// CHECK: broadcast dimensions must be ascending and distinct, found [1, 0]
func.func @main(%x: tensor<4x8xf32>) {
  %0 = tile_tensor.broadcast %x dimensions [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  func.return
}

// -----

// CHECK: concat needs at least one operand
func.func @main() {
  %0 = "tile_tensor.concat"() <{axis = 0 : i64}> : () -> tensor<8x4xf32>
  func.return
}

// -----

// CHECK: integer {{.*}} has more than 64 bits
func.func @main(%x: tensor<4x8xf32>) {
  %0 = tile_tensor.pad %x low [1, 0] high [0, 0] value 0xFFFFFFFFFFFFFFFFF : (tensor<4x8xf32>) -> tensor<5x8xf32>
  func.return
}

// -----

// CHECK: integer {{.*}} has more than 64 bits
func.func @main(%x: tensor<4x8xi32>) {
  %0 = tile_tensor.pad %x low [1, 0] high [0, 0] value 99999999999999999999 : (tensor<4x8xi32>) -> tensor<5x8xi32>
  func.return
}
