builtin.module {
  func.func @main(%v0_table_weight: tensor<10x16xbf16> {tile_tensor.parameter = "0.table.weight"}, %input: tensor<2x7x16xbf16> {tile_tensor.input = "input"}) -> (tensor<2x7x16xbf16> {tile_tensor.output = "out0"}) {
    %0 = tile_hlo.constant {value = dense<[1, 2, 3, 4, 5, 6, 7]> : tensor<7xi64>} : () -> tensor<7xi64>
    %1 = tile_hlo.take %v0_table_weight, %0 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<10x16xbf16>, tensor<7xi64>) -> tensor<7x16xbf16>
    %2 = tile_hlo.broadcast_in_dim %1 {dimensions = array<i64: 1, 2>} : (tensor<7x16xbf16>) -> tensor<2x7x16xbf16>
    %3 = tile_hlo.add %input, %2 : (tensor<2x7x16xbf16>, tensor<2x7x16xbf16>) -> tensor<2x7x16xbf16>
    %4 = tile_hlo.slice %3 {start = array<i64: 0, 6, 0>, limit = array<i64: 2, 7, 16>, strides = array<i64: 1, 1, 1>} : (tensor<2x7x16xbf16>) -> tensor<2x1x16xbf16>
    %5 = tile_hlo.slice %3 {start = array<i64: 0, 0, 0>, limit = array<i64: 2, 6, 16>, strides = array<i64: 1, 1, 1>} : (tensor<2x7x16xbf16>) -> tensor<2x6x16xbf16>
    %6 = tile_hlo.concatenate %4, %5 {dimension = 1 : i64} : (tensor<2x1x16xbf16>, tensor<2x6x16xbf16>) -> tensor<2x7x16xbf16>
    %7 = tile_hlo.slice %3 {start = array<i64: 0, 0, 0>, limit = array<i64: 2, 7, 8>, strides = array<i64: 1, 1, 1>} : (tensor<2x7x16xbf16>) -> tensor<2x7x8xbf16>
    %8 = tile_hlo.slice %3 {start = array<i64: 0, 0, 8>, limit = array<i64: 2, 7, 16>, strides = array<i64: 1, 1, 1>} : (tensor<2x7x16xbf16>) -> tensor<2x7x8xbf16>
    %9 = tile_hlo.concatenate %8, %7 {dimension = 2 : i64} : (tensor<2x7x8xbf16>, tensor<2x7x8xbf16>) -> tensor<2x7x16xbf16>
    %10 = tile_hlo.add %6, %9 : (tensor<2x7x16xbf16>, tensor<2x7x16xbf16>) -> tensor<2x7x16xbf16>
    %11 = tile_hlo.constant {value = dense<-1.000000e+00> : tensor<bf16>} : () -> tensor<bf16>
    %12 = tile_hlo.broadcast_in_dim %11 {dimensions = array<i64>} : (tensor<bf16>) -> tensor<2x7x16xbf16>
    %13 = tile_hlo.maximum %10, %12 : (tensor<2x7x16xbf16>, tensor<2x7x16xbf16>) -> tensor<2x7x16xbf16>
    %14 = tile_hlo.constant {value = dense<1.500000e+00> : tensor<bf16>} : () -> tensor<bf16>
    %15 = tile_hlo.broadcast_in_dim %14 {dimensions = array<i64>} : (tensor<bf16>) -> tensor<2x7x16xbf16>
    %16 = tile_hlo.minimum %13, %15 : (tensor<2x7x16xbf16>, tensor<2x7x16xbf16>) -> tensor<2x7x16xbf16>
    %17 = tile_hlo.abs %10 : (tensor<2x7x16xbf16>) -> tensor<2x7x16xbf16>
    %18 = tile_hlo.constant {value = dense<2.500000e-01> : tensor<bf16>} : () -> tensor<bf16>
    %19 = tile_hlo.broadcast_in_dim %18 {dimensions = array<i64>} : (tensor<bf16>) -> tensor<2x7x16xbf16>
    %20 = tile_hlo.multiply %17, %19 : (tensor<2x7x16xbf16>, tensor<2x7x16xbf16>) -> tensor<2x7x16xbf16>
    %21 = tile_hlo.add %16, %20 : (tensor<2x7x16xbf16>, tensor<2x7x16xbf16>) -> tensor<2x7x16xbf16>
    func.return %21 : tensor<2x7x16xbf16>
  }
}
