# SPDX-License-Identifier: Apache-2.0
"""What lies under windows, and the semantics of reductions over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.reference.arrays import Array, Table, highest_of
from tilewright.dialects.tensor import shapes
from tilewright.dialects.tile_tensor import element_of, shape_of
from tilewright.machine.dtypes import float_format, integer_range, is_integer


def shifted(x: Array, window: shapes.Window, at: Sequence[int], extents: Sequence[int], rest: Any) -> Array:
    """
    Of every window the element `at`, on the axes of the window (the first ones of x); `rest` outside of x.
    """
    for axis, extent in enumerate(extents):
        places = (
            np.arange(extent) * window.strides[axis] + at[axis] * window.dilation[axis] - window.low[axis]
        )
        padded = np.concatenate([x, np.full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), rest, x.dtype)], axis)
        outside = (places < 0) | (places >= x.shape[axis])
        x = padded.take(np.where(outside, x.shape[axis], places), axis)
    return x


def under_windows(op: tt.ReduceWindowOp, x: Array, rest: Any) -> Array:
    """What lies under each window, on a last axis; `rest` beside the operand."""
    window, extents = op.window(tuple(op.size.get_values())), shape_of(op.result)
    taps = [shifted(x, window, at, extents, rest) for at in np.ndindex(*window.size)]
    return np.stack(taps, axis=-1)


def _reduce_window(op: tt.ReduceWindowOp, x: Array) -> Array:
    kind, integer = op.kind.data, x.dtype.kind == "i"
    lowest, highest = _range_of_type(str(element_of(op.operand)))
    rest = {tt.WindowReduction.MAX: lowest, tt.WindowReduction.MIN: highest}.get(kind, 0)
    wide = x.astype(np.int64 if integer else np.float64)
    seen = under_windows(op, wide, rest)
    match kind:
        case tt.WindowReduction.MAX:
            return highest_of(seen, (-1,), False, None)
        case tt.WindowReduction.MIN:
            return -highest_of(-seen, (-1,), False, None)
        case _:
            total = seen.sum(axis=-1)
            if not integer:  # a sum is -0 if all its terms are
                negative = ((seen == 0) & np.signbit(seen)).all(axis=-1)
                total = np.where(total == 0, np.where(negative, -0.0, 0.0), total)
            mean = kind == tt.WindowReduction.MEAN
            return total / np.float64(seen.shape[-1]) if mean else total


def _range_of_type(dtype: str) -> tuple[float, float]:
    """The ends of a type, infinite where it has infinities."""
    if is_integer(dtype):
        return integer_range(dtype)
    fmt = float_format(dtype)
    highest = np.inf if fmt.has_inf else fmt.max_value
    return -highest, highest


SEMANTICS: Table = {
    tt.ReduceWindowOp: _reduce_window,
}
