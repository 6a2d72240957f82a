// RUN: tile-opt %s -p tile-unroll-repeat --machine t4 --verify-diagnostics

// Rows that overlap cannot hold what an iteration makes.
builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x: tensor<4x8xf16, #tile_layout.at<"[32/16@1] %4", "[4a*8, 8a]">>)
      -> tensor<4x8xf16, #tile_layout.at<"[32/16@1] %4", "[4a*8, 8a]">> {
    // expected-error@below {{carried value 0: view '[4a*3, 8a]' gives several elements one place, no iteration can write it}}
    %y = tile_repeat.repeat "r" count 2
        carried(%c = %x : tensor<4x8xf16, #tile_layout.at<"[32/16@1] %4", "[4a*8, 8a]">> as tensor<4x8xf16, #tile_layout.at<"[32/16@1] %4", "[4a*3, 8a]">>)
        -> (tensor<4x8xf16, #tile_layout.at<"[32/16@1] %4", "[4a*8, 8a]">>) {
      %n = tile_tensor.neg %c : (tensor<4x8xf16, #tile_layout.at<"[32/16@1] %4", "[4a*3, 8a]">>)
          -> tensor<4x8xf16, #tile_layout.at<"[32/16@1] %4", "[4a*8, 8a]">>
      tile_repeat.yield %n : tensor<4x8xf16, #tile_layout.at<"[32/16@1] %4", "[4a*8, 8a]">>
    }
    func.return %y : tensor<4x8xf16, #tile_layout.at<"[32/16@1] %4", "[4a*8, 8a]">>
  }
}
