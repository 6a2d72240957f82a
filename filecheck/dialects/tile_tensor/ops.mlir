// RUN: TILE_ROUNDTRIP
// RUN: TILE_GENERIC_ROUNDTRIP

func.func @elementwise(%x: tensor<4x8xf16>, %row: tensor<8xf16>, %i: tensor<4xi32>) -> tensor<4x8xf16> {
  %0 = tile_tensor.add %x, %row : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  %1 = tile_tensor.sub %x, %row {plan = {storage = "split"}} : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf32>
  %2 = tile_tensor.mul %x, %x {saturate = false} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf8E4M3FNUZ>
  %3 = tile_tensor.div %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %4 = tile_tensor.maximum %x, %x : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %5 = tile_tensor.minimum %x, %x : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %6 = tile_tensor.neg %i : (tensor<4xi32>) -> tensor<4xi32>
  %7 = tile_tensor.rsqrt %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %8 = tile_tensor.gelu %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %9 = tile_tensor.gelu %x approximate tanh : (tensor<4x8xf16>) -> tensor<4x8xf8E4M3FNUZ>
  %10 = tile_tensor.cast %x : (tensor<4x8xf16>) -> tensor<4x8xbf16>
  %11 = tile_tensor.cast %x scale -3 {saturate = false} : (tensor<4x8xf16>) -> tensor<4x8xf8E5M2>
  func.return %0 : tensor<4x8xf16>
}

// CHECK:      func.func @elementwise
// CHECK-NEXT:   %{{.*}} = tile_tensor.add %x, %row : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.sub %x, %row {plan = {storage = "split"}} : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT:   %{{.*}} = tile_tensor.mul %x, %x {saturate = false} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf8E4M3FNUZ>
// CHECK-NEXT:   %{{.*}} = tile_tensor.div %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT:   %{{.*}} = tile_tensor.maximum %x, %x : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.minimum %x, %x : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.neg %i : (tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT:   %{{.*}} = tile_tensor.rsqrt %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.gelu %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.gelu %x approximate tanh : (tensor<4x8xf16>) -> tensor<4x8xf8E4M3FNUZ>
// CHECK-NEXT:   %{{.*}} = tile_tensor.cast %x : (tensor<4x8xf16>) -> tensor<4x8xbf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.cast %x scale -3 {saturate = false} : (tensor<4x8xf16>) -> tensor<4x8xf8E5M2>

// CHECK-GENERIC: "tile_tensor.mul"(%x, %x) <{saturate = false}> : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf8E4M3FNUZ>
// CHECK-GENERIC: "tile_tensor.gelu"(%x) <{approximate = #tile_tensor<approximation tanh>, saturate = true}>

func.func @products(%a: tensor<4x8xf8E4M3FNUZ>, %b: tensor<6x8xf8E4M3FNUZ>, %q: tensor<2x5x8xf16>, %m: tensor<2x1x5xf32>) -> tensor<4x6xf16> {
  %0 = tile_tensor.matmul %a, %b transpose_b accumulate f16 scale -3 : (tensor<4x8xf8E4M3FNUZ>, tensor<6x8xf8E4M3FNUZ>) -> tensor<4x6xf16>
  %1 = tile_tensor.matmul %q, %q transpose_a : (tensor<2x5x8xf16>, tensor<2x5x8xf16>) -> tensor<2x8x8xf32>
  %2 = tile_tensor.attention %q, %q, %q accumulate f16 scale 0.125 : (tensor<2x5x8xf16>, tensor<2x5x8xf16>, tensor<2x5x8xf16>) -> tensor<2x5x8xf16>
  %3 = tile_tensor.attention %q, %q, %q, %m scale 0.5 : (tensor<2x5x8xf16>, tensor<2x5x8xf16>, tensor<2x5x8xf16>, tensor<2x1x5xf32>) -> tensor<2x5x8xf16>
  %5 = tile_tensor.matmul %q, %b transpose_b : (tensor<2x5x8xf16>, tensor<6x8xf8E4M3FNUZ>) -> tensor<2x5x6xf16>
  %kv = tile_tensor.slice %q offsets [0, 0, 0] sizes [1, 5, 8] : (tensor<2x5x8xf16>) -> tensor<1x5x8xf16>
  %4 = tile_tensor.attention %q, %kv, %kv, %m scale 0.5 mask_place after_scale causal window 4 query_offset -1 empty_rows nan : (tensor<2x5x8xf16>, tensor<1x5x8xf16>, tensor<1x5x8xf16>, tensor<2x1x5xf32>) -> tensor<2x5x8xf16>
  func.return %0 : tensor<4x6xf16>
}

