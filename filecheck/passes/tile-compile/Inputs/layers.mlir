builtin.module {
  func.func @main(%x0: tensor<64x64xf16> {tile_tensor.input = "x"}, %ws: !tile_repeat.sequence<3 x tensor<64x64xf8E4M3FNUZ>> {tile_tensor.parameter = ["w0", "w1", "w2"], tile_tensor.scale = -4 : i32}) -> (tensor<64x64xf16> {tile_tensor.output = "y"}) {
    %y = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<64x64xf16>) iterated(%w = %ws : !tile_repeat.sequence<3 x tensor<64x64xf8E4M3FNUZ>>) -> (tensor<64x64xf16>) {
      %q = tile_tensor.cast %x : (tensor<64x64xf16>) -> tensor<64x64xf8E4M3FNUZ>
      %m = tile_tensor.matmul %q, %w accumulate f16 scale -4 : (tensor<64x64xf8E4M3FNUZ>, tensor<64x64xf8E4M3FNUZ>) -> tensor<64x64xf16>
      %z = tile_tensor.gelu %m approximate tanh : (tensor<64x64xf16>) -> tensor<64x64xf16>
      tile_repeat.yield %z : tensor<64x64xf16>
    }
    func.return %y : tensor<64x64xf16>
  }
}
