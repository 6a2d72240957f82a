// RUN: not tile-opt %s --machine t16 -p tile-select-homes 2>&1 | filecheck %s

func.func @main(%w: tensor<64x64xf16> {tile_tensor.parameter = "w", tile_layout.pinned}) -> tensor<64x64xf16> {
  func.return %w : tensor<64x64xf16>
}

// CHECK: :3:1: error: parameter 'w' is pinned but has no layout
// CHECK: hint: write the home as the encoding of its type, or drop the pin
