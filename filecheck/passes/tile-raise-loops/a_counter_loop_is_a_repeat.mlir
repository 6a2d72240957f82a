// RUN: tile-opt %s -p tile-raise-loops --split-input-file | filecheck %s

// A scan: slices at the counter are iterated, what is written at the counter is collected, the state is carried.

// CHECK-LABEL: @scan
// CHECK-SAME:  %w: !tile_repeat.sequence<3 x tensor<8x8xf32>> {tile_tensor.parameter = ["w.0", "w.1", "w.2"]}
// CHECK:       %{{.*}}, %[[S:.*]] = tile_repeat.repeat "layers" count 3 carried(%{{.*}} = %x : tensor<4x8xf32>) iterated(%[[W:.*]] = %w
// CHECK:         tile_hlo.dot_general %{{.*}}, %[[W]]
// CHECK:         tile_repeat.yield %{{.*}} : tensor<4x8xf32> collect %{{.*}} : tensor<1x4x8xf32>
// CHECK:       tile_repeat.member %[[S]][2]
// CHECK-NEXT:  tile_hlo.concatenate
func.func @scan(%x: tensor<4x8xf32>, %w: tensor<3x8x8xf32> {tile_tensor.parameter = "w"}) -> (tensor<4x8xf32>, tensor<3x4x8xf32>) {
  %c0 = tile_hlo.constant {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %zero = tile_hlo.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %ys = tile_hlo.broadcast_in_dim %zero {dimensions = array<i64>} : (tensor<f32>) -> tensor<3x4x8xf32>
  %r, %i, %state, %out = tile_hlo.while %w, %c0, %x, %ys : (tensor<3x8x8xf32>, tensor<i32>, tensor<4x8xf32>, tensor<3x4x8xf32>) -> (tensor<3x8x8xf32>, tensor<i32>, tensor<4x8xf32>, tensor<3x4x8xf32>) {
  ^bb0(%wa: tensor<3x8x8xf32>, %ia: tensor<i32>, %xa: tensor<4x8xf32>, %ya: tensor<3x4x8xf32>):
    %n = tile_hlo.constant {value = dense<3> : tensor<i32>} : () -> tensor<i32>
    %c = tile_hlo.compare %ia, %n {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tile_hlo.return %c : (tensor<i1>) -> ()
  } {
  ^bb1(%wb: tensor<3x8x8xf32>, %ib: tensor<i32>, %xb: tensor<4x8xf32>, %yb: tensor<3x4x8xf32>):
    %s = tile_hlo.dynamic_slice %wb, %ib, %c0, %c0 {sizes = array<i64: 1, 8, 8>} : (tensor<3x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %m = tile_hlo.reshape %s : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    %y = tile_hlo.dot_general %xb, %m {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %u = tile_hlo.reshape %y : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %o = tile_hlo.dynamic_update_slice %yb, %u, %ib, %c0, %c0 : (tensor<3x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x8xf32>
    %one = tile_hlo.constant {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %j = tile_hlo.add %ib, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tile_hlo.return %wb, %j, %y, %o : (tensor<3x8x8xf32>, tensor<i32>, tensor<4x8xf32>, tensor<3x4x8xf32>) -> ()
  }
  func.return %state, %out : tensor<4x8xf32>, tensor<3x4x8xf32>
}

// -----

// A loop whose end is not known before the run stays.

// CHECK-LABEL: @unknown
// CHECK:       tile_hlo.while
func.func @unknown(%x: tensor<i32>) -> tensor<i32> {
  %one = tile_hlo.constant {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %r = tile_hlo.while %x : (tensor<i32>) -> tensor<i32> {
  ^bb0(%a: tensor<i32>):
    %c = tile_hlo.compare %a, %x {direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tile_hlo.return %c : (tensor<i1>) -> ()
  } {
  ^bb1(%b: tensor<i32>):
    %d = tile_hlo.add %b, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tile_hlo.return %d : (tensor<i32>) -> ()
  }
  func.return %r : tensor<i32>
}
