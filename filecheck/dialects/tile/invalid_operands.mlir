// RUN: not tile-opt %s --split-input-file 2>&1 | filecheck %s

// Operands, maps and scalars that do not go together.

// CHECK: an exchange needs a source and a destination, each with a view, per move
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8, 16]">
"tile.exchange"(%x) <{reason = "half", views = ["[8a, 16b]"]}> : (!tile.buffer<f16, "[8, 16]">) -> ()

// -----

// CHECK: 1 operands but 2 axis maps
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8, 16]">
"tile.compute"(%x) <{kernel = "fill", inputs = 0 : i64, maps = ["flat", "flat"], axes = "n", scalars = {value = 0 : i64}, reason = ""}> : (!tile.buffer<f16, "[8, 16]">) -> ()

// -----

// CHECK: scalars are a dictionary of numbers
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8, 16]">
tile.compute "fill" () -> (%x "flat") axes "n" scalars 3 : i64 : !tile.buffer<f16, "[8, 16]">

// -----

// CHECK: scalar 'value' is unit, which is no number
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8, 16]">
tile.compute "fill" () -> (%x "flat") axes "n" scalars {value} : !tile.buffer<f16, "[8, 16]">

// -----

// CHECK: scalar 'value' is "none", which is no number
%x = tile.alloc "x" activations : !tile.buffer<f16, "[8, 16]">
"tile.compute"(%x) <{kernel = "fill", inputs = 0 : i64, maps = ["flat"], axes = "n", scalars = {value = "none"}, reason = ""}> : (!tile.buffer<f16, "[8, 16]">) -> ()
