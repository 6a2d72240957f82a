builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x: tensor<8x32xf16> {tile_tensor.input = "x"}, %w: tensor<32x16xf16> {tile_tensor.parameter = "w"}) -> (tensor<8x16xf16> {tile_tensor.output = "y"}) {
    %product = tile_tensor.matmul %x, %w : (tensor<8x32xf16>, tensor<32x16xf16>) -> tensor<8x16xf16>
    func.return %product : tensor<8x16xf16>
  }
}
