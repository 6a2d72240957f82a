builtin.module {
  func.func @main(%input: tensor<2x5x8xbf16> {tile_tensor.input = "input"}) -> (tensor<2x5x8xbf16> {tile_tensor.output = "out0"}) {
    %0 = tile_hlo.sort %input {dimension = 1 : i64, descending = false} : (tensor<2x5x8xbf16>) -> tensor<2x5x8xbf16>
    %1 = tile_hlo.sort %input {dimension = 1 : i64, descending = false, places = true} : (tensor<2x5x8xbf16>) -> tensor<2x5x8xi64>
    %2 = tile_hlo.constant {value = dense<[1, 3, 3, 3, 4]> : tensor<5xi64>} : () -> tensor<5xi64>
    %3 = tile_hlo.take %0, %2 {axis = 1 : i64, out_of_range = "clamp"} : (tensor<2x5x8xbf16>, tensor<5xi64>) -> tensor<2x5x8xbf16>
    %4 = tile_hlo.add %0, %3 : (tensor<2x5x8xbf16>, tensor<2x5x8xbf16>) -> tensor<2x5x8xbf16>
    %5 = tile_hlo.constant {value = dense<-9.570310e-01> : tensor<bf16>} : () -> tensor<bf16>
    %6 = tile_hlo.broadcast_in_dim %5 {dimensions = array<i64>} : (tensor<bf16>) -> tensor<2x5x8xbf16>
    %7 = tile_hlo.compare %4, %6 {direction = "GT"} : (tensor<2x5x8xbf16>, tensor<2x5x8xbf16>) -> tensor<2x5x8xi1>
    %8 = tile_hlo.constant {value = dense<5.000000e-01> : tensor<bf16>} : () -> tensor<bf16>
    %9 = tile_hlo.broadcast_in_dim %8 {dimensions = array<i64>} : (tensor<bf16>) -> tensor<2x5x8xbf16>
    %10 = tile_hlo.multiply %4, %9 : (tensor<2x5x8xbf16>, tensor<2x5x8xbf16>) -> tensor<2x5x8xbf16>
    %11 = tile_hlo.constant {value = dense<-9.570310e-01> : tensor<bf16>} : () -> tensor<bf16>
    %12 = tile_hlo.broadcast_in_dim %11 {dimensions = array<i64>} : (tensor<bf16>) -> tensor<2x5x8xbf16>
    %13 = tile_hlo.subtract %10, %12 : (tensor<2x5x8xbf16>, tensor<2x5x8xbf16>) -> tensor<2x5x8xbf16>
    %14 = tile_hlo.select %7, %4, %13 : (tensor<2x5x8xi1>, tensor<2x5x8xbf16>, tensor<2x5x8xbf16>) -> tensor<2x5x8xbf16>
    func.return %14 : tensor<2x5x8xbf16>
  }
}
