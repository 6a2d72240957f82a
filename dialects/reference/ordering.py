# SPDX-License-Identifier: Apache-2.0
"""The semantics of the order of elements, running sums and sums by index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.reference.arrays import Array, Table, axis_of


def _extreme_index(op: Any, x: Array) -> Array:
    axis = axis_of(op)
    highest = isinstance(op, tt.ArgmaxOp)
    extreme = (x.max if highest else x.min)(axis=axis, keepdims=True)
    return np.asarray(
        ((x == extreme) | (x != x)).argmax(axis=axis), np.int64
    )  # NaN alone differs from itself


def _order(op: Any, x: Array) -> Array:
    """The places of a sort: by whether it is NaN, by value, by place."""
    axis = axis_of(op)
    rows = np.moveaxis(x, axis, -1)
    rows = rows.astype(np.int64) if rows.dtype.kind == "i" else rows.astype(np.float64)
    falling = getattr(op, "descending", True) is not None
    place = np.broadcast_to(np.arange(rows.shape[-1]), rows.shape)
    nan = rows != rows
    keys = (place, np.where(nan, 0, -rows if falling else rows), ~nan if falling else nan)
    return np.moveaxis(np.lexsort(keys, axis=-1), -1, axis)


def _sorted(op: Any, x: Array) -> Array:
    return np.take_along_axis(x, _order(op, x), axis=axis_of(op))


def _largest(function: Callable[[Any, Array], Array]) -> Callable[[Any, Array], Array]:
    """The first ones along the axis of a falling order."""

    def run(op: Any, x: Array) -> Array:
        axis = axis_of(op)
        return function(op, x).take(np.arange(op.count.value.data), axis=axis)

    return run


def _cumsum(op: tt.CumsumOp, x: Array) -> Array:
    axis = axis_of(op)
    return np.cumsum(x.astype(np.int64) if x.dtype.kind == "i" else x, axis=axis)


def _scatter_add(op: tt.ScatterAddOp, base: Array, indices: Array, updates: Array) -> Array:
    total = base.astype(np.int64) if base.dtype.kind == "i" else base.copy()
    for index, row in zip(indices.tolist(), updates, strict=True):
        if 0 <= index < len(total):
            total[index] = total[index] + row
    return total


SEMANTICS: Table = {
    tt.ArgmaxOp: _extreme_index,
    tt.ArgminOp: _extreme_index,
    tt.ArgsortOp: _order,
    tt.CumsumOp: _cumsum,
    tt.ScatterAddOp: _scatter_add,
    tt.TopKIndicesOp: _largest(_order),
}


MOVES: Table = {
    tt.SortOp: _sorted,
    tt.TopKOp: _largest(_sorted),
}
