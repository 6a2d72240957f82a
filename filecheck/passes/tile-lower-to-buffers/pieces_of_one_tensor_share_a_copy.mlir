// RUN: tile-opt --print-layouts=full --split-input-file --machine t4 %s -p "tile-plan-layouts,tile-lower-to-buffers" | filecheck %s

// Pieces that cut words travel with one element a word: the tensor is widened once, not once a piece.
// CHECK-LABEL: func.func @pieces
// CHECK: tile.compute "widen"
// CHECK-NOT: "widen"
// CHECK: tile.exchange "r: concat" (%words {{.*}}, %words {{.*}}, %words {{.*}})
// CHECK-NOT: "widen"
func.func @pieces(%x: tensor<9x5xf16>) -> tensor<9x5xf16> {
  %0 = tile_tensor.slice %x offsets [6, 0] sizes [3, 5] : (tensor<9x5xf16>) -> tensor<3x5xf16>
  %1 = tile_tensor.slice %x offsets [3, 0] sizes [3, 5] : (tensor<9x5xf16>) -> tensor<3x5xf16>
  %2 = tile_tensor.slice %x offsets [0, 0] sizes [3, 5] : (tensor<9x5xf16>) -> tensor<3x5xf16>
  %r = tile_tensor.concat %0, %1, %2 axis 0 : (tensor<3x5xf16>, tensor<3x5xf16>, tensor<3x5xf16>) -> tensor<9x5xf16>
  func.return %r : tensor<9x5xf16>
}

// -----

// Of a large tensor only the words around a piece are brought together and widened.
// CHECK-LABEL: func.func @a_piece_of_a_large_tensor
// CHECK: %piece = tile.alloc "r.in0.piece" staging : !tile.buffer<f16, "[16/16@1] %4">
// CHECK: tile.exchange "r: pad: the words around a piece" (%arg0 "[16a] + (14442)" -> %piece "[16a]")
// CHECK: tile.compute "widen" (%piece
func.func @a_piece_of_a_large_tensor(%x: tensor<120001xf16>) -> tensor<17xf16> {
  %0 = tile_tensor.slice %x offsets [14443] sizes [15] : (tensor<120001xf16>) -> tensor<15xf16>
  %r = tile_tensor.pad %0 low [2] high [0] : (tensor<15xf16>) -> tensor<17xf16>
  func.return %r : tensor<17xf16>
}

// -----

// What takes much memory and has no small box travels in several phases.
// CHECK-LABEL: func.func @columns
// CHECK: tile.exchange "r: concat: a part"
// CHECK: tile.exchange "r: concat" (
func.func @columns(%x: tensor<300x50xf8E4M3FNUZ>, %y: tensor<300x50xf8E4M3FNUZ>) -> tensor<300x2xf8E4M3FNUZ> {
  %0 = tile_tensor.slice %x offsets [0, 7] sizes [300, 1] : (tensor<300x50xf8E4M3FNUZ>) -> tensor<300x1xf8E4M3FNUZ>
  %1 = tile_tensor.slice %y offsets [0, 8] sizes [300, 1] : (tensor<300x50xf8E4M3FNUZ>) -> tensor<300x1xf8E4M3FNUZ>
  %r = tile_tensor.concat %0, %1 axis 1 : (tensor<300x1xf8E4M3FNUZ>, tensor<300x1xf8E4M3FNUZ>) -> tensor<300x2xf8E4M3FNUZ>
  func.return %r : tensor<300x2xf8E4M3FNUZ>
}
