# SPDX-License-Identifier: Apache-2.0
"""
Shapes of tensor operations, and nothing else.

Each function takes shapes (tuples of extents) and parameters, and returns the result's shape or raises
`ShapeError` with a sentence that names what is wrong. The verifier, the constructors and the readers share
them; nothing here imports xDSL.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from tilewright import limits

Shape = tuple[int, ...]


class ShapeError(ValueError):
    """The operand shapes or the parameters of an operation do not fit together."""


def show(shape: Sequence[int]) -> str:
    """A shape the way MLIR writes it: `4x8`; `scalar` for rank 0."""
    return "x".join(str(extent) for extent in shape) if shape else "scalar"


def _show_leading(shape: Shape) -> str:
    return show(shape[:-2]) if len(shape) > 2 else "none"


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _check_axis(axis: int, rank: int, what: str = "axis") -> None:
    if not 0 <= axis < rank:
        raise ShapeError(f"{what} {axis} is out of range for rank {rank}")


def broadcast_pair(lhs: Shape, rhs: Shape) -> Shape:
    """Numpy's rule: aligned at the last axis, extents are equal or one of them is 1."""
    rank = max(len(lhs), len(rhs))
    left = (1,) * (rank - len(lhs)) + lhs
    right = (1,) * (rank - len(rhs)) + rhs
    result: list[int] = []
    for axis, (a, b) in enumerate(zip(left, right, strict=True)):
        if a != b and 1 not in (a, b):
            raise ShapeError(
                f"cannot broadcast {show(lhs)} with {show(rhs)}: "
                f"extents {a} and {b} differ on axis {axis - rank}"
            )
        result.append(b if a == 1 else a)
    return tuple(result)


def broadcast_all(shapes: Sequence[Shape]) -> Shape:
    """Numpy's rule for several operands."""
    result = shapes[0]
    for shape in shapes[1:]:
        result = broadcast_pair(result, shape)
    return result


def matmul(lhs: Shape, rhs: Shape, transpose_a: bool = False, transpose_b: bool = False) -> Shape:
    """
    `[.., m, k] x [.., k, n] -> [.., m, n]`, leading dimensions by numpy's rule; a transposed operand has its
    last two axes swapped in storage.
    """
    if len(lhs) < 2 or len(rhs) < 2:
        raise ShapeError(f"matmul needs operands of rank 2 or more, found {show(lhs)} and {show(rhs)}")
    try:
        leading = broadcast_pair(lhs[:-2], rhs[:-2])
    except ShapeError:
        raise ShapeError(
            "matmul needs leading (batch) dimensions that are equal or 1, "
            f"found {_show_leading(lhs)} and {_show_leading(rhs)}"
        ) from None
    m, k = (lhs[-1], lhs[-2]) if transpose_a else (lhs[-2], lhs[-1])
    k_right, n = (rhs[-1], rhs[-2]) if transpose_b else (rhs[-2], rhs[-1])
    if k != k_right:
        raise ShapeError(
            f"matmul contracts {k} (of {show(lhs)}{', transposed' if transpose_a else ''}) "
            f"with {k_right} (of {show(rhs)}{', transposed' if transpose_b else ''})"
        )
    return (*leading, m, n)


def reduce(shape: Shape, axes: Sequence[int], keep_dims: bool = False) -> Shape:
    """The shape without `axes`, or with 1 in their place."""
    for axis in axes:
        _check_axis(axis, len(shape), "reduced axis")
    if list(axes) != sorted(set(axes)):
        raise ShapeError(f"reduced axes must be ascending and distinct, found {list(axes)}")
    if keep_dims:
        return tuple(1 if axis in axes else extent for axis, extent in enumerate(shape))
    return tuple(extent for axis, extent in enumerate(shape) if axis not in axes)


def normalized(shape: Shape, vectors: Sequence[tuple[str, Shape]] = (), axis: int | None = None) -> Shape:
    """
    Row-wise operations over `axis`, without it the last one; `vectors` (gamma, beta) must have its extent.
    """
    if not shape:
        raise ShapeError("a row-wise operation needs a tensor of rank 1 or more, found a scalar")
    if axis is not None:
        _check_axis(axis, len(shape))
    at = len(shape) - 1 if axis is None else axis
    which = "the last axis" if at == len(shape) - 1 else f"axis {at}"
    for name, vector in vectors:
        if vector != (shape[at],):
            raise ShapeError(
                f"{name} must have shape {shape[at]}, {which} of {show(shape)}, found {show(vector)}"
            )
    return shape


