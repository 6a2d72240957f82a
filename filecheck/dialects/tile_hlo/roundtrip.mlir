// RUN: TILE_ROUNDTRIP
// RUN: TILE_GENERIC_ROUNDTRIP

// The middle form of the front ends: one form of text for all operations, regions behind.

func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %n: tensor<i32>) -> (tensor<4x6xf32>, tensor<i32>) {
  %p = tile_hlo.dot_general %x, %w {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %one = tile_hlo.constant {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %m = tile_hlo.while %n : (tensor<i32>) -> tensor<i32> {
  ^bb0(%a: tensor<i32>):
    %c = tile_hlo.compare %a, %one {direction = "GT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tile_hlo.return %c : (tensor<i1>) -> ()
  } {
  ^bb1(%b: tensor<i32>):
    %d = tile_hlo.subtract %b, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tile_hlo.return %d : (tensor<i32>) -> ()
  }
  func.return %p, %m : tensor<4x6xf32>, tensor<i32>
}

// CHECK:      tile_hlo.dot_general %x, %w {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
// CHECK:      tile_hlo.constant {value = dense<1> : tensor<i32>} : () -> tensor<i32>
// CHECK:      tile_hlo.while %n : (tensor<i32>) -> tensor<i32> {
// CHECK:        tile_hlo.compare %{{.*}}, %{{.*}} {direction = "GT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK:        tile_hlo.return %{{.*}} : (tensor<i1>) -> ()
// CHECK-GENERIC: "tile_hlo.while"(%n) ({
