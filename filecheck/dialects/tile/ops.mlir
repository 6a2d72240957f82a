// RUN: TILE_ROUNDTRIP
// RUN: TILE_GENERIC_ROUNDTRIP

func.func @main() attributes {tile.support = {supervisor = 427520 : i64}} {
  %x = tile.alloc "x" activations : !tile.buffer<f16, "[8/2@1, 16]">
  %y = tile.alloc "y" partials at 0x80600 : !tile.buffer<f32, "[8/2@1, 16] interleaved">
  %z = tile.alloc "z" activations at 0x68000 : !tile.buffer<f16, "[16/4@1, 8]">
  %ws = tile.alloc "ws" parameters at 0x88000 stride 512 attributes {home = "pinned"} : !tile.buffer<f16, "[16/4@1, 16]", 6>
  %b = tile.alloc "b" staging : !tile.buffer<f16, "[8/2@1, 16]">
  tile.bind input %x view "[8a, 16b]" tensors ["x"] : !tile.buffer<f16, "[8/2@1, 16]">
  tile.bind parameter %ws view "[16a, 16b]" tensors ["w.0", "w.1", "w.2", "w.3", "w.4", "w.5"] scale -9 : !tile.buffer<f16, "[16/4@1, 16]", 6>
  tile.bind constant %b view "[8a, 16b]" tensors ["one"] contents dense<1.000000e+00> : tensor<8x16xf16> attributes {seen} : !tile.buffer<f16, "[8/2@1, 16]">
  tile.bind output %ws view "[16a, 16b]" tensors ["all"] members [2, 3] : !tile.buffer<f16, "[16/4@1, 16]", 6>
  tile.exchange "transpose" (%x "[8a, 16b]" -> %z "[8b, 16a]") : !tile.buffer<f16, "[8/2@1, 16]">, !tile.buffer<f16, "[16/4@1, 8]">
  tile.exchange "two moves" (%x "[8a, 16b]" -> %b "[8a, 16b]", %z "[16a, 8b]" -> %x "[16b, 8a]") rows 40 at 0x69000 attributes {kept = 1 : i64} : !tile.buffer<f16, "[8/2@1, 16]">, !tile.buffer<f16, "[8/2@1, 16]">, !tile.buffer<f16, "[16/4@1, 8]">, !tile.buffer<f16, "[8/2@1, 16]">
  tile.compute "pointwise.add" (%x "r=0 c=1", %b "r=-1 c=1") -> (%x "r=0 c=1") axes "r c" for "bias" : !tile.buffer<f16, "[8/2@1, 16]">, !tile.buffer<f16, "[8/2@1, 16]">, !tile.buffer<f16, "[8/2@1, 16]">
  tile.compute "cast" (%x "r=0 c=1") -> (%y "r=0 c=1") axes "r c" scalars {saturate = 1 : i64, scale = -3 : i64} attributes {kept} : !tile.buffer<f16, "[8/2@1, 16]">, !tile.buffer<f32, "[8/2@1, 16] interleaved">
  tile.compute "fill" () -> (%y "flat") axes "n" scalars {value = 0 : i64} : !tile.buffer<f32, "[8/2@1, 16] interleaved">
  %w4 = tile.member %ws[4] : !tile.buffer<f16, "[16/4@1, 16]", 6> -> !tile.buffer<f16, "[16/4@1, 16]">
  tile.repeat "outer" count 2 sequences (%pair = %ws : !tile.buffer<f16, "[16/4@1, 16]", 6>) attributes {kept} {
    tile.repeat "inner" count 3 sequences (%w = %pair : !tile.buffer<f16, "[16/4@1, 16]", 3>) {
      tile.bind value %w view "[16a, 16b]" tensors ["w"] : !tile.buffer<f16, "[16/4@1, 16]">
    }
  }
  tile.repeat "nothing" count 0 {
  }
  func.return
}

