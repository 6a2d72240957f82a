# SPDX-License-Identifier: Apache-2.0
"""
The functions of single elements, each once: what it is called, what it gives, on which types, what it costs.

A line of the table below makes the kernel `pointwise.<name>`: the registry takes its cost from here, the
machine model its meaning, the verifier its types, planning the operation that calls for it, and the bounds of
the differential test whether two evaluations of it agree to the last bit. The reference of programs
(`tilewright.dialects.reference`) has its own arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tilewright.machine.numerics import special

Array = np.ndarray
Function = Callable[..., Array]
Kind = Literal["floats", "integers", "booleans"]


@dataclass(frozen=True)
class Pointwise:
    """
    A function of one, two or three elements.

    `floats` works on contiguous f64 arrays, `integers` on int64 (the result wraps to the type), `booleans` on
    bool; a missing one says that the function is not defined there. `sized`: `integers` takes the bits of the
    type as well. `stored` works on elements of any type as they are stored, i1 before others.

    `operation` is the operation of tile_tensor that is computed by it, where that has several by the one
    whose clause is `clause` (attribute, value). `gives`: the type of the result is free among floats and the
    operands' own for integers, or i1.

    `half` and `single` are the bundles of a worker per 4 halves and per 2 floats, load and store included;
    `evidence` and `source` say where they come from. `exact`: two evaluations in f64 agree bit for bit once
    they are rounded to f32; else the libraries may differ in the last places.
    """

    name: str
    floats: Function | None = None
    integers: Function | None = None
    booleans: Function | None = None
    stored: Function | None = None
    sized: bool = False
    operands: int = 1
    operation: str = ""
    clause: tuple[str, str] | None = None
    gives: Literal["any", "i1"] = "any"
    exact: bool = True
    half: int = 0
    single: int = 0
    evidence: str = "derived"
    source: str = ""

    @property
    def kernel(self) -> str:
        return f"pointwise.{self.name}"

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of elements on which it is defined."""
        found = {"floats": self.floats, "integers": self.integers, "booleans": self.booleans}
        return tuple(kind for kind, function in found.items() if function is not None)  # type: ignore[misc]


PL = "PL popopsCycleEstimators"
_SERIES = "range reduction in f32 and a polynomial of 8 products, as long as that of erf less its division"
_ROUNDING = "two conversions of a word and a selection beyond 2^23"
_MASKS = "a comparison of a vector, its mask narrowed to bytes and stored by words"
_SAME = "as pointwise.add (the same loop in PL)"

