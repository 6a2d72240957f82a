// RUN: tile-opt %s -p tile-unroll-repeat --machine t4 --verify-diagnostics

// Conversions are made of the layouts of the program: tiles that the machine does not have are refused where
// they stand.
builtin.module attributes {tile.machine = "t4"} {
  // expected-error@below {{argument 0: tile numbers of layout '[8/4@1] %255' wrap at 255, but machine t4 has 4 tiles}}
  func.func @main(%x: tensor<8xf16, #tile_layout.at<"[8/4@1] %255">>)
      -> tensor<8xf16, #tile_layout.at<"[8/4@1] %4">> {
    %y = tile_repeat.repeat "r" count 2
        carried(%c = %x : tensor<8xf16, #tile_layout.at<"[8/4@1] %255">>)
        -> (tensor<8xf16, #tile_layout.at<"[8/4@1] %4">>) {
      %n = tile_tensor.neg %c : (tensor<8xf16, #tile_layout.at<"[8/4@1] %255">>)
          -> tensor<8xf16, #tile_layout.at<"[8/4@1] %4">>
      tile_repeat.yield %n : tensor<8xf16, #tile_layout.at<"[8/4@1] %4">>
    }
    func.return %y : tensor<8xf16, #tile_layout.at<"[8/4@1] %4">>
  }
}
