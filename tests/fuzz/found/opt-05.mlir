// RUN: tile-opt %s
func.func@main(%ws:!tile_repeat.sequence<2x tensor<4x4xf16>>{tile_tensor.scale=2:i9223372036854775808
