# SPDX-License-Identifier: Apache-2.0
"""
Element types: the one table of names, sizes, numpy types and float formats.

Names are MLIR's (`f8E4M3FNUZ`, `f16`, `i8`, ...). FP8 and bf16 arrays are `ml_dtypes` arrays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import ml_dtypes
import numpy as np


class UnknownDtype(ValueError):
    """An element type that no table entry describes."""


@dataclass(frozen=True)
class FloatFormat:
    """
    A binary float format: values +-m * 2^(e - mantissa_bits), 2^mantissa_bits <= m < 2^(mantissa_bits + 1).

    `emin` is the exponent of the smallest normal number, `max_value` the largest finite value.
    """

    mantissa_bits: int  # stored, without the hidden one
    emin: int
    max_value: float
    has_inf: bool
    negative_zero: bool  # FNUZ formats have neither -0 nor infinities; code 0x80 is their only NaN

    @property
    def quantum_log2(self) -> int:
        """log2 of the smallest positive value, of which every finite value is a multiple."""
        return self.emin - self.mantissa_bits


@dataclass(frozen=True)
class Dtype:
    """One element type; `itemsize` in bytes."""

    name: str
    numpy: np.dtype
    kind: str  # "float" | "signed" | "unsigned" | "bool"
    format: FloatFormat | None = None

    @property
    def itemsize(self) -> int:
        return self.numpy.itemsize


_TABLE: tuple[Dtype, ...] = (
    Dtype(
        "f32",
        np.dtype(np.float32),
        "float",
        FloatFormat(23, -126, float(np.finfo(np.float32).max), True, True),
    ),
    Dtype("f16", np.dtype(np.float16), "float", FloatFormat(10, -14, 65504.0, True, True)),
    Dtype(
        "bf16",
        np.dtype(ml_dtypes.bfloat16),
        "float",
        FloatFormat(7, -126, float(ml_dtypes.finfo(ml_dtypes.bfloat16).max), True, True),
    ),
    Dtype(
        "f8E4M3FNUZ", np.dtype(ml_dtypes.float8_e4m3fnuz), "float", FloatFormat(3, -7, 240.0, False, False)
    ),
    Dtype(
        "f8E5M2FNUZ", np.dtype(ml_dtypes.float8_e5m2fnuz), "float", FloatFormat(2, -15, 57344.0, False, False)
    ),
    Dtype("f8E4M3FN", np.dtype(ml_dtypes.float8_e4m3fn), "float", FloatFormat(3, -6, 448.0, False, True)),
    Dtype("f8E5M2", np.dtype(ml_dtypes.float8_e5m2), "float", FloatFormat(2, -14, 57344.0, True, True)),
    Dtype("i8", np.dtype(np.int8), "signed"),
    Dtype("i32", np.dtype(np.int32), "signed"),
    Dtype("u32", np.dtype(np.uint32), "unsigned"),
    Dtype("i1", np.dtype(np.bool_), "bool"),
)

DTYPES: Mapping[str, Dtype] = MappingProxyType({entry.name: entry for entry in _TABLE})
FP8: tuple[str, ...] = ("f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3FN", "f8E5M2")

# OCP formats and the machine's: an OCP value is twice its code's FNUZ value, but for NaN, infinity and -0.
FNUZ_TWIN: Mapping[str, str] = MappingProxyType({"f8E4M3FN": "f8E4M3FNUZ", "f8E5M2": "f8E5M2FNUZ"})

_BY_NUMPY: dict[np.dtype, Dtype] = {entry.numpy: entry for entry in _TABLE}


def dtype(name: str) -> Dtype:
    """The table entry of an element type; raises UnknownDtype."""
    try:
        return DTYPES[name]
    except KeyError:
        raise UnknownDtype(f"unknown element type '{name}'; known: {', '.join(DTYPES)}") from None


def itemsize(name: str) -> int:
    """Bytes of one element (i1 takes one byte)."""
    return dtype(name).itemsize


def numpy_dtype(name: str) -> np.dtype:
    """The numpy (or ml_dtypes) type of an element type."""
    return dtype(name).numpy


def name_of(numpy_type: np.dtype | type) -> str:
    """The element type's name for a numpy type; raises UnknownDtype."""
    try:
        return _BY_NUMPY[np.dtype(numpy_type)].name
    except KeyError:
        raise UnknownDtype(f"no element type for numpy type '{np.dtype(numpy_type)}'") from None


def is_float(name: str) -> bool:
    return dtype(name).kind == "float"


def is_integer(name: str) -> bool:
    """True for i8, i32, u32 and i1."""
    return dtype(name).kind != "float"


def integer_range(name: str) -> tuple[int, int]:
    """The least and the largest value of an integer type; 0 and 1 of i1."""
    if dtype(name).kind == "bool":
        return 0, 1
    info = np.iinfo(numpy_dtype(name))
    return int(info.min), int(info.max)


def is_fp8(name: str) -> bool:
    return name in FP8


def float_format(name: str) -> FloatFormat:
    """The float format of an element type; raises UnknownDtype for integers."""
    found = dtype(name).format
    if found is None:
        raise UnknownDtype(f"element type '{name}' is not a float type")
    return found


def literal_problem(value: float, name: str) -> str | None:
    """
    Why a number is no value of an element type, or None.

    A float type takes what rounds to one of its values, f16, bf16 and f32 to infinity too, as literals do; an
    8-bit one nothing beyond its range. An integer type takes the whole numbers of its range.
    """
    if is_integer(name):
        lowest, highest = integer_range(name)
        if not math.isfinite(value) or value != int(value):
            return f"{value}, which is not a whole number: {name} has no such value"
        if not lowest <= int(value) <= highest:
            return f"{value}, which is beyond {name}, {lowest} to {highest}"
        return None
    if is_fp8(name) and not math.isnan(value):
        largest = float_format(name)
        if math.isinf(value):
            return None if largest.has_inf else f"{value}: {name} has no infinity"
        # half a step above the largest value rounds to even: up, where the largest mantissa is odd
        half = 2.0 ** (math.frexp(largest.max_value)[1] - 2 - largest.mantissa_bits)
        odd = (largest.max_value / (2 * half)) % 2 == 1
        if abs(value) > largest.max_value + half or (odd and abs(value) == largest.max_value + half):
            return f"{value}, which is beyond {name}, {-largest.max_value:g} to {largest.max_value:g}"
    return None
