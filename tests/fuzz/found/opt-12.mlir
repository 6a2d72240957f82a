// RUN: tile-opt %s
tile_tensor.pad%x low[0,1]high[99999999999999999999999]
