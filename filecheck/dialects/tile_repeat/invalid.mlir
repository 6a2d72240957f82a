// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: tile_tensor.add in the body uses %m from outside the repeat: pass it through the header, for instance as `invariant(%inner = %m : tensor<8xf16>)`
func.func @implicit_capture(%x0: tensor<8xf16>, %m: tensor<8xf16>) {
  %y = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<8xf16>) -> (tensor<8xf16>) {
    %z = tile_tensor.add %x, %m : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
    tile_repeat.yield %z : tensor<8xf16>
  }
  func.return
}

// -----

// CHECK: iterated value 0 (%ws) has 4 members, the repeat counts 3
func.func @count(%ws: !tile_repeat.sequence<4 x tensor<8xf16>>) {
  tile_repeat.repeat "layers" count 3 iterated(%w = %ws : !tile_repeat.sequence<4 x tensor<8xf16>>) {
  }
  func.return
}

// -----

// CHECK: the body yields the next state with the types of the carried values: expects (tensor<8xf16>), found (tensor<8xf32>)
func.func @yield_type(%x0: tensor<8xf16>) {
  %y = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<8xf16>) -> (tensor<8xf16>) {
    %z = tile_tensor.cast %x : (tensor<8xf16>) -> tensor<8xf32>
    tile_repeat.yield %z : tensor<8xf32>
  }
  func.return
}

// -----

// CHECK: the body yields the next state with the types of the carried values: expects (tensor<8xf16>), found ()
func.func @yield_count(%x0: tensor<8xf16>) {
  %y = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<8xf16>) -> (tensor<8xf16>) {
    tile_repeat.yield
  }
  func.return
}

// -----

// CHECK: a repeat returns the last state, then one sequence per collected value: expects (!tile_repeat.sequence<3 x tensor<8xf16>>), found (!tile_repeat.sequence<2 x tensor<8xf16>>)
func.func @results(%x0: tensor<8xf16>) {
  %y = tile_repeat.repeat "layers" count 3 invariant(%x = %x0 : tensor<8xf16>) -> (!tile_repeat.sequence<2 x tensor<8xf16>>) {
    tile_repeat.yield collect %x : tensor<8xf16>
  }
  func.return
}

// -----

// CHECK: the count of a repeat is zero or more, found -1
func.func @negative_count() {
  tile_repeat.repeat "layers" count -1 {
  }
  func.return
}

// -----

// CHECK: an iterated value is a !tile_repeat.sequence
func.func @not_a_sequence(%ws: tensor<8xf16>) {
  tile_repeat.repeat "layers" count 3 iterated(%w = %ws : tensor<8xf16>) {
  }
  func.return
}

// -----

// CHECK: the body takes the carried, the invariant and one member of each iterated value: expects arguments (tensor<8xf16>), found (tensor<4xf16>)
func.func @arguments(%x0: tensor<8xf16>) {
  "tile_repeat.repeat"(%x0) <{repeat_name = "layers", count = 1 : i64, operandSegmentSizes = array<i32: 0, 1, 0>}> ({
  ^bb0(%x: tensor<4xf16>):
    tile_repeat.yield
  }) : (tensor<8xf16>) -> ()
  func.return
}

// -----

// CHECK: member 2 of a sequence of 2
func.func @member(%s: !tile_repeat.sequence<2 x tensor<8xf16>>) {
  %m = tile_repeat.member %s[2] : !tile_repeat.sequence<2 x tensor<8xf16>>
  func.return
}

// -----

// CHECK: needs members (tensor<8xf16>, tensor<8xf16>), found (tensor<8xf16>)
func.func @pack(%a: tensor<8xf16>) {
  %m = tile_repeat.pack %a : !tile_repeat.sequence<2 x tensor<8xf16>>
  func.return
}

// -----

// CHECK: a sequence holds tensors or sequences, found f32
func.func @element(%a: !tile_repeat.sequence<2 x f32>) {
  func.return
}

// -----

// The type of a member follows from its sequence's, and is not written.
// CHECK: expected an operation or `}` here, found `->`
func.func @member_type(%s: !tile_repeat.sequence<2 x tensor<4xf16>>) {
  %m = tile_repeat.member %s[0] : !tile_repeat.sequence<2 x tensor<4xf16>> -> tensor<4xf16>
  func.return
}
