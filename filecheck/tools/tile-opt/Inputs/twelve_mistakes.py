# SPDX-License-Identifier: Apache-2.0
"""Twelve pieces with a mistake each, on lines 1, 4, ... 34, and a good one."""

PIECES = (
    '"test.op"() : () -> !test.nope',
    '"nope.op"() : () -> ()',
    "func.func @f(%a: i32) { func.return %a : i32 }",
    "func.func @f( {",
    "arith.addd",
    '"test.op"(%x) : (i32) -> ()',
    "func.func @f() -> i32 { func.return }",
    '"test.op"() {a = 99999999999999999999999} : () -> ()',
    "builtin.module {",
    '"test.op"() {a = dense<[1, 2]> : tensor<3xi32>} : () -> ()',
    '"test.op"() {a = #nope.x} : () -> ()',
    "%a = tile_tensor.add",
    "func.func private @good() -> ()",
)

print("\n\n// -----\n".join(PIECES))
