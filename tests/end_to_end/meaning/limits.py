# SPDX-License-Identifier: Apache-2.0
"""Zeros of both signs, infinities, tensors of rank 0."""

from .case import INF, Case

CASES = (
    # zeros and limits
    Case(
        "the sign of a maximum of zeros",
        "maximum %a, %b",
        "3xf32 3xf32 -> 3xf32",
        ((0.0, -0.0, -0.0), (-0.0, 0.0, -0.0)),
        (0.0, 0.0, -0.0),
    ),
    Case(
        "the sign of a minimum of zeros",
        "minimum %a, %b",
        "3xf32 3xf32 -> 3xf32",
        ((0.0, -0.0, 0.0), (-0.0, 0.0, 0.0)),
        (-0.0, -0.0, 0.0),
    ),
    Case(
        "the sign of a sum of zeros",
        "reduce sum %a axes [1]",
        "3x2xf32 -> 3xf32",
        ((-0.0, -0.0, -0.0, 0.0, 1.0, -1.0),),
        (-0.0, 0.0, 0.0),
    ),
    Case(
        "the sign of a mean of zeros",
        "reduce mean %a axes [1]",
        "2x2xf32 -> 2xf32",
        ((-0.0, -0.0, -0.0, 0.0),),
        (-0.0, 0.0),
    ),
    Case(
        "the sign of the largest zero",
        "reduce max %a axes [1]",
        "2x3xf32 -> 2xf32",
        ((-0.0, 0.0, -1.0, -0.0, -0.0, -1.0),),
        (0.0, -0.0),
    ),
    Case(
        "the sign of the least zero",
        "reduce min %a axes [1]",
        "2x3xf32 -> 2xf32",
        ((-0.0, 0.0, 1.0, 0.0, 0.0, 1.0),),
        (-0.0, 0.0),
    ),
    Case(
        "gelu of infinities",
        "gelu %a approximate tanh",
        "3xf16 -> 3xf16",
        ((-INF, INF, -60000.0),),
        (-0.0, INF, -0.0),
    ),
    Case(
        "gelu with erf of infinities",
        "gelu %a",
        "3xf16 -> 3xf16",
        ((-INF, INF, -60000.0),),
        (-0.0, INF, -0.0),
    ),
    Case("a tensor of rank 0", "add %a, %b", "f32 f32 -> f32", ((5.0,), (0.25,)), (5.25,)),
)
