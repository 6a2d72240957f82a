builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x: tensor<8x32xf32> {tile_tensor.input = "x"}) -> tensor<8x32xf32> {
    %y = arith.addf %x, %x : tensor<8x32xf32>
    func.return %y : tensor<8x32xf32>
  }
}
