// RUN: tile-opt --print-layouts=full %s -p tile-inline-calls | filecheck %s
// RUN: tile-opt --print-layouts=full %s -p tile-inline-calls --print-debuginfo | filecheck %s --check-prefix=PLACE
// RUN: tile-opt --print-layouts=full %s --machine t4 -p tile-compile | filecheck %s --check-prefix=COMPILED

// Calls of calls, calls in the body of a repeat, a function that is called twice; what was called goes.

func.func private @square(%a: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %s = tile_tensor.mul %a, %a : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %s : tensor<4x8xf16>
}

func.func @layer(%x: tensor<4x8xf16>, %b: tensor<8xf16>) -> (tensor<4x8xf16>, tensor<4x8xf16>) {
  %sum = tile_tensor.add %x, %b : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  %y = func.call @square(%sum) : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y, %x : tensor<4x8xf16>, tensor<4x8xf16>
}

func.func @network(%x: tensor<4x8xf16>,
    %bs: !tile_repeat.sequence<2 x tensor<8xf16>> {tile_tensor.parameter = ["b.0", "b.1"]}) -> tensor<4x8xf16> {
  %z = tile_repeat.repeat "layers" count 2 carried(%a = %x : tensor<4x8xf16>)
      iterated(%b = %bs : !tile_repeat.sequence<2 x tensor<8xf16>>) -> (tensor<4x8xf16>) {
    %next, %same = func.call @layer(%a, %b) : (tensor<4x8xf16>, tensor<8xf16>) -> (tensor<4x8xf16>, tensor<4x8xf16>)
    tile_repeat.yield %next : tensor<4x8xf16>
  }
  %last = func.call @square(%z) : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %last : tensor<4x8xf16>
}

// CHECK-NOT:  @square
// CHECK-NOT:  @layer
// CHECK:      func.func @network
// CHECK:      tile_repeat.repeat "layers"
// CHECK-NEXT:   %[[SUM:.*]] = tile_tensor.add %a, %b
// CHECK-NEXT:   %[[NEXT:.*]] = tile_tensor.mul %[[SUM]], %[[SUM]]
// CHECK-NEXT:   tile_repeat.yield %[[NEXT]]
// CHECK:      %[[LAST:.*]] = tile_tensor.mul %[[Z:.*]], %[[Z]]
// CHECK-NEXT: func.return %[[LAST]]
// CHECK-NOT:  func.call

// PLACE:      tile_tensor.add {{.*}} loc(callsite("{{.*}}.mlir":13:10 at "{{.*}}.mlir":22:20))

// COMPILED:   tile_asm.program "network" machine "t4"
