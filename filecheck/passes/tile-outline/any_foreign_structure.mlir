// RUN: tile-opt %s --allow-unregistered-dialect -p tile-outline | filecheck %s
// RUN: tile-opt %s --allow-unregistered-dialect -p tile-compile | filecheck %s --check-prefix=COMPILED

// Nested modules, control flow between blocks, a repeat with foreign operations in its body, a program that
// only code outside of its module refers to.

builtin.module attributes {tile.machine = "t4"} {
  builtin.module @device {
    func.func @k(%x: memref<4xf16>) {
      %t = bufferization.to_tensor %x : memref<4xf16> to tensor<4xf16>
      %r = tile_repeat.repeat "l" count 2 carried(%c = %t : tensor<4xf16>) -> (tensor<4xf16>) {
        %n = tile_tensor.neg %c : (tensor<4xf16>) -> tensor<4xf16>
        %m = "own.op"(%n) : (tensor<4xf16>) -> tensor<4xf16>
        %o = tile_tensor.exp %m : (tensor<4xf16>) -> tensor<4xf16>
        tile_repeat.yield %o : tensor<4xf16>
      }
      cf.br ^bb1(%r : tensor<4xf16>)
    ^bb1(%p : tensor<4xf16>):
      %q = tile_tensor.add %p, %t : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
      %dead = tile_tensor.exp %p : (tensor<4xf16>) -> tensor<4xf16>
      cf.br ^bb2
    ^bb2:
      "own.use"(%q) : (tensor<4xf16>) -> ()
      func.return
    }
    func.func @f(%x: tensor<4xf16>) -> tensor<4xf16> {
      %y = tile_tensor.exp %x : (tensor<4xf16>) -> tensor<4xf16>
      func.return %y : tensor<4xf16>
    }
  }
  "own.table"() {entries = [@device::@f]} : () -> ()
}

// CHECK:        builtin.module @device {
// CHECK-NEXT:     func.func @k(%x: memref<4xf16>) {
// CHECK-NEXT:       %t = bufferization.to_tensor %x : memref<4xf16> to tensor<4xf16>
// CHECK-NEXT:       %r = tile_repeat.repeat "l" count 2 carried(%c = %t : tensor<4xf16>) -> (tensor<4xf16>) {
// CHECK-NEXT:         %n = func.call @k_tiles_0(%c) : (tensor<4xf16>) -> tensor<4xf16>
// CHECK-NEXT:         %m = "own.op"(%n) : (tensor<4xf16>) -> tensor<4xf16>
// CHECK-NEXT:         %o = func.call @k_tiles_1(%m) : (tensor<4xf16>) -> tensor<4xf16>
// CHECK-NEXT:         tile_repeat.yield %o : tensor<4xf16>
// CHECK-NEXT:       }
// CHECK-NEXT:       cf.br ^bb1(%r : tensor<4xf16>)
// CHECK-NEXT:     ^bb1(%p: tensor<4xf16>):
// CHECK-NEXT:       %q = func.call @k_tiles_2(%p, %t) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
// CHECK-NEXT:       cf.br ^bb2
// CHECK-NEXT:     ^bb2:
// CHECK-NEXT:       "own.use"(%q) : (tensor<4xf16>) -> ()
// CHECK:          func.func private @f(tensor<4xf16>) -> tensor<4xf16>
// CHECK:          tile.program = "k_tiles_0"
// CHECK:          tile.program = "k_tiles_1"
// CHECK:          tile.program = "k_tiles_2"
// CHECK:          tile.program = "f"
// CHECK-NOT:      tile.program
// CHECK:        "own.table"() {entries = [@device::@f]} : () -> ()

// COMPILED:       tile_asm.program "k_tiles_0" machine "t4"
// COMPILED:       tile_asm.program "f" machine "t4"
