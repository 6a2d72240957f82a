// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: cannot broadcast 4x8 with 6x8: extents 4 and 6 differ on axis -2
func.func @main(%x: tensor<4x8xf32>, %y: tensor<6x8xf32>) {
  %0 = tile_tensor.add %x, %y : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

// CHECK: expects a result of shape 4x8, found 8x4
func.func @main(%x: tensor<4x8xf32>) {
  %0 = tile_tensor.exp %x : (tensor<4x8xf32>) -> tensor<8x4xf32>
  func.return
}

// -----

// CHECK: works on floats, found i32
func.func @main(%x: tensor<4xi32>) {
  %0 = tile_tensor.exp %x : (tensor<4xi32>) -> tensor<4xi32>
  func.return
}

// -----

// CHECK: needs floats or integers of one type, found i32 and f32 with result f32
func.func @main(%x: tensor<4xi32>, %y: tensor<4xf32>) {
  %0 = tile_tensor.add %x, %y : (tensor<4xi32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: works on floats and integers, found i1
func.func @main(%x: tensor<4xi1>) {
  %0 = tile_tensor.add %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  func.return
}

// -----

// CHECK: works on integers and i1, found f16
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.not %x : (tensor<4xf16>) -> tensor<4xf16>
  func.return
}

// -----

// CHECK: gives i1, found f16
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.compare eq %x, %x : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  func.return
}

// -----

// CHECK: needs floats or integers of one type, found i8 and i32 with result i1
func.func @main(%x: tensor<4xi8>, %y: tensor<4xi32>) {
  %0 = tile_tensor.compare eq %x, %y : (tensor<4xi8>, tensor<4xi32>) -> tensor<4xi1>
  func.return
}

// -----

// CHECK: selects by i1, found i8
func.func @main(%p: tensor<4xi8>, %x: tensor<4xf16>) {
  %0 = tile_tensor.select %p, %x, %x : (tensor<4xi8>, tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  func.return
}

// -----

// CHECK: selects elements unchanged: f16 and f32 in, f16 out
func.func @main(%p: tensor<4xi1>, %x: tensor<4xf16>, %y: tensor<4xf32>) {
  %0 = tile_tensor.select %p, %x, %y : (tensor<4xi1>, tensor<4xf16>, tensor<4xf32>) -> tensor<4xf16>
  func.return
}

// -----

// CHECK: i1 is reduced by any and all, found sum
func.func @main(%x: tensor<4xi1>) {
  %0 = tile_tensor.reduce sum %x axes [0] : (tensor<4xi1>) -> tensor<i1>
  func.return
}

// -----

// CHECK: any reduces i1 to i1, found f16 and i1
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.reduce any %x axes [0] : (tensor<4xf16>) -> tensor<i1>
  func.return
}

// -----

// CHECK: a cast from or to i1 has no scale
func.func @main(%x: tensor<4xi1>) {
  %0 = tile_tensor.cast %x scale 1 : (tensor<4xi1>) -> tensor<4xf16>
  func.return
}

// -----

// CHECK: pads with 2, which is beyond i1, 0 to 1
func.func @main(%x: tensor<4xi1>) {
  %0 = tile_tensor.pad %x low [1] high [0] value 2 : (tensor<4xi1>) -> tensor<5xi1>
  func.return
}

// -----

// CHECK: elements must be f8, f16, bf16, f32, i8, i32 or i1, found f64: no kernel computes in 64 bits; write f32
func.func @main(%x: tensor<4xf64>) {
  %0 = tile_tensor.neg %x : (tensor<4xf64>) -> tensor<4xf64>
  func.return
}

// -----

// CHECK: needs static shapes, found tensor<?xf32>
func.func @main(%x: tensor<?xf32>) {
  %0 = tile_tensor.neg %x : (tensor<?xf32>) -> tensor<?xf32>
  func.return
}

// -----

// CHECK: matmul contracts 8 (of 4x8) with 4 (of 4x8)
func.func @main(%x: tensor<4x8xf16>, %y: tensor<4x8xf16>) {
  %0 = tile_tensor.matmul %x, %y : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: matmul needs leading (batch) dimensions that are equal or 1, found 2x3 and 3x3
func.func @main(%a: tensor<2x3x4x8xf16>, %b: tensor<3x3x8x6xf16>) {
  %0 = tile_tensor.matmul %a, %b : (tensor<2x3x4x8xf16>, tensor<3x3x8x6xf16>) -> tensor<2x3x4x6xf16>
  func.return
}

// -----

// CHECK: operands must have one element type, or two 8-bit float types, or one of them and f16, found f16 and f32; use tile_tensor.cast
func.func @main(%x: tensor<4x8xf16>, %y: tensor<8x4xf32>) {
  %0 = tile_tensor.matmul %x, %y : (tensor<4x8xf16>, tensor<8x4xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

// CHECK: accumulates in f16 or f32, found bf16
func.func @main(%x: tensor<4x8xf16>, %y: tensor<8x4xf16>) {
  %0 = tile_tensor.matmul %x, %y accumulate bf16 : (tensor<4x8xf16>, tensor<8x4xf16>) -> tensor<4x4xf16>
  func.return
}

// -----

// CHECK: an addend has shape 4, expected 4x8 or 8
func.func @main(%x: tensor<4x8xf16>, %y: tensor<8x8xf16>, %b: tensor<4xf16>) {
  %0 = tile_tensor.matmul %x, %y plus %b : (tensor<4x8xf16>, tensor<8x8xf16>, tensor<4xf16>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: addends are no wider than the running sum, found f32 and f16
func.func @main(%x: tensor<4x8xf16>, %y: tensor<8x8xf16>, %b: tensor<8xf32>) {
  %0 = tile_tensor.matmul %x, %y plus %b accumulate f16 : (tensor<4x8xf16>, tensor<8x8xf16>, tensor<8xf32>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: addends of a product of floats are floats, found i32
func.func @main(%x: tensor<4x8xf16>, %y: tensor<8x8xf16>, %b: tensor<8xi32>) {
  %0 = tile_tensor.matmul %x, %y plus %b : (tensor<4x8xf16>, tensor<8x8xf16>, tensor<8xi32>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: an integer product takes no addends
func.func @main(%x: tensor<4x8xi8>, %y: tensor<8x8xi8>, %b: tensor<8xi32>) {
  %0 = tile_tensor.matmul %x, %y plus %b : (tensor<4x8xi8>, tensor<8x8xi8>, tensor<8xi32>) -> tensor<4x8xi32>
  func.return
}

// -----

// CHECK: integer matmul is i8 by i8 to i32, found i8 to i8
func.func @main(%x: tensor<4x8xi8>, %y: tensor<8x4xi8>) {
  %0 = tile_tensor.matmul %x, %y : (tensor<4x8xi8>, tensor<8x4xi8>) -> tensor<4x4xi8>
  func.return
}

// -----

// CHECK: reduced axis 2 is out of range for rank 2
func.func @main(%x: tensor<4x8xf16>) {
  %0 = tile_tensor.reduce sum %x axes [2] : (tensor<4x8xf16>) -> tensor<4xf16>
  func.return
}

// -----

// CHECK: the mean of integers is not an integer; cast first
func.func @main(%x: tensor<4x8xi32>) {
  %0 = tile_tensor.reduce mean %x axes [1] : (tensor<4x8xi32>) -> tensor<4xi32>
  func.return
}

// -----

// CHECK: gamma must have shape 8, the last axis of 4x8, found 4
func.func @main(%x: tensor<4x8xf16>, %g: tensor<4xf16>) {
  %0 = tile_tensor.rms_norm %x, %g epsilon 1.0e-6 : (tensor<4x8xf16>, tensor<4xf16>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: query and key differ in their last axis: 8 and 4
func.func @main(%q: tensor<2x5x8xf16>, %k: tensor<2x5x4xf16>) {
  %0 = tile_tensor.attention %q, %k, %q : (tensor<2x5x8xf16>, tensor<2x5x4xf16>, tensor<2x5x8xf16>) -> tensor<2x5x8xf16>
  func.return
}

// -----

// CHECK: a mask of 2x1x4 cannot be added to scores of 2x5x5
func.func @main(%q: tensor<2x5x8xf16>, %m: tensor<2x1x4xf16>) {
  %0 = tile_tensor.attention %q, %q, %q, %m : (tensor<2x5x8xf16>, tensor<2x5x8xf16>, tensor<2x5x8xf16>, tensor<2x1x4xf16>) -> tensor<2x5x8xf16>
  func.return
}

// -----

// CHECK: attention needs equal leading (batch, head) dimensions, but for fewer heads of keys and values, found 2x4, 3x4 and 3x4
func.func @main(%q: tensor<2x4x5x8xf16>, %k: tensor<3x4x5x8xf16>) {
  %0 = tile_tensor.attention %q, %k, %k : (tensor<2x4x5x8xf16>, tensor<3x4x5x8xf16>, tensor<3x4x5x8xf16>) -> tensor<2x4x5x8xf16>
  func.return
}

// -----

// CHECK: 3 heads of keys and values cannot be shared by 8 of queries: they must divide them
func.func @main(%q: tensor<8x5x8xf16>, %k: tensor<3x5x8xf16>) {
  %0 = tile_tensor.attention %q, %k, %k : (tensor<8x5x8xf16>, tensor<3x5x8xf16>, tensor<3x5x8xf16>) -> tensor<8x5x8xf16>
  func.return
}

// -----

// CHECK: `mask_place` says where a mask is added, and there is none
func.func @main(%q: tensor<5x8xf16>) {
  %0 = tile_tensor.attention %q, %q, %q mask_place after_scale : (tensor<5x8xf16>, tensor<5x8xf16>, tensor<5x8xf16>) -> tensor<5x8xf16>
  func.return
}

// -----

// CHECK: a window is of 1 to 1073741823 keys, found 0
func.func @main(%q: tensor<5x8xf16>) {
  %0 = tile_tensor.attention %q, %q, %q window 0 : (tensor<5x8xf16>, tensor<5x8xf16>, tensor<5x8xf16>) -> tensor<5x8xf16>
  func.return
}

// -----

// CHECK: `query_offset` 4 is about `causal` or `window`, and there is neither
func.func @main(%q: tensor<5x8xf16>) {
  %0 = tile_tensor.attention %q, %q, %q query_offset 4 : (tensor<5x8xf16>, tensor<5x8xf16>, tensor<5x8xf16>) -> tensor<5x8xf16>
  func.return
}

// -----

// CHECK: a query offset is at most 1073741823 either way, found -1073741824
func.func @main(%q: tensor<5x8xf16>) {
  %0 = tile_tensor.attention %q, %q, %q causal query_offset -1073741824 : (tensor<5x8xf16>, tensor<5x8xf16>, tensor<5x8xf16>) -> tensor<5x8xf16>
  func.return
}

// -----

// CHECK: broadcast of 4x8 needs 2 dimensions, found 1
func.func @main(%x: tensor<4x8xf16>) {
  %0 = tile_tensor.broadcast %x dimensions [1] : (tensor<4x8xf16>) -> tensor<2x4x8xf16>
  func.return
}

// -----

// CHECK: dynamic_slice of 4x8 needs a start index for each axis, 2, found 1
func.func @main(%x: tensor<4x8xf16>, %i: tensor<i32>) {
  %0 = tile_tensor.dynamic_slice %x, %i sizes [1, 8] : (tensor<4x8xf16>, tensor<i32>) -> tensor<1x8xf16>
  func.return
}

// -----

// CHECK: dynamic_slice of 4x8 needs 2 sizes, found 1
func.func @main(%x: tensor<4x8xf16>, %i: tensor<i32>) {
  %0 = tile_tensor.dynamic_slice %x, %i, %i sizes [1] : (tensor<4x8xf16>, tensor<i32>, tensor<i32>) -> tensor<1x8xf16>
  func.return
}

// -----

// CHECK: dynamic_slice of 4x8: size 9 does not fit axis 1
func.func @main(%x: tensor<4x8xf16>, %i: tensor<i32>) {
  %0 = tile_tensor.dynamic_slice %x, %i, %i sizes [1, 9] : (tensor<4x8xf16>, tensor<i32>, tensor<i32>) -> tensor<1x9xf16>
  func.return
}

// -----

// CHECK: a start index is a tensor<i32>, found tensor<1xi32>
func.func @main(%x: tensor<8xf16>, %i: tensor<1xi32>) {
  %0 = tile_tensor.dynamic_slice %x, %i sizes [1] : (tensor<8xf16>, tensor<1xi32>) -> tensor<1xf16>
  func.return
}

// -----

// CHECK: moves elements unchanged: f16 in, f32 out
func.func @main(%x: tensor<8xf16>, %i: tensor<i32>) {
  %0 = tile_tensor.dynamic_slice %x, %i sizes [1] : (tensor<8xf16>, tensor<i32>) -> tensor<1xf32>
  func.return
}

// -----

// CHECK: an update of 4x9 does not fit into 4x8
func.func @main(%x: tensor<4x8xf16>, %u: tensor<4x9xf16>, %i: tensor<i32>) {
  %0 = tile_tensor.dynamic_update_slice %x, %u, %i, %i : (tensor<4x8xf16>, tensor<4x9xf16>, tensor<i32>, tensor<i32>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: moves elements unchanged: f16 and f32 in, f16 out
func.func @main(%x: tensor<8xf16>, %u: tensor<1xf32>, %i: tensor<i32>) {
  %0 = tile_tensor.dynamic_update_slice %x, %u, %i : (tensor<8xf16>, tensor<1xf32>, tensor<i32>) -> tensor<8xf16>
  func.return
}

// -----

// CHECK: [0, 0] is not a permutation of the axes of 4x8 (rank 2)
func.func @main(%x: tensor<4x8xf16>) {
  %0 = tile_tensor.transpose %x permutation [0, 0] : (tensor<4x8xf16>) -> tensor<8x4xf16>
  func.return
}

// -----

// CHECK: reshape of 4x8 (32 elements) to 4x9 (36 elements)
func.func @main(%x: tensor<4x8xf16>) {
  %0 = tile_tensor.reshape %x : (tensor<4x8xf16>) -> tensor<4x9xf16>
  func.return
}

// -----

// CHECK: moves elements unchanged: f16 in, f32 out
func.func @main(%x: tensor<4x8xf16>) {
  %0 = tile_tensor.reshape %x : (tensor<4x8xf16>) -> tensor<8x4xf32>
  func.return
}

// -----

// CHECK: slice takes [1, 5) of axis 0, which has extent 4
func.func @main(%x: tensor<4x8xf16>) {
  %0 = tile_tensor.slice %x offsets [1, 2] sizes [4, 3] : (tensor<4x8xf16>) -> tensor<4x3xf16>
  func.return
}

// -----

// CHECK: concat along axis 1: operand 1 is 3x8, which does not match 4x8
func.func @main(%x: tensor<4x8xf16>, %y: tensor<3x8xf16>) {
  %0 = tile_tensor.concat %x, %y axis 1 : (tensor<4x8xf16>, tensor<3x8xf16>) -> tensor<4x16xf16>
  func.return
}

// -----

// CHECK: pad takes 1 more elements from axis 1 than it has
func.func @main(%x: tensor<4x8xf16>) {
  %0 = tile_tensor.pad %x low [0, -9] high [2, 0] : (tensor<4x8xf16>) -> tensor<6x7xf16>
  func.return
}

// -----

// CHECK: pad by -1 between elements of axis 0: use a slice with strides
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.pad %x low [0] high [0] interior [-1] : (tensor<4xf16>) -> tensor<1xf16>
  func.return
}

// -----

// CHECK: pad of 4 needs 1 interior count, found 2
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.pad %x low [0] high [0] interior [1, 1] : (tensor<4xf16>) -> tensor<7xf16>
  func.return
}

// -----

// CHECK: slice takes every 0-th element of axis 0; a stride is 1 or more
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.slice %x offsets [0] sizes [2] strides [0] : (tensor<4xf16>) -> tensor<2xf16>
  func.return
}

// -----

// CHECK: slice of 4 needs 1 stride, found 2
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.slice %x offsets [0] sizes [2] strides [1, 1] : (tensor<4xf16>) -> tensor<2xf16>
  func.return
}

// -----

// CHECK: slice takes [1, 6) of axis 0, which has extent 4
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.slice %x offsets [1] sizes [3] strides [2] : (tensor<4xf16>) -> tensor<3xf16>
  func.return
}

// -----

// CHECK: axis 2 is out of range for rank 2
func.func @main(%x: tensor<4x8xf16>) {
  %0 = tile_tensor.softmax %x axis 2 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: gamma must have shape 4, axis 0 of 4x8, found 8
func.func @main(%x: tensor<4x8xf16>, %g: tensor<8xf16>) {
  %0 = tile_tensor.rms_norm %x, %g axis 0 epsilon 1.0e-06 : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: axis 1 of 4x8 has extent 8, which cannot be broadcast to axis 1 of 4x16
func.func @main(%x: tensor<4x8xf16>) {
  %0 = tile_tensor.broadcast %x dimensions [0, 1] : (tensor<4x8xf16>) -> tensor<4x16xf16>
  func.return
}

// -----

// CHECK: indices must be i32, found f32
func.func @main(%x: tensor<4x8xf16>, %i: tensor<3xf32>) {
  %0 = tile_tensor.gather %x, %i : (tensor<4x8xf16>, tensor<3xf32>) -> tensor<3x8xf16>
  func.return
}

// -----

// CHECK: scale is a power of two between 2^-64 and 2^64, found 2^99
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.cast %x scale 99 : (tensor<4xf16>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: `plan` must be a dictionary, found 3 : i32
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.neg %x {plan = 3 : i32} : (tensor<4xf16>) -> tensor<4xf16>
  func.return
}

// -----

// CHECK: bf16 accumulates in f32, found f16
func.func @main(%x: tensor<4x8xbf16>) {
  %0 = tile_tensor.matmul %x, %x transpose_b accumulate f16 : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x4xbf16>
  func.return
}

// -----

// CHECK: f32 accumulates in f32, found f16
func.func @main(%x: tensor<4x8xf32>) {
  %0 = tile_tensor.attention %x, %x, %x accumulate f16 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

// CHECK: the scale of a softmax is a finite number, found inf
func.func @main(%x: tensor<4x8xf32>) {
  %0 = tile_tensor.softmax %x scale 0x7F800000 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

// CHECK: `rounding truncate` is for casts of a float to an integer, found f32 to f16
func.func @main(%x: tensor<4xf32>) {
  %0 = tile_tensor.cast %x rounding truncate : (tensor<4xf32>) -> tensor<4xf16>
  func.return
}

// -----

// CHECK: pads with 300.0, which is beyond i8, -128 to 127
func.func @main(%x: tensor<4xi8>) {
  %0 = tile_tensor.pad %x low [1] high [0] value 300.0 : (tensor<4xi8>) -> tensor<5xi8>
  func.return
}

// -----

// CHECK: pads with nan, which is not a whole number: i32 has no such value
func.func @main(%x: tensor<4xi32>) {
  %0 = tile_tensor.pad %x low [1] high [0] value 0x7FC00000 : (tensor<4xi32>) -> tensor<5xi32>
  func.return
}

// -----

// CHECK: pads with -inf: f8E4M3FN has no infinity
func.func @main(%x: tensor<4xf8E4M3FN>) {
  %0 = tile_tensor.pad %x low [1] high [0] value 0xFF800000 : (tensor<4xf8E4M3FN>) -> tensor<5xf8E4M3FN>
  func.return
}

// -----

// CHECK: a window over 6x6 has 2 counts of strides, found 1
func.func @main(%x: tensor<6x6xf16>) {
  %0 = tile_tensor.reduce_window max %x size [2, 2] strides [2] : (tensor<6x6xf16>) -> tensor<3x3xf16>
  func.return
}

// -----

// CHECK: dilation of a window is 1 or more, found [0, 1]
func.func @main(%x: tensor<6x6xf16>) {
  %0 = tile_tensor.reduce_window max %x size [2, 2] dilation [0, 1] : (tensor<6x6xf16>) -> tensor<5x5xf16>
  func.return
}

// -----

// CHECK: windows move over 3 axes, 2 is the most; reduce one axis after the other
func.func @main(%x: tensor<6x6x6xf16>) {
  %0 = tile_tensor.reduce_window max %x size [2, 2, 2] : (tensor<6x6x6xf16>) -> tensor<5x5x5xf16>
  func.return
}

// -----

// CHECK: reduces floats to floats or an integer type to itself, found i8 and i32
func.func @main(%x: tensor<6xi8>) {
  %0 = tile_tensor.reduce_window max %x size [2] : (tensor<6xi8>) -> tensor<5xi32>
  func.return
}

// -----

// CHECK: the mean of integers is not an integer; cast first
func.func @main(%x: tensor<6xi8>) {
  %0 = tile_tensor.reduce_window mean %x size [2] : (tensor<6xi8>) -> tensor<5xi8>
  func.return
}

// -----

// CHECK: a convolution needs operand and weights of one rank, 3 or more, found 6x6 and 3x6
func.func @main(%x: tensor<6x6xf16>, %w: tensor<3x6xf16>) {
  %0 = tile_tensor.convolution %x, %w : (tensor<6x6xf16>, tensor<3x6xf16>) -> tensor<6x6xf16>
  func.return
}

// -----

// CHECK: 3 groups do not divide 4 channels, of which weights take 2, and 6 of the result
func.func @main(%x: tensor<1x6x4xf16>, %w: tensor<3x2x6xf16>) {
  %0 = tile_tensor.convolution %x, %w groups 3 : (tensor<1x6x4xf16>, tensor<3x2x6xf16>) -> tensor<1x4x6xf16>
  func.return
}

// -----

// CHECK: operands must have one element type, or two 8-bit float types, found f16 and f32; use tile_tensor.cast
func.func @main(%x: tensor<1x6x4xf16>, %w: tensor<3x4x6xf32>) {
  %0 = tile_tensor.convolution %x, %w : (tensor<1x6x4xf16>, tensor<3x4x6xf32>) -> tensor<1x4x6xf16>
  func.return
}

// -----

// CHECK: indices must be i32, found i8
func.func @main(%x: tensor<6xi8>) {
  %0 = tile_tensor.one_hot %x : (tensor<6xi8>) -> tensor<6x4xf16>
  func.return
}

// -----

// CHECK: axis 1 of 4x0 has no elements to choose from
func.func @main(%x: tensor<4x0xf16>) {
  %0 = tile_tensor.argmax %x : (tensor<4x0xf16>) -> tensor<4xi32>
  func.return
}

// -----

// CHECK: i1 has no order here; cast first
func.func @main(%x: tensor<4xi1>) {
  %0 = tile_tensor.argmax %x : (tensor<4xi1>) -> tensor<i32>
  func.return
}

// -----

// CHECK: gives i32, found f16
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.argmin %x : (tensor<4xf16>) -> tensor<f16>
  func.return
}

// -----

// CHECK: gives f16, found f32
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.sort %x : (tensor<4xf16>) -> tensor<4xf32>
  func.return
}

// -----

// CHECK: sums of i1 are of numbers; cast first
func.func @main(%x: tensor<4xi1>) {
  %0 = tile_tensor.cumsum %x : (tensor<4xi1>) -> tensor<4xi1>
  func.return
}

// -----

// CHECK: running sums of i8 are i8, found i32
func.func @main(%x: tensor<4xi8>) {
  %0 = tile_tensor.cumsum %x : (tensor<4xi8>) -> tensor<4xi32>
  func.return
}

// -----

// CHECK: takes 5 elements of axis 0, which has extent 4
func.func @main(%x: tensor<4xf16>) {
  %0 = tile_tensor.top_k %x count 5 : (tensor<4xf16>) -> tensor<5xf16>
  func.return
}

// -----

// CHECK: rows of 4x8 are added to by indices of rank 1 and as many rows of updates, found 2 and 3x8
func.func @main(%x: tensor<4x8xf16>, %i: tensor<2xi32>, %u: tensor<3x8xf16>) {
  %0 = tile_tensor.scatter_add %x, %i, %u : (tensor<4x8xf16>, tensor<2xi32>, tensor<3x8xf16>) -> tensor<4x8xf16>
  func.return
}

// -----

// CHECK: adds rows of the base's type f16, found f32
func.func @main(%x: tensor<4xf16>, %i: tensor<2xi32>, %u: tensor<2xf32>) {
  %0 = tile_tensor.scatter_add %x, %i, %u : (tensor<4xf16>, tensor<2xi32>, tensor<2xf32>) -> tensor<4xf16>
  func.return
}

// -----

// CHECK: sums of i8 are i8, found i32
func.func @main(%x: tensor<4xi8>, %i: tensor<2xi32>, %u: tensor<2xi8>) {
  %0 = tile_tensor.scatter_add %x, %i, %u : (tensor<4xi8>, tensor<2xi32>, tensor<2xi8>) -> tensor<4xi32>
  func.return
}

// -----

// CHECK: found i64: write i32; numbers of 64 bits in files are narrowed where they fit
func.func @main(%x: tensor<4xi64>) {
  %0 = tile_tensor.neg %x : (tensor<4xi64>) -> tensor<4xi64>
  func.return
}

// -----

// CHECK: a window has at most 4096 elements, found 100x100; reduce whole axes instead
func.func @main(%x: tensor<200x200xf16>) {
  %0 = tile_tensor.reduce_window max %x size [100, 100] : (tensor<200x200xf16>) -> tensor<101x101xf16>
  func.return
}

// -----

// CHECK: one_hot counts at most 4194304 numbers, found 5000000
func.func @main(%x: tensor<1xi32>) {
  %0 = tile_tensor.one_hot %x : (tensor<1xi32>) -> tensor<1x5000000xf16>
  func.return
}
