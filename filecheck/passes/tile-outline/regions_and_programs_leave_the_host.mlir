// RUN: tile-opt %s --allow-unregistered-dialect -p tile-outline | filecheck %s
// RUN: tile-opt %s --allow-unregistered-dialect -p tile-outline,tile-outline | filecheck %s
// RUN: xdsl-opt %s --allow-unregistered-dialect -p tile-outline | filecheck %s

// Two connected regions, one on each side of a foreign operation that reads the first; a constant goes where
// it is read; conversions stay; a function of ours is called, one is called by ours alone.

builtin.module attributes {tile.machine = "t4"} {
  func.func @host(%m: memref<4x8xf16>, %n: index) -> tensor<4x8xf16> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %x = bufferization.to_tensor %m : memref<4x8xf16> to tensor<4x8xf16>
    %c = tile_tensor.constant dense<2.0> : tensor<4x8xf16>
    %a = tile_tensor.mul %x, %c : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    %b = tile_tensor.exp %a : (tensor<4x8xf16>) -> tensor<4x8xf16>
    %r = scf.for %i = %zero to %n step %one iter_args(%state = %b) -> (tensor<4x8xf16>) {
      %s = tile_tensor.add %state, %c : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
      %t = func.call @double(%s) : (tensor<4x8xf16>) -> tensor<4x8xf16>
      scf.yield %t : tensor<4x8xf16>
    }
    %u = "own.op"(%r, %c) {kept = 3 : i32} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    func.return %u : tensor<4x8xf16>
  }
  func.func @double(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %y = func.call @twice(%x) : (tensor<4x8xf16>) -> tensor<4x8xf16>
    func.return %y : tensor<4x8xf16>
  }
  func.func private @twice(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %y = tile_tensor.add %x, %x : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    func.return %y : tensor<4x8xf16>
  }
  "own.global"() {name = "g"} : () -> ()
}

// CHECK:      builtin.module attributes {tile.machine = "t4"} {
// CHECK-NEXT:   func.func @host(%m: memref<4x8xf16>, %n: index) -> tensor<4x8xf16> {
// CHECK-NEXT:     %zero = arith.constant 0 : index
// CHECK-NEXT:     %one = arith.constant 1 : index
// CHECK-NEXT:     %x = bufferization.to_tensor %m : memref<4x8xf16> to tensor<4x8xf16>
// CHECK-NEXT:     %c = func.call @host_tiles_0() : () -> tensor<4x8xf16>
// CHECK-NEXT:     %b = func.call @host_tiles_1(%x) : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:     %r = scf.for %i = %zero to %n step %one iter_args(%state = %b) -> (tensor<4x8xf16>) {
// CHECK-NEXT:       %s = func.call @host_tiles_2(%state) : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:       %t = func.call @double(%s) : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:       scf.yield %t : tensor<4x8xf16>
// CHECK-NEXT:     }
// CHECK-NEXT:     %u = "own.op"(%r, %c) {kept = 3 : i32} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:     func.return %u : tensor<4x8xf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   func.func private @host_tiles_0() -> tensor<4x8xf16>
// CHECK-NEXT:   func.func private @host_tiles_1(tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:   func.func private @host_tiles_2(tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:   func.func private @double(tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:   "own.global"() {name = "g"} : () -> ()
// CHECK:        tile.program = "host_tiles_0", tile.machine = "t4"
// CHECK-NEXT:     func.func @host_tiles_0() -> tensor<4x8xf16> {
// CHECK-NEXT:       tile_tensor.constant dense<2.000000e+00>
// CHECK:        tile.program = "host_tiles_1", tile.machine = "t4"
// CHECK-NEXT:     func.func @host_tiles_1(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
// CHECK-NEXT:       %c = tile_tensor.constant dense<2.000000e+00>
// CHECK-NEXT:       %a = tile_tensor.mul %x, %c
// CHECK-NEXT:       %b = tile_tensor.exp %a
// CHECK-NEXT:       func.return %b
// CHECK:        tile.program = "host_tiles_2", tile.machine = "t4"
// CHECK:          tile_tensor.add %state, %c
// CHECK:        tile.program = "double", tile.machine = "t4"
// CHECK:          tile_tensor.add %x, %x
