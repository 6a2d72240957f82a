builtin.module {
  func.func @main(%v1_weight: tensor<8xbf16> {tile_tensor.parameter = "1.weight"}, %input: tensor<2x8x8xbf16> {tile_tensor.input = "input"}) -> (tensor<2x8x8xbf16> {tile_tensor.output = "out0"}) {
    %0 = tile_hlo.slice %input {start = array<i64: 0, 0, 0>, limit = array<i64: 2, 8, 4>, strides = array<i64: 1, 1, 1>} : (tensor<2x8x8xbf16>) -> tensor<2x8x4xbf16>
    %1 = tile_hlo.slice %input {start = array<i64: 0, 0, 4>, limit = array<i64: 2, 8, 8>, strides = array<i64: 1, 1, 1>} : (tensor<2x8x8xbf16>) -> tensor<2x8x4xbf16>
    %2 = tile_hlo.constant {value = dense<[[1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00], [5.390620e-01, 9.960940e-01, 1.000000e+00, 1.000000e+00], [-4.160160e-01, 9.804690e-01, 1.000000e+00, 1.000000e+00], [-9.882810e-01, 9.570310e-01, 1.000000e+00, 1.000000e+00], [-6.523440e-01, 9.218750e-01, 1.000000e+00, 1.000000e+00], [2.832030e-01, 8.789060e-01, 1.000000e+00, 1.000000e+00], [9.609380e-01, 8.242190e-01, 1.000000e+00, 1.000000e+00], [7.539060e-01, 7.656250e-01, 9.960940e-01, 1.000000e+00]]> : tensor<8x4xbf16>} : () -> tensor<8x4xbf16>
    %3 = tile_hlo.broadcast_in_dim %2 {dimensions = array<i64: 1, 2>} : (tensor<8x4xbf16>) -> tensor<2x8x4xbf16>
    %4 = tile_hlo.multiply %0, %3 : (tensor<2x8x4xbf16>, tensor<2x8x4xbf16>) -> tensor<2x8x4xbf16>
    %5 = tile_hlo.constant {value = dense<[[0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [8.398440e-01, 1.000980e-01, 1.000980e-02, 9.994510e-04], [9.101560e-01, 1.992190e-01, 2.001950e-02, 1.998900e-03], [1.416020e-01, 2.968750e-01, 3.002930e-02, 3.005980e-03], [-7.578120e-01, 3.906250e-01, 4.003910e-02, 3.997800e-03], [-9.570310e-01, 4.785160e-01, 5.004880e-02, 5.004880e-03], [-2.792970e-01, 5.664060e-01, 6.005860e-02, 6.011960e-03], [6.562500e-01, 6.445310e-01, 6.982420e-02, 6.988530e-03]]> : tensor<8x4xbf16>} : () -> tensor<8x4xbf16>
    %6 = tile_hlo.broadcast_in_dim %5 {dimensions = array<i64: 1, 2>} : (tensor<8x4xbf16>) -> tensor<2x8x4xbf16>
    %7 = tile_hlo.multiply %1, %6 : (tensor<2x8x4xbf16>, tensor<2x8x4xbf16>) -> tensor<2x8x4xbf16>
    %8 = tile_hlo.subtract %4, %7 : (tensor<2x8x4xbf16>, tensor<2x8x4xbf16>) -> tensor<2x8x4xbf16>
    %9 = tile_hlo.constant {value = dense<[[1.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00], [5.390620e-01, 9.960940e-01, 1.000000e+00, 1.000000e+00], [-4.160160e-01, 9.804690e-01, 1.000000e+00, 1.000000e+00], [-9.882810e-01, 9.570310e-01, 1.000000e+00, 1.000000e+00], [-6.523440e-01, 9.218750e-01, 1.000000e+00, 1.000000e+00], [2.832030e-01, 8.789060e-01, 1.000000e+00, 1.000000e+00], [9.609380e-01, 8.242190e-01, 1.000000e+00, 1.000000e+00], [7.539060e-01, 7.656250e-01, 9.960940e-01, 1.000000e+00]]> : tensor<8x4xbf16>} : () -> tensor<8x4xbf16>
    %10 = tile_hlo.broadcast_in_dim %9 {dimensions = array<i64: 1, 2>} : (tensor<8x4xbf16>) -> tensor<2x8x4xbf16>
    %11 = tile_hlo.multiply %1, %10 : (tensor<2x8x4xbf16>, tensor<2x8x4xbf16>) -> tensor<2x8x4xbf16>
    %12 = tile_hlo.constant {value = dense<[[0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [8.398440e-01, 1.000980e-01, 1.000980e-02, 9.994510e-04], [9.101560e-01, 1.992190e-01, 2.001950e-02, 1.998900e-03], [1.416020e-01, 2.968750e-01, 3.002930e-02, 3.005980e-03], [-7.578120e-01, 3.906250e-01, 4.003910e-02, 3.997800e-03], [-9.570310e-01, 4.785160e-01, 5.004880e-02, 5.004880e-03], [-2.792970e-01, 5.664060e-01, 6.005860e-02, 6.011960e-03], [6.562500e-01, 6.445310e-01, 6.982420e-02, 6.988530e-03]]> : tensor<8x4xbf16>} : () -> tensor<8x4xbf16>
    %13 = tile_hlo.broadcast_in_dim %12 {dimensions = array<i64: 1, 2>} : (tensor<8x4xbf16>) -> tensor<2x8x4xbf16>
    %14 = tile_hlo.multiply %0, %13 : (tensor<2x8x4xbf16>, tensor<2x8x4xbf16>) -> tensor<2x8x4xbf16>
    %15 = tile_hlo.add %11, %14 : (tensor<2x8x4xbf16>, tensor<2x8x4xbf16>) -> tensor<2x8x4xbf16>
    %16 = tile_hlo.concatenate %8, %15 {dimension = 2 : i64} : (tensor<2x8x4xbf16>, tensor<2x8x4xbf16>) -> tensor<2x8x8xbf16>
    %17 = tile_hlo.convert %16 : (tensor<2x8x8xbf16>) -> tensor<2x8x8xf32>
    %18 = tile_hlo.reduce %17 {kind = "sum", dimensions = array<i64: 2>} : (tensor<2x8x8xf32>) -> tensor<2x8xf32>
    %19 = tile_hlo.reshape %18 : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %20 = tile_hlo.constant {value = dense<8.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %21 = tile_hlo.broadcast_in_dim %20 {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x8x1xf32>
    %22 = tile_hlo.divide %19, %21 : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %23 = tile_hlo.convert %22 : (tensor<2x8x1xf32>) -> tensor<2x8x1xbf16>
    %24 = tile_hlo.broadcast_in_dim %23 {dimensions = array<i64: 0, 1, 2>} : (tensor<2x8x1xbf16>) -> tensor<2x8x8xbf16>
    %25 = tile_hlo.subtract %16, %24 : (tensor<2x8x8xbf16>, tensor<2x8x8xbf16>) -> tensor<2x8x8xbf16>
    %26 = tile_hlo.convert %16 : (tensor<2x8x8xbf16>) -> tensor<2x8x8xf32>
    %27 = tile_hlo.reduce %26 {kind = "sum", dimensions = array<i64: 2>} : (tensor<2x8x8xf32>) -> tensor<2x8xf32>
    %28 = tile_hlo.reshape %27 : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %29 = tile_hlo.constant {value = dense<8.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %30 = tile_hlo.broadcast_in_dim %29 {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x8x1xf32>
    %31 = tile_hlo.divide %28, %30 : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %32 = tile_hlo.broadcast_in_dim %31 {dimensions = array<i64: 0, 1, 2>} : (tensor<2x8x1xf32>) -> tensor<2x8x8xf32>
    %33 = tile_hlo.subtract %26, %32 : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
    %34 = tile_hlo.multiply %33, %33 : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
    %35 = tile_hlo.reduce %34 {kind = "sum", dimensions = array<i64: 2>} : (tensor<2x8x8xf32>) -> tensor<2x8xf32>
    %36 = tile_hlo.reshape %35 : (tensor<2x8xf32>) -> tensor<2x8x1xf32>
    %37 = tile_hlo.constant {value = dense<8.000000e+00> : tensor<f32>} : () -> tensor<f32>
    %38 = tile_hlo.broadcast_in_dim %37 {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x8x1xf32>
    %39 = tile_hlo.divide %36, %38 : (tensor<2x8x1xf32>, tensor<2x8x1xf32>) -> tensor<2x8x1xf32>
    %40 = tile_hlo.convert %39 : (tensor<2x8x1xf32>) -> tensor<2x8x1xbf16>
    %41 = tile_hlo.constant {value = dense<1.001360e-05> : tensor<bf16>} : () -> tensor<bf16>
    %42 = tile_hlo.broadcast_in_dim %41 {dimensions = array<i64>} : (tensor<bf16>) -> tensor<2x8x1xbf16>
    %43 = tile_hlo.add %40, %42 : (tensor<2x8x1xbf16>, tensor<2x8x1xbf16>) -> tensor<2x8x1xbf16>
    %44 = tile_hlo.rsqrt %43 : (tensor<2x8x1xbf16>) -> tensor<2x8x1xbf16>
    %45 = tile_hlo.broadcast_in_dim %44 {dimensions = array<i64: 0, 1, 2>} : (tensor<2x8x1xbf16>) -> tensor<2x8x8xbf16>
    %46 = tile_hlo.multiply %25, %45 : (tensor<2x8x8xbf16>, tensor<2x8x8xbf16>) -> tensor<2x8x8xbf16>
    %47 = tile_hlo.broadcast_in_dim %v1_weight {dimensions = array<i64: 2>} : (tensor<8xbf16>) -> tensor<2x8x8xbf16>
    %48 = tile_hlo.multiply %46, %47 : (tensor<2x8x8xbf16>, tensor<2x8x8xbf16>) -> tensor<2x8x8xbf16>
    %49 = tile_hlo.constant {value = dense<5.000000e-01> : tensor<bf16>} : () -> tensor<bf16>
    %50 = tile_hlo.broadcast_in_dim %49 {dimensions = array<i64>} : (tensor<bf16>) -> tensor<2x8x8xbf16>
    %51 = tile_hlo.multiply %48, %50 : (tensor<2x8x8xbf16>, tensor<2x8x8xbf16>) -> tensor<2x8x8xbf16>
    %52 = tile_tensor.softmax %51 : (tensor<2x8x8xbf16>) -> tensor<2x8x8xbf16>
    %53 = tile_hlo.add %48, %52 : (tensor<2x8x8xbf16>, tensor<2x8x8xbf16>) -> tensor<2x8x8xbf16>
    func.return %53 : tensor<2x8x8xbf16>
  }
}
