// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

// CHECK: '[8/4@]' is not a layout at column 6
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8/4@]">

// -----

// CHECK: unknown element type 'f12'
%x = tile.alloc "x" activations : !tile.buffer<f12, "[8]">

// -----

// CHECK: category 'weights' is none of parameters, activations, staging, partials
%x = tile.alloc "x" weights : !tile.buffer<f16, "[8]">

// -----

// CHECK: members of 16 bytes overlap where they begin every 8
%x = tile.alloc "x" activations stride 8 : !tile.buffer<f16, "[8]", 2>

// -----

// CHECK:      :35: error: expected a !tile.buffer type, found tensor<8xf16>
// CHECK-NEXT: %x = tile.alloc "x" activations : tensor<8xf16>
// CHECK-NEXT:                                   ^~~~~~~~~~~~~
%x = tile.alloc "x" activations : tensor<8xf16>

// -----

// CHECK: kind 'argument' is none of parameter, input, output, constant, value
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.bind argument %x view "[8a]" tensors ["x"] : !tile.buffer<f16, "[8]">

// -----

// CHECK: 2 tensors are named for a buffer of 3
%w = tile.alloc "w" parameters : !tile.buffer<f16, "[8]", 3>
tile.bind parameter %w view "[8a]" tensors ["w.0", "w.1"] : !tile.buffer<f16, "[8]", 3>

// -----

// CHECK: members [2, 2] for a buffer of 3
%w = tile.alloc "w" activations : !tile.buffer<f16, "[8]", 3>
tile.bind output %w view "[8a]" tensors ["w"] members [2, 2] : !tile.buffer<f16, "[8]", 3>

// -----

// CHECK: '[8]a' is not a view at column 4
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.bind input %x view "[8]a" tensors ["x"] : !tile.buffer<f16, "[8]">

// -----

// CHECK: view is onto 2 storage axes, the layout has 1
%x = tile.alloc "x" activations : !tile.buffer<f16, "[64]">
tile.bind input %x view "[8a, 8b]" tensors ["x"] : !tile.buffer<f16, "[64]">

// -----

// CHECK: an exchange does not convert: source is f16, destination f32
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
%y = tile.alloc "y" activations : !tile.buffer<f32, "[8]">
tile.exchange "x" (%x "[8a]" -> %y "[8a]") : !tile.buffer<f16, "[8]">, !tile.buffer<f32, "[8]">

// -----

// CHECK: source view has shape (4,), destination view (8,)
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.exchange "x" (%x "[4a]" -> %x "[8a]") : !tile.buffer<f16, "[8]">, !tile.buffer<f16, "[8]">

// -----

// CHECK: destination view is onto 2 storage axes, its layout has 1
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.exchange "x" (%x "[8a*1]" -> %x "[8b]") : !tile.buffer<f16, "[8]">, !tile.buffer<f16, "[8]">

// -----

// CHECK: expected 2 types, found 1
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.exchange "x" (%x "[8a]" -> %x "[8a]") : !tile.buffer<f16, "[8]">

// -----

// CHECK: unknown kernel 'gemm.f16'; did you mean `gemm.
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.compute "gemm.f16" (%x "m=0", %x "n=0") -> (%x "m=0") axes "b m n k" : !tile.buffer<f16, "[8]">, !tile.buffer<f16, "[8]">, !tile.buffer<f16, "[8]">

// -----

// CHECK: kernel pointwise.add has 2 inputs and 1 outputs, not 1 and 1
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.compute "pointwise.add" (%x "n=0") -> (%x "n=0") axes "n" : !tile.buffer<f16, "[8]">, !tile.buffer<f16, "[8]">

// -----

// CHECK: operand uses axis 'm'; the call has axes n
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.compute "pointwise.neg" (%x "m=0") -> (%x "n=0") axes "n" : !tile.buffer<f16, "[8]">, !tile.buffer<f16, "[8]">

// -----

// CHECK: axis 'n' is storage axis 1 of a buffer that has 1
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.compute "pointwise.neg" (%x "n=1") -> (%x "n=0") axes "n" : !tile.buffer<f16, "[8]">, !tile.buffer<f16, "[8]">

// -----

// CHECK: operand axes read like 'm=1 k=2' or 'flat', not 'n:0'
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.compute "pointwise.neg" (%x "n:0") -> (%x "n=0") axes "n" : !tile.buffer<f16, "[8]">, !tile.buffer<f16, "[8]">

// -----

// CHECK: a sequence of 3 in a repeat of 2
%w = tile.alloc "w" parameters : !tile.buffer<f16, "[8]", 3>
tile.repeat "layers" count 2 sequences (%m = %w : !tile.buffer<f16, "[8]", 3>) {
}

// -----

// CHECK: member 3 of a sequence of 3
%w = tile.alloc "w" parameters : !tile.buffer<f16, "[8]", 3>
%m = tile.member %w[3] : !tile.buffer<f16, "[8]", 3> -> !tile.buffer<f16, "[8]">

// -----

// CHECK: member has type !tile.buffer<f32, "[8]">, the sequence !tile.buffer<f16, "[8]", 3>
%w = tile.alloc "w" parameters : !tile.buffer<f16, "[8]", 3>
%m = "tile.member"(%w) <{index = 0 : i64}> : (!tile.buffer<f16, "[8]", 3>) -> !tile.buffer<f32, "[8]">