def attention(query: Shape, key: Shape, value: Shape, mask: Shape | None = None) -> Shape:
    """
    `q[.., h, tq, d], k[.., g, tk, d], v[.., g, tk, dv] -> [.., h, tq, dv]`, g dividing h; a mask
    [.., 1 or tq, tk] broadcasts to the scores [.., h, tq, tk].
    """
    if min(len(query), len(key), len(value)) < 2:
        raise ShapeError(
            f"attention needs operands of rank 2 or more, found {show(query)}, {show(key)} and {show(value)}"
        )
    if key[:-2] != value[:-2] or len(query) != len(key) or query[:-3] != key[:-3]:
        raise ShapeError(
            "attention needs equal leading (batch, head) dimensions, but for fewer heads of keys and values, "
            f"found {_show_leading(query)}, {_show_leading(key)} and {_show_leading(value)}"
        )
    heads, shared = prod(query[-3:-2]), prod(key[-3:-2])
    if heads != shared and (not shared or heads % shared):
        raise ShapeError(
            f"{shared} heads of keys and values cannot be shared by {heads} of queries: they must divide them"
        )
    if query[-1] != key[-1]:
        raise ShapeError(f"query and key differ in their last axis: {query[-1]} and {key[-1]}")
    if key[-2] != value[-2]:
        raise ShapeError(f"key and value differ in their number of rows: {key[-2]} and {value[-2]}")
    if mask is not None:
        scores = (*query[:-1], key[-2])
        fits = len(mask) <= len(scores) and all(
            have in (1, want) for have, want in zip(reversed(mask), reversed(scores), strict=False)
        )
        if not fits or len(mask) < 2 or mask[-1] != key[-2]:
            raise ShapeError(f"a mask of {show(mask)} cannot be added to scores of {show(scores)}")
    return (*query[:-1], value[-1])


def transpose(shape: Shape, permutation: Sequence[int]) -> Shape:
    """Result axis i is operand axis `permutation[i]`."""
    if sorted(permutation) != list(range(len(shape))):
        raise ShapeError(
            f"{list(permutation)} is not a permutation of the axes of {show(shape)} (rank {len(shape)})"
        )
    return tuple(shape[axis] for axis in permutation)


def reshape(shape: Shape, result: Shape) -> Shape:
    """The result's shape, if it has as many elements."""
    if prod(shape) != prod(result):
        raise ShapeError(
            f"reshape of {show(shape)} ({_plural(prod(shape), 'element')}) to {show(result)} "
            f"({_plural(prod(result), 'element')})"
        )
    return result


def slice_(
    shape: Shape, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int] | None = None
) -> Shape:
    """The box at `offsets` of `sizes`, every `strides`-th element; it must lie inside."""
    if not len(offsets) == len(sizes) == len(shape):
        raise ShapeError(
            f"slice of {show(shape)} needs {_plural(len(shape), 'offset')} and sizes, "
            f"found {len(offsets)} and {len(sizes)}"
        )
    steps = (1,) * len(shape) if strides is None else tuple(strides)
    if len(steps) != len(shape):
        raise ShapeError(f"slice of {show(shape)} needs {_plural(len(shape), 'stride')}, found {len(steps)}")
    for axis, (extent, offset, size, step) in enumerate(zip(shape, offsets, sizes, steps, strict=True)):
        if step < 1:
            raise ShapeError(f"slice takes every {step}-th element of axis {axis}; a stride is 1 or more")
        end = offset + ((size - 1) * step + 1 if size > 0 else size)
        if offset < 0 or size < 0 or end > extent:
            raise ShapeError(f"slice takes [{offset}, {end}) of axis {axis}, which has extent {extent}")
    return tuple(sizes)


def concat(shapes: Sequence[Shape], axis: int) -> Shape:
    """All extents but that of `axis` must agree."""
    if not shapes:
        raise ShapeError("concat needs at least one operand")
    first = shapes[0]
    _check_axis(axis, len(first), "concat axis")
    for number, shape in enumerate(shapes):
        if len(shape) != len(first) or shape[:axis] + shape[axis + 1 :] != first[:axis] + first[axis + 1 :]:
            raise ShapeError(
                f"concat along axis {axis}: operand {number} is {show(shape)}, "
                f"which does not match {show(first)}"
            )
    return (*first[:axis], sum(shape[axis] for shape in shapes), *first[axis + 1 :])


def pad(
    shape: Shape, low: Sequence[int], high: Sequence[int], interior: Sequence[int] | None = None
) -> Shape:
    """
    `interior` elements between neighbours, then `low` before and `high` after, per axis; a negative count
    takes elements away.
    """
    if not len(low) == len(high) == len(shape):
        raise ShapeError(
            f"pad of {show(shape)} needs {len(shape)} low and high counts, found {len(low)} and {len(high)}"
        )
    between = (0,) * len(shape) if interior is None else tuple(interior)
    if len(between) != len(shape):
        raise ShapeError(
            f"pad of {show(shape)} needs {_plural(len(shape), 'interior count')}, found {len(between)}"
        )
    result: list[int] = []
    for axis, (extent, before, after, inside) in enumerate(zip(shape, low, high, between, strict=True)):
        if inside < 0:
            raise ShapeError(f"pad by {inside} between elements of axis {axis}: use a slice with strides")
        size = before + extent + max(extent - 1, 0) * inside + after
        if size < 0:
            raise ShapeError(f"pad takes {-size} more elements from axis {axis} than it has")
        result.append(size)
    return tuple(result)