// CHECK:      func.func @products
// CHECK-NEXT:   %{{.*}} = tile_tensor.matmul %a, %b transpose_b accumulate f16 scale -3 : (tensor<4x8xf8E4M3FNUZ>, tensor<6x8xf8E4M3FNUZ>) -> tensor<4x6xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.matmul %q, %q transpose_a : (tensor<2x5x8xf16>, tensor<2x5x8xf16>) -> tensor<2x8x8xf32>
// CHECK-NEXT:   %{{.*}} = tile_tensor.attention %q, %q, %q accumulate f16 scale 1.250000e-01 : (tensor<2x5x8xf16>, tensor<2x5x8xf16>, tensor<2x5x8xf16>) -> tensor<2x5x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.attention %q, %q, %q, %m scale 5.000000e-01 : (tensor<2x5x8xf16>, tensor<2x5x8xf16>, tensor<2x5x8xf16>, tensor<2x1x5xf32>) -> tensor<2x5x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.matmul %q, %b transpose_b : (tensor<2x5x8xf16>, tensor<6x8xf8E4M3FNUZ>) -> tensor<2x5x6xf16>
// CHECK:        %{{.*}} = tile_tensor.attention %q, %kv, %kv, %m scale 5.000000e-01 mask_place after_scale causal window 4 query_offset -1 empty_rows nan : (tensor<2x5x8xf16>, tensor<1x5x8xf16>, tensor<1x5x8xf16>, tensor<2x1x5xf32>) -> tensor<2x5x8xf16>