TABLE: tuple[Pointwise, ...] = (
    Pointwise("neg", np.negative, np.negative, half=3, single=3, source="as relu"),
    Pointwise("abs", np.abs, np.abs, half=3, single=3, source="as relu"),
    Pointwise("exp", special.exp, exact=False, half=4, single=6, source=PL),
    Pointwise("log", np.log, exact=False, half=4, single=12, source=PL),
    Pointwise("sqrt", np.sqrt, half=23, single=10, source=PL),
    Pointwise("rsqrt", lambda x: 1.0 / np.sqrt(x), exact=False, half=19, single=8, source=PL),
    Pointwise("tanh", np.tanh, exact=False, half=4, single=12, source=PL),
    Pointwise(
        "erf",
        lambda x: special.erf_parts(x)[0],
        exact=False,
        half=60,
        single=30,
        evidence="assumed",
        source="PL charges gelu by erf 16 bundles an element; one less for the product",
    ),
    Pointwise("sigmoid", special.sigmoid, exact=False, half=6, single=12, source=PL),
    Pointwise(
        "silu",
        special.silu,
        exact=False,
        half=7,
        single=13,
        source="pointwise.sigmoid and one product of a vector",
    ),
    Pointwise(
        "relu",
        lambda x: np.where(x <= 0, 0.0, x),
        lambda x: np.maximum(x, 0),
        half=3,
        single=3,
        source=PL,
    ),
    Pointwise("square", lambda x: x * x, lambda x: x * x, half=3, single=3, source="as pointwise.mul"),
    Pointwise("reciprocal", lambda x: 1.0 / x, half=15, single=15, source=PL),
    Pointwise(
        "gelu_erf",
        special.gelu_erf,
        operation="gelu",
        clause=("approximate", "none"),
        exact=False,
        half=64,
        single=32,
        source=f"{PL}: 16 bundles an element",
    ),
    Pointwise(
        "gelu_tanh",
        special.gelu_tanh,
        operation="gelu",
        clause=("approximate", "tanh"),
        exact=False,
        evidence="measured",
        source="IS NORM_GELU_KERNELS: 330 + 462 * ceil(n / 96); an f8 result adds the loop of the flat cast",
    ),
    Pointwise(
        "add",
        np.add,
        np.add,
        operands=2,
        half=3,
        single=3,
        evidence="measured",
        source="IS KERNEL_PIPELINES: 504 + 18 * ceil(n / 24) through both points",
    ),
    Pointwise("sub", np.subtract, np.subtract, operands=2, half=3, single=3, source=_SAME),
    Pointwise("mul", np.multiply, np.multiply, operands=2, half=3, single=3, source=_SAME),
    Pointwise("div", np.divide, special.integer_divide, operands=2, half=21, single=21, source=PL),
    Pointwise(
        "max", special.maximum, np.maximum, operands=2, operation="maximum", half=4, single=4, source=PL
    ),
    Pointwise(
        "min",
        lambda x, y: -special.maximum(-x, -y),
        np.minimum,
        operands=2,
        operation="minimum",
        half=4,
        single=4,
        source=PL,
    ),
    Pointwise("sin", np.sin, exact=False, half=44, single=22, evidence="assumed", source=_SERIES),
    Pointwise("cos", np.cos, exact=False, half=44, single=22, evidence="assumed", source=_SERIES),
    Pointwise(
        "log1p",
        np.log1p,
        exact=False,
        half=8,
        single=16,
        evidence="assumed",
        source="pointwise.log, a sum",
    ),
    Pointwise(
        "expm1",
        special.expm1,
        exact=False,
        half=12,
        single=16,
        evidence="assumed",
        source="pointwise.exp, a polynomial near zero and a selection",
    ),
    Pointwise("floor", np.floor, half=8, single=6, evidence="assumed", source=_ROUNDING),
    Pointwise("ceil", np.ceil, half=8, single=6, evidence="assumed", source=_ROUNDING),
    Pointwise("round", np.rint, half=8, single=6, evidence="assumed", source=_ROUNDING),
    Pointwise(
        "sign",
        lambda x: np.where(x == 0, x, np.sign(x)),
        np.sign,
        half=6,
        single=6,
        evidence="assumed",
        source="two comparisons and a selection",
    ),
    Pointwise(
        "is_finite",
        np.isfinite,
        gives="i1",
        half=8,
        single=6,
        evidence="assumed",
        source=_MASKS,
    ),
    Pointwise(
        "pow",
        special.power,
        special.integer_power,
        operands=2,
        exact=False,
        half=12,
        single=22,
        evidence="assumed",
        source="pointwise.log, a product and pointwise.exp, and the signs",
    ),
    Pointwise(
        "atan2",
        np.arctan2,
        operands=2,
        exact=False,
        half=64,
        single=32,
        evidence="assumed",
        source="a division and a polynomial, as long as that of erf",
    ),
    Pointwise(
        "remainder",
        np.fmod,
        special.integer_remainder,
        operands=2,
        half=30,
        single=30,
        evidence="assumed",
        source="pointwise.div, a truncation, a product and a difference",
    ),
    *(
        Pointwise(
            name,
            function,
            function,
            function,
            operands=2,
            operation="compare",
            clause=("direction", name),
            gives="i1",
            half=8,
            single=6,
            evidence="assumed",
            source=_MASKS,
        )
        for name, function in (
            ("eq", np.equal),
            ("ne", np.not_equal),
            ("lt", np.less),
            ("le", np.less_equal),
            ("gt", np.greater),
            ("ge", np.greater_equal),
        )
    ),
    *(
        Pointwise(
            name,
            integers=whole,
            booleans=logical,
            operands=2,
            half=3,
            single=3,
            evidence="assumed",
            source="as pointwise.add: one instruction for a vector",
        )
        for name, whole, logical in (
            ("and", np.bitwise_and, np.logical_and),
            ("or", np.bitwise_or, np.logical_or),
            ("xor", np.bitwise_xor, np.logical_xor),
        )
    ),
    Pointwise(
        "not",
        integers=np.invert,
        booleans=np.logical_not,
        half=3,
        single=3,
        evidence="assumed",
        source="as relu: one instruction for a vector",
    ),
    *(
        Pointwise(
            name,
            integers=function,
            sized=True,
            operands=2,
            half=12,
            single=6,
            evidence="assumed",
            source="a shift and a selection an element: there are no vectors of integers",
        )
        for name, function in (
            ("shift_left", special.shift_left),
            ("shift_right_arithmetic", special.shift_right_arithmetic),
            ("shift_right_logical", special.shift_right_logical),
        )
    ),
    Pointwise(
        "select",
        stored=np.where,
        operands=3,
        half=8,
        single=6,
        evidence="assumed",
        source="the mask widened, two masked words put together",
    ),
)

FUNCTIONS: Mapping[str, Pointwise] = {entry.name: entry for entry in TABLE}
"""By name, in the order of the table."""

FLOATS: dict[str, Function] = {e.name: e.floats for e in TABLE if e.floats is not None}
INTEGERS: dict[str, Function] = {e.name: e.integers for e in TABLE if e.integers is not None}
BOOLEANS: dict[str, Function] = {e.name: e.booleans for e in TABLE if e.booleans is not None}
"""What the machine model evaluates: tests break a rule by replacing an entry."""

_BY_OPERATION: dict[str, list[Pointwise]] = {}
for _entry in TABLE:
    _BY_OPERATION.setdefault(_entry.operation or _entry.name, []).append(_entry)

OPERATIONS: tuple[str, ...] = tuple(_BY_OPERATION)
"""The operations of tile_tensor that are functions of single elements, without the dialect's prefix."""


def functions_of(operation: str) -> tuple[Pointwise, ...]:
    """All functions that an operation may stand for; none for an operation that is not pointwise."""
    return tuple(_BY_OPERATION.get(operation, ()))


def function_of(operation: str, attributes: Mapping[str, Any]) -> Pointwise:
    """The function that an operation with these attributes stands for; KeyError if it is none."""
    found = _BY_OPERATION[operation]
    for entry in found:
        if entry.clause is not None and attributes.get(entry.clause[0]) == entry.clause[1]:
            return entry
    return found[0]
