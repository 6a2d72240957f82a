// RUN: not tile-opt %s -p tile-compile 2>&1 | filecheck %s
// RUN: not tile-opt %s -p tile-plan-layouts 2>&1 | filecheck %s

// What no plan can make fit is refused from its shapes, at the operation.

builtin.module attributes {tile.machine = "t16"} {
  func.func @main(%x: tensor<16000x16000xf16>) -> tensor<16000x16000xf16> {
    %y = tile_tensor.exp %x : (tensor<16000x16000xf16>) -> tensor<16000x16000xf16>
    func.return %y : tensor<16000x16000xf16>
  }
}

// CHECK:      too_large.mlir:8:10: error: y does not fit: 1,024,000,000 bytes are live at once, 1,020,457,728 too many
// CHECK:      note: its operands and result, and the sequences around it, take 1,024,000,000 bytes, the parameters 0
// CHECK-NEXT: note: t16 has 3,542,272 bytes in 16 tiles, without its reservations
// CHECK:      hint: use smaller tensors or a larger machine