def broadcast(shape: Shape, dimensions: Sequence[int], result: Shape) -> Shape:
    """
    Operand axis i becomes result axis `dimensions[i]`; its extent is equal or 1. Returns the result's
    shape.
    """
    if len(dimensions) != len(shape):
        raise ShapeError(f"broadcast of {show(shape)} needs {len(shape)} dimensions, found {len(dimensions)}")
    if list(dimensions) != sorted(set(dimensions)):
        raise ShapeError(f"broadcast dimensions must be ascending and distinct, found {list(dimensions)}")
    for axis, (extent, dimension) in enumerate(zip(shape, dimensions, strict=True)):
        _check_axis(dimension, len(result), "broadcast dimension")
        if extent not in (1, result[dimension]):
            raise ShapeError(
                f"axis {axis} of {show(shape)} has extent {extent}, "
                f"which cannot be broadcast to axis {dimension} of {show(result)}"
            )
    return result


def gather(table: Shape, indices: Shape, axis: int) -> Shape:
    """`axis` of the table is replaced by the axes of the indices."""
    _check_axis(axis, len(table), "gather axis")
    return (*table[:axis], *indices, *table[axis + 1 :])


class Window(NamedTuple):
    """Per axis: elements of a window, its steps, what is put around, how far its elements lie apart."""

    size: Shape
    strides: Shape
    low: Shape
    high: Shape
    dilation: Shape

    def reach(self, axis: int) -> int:
        """Elements from the first one of a window to its last."""
        return (self.size[axis] - 1) * self.dilation[axis] + 1


def windows(shape: Shape, window: Window) -> Shape:
    """How often a window fits, per axis."""
    for name, counts in window._asdict().items():
        if len(counts) != len(shape):
            raise ShapeError(
                f"a window over {show(shape)} has {len(shape)} counts of {name}, found {len(counts)}"
            )
        least = 0 if name in ("low", "high") else 1
        if min(counts, default=least) < least:
            raise ShapeError(f"{name} of a window is {least} or more, found {list(counts)}")
    if prod(window.size) > limits.WINDOW_ELEMENTS:
        raise ShapeError(
            f"a window has at most {limits.WINDOW_ELEMENTS} elements, found {show(window.size)}; "
            "reduce whole axes instead"
        )
    result: list[int] = []
    for axis, extent in enumerate(shape):
        room = window.low[axis] + extent + window.high[axis] - window.reach(axis)
        result.append(max(room // window.strides[axis] + 1, 0))
    return tuple(result)


def convolution(operand: Shape, weights: Shape, window: Window, groups: int) -> Shape:
    """`[n, s.., c]`, `[k.., c / groups, o]` -> `[n, s'.., o]`."""
    if len(operand) < 3 or len(weights) != len(operand):
        raise ShapeError(
            "a convolution needs operand and weights of one rank, 3 or more, "
            f"found {show(operand)} and {show(weights)}"
        )
    channels, outputs = operand[-1], weights[-1]
    if groups < 1 or channels != weights[-2] * groups or outputs % groups:
        raise ShapeError(
            f"{groups} groups do not divide {channels} channels, of which weights take {weights[-2]}, "
            f"and {outputs} of the result"
        )
    return (operand[0], *windows(operand[1:-1], window), outputs)


def top(shape: Shape, count: int, axis: int) -> Shape:
    """`count` elements of an axis."""
    if not 1 <= count <= shape[axis]:
        raise ShapeError(f"takes {count} elements of axis {axis}, which has extent {shape[axis]}")
    return (*shape[:axis], count, *shape[axis + 1 :])


def scatter(base: Shape, indices: Shape, updates: Shape) -> Shape:
    """Rows of the base; one index and one row of updates for each addition."""
    if not base or len(indices) != 1 or updates != (*indices, *base[1:]):
        raise ShapeError(
            f"rows of {show(base)} are added to by indices of rank 1 and as many rows of updates, "
            f"found {show(indices)} and {show(updates)}"
        )
    return base


def _check_starts(shape: Shape, starts: int, what: str) -> None:
    if starts != len(shape):
        raise ShapeError(
            f"{what} of {show(shape)} needs a start index for each axis, {len(shape)}, found {starts}"
        )


def dynamic_slice(shape: Shape, starts: int, sizes: Sequence[int]) -> Shape:
    """A box of `sizes` that fits inside; its place is no matter of shapes."""
    _check_starts(shape, starts, "dynamic_slice")
    if len(sizes) != len(shape):
        raise ShapeError(f"dynamic_slice of {show(shape)} needs {len(shape)} sizes, found {len(sizes)}")
    for axis, (size, extent) in enumerate(zip(sizes, shape, strict=True)):
        if not 0 <= size <= extent:
            raise ShapeError(f"dynamic_slice of {show(shape)}: size {size} does not fit axis {axis}")
    return tuple(sizes)


def dynamic_update_slice(shape: Shape, update: Shape, starts: int) -> Shape:
    """The operand's shape, if the update fits inside."""
    _check_starts(shape, starts, "dynamic_update_slice")
    if len(update) != len(shape) or any(n > extent for n, extent in zip(update, shape, strict=True)):
        raise ShapeError(f"an update of {show(update)} does not fit into {show(shape)}")
    return shape
