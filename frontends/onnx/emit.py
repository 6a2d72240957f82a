# SPDX-License-Identifier: Apache-2.0
"""Writing the middle form as numpy would be written: broadcasting, kept axes, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.hlo.operations import tensor_of
from tilewright.dialects.hlo.values import is_floating
from tilewright.frontends.middle import ModelBuilder


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """A value's shape."""
    return tensor_of(value).get_shape()


def element_of(value: SSAValue) -> Attribute:
    """A value's element type."""
    return tensor_of(value).element_type


class Unsupported(Exception):
    """Why a node has no meaning here."""


class Emit:
    """What the rules write with; `build` is the model."""

    def __init__(self, build: ModelBuilder) -> None:
        self.build = build

    def op(self, name: str, *operands: SSAValue, **attributes: Any) -> SSAValue:
        """An operation of the middle form."""
        return self.build.op(name, list(operands), **attributes)

    def composite(self, kind: type[Operation], *arguments: Any, **options: Any) -> SSAValue:
        """
        An operation of the tensor dialect, by its class and arguments. Raises `ValueError` where they do not
        fit, `Unsupported` where the dialect has no such form.
        """
        made = kind(*arguments, **options)
        try:
            made.verify_()
        except VerifyException as error:
            raise Unsupported(str(error)) from error
        self.build.add(made)
        return made.results[0]

    def number(self, value: Any, like: SSAValue) -> SSAValue:
        """One number in the shape and element type of another value."""
        return self.broadcast(self.build.constant(value, element_of(like)), shape_of(like))

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in another shape."""
        return value if shape_of(value) == tuple(shape) else self.op("reshape", value, shape=list(shape))

    def transpose(self, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
        """Axes in another order."""
        order = list(permutation)
        return value if order == sorted(order) else self.op("transpose", value, permutation=order)

    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A value in a larger shape, as numpy broadcasts. Raises `ValueError`."""
        before = shape_of(value)
        if before == tuple(shape):
            return value
        if np.broadcast_shapes(before, tuple(shape)) != tuple(shape):
            raise ValueError(f"a value of shape {list(before)} does not broadcast to {list(shape)}")
        lead = len(shape) - len(before)
        kept = [i for i, extent in enumerate(before) if extent == shape[lead + i] and extent != 1]
        narrow = self.reshape(value, [before[i] for i in kept])
        return self.op("broadcast_in_dim", narrow, shape=list(shape), dimensions=[lead + i for i in kept])

    def together(self, *values: SSAValue) -> list[SSAValue]:
        """Values in their common shape."""
        shape = np.broadcast_shapes(*(shape_of(value) for value in values))
        return [self.broadcast(value, shape) for value in values]

    def binary(self, name: str, a: SSAValue, b: SSAValue, **attributes: Any) -> SSAValue:
        """An operation on each element of two values that are broadcast."""
        return self.op(name, *self.together(a, b), **attributes)

    def with_number(self, name: str, a: SSAValue, number: Any) -> SSAValue:
        """An operation of each element and a number."""
        return self.op(name, a, self.number(number, a))

    def convert(self, value: SSAValue, element: Attribute) -> SSAValue:
        """Another element type; 8-bit floats do not saturate."""
        return value if element_of(value) == element else self.op("convert", value, element=element)

    def reduce(self, value: SSAValue, kind: str, axes: Sequence[int], keep: bool = True) -> SSAValue:
        """A reduction; with `keep` its axes stay with extent 1."""
        if not axes:
            return value
        shape = shape_of(value)
        found = self.op("reduce", value, kind=kind, dimensions=sorted(axes))
        return self.reshape(found, [1 if i in axes else n for i, n in enumerate(shape)]) if keep else found

    def mean(self, value: SSAValue, axes: Sequence[int], keep: bool = True) -> SSAValue:
        """The mean along axes."""
        total = self.reduce(value, "sum", axes, keep)
        return self.with_number("divide", total, prod(shape_of(value)[a] for a in axes))

    def cut(self, value: SSAValue, axis: int, start: int, stop: int) -> SSAValue:
        """[start, stop) of one axis."""
        shape = shape_of(value)
        if (start, stop) == (0, shape[axis]):
            return value
        return self.op(
            "slice",
            value,
            start=[start if i == axis else 0 for i in range(len(shape))],
            limit=[stop if i == axis else n for i, n in enumerate(shape)],
            strides=[1] * len(shape),
        )

    def lowest(self, like: SSAValue) -> Any:
        """The neutral number of a maximum."""
        from tilewright.dialects.hlo.values import lowest

        return lowest(element_of(like), "max")

    def floating(self, value: SSAValue) -> bool:
        """Whether a value holds floats."""
        return is_floating(element_of(value))


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front. Raises `ValueError`."""
    if not -rank <= axis < max(rank, 1):
        raise ValueError(f"there is no axis {axis} of {rank}")
    return axis + rank if axis < 0 else axis
