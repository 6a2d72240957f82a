# SPDX-License-Identifier: Apache-2.0
"""
The rules of docs/spec/tensor.md, one small program each: right values from the machine, from the reference of
the program as given and bit for bit from the oracle, or a refusal that names what is wrong.

`test_a_broken_rule_is_seen` breaks each rule in the machine model, and expects its programs to depart.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import harness
import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.parsing import parse_module
from tilewright.dialects.reference import evaluate
from tilewright.machine.dtypes import is_integer, numpy_dtype
from tilewright.machine.numerics import operations as numerics
from tilewright.machine.numerics import pointwise, rounding
from tilewright.sim import kernels
from tilewright.sim.executor import Executor
from tilewright.sim.oracle import compare_each

INF, NAN = math.inf, math.nan
E4, E5 = "f8E4M3FNUZ", "f8E5M2FNUZ"


@dataclass(frozen=True)
class Case:
    """
    One operation (or several, `;` between them) on %a, %b, ..: `types` are those of the operands, behind
    `->` that of the result; `expected` holds its elements in row-major order.
    """

    name: str
    body: str
    types: str
    inputs: tuple[Sequence[float], ...]
    expected: Sequence[float]
    tolerance: float = 0.0
    machine: str = "t4"

    @property
    def text(self) -> str:
        operands, _, result = self.types.partition(" -> ")
        types = [f"tensor<{entry}>" for entry in operands.split()]
        names = [f"%{letter}" for letter, _ in zip("abcdefg", types, strict=False)]
        arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types, strict=True))
        lines = [line.strip() for line in self.body.split(";")]
        if not lines[-1].startswith("%r"):
            lines = [f"%r = tile_tensor.{lines[0]} : ({', '.join(types)}) -> tensor<{result}>"]
        body = "\n  ".join(lines)
        return (
            f"func.func @main({arguments}) -> tensor<{result}> {{\n  {body}\n"
            f"  func.return %r : tensor<{result}>\n}}"
        )

    def values(self) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for number, (entry, values) in enumerate(
            zip(self.types.partition(" -> ")[0].split(), self.inputs, strict=True)
        ):
            *shape, dtype = entry.split("x")
            kind = numpy_dtype(dtype) if is_integer(dtype) else np.float32
            found[f"arg{number}"] = np.array(values, kind).reshape([int(n) for n in shape])
        return found

    def wrong(self, output: np.ndarray) -> str | None:
        """What is wrong with an output, or None; zeros differ by their sign."""
        expected = np.array(self.expected, np.float64)
        got = np.asarray(output).astype(np.float64).reshape(-1)
        with np.errstate(invalid="ignore"):
            same = (expected == got) & (np.signbit(expected) == np.signbit(got))
            near = np.abs(expected - got) <= self.tolerance * np.abs(expected) if self.tolerance else False
        good = same | near | (np.isnan(expected) & np.isnan(got))
        return None if good.all() else f"{self.name}: found {got.tolist()}, expected {expected.tolist()}"


NEGATIVE = (-INF, -INF, -INF, -INF)
MASK = (*NEGATIVE, 0.0, -INF, 0.0, -INF)
ATTENTION = "2x4xf16 4x4xf16 4x4xf16 2x4xf32 -> 2x4xf16"
ONES = (1.0,) * 8
KEYS = (0.0,) * 16
VALUES = (1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0, 3.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
SECOND = (2.0, 2.0, 2.0, 2.0)
WHOLE = (3.5, 6.0, 8.5, 11.0)
LOW32 = -(2**31)

CASES = (
    # 8-bit results saturate in every operation
    Case(
        "a sum in 8 bits saturates before its gelu",
        "%s = tile_tensor.add %a, %b : (tensor<1x3xf16>, tensor<3xf16>) -> tensor<1x3xf8E4M3FNUZ>;"
        "%r = tile_tensor.gelu %s approximate tanh : (tensor<1x3xf8E4M3FNUZ>) -> tensor<1x3xf16>",
        "1x3xf16 3xf16 -> 1x3xf16",
        ((1000.0, 100.5, 1.06), (0.0, 0.0, 0.0)),
        (240.0, 104.0, 0.84130859375),
    ),
    Case(
        "a sum in f16 overflows before its gelu in f32",
        "%s = tile_tensor.add %a, %b : (tensor<1x2xf16>, tensor<2xf16>) -> tensor<1x2xf16>;"
        "%r = tile_tensor.gelu %s approximate tanh : (tensor<1x2xf16>) -> tensor<1x2xf32>",
        "1x2xf16 2xf16 -> 1x2xf32",
        ((60000.0, 1.0), (60000.0, 60000.0)),
        (INF, 60000.0),
    ),
    Case(
        "a sum of f32 in f16 is rounded before its gelu",
        "%s = tile_tensor.add %a, %b : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf16>;"
        "%r = tile_tensor.gelu %s approximate tanh : (tensor<1x2xf16>) -> tensor<1x2xf32>",
        "1x2xf32 2xf32 -> 1x2xf32",
        ((1e5, 2048.0), (0.0, 1.0)),
        (INF, 2048.0),
    ),
    Case("sums of rows saturate", "reduce sum %a axes [1]", f"1x8x{E4} -> 1x{E4}", ((64.0,) * 8,), (240.0,)),
    Case(
        "products of rows saturate, beyond f32 too",
        "reduce prod %a axes [1]",
        f"2x40x{E4} -> 2x{E4}",
        ((-240.0, *(240.0,) * 39, *(240.0,) * 40),),
        (-240.0, 240.0),
    ),
    Case("means saturate", "reduce mean %a axes [1]", f"1x2xf32 -> 1x{E4}", ((1e30, 1e31),), (240.0,)),
    Case("maxima saturate", "reduce max %a axes [1]", f"1x2xf32 -> 1x{E4}", ((1.0, 1e31),), (240.0,)),
    Case("minima saturate", "reduce min %a axes [1]", "1x2xf32 -> 1xf8E4M3FN", ((1.0, -1e31),), (-448.0,)),
    Case(
        "rows that are told not to saturate",
        "reduce sum %a axes [1] {saturate = false}",
        "1x2xf32 -> 1xf8E5M2",
        ((50000.0, 50000.0),),
        (INF,),
    ),
    Case(
        "the maximum of nothing is finite",
        "reduce max %a axes [1]",
        f"2x0x{E4} -> 2x{E4}",
        ((),),
        (-240.0,) * 2,
    ),
    Case(
        "the minimum of nothing is finite",
        "reduce min %a axes [1]",
        "2x0xf16 -> 2xf8E5M2",
        ((),),
        (57344.0,) * 2,
    ),
    Case(
        "the minimum of nothing overflows",
        "reduce min %a axes [1] {saturate = false}",
        "2x0xf16 -> 2xf8E5M2",
        ((),),
        (INF,) * 2,
    ),
    Case("the maximum of nothing in f16", "reduce max %a axes [1]", "2x0xf16 -> 2xf16", ((),), (-INF,) * 2),
    Case(
        "norms saturate",
        "layer_norm %a, %b, %c epsilon 1.0e-5",
        f"1x4xf32 4xf32 4xf32 -> 1x4x{E4}",
        ((-1.0, 1.0, -1.0, 1.0), (300.0,) * 4, (0.0,) * 4),
        (-240.0, 240.0, -240.0, 240.0),
    ),
    Case(
        "norms of f16 saturate",
        "layer_norm %a, %b, %c epsilon 1.0e-5",
        f"2x4xf16 4xf16 4xf16 -> 2x4x{E4}",
        ((1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0), (60000.0,) * 4, (0.0,) * 4),
        (-240.0, -240.0, 240.0, 240.0, 240.0, 240.0, -240.0, -240.0),
    ),
    Case(
        "norms of split rows saturate",
        "layer_norm %a, %b, %c epsilon 1.0e-5",
        f"2x64xf16 64xf16 64xf16 -> 2x64x{E4}",
        (((1.0, -1.0) * 64), (60000.0,) * 64, (0.0,) * 64),
        ((240.0, -240.0) * 64),
    ),
    Case(
        "norms that are told not to saturate",
        "layer_norm %a, %b, %c epsilon 1.0e-5 {saturate = false}",
        f"1x4xf32 4xf32 4xf32 -> 1x4x{E4}",
        ((-1.0, 1.0, -1.0, 1.0), (300.0,) * 4, (0.0,) * 4),
        (NAN,) * 4,
    ),
    Case(
        "rms_norm saturates",
        "rms_norm %a, %b epsilon 1.0e-5",
        f"1x4xf32 4xf32 -> 1x4x{E4}",
        ((-1.0, 1.0, -1.0, 1.0), (300.0,) * 4),
        (-240.0, 240.0, -240.0, 240.0),
    ),
    Case(
        "products saturate",
        "matmul %a, %b",
        f"1x16xf16 16x1xf16 -> 1x1x{E4}",
        ((8.0,) * 16, (8.0,) * 16),
        (240.0,),
    ),
    Case(
        "products that are told not to saturate",
        "matmul %a, %b {saturate = false}",
        f"1x16xf16 16x1xf16 -> 1x1x{E4}",
        ((8.0,) * 16, (8.0,) * 16),
        (NAN,),
    ),
    Case(
        "attention saturates",
        "attention %a, %b, %c",
        f"1x8xf16 2x8xf16 2x8xf16 -> 1x8x{E4}",
        (ONES, (0.0,) * 16, (1000.0,) * 16),
        (240.0,) * 8,
    ),
    Case(
        "attention that is told not to saturate",
        "attention %a, %b, %c {saturate = false}",
        f"1x8xf16 2x8xf16 2x8xf16 -> 1x8x{E4}",
        (ONES, (0.0,) * 16, (1000.0,) * 16),
        (NAN,) * 8,
    ),
    Case(
        "exponentials of finite numbers saturate",
        "exp %a",
        f"4xf16 -> 4x{E4}",
        ((60000.0, 240.0, INF, -INF),),
        (240.0, 240.0, NAN, 0.0),
    ),
    Case("exponentials overflow in f32", "exp %a", "2xf16 -> 2xf32", ((60000.0, 240.0),), (INF, INF)),
    Case(
        "quotients saturate",
        "div %a, %b",
        f"3xf32 3xf32 -> 3x{E4}",
        ((1e38, 1.0, -1e38), (1e-38, 0.0, 1e-38)),
        (240.0, NAN, -240.0),
    ),
    Case(
        "f16 sums in f8E5M2 are rounded once",
        "add %a, %b",
        "2xf16 2xf16 -> 2xf8E5M2",
        ((1.125, 1.0), (2.0**-24, 0.125)),
        (1.25, 1.0),
    ),
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
    # order
    Case(
        "the first of several maxima",
        "argmax %a",
        "2x4xf16 -> 2xi32",
        ((1, 3, 3, 0, -0.0, 0.0, -1, 0.0),),
        (1, 0),
    ),
    Case("the first NaN", "argmin %a", "1x4xf32 -> 1xi32", ((1.0, NAN, -INF, NAN),), (1,)),
    Case("where columns are least", "argmin %a axis 0", "2x2xi8 -> 2xi32", ((-128, 5, 127, -5),), (0, 1)),
    Case(
        "NaN is above everything",
        "sort %a",
        "1x5xf32 -> 1x5xf32",
        ((NAN, INF, -1.0, 0.0, -0.0),),
        (-1.0, 0.0, -0.0, INF, NAN),
    ),
    Case(
        "a falling order keeps what is equal",
        "argsort %a descending",
        "1x5xf32 -> 1x5xi32",
        ((1.0, NAN, 1.0, INF, NAN),),
        (1, 4, 3, 0, 2),
    ),
    Case("the largest two", "top_k %a count 2", "1x4xi32 -> 1x2xi32", ((LOW32, 7, -1, 7),), (7, 7)),
    Case("where they are", "top_k_indices %a count 3", "1x4xi32 -> 1x3xi32", ((LOW32, 7, -1, 7),), (1, 3, 2)),
    Case("running sums wrap", "cumsum %a", "1x3xi8 -> 1x3xi8", ((127, 1, -1),), (127, -128, 127)),
    Case(
        "running sums saturate",
        "cumsum %a",
        f"1x3x{E4} -> 1x3x{E4}",
        ((200.0, 200.0, -240.0),),
        (192.0, 240.0, 144.0),
    ),
    Case(
        "rows are added by index",
        "scatter_add %a, %b, %c",
        "3x2xf16 4xi32 4x2xf16 -> 3x2xf16",
        ((1, 2, 3, 4, 5, 6), (2, 0, 2, 3), (10, 20, 30, 40, 50, 60, 70, 80)),
        (31, 42, 3, 4, 65, 86),
    ),
    Case(
        "sums by index are rounded once",
        "scatter_add %a, %b, %c",
        "1xf16 2xi32 2xf16 -> 1xf16",
        ((2048.0,), (0, 0), (1.0, 1.0)),
        (2050.0,),
    ),
    # slices and pads
    Case(
        "every second element",
        "slice %a offsets [1, 0] sizes [2, 2] strides [2, 3]",
        "4x4xf16 -> 2x2xf16",
        (range(16),),
        (4, 7, 12, 15),
    ),
    Case(
        "elements between elements",
        "pad %a low [1] high [-1] interior [2] value 9.0",
        "3xf16 -> 7xf16",
        ((1.0, 2.0, 3.0),),
        (9.0, 1.0, 9.0, 9.0, 2.0, 9.0, 9.0),
    ),
    Case(
        "a pad that takes elements away",
        "pad %a low [-2, 1] high [0, -1] value 9.0",
        "4x2xf32 -> 2x2xf32",
        (range(8),),
        (9.0, 4.0, 9.0, 6.0),
    ),
    Case(
        "a pad that leaves nothing",
        "pad %a low [-2] high [3] value 1.0",
        "2xf16 -> 3xf16",
        ((5, 6),),
        (1,) * 3,
    ),
    Case(
        "softmax of columns",
        "softmax %a axis 0",
        "2x2xf32 -> 2x2xf32",
        ((0.0, 3.0, 0.0, 3.0),),
        (0.5, 0.5, 0.5, 0.5),
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
    # gather
    Case(
        "rows outside are clamped",
        "gather %a, %b",
        "2x4xf16 3xi32 -> 3x4xf16",
        ((1, 2, 3, 4, 5, 6, 7, 8), (1, 2, -1)),
        (5, 6, 7, 8, 5, 6, 7, 8, 1, 2, 3, 4),
    ),
    Case(
        "rows outside of a table on several tiles",
        "gather %a, %b",
        "4x3xf32 3xi32 -> 3x3xf32",
        (range(12), (0, 2**31 - 1, LOW32)),
        (0, 1, 2, 9, 10, 11, 0, 1, 2),
    ),
    Case(
        "rows outside are zero",
        "gather %a, %b out_of_range zero",
        "4x3xf32 3xi32 -> 3x3xf32",
        (range(1, 13), (0, 4, -1)),
        (1, 2, 3, 0, 0, 0, 0, 0, 0),
    ),
    Case(
        "columns outside are zero",
        "gather %a, %b axis 1 out_of_range zero",
        "2x3xf16 3xi32 -> 2x3xf16",
        (range(1, 7), (2, 3, -1)),
        (3, 0, 0, 6, 0, 0),
    ),
    Case("a table without rows", "gather %a, %b", "0x3xf16 2xi32 -> 2x3xf16", ((), (0, 1)), (0,) * 6),
    # softmax and attention
    Case(
        "a negative scale",
        "softmax %a scale -1.0",
        "1x3xf32 -> 1x3xf32",
        ((0.0, 100.0, 200.0),),
        (1.0, 27 * 2.0**-149, 0.0),
    ),
    Case(
        "a negative scale far from zero",
        "softmax %a scale -1.0",
        "1x3xf32 -> 1x3xf16",
        ((2000.0, 1000.0, 1001.0),),
        (0.0, 0.73095703125, 0.26904296875),
    ),
    Case(
        "attention with a negative scale",
        "attention %a, %b, %c scale -1.0",
        "1x1x1xf32 1x2x1xf32 1x2x1xf32 -> 1x1x1xf32",
        ((1.0,), (1000.0, 2000.0), (1.0, 2.0)),
        (1.0,),
    ),
    Case(
        "attention with a negative scale on several parts",
        "attention %a, %b, %c scale -1.0",
        "1x1xf32 64x1xf32 64x1xf32 -> 1x1xf32",
        ((1.0,), range(1000, 1064), range(64)),
        (0.5819767,),
        1e-6,
    ),
    Case(
        "attention of no key gives zeros",
        "attention %a, %b, %c, %d",
        ATTENTION,
        (ONES, KEYS, VALUES, MASK),
        (*(0.0,) * 4, *SECOND),
    ),
    Case(
        "attention of no key: the mean",
        "attention %a, %b, %c, %d empty_rows uniform",
        ATTENTION,
        (ONES, KEYS, VALUES, MASK),
        (*WHOLE, *SECOND),
    ),
    Case(
        "attention of no key: NaN",
        "attention %a, %b, %c, %d empty_rows nan",
        ATTENTION,
        (ONES, KEYS, VALUES, MASK),
        (*(NAN,) * 4, *SECOND),
    ),
    Case(
        "a mask that a negative scale makes one",
        "attention %a, %b, %c, %d scale -1.0",
        ATTENTION,
        (ONES, KEYS, VALUES, [-x for x in MASK]),
        (*(0.0,) * 4, *SECOND),
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
    # which keys a query sees
    Case(
        "a query sees no key behind it",
        "attention %a, %b, %c causal",
        "2x4xf16 2x4xf16 2x4xf16 -> 2x4xf16",
        ((0.0,) * 8, (0.0,) * 8, (2.0, 4.0, 6.0, 8.0, 4.0, 8.0, 12.0, 16.0)),
        (2.0, 4.0, 6.0, 8.0, 3.0, 6.0, 9.0, 12.0),
    ),
    Case(
        "a query that stands behind others",
        "attention %a, %b, %c causal query_offset 1",
        "1x4xf16 3x4xf16 3x4xf16 -> 1x4xf16",
        ((0.0,) * 4, (0.0,) * 12, ((2.0,) * 4 + (4.0,) * 4 + (INF,) * 4)),
        (NAN,) * 4,
    ),
    Case(
        "a query before all keys",
        "attention %a, %b, %c causal query_offset -1",
        "2x4xf16 2x4xf16 2x4xf16 -> 2x4xf16",
        ((0.0,) * 8, (0.0,) * 8, (2.0, 4.0, 6.0, 8.0, 4.0, 8.0, 12.0, 16.0)),
        (*(0.0,) * 4, 2.0, 4.0, 6.0, 8.0),
    ),
    Case(
        "a query before all keys: uniform",
        "attention %a, %b, %c causal query_offset -1 empty_rows uniform",
        "2x4xf16 2x4xf16 2x4xf16 -> 2x4xf16",
        ((0.0,) * 8, (0.0,) * 8, (2.0, 4.0, 6.0, 8.0, 4.0, 8.0, 12.0, 16.0)),
        (3.0, 6.0, 9.0, 12.0, 2.0, 4.0, 6.0, 8.0),
    ),
    Case(
        "a window of both sides",
        "attention %a, %b, %c window 2",
        "1x4xf16 4x4xf16 4x4xf16 -> 1x4xf16",
        ((0.0,) * 4, (0.0,) * 16, VALUES),
        (5.5, 11.0, 16.5, 22.0),
    ),
    Case(
        "a window behind a causal query, with a negative scale",
        "attention %a, %b, %c scale -1.0 causal window 2 query_offset 2",
        "1x4xf16 4x4xf16 4x4xf16 -> 1x4xf16",
        ((1.0,) * 4, (-9.0,) * 4 + (1.0,) * 12, VALUES),
        (6.5, 11.0, 15.5, 20.0),
    ),
    Case(
        "heads share keys in order",
        "attention %a, %b, %c",
        "4x1x4xf16 2x1x4xf16 2x1x4xf16 -> 4x1x4xf16",
        ((0.0,) * 16, (0.0,) * 8, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)),
        (1.0, 2.0, 3.0, 4.0) * 2 + (5.0, 6.0, 7.0, 8.0) * 2,
    ),
    Case(
        "a query of each head that shares keys stands at its own place",
        "attention %a, %b, %c causal",
        "2x2x4xf16 1x2x4xf16 1x2x4xf16 -> 2x2x4xf16",
        ((0.0,) * 16, (0.0,) * 8, (2.0, 4.0, 6.0, 8.0, 4.0, 8.0, 12.0, 16.0)),
        (2.0, 4.0, 6.0, 8.0, 3.0, 6.0, 9.0, 12.0) * 2,
    ),
    Case(
        "a mask of truths",
        "attention %a, %b, %c, %d scale -1.0",
        "2x4xf16 4x4xf16 4x4xf16 2x4xi1 -> 2x4xf16",
        (ONES, KEYS, VALUES, (False,) * 4 + (True, False, True, False)),
        (*(0.0,) * 4, *SECOND),
    ),
    Case(
        "a mask after the scale has none",
        "attention %a, %b, %c, %d scale -1.0 mask_place after_scale",
        ATTENTION,
        (ONES, KEYS, VALUES, MASK),
        (*(0.0,) * 4, *SECOND),
    ),
    Case(
        "softmax of a masked row",
        "softmax %a",
        "2x4xf16 -> 2x4xf16",
        (MASK,),
        (*(NAN,) * 4, 0.5, 0.0, 0.5, 0.0),
    ),
    Case(
        "softmax of a masked row: zero",
        "softmax %a empty_rows zero",
        "2x4xf16 -> 2x4xf16",
        (MASK,),
        (*(0.0,) * 4, 0.5, 0.0, 0.5, 0.0),
    ),
    Case(
        "softmax of a masked row: uniform",
        "softmax %a empty_rows uniform",
        "2x4xf16 -> 2x4xf16",
        (MASK,),
        (*(0.25,) * 4, 0.5, 0.0, 0.5, 0.0),
    ),
    # statistics of norms
    Case(
        "squares beyond f32",
        "rms_norm %a, %b epsilon 1.0e-5",
        "1x4xf32 4xf32 -> 1x4xf32",
        ((1e25, -1e25, 1e25, -1e25), (1.0,) * 4),
        (0.0, -0.0, 0.0, -0.0),
    ),
    Case(
        "one square beyond f32",
        "rms_norm %a, %b epsilon 1.0e-5",
        "1x4xf32 4xf32 -> 1x4xf32",
        ((2e19, 0.0, 0.0, 0.0), (1.0,) * 4),
        (0.0,) * 4,
    ),
    Case(
        "deviations beyond f32",
        "layer_norm %a, %b, %c epsilon 1.0e-5",
        "1x2xf32 2xf32 2xf32 -> 1x2xf32",
        ((1e25, -1e25), (1.0,) * 2, (3.0,) * 2),
        (3.0, 3.0),
    ),
    # pads
    Case(
        "a large integer",
        "pad %a low [1] high [1] value 2147483647",
        "2xi32 -> 4xi32",
        ((5, 6),),
        (2147483647, 5, 6, 2147483647),
    ),
    Case(
        "an odd integer beyond f32",
        "pad %a low [1] high [0] value -16777217",
        "2xi32 -> 3xi32",
        ((5, 6),),
        (-16777217, 5, 6),
    ),
    Case(
        "a pad that is rounded once",
        "pad %a low [1] high [0] value 1.00048828135",
        "1xf16 -> 2xf16",
        ((1.0,),),
        (1.0009765625, 1.0),
    ),
    Case(
        "a pad beyond f16", "pad %a low [1] high [0] value -1.0e9", "1xf16 -> 2xf16", ((1.0,),), (-INF, 1.0)
    ),
    Case(
        "the largest of 8 bits",
        "pad %a low [1] high [1] value 247.0",
        f"1x{E4} -> 3x{E4}",
        ((1.0,),),
        (240.0, 1.0, 240.0),
    ),
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

BY_NAME = {case.name: case for case in CASES}


@cache
def compiled(name: str) -> harness.Compiled:
    case = BY_NAME[name]
    return harness.compile_text(case.text, case.machine)


def machine_output(case: Case) -> np.ndarray:
    found = compiled(case.name)
    executor = Executor(found.image, found.machine, math.nan)
    executor.load({})
    return executor.run(case.values()).outputs["out0"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_machine_gives_what_the_program_means(case: Case) -> None:
    assert (problem := case.wrong(machine_output(case))) is None, problem
    found = compiled(case.name)
    executor = Executor(found.image, found.machine, -42.0)
    executor.load({})
    departure, _ = compare_each(executor, found.oracle, case.values())
    assert departure is None, str(departure)


ADDS_IN_F16 = (
    "FP8 attention adds up in f16",
    "FP8 products add up in f16",
    "f16 products told to add up in f16",
    "what f16 products told to add up in f16 lose",
)
"""The reference does not model the type of running sums."""


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name not in ADDS_IN_F16], ids=lambda case: case.name
)
def test_the_reference_gives_what_the_program_means(case: Case) -> None:
    output = evaluate(parse_module(case.text), case.values())["out0"]
    assert (problem := case.wrong(output)) is None, problem
    shape = case.types.partition(" -> ")[2].split("x")[:-1]
    assert output.shape == tuple(int(extent) for extent in shape)


def test_the_reference_keeps_rank_0() -> None:
    text = (
        "func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {\n"
        "  func.return %a, %b : tensor<f32>, tensor<f32>\n}"
    )
    outputs = evaluate(parse_module(text), {"arg0": np.float32(5.0), "arg1": np.float32(5.0001)})
    assert [array.shape for array in outputs.values()] == [(), ()]


PAD = (
    "func.func @main(%a: tensor<2x{0}>) {{\n  %r = tile_tensor.pad %a low [1] high [1] value {1} : {2}\n"
    "  func.return\n}}"
)


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    (
        ("f8E4M3FNUZ", "1000.0", "pads with 1000.0, which is beyond f8E4M3FNUZ, -240 to 240"),
        ("f8E4M3FNUZ", "248.0", "beyond f8E4M3FNUZ"),
        ("f8E4M3FN", "465", "beyond f8E4M3FN, -448 to 448"),
        ("f8E5M2", "61440.0", "beyond f8E5M2, -57344 to 57344"),
        ("f8E5M2FNUZ", "0xFF800000", "pads with -inf: f8E5M2FNUZ has no infinity"),
        ("i8", "300.0", "pads with 300.0, which is beyond i8, -128 to 127"),
        ("i8", "-129", "beyond i8"),
        ("i8", "0x7F800000", "pads with inf, which is not a whole number: i8 has no such value"),
        ("i8", "0x7FC00000", "pads with nan, which is not a whole number"),
        ("i8", "1.5", "pads with 1.5, which is not a whole number"),
        ("i32", "3.0e9", "pads with 3000000000.0, which is beyond i32, -2147483648 to 2147483647"),
        ("i32", "2147483648", "beyond i32"),
    ),
)
def test_a_pad_value_that_the_type_does_not_have(dtype: str, value: str, message: str) -> None:
    type_ = f"(tensor<2x{dtype}>) -> tensor<4x{dtype}>"
    with pytest.raises(VerifyException, match=message):
        parse_module(PAD.format(dtype, value, type_))


# ------------------------------------------------------------------------------------------ broken rules


def without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda scalars: {key: value for key, value in scalars.items() if key not in names}


def scalars_changed(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Any], Any]:
    """A kernel that is told something else."""
    return lambda run: lambda ins, outs, scalars, extents: run(ins, outs, change(dict(scalars)), extents)


def results_changed(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Any], Any]:
    """A kernel whose results are changed."""
    return lambda run: lambda *args: [change(array) for array in run(*args)]


def in_f16(array: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return array.astype(np.float16).astype(array.dtype)


def in_f32(run: Any) -> Any:
    """Products with the sum of another type."""
    return kernels._gemm("f32", 16)


unsaturated = scalars_changed(lambda scalars: {**scalars, "saturate": 0})
saturated = scalars_changed(without("saturate"))


def row_mutation(number: int) -> Callable[[Any], Any]:
    return scalars_changed(lambda scalars: {**scalars, "empty_rows": number})


BANDS = ("band.max", "band.min", "band.exp", "band.part", "band.raise")

BROKEN: tuple[tuple[str, dict[str, Callable[[Any], Any]], tuple[str, ...]], ...] = (
    (
        "reductions do not saturate",
        dict.fromkeys(("reduce.sum", "reduce.max", "reduce.min", "reduce.prod"), unsaturated),
        (
            "sums of rows saturate",
            "products of rows saturate, beyond f32 too",
            "means saturate",
            "maxima saturate",
            "minima saturate",
        ),
    ),
    (
        "norms do not saturate",
        dict.fromkeys(("layer_norm", "rms_norm", "norm.apply"), unsaturated),
        ("norms saturate", "norms of f16 saturate", "norms of split rows saturate", "rms_norm saturates"),
    ),
    ("casts of products do not saturate", {"cast": unsaturated}, ("products saturate",)),
    (
        "sums, exponentials, quotients and attention do not saturate",
        dict.fromkeys(
            ("pointwise.add", "pointwise.exp", "pointwise.div", "softmax.merge", "softmax.merge_columns"),
            unsaturated,
        ),
        (
            "a sum in 8 bits saturates before its gelu",
            "exponentials of finite numbers saturate",
            "quotients saturate",
            "attention saturates",
        ),
    ),
    (
        "`saturate = false` is forgotten",
        dict.fromkeys(
            ("reduce.sum", "layer_norm", "cast", "softmax.merge", "softmax.merge_columns"), saturated
        ),
        (
            "rows that are told not to saturate",
            "norms that are told not to saturate",
            "products that are told not to saturate",
            "attention that is told not to saturate",
        ),
    ),
    (
        "products add up in f16",
        {"gemm.f16.f32": results_changed(in_f16)},
        (
            "f16 products far from zero",
            "attention of f16 adds up in f32",
            "outputs of attention of f16 add up in f32",
            "FP8 attention adds up in f32 when told",
        ),
    ),
    (
        "what is told to add up in f16 adds up in f32",
        {name: in_f32 for name in ("gemm.f8", "gemm.f16.f16")},
        ("what f16 products told to add up in f16 lose", "FP8 products add up in f16"),
    ),
    (
        "casts round",
        {"cast": scalars_changed(without("truncate"))},
        ("floats toward zero", "the low bits of what is beyond"),
    ),
    (
        "casts truncate",
        {"cast": scalars_changed(lambda s: {**s, "truncate": 1})},
        ("floats to the nearest integer",),
    ),
    (
        "rows outside give zeros",
        {"gather_rows": scalars_changed(without("rows"))},
        ("rows outside are clamped", "rows outside of a table on several tiles"),
    ),
    (
        "rows outside are clamped",
        {"gather_rows": scalars_changed(lambda s: {**s, "rows": 3})},
        ("rows outside are zero", "columns outside are zero"),
    ),
    (
        "masked rows of attention are NaN",
        dict.fromkeys(("softmax.part", "softmax.raise", "softmax.merge_columns"), row_mutation(2)),
        (
            "attention of no key gives zeros",
            "attention of no key: the mean",
            "a mask that a negative scale makes one",
        ),
    ),
    (
        "heads that share keys stand one behind another",
        dict.fromkeys(BANDS, scalars_changed(lambda scalars: {**scalars, "rows": 1 << 20})),
        ("a query of each head that shares keys stands at its own place",),
    ),
    (
        "windows are one wider",
        dict.fromkeys(
            BANDS,
            scalars_changed(lambda scalars: {**scalars, "before": int(scalars["before"]) + 1}),
        ),
        ("a window behind a causal query, with a negative scale",),
    ),
    (
        "masked rows of attention are zero",
        dict.fromkeys(("softmax.part", "softmax.raise", "softmax.merge_columns"), row_mutation(0)),
        ("attention of no key: NaN", "attention of no key: the mean"),
    ),
    (
        "masked rows of softmax are NaN",
        {"softmax": row_mutation(2)},
        ("softmax of a masked row: zero", "softmax of a masked row: uniform"),
    ),
    ("masked rows of softmax are zero", {"softmax": row_mutation(0)}, ("softmax of a masked row",)),
)


@pytest.mark.parametrize(
    ("mutation", "programs"), [entry[1:] for entry in BROKEN], ids=[entry[0] for entry in BROKEN]
)
def test_a_broken_rule_is_seen(
    mutation: dict[str, Callable[[Any], Any]], programs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for kernel, change in mutation.items():
        monkeypatch.setitem(kernels.SEMANTICS, kernel, change(kernels.SEMANTICS[kernel]))
    for name in programs:
        assert BY_NAME[name].wrong(machine_output(BY_NAME[name])) is not None, f"{name}: nothing shows"


def divides_to_zero(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(y == 0, 0, pointwise.INTEGERS["sub"](x, x))


ARITHMETIC: tuple[tuple[str, Any, str, Any, tuple[str, ...]], ...] = (
    ("integer division by zero", pointwise.INTEGERS, "div", divides_to_zero, ("integer division by zero",)),
    (
        "an exponential that overflows",
        pointwise.FLOATS,
        "exp",
        np.exp,
        ("exponentials of finite numbers saturate",),
    ),
    ("squares that never overflow", numerics, "_squares", np.square, ("one square beyond f32",)),
    (
        "a maximum with numpy's zeros",
        pointwise.FLOATS,
        "max",
        lambda x, y: np.where(x >= y, x, y),
        ("the sign of a maximum of zeros",),
    ),
    (
        "a largest zero",
        numerics,
        "_max_rows",
        lambda x: x.max(axis=-1) * 1.0 - 0.0 if x.size else x,
        ("the sign of the least zero", "the sign of the largest zero"),
    ),
    ("rounding through f16", rounding, "round_to_grid", None, ("f16 sums in f8E5M2 are rounded once",)),
)


@pytest.mark.parametrize("broken", ARITHMETIC, ids=[entry[0] for entry in ARITHMETIC])
def test_broken_arithmetic_is_seen(broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, owner, name, change, programs = broken
    if change is None:
        original = getattr(owner, name)
        change = lambda x, *rest: original(in_f16(x), *rest)  # noqa: E731
    if isinstance(owner, dict):
        monkeypatch.setitem(owner, name, change)
    else:
        monkeypatch.setattr(owner, name, change)
    problems = [BY_NAME[name].wrong(machine_output(BY_NAME[name])) for name in programs]
    assert any(problem is not None for problem in problems)


def test_a_negative_scale_needs_the_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    true = numerics.reduce_rows
    monkeypatch.setattr(
        numerics, "reduce_rows", lambda kind, *rest: true("max" if kind == "min" else kind, *rest)
    )
    case = BY_NAME["attention with a negative scale"]
    assert case.wrong(machine_output(case)) is not None


def test_every_plan_gives_what_the_program_means() -> None:
    """The rules of rows hold however scores, rows and tables are divided."""
    import random

    for case in CASES:
        if not case.body.startswith(("attention", "gather", "softmax", "layer_norm", "reduce", "matmul")):
            continue
        if "plan = " in case.body:  # parts of a contraction are added up in f32
            continue
        for seed in range(3):
            found = harness.compile_text(case.text, "t16", random.Random(seed))
            executor = Executor(found.image, found.machine, math.nan)
            executor.load({})
            output = executor.run(case.values()).outputs["out0"]
            loose = dataclasses.replace(case, tolerance=max(case.tolerance, 1e-6))
            assert (problem := loose.wrong(output)) is None, f"seed {seed}: {problem}"
