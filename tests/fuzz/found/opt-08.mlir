// RUN: tile-opt %s
tile.bind constant%b view"[8a, 16b]"tensors[]contents dense<1.000000e+64>:tensor<8x16xf16>
