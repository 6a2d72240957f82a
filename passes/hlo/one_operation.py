# SPDX-License-Identifier: Apache-2.0
"""What the lowering of one operation is written with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.hlo.operations import HloOperation
from tilewright.dialects.hlo.values import dense_of, rounded
from tilewright.dialects.tensor.shapes import broadcast_pair
from tilewright.passes.hlo.rewriting import element_of, shape_of, splat_of


class NoLowering(Exception):
    """Why one operation cannot be lowered."""


class OneOperation:
    """An operation of the middle form, and how to write in front of it what it becomes."""

    def __init__(self, op: HloOperation) -> None:
        self.op = op
        self.result = cast("TensorType[Attribute]", op.results[0].type) if op.results else None
        self.shape: tuple[int, ...] = self.result.get_shape() if self.result is not None else ()
        self.element: Any = self.result.element_type if self.result is not None else None

    def add(self, op: Operation) -> SSAValue:
        """
        Insert an operation in front, with the location of the one that is lowered. Raises `NoLowering` where
        the tensor dialect refuses it.
        """
        op.location = self.op.location
        try:
            op.verify_()
        except VerifyException as error:
            raise NoLowering(str(error)) from error
        Rewriter.insert_op(op, InsertPoint.before(self.op))
        return op.results[0]

    def constant(self, array: np.ndarray, element: Attribute) -> SSAValue:
        """A constant, rounded to its element type."""
        return self.add(tt.ConstantOp(dense_of(rounded(np.asarray(array), element), element)))

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A value in another shape."""
        return value if shape_of(value) == tuple(shape) else self.add(tt.ReshapeOp(value, shape))

    def transpose(self, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
        """A value with its axes in another order."""
        if list(permutation) == sorted(permutation):
            return value
        return self.add(tt.TransposeOp(value, list(permutation)))

    def small(self, value: SSAValue) -> SSAValue:
        """An operand of an operation that broadcasts as numpy does, without axes that only repeat it."""
        number = splat_of(value)
        if number is not None:
            rank1 = [1] if shape_of(value) else []
            return self.constant(np.full(rank1, number), element_of(value))
        made = value.owner
        if isinstance(made, HloOperation) and made.kind == "broadcast_in_dim":
            source, dimensions = made.operands[0], made.get("dimensions")
            rank = len(shape_of(value))
            order = sorted(range(len(dimensions)), key=lambda i: dimensions[i])
            extents = [1] * rank
            for i, axis in enumerate(dimensions):
                extents[axis] = shape_of(source)[i]
            while len(extents) > 1 and extents[0] == 1:
                extents.pop(0)
            return self.reshape(self.transpose(source, order), extents)
        return value

    def operands(self) -> list[SSAValue]:
        """The operands of an operation on each element; together they have the result's shape."""
        values = [self.small(value) for value in self.op.operands]
        shape: tuple[int, ...] = ()
        for value in values:
            shape = broadcast_pair(shape, shape_of(value))
        if shape != self.shape:
            largest = max(range(len(values)), key=lambda i: len(shape_of(values[i])))
            values[largest] = self.widened(values[largest], self.shape)
        return values

    def widened(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A value that is broadcast as numpy does, with all its axes."""
        rank = len(shape_of(value))
        dimensions = list(range(len(shape) - rank, len(shape)))
        return self.add(tt.BroadcastOp(value, list(shape), dimensions))

    @property
    def saturation(self) -> dict[str, Any]:
        """The argument that keeps an 8-bit float result from saturating."""
        return {"saturate": False} if tt.is_float8(self.element) else {}


Rule = Callable[[OneOperation], SSAValue]
"""The lowering of one kind of operation. Raises `NoLowering`."""
