// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

// Sequences where something else stands.

// CHECK: takes a member of a !tile_repeat.sequence
func.func @f(%x: tensor<8xf16>) {
  %m = tile_repeat.member %x[0] : tensor<8xf16>
  func.return
}

// -----

// CHECK: a repeat collects tensors or sequences, found i32
func.func @f(%x: tensor<8xf16>, %i: i32) {
  %y, %z = "tile_repeat.repeat"(%x, %i) <{operandSegmentSizes = array<i32: 1, 1, 0>, repeat_name = "layers", count = 2 : i64}> ({
  ^bb0(%c: tensor<8xf16>, %j: i32):
    "tile_repeat.yield"(%c, %j) <{operandSegmentSizes = array<i32: 1, 1>}> : (tensor<8xf16>, i32) -> ()
  }) : (tensor<8xf16>, i32) -> (tensor<8xf16>, i32)
  func.return
}
