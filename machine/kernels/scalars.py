# SPDX-License-Identifier: Apache-2.0
"""
What the scalars of kernels may be, by name. One that is not here is any finite number; for kernels that name
it a factor, so is one that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tilewright.machine.numerics.operations import EMPTY_ROWS

_INT32 = 2**31 - 1
_SCALE = 512  # takes any f32 beyond all others, or to zero; its power of two, times one, is a double
INTEGERS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "saturate": (0, 1),
        "scale": (-_SCALE, _SCALE),
        "reduced": (1, 255),
        "value": (-(2**31), 2**32 - 1),
        "weights_standard": (0, 1),
        "run_bytes": (0, _INT32),
        "count": (1, _INT32),
        "columns": (1, _INT32),
        "split": (0, 1),
        "truncate": (0, 1),
        "rows": (1, _INT32),
        "empty_rows": (0, len(EMPTY_ROWS) - 1),
        "runs": (0, _INT32),
        "descending": (0, 1),
        **{f"rows{number}": (1, _INT32) for number in (2, 3, 4)},
        "apart": (0, 1),
        "offset": (-(2**30), 2**30),
        "before": (0, 2**30),
        "after": (0, 2**30),
        **{f"{name}_{axis}": (1, _INT32) for name in ("size", "stride", "dilation") for axis in "yx"},
        "group": (1, _INT32),
        "pitch": (1, _INT32),
        "vector": (0, 1),
        "cast_scale": (-_SCALE, _SCALE),
        "cast_saturate": (0, 1),
    }
)
"""Least and largest value of scalars that are integers."""

STORES = ("cast_scale", "cast_saturate")
"""
Scalars of kernels that may cast what they store: with the first the result is rounded to f16, and that is
cast to the type of the result as `cast` does it with `scale` and `saturate`.
"""
