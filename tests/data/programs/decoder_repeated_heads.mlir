// SPDX-License-Identifier: Apache-2.0
// decoder.mlir with heads of keys and values repeated, a mask that is added, and three products of one operand.
func.func @main(%x: tensor<64x512xf16> {tile_tensor.input = "x"},
  %mask: tensor<64x64xf16> {tile_tensor.input = "mask"},
  %cos: tensor<64x32xf16> {tile_tensor.parameter = "cos"}, %sin: tensor<64x32xf16> {tile_tensor.parameter = "sin"},
  %g1: tensor<512xf16> {tile_tensor.parameter = "g1"}, %g2: tensor<512xf16> {tile_tensor.parameter = "g2"},
  %wq: tensor<512x512xf16> {tile_tensor.parameter = "wq"}, %wk: tensor<512x128xf16> {tile_tensor.parameter = "wk"},
  %wv: tensor<512x128xf16> {tile_tensor.parameter = "wv"}, %wo: tensor<512x512xf16> {tile_tensor.parameter = "wo"},
  %wg: tensor<512x1408xf16> {tile_tensor.parameter = "wg"}, %wu: tensor<512x1408xf16> {tile_tensor.parameter = "wu"},
  %wd: tensor<1408x512xf16> {tile_tensor.parameter = "wd"})
  -> (tensor<64x512xf16> {tile_tensor.output = "y"}) {
  %n = tile_tensor.rms_norm %x, %g1 epsilon 1.0e-5 : (tensor<64x512xf16>, tensor<512xf16>) -> tensor<64x512xf16>
  %q0 = tile_tensor.matmul %n, %wq : (tensor<64x512xf16>, tensor<512x512xf16>) -> tensor<64x512xf16>
  %k0 = tile_tensor.matmul %n, %wk : (tensor<64x512xf16>, tensor<512x128xf16>) -> tensor<64x128xf16>
  %v0 = tile_tensor.matmul %n, %wv : (tensor<64x512xf16>, tensor<512x128xf16>) -> tensor<64x128xf16>
  %q1 = tile_tensor.reshape %q0 : (tensor<64x512xf16>) -> tensor<64x8x64xf16>
  %q = tile_tensor.transpose %q1 permutation [1, 0, 2] : (tensor<64x8x64xf16>) -> tensor<8x64x64xf16>
  %k1 = tile_tensor.reshape %k0 : (tensor<64x128xf16>) -> tensor<64x2x64xf16>
  %k = tile_tensor.transpose %k1 permutation [1, 0, 2] : (tensor<64x2x64xf16>) -> tensor<2x64x64xf16>
  %v1 = tile_tensor.reshape %v0 : (tensor<64x128xf16>) -> tensor<64x2x64xf16>
  %v = tile_tensor.transpose %v1 permutation [1, 0, 2] : (tensor<64x2x64xf16>) -> tensor<2x64x64xf16>
  %qa = tile_tensor.slice %q offsets [0, 0, 0] sizes [8, 64, 32] : (tensor<8x64x64xf16>) -> tensor<8x64x32xf16>
  %qb = tile_tensor.slice %q offsets [0, 0, 32] sizes [8, 64, 32] : (tensor<8x64x64xf16>) -> tensor<8x64x32xf16>
  %qac = tile_tensor.mul %qa, %cos : (tensor<8x64x32xf16>, tensor<64x32xf16>) -> tensor<8x64x32xf16>
  %qbs = tile_tensor.mul %qb, %sin : (tensor<8x64x32xf16>, tensor<64x32xf16>) -> tensor<8x64x32xf16>
  %qas = tile_tensor.mul %qa, %sin : (tensor<8x64x32xf16>, tensor<64x32xf16>) -> tensor<8x64x32xf16>
  %qbc = tile_tensor.mul %qb, %cos : (tensor<8x64x32xf16>, tensor<64x32xf16>) -> tensor<8x64x32xf16>
  %qr0 = tile_tensor.sub %qac, %qbs : (tensor<8x64x32xf16>, tensor<8x64x32xf16>) -> tensor<8x64x32xf16>
  %qr1 = tile_tensor.add %qas, %qbc : (tensor<8x64x32xf16>, tensor<8x64x32xf16>) -> tensor<8x64x32xf16>
  %qr = tile_tensor.concat %qr0, %qr1 axis 2 : (tensor<8x64x32xf16>, tensor<8x64x32xf16>) -> tensor<8x64x64xf16>
  %ka = tile_tensor.slice %k offsets [0, 0, 0] sizes [2, 64, 32] : (tensor<2x64x64xf16>) -> tensor<2x64x32xf16>
  %kb = tile_tensor.slice %k offsets [0, 0, 32] sizes [2, 64, 32] : (tensor<2x64x64xf16>) -> tensor<2x64x32xf16>
  %kac = tile_tensor.mul %ka, %cos : (tensor<2x64x32xf16>, tensor<64x32xf16>) -> tensor<2x64x32xf16>
  %kbs = tile_tensor.mul %kb, %sin : (tensor<2x64x32xf16>, tensor<64x32xf16>) -> tensor<2x64x32xf16>
  %kas = tile_tensor.mul %ka, %sin : (tensor<2x64x32xf16>, tensor<64x32xf16>) -> tensor<2x64x32xf16>
  %kbc = tile_tensor.mul %kb, %cos : (tensor<2x64x32xf16>, tensor<64x32xf16>) -> tensor<2x64x32xf16>
  %kr0 = tile_tensor.sub %kac, %kbs : (tensor<2x64x32xf16>, tensor<2x64x32xf16>) -> tensor<2x64x32xf16>
  %kr1 = tile_tensor.add %kas, %kbc : (tensor<2x64x32xf16>, tensor<2x64x32xf16>) -> tensor<2x64x32xf16>
  %kr = tile_tensor.concat %kr0, %kr1 axis 2 : (tensor<2x64x32xf16>, tensor<2x64x32xf16>) -> tensor<2x64x64xf16>
  // grouped query: repeat kv heads twice
  %kg0 = tile_tensor.broadcast %kr dimensions [0, 2, 3] : (tensor<2x64x64xf16>) -> tensor<2x4x64x64xf16>
  %kg = tile_tensor.reshape %kg0 : (tensor<2x4x64x64xf16>) -> tensor<8x64x64xf16>
  %vg0 = tile_tensor.broadcast %v dimensions [0, 2, 3] : (tensor<2x64x64xf16>) -> tensor<2x4x64x64xf16>
  %vg = tile_tensor.reshape %vg0 : (tensor<2x4x64x64xf16>) -> tensor<8x64x64xf16>
  %mb = tile_tensor.broadcast %mask dimensions [1, 2] : (tensor<64x64xf16>) -> tensor<8x64x64xf16>
  %a = tile_tensor.attention %qr, %kg, %vg, %mb scale 0.125 : (tensor<8x64x64xf16>, tensor<8x64x64xf16>, tensor<8x64x64xf16>, tensor<8x64x64xf16>) -> tensor<8x64x64xf16>
  %at = tile_tensor.transpose %a permutation [1, 0, 2] : (tensor<8x64x64xf16>) -> tensor<64x8x64xf16>
  %ar = tile_tensor.reshape %at : (tensor<64x8x64xf16>) -> tensor<64x512xf16>
  %o = tile_tensor.matmul %ar, %wo : (tensor<64x512xf16>, tensor<512x512xf16>) -> tensor<64x512xf16>
  %h = tile_tensor.add %x, %o : (tensor<64x512xf16>, tensor<64x512xf16>) -> tensor<64x512xf16>
  %n2 = tile_tensor.rms_norm %h, %g2 epsilon 1.0e-5 : (tensor<64x512xf16>, tensor<512xf16>) -> tensor<64x512xf16>
  %g = tile_tensor.matmul %n2, %wg : (tensor<64x512xf16>, tensor<512x1408xf16>) -> tensor<64x1408xf16>
  %u = tile_tensor.matmul %n2, %wu : (tensor<64x512xf16>, tensor<512x1408xf16>) -> tensor<64x1408xf16>
  %s = tile_tensor.sigmoid %g : (tensor<64x1408xf16>) -> tensor<64x1408xf16>
  %sg = tile_tensor.mul %g, %s : (tensor<64x1408xf16>, tensor<64x1408xf16>) -> tensor<64x1408xf16>
  %m = tile_tensor.mul %sg, %u : (tensor<64x1408xf16>, tensor<64x1408xf16>) -> tensor<64x1408xf16>
  %d = tile_tensor.matmul %m, %wd : (tensor<64x1408xf16>, tensor<1408x512xf16>) -> tensor<64x512xf16>
  %y = tile_tensor.add %h, %d : (tensor<64x512xf16>, tensor<64x512xf16>) -> tensor<64x512xf16>
  func.return %y : tensor<64x512xf16>
}
