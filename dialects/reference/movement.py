# SPDX-License-Identifier: Apache-2.0
"""The semantics of operations that only bring elements elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.nearest import nearest
from tilewright.dialects.reference.arrays import Array, Table
from tilewright.dialects.tile_tensor import element_of, shape_of
from tilewright.machine.dtypes import numpy_dtype


def _one_hot(op: tt.OneHotOp, indices: Array) -> Array:
    result = np.zeros(shape_of(op.result), numpy_dtype(str(element_of(op.result))))
    for number in range(result.shape[-1]):
        result[..., number] = np.asarray(indices == number).astype(result.dtype)
    return result


def _pad(op: tt.PadOp, x: Array) -> Array:
    value = op.value.value.data
    if x.dtype.kind not in "ib":
        value = nearest(np.asarray(value), str(element_of(op.result)), saturate=False).astype(x.dtype)
    low, high = op.low.get_values(), op.high.get_values()
    steps = [1] * x.ndim if op.interior is None else [n + 1 for n in op.interior.get_values()]
    spread = [(n - 1) * step + 1 if n else 0 for n, step in zip(x.shape, steps, strict=True)]
    shape = [max(a, 0) + n + max(b, 0) for a, n, b in zip(low, spread, high, strict=True)]
    wide = np.full(shape, value, x.dtype)
    wide[tuple(slice(max(a, 0), max(a, 0) + n, k) for a, n, k in zip(low, spread, steps, strict=True))] = x
    kept = [slice(max(-a, 0), n - max(-b, 0)) for a, b, n in zip(low, high, shape, strict=True)]
    return wide[tuple(kept)]


def _broadcast(op: tt.BroadcastOp, x: Array) -> Array:
    shape = shape_of(op.result)
    extents = [1] * len(shape)
    for dimension, extent in zip(op.dimensions.get_values(), x.shape, strict=True):
        extents[dimension] = extent
    return np.broadcast_to(x.reshape(extents), shape)


def _slice(op: tt.SliceOp, x: Array) -> Array:
    steps = [1] * x.ndim if op.strides is None else op.strides.get_values()
    for axis, (offset, size, step) in enumerate(
        zip(op.offsets.get_values(), op.sizes.get_values(), steps, strict=True)
    ):
        x = np.take(x, offset + step * np.arange(size), axis=axis)
    return x


def _gather(op: tt.GatherOp, table: Array, indices: Array) -> Array:
    axis = op.axis.value.data
    rows = table.shape[axis]
    if not rows:  # a table without rows has none to clamp to
        return np.zeros(shape_of(op.result), table.dtype)
    inside = (indices >= 0) & (indices < rows)
    found = np.take(table, np.minimum(np.maximum(indices, 0), rows - 1), axis=axis)
    if op.out_of_range.data == tt.OutOfRange.ZERO:
        inside = np.expand_dims(inside, tuple(range(axis)) + tuple(range(axis + indices.ndim, found.ndim)))
        found = np.where(inside, found, np.zeros((), table.dtype))
    return found


def _starts(starts: Sequence[Array], shape: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Start indices as they are meant: drawn into the range in which the box lies inside."""
    found = zip(starts, shape, sizes, strict=True)
    return [min(max(int(start), 0), extent - size) for start, extent, size in found]


def _dynamic_slice(op: tt.DynamicSliceOp, x: Array, *starts: Array) -> Array:
    sizes = op.sizes.get_values()
    at = _starts(starts, x.shape, sizes)
    return x[tuple(slice(start, start + size) for start, size in zip(at, sizes, strict=True))]


def _dynamic_update_slice(op: tt.DynamicUpdateSliceOp, x: Array, update: Array, *starts: Array) -> Array:
    result = np.array(x)  # rank 0 may come as a scalar, which has no places
    at = _starts(starts, x.shape, update.shape)
    result[tuple(slice(start, start + n) for start, n in zip(at, update.shape, strict=True))] = update
    return result


MOVES: Table = {
    tt.BroadcastOp: _broadcast,
    tt.ConcatOp: lambda op, *xs: np.concatenate(xs, axis=op.axis.value.data),
    tt.DynamicSliceOp: _dynamic_slice,
    tt.DynamicUpdateSliceOp: _dynamic_update_slice,
    tt.GatherOp: _gather,
    tt.OneHotOp: _one_hot,
    tt.PadOp: _pad,
    tt.ReshapeOp: lambda op, x: x.reshape(shape_of(op.result)),
    tt.SelectOp: lambda op, p, a, b: np.where(p, a, b),
    tt.SliceOp: _slice,
    tt.TransposeOp: lambda op, x: x.transpose(op.permutation.get_values()),
}
