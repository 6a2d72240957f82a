# SPDX-License-Identifier: Apache-2.0
"""
Result shapes of the operations of the middle form, from operand shapes and attributes as plain data.

Each function takes `(shapes, attributes)` and returns the result's shape or raises `ShapeError`. StableHLO's
rules, for static shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from tilewright.dialects.tensor.shapes import Shape, ShapeError, show

Attributes = Mapping[str, Any]
Rule = Callable[[Sequence[Shape], Attributes], Shape]


def _axes(axes: Sequence[int], rank: int, what: str) -> None:
    for axis in axes:
        if not 0 <= axis < rank:
            raise ShapeError(f"{what} {axis} is out of range for rank {rank}")
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{what}s must be distinct, found {list(axes)}")


def _per_axis(shape: Shape, **lists: Sequence[int]) -> None:
    for name, entries in lists.items():
        if len(entries) != len(shape):
            raise ShapeError(f"{name} needs {len(shape)} entries for {show(shape)}, found {len(entries)}")


def same(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    for shape in shapes:
        if shape != shapes[0]:
            raise ShapeError(f"operands must have one shape, found {show(shapes[0])} and {show(shape)}")
    return shapes[0]


def select(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    predicate, on_true, on_false = shapes
    if on_true != on_false or predicate not in ((), on_true):
        raise ShapeError(f"select of {show(on_true)} and {show(on_false)} by {show(predicate)}")
    return on_true


def clamp(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    low, operand, high = shapes
    if low not in ((), operand) or high not in ((), operand):
        raise ShapeError(f"clamp of {show(operand)} between {show(low)} and {show(high)}")
    return operand


def transpose(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    (shape,), permutation = shapes, attributes["permutation"]
    if sorted(permutation) != list(range(len(shape))):
        raise ShapeError(f"{list(permutation)} is not a permutation of the axes of {show(shape)}")
    return tuple(shape[axis] for axis in permutation)


def slice_(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    (shape,) = shapes
    start, limit, strides = attributes["start"], attributes["limit"], attributes["strides"]
    _per_axis(shape, start=start, limit=limit, strides=strides)
    for extent, a, b, step in zip(shape, start, limit, strides, strict=True):
        if not 0 <= a <= b <= extent or step < 1:
            raise ShapeError(f"slice [{a}, {b}) by {step} of an axis of {extent}")
    return tuple(-(-(b - a) // step) for a, b, step in zip(start, limit, strides, strict=True))


def concatenate(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    axis = attributes["dimension"]
    if not shapes:
        raise ShapeError("concatenate needs an operand")
    first = shapes[0]
    _axes([axis], len(first), "dimension")
    for shape in shapes:
        if shape[:axis] + shape[axis + 1 :] != first[:axis] + first[axis + 1 :]:
            raise ShapeError(f"concatenate of {show(first)} and {show(shape)} along axis {axis}")
    return (*first[:axis], sum(shape[axis] for shape in shapes), *first[axis + 1 :])


def pad(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    shape, low, high, interior = shapes[0], attributes["low"], attributes["high"], attributes["interior"]
    _per_axis(shape, low=low, high=high, interior=interior)
    if shapes[1] != ():
        raise ShapeError(f"the padding value is a scalar, found {show(shapes[1])}")
    result = tuple(
        a + n + max(n - 1, 0) * i + b for n, a, b, i in zip(shape, low, high, interior, strict=True)
    )
    if min(result, default=0) < 0 or min(interior, default=0) < 0:
        raise ShapeError(f"pad of {show(shape)} leaves {list(result)}")
    return result


def reduce(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    (shape,), axes = shapes, attributes["dimensions"]
    _axes(axes, len(shape), "dimension")
    return tuple(extent for axis, extent in enumerate(shape) if axis not in axes)


def along(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    """An operation along `dimension` that keeps the shape."""
    _axes([attributes["dimension"]], len(shapes[0]), "dimension")
    return shapes[0]


def top_k(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    (shape,), count = shapes, attributes["count"]
    if not shape or not 0 <= count <= shape[-1]:
        raise ShapeError(f"the largest {count} of {show(shape)}")
    return (*shape[:-1], count)


def arg_reduce(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    return reduce(shapes, {"dimensions": [attributes["dimension"]]})


def reverse(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    _axes(attributes["dimensions"], len(shapes[0]), "dimension")
    return shapes[0]


def take(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    table, indices = shapes
    axis = attributes["axis"]
    _axes([axis], len(table), "axis")
    return (*table[:axis], *indices, *table[axis + 1 :])


def dynamic_slice(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    shape, sizes = shapes[0], attributes["sizes"]
    _per_axis(shape, sizes=sizes, starts=range(len(shapes) - 1))
    if any(index != () for index in shapes[1:]):
        raise ShapeError("starts are scalars")
    if any(not 0 <= size <= extent for size, extent in zip(sizes, shape, strict=True)):
        raise ShapeError(f"sizes {list(sizes)} do not fit {show(shape)}")
    return tuple(sizes)


def dynamic_update_slice(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    dynamic_slice([shapes[0], *shapes[2:]], {"sizes": shapes[1]})
    return shapes[0]


def free_axes(rank: int, *taken: Sequence[int]) -> list[int]:
    """The axes that are in none of the lists, ascending."""
    used = {axis for axes in taken for axis in axes}
    return [axis for axis in range(rank) if axis not in used]


def dot_general(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    lhs, rhs = shapes
    lb, rb = attributes["lhs_batching"], attributes["rhs_batching"]
    lc, rc = attributes["lhs_contracting"], attributes["rhs_contracting"]
    _axes([*lb, *lc], len(lhs), "dimension of the left operand")
    _axes([*rb, *rc], len(rhs), "dimension of the right operand")
    for what, left, right in (("batching", lb, rb), ("contracting", lc, rc)):
        if [lhs[axis] for axis in left] != [rhs[axis] for axis in right]:
            raise ShapeError(f"{what} dimensions {left} of {show(lhs)} and {right} of {show(rhs)} differ")
    return (
        *(lhs[axis] for axis in lb),
        *(lhs[axis] for axis in free_axes(len(lhs), lb, lc)),
        *(rhs[axis] for axis in free_axes(len(rhs), rb, rc)),
    )


def window(extent: int, size: int, low: int, high: int, stride: int, dilation: int, base: int) -> int:
    """How many windows fit on one axis."""
    padded = low + (extent - 1) * base + 1 + high if extent else low + high
    reach = (size - 1) * dilation + 1
    return max((padded - reach) // stride + 1, 0) if padded >= reach else 0


def convolution(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    """
    `input_layout`, `kernel_layout`, `output_layout`: the axes of batch (or output feature), feature (or input
    feature), then the spatial ones.
    """
    operand, kernel = shapes
    at_in, at_kernel, at_out = (attributes[f"{name}_layout"] for name in ("input", "kernel", "output"))
    spatial = len(operand) - 2
    for shape, layout in ((operand, at_in), (kernel, at_kernel), (operand, at_out)):
        if len(layout) != len(shape) or sorted(layout) != list(range(len(shape))):
            raise ShapeError(f"{list(layout)} is no layout of {show(shape)}")
    groups, batch_groups = attributes["feature_groups"], attributes["batch_groups"]
    if operand[at_in[1]] != kernel[at_kernel[1]] * groups:
        raise ShapeError(
            f"{operand[at_in[1]]} input features, {kernel[at_kernel[1]]} of the kernel in {groups} groups"
        )
    result = [0] * len(operand)
    result[at_out[0]] = operand[at_in[0]] // batch_groups
    result[at_out[1]] = kernel[at_kernel[0]]
    for i in range(spatial):
        low, high = attributes["padding"][2 * i : 2 * i + 2]
        result[at_out[2 + i]] = window(
            operand[at_in[2 + i]],
            kernel[at_kernel[2 + i]],
            low,
            high,
            attributes["strides"][i],
            attributes["kernel_dilation"][i],
            attributes["input_dilation"][i],
        )
    return tuple(result)


def reduce_window(shapes: Sequence[Shape], attributes: Attributes) -> Shape:
    (shape,) = shapes
    size, strides, dilation = attributes["window"], attributes["strides"], attributes["dilation"]
    _per_axis(shape, window=size, strides=strides, dilation=dilation)
    padding = attributes["padding"]
    return tuple(
        window(n, size[i], padding[2 * i], padding[2 * i + 1], strides[i], dilation[i], 1)
        for i, n in enumerate(shape)
    )


def check_broadcast(shape: Shape, dimensions: Sequence[int], result: Shape) -> None:
    """Operand axis i becomes result axis `dimensions[i]`, of equal extent or 1."""
    if len(dimensions) != len(shape):
        raise ShapeError(f"broadcast of {show(shape)} needs {len(shape)} dimensions, found {len(dimensions)}")
    _axes(dimensions, len(result), "dimension")
    for extent, axis in zip(shape, dimensions, strict=True):
        if extent not in (1, result[axis]):
            raise ShapeError(f"{show(shape)} cannot be broadcast to {show(result)} by {list(dimensions)}")


def check_reshape(shape: Shape, result: Shape) -> None:
    if prod(shape) != prod(result):
        raise ShapeError(f"reshape of {show(shape)} to {show(result)}")
