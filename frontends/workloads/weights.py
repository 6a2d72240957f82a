# SPDX-License-Identifier: Apache-2.0
"""Random weights, and the values that a weight has once it is stored in the machine's types."""

from __future__ import annotations

import math
from collections.abc import Iterable

import ml_dtypes
import numpy as np

F8 = "f8E4M3FNUZ"
F8_MAX = 240.0
"""Largest finite f8E4M3FNUZ value (exponent bias 8)."""


def generator(seed: int) -> np.random.Generator:
    """The stream that a workload draws all its values from, in a fixed order."""
    return np.random.Generator(np.random.PCG64(seed))


def xavier_uniform(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """
    f16 (in, out), uniform in +-sqrt(6 / (in + out)), drawn as one of 65,536 equidistant values rounded to
    f16.
    """
    # a table look-up on raw bits is ten times as fast as drawing floats and rounding them
    steps = (2 * np.arange(1 << 16) + 1) / (1 << 16) - 1
    table = (steps * math.sqrt(6 / sum(shape))).astype(np.float16)
    codes = np.frombuffer(rng.bytes(2 * math.prod(shape)), dtype="<u2")
    return table[codes].reshape(shape)


def normal(rng: np.random.Generator, shape: tuple[int, ...], deviation: float) -> np.ndarray:
    """f16, normal around zero."""
    return (rng.standard_normal(shape, dtype=np.float32) * np.float32(deviation)).astype(np.float16)


def scale_for(largest: float, limit: float = F8_MAX) -> int:
    """
    The least exponent n with largest * 2^-n <= limit: `stored = value * 2^-n` then fits f8E4M3FNUZ.

    Held to the -32..31 that an operand's scale can be; 0 for an all-zero or non-finite tensor.
    """
    if not 0 < largest < math.inf:
        return 0
    return max(-32, min(31, math.ceil(math.log2(largest / limit))))


def largest_magnitude(tensors: Iterable[np.ndarray]) -> float:
    """Of all elements of all `tensors`."""
    # for f16 the bits without the sign order like the magnitudes, and integers are compared far faster
    return max(
        float((t.view(np.uint16) & 0x7FFF).max().view(np.float16))
        if t.dtype == np.float16
        else float(np.abs(t).max())
        for t in tensors
    )


def _quantise(values: np.ndarray, scale: int) -> np.ndarray:
    scaled = np.clip(values.astype(np.float32) * np.float32(2.0**-scale), -F8_MAX, F8_MAX)
    return scaled.astype(ml_dtypes.float8_e4m3fnuz).astype(np.float32) * np.float32(2.0**scale)


_tables: dict[int, np.ndarray] = {}


def stored(values: np.ndarray, dtype: str, scale: int = 0) -> np.ndarray:
    """
    `values` (f16 or f32) as float32 after storing them as `dtype` ("f16" or "f8E4M3FNUZ" with `scale`,
    saturating).
    """
    if dtype == "f16":
        return values.astype(np.float16).astype(np.float32)
    if dtype != F8:
        raise ValueError(f"no storage type {dtype}")
    if values.dtype != np.float16:
        return _quantise(values, scale)
    # hundreds of millions of f16 weights: 65,536 different ones
    if scale not in _tables:
        with np.errstate(invalid="ignore"):  # the table has NaN codes, weights do not
            _tables[scale] = _quantise(np.arange(1 << 16, dtype=np.uint16).view(np.float16), scale)
    return _tables[scale][values.view(np.uint16)]
