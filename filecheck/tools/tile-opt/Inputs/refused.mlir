func.func @main(%x: tensor<4x64xf16> {tile_tensor.input = "x"}, %w: tensor<64x64xf16> {tile_tensor.parameter = "w"}) -> tensor<4x64xf16> {
  %a = tile_tensor.neg %x : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %b = tile_tensor.matmul %a, %w {plan = {strategy = "nowhere"}} : (tensor<4x64xf16>, tensor<64x64xf16>) -> tensor<4x64xf16>
  %c = tile_tensor.neg %b : (tensor<4x64xf16>) -> tensor<4x64xf16>
  %d = tile_tensor.neg %c : (tensor<4x64xf16>) -> tensor<4x64xf16>
  func.return %d : tensor<4x64xf16>
}
