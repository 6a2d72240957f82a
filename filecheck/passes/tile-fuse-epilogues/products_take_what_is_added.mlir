// RUN: tile-opt %s -p tile-fuse-epilogues | filecheck %s

// The reduction of a product's partials adds the vector and the tensor that are added to it, in either order.

func.func @vector(%x: tensor<8x16xf16>, %w: tensor<16x32xf16>, %b: tensor<32xf16>) -> tensor<8x32xf16> {
  %p = tile_tensor.matmul %x, %w accumulate f16 scale -3 : (tensor<8x16xf16>, tensor<16x32xf16>) -> tensor<8x32xf16>
  %y = tile_tensor.add %p, %b : (tensor<8x32xf16>, tensor<32xf16>) -> tensor<8x32xf16>
  func.return %y : tensor<8x32xf16>
}
func.func @both(%x: tensor<8x16xf16>, %w: tensor<16x32xf16>, %b: tensor<32xf16>, %r: tensor<8x32xf16>) -> tensor<8x32xf16> {
  %p = tile_tensor.matmul %x, %w : (tensor<8x16xf16>, tensor<16x32xf16>) -> tensor<8x32xf16>
  %s = tile_tensor.add %b, %p : (tensor<32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  %y = tile_tensor.add %r, %s : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  func.return %y : tensor<8x32xf16>
}

// The gelu keeps the vector, whose kernel it is.

func.func @gelu(%x: tensor<8x16xf16>, %w: tensor<16x32xf16>, %b: tensor<32xf16>) -> tensor<8x32xf16> {
  %p = tile_tensor.matmul %x, %w : (tensor<8x16xf16>, tensor<16x32xf16>) -> tensor<8x32xf16>
  %s = tile_tensor.add %p, %b : (tensor<8x32xf16>, tensor<32xf16>) -> tensor<8x32xf16>
  %y = tile_tensor.gelu %s approximate tanh : (tensor<8x32xf16>) -> tensor<8x32xf16>
  func.return %y : tensor<8x32xf16>
}

// CHECK-LABEL: @vector(
// CHECK-NEXT:    %y = tile_tensor.matmul %x, %w plus %b accumulate f16 scale -3 : (tensor<8x16xf16>, tensor<16x32xf16>, tensor<32xf16>) -> tensor<8x32xf16>
// CHECK-NEXT:    func.return %y
// CHECK-LABEL: @both(
// CHECK-NEXT:    %y = tile_tensor.matmul %x, %w plus %b, %r : (tensor<8x16xf16>, tensor<16x32xf16>, tensor<32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
// CHECK-NEXT:    func.return %y
// CHECK-LABEL: @gelu(
// CHECK:         tile_tensor.matmul %x, %w :
// CHECK-NEXT:    tile_tensor.bias_gelu

// These stay apart: a second vector, a product that is read twice, a type that saturates, another type, a plan, integers.

// CHECK-LABEL: @two_vectors(
// CHECK-NEXT:    tile_tensor.matmul %x, %w plus %b :
// CHECK-NEXT:    tile_tensor.add
func.func @two_vectors(%x: tensor<8x16xf16>, %w: tensor<16x32xf16>, %b: tensor<32xf16>) -> tensor<8x32xf16> {
  %p = tile_tensor.matmul %x, %w : (tensor<8x16xf16>, tensor<16x32xf16>) -> tensor<8x32xf16>
  %s = tile_tensor.add %p, %b : (tensor<8x32xf16>, tensor<32xf16>) -> tensor<8x32xf16>
  %y = tile_tensor.add %s, %b : (tensor<8x32xf16>, tensor<32xf16>) -> tensor<8x32xf16>
  func.return %y : tensor<8x32xf16>
}
// CHECK-LABEL: @read_twice(
// CHECK-NEXT:    tile_tensor.matmul %x, %w :
// CHECK-NEXT:    tile_tensor.add
func.func @read_twice(%x: tensor<8x16xf16>, %w: tensor<16x32xf16>, %b: tensor<32xf16>) -> (tensor<8x32xf16>, tensor<8x32xf16>) {
  %p = tile_tensor.matmul %x, %w : (tensor<8x16xf16>, tensor<16x32xf16>) -> tensor<8x32xf16>
  %y = tile_tensor.add %p, %b : (tensor<8x32xf16>, tensor<32xf16>) -> tensor<8x32xf16>
  func.return %y, %p : tensor<8x32xf16>, tensor<8x32xf16>
}
// CHECK-LABEL: @saturates(
// CHECK-NEXT:    tile_tensor.matmul %x, %w :
// CHECK-NEXT:    tile_tensor.add
func.func @saturates(%x: tensor<8x16xf16>, %w: tensor<16x32xf16>, %b: tensor<32xf8E4M3FNUZ>) -> tensor<8x32xf8E4M3FNUZ> {
  %p = tile_tensor.matmul %x, %w : (tensor<8x16xf16>, tensor<16x32xf16>) -> tensor<8x32xf8E4M3FNUZ>
  %y = tile_tensor.add %p, %b : (tensor<8x32xf8E4M3FNUZ>, tensor<32xf8E4M3FNUZ>) -> tensor<8x32xf8E4M3FNUZ>
  func.return %y : tensor<8x32xf8E4M3FNUZ>
}
// CHECK-LABEL: @wider(
// CHECK-NEXT:    tile_tensor.matmul %x, %w :
// CHECK-NEXT:    tile_tensor.add
func.func @wider(%x: tensor<8x16xf16>, %w: tensor<16x32xf16>, %b: tensor<32xf16>) -> tensor<8x32xf32> {
  %p = tile_tensor.matmul %x, %w : (tensor<8x16xf16>, tensor<16x32xf16>) -> tensor<8x32xf16>
  %y = tile_tensor.add %p, %b : (tensor<8x32xf16>, tensor<32xf16>) -> tensor<8x32xf32>
  func.return %y : tensor<8x32xf32>
}
// CHECK-LABEL: @planned(
// CHECK-NEXT:    tile_tensor.matmul %x, %w :
// CHECK-NEXT:    tile_tensor.add
func.func @planned(%x: tensor<8x16xf16>, %w: tensor<16x32xf16>, %b: tensor<32xf16>) -> tensor<8x32xf16> {
  %p = tile_tensor.matmul %x, %w : (tensor<8x16xf16>, tensor<16x32xf16>) -> tensor<8x32xf16>
  %y = tile_tensor.add %p, %b {plan = {}} : (tensor<8x32xf16>, tensor<32xf16>) -> tensor<8x32xf16>
  func.return %y : tensor<8x32xf16>
}
// CHECK-LABEL: @integers(
// CHECK-NEXT:    tile_tensor.matmul %x, %w :
// CHECK-NEXT:    tile_tensor.add
func.func @integers(%x: tensor<8x16xi8>, %w: tensor<16x32xi8>, %b: tensor<32xi32>) -> tensor<8x32xi32> {
  %p = tile_tensor.matmul %x, %w : (tensor<8x16xi8>, tensor<16x32xi8>) -> tensor<8x32xi32>
  %y = tile_tensor.add %p, %b : (tensor<8x32xi32>, tensor<32xi32>) -> tensor<8x32xi32>
  func.return %y : tensor<8x32xi32>
}
