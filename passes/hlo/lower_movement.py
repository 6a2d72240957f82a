# SPDX-License-Identifier: Apache-2.0
"""Lowering of operations that move values and compute none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.hlo.values import convert, is_floating
from tilewright.passes.hlo.one_operation import NoLowering, OneOperation, Rule
from tilewright.passes.hlo.rewriting import element_of, shape_of, splat_of


def _broadcast_in_dim(lower: OneOperation) -> SSAValue:
    source, dimensions = lower.op.operands[0], lower.op.get("dimensions")
    order = sorted(range(len(dimensions)), key=lambda i: dimensions[i])
    if prod(shape_of(source)) == prod(lower.shape):
        return lower.reshape(lower.transpose(source, order), lower.shape)
    number = splat_of(source)
    if number is not None:
        source, order, dimensions = lower.constant(np.asarray(number), lower.element), [], []
    return lower.add(tt.BroadcastOp(lower.transpose(source, order), lower.shape, sorted(dimensions)))


def _reshape(lower: OneOperation) -> SSAValue:
    return lower.reshape(lower.op.operands[0], lower.shape)


def _transpose(lower: OneOperation) -> SSAValue:
    return lower.transpose(lower.op.operands[0], lower.op.get("permutation"))


def _slice(lower: OneOperation) -> SSAValue:
    x, start, strides = lower.op.operands[0], lower.op.get("start"), lower.op.get("strides")
    if all(step == 1 for step in strides):
        return box(lower, x, start, lower.shape)
    return lower.add(tt.SliceOp(x, list(start), list(lower.shape), list(strides)))


def box(lower: OneOperation, x: SSAValue, start: Sequence[int], sizes: Sequence[int]) -> SSAValue:
    """The box of `sizes` at `start`."""
    if tuple(sizes) == shape_of(x):
        return x
    return lower.add(tt.SliceOp(x, list(start), list(sizes)))


def _concatenate(lower: OneOperation) -> SSAValue:
    parts = [value for value in lower.op.operands if prod(shape_of(value))]
    if not parts:
        return lower.op.operands[0]
    return parts[0] if len(parts) == 1 else lower.add(tt.ConcatOp(parts, lower.op.get("dimension")))


def _pad(lower: OneOperation) -> SSAValue:
    x, value = lower.op.operands
    low, high, interior = (lower.op.get(n) for n in ("low", "high", "interior"))
    if not prod(shape_of(x)):
        return lower.add(tt.BroadcastOp(value, lower.shape, []))
    number = splat_of(value)
    for axis, (n, gap) in enumerate(zip(shape_of(x), interior, strict=True)):
        if gap and n > 1:
            x = spread(lower, x, value, axis, gap, number)
    start = [max(-a, 0) for a in low]
    sizes = [n - max(-a, 0) - max(-b, 0) for n, a, b in zip(shape_of(x), low, high, strict=True)]
    x = box(lower, x, start, sizes)
    low, high = [max(a, 0) for a in low], [max(b, 0) for b in high]
    if number is not None and any((*low, *high)):
        plain = number if not is_floating(lower.element) else float(number)
        return lower.add(tt.PadOp(x, low, high, int(plain) if not is_floating(lower.element) else plain))
    for axis, (a, b) in enumerate(zip(low, high, strict=True)):
        x = _padded(lower, x, value, None, axis, a, b)
    return x


def spread(
    lower: OneOperation, x: SSAValue, value: SSAValue, axis: int, gap: int, number: Any = 0
) -> SSAValue:
    """Gaps between the elements of an axis: each element with its gap behind it; the last gap goes."""
    n = shape_of(x)[axis]
    if not gap or n < 2:
        return x
    shape = list(shape_of(x))
    x = lower.reshape(x, [*shape[: axis + 1], 1, *shape[axis + 1 :]])
    x = _padded(lower, x, value, number, axis + 1, 0, gap)
    wide = [*shape[:axis], n * (gap + 1), *shape[axis + 1 :]]
    x = lower.reshape(x, wide)
    wide[axis] -= gap
    return box(lower, x, [0] * len(wide), wide)


def _padded(
    lower: OneOperation, x: SSAValue, value: SSAValue, number: Any, axis: int, low: int, high: int
) -> SSAValue:
    """Copies of a value before and behind one axis."""
    if not low and not high:
        return x
    shape = list(shape_of(x))
    if number is not None:
        at = [low if i == axis else 0 for i in range(len(shape))]
        behind = [high if i == axis else 0 for i in range(len(shape))]
        plain = float(number) if is_floating(lower.element) else int(number)
        return lower.add(tt.PadOp(x, at, behind, plain))
    pieces: list[SSAValue] = []
    for count in (low, None, high):
        if count is None:
            pieces.append(x)
        elif count:
            shape[axis] = count
            pieces.append(lower.add(tt.BroadcastOp(value, shape, [])))
    return lower.add(tt.ConcatOp(pieces, axis))


def _reverse(lower: OneOperation) -> SSAValue:
    x = lower.op.operands[0]
    for axis in lower.op.get("dimensions"):
        backwards = np.arange(shape_of(x)[axis])[::-1].astype(np.int32)
        x = lower.add(tt.GatherOp(x, lower.constant(backwards, i32), axis))
    return x


def _iota(lower: OneOperation) -> SSAValue:
    axis = lower.op.get("dimension")
    extent = lower.shape[axis]
    line = lower.constant(convert(np.arange(extent), lower.element), lower.element)
    return lower.add(tt.BroadcastOp(line, lower.shape, [axis]))


def _take(lower: OneOperation) -> SSAValue:
    table, indices = lower.op.operands
    rule = lower.op.get("out_of_range")
    if rule not in {word.value for word in tt.OutOfRange}:
        raise NoLowering(f"rows out of range give {rule}")
    if element_of(indices) != i32:
        indices = lower.add(tt.CastOp(indices, i32))
    return lower.add(tt.GatherOp(table, indices, lower.op.get("axis"), rule))


def _starts(lower: OneOperation, values: Sequence[SSAValue]) -> list[SSAValue]:
    """Places as i32."""
    return [v if element_of(v) == i32 else lower.add(tt.CastOp(v, i32)) for v in values]


def _dynamic_slice(lower: OneOperation) -> SSAValue:
    x, *starts = lower.op.operands
    return lower.add(tt.DynamicSliceOp(x, _starts(lower, starts), lower.op.get("sizes")))


def _dynamic_update_slice(lower: OneOperation) -> SSAValue:
    x, update, *starts = lower.op.operands
    return lower.add(tt.DynamicUpdateSliceOp(x, update, _starts(lower, starts)))


RULES: Mapping[str, Rule] = {
    "broadcast_in_dim": _broadcast_in_dim,
    "reshape": _reshape,
    "transpose": _transpose,
    "slice": _slice,
    "concatenate": _concatenate,
    "pad": _pad,
    "reverse": _reverse,
    "iota": _iota,
    "take": _take,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
}
