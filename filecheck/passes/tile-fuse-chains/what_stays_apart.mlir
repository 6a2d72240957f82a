// RUN: tile-opt %s --split-input-file --machine t4 -p tile-plan-layouts,tile-lower-to-buffers,tile-merge-phases,tile-fuse-chains | filecheck %s

// The product is read by something else as well.

func.func @read_twice(%x: tensor<8x32xf16> {tile_tensor.input = "x"}, %y: tensor<8x32xf16> {tile_tensor.input = "y"})
  -> (tensor<8x32xf16> {tile_tensor.output = "out"}, tensor<8x32xf16> {tile_tensor.output = "product"}) {
  %a = tile_tensor.mul %x, %y : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  %out = tile_tensor.add %a, %y : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
  func.return %out, %a : tensor<8x32xf16>, tensor<8x32xf16>
}
// CHECK-LABEL: @read_twice
// CHECK-NOT:   chain.
// CHECK:       pointwise.mul
// CHECK:       pointwise.add

// -----

// The product is kept in more places than the sum: a kernel of the sum's type would lose them.

func.func @wider(%x: tensor<8x32xf16> {tile_tensor.input = "x"}, %y: tensor<8x32xf16> {tile_tensor.input = "y"})
  -> (tensor<8x32xf16> {tile_tensor.output = "out"}) {
  %a = tile_tensor.mul %x, %y : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf32>
  %out = tile_tensor.add %a, %y : (tensor<8x32xf32>, tensor<8x32xf16>) -> tensor<8x32xf16>
  func.return %out : tensor<8x32xf16>
}
// CHECK-LABEL: @wider
// CHECK-NOT:   chain.
// CHECK:       pointwise.add

// -----

// No kernel adds up 8-bit products.

func.func @narrow(%x: tensor<8x32xf8E4M3FNUZ> {tile_tensor.input = "x"}, %y: tensor<8x32xf8E4M3FNUZ> {tile_tensor.input = "y"})
  -> (tensor<8x32xf8E4M3FNUZ> {tile_tensor.output = "out"}) {
  %a = tile_tensor.mul %x, %y : (tensor<8x32xf8E4M3FNUZ>, tensor<8x32xf8E4M3FNUZ>) -> tensor<8x32xf8E4M3FNUZ>
  %out = tile_tensor.add %a, %y : (tensor<8x32xf8E4M3FNUZ>, tensor<8x32xf8E4M3FNUZ>) -> tensor<8x32xf8E4M3FNUZ>
  func.return %out : tensor<8x32xf8E4M3FNUZ>
}
// CHECK-LABEL: @narrow
// CHECK-NOT:   chain.
// CHECK:       pointwise.add

// -----

// A vector times a vector, and the sum has rows: the product is of another shape.

func.func @of_a_vector(%x: tensor<8x32xf16> {tile_tensor.input = "x"}, %y: tensor<32xf16> {tile_tensor.input = "y"},
  %z: tensor<32xf16> {tile_tensor.input = "z"}) -> (tensor<8x32xf16> {tile_tensor.output = "out"}) {
  %a = tile_tensor.mul %y, %z : (tensor<32xf16>, tensor<32xf16>) -> tensor<32xf16>
  %out = tile_tensor.add %x, %a : (tensor<8x32xf16>, tensor<32xf16>) -> tensor<8x32xf16>
  func.return %out : tensor<8x32xf16>
}
// CHECK-LABEL: @of_a_vector
// CHECK-NOT:   chain.
// CHECK:       pointwise.add
