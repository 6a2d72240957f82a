builtin.module {
  func.func @main(%x: tensor<64x64xf16> {tile_tensor.input = "x"},
                  %w: tensor<64x64xf16> {tile_tensor.parameter = "w"}) -> tensor<64x64xf16> {
    %y = tile_tensor.matmul %x, %w : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %z = tile_tensor.matmul %y, %w : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    func.return %z : tensor<64x64xf16>
  }
}
