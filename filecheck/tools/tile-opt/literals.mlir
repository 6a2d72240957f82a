// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s | tile-opt | filecheck %s

// Literals mean what they mean in MLIR: rounded once, to nearest even; beyond the largest value infinite, NaN
// where the type has no infinity; `1e-05` needs no point.

func.func @main(%x: tensor<4xf16>) -> tensor<4xf16> {
  // CHECK: dense<0xfc00> : tensor<4xf16>
  %mask = tile_tensor.constant dense<-1.0e9> : tensor<4xf16>
  // CHECK: dense<[1.001360e-05, 6.550400e+04, 0x7c00, 0xfc00]> : tensor<4xf16>
  %f16 = tile_tensor.constant dense<[1e-05, 65519.0, 65520.0, 0xFC00]> : tensor<4xf16>
  // CHECK: dense<[2.400000e+02, 0x80, 2.400000e+02, 0x80]> : tensor<4xf8E4M3FNUZ>
  %fnuz = tile_tensor.constant dense<[240.0, 248.0, 247.0, 0x80]> : tensor<4xf8E4M3FNUZ>
  // CHECK: dense<[4.480000e+02, 4.480000e+02, 0x7f, 0x7f]> : tensor<4xf8E4M3FN>
  %fn = tile_tensor.constant dense<[448.0, 463.0, 480.0, 0xFF]> : tensor<4xf8E4M3FN>
  // CHECK: dense<[5.734400e+04, 0x7c, 0xfc, 0x7c]> : tensor<4xf8E5M2>
  %e5m2 = tile_tensor.constant dense<[61439.0, 61440.0, -1.0e9, 0x7C]> : tensor<4xf8E5M2>
  // CHECK: dense<[0x7f80, 0xff80, 0x7f80, 1.000000e+00]> : tensor<4xbf16>
  %bf16 = tile_tensor.constant dense<[3.4028236e38, -1.0e400, 0x7F80, 1]> : tensor<4xbf16>
  // CHECK: dense<[0x7f800000, 0xff800000, 0xff800000, 1.000000e-05]> : tensor<4xf32>
  %f32 = tile_tensor.constant dense<[1.0e39, -1e400, 0xFF800000, 1e-05]> : tensor<4xf32>
  // CHECK: tile_tensor.softmax %x scale 1.000000e-05
  %scaled = tile_tensor.softmax %x scale 1e-05 : (tensor<4xf16>) -> tensor<4xf16>
  // CHECK: epsilon 1.000000e-05 {a = 0x7c00 : f16, b = 0xfc00 : f16, c = 1.000000e-05 : f64}
  %normed = tile_tensor.rms_norm %x, %x epsilon 1e-05 {a = 1.0e9 : f16, b = 0xFC00 : f16, c = 1e-05}
      : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  func.return %scaled : tensor<4xf16>
}
