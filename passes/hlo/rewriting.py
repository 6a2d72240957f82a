# SPDX-License-Identifier: Apache-2.0
"""Replacing operations of the middle form: places, locations, what is dead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp, UnknownLoc, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from tilewright.dialects.hlo.operations import HloOperation, make, tensor_of
from tilewright.dialects.hlo.values import array_of, dense_of
from tilewright.dialects.tile_tensor import TensorOperation


def name_of(op: Operation) -> str:
    """`dialect.name`, for unregistered operations as well."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def functions_of(module: ModuleOp) -> list[FuncOp]:
    """The functions with one block below a module."""
    return [op for op in module.walk() if isinstance(op, FuncOp) and len(op.body.blocks) == 1]


def middle_functions(module: ModuleOp) -> list[FuncOp]:
    """The functions that hold operations of the middle form."""
    return [f for f in functions_of(module) if any(isinstance(op, HloOperation) for op in f.walk())]


def blocks_of(function: FuncOp) -> Iterator[Block]:
    """All blocks of a function, inner ones first."""

    def below(block: Block) -> Iterator[Block]:
        for op in block.ops:
            for region in op.regions:
                for inner in region.blocks:
                    yield from below(inner)
        yield block

    yield from below(function.body.block)


class Emitter:
    """Makes operations in front of one that they will replace, with its location."""

    def __init__(self, before: Operation) -> None:
        self.before = before

    def add(self, op: Operation) -> SSAValue:
        """Insert an operation; its first result."""
        if isinstance(op.location, UnknownLoc):
            op.location = self.before.location
        Rewriter.insert_op(op, InsertPoint.before(self.before))
        return op.results[0]

    def op(self, name: str, operands: Sequence[SSAValue | Operation] = (), **attributes: Any) -> SSAValue:
        """Make and insert an operation of the middle form."""
        return self.add(make(name, operands, **attributes))

    def scalar(self, value: Any, element: Any) -> SSAValue:
        """A constant without axes."""
        import numpy as np

        from tilewright.dialects.hlo.values import rounded

        return self.add(make("constant", value=dense_of(rounded(np.asarray(value), element), element)))

    def splat(self, value: Any, element: Any, shape: Sequence[int]) -> SSAValue:
        """One value everywhere."""
        scalar = self.scalar(value, element)
        return self.op("broadcast_in_dim", [scalar], shape=shape, dimensions=[]) if len(shape) else scalar

    def replace(self, *values: SSAValue) -> None:
        """Put values in place of the results and remove the operation."""
        replace(self.before, *values)


def replace(op: Operation, *values: SSAValue) -> None:
    """Put values in place of an operation's results and remove it."""
    for old, new in zip(op.results, values, strict=True):
        if old.name_hint is not None and new.name_hint is None and not isinstance(new, BlockArgument):
            new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    Rewriter.erase_op(op)


def remove_dead(block: Block) -> bool:
    """Erase operations without effects whose results nobody reads; whether there were any."""
    changed = False
    for op in reversed(list(block.ops)):
        ours = isinstance(op, HloOperation | TensorOperation)
        if ours and op.results and not any(r.uses for r in op.results) and is_side_effect_free(op):
            Rewriter.erase_op(op)
            changed = True
    return changed


def owner(value: SSAValue, *kinds: str) -> HloOperation | None:
    """The operation of the middle form that makes a value, if it is one of `kinds` (any without)."""
    made = value.owner
    if isinstance(made, HloOperation) and (not kinds or made.kind in kinds):
        return made
    return None


def constant_of(value: SSAValue) -> Any:
    """The array of a constant; None for any other value."""
    made = owner(value, "constant")
    return None if made is None else array_of(made.attributes["value"])  # pyright: ignore[reportArgumentType]


def splat_of(value: SSAValue) -> Any:
    """The number that a value holds everywhere, as a numpy scalar; None where that is not known."""
    made = value.owner
    if isinstance(made, HloOperation):
        if made.kind in ("broadcast_in_dim", "reshape", "transpose"):
            return splat_of(made.operands[0])
        if made.kind == "constant":
            array = array_of(made.attributes["value"])  # pyright: ignore[reportArgumentType]
            if array.size == 1:
                return array.reshape(())[()]
    return None


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """A value's shape."""
    return tensor_of(value).get_shape()


def element_of(value: SSAValue) -> Any:
    """A value's element type."""
    return tensor_of(value).element_type
