// RUN: tile-opt %s
"tile_repeat.repeat"(){repeat_name=1,operandSegmentSizes=array<i4095:0