func.func @rows(%x: tensor<4x8xf16>, %g: tensor<8xf32>) -> tensor<4x8xf16> {
  %0 = tile_tensor.reduce max %x axes [1] keep_dims : (tensor<4x8xf16>) -> tensor<4x1xf16>
  %1 = tile_tensor.reduce mean %x axes [0, 1] : (tensor<4x8xf16>) -> tensor<f32>
  %2 = tile_tensor.softmax %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %3 = tile_tensor.softmax %x scale 0.5 : (tensor<4x8xf16>) -> tensor<4x8xf8E4M3FNUZ>
  %4 = tile_tensor.layer_norm %x, %g, %g epsilon 1.0e-6 : (tensor<4x8xf16>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf16>
  %5 = tile_tensor.rms_norm %x, %g epsilon 1.0e-5 : (tensor<4x8xf16>, tensor<8xf32>) -> tensor<4x8xf16>
  func.return %4 : tensor<4x8xf16>
}

// CHECK:      func.func @rows
// CHECK-NEXT:   %{{.*}} = tile_tensor.reduce max %x axes [1] keep_dims : (tensor<4x8xf16>) -> tensor<4x1xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.reduce mean %x axes [0, 1] : (tensor<4x8xf16>) -> tensor<f32>
// CHECK-NEXT:   %{{.*}} = tile_tensor.softmax %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.softmax %x scale 5.000000e-01 : (tensor<4x8xf16>) -> tensor<4x8xf8E4M3FNUZ>
// CHECK-NEXT:   %{{.*}} = tile_tensor.layer_norm %x, %g, %g epsilon 1.000000e-06 : (tensor<4x8xf16>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.rms_norm %x, %g epsilon {{.*}} : (tensor<4x8xf16>, tensor<8xf32>) -> tensor<4x8xf16>

func.func @movement(%x: tensor<4x8xf16>, %i: tensor<3xi32>) -> tensor<8x4xf16> {
  %0 = tile_tensor.transpose %x permutation [1, 0] : (tensor<4x8xf16>) -> tensor<8x4xf16>
  %1 = tile_tensor.reshape %x : (tensor<4x8xf16>) -> tensor<2x16xf16>
  %2 = tile_tensor.slice %x offsets [1, 2] sizes [2, 3] : (tensor<4x8xf16>) -> tensor<2x3xf16>
  %3 = tile_tensor.concat %x, %x, %x axis 1 : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x24xf16>
  %4 = tile_tensor.pad %x low [0, 1] high [2, 0] : (tensor<4x8xf16>) -> tensor<6x9xf16>
  %5 = tile_tensor.pad %x low [0, 1] high [2, 0] value 0xFF800000 : (tensor<4x8xf16>) -> tensor<6x9xf16>
  %6 = tile_tensor.broadcast %x dimensions [0, 2] : (tensor<4x8xf16>) -> tensor<4x3x8xf16>
  %7 = tile_tensor.gather %x, %i axis 1 : (tensor<4x8xf16>, tensor<3xi32>) -> tensor<4x3xf16>
  %8 = tile_tensor.gather %x, %i : (tensor<4x8xf16>, tensor<3xi32>) -> tensor<3x8xf16>
  %9 = tile_tensor.constant dense<[1.0, -2.5]> : tensor<2xf8E4M3FNUZ>
  func.return %0 : tensor<8x4xf16>
}

// CHECK:      func.func @movement
// CHECK-NEXT:   %{{.*}} = tile_tensor.transpose %x permutation [1, 0] : (tensor<4x8xf16>) -> tensor<8x4xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.reshape %x : (tensor<4x8xf16>) -> tensor<2x16xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.slice %x offsets [1, 2] sizes [2, 3] : (tensor<4x8xf16>) -> tensor<2x3xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.concat %x, %x, %x axis 1 : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x24xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.pad %x low [0, 1] high [2, 0] : (tensor<4x8xf16>) -> tensor<6x9xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.pad %x low [0, 1] high [2, 0] value 0xff800000 : (tensor<4x8xf16>) -> tensor<6x9xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.broadcast %x dimensions [0, 2] : (tensor<4x8xf16>) -> tensor<4x3x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.gather %x, %i axis 1 : (tensor<4x8xf16>, tensor<3xi32>) -> tensor<4x3xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.gather %x, %i : (tensor<4x8xf16>, tensor<3xi32>) -> tensor<3x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.constant dense<[1.000000e+00, -2.500000e+00]> : tensor<2xf8E4M3FNUZ>

func.func @attributes(%x: tensor<4x8xf16>, %i: tensor<3xi32>, %n: tensor<2xi32>, %g: tensor<8xf16>) -> tensor<4x8xi8> {
  %0 = tile_tensor.cast %x rounding truncate {saturate = false} : (tensor<4x8xf16>) -> tensor<4x8xi8>
  %1 = tile_tensor.cast %x rounding nearest : (tensor<4x8xf16>) -> tensor<4x8xi8>
  %2 = tile_tensor.softmax %x scale -0.5 empty_rows uniform {saturate = false} : (tensor<4x8xf16>) -> tensor<4x8xf8E5M2>
  %3 = tile_tensor.softmax %x empty_rows nan : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %4 = tile_tensor.attention %x, %x, %x accumulate f16 scale 0.5 empty_rows nan {saturate = false} : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf8E5M2>
  %5 = tile_tensor.attention %x, %x, %x empty_rows zero : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %6 = tile_tensor.gather %x, %i axis 1 out_of_range zero : (tensor<4x8xf16>, tensor<3xi32>) -> tensor<4x3xf16>
  %7 = tile_tensor.gather %x, %i out_of_range clamp : (tensor<4x8xf16>, tensor<3xi32>) -> tensor<3x8xf16>
  %8 = tile_tensor.matmul %x, %x transpose_b {saturate = false} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x4xf8E5M2>
  %9 = tile_tensor.reduce sum %x axes [1] {saturate = false} : (tensor<4x8xf16>) -> tensor<4xf8E5M2>
  %10 = tile_tensor.layer_norm %x, %g, %g epsilon 0.5 {saturate = false} : (tensor<4x8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<4x8xf8E5M2>
  %11 = tile_tensor.rms_norm %x, %g epsilon 0.5 {saturate = false} : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf8E5M2>
  %12 = tile_tensor.pad %n low [1] high [0] value -2147483648 : (tensor<2xi32>) -> tensor<3xi32>
  %13 = tile_tensor.pad %g low [1] high [0] value 1.00048828135 : (tensor<8xf16>) -> tensor<9xf16>
  func.return %0 : tensor<4x8xi8>
}

// CHECK:      func.func @attributes
// CHECK-NEXT:   %{{.*}} = tile_tensor.cast %x rounding truncate {saturate = false} : (tensor<4x8xf16>) -> tensor<4x8xi8>
// CHECK-NEXT:   %{{.*}} = tile_tensor.cast %x : (tensor<4x8xf16>) -> tensor<4x8xi8>
// CHECK-NEXT:   %{{.*}} = tile_tensor.softmax %x scale -5.000000e-01 empty_rows uniform {saturate = false} : (tensor<4x8xf16>) -> tensor<4x8xf8E5M2>
// CHECK-NEXT:   %{{.*}} = tile_tensor.softmax %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.attention %x, %x, %x accumulate f16 scale 5.000000e-01 empty_rows nan {saturate = false} : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf8E5M2>
// CHECK-NEXT:   %{{.*}} = tile_tensor.attention %x, %x, %x : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.gather %x, %i axis 1 out_of_range zero : (tensor<4x8xf16>, tensor<3xi32>) -> tensor<4x3xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.gather %x, %i : (tensor<4x8xf16>, tensor<3xi32>) -> tensor<3x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.matmul %x, %x transpose_b {saturate = false} : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x4xf8E5M2>
// CHECK-NEXT:   %{{.*}} = tile_tensor.reduce sum %x axes [1] {saturate = false} : (tensor<4x8xf16>) -> tensor<4xf8E5M2>
// CHECK-NEXT:   %{{.*}} = tile_tensor.layer_norm %x, %g, %g epsilon 5.000000e-01 {saturate = false} : (tensor<4x8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<4x8xf8E5M2>
// CHECK-NEXT:   %{{.*}} = tile_tensor.rms_norm %x, %g epsilon 5.000000e-01 {saturate = false} : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf8E5M2>
// CHECK-NEXT:   %{{.*}} = tile_tensor.pad %n low [1] high [0] value -2147483648 : (tensor<2xi32>) -> tensor<3xi32>
// CHECK-NEXT:   %{{.*}} = tile_tensor.pad %g low [1] high [0] value 1.00048828135 : (tensor<8xf16>) -> tensor<9xf16>

func.func @truths(%q: tensor<5x8xf16>, %m: tensor<5x5xi1>) {
  %0 = tile_tensor.attention %q, %q, %q, %m : (tensor<5x8xf16>, tensor<5x8xf16>, tensor<5x8xf16>, tensor<5x5xi1>) -> tensor<5x8xf16>
  func.return
}

// CHECK:      func.func @truths
// CHECK-NEXT:   %{{.*}} = tile_tensor.attention %q, %q, %q, %m : (tensor<5x8xf16>, tensor<5x8xf16>, tensor<5x8xf16>, tensor<5x5xi1>) -> tensor<5x8xf16>

func.func @windows(%x: tensor<4x8xf16>, %u: tensor<1x8xf16>, %s: tensor<f16>, %i: tensor<i32>) -> tensor<4x8xf16> {
  %0 = tile_tensor.dynamic_slice %x, %i, %i sizes [2, 3] : (tensor<4x8xf16>, tensor<i32>, tensor<i32>) -> tensor<2x3xf16>
  %1 = tile_tensor.dynamic_update_slice %x, %u, %i, %i : (tensor<4x8xf16>, tensor<1x8xf16>, tensor<i32>, tensor<i32>) -> tensor<4x8xf16>
  %2 = tile_tensor.dynamic_slice %s sizes [] : (tensor<f16>) -> tensor<f16>
  %3 = tile_tensor.dynamic_update_slice %s, %2 : (tensor<f16>, tensor<f16>) -> tensor<f16>
  func.return %1 : tensor<4x8xf16>
}

// CHECK:      func.func @windows
// CHECK-NEXT:   %{{.*}} = tile_tensor.dynamic_slice %x, %i, %i sizes [2, 3] : (tensor<4x8xf16>, tensor<i32>, tensor<i32>) -> tensor<2x3xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.dynamic_update_slice %x, %u, %i, %i : (tensor<4x8xf16>, tensor<1x8xf16>, tensor<i32>, tensor<i32>) -> tensor<4x8xf16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.dynamic_slice %s sizes [] : (tensor<f16>) -> tensor<f16>
// CHECK-NEXT:   %{{.*}} = tile_tensor.dynamic_update_slice %s, %{{.*}} : (tensor<f16>, tensor<f16>) -> tensor<f16>
