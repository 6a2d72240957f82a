# SPDX-License-Identifier: Apache-2.0
"""
What is added to a product: the addend that its sum begins with, and those behind the partial products.
"""

from __future__ import annotations

import dataclasses

from tilewright.machine.dtypes import itemsize
from tilewright.planning.exchange.copies import choose_move
from tilewright.planning.layout import Layout, View
from tilewright.planning.operators.base import Operator
from tilewright.planning.operators.builder import Builder, with_lanes
from tilewright.planning.operators.matmul.shape import Shape
from tilewright.planning.operators.pointwise import broadcast_target, kept_axes
from tilewright.planning.operators.targets import Target


def first_addend(operator: Operator) -> int | None:
    """The operand that a sum begins with: the first addend of the result's shape, else the first one."""
    shapes = [shape for shape, _ in operator.operand_types]
    whole = [i for i in range(2, len(shapes)) if shapes[i] == operator.result_shape]
    return whole[0] if whole else 2 if len(shapes) > 2 else None


def further_addends(operator: Operator) -> list[int]:
    """The operands that are added behind the partial products, in this order."""
    own = first_addend(operator)
    return [i for i in range(2, len(operator.operand_types)) if i != own]


def axes_of(layout: Layout) -> dict[str, int]:
    """Kernel axes of a result's storage axes."""
    return {f"x{i}": i for i in range(len(layout.axes))}


def addend_axes(layout: Layout, view: View, operator: Operator, index: int) -> dict[str, int]:
    """Kernel axes of an addend beside the result: the axes that a vector does not have are -1."""
    shape = operator.operand_types[index][0]
    if broadcast_target(layout, view, shape, operator.result_shape) is None:
        return axes_of(layout)
    return kept_axes(layout, view, shape, operator.result_shape)


def in_full(builder: Builder, index: int, layout: Layout, view: View) -> tuple[str, View, Target]:
    """A vector that is sent for every row."""
    source = builder.operands[index].view.broadcast(
        builder.operator.result_shape, (len(builder.operator.result_shape) - 1,)
    )
    assert source is not None
    return f"in{index}", source, (layout, view)


def slot_of(
    builder: Builder, index: int, shape: Shape, view: View, room: Layout, place: int
) -> tuple[str, View, View] | None:
    """The move of a further addend to its place behind the partials; None where it cuts words."""
    value = builder.operands[index]
    if value.dtype != shape.partial:
        return None
    full = builder.operator.result_shape
    source = value.view.broadcast(full, tuple(range(len(full) - len(value.shape), len(full))))
    if source is None:
        return None
    if not view.is_bijection(room.shape[1:]):
        size, result = itemsize(value.dtype), without_parts(room)
        source, view = with_lanes(source, value.layout, view, result, size)
        if not view.is_bijection(result.shape):
            return None
    target = behind(view, place, 0)
    found = choose_move([(value.layout, source, target)], room, value.dtype)
    return (f"in{index}", source, target) if found.kind == "words" else None


def without_parts(room: Layout) -> Layout:
    """The layout of one of the terms that lie along the first axis of a room."""
    order = tuple((axis - 1, level) for axis, level in room.order if axis)
    return dataclasses.replace(room, axes=room.axes[1:], order=order)


def behind(view: View, place: int, count: int) -> View:
    """A view of a result in a buffer of several: of one at `place`, or with `count` of them as first axis."""
    digits = tuple(
        tuple((size, axis if axis < 0 else axis + 1, stride) for size, axis, stride in ds)
        for ds in view.digits
    )
    if count:
        return View((count, *view.shape), (((count, 0, 1),), *digits), (0, *view.offsets))
    return View(view.shape, digits, (place, *view.offsets))
