// RUN: tile-opt %s -p tile-plan-layouts --machine t16
func.func@main(%x:tensor<65537x65537xf16>{tile_tensor.input="x"})->tensor<65537x65537xf16>{%s=tile_tensor.square%x:(tensor<65537x65537xf16>)->tensor<65537x65537xf16>%y=tile_tensor.matmul%s,%s:(tensor<65537x65537xf16>,tensor<65537x65537xf16>)->tensor<65537x65537xf16>func.return%y:tensor<65537x65537xf16>}
