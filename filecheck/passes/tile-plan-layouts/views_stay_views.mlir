// RUN: tile-opt --print-layouts=full %s -p tile-plan-layouts | filecheck %s

// Transposed, cut and reshaped, the values stay where the argument is: only the view of its storage changes.

builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x: tensor<8x32xf16> {tile_tensor.input = "x"}) -> tensor<4x2x8xf16> {
    %t = tile_tensor.transpose %x permutation [1, 0] : (tensor<8x32xf16>) -> tensor<32x8xf16>
    %s = tile_tensor.slice %t offsets [8, 0] sizes [8, 8] : (tensor<32x8xf16>) -> tensor<8x8xf16>
    %r = tile_tensor.reshape %s : (tensor<8x8xf16>) -> tensor<4x2x8xf16>
    func.return %r : tensor<4x2x8xf16>
  }
}

// CHECK:      func.func @main(%x: tensor<8x32xf16, #tile_layout.at<"[256/64@1] %4", "[8a*32, 32a]">>
// CHECK-NEXT:   %t = tile_tensor.transpose %x permutation [1, 0] {{.*}} -> tensor<32x8xf16, #tile_layout.at<"[256/64@1] %4", "[32a, 8a*32]">>
// CHECK-NEXT:   %s = tile_tensor.slice %t offsets [8, 0] sizes [8, 8] {{.*}} -> tensor<8x8xf16, #tile_layout.at<"[256/64@1] %4", "[8a, 8a*32] + (8)">>
// CHECK-NEXT:   %r = tile_tensor.reshape %s {{.*}} -> tensor<4x2x8xf16, #tile_layout.at<"[256/64@1] %4", "[4a*2, 2a, 8a*32] + (8)">>
