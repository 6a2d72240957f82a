// SPDX-License-Identifier: Apache-2.0
// One layer of a decoder on 64 tokens, width 512: 8 heads of 64, which share 2 heads of keys and values; rotary
// positions, causal attention, SwiGLU of 1408. Weights of one operand lie side by side: queries, keys and values; gate and up.
func.func @main(%x: tensor<64x512xf16> {tile_tensor.input = "x"},
  %cos: tensor<64x1x64xf16> {tile_tensor.parameter = "cos"}, %sin: tensor<64x1x64xf16> {tile_tensor.parameter = "sin"},
  %g1: tensor<512xf16> {tile_tensor.parameter = "g1"}, %g2: tensor<512xf16> {tile_tensor.parameter = "g2"},
  %wqkv: tensor<512x768xf16> {tile_tensor.parameter = "wqkv"}, %wo: tensor<512x512xf16> {tile_tensor.parameter = "wo"},
  %wgu: tensor<512x2816xf16> {tile_tensor.parameter = "wgu"}, %wd: tensor<1408x512xf16> {tile_tensor.parameter = "wd"})
  -> (tensor<64x512xf16> {tile_tensor.output = "y"}) {
  %n = tile_tensor.rms_norm %x, %g1 epsilon 1.0e-5 : (tensor<64x512xf16>, tensor<512xf16>) -> tensor<64x512xf16>
  %qkv = tile_tensor.matmul %n, %wqkv : (tensor<64x512xf16>, tensor<512x768xf16>) -> tensor<64x768xf16>
  %qk0 = tile_tensor.slice %qkv offsets [0, 0] sizes [64, 640] : (tensor<64x768xf16>) -> tensor<64x640xf16>
  %qk = tile_tensor.reshape %qk0 : (tensor<64x640xf16>) -> tensor<64x10x64xf16>
  // rotary: (a, b) becomes (a cos - b sin, b cos + a sin); %sin holds -sin, then sin
  %a = tile_tensor.slice %qk offsets [0, 0, 0] sizes [64, 10, 32] : (tensor<64x10x64xf16>) -> tensor<64x10x32xf16>
  %b = tile_tensor.slice %qk offsets [0, 0, 32] sizes [64, 10, 32] : (tensor<64x10x64xf16>) -> tensor<64x10x32xf16>
  %ba = tile_tensor.concat %b, %a axis 2 : (tensor<64x10x32xf16>, tensor<64x10x32xf16>) -> tensor<64x10x64xf16>
  %bas = tile_tensor.mul %ba, %sin : (tensor<64x10x64xf16>, tensor<64x1x64xf16>) -> tensor<64x10x64xf16>
  %abc = tile_tensor.mul %qk, %cos : (tensor<64x10x64xf16>, tensor<64x1x64xf16>) -> tensor<64x10x64xf16>
  %turned = tile_tensor.add %abc, %bas : (tensor<64x10x64xf16>, tensor<64x10x64xf16>) -> tensor<64x10x64xf16>
  %heads = tile_tensor.transpose %turned permutation [1, 0, 2] : (tensor<64x10x64xf16>) -> tensor<10x64x64xf16>
  %q = tile_tensor.slice %heads offsets [0, 0, 0] sizes [8, 64, 64] : (tensor<10x64x64xf16>) -> tensor<8x64x64xf16>
  %k = tile_tensor.slice %heads offsets [8, 0, 0] sizes [2, 64, 64] : (tensor<10x64x64xf16>) -> tensor<2x64x64xf16>
  %v0 = tile_tensor.slice %qkv offsets [0, 640] sizes [64, 128] : (tensor<64x768xf16>) -> tensor<64x128xf16>
  %v1 = tile_tensor.reshape %v0 : (tensor<64x128xf16>) -> tensor<64x2x64xf16>
  %v = tile_tensor.transpose %v1 permutation [1, 0, 2] : (tensor<64x2x64xf16>) -> tensor<2x64x64xf16>
  %attended = tile_tensor.attention %q, %k, %v scale 0.125 causal : (tensor<8x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>) -> tensor<8x64x64xf16>
  %at = tile_tensor.transpose %attended permutation [1, 0, 2] : (tensor<8x64x64xf16>) -> tensor<64x8x64xf16>
  %ar = tile_tensor.reshape %at : (tensor<64x8x64xf16>) -> tensor<64x512xf16>
  %o = tile_tensor.matmul %ar, %wo : (tensor<64x512xf16>, tensor<512x512xf16>) -> tensor<64x512xf16>
  %h = tile_tensor.add %x, %o : (tensor<64x512xf16>, tensor<64x512xf16>) -> tensor<64x512xf16>
  %n2 = tile_tensor.rms_norm %h, %g2 epsilon 1.0e-5 : (tensor<64x512xf16>, tensor<512xf16>) -> tensor<64x512xf16>
  %gu = tile_tensor.matmul %n2, %wgu : (tensor<64x512xf16>, tensor<512x2816xf16>) -> tensor<64x2816xf16>
  %g = tile_tensor.slice %gu offsets [0, 0] sizes [64, 1408] : (tensor<64x2816xf16>) -> tensor<64x1408xf16>
  %u = tile_tensor.slice %gu offsets [0, 1408] sizes [64, 1408] : (tensor<64x2816xf16>) -> tensor<64x1408xf16>
  %s = tile_tensor.silu %g : (tensor<64x1408xf16>) -> tensor<64x1408xf16>
  %m = tile_tensor.mul %s, %u : (tensor<64x1408xf16>, tensor<64x1408xf16>) -> tensor<64x1408xf16>
  %d = tile_tensor.matmul %m, %wd : (tensor<64x1408xf16>, tensor<1408x512xf16>) -> tensor<64x512xf16>
  %y = tile_tensor.add %h, %d : (tensor<64x512xf16>, tensor<64x512xf16>) -> tensor<64x512xf16>
  func.return %y : tensor<64x512xf16>
}
