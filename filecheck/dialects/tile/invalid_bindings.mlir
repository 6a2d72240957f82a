// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

// Bindings without names, contents where none belong, and contents that are not those of the buffer.

// CHECK: a binding of kind input names what it is bound to
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.bind input %x view "[8a]" tensors [] : !tile.buffer<f16, "[8]">

// -----

// CHECK: a constant, and nothing else, has contents
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.bind constant %x view "[8a]" tensors ["c"] : !tile.buffer<f16, "[8]">

// -----

// CHECK: the contents of a constant are `dense<...> : tensor<...>`
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
"tile.bind"(%x) <{kind = "constant", view = "[8a]", tensors = ["c"], scale = 0 : i64, contents = 3 : i32}> : (!tile.buffer<f16, "[8]">) -> ()

// -----

// CHECK: the contents do not fill the 8 elements of the constant
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8]">
tile.bind constant %x view "[8a]" tensors ["c"] contents dense<[1.0, 2.0]> : tensor<2xf16> : !tile.buffer<f16, "[8]">
