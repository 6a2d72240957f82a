// RUN: tile-opt %s
"test.op"(){a=dense<0xFF800000>:tensor<f8E5M2>