// CHECK:      func.func @main() attributes {tile.support = {supervisor = 427520 : i64}} {
// CHECK-NEXT:   %x = tile.alloc "x" activations : !tile.buffer<f16, "[8/2@1, 16]">
// CHECK-NEXT:   %y = tile.alloc "y" partials at 0x80600 : !tile.buffer<f32, "[8/2@1, 16] interleaved">
// CHECK-NEXT:   %z = tile.alloc "z" activations at 0x68000 : !tile.buffer<f16, "[16/4@1, 8]">
// CHECK-NEXT:   %ws = tile.alloc "ws" parameters at 0x88000 stride 512 attributes {home = "pinned"} : !tile.buffer<f16, "[16/4@1, 16]", 6>
// CHECK-NEXT:   %b = tile.alloc "b" staging : !tile.buffer<f16, "[8/2@1, 16]">
// CHECK-NEXT:   tile.bind input %x view "[8a, 16b]" tensors ["x"] : !tile.buffer<f16, "[8/2@1, 16]">
// CHECK-NEXT:   tile.bind parameter %ws view "[16a, 16b]" tensors ["w.0", "w.1", "w.2", "w.3", "w.4", "w.5"] scale -9 : !tile.buffer<f16, "[16/4@1, 16]", 6>
// CHECK-NEXT:   tile.bind constant %b view "[8a, 16b]" tensors ["one"] contents dense<1.000000e+00> : tensor<8x16xf16> attributes {seen} : !tile.buffer<f16, "[8/2@1, 16]">
// CHECK-NEXT:   tile.bind output %ws view "[16a, 16b]" tensors ["all"] members [2, 3] : !tile.buffer<f16, "[16/4@1, 16]", 6>
// CHECK-NEXT:   tile.exchange "transpose" (%x "[8a, 16b]" -> %z "[8b, 16a]") : !tile.buffer<f16, "[8/2@1, 16]">, !tile.buffer<f16, "[16/4@1, 8]">
// CHECK-NEXT:   tile.exchange "two moves" (%x "[8a, 16b]" -> %b "[8a, 16b]", %z "[16a, 8b]" -> %x "[16b, 8a]") rows 40 at 0x69000 attributes {kept = 1 : i64} : {{.*}}
// CHECK-NEXT:   tile.compute "pointwise.add" (%x "r=0 c=1", %b "r=-1 c=1") -> (%x "r=0 c=1") axes "r c" for "bias" : {{.*}}
// CHECK-NEXT:   tile.compute "cast" (%x "r=0 c=1") -> (%y "r=0 c=1") axes "r c" scalars {saturate = 1 : i64, scale = -3 : i64} attributes {kept} : {{.*}}
// CHECK-NEXT:   tile.compute "fill" () -> (%y "flat") axes "n" scalars {value = 0 : i64} : !tile.buffer<f32, "[8/2@1, 16] interleaved">
// CHECK-NEXT:   %w4 = tile.member %ws[4] : !tile.buffer<f16, "[16/4@1, 16]", 6> -> !tile.buffer<f16, "[16/4@1, 16]">
// CHECK-NEXT:   tile.repeat "outer" count 2 sequences (%pair = %ws : !tile.buffer<f16, "[16/4@1, 16]", 6>) attributes {kept} {
// CHECK-NEXT:     tile.repeat "inner" count 3 sequences (%w = %pair : !tile.buffer<f16, "[16/4@1, 16]", 3>) {
// CHECK-NEXT:       tile.bind value %w view "[16a, 16b]" tensors ["w"] : !tile.buffer<f16, "[16/4@1, 16]">
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   tile.repeat "nothing" count 0 {
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return

// CHECK-GENERIC:      %x = "tile.alloc"() <{buffer_name = "x", category = "activations"}> : () -> !tile.buffer<f16, "[8/2@1, 16]">
// CHECK-GENERIC:      "tile.bind"(%ws) <{kind = "parameter", view = "[16a, 16b]", tensors = ["w.0", "w.1", "w.2", "w.3", "w.4", "w.5"], scale = -9 : i64}>
// CHECK-GENERIC:      "tile.exchange"(%x, %z) <{reason = "transpose", views = ["[8a, 16b]", "[8b, 16a]"]}>
// CHECK-GENERIC:      "tile.compute"(%x, %b, %x) <{kernel = "pointwise.add", inputs = 2 : i64, axes = "r c", maps = ["r=0 c=1", "r=-1 c=1", "r=0 c=1"], scalars = {}, reason = "bias"}>
// CHECK-GENERIC:      "tile.repeat"(%ws) <{repeat_name = "outer", count = 2 : i64}> ({
// CHECK-GENERIC-NEXT: ^bb0(%pair: !tile.buffer<f16, "[16/4@1, 16]", 3>):
