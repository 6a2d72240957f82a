builtin.module {
  func.func @main(%decoder_model_embed_tokens_weight: tensor<50x32xf32> {tile_tensor.parameter = "decoder.model.embed_tokens.weight"}, %decoder_model_layers_0_input_layernorm_weight: tensor<32xf32> {tile_tensor.parameter = "decoder.model.layers.0.input_layernorm.weight"}, %decoder_model_layers_0_q_proj_weight: tensor<32x32xf32> {tile_tensor.parameter = "decoder.model.layers.0.q_proj.weight"}, %decoder_model_layers_0_k_proj_weight: tensor<8x32xf32> {tile_tensor.parameter = "decoder.model.layers.0.k_proj.weight"}, %decoder_model_layers_0_v_proj_weight: tensor<8x32xf32> {tile_tensor.parameter = "decoder.model.layers.0.v_proj.weight"}, %decoder_model_layers_0_o_proj_weight: tensor<32x32xf32> {tile_tensor.parameter = "decoder.model.layers.0.o_proj.weight"}, %decoder_model_layers_0_post_attention_layernorm_weight: tensor<32xf32> {tile_tensor.parameter = "decoder.model.layers.0.post_attention_layernorm.weight"}, %decoder_model_layers_0_gate_proj_weight: tensor<64x32xf32> {tile_tensor.parameter = "decoder.model.layers.0.gate_proj.weight"}, %decoder_model_layers_0_up_proj_weight: tensor<64x32xf32> {tile_tensor.parameter = "decoder.model.layers.0.up_proj.weight"}, %decoder_model_layers_0_down_proj_weight: tensor<32x64xf32> {tile_tensor.parameter = "decoder.model.layers.0.down_proj.weight"}, %decoder_model_layers_1_input_layernorm_weight: tensor<32xf32> {tile_tensor.parameter = "decoder.model.layers.1.input_layernorm.weight"}, %decoder_model_layers_1_q_proj_weight: tensor<32x32xf32> {tile_tensor.parameter = "decoder.model.layers.1.q_proj.weight"}, %decoder_model_layers_1_k_proj_weight: tensor<8x32xf32> {tile_tensor.parameter = "decoder.model.layers.1.k_proj.weight"}, %decoder_model_layers_1_v_proj_weight: tensor<8x32xf32> {tile_tensor.parameter = "decoder.model.layers.1.v_proj.weight"}, %decoder_model_layers_1_o_proj_weight: tensor<32x32xf32> {tile_tensor.parameter = "decoder.model.layers.1.o_proj.weight"}, %decoder_model_layers_1_post_attention_layernorm_weight: tensor<32xf32> {tile_tensor.parameter = "decoder.model.layers.1.post_attention_layernorm.weight"}, %decoder_model_layers_1_gate_proj_weight: tensor<64x32xf32> {tile_tensor.parameter = "decoder.model.layers.1.gate_proj.weight"}, %decoder_model_layers_1_up_proj_weight: tensor<64x32xf32> {tile_tensor.parameter = "decoder.model.layers.1.up_proj.weight"}, %decoder_model_layers_1_down_proj_weight: tensor<32x64xf32> {tile_tensor.parameter = "decoder.model.layers.1.down_proj.weight"}, %decoder_model_norm_weight: tensor<32xf32> {tile_tensor.parameter = "decoder.model.norm.weight"}, %decoder_model_lm_head_weight: tensor<50x32xf32> {tile_tensor.parameter = "decoder.model.lm_head.weight"}, %token: tensor<1xi64> {tile_tensor.input = "token"}, %at: tensor<1xi64> {tile_tensor.input = "at"}, %tokens: tensor<8xi64> {tile_tensor.input = "tokens"}, %caches_0: tensor<1x2x12x4xf32> {tile_tensor.input = "caches_0_0"}, %caches_0_1: tensor<1x2x12x4xf32> {tile_tensor.input = "caches_0_1"}, %caches_1: tensor<1x2x12x4xf32> {tile_tensor.input = "caches_1_0"}, %caches_1_1: tensor<1x2x12x4xf32> {tile_tensor.input = "caches_1_1"}) -> (tensor<8xi64> {tile_tensor.output = "out0"}, tensor<1x2x12x4xf32> {tile_tensor.output = "out1"}, tensor<1x2x12x4xf32> {tile_tensor.output = "out2"}, tensor<1x2x12x4xf32> {tile_tensor.output = "out3"}, tensor<1x2x12x4xf32> {tile_tensor.output = "out4"}) {
    %0 = tile_hlo.take %decoder_model_embed_tokens_weight, %token {axis = 0 : i64, out_of_range = "clamp"} : (tensor<50x32xf32>, tensor<1xi64>) -> tensor<1x32xf32>
    %1 = tile_hlo.reshape %0 : (tensor<1x32xf32>) -> tensor<1x1x32xf32>
    %2 = tile_hlo.constant {value = dense<[[0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e-02], [2.000000e+00, 2.000000e-02], [3.000000e+00, 3.000000e-02], [4.000000e+00, 4.000000e-02], [5.000000e+00, 0.049999997], [6.000000e+00, 6.000000e-02], [7.000000e+00, 7.000000e-02], [8.000000e+00, 8.000000e-02], [9.000000e+00, 0.0899999961], [1.000000e+01, 0.099999994], [1.100000e+01, 1.100000e-01]]> : tensor<12x2xf32>} : () -> tensor<12x2xf32>
    %3 = tile_hlo.take %2, %at {axis = 0 : i64, out_of_range = "clamp"} : (tensor<12x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
    %4 = tile_tensor.rms_norm %1, %decoder_model_layers_0_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %5 = tile_hlo.dot_general %4, %decoder_model_layers_0_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %6 = tile_hlo.reshape %5 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %7 = tile_hlo.transpose %6 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %8 = tile_hlo.dot_general %4, %decoder_model_layers_0_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %9 = tile_hlo.reshape %8 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %10 = tile_hlo.transpose %9 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %11 = tile_hlo.cosine %3 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %12 = tile_hlo.sine %3 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %13 = tile_hlo.slice %7 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %14 = tile_hlo.slice %7 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %15 = tile_hlo.broadcast_in_dim %11 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %16 = tile_hlo.multiply %13, %15 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %17 = tile_hlo.broadcast_in_dim %12 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %18 = tile_hlo.multiply %14, %17 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %19 = tile_hlo.subtract %16, %18 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %20 = tile_hlo.broadcast_in_dim %11 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %21 = tile_hlo.multiply %14, %20 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %22 = tile_hlo.broadcast_in_dim %12 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %23 = tile_hlo.multiply %13, %22 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %24 = tile_hlo.add %21, %23 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %25 = tile_hlo.concatenate %19, %24 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %26 = tile_hlo.cosine %3 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %27 = tile_hlo.sine %3 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %28 = tile_hlo.slice %10 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %29 = tile_hlo.slice %10 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %30 = tile_hlo.broadcast_in_dim %26 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %31 = tile_hlo.multiply %28, %30 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %32 = tile_hlo.broadcast_in_dim %27 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %33 = tile_hlo.multiply %29, %32 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %34 = tile_hlo.subtract %31, %33 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %35 = tile_hlo.broadcast_in_dim %26 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %36 = tile_hlo.multiply %29, %35 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %37 = tile_hlo.broadcast_in_dim %27 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %38 = tile_hlo.multiply %28, %37 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %39 = tile_hlo.add %36, %38 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %40 = tile_hlo.concatenate %34, %39 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %41 = tile_hlo.dot_general %4, %decoder_model_layers_0_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %42 = tile_hlo.reshape %41 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %43 = tile_hlo.transpose %42 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %44 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %45 = tile_hlo.broadcast_in_dim %44 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %46 = tile_hlo.compare %at, %45 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %47 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %48 = tile_hlo.broadcast_in_dim %47 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %49 = tile_hlo.add %at, %48 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %50 = tile_hlo.select %46, %49, %at : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %51 = tile_hlo.reshape %50 : (tensor<1xi64>) -> tensor<i64>
    %52 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %53 = tile_hlo.dynamic_update_slice %caches_0, %40, %52, %52, %51, %52 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %54 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %55 = tile_hlo.broadcast_in_dim %54 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %56 = tile_hlo.compare %at, %55 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %57 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %58 = tile_hlo.broadcast_in_dim %57 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %59 = tile_hlo.add %at, %58 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %60 = tile_hlo.select %56, %59, %at : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %61 = tile_hlo.reshape %60 : (tensor<1xi64>) -> tensor<i64>
    %62 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %63 = tile_hlo.dynamic_update_slice %caches_0_1, %43, %62, %62, %61, %62 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %64 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %65 = tile_hlo.broadcast_in_dim %at {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %66 = tile_hlo.compare %64, %65 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %67 = tile_hlo.reshape %66 : (tensor<12xi1>) -> tensor<1x12xi1>
    %68 = tile_tensor.attention %25, %53, %63, %67 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %69 = tile_hlo.transpose %68 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %70 = tile_hlo.reshape %69 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %71 = tile_hlo.dot_general %70, %decoder_model_layers_0_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %72 = tile_hlo.add %1, %71 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %73 = tile_tensor.rms_norm %72, %decoder_model_layers_0_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %74 = tile_hlo.dot_general %73, %decoder_model_layers_0_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %75 = tile_tensor.silu %74 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %76 = tile_hlo.dot_general %73, %decoder_model_layers_0_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %77 = tile_hlo.multiply %75, %76 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %78 = tile_hlo.dot_general %77, %decoder_model_layers_0_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %79 = tile_hlo.add %72, %78 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %80 = tile_tensor.rms_norm %79, %decoder_model_layers_1_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %81 = tile_hlo.dot_general %80, %decoder_model_layers_1_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %82 = tile_hlo.reshape %81 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %83 = tile_hlo.transpose %82 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %84 = tile_hlo.dot_general %80, %decoder_model_layers_1_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %85 = tile_hlo.reshape %84 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %86 = tile_hlo.transpose %85 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %87 = tile_hlo.cosine %3 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %88 = tile_hlo.sine %3 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %89 = tile_hlo.slice %83 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %90 = tile_hlo.slice %83 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %91 = tile_hlo.broadcast_in_dim %87 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %92 = tile_hlo.multiply %89, %91 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %93 = tile_hlo.broadcast_in_dim %88 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %94 = tile_hlo.multiply %90, %93 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %95 = tile_hlo.subtract %92, %94 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %96 = tile_hlo.broadcast_in_dim %87 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %97 = tile_hlo.multiply %90, %96 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %98 = tile_hlo.broadcast_in_dim %88 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %99 = tile_hlo.multiply %89, %98 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %100 = tile_hlo.add %97, %99 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %101 = tile_hlo.concatenate %95, %100 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %102 = tile_hlo.cosine %3 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %103 = tile_hlo.sine %3 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %104 = tile_hlo.slice %86 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %105 = tile_hlo.slice %86 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %106 = tile_hlo.broadcast_in_dim %102 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %107 = tile_hlo.multiply %104, %106 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %108 = tile_hlo.broadcast_in_dim %103 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %109 = tile_hlo.multiply %105, %108 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %110 = tile_hlo.subtract %107, %109 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %111 = tile_hlo.broadcast_in_dim %102 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %112 = tile_hlo.multiply %105, %111 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %113 = tile_hlo.broadcast_in_dim %103 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %114 = tile_hlo.multiply %104, %113 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %115 = tile_hlo.add %112, %114 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %116 = tile_hlo.concatenate %110, %115 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %117 = tile_hlo.dot_general %80, %decoder_model_layers_1_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %118 = tile_hlo.reshape %117 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %119 = tile_hlo.transpose %118 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %120 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %121 = tile_hlo.broadcast_in_dim %120 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %122 = tile_hlo.compare %at, %121 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %123 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %124 = tile_hlo.broadcast_in_dim %123 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %125 = tile_hlo.add %at, %124 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %126 = tile_hlo.select %122, %125, %at : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %127 = tile_hlo.reshape %126 : (tensor<1xi64>) -> tensor<i64>
    %128 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %129 = tile_hlo.dynamic_update_slice %caches_1, %116, %128, %128, %127, %128 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %130 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %131 = tile_hlo.broadcast_in_dim %130 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %132 = tile_hlo.compare %at, %131 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %133 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %134 = tile_hlo.broadcast_in_dim %133 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %135 = tile_hlo.add %at, %134 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %136 = tile_hlo.select %132, %135, %at : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %137 = tile_hlo.reshape %136 : (tensor<1xi64>) -> tensor<i64>
    %138 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %139 = tile_hlo.dynamic_update_slice %caches_1_1, %119, %138, %138, %137, %138 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %140 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %141 = tile_hlo.broadcast_in_dim %at {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %142 = tile_hlo.compare %140, %141 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %143 = tile_hlo.reshape %142 : (tensor<12xi1>) -> tensor<1x12xi1>
    %144 = tile_tensor.attention %101, %129, %139, %143 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %145 = tile_hlo.transpose %144 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %146 = tile_hlo.reshape %145 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %147 = tile_hlo.dot_general %146, %decoder_model_layers_1_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %148 = tile_hlo.add %79, %147 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %149 = tile_tensor.rms_norm %148, %decoder_model_layers_1_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %150 = tile_hlo.dot_general %149, %decoder_model_layers_1_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %151 = tile_tensor.silu %150 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %152 = tile_hlo.dot_general %149, %decoder_model_layers_1_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %153 = tile_hlo.multiply %151, %152 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %154 = tile_hlo.dot_general %153, %decoder_model_layers_1_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %155 = tile_hlo.add %148, %154 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %156 = tile_tensor.rms_norm %155, %decoder_model_norm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %157 = tile_hlo.dot_general %156, %decoder_model_lm_head_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<50x32xf32>) -> tensor<1x1x50xf32>
    %158 = tile_hlo.reshape %157 : (tensor<1x1x50xf32>) -> tensor<1x50xf32>
    %159 = tile_hlo.arg_reduce %158 {kind = "max", dimension = 1 : i64} : (tensor<1x50xf32>) -> tensor<1xi64>
    %160 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %161 = tile_hlo.broadcast_in_dim %160 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %162 = tile_hlo.compare %at, %161 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %163 = tile_hlo.constant {value = dense<8> : tensor<i64>} : () -> tensor<i64>
    %164 = tile_hlo.broadcast_in_dim %163 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %165 = tile_hlo.add %at, %164 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %166 = tile_hlo.select %162, %165, %at : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %167 = tile_hlo.reshape %166 : (tensor<1xi64>) -> tensor<i64>
    %168 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %169 = tile_hlo.dynamic_update_slice %tokens, %159, %167 : (tensor<8xi64>, tensor<1xi64>, tensor<i64>) -> tensor<8xi64>
    %170 = tile_hlo.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %171 = tile_hlo.broadcast_in_dim %170 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %172 = tile_hlo.add %at, %171 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %173 = tile_hlo.take %decoder_model_embed_tokens_weight, %159 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<50x32xf32>, tensor<1xi64>) -> tensor<1x32xf32>
    %174 = tile_hlo.reshape %173 : (tensor<1x32xf32>) -> tensor<1x1x32xf32>
    %175 = tile_hlo.constant {value = dense<[[0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e-02], [2.000000e+00, 2.000000e-02], [3.000000e+00, 3.000000e-02], [4.000000e+00, 4.000000e-02], [5.000000e+00, 0.049999997], [6.000000e+00, 6.000000e-02], [7.000000e+00, 7.000000e-02], [8.000000e+00, 8.000000e-02], [9.000000e+00, 0.0899999961], [1.000000e+01, 0.099999994], [1.100000e+01, 1.100000e-01]]> : tensor<12x2xf32>} : () -> tensor<12x2xf32>
    %176 = tile_hlo.take %175, %172 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<12x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
    %177 = tile_tensor.rms_norm %174, %decoder_model_layers_0_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %178 = tile_hlo.dot_general %177, %decoder_model_layers_0_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %179 = tile_hlo.reshape %178 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %180 = tile_hlo.transpose %179 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %181 = tile_hlo.dot_general %177, %decoder_model_layers_0_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %182 = tile_hlo.reshape %181 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %183 = tile_hlo.transpose %182 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %184 = tile_hlo.cosine %176 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %185 = tile_hlo.sine %176 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %186 = tile_hlo.slice %180 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %187 = tile_hlo.slice %180 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %188 = tile_hlo.broadcast_in_dim %184 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %189 = tile_hlo.multiply %186, %188 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %190 = tile_hlo.broadcast_in_dim %185 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %191 = tile_hlo.multiply %187, %190 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %192 = tile_hlo.subtract %189, %191 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %193 = tile_hlo.broadcast_in_dim %184 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %194 = tile_hlo.multiply %187, %193 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %195 = tile_hlo.broadcast_in_dim %185 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %196 = tile_hlo.multiply %186, %195 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %197 = tile_hlo.add %194, %196 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %198 = tile_hlo.concatenate %192, %197 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %199 = tile_hlo.cosine %176 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %200 = tile_hlo.sine %176 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %201 = tile_hlo.slice %183 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %202 = tile_hlo.slice %183 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %203 = tile_hlo.broadcast_in_dim %199 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %204 = tile_hlo.multiply %201, %203 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %205 = tile_hlo.broadcast_in_dim %200 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %206 = tile_hlo.multiply %202, %205 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %207 = tile_hlo.subtract %204, %206 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %208 = tile_hlo.broadcast_in_dim %199 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %209 = tile_hlo.multiply %202, %208 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %210 = tile_hlo.broadcast_in_dim %200 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %211 = tile_hlo.multiply %201, %210 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %212 = tile_hlo.add %209, %211 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %213 = tile_hlo.concatenate %207, %212 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %214 = tile_hlo.dot_general %177, %decoder_model_layers_0_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %215 = tile_hlo.reshape %214 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %216 = tile_hlo.transpose %215 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %217 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %218 = tile_hlo.broadcast_in_dim %217 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %219 = tile_hlo.compare %172, %218 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %220 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %221 = tile_hlo.broadcast_in_dim %220 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %222 = tile_hlo.add %172, %221 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %223 = tile_hlo.select %219, %222, %172 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %224 = tile_hlo.reshape %223 : (tensor<1xi64>) -> tensor<i64>
    %225 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %226 = tile_hlo.dynamic_update_slice %53, %213, %225, %225, %224, %225 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %227 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %228 = tile_hlo.broadcast_in_dim %227 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %229 = tile_hlo.compare %172, %228 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %230 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %231 = tile_hlo.broadcast_in_dim %230 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %232 = tile_hlo.add %172, %231 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %233 = tile_hlo.select %229, %232, %172 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %234 = tile_hlo.reshape %233 : (tensor<1xi64>) -> tensor<i64>
    %235 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %236 = tile_hlo.dynamic_update_slice %63, %216, %235, %235, %234, %235 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %237 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %238 = tile_hlo.broadcast_in_dim %172 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %239 = tile_hlo.compare %237, %238 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %240 = tile_hlo.reshape %239 : (tensor<12xi1>) -> tensor<1x12xi1>
    %241 = tile_tensor.attention %198, %226, %236, %240 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %242 = tile_hlo.transpose %241 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %243 = tile_hlo.reshape %242 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %244 = tile_hlo.dot_general %243, %decoder_model_layers_0_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %245 = tile_hlo.add %174, %244 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %246 = tile_tensor.rms_norm %245, %decoder_model_layers_0_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %247 = tile_hlo.dot_general %246, %decoder_model_layers_0_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %248 = tile_tensor.silu %247 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %249 = tile_hlo.dot_general %246, %decoder_model_layers_0_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %250 = tile_hlo.multiply %248, %249 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %251 = tile_hlo.dot_general %250, %decoder_model_layers_0_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %252 = tile_hlo.add %245, %251 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %253 = tile_tensor.rms_norm %252, %decoder_model_layers_1_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %254 = tile_hlo.dot_general %253, %decoder_model_layers_1_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %255 = tile_hlo.reshape %254 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %256 = tile_hlo.transpose %255 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %257 = tile_hlo.dot_general %253, %decoder_model_layers_1_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %258 = tile_hlo.reshape %257 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %259 = tile_hlo.transpose %258 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %260 = tile_hlo.cosine %176 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %261 = tile_hlo.sine %176 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %262 = tile_hlo.slice %256 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %263 = tile_hlo.slice %256 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %264 = tile_hlo.broadcast_in_dim %260 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %265 = tile_hlo.multiply %262, %264 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %266 = tile_hlo.broadcast_in_dim %261 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %267 = tile_hlo.multiply %263, %266 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %268 = tile_hlo.subtract %265, %267 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %269 = tile_hlo.broadcast_in_dim %260 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %270 = tile_hlo.multiply %263, %269 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %271 = tile_hlo.broadcast_in_dim %261 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %272 = tile_hlo.multiply %262, %271 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %273 = tile_hlo.add %270, %272 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %274 = tile_hlo.concatenate %268, %273 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %275 = tile_hlo.cosine %176 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %276 = tile_hlo.sine %176 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %277 = tile_hlo.slice %259 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %278 = tile_hlo.slice %259 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %279 = tile_hlo.broadcast_in_dim %275 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %280 = tile_hlo.multiply %277, %279 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %281 = tile_hlo.broadcast_in_dim %276 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %282 = tile_hlo.multiply %278, %281 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %283 = tile_hlo.subtract %280, %282 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %284 = tile_hlo.broadcast_in_dim %275 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %285 = tile_hlo.multiply %278, %284 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %286 = tile_hlo.broadcast_in_dim %276 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %287 = tile_hlo.multiply %277, %286 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %288 = tile_hlo.add %285, %287 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %289 = tile_hlo.concatenate %283, %288 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %290 = tile_hlo.dot_general %253, %decoder_model_layers_1_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %291 = tile_hlo.reshape %290 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %292 = tile_hlo.transpose %291 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %293 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %294 = tile_hlo.broadcast_in_dim %293 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %295 = tile_hlo.compare %172, %294 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %296 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %297 = tile_hlo.broadcast_in_dim %296 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %298 = tile_hlo.add %172, %297 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %299 = tile_hlo.select %295, %298, %172 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %300 = tile_hlo.reshape %299 : (tensor<1xi64>) -> tensor<i64>
    %301 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %302 = tile_hlo.dynamic_update_slice %129, %289, %301, %301, %300, %301 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %303 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %304 = tile_hlo.broadcast_in_dim %303 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %305 = tile_hlo.compare %172, %304 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %306 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %307 = tile_hlo.broadcast_in_dim %306 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %308 = tile_hlo.add %172, %307 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %309 = tile_hlo.select %305, %308, %172 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %310 = tile_hlo.reshape %309 : (tensor<1xi64>) -> tensor<i64>
    %311 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %312 = tile_hlo.dynamic_update_slice %139, %292, %311, %311, %310, %311 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %313 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %314 = tile_hlo.broadcast_in_dim %172 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %315 = tile_hlo.compare %313, %314 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %316 = tile_hlo.reshape %315 : (tensor<12xi1>) -> tensor<1x12xi1>
    %317 = tile_tensor.attention %274, %302, %312, %316 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %318 = tile_hlo.transpose %317 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %319 = tile_hlo.reshape %318 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %320 = tile_hlo.dot_general %319, %decoder_model_layers_1_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %321 = tile_hlo.add %252, %320 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %322 = tile_tensor.rms_norm %321, %decoder_model_layers_1_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %323 = tile_hlo.dot_general %322, %decoder_model_layers_1_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %324 = tile_tensor.silu %323 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %325 = tile_hlo.dot_general %322, %decoder_model_layers_1_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %326 = tile_hlo.multiply %324, %325 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %327 = tile_hlo.dot_general %326, %decoder_model_layers_1_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %328 = tile_hlo.add %321, %327 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %329 = tile_tensor.rms_norm %328, %decoder_model_norm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %330 = tile_hlo.dot_general %329, %decoder_model_lm_head_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<50x32xf32>) -> tensor<1x1x50xf32>
    %331 = tile_hlo.reshape %330 : (tensor<1x1x50xf32>) -> tensor<1x50xf32>
    %332 = tile_hlo.arg_reduce %331 {kind = "max", dimension = 1 : i64} : (tensor<1x50xf32>) -> tensor<1xi64>
    %333 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %334 = tile_hlo.broadcast_in_dim %333 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %335 = tile_hlo.compare %172, %334 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %336 = tile_hlo.constant {value = dense<8> : tensor<i64>} : () -> tensor<i64>
    %337 = tile_hlo.broadcast_in_dim %336 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %338 = tile_hlo.add %172, %337 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %339 = tile_hlo.select %335, %338, %172 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %340 = tile_hlo.reshape %339 : (tensor<1xi64>) -> tensor<i64>
    %341 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %342 = tile_hlo.dynamic_update_slice %169, %332, %340 : (tensor<8xi64>, tensor<1xi64>, tensor<i64>) -> tensor<8xi64>
    %343 = tile_hlo.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %344 = tile_hlo.broadcast_in_dim %343 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %345 = tile_hlo.add %172, %344 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %346 = tile_hlo.take %decoder_model_embed_tokens_weight, %332 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<50x32xf32>, tensor<1xi64>) -> tensor<1x32xf32>
    %347 = tile_hlo.reshape %346 : (tensor<1x32xf32>) -> tensor<1x1x32xf32>
    %348 = tile_hlo.constant {value = dense<[[0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e-02], [2.000000e+00, 2.000000e-02], [3.000000e+00, 3.000000e-02], [4.000000e+00, 4.000000e-02], [5.000000e+00, 0.049999997], [6.000000e+00, 6.000000e-02], [7.000000e+00, 7.000000e-02], [8.000000e+00, 8.000000e-02], [9.000000e+00, 0.0899999961], [1.000000e+01, 0.099999994], [1.100000e+01, 1.100000e-01]]> : tensor<12x2xf32>} : () -> tensor<12x2xf32>
    %349 = tile_hlo.take %348, %345 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<12x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
    %350 = tile_tensor.rms_norm %347, %decoder_model_layers_0_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %351 = tile_hlo.dot_general %350, %decoder_model_layers_0_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %352 = tile_hlo.reshape %351 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %353 = tile_hlo.transpose %352 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %354 = tile_hlo.dot_general %350, %decoder_model_layers_0_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %355 = tile_hlo.reshape %354 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %356 = tile_hlo.transpose %355 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %357 = tile_hlo.cosine %349 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %358 = tile_hlo.sine %349 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %359 = tile_hlo.slice %353 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %360 = tile_hlo.slice %353 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %361 = tile_hlo.broadcast_in_dim %357 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %362 = tile_hlo.multiply %359, %361 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %363 = tile_hlo.broadcast_in_dim %358 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %364 = tile_hlo.multiply %360, %363 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %365 = tile_hlo.subtract %362, %364 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %366 = tile_hlo.broadcast_in_dim %357 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %367 = tile_hlo.multiply %360, %366 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %368 = tile_hlo.broadcast_in_dim %358 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %369 = tile_hlo.multiply %359, %368 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %370 = tile_hlo.add %367, %369 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %371 = tile_hlo.concatenate %365, %370 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %372 = tile_hlo.cosine %349 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %373 = tile_hlo.sine %349 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %374 = tile_hlo.slice %356 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %375 = tile_hlo.slice %356 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %376 = tile_hlo.broadcast_in_dim %372 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %377 = tile_hlo.multiply %374, %376 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %378 = tile_hlo.broadcast_in_dim %373 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %379 = tile_hlo.multiply %375, %378 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %380 = tile_hlo.subtract %377, %379 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %381 = tile_hlo.broadcast_in_dim %372 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %382 = tile_hlo.multiply %375, %381 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %383 = tile_hlo.broadcast_in_dim %373 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %384 = tile_hlo.multiply %374, %383 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %385 = tile_hlo.add %382, %384 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %386 = tile_hlo.concatenate %380, %385 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %387 = tile_hlo.dot_general %350, %decoder_model_layers_0_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %388 = tile_hlo.reshape %387 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %389 = tile_hlo.transpose %388 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %390 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %391 = tile_hlo.broadcast_in_dim %390 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %392 = tile_hlo.compare %345, %391 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %393 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %394 = tile_hlo.broadcast_in_dim %393 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %395 = tile_hlo.add %345, %394 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %396 = tile_hlo.select %392, %395, %345 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %397 = tile_hlo.reshape %396 : (tensor<1xi64>) -> tensor<i64>
    %398 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %399 = tile_hlo.dynamic_update_slice %226, %386, %398, %398, %397, %398 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %400 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %401 = tile_hlo.broadcast_in_dim %400 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %402 = tile_hlo.compare %345, %401 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %403 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %404 = tile_hlo.broadcast_in_dim %403 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %405 = tile_hlo.add %345, %404 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %406 = tile_hlo.select %402, %405, %345 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %407 = tile_hlo.reshape %406 : (tensor<1xi64>) -> tensor<i64>
    %408 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %409 = tile_hlo.dynamic_update_slice %236, %389, %408, %408, %407, %408 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %410 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %411 = tile_hlo.broadcast_in_dim %345 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %412 = tile_hlo.compare %410, %411 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %413 = tile_hlo.reshape %412 : (tensor<12xi1>) -> tensor<1x12xi1>
    %414 = tile_tensor.attention %371, %399, %409, %413 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %415 = tile_hlo.transpose %414 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %416 = tile_hlo.reshape %415 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %417 = tile_hlo.dot_general %416, %decoder_model_layers_0_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %418 = tile_hlo.add %347, %417 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %419 = tile_tensor.rms_norm %418, %decoder_model_layers_0_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %420 = tile_hlo.dot_general %419, %decoder_model_layers_0_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %421 = tile_tensor.silu %420 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %422 = tile_hlo.dot_general %419, %decoder_model_layers_0_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %423 = tile_hlo.multiply %421, %422 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %424 = tile_hlo.dot_general %423, %decoder_model_layers_0_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %425 = tile_hlo.add %418, %424 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %426 = tile_tensor.rms_norm %425, %decoder_model_layers_1_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %427 = tile_hlo.dot_general %426, %decoder_model_layers_1_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %428 = tile_hlo.reshape %427 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %429 = tile_hlo.transpose %428 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %430 = tile_hlo.dot_general %426, %decoder_model_layers_1_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %431 = tile_hlo.reshape %430 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %432 = tile_hlo.transpose %431 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %433 = tile_hlo.cosine %349 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %434 = tile_hlo.sine %349 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %435 = tile_hlo.slice %429 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %436 = tile_hlo.slice %429 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %437 = tile_hlo.broadcast_in_dim %433 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %438 = tile_hlo.multiply %435, %437 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %439 = tile_hlo.broadcast_in_dim %434 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %440 = tile_hlo.multiply %436, %439 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %441 = tile_hlo.subtract %438, %440 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %442 = tile_hlo.broadcast_in_dim %433 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %443 = tile_hlo.multiply %436, %442 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %444 = tile_hlo.broadcast_in_dim %434 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %445 = tile_hlo.multiply %435, %444 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %446 = tile_hlo.add %443, %445 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %447 = tile_hlo.concatenate %441, %446 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %448 = tile_hlo.cosine %349 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %449 = tile_hlo.sine %349 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %450 = tile_hlo.slice %432 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %451 = tile_hlo.slice %432 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %452 = tile_hlo.broadcast_in_dim %448 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %453 = tile_hlo.multiply %450, %452 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %454 = tile_hlo.broadcast_in_dim %449 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %455 = tile_hlo.multiply %451, %454 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %456 = tile_hlo.subtract %453, %455 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %457 = tile_hlo.broadcast_in_dim %448 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %458 = tile_hlo.multiply %451, %457 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %459 = tile_hlo.broadcast_in_dim %449 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %460 = tile_hlo.multiply %450, %459 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %461 = tile_hlo.add %458, %460 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %462 = tile_hlo.concatenate %456, %461 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %463 = tile_hlo.dot_general %426, %decoder_model_layers_1_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %464 = tile_hlo.reshape %463 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %465 = tile_hlo.transpose %464 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %466 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %467 = tile_hlo.broadcast_in_dim %466 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %468 = tile_hlo.compare %345, %467 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %469 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %470 = tile_hlo.broadcast_in_dim %469 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %471 = tile_hlo.add %345, %470 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %472 = tile_hlo.select %468, %471, %345 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %473 = tile_hlo.reshape %472 : (tensor<1xi64>) -> tensor<i64>
    %474 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %475 = tile_hlo.dynamic_update_slice %302, %462, %474, %474, %473, %474 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %476 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %477 = tile_hlo.broadcast_in_dim %476 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %478 = tile_hlo.compare %345, %477 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %479 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %480 = tile_hlo.broadcast_in_dim %479 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %481 = tile_hlo.add %345, %480 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %482 = tile_hlo.select %478, %481, %345 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %483 = tile_hlo.reshape %482 : (tensor<1xi64>) -> tensor<i64>
    %484 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %485 = tile_hlo.dynamic_update_slice %312, %465, %484, %484, %483, %484 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %486 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %487 = tile_hlo.broadcast_in_dim %345 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %488 = tile_hlo.compare %486, %487 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %489 = tile_hlo.reshape %488 : (tensor<12xi1>) -> tensor<1x12xi1>
    %490 = tile_tensor.attention %447, %475, %485, %489 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %491 = tile_hlo.transpose %490 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %492 = tile_hlo.reshape %491 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %493 = tile_hlo.dot_general %492, %decoder_model_layers_1_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %494 = tile_hlo.add %425, %493 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %495 = tile_tensor.rms_norm %494, %decoder_model_layers_1_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %496 = tile_hlo.dot_general %495, %decoder_model_layers_1_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %497 = tile_tensor.silu %496 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %498 = tile_hlo.dot_general %495, %decoder_model_layers_1_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %499 = tile_hlo.multiply %497, %498 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %500 = tile_hlo.dot_general %499, %decoder_model_layers_1_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %501 = tile_hlo.add %494, %500 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %502 = tile_tensor.rms_norm %501, %decoder_model_norm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %503 = tile_hlo.dot_general %502, %decoder_model_lm_head_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<50x32xf32>) -> tensor<1x1x50xf32>
    %504 = tile_hlo.reshape %503 : (tensor<1x1x50xf32>) -> tensor<1x50xf32>
    %505 = tile_hlo.arg_reduce %504 {kind = "max", dimension = 1 : i64} : (tensor<1x50xf32>) -> tensor<1xi64>
    %506 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %507 = tile_hlo.broadcast_in_dim %506 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %508 = tile_hlo.compare %345, %507 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %509 = tile_hlo.constant {value = dense<8> : tensor<i64>} : () -> tensor<i64>
    %510 = tile_hlo.broadcast_in_dim %509 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %511 = tile_hlo.add %345, %510 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %512 = tile_hlo.select %508, %511, %345 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %513 = tile_hlo.reshape %512 : (tensor<1xi64>) -> tensor<i64>
    %514 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %515 = tile_hlo.dynamic_update_slice %342, %505, %513 : (tensor<8xi64>, tensor<1xi64>, tensor<i64>) -> tensor<8xi64>
    %516 = tile_hlo.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %517 = tile_hlo.broadcast_in_dim %516 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %518 = tile_hlo.add %345, %517 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %519 = tile_hlo.take %decoder_model_embed_tokens_weight, %505 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<50x32xf32>, tensor<1xi64>) -> tensor<1x32xf32>
    %520 = tile_hlo.reshape %519 : (tensor<1x32xf32>) -> tensor<1x1x32xf32>
    %521 = tile_hlo.constant {value = dense<[[0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e-02], [2.000000e+00, 2.000000e-02], [3.000000e+00, 3.000000e-02], [4.000000e+00, 4.000000e-02], [5.000000e+00, 0.049999997], [6.000000e+00, 6.000000e-02], [7.000000e+00, 7.000000e-02], [8.000000e+00, 8.000000e-02], [9.000000e+00, 0.0899999961], [1.000000e+01, 0.099999994], [1.100000e+01, 1.100000e-01]]> : tensor<12x2xf32>} : () -> tensor<12x2xf32>
    %522 = tile_hlo.take %521, %518 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<12x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
    %523 = tile_tensor.rms_norm %520, %decoder_model_layers_0_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %524 = tile_hlo.dot_general %523, %decoder_model_layers_0_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %525 = tile_hlo.reshape %524 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %526 = tile_hlo.transpose %525 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %527 = tile_hlo.dot_general %523, %decoder_model_layers_0_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %528 = tile_hlo.reshape %527 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %529 = tile_hlo.transpose %528 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %530 = tile_hlo.cosine %522 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %531 = tile_hlo.sine %522 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %532 = tile_hlo.slice %526 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %533 = tile_hlo.slice %526 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %534 = tile_hlo.broadcast_in_dim %530 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %535 = tile_hlo.multiply %532, %534 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %536 = tile_hlo.broadcast_in_dim %531 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %537 = tile_hlo.multiply %533, %536 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %538 = tile_hlo.subtract %535, %537 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %539 = tile_hlo.broadcast_in_dim %530 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %540 = tile_hlo.multiply %533, %539 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %541 = tile_hlo.broadcast_in_dim %531 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %542 = tile_hlo.multiply %532, %541 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %543 = tile_hlo.add %540, %542 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %544 = tile_hlo.concatenate %538, %543 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %545 = tile_hlo.cosine %522 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %546 = tile_hlo.sine %522 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %547 = tile_hlo.slice %529 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %548 = tile_hlo.slice %529 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %549 = tile_hlo.broadcast_in_dim %545 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %550 = tile_hlo.multiply %547, %549 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %551 = tile_hlo.broadcast_in_dim %546 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %552 = tile_hlo.multiply %548, %551 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %553 = tile_hlo.subtract %550, %552 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %554 = tile_hlo.broadcast_in_dim %545 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %555 = tile_hlo.multiply %548, %554 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %556 = tile_hlo.broadcast_in_dim %546 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %557 = tile_hlo.multiply %547, %556 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %558 = tile_hlo.add %555, %557 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %559 = tile_hlo.concatenate %553, %558 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %560 = tile_hlo.dot_general %523, %decoder_model_layers_0_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %561 = tile_hlo.reshape %560 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %562 = tile_hlo.transpose %561 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %563 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %564 = tile_hlo.broadcast_in_dim %563 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %565 = tile_hlo.compare %518, %564 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %566 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %567 = tile_hlo.broadcast_in_dim %566 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %568 = tile_hlo.add %518, %567 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %569 = tile_hlo.select %565, %568, %518 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %570 = tile_hlo.reshape %569 : (tensor<1xi64>) -> tensor<i64>
    %571 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %572 = tile_hlo.dynamic_update_slice %399, %559, %571, %571, %570, %571 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %573 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %574 = tile_hlo.broadcast_in_dim %573 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %575 = tile_hlo.compare %518, %574 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %576 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %577 = tile_hlo.broadcast_in_dim %576 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %578 = tile_hlo.add %518, %577 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %579 = tile_hlo.select %575, %578, %518 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %580 = tile_hlo.reshape %579 : (tensor<1xi64>) -> tensor<i64>
    %581 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %582 = tile_hlo.dynamic_update_slice %409, %562, %581, %581, %580, %581 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %583 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %584 = tile_hlo.broadcast_in_dim %518 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %585 = tile_hlo.compare %583, %584 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %586 = tile_hlo.reshape %585 : (tensor<12xi1>) -> tensor<1x12xi1>
    %587 = tile_tensor.attention %544, %572, %582, %586 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %588 = tile_hlo.transpose %587 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %589 = tile_hlo.reshape %588 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %590 = tile_hlo.dot_general %589, %decoder_model_layers_0_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %591 = tile_hlo.add %520, %590 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %592 = tile_tensor.rms_norm %591, %decoder_model_layers_0_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %593 = tile_hlo.dot_general %592, %decoder_model_layers_0_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %594 = tile_tensor.silu %593 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %595 = tile_hlo.dot_general %592, %decoder_model_layers_0_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %596 = tile_hlo.multiply %594, %595 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %597 = tile_hlo.dot_general %596, %decoder_model_layers_0_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %598 = tile_hlo.add %591, %597 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %599 = tile_tensor.rms_norm %598, %decoder_model_layers_1_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %600 = tile_hlo.dot_general %599, %decoder_model_layers_1_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %601 = tile_hlo.reshape %600 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %602 = tile_hlo.transpose %601 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %603 = tile_hlo.dot_general %599, %decoder_model_layers_1_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %604 = tile_hlo.reshape %603 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %605 = tile_hlo.transpose %604 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %606 = tile_hlo.cosine %522 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %607 = tile_hlo.sine %522 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %608 = tile_hlo.slice %602 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %609 = tile_hlo.slice %602 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %610 = tile_hlo.broadcast_in_dim %606 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %611 = tile_hlo.multiply %608, %610 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %612 = tile_hlo.broadcast_in_dim %607 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %613 = tile_hlo.multiply %609, %612 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %614 = tile_hlo.subtract %611, %613 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %615 = tile_hlo.broadcast_in_dim %606 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %616 = tile_hlo.multiply %609, %615 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %617 = tile_hlo.broadcast_in_dim %607 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %618 = tile_hlo.multiply %608, %617 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %619 = tile_hlo.add %616, %618 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %620 = tile_hlo.concatenate %614, %619 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %621 = tile_hlo.cosine %522 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %622 = tile_hlo.sine %522 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %623 = tile_hlo.slice %605 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %624 = tile_hlo.slice %605 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %625 = tile_hlo.broadcast_in_dim %621 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %626 = tile_hlo.multiply %623, %625 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %627 = tile_hlo.broadcast_in_dim %622 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %628 = tile_hlo.multiply %624, %627 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %629 = tile_hlo.subtract %626, %628 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %630 = tile_hlo.broadcast_in_dim %621 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %631 = tile_hlo.multiply %624, %630 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %632 = tile_hlo.broadcast_in_dim %622 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %633 = tile_hlo.multiply %623, %632 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %634 = tile_hlo.add %631, %633 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %635 = tile_hlo.concatenate %629, %634 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %636 = tile_hlo.dot_general %599, %decoder_model_layers_1_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %637 = tile_hlo.reshape %636 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %638 = tile_hlo.transpose %637 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %639 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %640 = tile_hlo.broadcast_in_dim %639 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %641 = tile_hlo.compare %518, %640 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %642 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %643 = tile_hlo.broadcast_in_dim %642 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %644 = tile_hlo.add %518, %643 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %645 = tile_hlo.select %641, %644, %518 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %646 = tile_hlo.reshape %645 : (tensor<1xi64>) -> tensor<i64>
    %647 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %648 = tile_hlo.dynamic_update_slice %475, %635, %647, %647, %646, %647 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %649 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %650 = tile_hlo.broadcast_in_dim %649 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %651 = tile_hlo.compare %518, %650 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %652 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %653 = tile_hlo.broadcast_in_dim %652 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %654 = tile_hlo.add %518, %653 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %655 = tile_hlo.select %651, %654, %518 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %656 = tile_hlo.reshape %655 : (tensor<1xi64>) -> tensor<i64>
    %657 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %658 = tile_hlo.dynamic_update_slice %485, %638, %657, %657, %656, %657 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %659 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %660 = tile_hlo.broadcast_in_dim %518 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %661 = tile_hlo.compare %659, %660 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %662 = tile_hlo.reshape %661 : (tensor<12xi1>) -> tensor<1x12xi1>
    %663 = tile_tensor.attention %620, %648, %658, %662 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %664 = tile_hlo.transpose %663 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %665 = tile_hlo.reshape %664 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %666 = tile_hlo.dot_general %665, %decoder_model_layers_1_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %667 = tile_hlo.add %598, %666 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %668 = tile_tensor.rms_norm %667, %decoder_model_layers_1_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %669 = tile_hlo.dot_general %668, %decoder_model_layers_1_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %670 = tile_tensor.silu %669 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %671 = tile_hlo.dot_general %668, %decoder_model_layers_1_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %672 = tile_hlo.multiply %670, %671 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %673 = tile_hlo.dot_general %672, %decoder_model_layers_1_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %674 = tile_hlo.add %667, %673 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %675 = tile_tensor.rms_norm %674, %decoder_model_norm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %676 = tile_hlo.dot_general %675, %decoder_model_lm_head_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<50x32xf32>) -> tensor<1x1x50xf32>
    %677 = tile_hlo.reshape %676 : (tensor<1x1x50xf32>) -> tensor<1x50xf32>
    %678 = tile_hlo.arg_reduce %677 {kind = "max", dimension = 1 : i64} : (tensor<1x50xf32>) -> tensor<1xi64>
    %679 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %680 = tile_hlo.broadcast_in_dim %679 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %681 = tile_hlo.compare %518, %680 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %682 = tile_hlo.constant {value = dense<8> : tensor<i64>} : () -> tensor<i64>
    %683 = tile_hlo.broadcast_in_dim %682 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %684 = tile_hlo.add %518, %683 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %685 = tile_hlo.select %681, %684, %518 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %686 = tile_hlo.reshape %685 : (tensor<1xi64>) -> tensor<i64>
    %687 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %688 = tile_hlo.dynamic_update_slice %515, %678, %686 : (tensor<8xi64>, tensor<1xi64>, tensor<i64>) -> tensor<8xi64>
    %689 = tile_hlo.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %690 = tile_hlo.broadcast_in_dim %689 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %691 = tile_hlo.add %518, %690 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %692 = tile_hlo.take %decoder_model_embed_tokens_weight, %678 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<50x32xf32>, tensor<1xi64>) -> tensor<1x32xf32>
    %693 = tile_hlo.reshape %692 : (tensor<1x32xf32>) -> tensor<1x1x32xf32>
    %694 = tile_hlo.constant {value = dense<[[0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e-02], [2.000000e+00, 2.000000e-02], [3.000000e+00, 3.000000e-02], [4.000000e+00, 4.000000e-02], [5.000000e+00, 0.049999997], [6.000000e+00, 6.000000e-02], [7.000000e+00, 7.000000e-02], [8.000000e+00, 8.000000e-02], [9.000000e+00, 0.0899999961], [1.000000e+01, 0.099999994], [1.100000e+01, 1.100000e-01]]> : tensor<12x2xf32>} : () -> tensor<12x2xf32>
    %695 = tile_hlo.take %694, %691 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<12x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
    %696 = tile_tensor.rms_norm %693, %decoder_model_layers_0_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %697 = tile_hlo.dot_general %696, %decoder_model_layers_0_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %698 = tile_hlo.reshape %697 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %699 = tile_hlo.transpose %698 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %700 = tile_hlo.dot_general %696, %decoder_model_layers_0_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %701 = tile_hlo.reshape %700 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %702 = tile_hlo.transpose %701 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %703 = tile_hlo.cosine %695 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %704 = tile_hlo.sine %695 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %705 = tile_hlo.slice %699 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %706 = tile_hlo.slice %699 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %707 = tile_hlo.broadcast_in_dim %703 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %708 = tile_hlo.multiply %705, %707 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %709 = tile_hlo.broadcast_in_dim %704 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %710 = tile_hlo.multiply %706, %709 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %711 = tile_hlo.subtract %708, %710 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %712 = tile_hlo.broadcast_in_dim %703 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %713 = tile_hlo.multiply %706, %712 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %714 = tile_hlo.broadcast_in_dim %704 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %715 = tile_hlo.multiply %705, %714 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %716 = tile_hlo.add %713, %715 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %717 = tile_hlo.concatenate %711, %716 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %718 = tile_hlo.cosine %695 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %719 = tile_hlo.sine %695 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %720 = tile_hlo.slice %702 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %721 = tile_hlo.slice %702 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %722 = tile_hlo.broadcast_in_dim %718 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %723 = tile_hlo.multiply %720, %722 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %724 = tile_hlo.broadcast_in_dim %719 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %725 = tile_hlo.multiply %721, %724 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %726 = tile_hlo.subtract %723, %725 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %727 = tile_hlo.broadcast_in_dim %718 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %728 = tile_hlo.multiply %721, %727 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %729 = tile_hlo.broadcast_in_dim %719 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %730 = tile_hlo.multiply %720, %729 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %731 = tile_hlo.add %728, %730 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %732 = tile_hlo.concatenate %726, %731 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %733 = tile_hlo.dot_general %696, %decoder_model_layers_0_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %734 = tile_hlo.reshape %733 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %735 = tile_hlo.transpose %734 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %736 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %737 = tile_hlo.broadcast_in_dim %736 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %738 = tile_hlo.compare %691, %737 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %739 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %740 = tile_hlo.broadcast_in_dim %739 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %741 = tile_hlo.add %691, %740 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %742 = tile_hlo.select %738, %741, %691 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %743 = tile_hlo.reshape %742 : (tensor<1xi64>) -> tensor<i64>
    %744 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %745 = tile_hlo.dynamic_update_slice %572, %732, %744, %744, %743, %744 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %746 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %747 = tile_hlo.broadcast_in_dim %746 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %748 = tile_hlo.compare %691, %747 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %749 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %750 = tile_hlo.broadcast_in_dim %749 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %751 = tile_hlo.add %691, %750 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %752 = tile_hlo.select %748, %751, %691 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %753 = tile_hlo.reshape %752 : (tensor<1xi64>) -> tensor<i64>
    %754 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %755 = tile_hlo.dynamic_update_slice %582, %735, %754, %754, %753, %754 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %756 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %757 = tile_hlo.broadcast_in_dim %691 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %758 = tile_hlo.compare %756, %757 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %759 = tile_hlo.reshape %758 : (tensor<12xi1>) -> tensor<1x12xi1>
    %760 = tile_tensor.attention %717, %745, %755, %759 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %761 = tile_hlo.transpose %760 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %762 = tile_hlo.reshape %761 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %763 = tile_hlo.dot_general %762, %decoder_model_layers_0_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %764 = tile_hlo.add %693, %763 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %765 = tile_tensor.rms_norm %764, %decoder_model_layers_0_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %766 = tile_hlo.dot_general %765, %decoder_model_layers_0_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %767 = tile_tensor.silu %766 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %768 = tile_hlo.dot_general %765, %decoder_model_layers_0_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %769 = tile_hlo.multiply %767, %768 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %770 = tile_hlo.dot_general %769, %decoder_model_layers_0_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %771 = tile_hlo.add %764, %770 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %772 = tile_tensor.rms_norm %771, %decoder_model_layers_1_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %773 = tile_hlo.dot_general %772, %decoder_model_layers_1_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %774 = tile_hlo.reshape %773 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %775 = tile_hlo.transpose %774 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %776 = tile_hlo.dot_general %772, %decoder_model_layers_1_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %777 = tile_hlo.reshape %776 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %778 = tile_hlo.transpose %777 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %779 = tile_hlo.cosine %695 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %780 = tile_hlo.sine %695 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %781 = tile_hlo.slice %775 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %782 = tile_hlo.slice %775 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %783 = tile_hlo.broadcast_in_dim %779 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %784 = tile_hlo.multiply %781, %783 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %785 = tile_hlo.broadcast_in_dim %780 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %786 = tile_hlo.multiply %782, %785 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %787 = tile_hlo.subtract %784, %786 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %788 = tile_hlo.broadcast_in_dim %779 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %789 = tile_hlo.multiply %782, %788 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %790 = tile_hlo.broadcast_in_dim %780 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %791 = tile_hlo.multiply %781, %790 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %792 = tile_hlo.add %789, %791 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %793 = tile_hlo.concatenate %787, %792 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %794 = tile_hlo.cosine %695 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %795 = tile_hlo.sine %695 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %796 = tile_hlo.slice %778 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %797 = tile_hlo.slice %778 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %798 = tile_hlo.broadcast_in_dim %794 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %799 = tile_hlo.multiply %796, %798 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %800 = tile_hlo.broadcast_in_dim %795 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %801 = tile_hlo.multiply %797, %800 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %802 = tile_hlo.subtract %799, %801 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %803 = tile_hlo.broadcast_in_dim %794 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %804 = tile_hlo.multiply %797, %803 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %805 = tile_hlo.broadcast_in_dim %795 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %806 = tile_hlo.multiply %796, %805 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %807 = tile_hlo.add %804, %806 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %808 = tile_hlo.concatenate %802, %807 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %809 = tile_hlo.dot_general %772, %decoder_model_layers_1_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %810 = tile_hlo.reshape %809 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %811 = tile_hlo.transpose %810 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %812 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %813 = tile_hlo.broadcast_in_dim %812 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %814 = tile_hlo.compare %691, %813 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %815 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %816 = tile_hlo.broadcast_in_dim %815 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %817 = tile_hlo.add %691, %816 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %818 = tile_hlo.select %814, %817, %691 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %819 = tile_hlo.reshape %818 : (tensor<1xi64>) -> tensor<i64>
    %820 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %821 = tile_hlo.dynamic_update_slice %648, %808, %820, %820, %819, %820 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %822 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %823 = tile_hlo.broadcast_in_dim %822 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %824 = tile_hlo.compare %691, %823 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %825 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %826 = tile_hlo.broadcast_in_dim %825 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %827 = tile_hlo.add %691, %826 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %828 = tile_hlo.select %824, %827, %691 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %829 = tile_hlo.reshape %828 : (tensor<1xi64>) -> tensor<i64>
    %830 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %831 = tile_hlo.dynamic_update_slice %658, %811, %830, %830, %829, %830 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %832 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %833 = tile_hlo.broadcast_in_dim %691 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %834 = tile_hlo.compare %832, %833 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %835 = tile_hlo.reshape %834 : (tensor<12xi1>) -> tensor<1x12xi1>
    %836 = tile_tensor.attention %793, %821, %831, %835 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %837 = tile_hlo.transpose %836 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %838 = tile_hlo.reshape %837 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %839 = tile_hlo.dot_general %838, %decoder_model_layers_1_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %840 = tile_hlo.add %771, %839 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %841 = tile_tensor.rms_norm %840, %decoder_model_layers_1_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %842 = tile_hlo.dot_general %841, %decoder_model_layers_1_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %843 = tile_tensor.silu %842 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %844 = tile_hlo.dot_general %841, %decoder_model_layers_1_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %845 = tile_hlo.multiply %843, %844 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %846 = tile_hlo.dot_general %845, %decoder_model_layers_1_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %847 = tile_hlo.add %840, %846 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %848 = tile_tensor.rms_norm %847, %decoder_model_norm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %849 = tile_hlo.dot_general %848, %decoder_model_lm_head_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<50x32xf32>) -> tensor<1x1x50xf32>
    %850 = tile_hlo.reshape %849 : (tensor<1x1x50xf32>) -> tensor<1x50xf32>
    %851 = tile_hlo.arg_reduce %850 {kind = "max", dimension = 1 : i64} : (tensor<1x50xf32>) -> tensor<1xi64>
    %852 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %853 = tile_hlo.broadcast_in_dim %852 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %854 = tile_hlo.compare %691, %853 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %855 = tile_hlo.constant {value = dense<8> : tensor<i64>} : () -> tensor<i64>
    %856 = tile_hlo.broadcast_in_dim %855 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %857 = tile_hlo.add %691, %856 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %858 = tile_hlo.select %854, %857, %691 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %859 = tile_hlo.reshape %858 : (tensor<1xi64>) -> tensor<i64>
    %860 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %861 = tile_hlo.dynamic_update_slice %688, %851, %859 : (tensor<8xi64>, tensor<1xi64>, tensor<i64>) -> tensor<8xi64>
    %862 = tile_hlo.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %863 = tile_hlo.broadcast_in_dim %862 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %864 = tile_hlo.add %691, %863 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %865 = tile_hlo.take %decoder_model_embed_tokens_weight, %851 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<50x32xf32>, tensor<1xi64>) -> tensor<1x32xf32>
    %866 = tile_hlo.reshape %865 : (tensor<1x32xf32>) -> tensor<1x1x32xf32>
    %867 = tile_hlo.constant {value = dense<[[0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e-02], [2.000000e+00, 2.000000e-02], [3.000000e+00, 3.000000e-02], [4.000000e+00, 4.000000e-02], [5.000000e+00, 0.049999997], [6.000000e+00, 6.000000e-02], [7.000000e+00, 7.000000e-02], [8.000000e+00, 8.000000e-02], [9.000000e+00, 0.0899999961], [1.000000e+01, 0.099999994], [1.100000e+01, 1.100000e-01]]> : tensor<12x2xf32>} : () -> tensor<12x2xf32>
    %868 = tile_hlo.take %867, %864 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<12x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
    %869 = tile_tensor.rms_norm %866, %decoder_model_layers_0_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %870 = tile_hlo.dot_general %869, %decoder_model_layers_0_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %871 = tile_hlo.reshape %870 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %872 = tile_hlo.transpose %871 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %873 = tile_hlo.dot_general %869, %decoder_model_layers_0_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %874 = tile_hlo.reshape %873 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %875 = tile_hlo.transpose %874 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %876 = tile_hlo.cosine %868 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %877 = tile_hlo.sine %868 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %878 = tile_hlo.slice %872 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %879 = tile_hlo.slice %872 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %880 = tile_hlo.broadcast_in_dim %876 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %881 = tile_hlo.multiply %878, %880 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %882 = tile_hlo.broadcast_in_dim %877 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %883 = tile_hlo.multiply %879, %882 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %884 = tile_hlo.subtract %881, %883 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %885 = tile_hlo.broadcast_in_dim %876 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %886 = tile_hlo.multiply %879, %885 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %887 = tile_hlo.broadcast_in_dim %877 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %888 = tile_hlo.multiply %878, %887 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %889 = tile_hlo.add %886, %888 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %890 = tile_hlo.concatenate %884, %889 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %891 = tile_hlo.cosine %868 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %892 = tile_hlo.sine %868 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %893 = tile_hlo.slice %875 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %894 = tile_hlo.slice %875 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %895 = tile_hlo.broadcast_in_dim %891 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %896 = tile_hlo.multiply %893, %895 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %897 = tile_hlo.broadcast_in_dim %892 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %898 = tile_hlo.multiply %894, %897 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %899 = tile_hlo.subtract %896, %898 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %900 = tile_hlo.broadcast_in_dim %891 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %901 = tile_hlo.multiply %894, %900 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %902 = tile_hlo.broadcast_in_dim %892 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %903 = tile_hlo.multiply %893, %902 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %904 = tile_hlo.add %901, %903 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %905 = tile_hlo.concatenate %899, %904 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %906 = tile_hlo.dot_general %869, %decoder_model_layers_0_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %907 = tile_hlo.reshape %906 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %908 = tile_hlo.transpose %907 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %909 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %910 = tile_hlo.broadcast_in_dim %909 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %911 = tile_hlo.compare %864, %910 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %912 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %913 = tile_hlo.broadcast_in_dim %912 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %914 = tile_hlo.add %864, %913 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %915 = tile_hlo.select %911, %914, %864 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %916 = tile_hlo.reshape %915 : (tensor<1xi64>) -> tensor<i64>
    %917 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %918 = tile_hlo.dynamic_update_slice %745, %905, %917, %917, %916, %917 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %919 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %920 = tile_hlo.broadcast_in_dim %919 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %921 = tile_hlo.compare %864, %920 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %922 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %923 = tile_hlo.broadcast_in_dim %922 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %924 = tile_hlo.add %864, %923 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %925 = tile_hlo.select %921, %924, %864 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %926 = tile_hlo.reshape %925 : (tensor<1xi64>) -> tensor<i64>
    %927 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %928 = tile_hlo.dynamic_update_slice %755, %908, %927, %927, %926, %927 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %929 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %930 = tile_hlo.broadcast_in_dim %864 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %931 = tile_hlo.compare %929, %930 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %932 = tile_hlo.reshape %931 : (tensor<12xi1>) -> tensor<1x12xi1>
    %933 = tile_tensor.attention %890, %918, %928, %932 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %934 = tile_hlo.transpose %933 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %935 = tile_hlo.reshape %934 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %936 = tile_hlo.dot_general %935, %decoder_model_layers_0_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %937 = tile_hlo.add %866, %936 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %938 = tile_tensor.rms_norm %937, %decoder_model_layers_0_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %939 = tile_hlo.dot_general %938, %decoder_model_layers_0_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %940 = tile_tensor.silu %939 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %941 = tile_hlo.dot_general %938, %decoder_model_layers_0_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %942 = tile_hlo.multiply %940, %941 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %943 = tile_hlo.dot_general %942, %decoder_model_layers_0_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %944 = tile_hlo.add %937, %943 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %945 = tile_tensor.rms_norm %944, %decoder_model_layers_1_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %946 = tile_hlo.dot_general %945, %decoder_model_layers_1_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %947 = tile_hlo.reshape %946 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %948 = tile_hlo.transpose %947 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %949 = tile_hlo.dot_general %945, %decoder_model_layers_1_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %950 = tile_hlo.reshape %949 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %951 = tile_hlo.transpose %950 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %952 = tile_hlo.cosine %868 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %953 = tile_hlo.sine %868 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %954 = tile_hlo.slice %948 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %955 = tile_hlo.slice %948 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %956 = tile_hlo.broadcast_in_dim %952 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %957 = tile_hlo.multiply %954, %956 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %958 = tile_hlo.broadcast_in_dim %953 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %959 = tile_hlo.multiply %955, %958 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %960 = tile_hlo.subtract %957, %959 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %961 = tile_hlo.broadcast_in_dim %952 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %962 = tile_hlo.multiply %955, %961 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %963 = tile_hlo.broadcast_in_dim %953 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %964 = tile_hlo.multiply %954, %963 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %965 = tile_hlo.add %962, %964 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %966 = tile_hlo.concatenate %960, %965 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %967 = tile_hlo.cosine %868 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %968 = tile_hlo.sine %868 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %969 = tile_hlo.slice %951 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %970 = tile_hlo.slice %951 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %971 = tile_hlo.broadcast_in_dim %967 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %972 = tile_hlo.multiply %969, %971 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %973 = tile_hlo.broadcast_in_dim %968 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %974 = tile_hlo.multiply %970, %973 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %975 = tile_hlo.subtract %972, %974 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %976 = tile_hlo.broadcast_in_dim %967 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %977 = tile_hlo.multiply %970, %976 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %978 = tile_hlo.broadcast_in_dim %968 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %979 = tile_hlo.multiply %969, %978 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %980 = tile_hlo.add %977, %979 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %981 = tile_hlo.concatenate %975, %980 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %982 = tile_hlo.dot_general %945, %decoder_model_layers_1_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %983 = tile_hlo.reshape %982 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %984 = tile_hlo.transpose %983 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %985 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %986 = tile_hlo.broadcast_in_dim %985 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %987 = tile_hlo.compare %864, %986 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %988 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %989 = tile_hlo.broadcast_in_dim %988 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %990 = tile_hlo.add %864, %989 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %991 = tile_hlo.select %987, %990, %864 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %992 = tile_hlo.reshape %991 : (tensor<1xi64>) -> tensor<i64>
    %993 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %994 = tile_hlo.dynamic_update_slice %821, %981, %993, %993, %992, %993 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %995 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %996 = tile_hlo.broadcast_in_dim %995 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %997 = tile_hlo.compare %864, %996 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %998 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %999 = tile_hlo.broadcast_in_dim %998 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1000 = tile_hlo.add %864, %999 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1001 = tile_hlo.select %997, %1000, %864 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1002 = tile_hlo.reshape %1001 : (tensor<1xi64>) -> tensor<i64>
    %1003 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1004 = tile_hlo.dynamic_update_slice %831, %984, %1003, %1003, %1002, %1003 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %1005 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %1006 = tile_hlo.broadcast_in_dim %864 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %1007 = tile_hlo.compare %1005, %1006 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %1008 = tile_hlo.reshape %1007 : (tensor<12xi1>) -> tensor<1x12xi1>
    %1009 = tile_tensor.attention %966, %994, %1004, %1008 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %1010 = tile_hlo.transpose %1009 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %1011 = tile_hlo.reshape %1010 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %1012 = tile_hlo.dot_general %1011, %decoder_model_layers_1_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %1013 = tile_hlo.add %944, %1012 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %1014 = tile_tensor.rms_norm %1013, %decoder_model_layers_1_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %1015 = tile_hlo.dot_general %1014, %decoder_model_layers_1_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %1016 = tile_tensor.silu %1015 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %1017 = tile_hlo.dot_general %1014, %decoder_model_layers_1_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %1018 = tile_hlo.multiply %1016, %1017 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %1019 = tile_hlo.dot_general %1018, %decoder_model_layers_1_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %1020 = tile_hlo.add %1013, %1019 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %1021 = tile_tensor.rms_norm %1020, %decoder_model_norm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %1022 = tile_hlo.dot_general %1021, %decoder_model_lm_head_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<50x32xf32>) -> tensor<1x1x50xf32>
    %1023 = tile_hlo.reshape %1022 : (tensor<1x1x50xf32>) -> tensor<1x50xf32>
    %1024 = tile_hlo.arg_reduce %1023 {kind = "max", dimension = 1 : i64} : (tensor<1x50xf32>) -> tensor<1xi64>
    %1025 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1026 = tile_hlo.broadcast_in_dim %1025 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1027 = tile_hlo.compare %864, %1026 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %1028 = tile_hlo.constant {value = dense<8> : tensor<i64>} : () -> tensor<i64>
    %1029 = tile_hlo.broadcast_in_dim %1028 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1030 = tile_hlo.add %864, %1029 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1031 = tile_hlo.select %1027, %1030, %864 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1032 = tile_hlo.reshape %1031 : (tensor<1xi64>) -> tensor<i64>
    %1033 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1034 = tile_hlo.dynamic_update_slice %861, %1024, %1032 : (tensor<8xi64>, tensor<1xi64>, tensor<i64>) -> tensor<8xi64>
    %1035 = tile_hlo.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %1036 = tile_hlo.broadcast_in_dim %1035 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1037 = tile_hlo.add %864, %1036 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1038 = tile_hlo.take %decoder_model_embed_tokens_weight, %1024 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<50x32xf32>, tensor<1xi64>) -> tensor<1x32xf32>
    %1039 = tile_hlo.reshape %1038 : (tensor<1x32xf32>) -> tensor<1x1x32xf32>
    %1040 = tile_hlo.constant {value = dense<[[0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e-02], [2.000000e+00, 2.000000e-02], [3.000000e+00, 3.000000e-02], [4.000000e+00, 4.000000e-02], [5.000000e+00, 0.049999997], [6.000000e+00, 6.000000e-02], [7.000000e+00, 7.000000e-02], [8.000000e+00, 8.000000e-02], [9.000000e+00, 0.0899999961], [1.000000e+01, 0.099999994], [1.100000e+01, 1.100000e-01]]> : tensor<12x2xf32>} : () -> tensor<12x2xf32>
    %1041 = tile_hlo.take %1040, %1037 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<12x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
    %1042 = tile_tensor.rms_norm %1039, %decoder_model_layers_0_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %1043 = tile_hlo.dot_general %1042, %decoder_model_layers_0_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %1044 = tile_hlo.reshape %1043 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %1045 = tile_hlo.transpose %1044 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %1046 = tile_hlo.dot_general %1042, %decoder_model_layers_0_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %1047 = tile_hlo.reshape %1046 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %1048 = tile_hlo.transpose %1047 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %1049 = tile_hlo.cosine %1041 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1050 = tile_hlo.sine %1041 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1051 = tile_hlo.slice %1045 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %1052 = tile_hlo.slice %1045 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %1053 = tile_hlo.broadcast_in_dim %1049 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1054 = tile_hlo.multiply %1051, %1053 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1055 = tile_hlo.broadcast_in_dim %1050 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1056 = tile_hlo.multiply %1052, %1055 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1057 = tile_hlo.subtract %1054, %1056 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1058 = tile_hlo.broadcast_in_dim %1049 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1059 = tile_hlo.multiply %1052, %1058 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1060 = tile_hlo.broadcast_in_dim %1050 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1061 = tile_hlo.multiply %1051, %1060 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1062 = tile_hlo.add %1059, %1061 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1063 = tile_hlo.concatenate %1057, %1062 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %1064 = tile_hlo.cosine %1041 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1065 = tile_hlo.sine %1041 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1066 = tile_hlo.slice %1048 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %1067 = tile_hlo.slice %1048 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %1068 = tile_hlo.broadcast_in_dim %1064 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1069 = tile_hlo.multiply %1066, %1068 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1070 = tile_hlo.broadcast_in_dim %1065 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1071 = tile_hlo.multiply %1067, %1070 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1072 = tile_hlo.subtract %1069, %1071 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1073 = tile_hlo.broadcast_in_dim %1064 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1074 = tile_hlo.multiply %1067, %1073 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1075 = tile_hlo.broadcast_in_dim %1065 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1076 = tile_hlo.multiply %1066, %1075 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1077 = tile_hlo.add %1074, %1076 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1078 = tile_hlo.concatenate %1072, %1077 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %1079 = tile_hlo.dot_general %1042, %decoder_model_layers_0_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %1080 = tile_hlo.reshape %1079 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %1081 = tile_hlo.transpose %1080 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %1082 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1083 = tile_hlo.broadcast_in_dim %1082 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1084 = tile_hlo.compare %1037, %1083 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %1085 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %1086 = tile_hlo.broadcast_in_dim %1085 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1087 = tile_hlo.add %1037, %1086 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1088 = tile_hlo.select %1084, %1087, %1037 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1089 = tile_hlo.reshape %1088 : (tensor<1xi64>) -> tensor<i64>
    %1090 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1091 = tile_hlo.dynamic_update_slice %918, %1078, %1090, %1090, %1089, %1090 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %1092 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1093 = tile_hlo.broadcast_in_dim %1092 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1094 = tile_hlo.compare %1037, %1093 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %1095 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %1096 = tile_hlo.broadcast_in_dim %1095 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1097 = tile_hlo.add %1037, %1096 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1098 = tile_hlo.select %1094, %1097, %1037 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1099 = tile_hlo.reshape %1098 : (tensor<1xi64>) -> tensor<i64>
    %1100 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1101 = tile_hlo.dynamic_update_slice %928, %1081, %1100, %1100, %1099, %1100 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %1102 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %1103 = tile_hlo.broadcast_in_dim %1037 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %1104 = tile_hlo.compare %1102, %1103 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %1105 = tile_hlo.reshape %1104 : (tensor<12xi1>) -> tensor<1x12xi1>
    %1106 = tile_tensor.attention %1063, %1091, %1101, %1105 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %1107 = tile_hlo.transpose %1106 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %1108 = tile_hlo.reshape %1107 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %1109 = tile_hlo.dot_general %1108, %decoder_model_layers_0_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %1110 = tile_hlo.add %1039, %1109 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %1111 = tile_tensor.rms_norm %1110, %decoder_model_layers_0_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %1112 = tile_hlo.dot_general %1111, %decoder_model_layers_0_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %1113 = tile_tensor.silu %1112 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %1114 = tile_hlo.dot_general %1111, %decoder_model_layers_0_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %1115 = tile_hlo.multiply %1113, %1114 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %1116 = tile_hlo.dot_general %1115, %decoder_model_layers_0_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %1117 = tile_hlo.add %1110, %1116 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %1118 = tile_tensor.rms_norm %1117, %decoder_model_layers_1_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %1119 = tile_hlo.dot_general %1118, %decoder_model_layers_1_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %1120 = tile_hlo.reshape %1119 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %1121 = tile_hlo.transpose %1120 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %1122 = tile_hlo.dot_general %1118, %decoder_model_layers_1_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %1123 = tile_hlo.reshape %1122 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %1124 = tile_hlo.transpose %1123 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %1125 = tile_hlo.cosine %1041 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1126 = tile_hlo.sine %1041 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1127 = tile_hlo.slice %1121 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %1128 = tile_hlo.slice %1121 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %1129 = tile_hlo.broadcast_in_dim %1125 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1130 = tile_hlo.multiply %1127, %1129 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1131 = tile_hlo.broadcast_in_dim %1126 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1132 = tile_hlo.multiply %1128, %1131 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1133 = tile_hlo.subtract %1130, %1132 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1134 = tile_hlo.broadcast_in_dim %1125 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1135 = tile_hlo.multiply %1128, %1134 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1136 = tile_hlo.broadcast_in_dim %1126 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1137 = tile_hlo.multiply %1127, %1136 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1138 = tile_hlo.add %1135, %1137 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1139 = tile_hlo.concatenate %1133, %1138 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %1140 = tile_hlo.cosine %1041 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1141 = tile_hlo.sine %1041 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1142 = tile_hlo.slice %1124 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %1143 = tile_hlo.slice %1124 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %1144 = tile_hlo.broadcast_in_dim %1140 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1145 = tile_hlo.multiply %1142, %1144 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1146 = tile_hlo.broadcast_in_dim %1141 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1147 = tile_hlo.multiply %1143, %1146 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1148 = tile_hlo.subtract %1145, %1147 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1149 = tile_hlo.broadcast_in_dim %1140 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1150 = tile_hlo.multiply %1143, %1149 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1151 = tile_hlo.broadcast_in_dim %1141 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1152 = tile_hlo.multiply %1142, %1151 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1153 = tile_hlo.add %1150, %1152 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1154 = tile_hlo.concatenate %1148, %1153 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %1155 = tile_hlo.dot_general %1118, %decoder_model_layers_1_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %1156 = tile_hlo.reshape %1155 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %1157 = tile_hlo.transpose %1156 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %1158 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1159 = tile_hlo.broadcast_in_dim %1158 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1160 = tile_hlo.compare %1037, %1159 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %1161 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %1162 = tile_hlo.broadcast_in_dim %1161 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1163 = tile_hlo.add %1037, %1162 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1164 = tile_hlo.select %1160, %1163, %1037 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1165 = tile_hlo.reshape %1164 : (tensor<1xi64>) -> tensor<i64>
    %1166 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1167 = tile_hlo.dynamic_update_slice %994, %1154, %1166, %1166, %1165, %1166 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %1168 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1169 = tile_hlo.broadcast_in_dim %1168 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1170 = tile_hlo.compare %1037, %1169 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %1171 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %1172 = tile_hlo.broadcast_in_dim %1171 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1173 = tile_hlo.add %1037, %1172 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1174 = tile_hlo.select %1170, %1173, %1037 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1175 = tile_hlo.reshape %1174 : (tensor<1xi64>) -> tensor<i64>
    %1176 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1177 = tile_hlo.dynamic_update_slice %1004, %1157, %1176, %1176, %1175, %1176 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %1178 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %1179 = tile_hlo.broadcast_in_dim %1037 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %1180 = tile_hlo.compare %1178, %1179 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %1181 = tile_hlo.reshape %1180 : (tensor<12xi1>) -> tensor<1x12xi1>
    %1182 = tile_tensor.attention %1139, %1167, %1177, %1181 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %1183 = tile_hlo.transpose %1182 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %1184 = tile_hlo.reshape %1183 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %1185 = tile_hlo.dot_general %1184, %decoder_model_layers_1_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %1186 = tile_hlo.add %1117, %1185 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %1187 = tile_tensor.rms_norm %1186, %decoder_model_layers_1_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %1188 = tile_hlo.dot_general %1187, %decoder_model_layers_1_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %1189 = tile_tensor.silu %1188 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %1190 = tile_hlo.dot_general %1187, %decoder_model_layers_1_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %1191 = tile_hlo.multiply %1189, %1190 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %1192 = tile_hlo.dot_general %1191, %decoder_model_layers_1_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %1193 = tile_hlo.add %1186, %1192 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %1194 = tile_tensor.rms_norm %1193, %decoder_model_norm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %1195 = tile_hlo.dot_general %1194, %decoder_model_lm_head_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<50x32xf32>) -> tensor<1x1x50xf32>
    %1196 = tile_hlo.reshape %1195 : (tensor<1x1x50xf32>) -> tensor<1x50xf32>
    %1197 = tile_hlo.arg_reduce %1196 {kind = "max", dimension = 1 : i64} : (tensor<1x50xf32>) -> tensor<1xi64>
    %1198 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1199 = tile_hlo.broadcast_in_dim %1198 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1200 = tile_hlo.compare %1037, %1199 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %1201 = tile_hlo.constant {value = dense<8> : tensor<i64>} : () -> tensor<i64>
    %1202 = tile_hlo.broadcast_in_dim %1201 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1203 = tile_hlo.add %1037, %1202 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1204 = tile_hlo.select %1200, %1203, %1037 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1205 = tile_hlo.reshape %1204 : (tensor<1xi64>) -> tensor<i64>
    %1206 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1207 = tile_hlo.dynamic_update_slice %1034, %1197, %1205 : (tensor<8xi64>, tensor<1xi64>, tensor<i64>) -> tensor<8xi64>
    %1208 = tile_hlo.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %1209 = tile_hlo.broadcast_in_dim %1208 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1210 = tile_hlo.add %1037, %1209 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1211 = tile_hlo.take %decoder_model_embed_tokens_weight, %1197 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<50x32xf32>, tensor<1xi64>) -> tensor<1x32xf32>
    %1212 = tile_hlo.reshape %1211 : (tensor<1x32xf32>) -> tensor<1x1x32xf32>
    %1213 = tile_hlo.constant {value = dense<[[0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e-02], [2.000000e+00, 2.000000e-02], [3.000000e+00, 3.000000e-02], [4.000000e+00, 4.000000e-02], [5.000000e+00, 0.049999997], [6.000000e+00, 6.000000e-02], [7.000000e+00, 7.000000e-02], [8.000000e+00, 8.000000e-02], [9.000000e+00, 0.0899999961], [1.000000e+01, 0.099999994], [1.100000e+01, 1.100000e-01]]> : tensor<12x2xf32>} : () -> tensor<12x2xf32>
    %1214 = tile_hlo.take %1213, %1210 {axis = 0 : i64, out_of_range = "clamp"} : (tensor<12x2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
    %1215 = tile_tensor.rms_norm %1212, %decoder_model_layers_0_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %1216 = tile_hlo.dot_general %1215, %decoder_model_layers_0_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %1217 = tile_hlo.reshape %1216 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %1218 = tile_hlo.transpose %1217 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %1219 = tile_hlo.dot_general %1215, %decoder_model_layers_0_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %1220 = tile_hlo.reshape %1219 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %1221 = tile_hlo.transpose %1220 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %1222 = tile_hlo.cosine %1214 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1223 = tile_hlo.sine %1214 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1224 = tile_hlo.slice %1218 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %1225 = tile_hlo.slice %1218 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %1226 = tile_hlo.broadcast_in_dim %1222 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1227 = tile_hlo.multiply %1224, %1226 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1228 = tile_hlo.broadcast_in_dim %1223 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1229 = tile_hlo.multiply %1225, %1228 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1230 = tile_hlo.subtract %1227, %1229 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1231 = tile_hlo.broadcast_in_dim %1222 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1232 = tile_hlo.multiply %1225, %1231 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1233 = tile_hlo.broadcast_in_dim %1223 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1234 = tile_hlo.multiply %1224, %1233 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1235 = tile_hlo.add %1232, %1234 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1236 = tile_hlo.concatenate %1230, %1235 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %1237 = tile_hlo.cosine %1214 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1238 = tile_hlo.sine %1214 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1239 = tile_hlo.slice %1221 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %1240 = tile_hlo.slice %1221 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %1241 = tile_hlo.broadcast_in_dim %1237 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1242 = tile_hlo.multiply %1239, %1241 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1243 = tile_hlo.broadcast_in_dim %1238 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1244 = tile_hlo.multiply %1240, %1243 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1245 = tile_hlo.subtract %1242, %1244 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1246 = tile_hlo.broadcast_in_dim %1237 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1247 = tile_hlo.multiply %1240, %1246 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1248 = tile_hlo.broadcast_in_dim %1238 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1249 = tile_hlo.multiply %1239, %1248 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1250 = tile_hlo.add %1247, %1249 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1251 = tile_hlo.concatenate %1245, %1250 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %1252 = tile_hlo.dot_general %1215, %decoder_model_layers_0_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %1253 = tile_hlo.reshape %1252 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %1254 = tile_hlo.transpose %1253 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %1255 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1256 = tile_hlo.broadcast_in_dim %1255 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1257 = tile_hlo.compare %1210, %1256 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %1258 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %1259 = tile_hlo.broadcast_in_dim %1258 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1260 = tile_hlo.add %1210, %1259 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1261 = tile_hlo.select %1257, %1260, %1210 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1262 = tile_hlo.reshape %1261 : (tensor<1xi64>) -> tensor<i64>
    %1263 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1264 = tile_hlo.dynamic_update_slice %1091, %1251, %1263, %1263, %1262, %1263 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %1265 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1266 = tile_hlo.broadcast_in_dim %1265 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1267 = tile_hlo.compare %1210, %1266 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %1268 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %1269 = tile_hlo.broadcast_in_dim %1268 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1270 = tile_hlo.add %1210, %1269 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1271 = tile_hlo.select %1267, %1270, %1210 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1272 = tile_hlo.reshape %1271 : (tensor<1xi64>) -> tensor<i64>
    %1273 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1274 = tile_hlo.dynamic_update_slice %1101, %1254, %1273, %1273, %1272, %1273 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %1275 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %1276 = tile_hlo.broadcast_in_dim %1210 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %1277 = tile_hlo.compare %1275, %1276 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %1278 = tile_hlo.reshape %1277 : (tensor<12xi1>) -> tensor<1x12xi1>
    %1279 = tile_tensor.attention %1236, %1264, %1274, %1278 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %1280 = tile_hlo.transpose %1279 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %1281 = tile_hlo.reshape %1280 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %1282 = tile_hlo.dot_general %1281, %decoder_model_layers_0_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %1283 = tile_hlo.add %1212, %1282 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %1284 = tile_tensor.rms_norm %1283, %decoder_model_layers_0_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %1285 = tile_hlo.dot_general %1284, %decoder_model_layers_0_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %1286 = tile_tensor.silu %1285 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %1287 = tile_hlo.dot_general %1284, %decoder_model_layers_0_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %1288 = tile_hlo.multiply %1286, %1287 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %1289 = tile_hlo.dot_general %1288, %decoder_model_layers_0_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %1290 = tile_hlo.add %1283, %1289 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %1291 = tile_tensor.rms_norm %1290, %decoder_model_layers_1_input_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %1292 = tile_hlo.dot_general %1291, %decoder_model_layers_1_q_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %1293 = tile_hlo.reshape %1292 : (tensor<1x1x32xf32>) -> tensor<1x1x8x4xf32>
    %1294 = tile_hlo.transpose %1293 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x8x4xf32>) -> tensor<1x8x1x4xf32>
    %1295 = tile_hlo.dot_general %1291, %decoder_model_layers_1_k_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %1296 = tile_hlo.reshape %1295 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %1297 = tile_hlo.transpose %1296 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %1298 = tile_hlo.cosine %1214 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1299 = tile_hlo.sine %1214 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1300 = tile_hlo.slice %1294 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 8, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %1301 = tile_hlo.slice %1294 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 8, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x8x1x4xf32>) -> tensor<1x8x1x2xf32>
    %1302 = tile_hlo.broadcast_in_dim %1298 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1303 = tile_hlo.multiply %1300, %1302 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1304 = tile_hlo.broadcast_in_dim %1299 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1305 = tile_hlo.multiply %1301, %1304 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1306 = tile_hlo.subtract %1303, %1305 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1307 = tile_hlo.broadcast_in_dim %1298 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1308 = tile_hlo.multiply %1301, %1307 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1309 = tile_hlo.broadcast_in_dim %1299 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x8x1x2xf32>
    %1310 = tile_hlo.multiply %1300, %1309 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1311 = tile_hlo.add %1308, %1310 : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x2xf32>
    %1312 = tile_hlo.concatenate %1306, %1311 {dimension = 3 : i64} : (tensor<1x8x1x2xf32>, tensor<1x8x1x2xf32>) -> tensor<1x8x1x4xf32>
    %1313 = tile_hlo.cosine %1214 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1314 = tile_hlo.sine %1214 : (tensor<1x2xf32>) -> tensor<1x2xf32>
    %1315 = tile_hlo.slice %1297 {start = array<i64: 0, 0, 0, 0>, limit = array<i64: 1, 2, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %1316 = tile_hlo.slice %1297 {start = array<i64: 0, 0, 0, 2>, limit = array<i64: 1, 2, 1, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x1x4xf32>) -> tensor<1x2x1x2xf32>
    %1317 = tile_hlo.broadcast_in_dim %1313 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1318 = tile_hlo.multiply %1315, %1317 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1319 = tile_hlo.broadcast_in_dim %1314 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1320 = tile_hlo.multiply %1316, %1319 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1321 = tile_hlo.subtract %1318, %1320 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1322 = tile_hlo.broadcast_in_dim %1313 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1323 = tile_hlo.multiply %1316, %1322 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1324 = tile_hlo.broadcast_in_dim %1314 {dimensions = array<i64: 2, 3>} : (tensor<1x2xf32>) -> tensor<1x2x1x2xf32>
    %1325 = tile_hlo.multiply %1315, %1324 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1326 = tile_hlo.add %1323, %1325 : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
    %1327 = tile_hlo.concatenate %1321, %1326 {dimension = 3 : i64} : (tensor<1x2x1x2xf32>, tensor<1x2x1x2xf32>) -> tensor<1x2x1x4xf32>
    %1328 = tile_hlo.dot_general %1291, %decoder_model_layers_1_v_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<8x32xf32>) -> tensor<1x1x8xf32>
    %1329 = tile_hlo.reshape %1328 : (tensor<1x1x8xf32>) -> tensor<1x1x2x4xf32>
    %1330 = tile_hlo.transpose %1329 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x1x2x4xf32>) -> tensor<1x2x1x4xf32>
    %1331 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1332 = tile_hlo.broadcast_in_dim %1331 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1333 = tile_hlo.compare %1210, %1332 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %1334 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %1335 = tile_hlo.broadcast_in_dim %1334 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1336 = tile_hlo.add %1210, %1335 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1337 = tile_hlo.select %1333, %1336, %1210 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1338 = tile_hlo.reshape %1337 : (tensor<1xi64>) -> tensor<i64>
    %1339 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1340 = tile_hlo.dynamic_update_slice %1167, %1327, %1339, %1339, %1338, %1339 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %1341 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1342 = tile_hlo.broadcast_in_dim %1341 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1343 = tile_hlo.compare %1210, %1342 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %1344 = tile_hlo.constant {value = dense<12> : tensor<i64>} : () -> tensor<i64>
    %1345 = tile_hlo.broadcast_in_dim %1344 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1346 = tile_hlo.add %1210, %1345 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1347 = tile_hlo.select %1343, %1346, %1210 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1348 = tile_hlo.reshape %1347 : (tensor<1xi64>) -> tensor<i64>
    %1349 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1350 = tile_hlo.dynamic_update_slice %1177, %1330, %1349, %1349, %1348, %1349 : (tensor<1x2x12x4xf32>, tensor<1x2x1x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x2x12x4xf32>
    %1351 = tile_hlo.constant {value = dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]> : tensor<12xi64>} : () -> tensor<12xi64>
    %1352 = tile_hlo.broadcast_in_dim %1210 {dimensions = array<i64: 0>} : (tensor<1xi64>) -> tensor<12xi64>
    %1353 = tile_hlo.compare %1351, %1352 {direction = "LE"} : (tensor<12xi64>, tensor<12xi64>) -> tensor<12xi1>
    %1354 = tile_hlo.reshape %1353 : (tensor<12xi1>) -> tensor<1x12xi1>
    %1355 = tile_tensor.attention %1312, %1340, %1350, %1354 scale 5.000000e-01 mask_place after_scale : (tensor<1x8x1x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x12xi1>) -> tensor<1x8x1x4xf32>
    %1356 = tile_hlo.transpose %1355 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x8x1x4xf32>) -> tensor<1x1x8x4xf32>
    %1357 = tile_hlo.reshape %1356 : (tensor<1x1x8x4xf32>) -> tensor<1x1x32xf32>
    %1358 = tile_hlo.dot_general %1357, %decoder_model_layers_1_o_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<32x32xf32>) -> tensor<1x1x32xf32>
    %1359 = tile_hlo.add %1290, %1358 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %1360 = tile_tensor.rms_norm %1359, %decoder_model_layers_1_post_attention_layernorm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %1361 = tile_hlo.dot_general %1360, %decoder_model_layers_1_gate_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %1362 = tile_tensor.silu %1361 : (tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %1363 = tile_hlo.dot_general %1360, %decoder_model_layers_1_up_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<64x32xf32>) -> tensor<1x1x64xf32>
    %1364 = tile_hlo.multiply %1362, %1363 : (tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> tensor<1x1x64xf32>
    %1365 = tile_hlo.dot_general %1364, %decoder_model_layers_1_down_proj_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x64xf32>, tensor<32x64xf32>) -> tensor<1x1x32xf32>
    %1366 = tile_hlo.add %1359, %1365 : (tensor<1x1x32xf32>, tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
    %1367 = tile_tensor.rms_norm %1366, %decoder_model_norm_weight epsilon 1.000000e-05 : (tensor<1x1x32xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
    %1368 = tile_hlo.dot_general %1367, %decoder_model_lm_head_weight {lhs_batching = array<i64>, rhs_batching = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<1x1x32xf32>, tensor<50x32xf32>) -> tensor<1x1x50xf32>
    %1369 = tile_hlo.reshape %1368 : (tensor<1x1x50xf32>) -> tensor<1x50xf32>
    %1370 = tile_hlo.arg_reduce %1369 {kind = "max", dimension = 1 : i64} : (tensor<1x50xf32>) -> tensor<1xi64>
    %1371 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1372 = tile_hlo.broadcast_in_dim %1371 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1373 = tile_hlo.compare %1210, %1372 {direction = "LT"} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
    %1374 = tile_hlo.constant {value = dense<8> : tensor<i64>} : () -> tensor<i64>
    %1375 = tile_hlo.broadcast_in_dim %1374 {dimensions = array<i64>} : (tensor<i64>) -> tensor<1xi64>
    %1376 = tile_hlo.add %1210, %1375 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1377 = tile_hlo.select %1373, %1376, %1210 : (tensor<1xi1>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %1378 = tile_hlo.reshape %1377 : (tensor<1xi64>) -> tensor<i64>
    %1379 = tile_hlo.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %1380 = tile_hlo.dynamic_update_slice %1207, %1370, %1378 : (tensor<8xi64>, tensor<1xi64>, tensor<i64>) -> tensor<8xi64>
    func.return %1380, %1264, %1274, %1340, %1350 : tensor<8xi64>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>, tensor<1x2x12x4xf32>
  }
}
