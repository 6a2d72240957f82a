// Hexadecimal float literals are bits: -inf, a NaN with its payload, FP8 codes.

// RUN: tile-opt %s | filecheck %s

// CHECK: dense<0xff800000> : tensor<f32>
"test.op"() {a = dense<0xFF800000> : tensor<f32>} : () -> ()
// CHECK: dense<[0xff80, 0x7fc0]> : tensor<2xbf16>
"test.op"() {a = dense<[0xFF80, 0x7FC0]> : tensor<2xbf16>} : () -> ()
// CHECK: 4.480000e+02
"test.op"() {a = dense<0x7E> : tensor<f8E4M3FN>} : () -> ()
