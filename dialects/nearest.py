# SPDX-License-Identifier: Apache-2.0
"""
Rounding as docs/spec/numerics.md defines it, for the reference: by frexp and rint on f64, with nothing in
common with the machine model's (`tilewright.machine.numerics.rounding`), which it judges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.machine.dtypes import float_format, is_fp8, is_integer, numpy_dtype

Array = NDArray[Any]


def nearest(x: Array, dtype: str, saturate: bool = True) -> Array:
    """
    Any numeric array rounded once, to nearest even, to a float type; same shape.

    Overflow gives infinity, or NaN where the format has none; in an 8-bit format with `saturate` the largest
    value. Every NaN comes out as the positive one.
    """
    fmt = float_format(dtype)
    wide = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(wide)
        last = np.maximum(exponent - 1, fmt.emin) - fmt.mantissa_bits  # of the last place at x, as log2
        grid = np.ldexp(np.rint(np.ldexp(wide, -last)), last)
        overflow = np.inf if fmt.has_inf else np.nan
        infinity = overflow
        if is_fp8(dtype) and saturate:
            overflow = fmt.max_value
            infinity = fmt.max_value if fmt.negative_zero else np.nan
        size = np.where(np.abs(grid) > fmt.max_value, overflow, np.abs(grid))
        size = np.where(np.isinf(wide), infinity, size)
        grid = np.copysign(size, wide) if fmt.negative_zero else np.where(wide < 0, -size, size) + 0.0
        grid = np.where(np.isnan(grid), np.nan, grid)
        return np.asarray(grid.astype(np.float32).astype(numpy_dtype(dtype)))


def integer(x: Array, dtype: str, saturate: bool = True, truncate: bool = False) -> Array:
    """
    Floats as integers, nearest even or toward zero; NaN is 0. What is out of range is clamped, or keeps its
    low bits.
    """
    target = numpy_dtype(dtype)
    info = np.iinfo(target)
    wide = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        whole = np.nan_to_num(
            np.trunc(wide) if truncate else np.rint(wide), posinf=2.0**62, neginf=-(2.0**62)
        )
        low, high = (info.min, info.max) if saturate else (-(2.0**62), 2.0**62)
        return np.asarray(np.clip(whole, low, high).astype(np.int64).astype(target))


def convert(x: Array, dtype: str, scale: int = 0, saturate: bool = True, truncate: bool = False) -> Array:
    """A cast: x * 2^-scale in another type, rounded once. Between integers there is no scale."""
    if x.dtype == numpy_dtype(dtype) and scale == 0:
        return x
    if dtype == "i1":
        return np.asarray(x != 0)
    if is_integer(dtype) and x.dtype.kind in "biu":
        target = numpy_dtype(dtype)
        wide = x.astype(np.int64)
        if saturate:
            wide = np.clip(wide, np.iinfo(target).min, np.iinfo(target).max)
        return wide.astype(target)
    with np.errstate(all="ignore"):
        scaled = np.ldexp(x.astype(np.float64), -scale)
    if is_integer(dtype):
        return integer(scaled, dtype, saturate, truncate)
    return nearest(scaled, dtype, saturate)
