# SPDX-License-Identifier: Apache-2.0
"""Integers, truth values, bits, powers and remainders."""

import math

from .case import E4, INF, NAN, Case

LOW32 = -(2**31)

CASES = (
    # integers
    Case(
        "integer division by zero",
        "div %a, %b",
        "3xi32 3xi32 -> 3xi32",
        ((5, -5, 0), (0, 0, 0)),
        (-1, -1, -1),
    ),
    Case(
        "the lowest integer divided by -1",
        "div %a, %b",
        "3xi32 3xi32 -> 3xi32",
        ((LOW32, LOW32, 7), (-1, 0, -2)),
        (LOW32, -1, -3),
    ),
    Case(
        "integers of 8 bits",
        "div %a, %b",
        "3xi8 3xi8 -> 3xi8",
        ((-128, -128, -7), (-1, 0, 2)),
        (-128, -1, -3),
    ),
    Case(
        "floats to the nearest integer",
        "cast %a",
        "6xf32 -> 6xi8",
        ((2.5, -2.5, 3.5, 1e9, -INF, NAN),),
        (2, -2, 4, 127, -128, 0),
    ),
    Case(
        "floats toward zero",
        "cast %a rounding truncate",
        "6xf32 -> 6xi8",
        ((2.9, -2.9, 3.5, 1e9, -INF, NAN),),
        (2, -2, 3, 127, -128, 0),
    ),
    Case(
        "the low bits of what is beyond",
        "cast %a rounding truncate {saturate = false}",
        "2xf32 -> 2xi8",
        ((300.9, -1.5),),
        (44, -1),
    ),
    # truth values
    Case(
        "nothing compares with NaN but by ne",
        "%p = tile_tensor.compare ne %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>;"
        "%q = tile_tensor.compare ge %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>;"
        "%s = tile_tensor.xor %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>;"
        "%n = tile_tensor.not %s : (tensor<4xi1>) -> tensor<4xi1>;"
        "%r = tile_tensor.select %n, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
        "4xf32 4xf32 -> 4xf32",
        ((NAN, 1.0, -0.0, 2.0), (NAN, NAN, 0.0, 1.0)),
        (NAN, NAN, 0.0, 2.0),
    ),
    Case(
        "the zeros are equal",
        "compare eq %a, %b",
        "3xf16 3xf16 -> 3xi1",
        ((0.0, -0.0, 1.0), (-0.0, -0.0, NAN)),
        (1, 1, 0),
    ),
    Case("signed integers", "compare lt %a, %b", "2xi8 2xi8 -> 2xi1", ((-128, 1), (127, 0)), (1, 0)),
    Case(
        "false is below true",
        "compare lt %a, %b",
        "4xi1 4xi1 -> 4xi1",
        ((0, 0, 1, 1), (0, 1, 0, 1)),
        (0, 1, 0, 0),
    ),
    Case("any of a row", "reduce any %a axes [1]", "2x3xi1 -> 2xi1", ((0, 0, 0, 0, 1, 0),), (0, 1)),
    Case("all of a row", "reduce all %a axes [1]", "2x3xi1 -> 2xi1", ((1, 1, 1, 0, 1, 1),), (1, 0)),
    Case("any of nothing", "reduce any %a axes [1]", "2x0xi1 -> 2xi1", ((),), (0, 0)),
    Case("all of nothing", "reduce all %a axes [1]", "2x0xi1 -> 2xi1", ((),), (1, 1)),
    Case("what is not zero is true", "cast %a", "4xf16 -> 4xi1", ((0.0, -0.0, 0.25, NAN),), (0, 0, 1, 1)),
    Case("true is 1", "cast %a", "2xi1 -> 2xf16", ((0, 1),), (0.0, 1.0)),
    Case(
        "a constant of truth values",
        "%c = tile_tensor.constant dense<[true, false, true]> : tensor<3xi1>;"
        "%r = tile_tensor.and %a, %c : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>",
        "3xi1 -> 3xi1",
        ((1, 1, 0),),
        (1, 0, 0),
    ),
    Case(
        "a pad of truth values", "pad %a low [1] high [2] value 1", "2xi1 -> 5xi1", ((0, 1),), (1, 0, 1, 1, 1)
    ),
    Case(
        "what is finite",
        "is_finite %a",
        "4xf32 -> 4xi1",
        ((INF, -INF, NAN, 3e38),),
        (0, 0, 0, 1),
    ),
    # bits
    Case("bits of integers", "xor %a, %b", "2xi8 2xi8 -> 2xi8", ((-1, 6), (127, 3)), (-128, 5)),
    Case("all bits turned over", "not %a", "3xi8 -> 3xi8", ((0, -128, 5),), (-1, 127, -6)),
    Case(
        "bits shifted out",
        "shift_left %a, %b",
        "4xi8 4xi8 -> 4xi8",
        ((1, 1, 3, 3), (7, 8, -1, 6)),
        (-128, 0, 0, -64),
    ),
    Case(
        "the sign comes in",
        "shift_right_arithmetic %a, %b",
        "4xi32 4xi32 -> 4xi32",
        ((LOW32, LOW32, -5, 5), (31, 40, 1, -1)),
        (-1, -1, -3, 0),
    ),
    Case(
        "zeros come in",
        "shift_right_logical %a, %b",
        "4xi8 4xi8 -> 4xi8",
        ((-128, -1, -1, 64), (7, 1, 8, 6)),
        (1, 127, 0, 1),
    ),
    # powers, remainders, whole numbers
    Case(
        "powers of integers",
        "pow %a, %b",
        "6xi32 6xi32 -> 6xi32",
        ((3, 2, 2, -1, 7, 0), (4, 31, -1, -3, 0, -2)),
        (81, LOW32, 0, -1, 1, 0),
    ),
    Case(
        "powers saturate",
        "pow %a, %b",
        f"3xf16 3xf16 -> 3x{E4}",
        ((60000.0, -60000.0, 0.0), (900.0, 901.0, -1.0)),
        (240.0, -240.0, NAN),
    ),
    Case(
        "remainders have the sign of the dividend",
        "remainder %a, %b",
        "5xi8 5xi8 -> 5xi8",
        ((-7, 7, -128, 5, -5), (3, -3, -1, 0, 0)),
        (-1, 1, 0, 5, -5),
    ),
    Case(
        "remainders of floats",
        "remainder %a, %b",
        "4xf32 4xf32 -> 4xf32",
        ((-7.5, 7.0, 1.0, -0.0), (2.0, INF, 0.0, 3.0)),
        (-1.5, 7.0, NAN, -0.0),
    ),
    Case(
        "the nearest whole number",
        "round %a",
        "4xf16 -> 4xf16",
        ((2.5, 3.5, -0.5, -INF),),
        (2.0, 4.0, -0.0, -INF),
    ),
    Case("whole numbers below", "floor %a", "3xf16 -> 3xf16", ((-0.5, 1.75, -0.0),), (-1.0, 1.0, -0.0)),
    Case("whole numbers above", "ceil %a", "3xf16 -> 3xf16", ((-0.5, 1.25, NAN),), (-0.0, 2.0, NAN)),
    Case("signs", "sign %a", "4xf32 -> 4xf32", ((-0.0, NAN, -INF, 1e-45),), (-0.0, NAN, -1.0, 1.0)),
    Case(
        "exponentials less one saturate",
        "expm1 %a",
        f"3xf16 -> 3x{E4}",
        ((60000.0, -INF, INF),),
        (240.0, -1.0, NAN),
    ),
    Case("silu of infinities", "silu %a", "3xf16 -> 3xf16", ((-INF, INF, -60000.0),), (-0.0, INF, -0.0)),
    Case(
        "a quarter turn",
        "atan2 %a, %b",
        "3xf32 3xf32 -> 3xf32",
        ((0.0, -0.0, 1.0), (-1.0, -1.0, 0.0)),
        (math.pi, -math.pi, math.pi / 2),
        1e-7,
    ),
)
