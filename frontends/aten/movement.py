# SPDX-License-Identifier: Apache-2.0
"""ATen's operators that move elements: views, pieces, joins, rows by number."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from tilewright.frontends.aten.graph import Translation, Unsupported, element_of, operator, shape_of

# ------------------------------------------------------------------------------------------------------ views


@operator(
    "view.default", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "flatten", "unflatten", "view_as",
    "_reshape_alias",
)  # fmt: skip
def view(t: Translation, x: SSAValue, *_: Any, **__: Any) -> SSAValue:
    """The same elements in row-major order; torch has computed the shape."""
    return t.reshape(x, t.shape)


@operator("expand", "broadcast_to", "expand_as")
def expand(t: Translation, x: SSAValue, *_: Any, **__: Any) -> SSAValue:
    return t.broadcast(x, t.shape)


@operator("permute")
def permute(t: Translation, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    return t.transpose(x, [t.axis(axis, len(axes)) for axis in axes])


@operator("transpose.int")
def transpose(t: Translation, x: SSAValue, a: int, b: int) -> SSAValue:
    order = list(range(len(shape_of(x))))
    if order:
        a, b = t.axis(a, len(order)), t.axis(b, len(order))
        order[a], order[b] = order[b], order[a]
    return t.transpose(x, order)


@operator("t", "numpy_T", "mT")
def exchanged(t: Translation, x: SSAValue) -> SSAValue:
    rank = len(shape_of(x))
    return x if rank < 2 else t.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


@operator("flip")
def flip(t: Translation, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    return t.op("reverse", x, dimensions=t.axes(list(axes), len(shape_of(x))))


# ----------------------------------------------------------------------------------------------------- pieces


def piece(t: Translation, x: SSAValue, axis: int, start: int, stop: int, step: int = 1) -> SSAValue:
    """[start, stop) by steps of one axis."""
    shape = shape_of(x)
    if (start, stop, step) == (0, shape[axis], 1):
        return x
    lows = [start if i == axis else 0 for i in range(len(shape))]
    highs = [stop if i == axis else n for i, n in enumerate(shape)]
    steps = [step if i == axis else 1 for i in range(len(shape))]
    return t.op("slice", x, start=lows, limit=highs, strides=steps)


def bounds(start: int | None, stop: int | None, extent: int) -> tuple[int, int]:
    """Bounds as torch understands them: from the back if negative, within the axis."""
    low = 0 if start is None else start + extent if start < 0 else start
    high = extent if stop is None else stop + extent if stop < 0 else stop
    low = min(max(low, 0), extent)
    return low, min(max(high, low), extent)


@operator("slice.Tensor", "slice_copy")
def slice_(
    t: Translation, x: SSAValue, axis: int = 0, start: Any = None, stop: Any = None, step: int = 1
) -> SSAValue:
    axis = t.axis(axis, len(shape_of(x)))
    return piece(t, x, axis, *bounds(start, stop, shape_of(x)[axis]), step)


@operator("narrow")
def narrow(t: Translation, x: SSAValue, axis: int, start: int, length: int) -> SSAValue:
    return slice_(t, x, axis, start, (start + shape_of(x)[axis] if start < 0 else start) + length)


@operator("select.int")
def select(t: Translation, x: SSAValue, axis: int, place: int) -> SSAValue:
    axis = t.axis(axis, len(shape_of(x)))
    place = t.axis(place, shape_of(x)[axis])
    return t.reshape(piece(t, x, axis, place, place + 1), t.shape)


@operator("split_with_sizes")
def split_with_sizes(t: Translation, x: SSAValue, sizes: Sequence[int], axis: int = 0) -> list[SSAValue]:
    axis, found, start = t.axis(axis, len(shape_of(x))), [], 0
    for size in sizes:
        found.append(piece(t, x, axis, start, start + size))
        start += size
    return found


@operator("split.Tensor")
def split(t: Translation, x: SSAValue, size: int, axis: int = 0) -> list[SSAValue]:
    extent = shape_of(x)[axis]
    return split_with_sizes(t, x, [min(size, extent - at) for at in range(0, extent, max(size, 1))], axis)


@operator("chunk")
def chunk(t: Translation, x: SSAValue, count: int, axis: int = 0) -> list[SSAValue]:
    return split(t, x, -(-shape_of(x)[axis] // count), axis)


@operator("unbind.int")
def unbind(t: Translation, x: SSAValue, axis: int = 0) -> list[SSAValue]:
    axis = t.axis(axis, len(shape_of(x)))
    shape = [n for i, n in enumerate(shape_of(x)) if i != axis]
    return [t.reshape(piece(t, x, axis, i, i + 1), shape) for i in range(shape_of(x)[axis])]


def _triangle(t: Translation, x: SSAValue, lower: bool, diagonal: int) -> SSAValue:
    rows, columns = shape_of(x)[-2:]
    kept = np.tril(np.ones((rows, columns), bool), diagonal)
    if not lower:
        kept = np.triu(np.ones((rows, columns), bool), diagonal)
    mask = t.broadcast(t.build.constant(kept, i1), shape_of(x))
    return t.op("select", mask, x, t.like(0, x))


@operator("tril")
def lower_triangle(t: Translation, x: SSAValue, diagonal: int = 0) -> SSAValue:
    return _triangle(t, x, True, diagonal)


@operator("triu")
def upper_triangle(t: Translation, x: SSAValue, diagonal: int = 0) -> SSAValue:
    return _triangle(t, x, False, diagonal)


# ------------------------------------------------------------------------------------------------------ joins


@operator("cat", "concat")
def concatenate(t: Translation, parts: Sequence[Any], axis: int = 0) -> SSAValue:
    values = [t.value(part, t.element) for part in parts]
    values = [value for value in values if shape_of(value) != (0,)]  # torch's neutral element
    axis = t.axis(axis, len(t.shape))
    return values[0] if len(values) == 1 else t.op("concatenate", *values, dimension=axis)


@operator("stack")
def stack(t: Translation, parts: Sequence[Any], axis: int = 0) -> SSAValue:
    axis = t.axis(axis, len(t.shape))
    shape = [1 if i == axis else n for i, n in enumerate(t.shape)]
    return concatenate(t, [t.reshape(t.value(part, t.element), shape) for part in parts], axis)


@operator("constant_pad_nd")
def pad(t: Translation, x: SSAValue, counts: Sequence[int], number: Any = 0) -> SSAValue:
    """Counts come from the last axis on, two for each."""
    rank = len(shape_of(x))
    low, high = [0] * rank, [0] * rank
    for i in range(len(counts) // 2):
        low[rank - 1 - i], high[rank - 1 - i] = counts[2 * i : 2 * i + 2]
    return t.op("pad", x, t.value(number, element_of(x)), low=low, high=high, interior=[0] * rank)


@operator("roll")
def roll(t: Translation, x: SSAValue, shifts: Sequence[int], axes: Sequence[int] = ()) -> SSAValue:
    flat = x if axes else t.reshape(x, [prod(shape_of(x))])
    for shift, axis in zip(shifts, axes or [0], strict=True):
        axis = t.axis(axis, len(shape_of(flat)))
        extent = shape_of(flat)[axis]
        at = -shift % extent if extent else 0
        if at:
            parts = [piece(t, flat, axis, at, extent), piece(t, flat, axis, 0, at)]
            flat = t.op("concatenate", *parts, dimension=axis)
    return t.reshape(flat, shape_of(x))


@operator("repeat", "tile")
def repeat(t: Translation, x: SSAValue, counts: Sequence[int]) -> SSAValue:
    rank = max(len(counts), len(shape_of(x)))
    shape = [*(1,) * (rank - len(shape_of(x))), *shape_of(x)]
    times = [*(1,) * (rank - len(counts)), *counts]
    wide = [extent for pair in zip(times, shape, strict=True) for extent in pair]
    at = [2 * i + 1 for i in range(rank)]
    found = t.op("broadcast_in_dim", t.reshape(x, shape), dimensions=at, shape=wide)
    return t.reshape(found, t.shape)


@operator("repeat_interleave.self_int")
def repeat_interleave(t: Translation, x: SSAValue, times: int, axis: int | None = None, **_: Any) -> SSAValue:
    if axis is None:
        x, axis = t.reshape(x, [prod(shape_of(x))]), 0
    axis = t.axis(axis, len(shape_of(x)))
    shape = shape_of(x)
    wide = [*shape[: axis + 1], times, *shape[axis + 1 :]]
    at = [i for i in range(len(wide)) if i != axis + 1]
    return t.reshape(t.op("broadcast_in_dim", x, dimensions=at, shape=wide), t.shape)


@operator("slice_scatter")
def slice_scatter(
    t: Translation, x: Any, update: Any, axis: int = 0, start: Any = None, stop: Any = None, step: int = 1
) -> SSAValue:
    if step != 1:
        raise Unsupported("a slice with steps is not written to")
    x, update = t.value(x), t.value(update, t.element)
    axis = t.axis(axis, len(shape_of(x)))
    low, high = bounds(start, stop, shape_of(x)[axis])
    parts = [
        piece(t, x, axis, 0, low),
        t.broadcast(update, [high - low if i == axis else n for i, n in enumerate(shape_of(x))]),
        piece(t, x, axis, high, shape_of(x)[axis]),
    ]
    return concatenate(t, [part for part in parts if shape_of(part)[axis]], axis)


@operator("select_scatter")
def select_scatter(t: Translation, x: Any, update: Any, axis: int, place: int) -> SSAValue:
    x, update = t.value(x), t.value(update, t.element)
    axis = t.axis(axis, len(shape_of(x)))
    place = t.axis(place, shape_of(x)[axis])
    shape = [1 if i == axis else n for i, n in enumerate(shape_of(x))]
    return slice_scatter(t, x, t.reshape(update, shape), axis, place, place + 1)


@operator("index_copy")
def index_copy(t: Translation, x: Any, axis: int, places: Any, update: Any) -> SSAValue:
    """Rows written at places: one row, or neighbours that start at the first place."""
    x, update = t.value(x), t.value(update, t.element)
    axis = t.axis(axis, len(shape_of(x)))
    if prod(places.shape if isinstance(places, t.torch.Tensor) else shape_of(places)) != 1:
        raise Unsupported("more than one row is written at places that are not known: write them one by one")
    start = t.reshape(wrapped(t, places, shape_of(x)[axis]), ())
    zero = t.value(0, element_of(start))
    starts = [start if i == axis else zero for i in range(len(shape_of(x)))]
    return t.op("dynamic_update_slice", x, update, *starts)


# --------------------------------------------------------------------------------------------- rows by number


def wrapped(t: Translation, places: Any, extent: int) -> SSAValue:
    """Places counted from the front: torch counts negative ones from the back."""
    if isinstance(places, t.torch.Tensor):
        return t.value(t.torch.where(places < 0, places + extent, places))
    negative = t.op("compare", places, t.like(0, places), direction="LT")
    return t.op("select", negative, t.op("add", places, t.like(extent, places)), places)


def take(t: Translation, table: SSAValue, places: SSAValue, axis: int) -> SSAValue:
    """Rows of a table; torch refuses places out of range, here they are clamped."""
    return t.op("take", table, places, axis=axis, out_of_range="clamp")


@operator("embedding")
def embedding(t: Translation, table: Any, places: Any, *_: Any) -> SSAValue:
    return take(t, t.value(table), t.value(places), 0)


@operator("index_select")
def index_select(t: Translation, x: Any, axis: int, places: Any) -> SSAValue:
    x = t.value(x)
    return t.reshape(take(t, x, t.value(places), t.axis(axis, len(shape_of(x)))), t.shape)


@operator("index.Tensor")
def index(t: Translation, x: Any, places: Sequence[Any]) -> SSAValue:
    """Axes that stand together are indexed as one flat axis, in which the places are computed."""
    x = t.value(x)
    spread: list[Any] = []
    for entry in places:
        if isinstance(entry, t.torch.Tensor) and entry.dtype in (t.torch.bool, t.torch.uint8):
            spread.extend(entry.nonzero(as_tuple=True))
        elif isinstance(entry, SSAValue) and element_of(entry) == i1:
            raise Unsupported("a mask that depends on an input leaves a number of rows that is not known")
        else:
            spread.append(entry)
    axes = [i for i, entry in enumerate(spread) if entry is not None]
    if axes != list(range(axes[0], axes[0] + len(axes))):
        raise Unsupported("axes that do not stand together are not indexed at once")
    shape = shape_of(x)
    first, extents = axes[0], [shape[axis] for axis in axes]
    if all(isinstance(spread[axis], t.torch.Tensor) for axis in axes):
        known = [
            t.torch.where(p < 0, p + n, p) for p, n in zip([spread[a] for a in axes], extents, strict=True)
        ]
        flat: Any = known[0]
        for entry, extent in zip(known[1:], extents[1:], strict=True):
            flat = flat * extent + entry
        rows = t.value(flat)
    else:
        shapes = [
            tuple(p.shape) if isinstance(p, t.torch.Tensor) else shape_of(p)
            for p in (spread[a] for a in axes)
        ]
        common = np.broadcast_shapes(*shapes)
        rows = None
        for axis, extent in zip(axes, extents, strict=True):
            entry = t.broadcast(t.convert(wrapped(t, spread[axis], extent), i64), common)
            rows = entry if rows is None else t.op("add", t.times(rows, extent), entry)
        assert rows is not None
    joined = t.reshape(x, [*shape[:first], prod(extents), *shape[first + len(axes) :]])
    return take(t, joined, rows, first)


@operator("gather")
def gather(t: Translation, x: Any, axis: int, places: Any, **_: Any) -> SSAValue:
    """Every result has a place of its own: elements of the flat operand by number."""
    x, places = t.value(x), t.convert(t.value(places), i64)
    shape = shape_of(x)
    axis = t.axis(axis, len(shape))
    strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
    base = np.zeros(shape_of(places), np.int64)
    for i, extent in enumerate(shape_of(places)):
        if i != axis:
            at = np.arange(extent) * strides[i]
            base += at.reshape([-1 if j == i else 1 for j in range(len(shape))])
    flat = t.op("add", t.times(places, strides[axis]), t.build.constant(base, i64))
    return take(t, t.reshape(x, [prod(shape)]), flat, 0)


@operator("one_hot")
def one_hot(t: Translation, places: SSAValue, count: int = -1) -> SSAValue:
    line = t.op("iota", dimension=len(t.shape) - 1, shape=t.shape, element=element_of(places))
    wide = t.broadcast(t.reshape(places, [*shape_of(places), 1]), t.shape)
    return t.convert(t.op("compare", wide, line, direction="EQ"), t.element)


@operator("unfold", "unfold_copy", "diagonal", "diagonal_copy", "as_strided")
def moved(t: Translation, x: SSAValue, *arguments: Any, **options: Any) -> SSAValue:
    """What only moves elements: torch moves their numbers, and the elements are taken by these."""
    count = prod(shape_of(x))
    numbers = t.torch.arange(count).reshape(shape_of(x))
    return take(t, t.reshape(x, [count]), t.value(t.node.target(numbers, *arguments, **options).clone()), 0)
