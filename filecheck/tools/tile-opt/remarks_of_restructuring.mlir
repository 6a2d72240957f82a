// Inlining, outlining and merging phases say what they did, and where.

// RUN: tile-opt %s --split-input-file -p tile-inline-calls,tile-outline,tile-merge-phases --remarks --verify-diagnostics > /dev/null

func.func private @twice(%a: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %s = tile_tensor.add %a, %a : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %s : tensor<4x8xf16>
}
func.func @main(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-remark@+1 {{the body of `@twice` stands in the place of its call [tile-inline-calls: fusion]}}
  %y = func.call @twice(%x) : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}

// -----

// expected-remark@+1 {{what tiles compute in `@host` stays in 2 pieces}}
func.func @host(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-remark@+2 {{1 operations of `@host` are the function `@host_tiles_0` [tile-outline: conversion]}}
  // expected-remark@+1 {{`@host_tiles_0` is a program in a module of its own}}
  %a = tile_tensor.exp %x : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %b = "test.op"(%a) : (tensor<4x8xf16>) -> tensor<4x8xf16>
  // expected-remark@+2 {{2 operations of `@host` are the function `@host_tiles_1`}}
  // expected-remark@+1 {{`@host_tiles_1` is a program in a module of its own}}
  %c = tile_tensor.exp %b : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %d = tile_tensor.add %c, %c : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %d : tensor<4x8xf16>
}

// -----

builtin.module attributes {tile.machine = "t4"} {
  func.func @main() {
    %x = tile.alloc "x" activations : !tile.buffer<f32, "[4/1@1, 64]">
    %l = tile.alloc "l" staging : !tile.buffer<f32, "[4, 64]">
    // expected-remark@+1 {{2 exchange phases are one: left | right [tile-merge-phases: fusion]}}
    tile.exchange "left" (%x "[4a, 64b]" -> %l "[4a, 64b]") : !tile.buffer<f32, "[4/1@1, 64]">, !tile.buffer<f32, "[4, 64]">
    %r = tile.alloc "r" staging : !tile.buffer<f32, "[4, 64]">
    tile.exchange "right" (%x "[4a, 64b]" -> %r "[4a, 64b]") : !tile.buffer<f32, "[4/1@1, 64]">, !tile.buffer<f32, "[4, 64]">
    tile.compute "copy" (%r "a=0 b=1") -> (%r "a=0 b=1") axes "a b" for "second" : !tile.buffer<f32, "[4, 64]">, !tile.buffer<f32, "[4, 64]">
    tile.compute "copy" (%l "a=0 b=1") -> (%l "a=0 b=1") axes "a b" for "first" : !tile.buffer<f32, "[4, 64]">, !tile.buffer<f32, "[4, 64]">
    func.return
  }
}
