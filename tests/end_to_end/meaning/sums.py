# SPDX-License-Identifier: Apache-2.0
"""The type of running sums, and products of operands of different types."""

from .case import E4, E5, INF, NAN, Case

CASES = (
    # the type of running sums
    Case(
        "f16 products add up in f32",
        "matmul %a, %b",
        "1x32xf16 32x1xf16 -> 1x1xf32",
        ((2048.0, *(0.0,) * 15, *(1.0,) * 16), (1.0,) * 32),
        (2064.0,),
    ),
    Case(
        "f16 products far from zero",
        "matmul %a, %b",
        "1x32xf16 32x1xf16 -> 1x1xf32",
        ((60000.0, *(0.0,) * 15, 60000.0, *(0.0,) * 15), (1.0,) * 32),
        (120000.0,),
    ),
    Case(
        "f16 products told to add up in f16",
        "matmul %a, %b accumulate f16",
        "1x32xf16 32x1xf16 -> 1x1xf32",
        ((1.0, *(0.0,) * 15, *(2.0**-12,) * 16), (1.0,) * 32),
        (1.00390625,),
    ),
    Case(
        "what f16 products told to add up in f16 lose",
        "matmul %a, %b accumulate f16 {plan = {grid = array<i64: 1, 1, 1, 1>}}",
        "1x64xf16 64x1xf16 -> 1x1xf32",
        ((1.0, *((0.0,) * 15 + (2.0**-12,)) * 3, *(0.0,) * 15), (1.0,) * 64),
        (1.0,),
    ),
    Case(
        "FP8 products add up in f16",
        "matmul %a, %b {plan = {grid = array<i64: 1, 1, 1, 1>}}",
        f"1x192x{E4} 192x1x{E4} -> 1x1xf16",
        ((*(240.0, *(0.0,) * 63) * 2, -240.0, *(0.0,) * 63), (240.0,) * 192),
        (INF,),
    ),
    Case(
        "attention of f16 adds up in f32",
        "attention %a, %b, %c scale 0.001",
        "1x1x4xf16 1x2x4xf16 1x2x4xf16 -> 1x1x4xf32",
        ((200.0,) * 4, (*(100.0,) * 4, *(50.0,) * 4), (*(1.0,) * 4, *(2.0,) * 4)),
        (1.0,) * 4,
    ),
    Case(
        "outputs of attention of f16 add up in f32",
        "attention %a, %b, %c",
        "1x8xf16 32x8xf16 32x8xf16 -> 1x8xf32",
        ((0.0,) * 8, (0.0,) * 256, (30000.0,) * 256),
        (30000.0,) * 8,
    ),
    Case(
        "FP8 attention adds up in f32 when told",
        "attention %a, %b, %c accumulate f32 scale 0.001",
        f"1x2x{E4} 2x2x{E4} 2x2x{E4} -> 1x2xf32",
        ((240.0, 240.0), (240.0, 240.0, 120.0, 120.0), (1.0, 1.0, 2.0, 2.0)),
        (1.0, 1.0),
        1e-3,
    ),
    Case(
        "FP8 attention adds up in f16",
        "attention %a, %b, %c scale 0.001 empty_rows nan",
        f"1x2x{E4} 2x2x{E4} 2x2x{E4} -> 1x2xf32",
        ((240.0, 240.0), (240.0, 240.0, 120.0, 120.0), (1.0, 1.0, 2.0, 2.0)),
        (NAN, NAN),
    ),
    # products of operands that differ
    Case(
        "a product of f16 and f8 adds up in f32",
        "matmul %a, %b",
        f"1x3xf16 3x1x{E4} -> 1x1xf16",
        ((2048.0, 1.0, 1.0), (1.0, 1.0, 1.0)),
        (2050.0,),
    ),
    Case(
        "a product of f16 and f8 that is told to add up in f16, pass by pass",
        "matmul %a, %b accumulate f16",
        f"1x33x{E5} 33x1xf16 -> 1x1xf32",
        ((2048.0, *(0.0,) * 15, 1.0, *(0.0,) * 15, 1.0), (1.0,) * 33),
        (2048.0,),
        tolerance=0.001,
    ),
    Case(
        "leading dimensions are broadcast from both sides",
        "matmul %a, %b",
        "2x1x1x1xf16 3x1x1xf16 -> 2x3x1x1xf16",
        ((2.0, 3.0), (1.0, 10.0, -1.0)),
        (2.0, 20.0, -2.0, 3.0, 30.0, -3.0),
    ),
)
