# SPDX-License-Identifier: Apache-2.0
"""Kernel calls that follow one another: what a pass asks before it makes one call of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.buffers.types import buffer_type
from tilewright.dialects.tile import AllocOp, BindOp, ComputeOp, owner_alloc
from tilewright.planning.fusing import Call, Operand


def call_of(op: ComputeOp) -> Call:
    """A kernel call without IR, for the rules of `planning/fusing.py`."""
    operands: list[Operand] = []
    for value, axes in op.operand_maps():
        kind = buffer_type(value)
        operands.append(Operand(value, kind.dtype, kind.layout, kind.count, axes))
    ins, outs = tuple(operands[: op.n_ins]), tuple(operands[op.n_ins :])
    return Call(op.kernel.data, tuple(op.axes.data.split()), ins, outs, dict(op.scalar_values()), op)


def call_before(operand: Operand, call: Call) -> Call | None:
    """The call that makes an operand for `call` alone (`made_for`)."""
    value: Any = operand.buffer
    before = made_for(value, call.origin)
    return None if before is None else call_of(before)


def put_call(last: ComputeOp, call: Call, gone: Sequence[ComputeOp], named: ComputeOp) -> None:
    """One call in the place of the last of those that it replaces, `named` and located as one of them."""

    def maps(operands: Sequence[Operand]) -> list[tuple[Any, dict[str, int]]]:
        return [(operand.buffer, dict(operand.axes)) for operand in operands]

    reason, scalars = named.reason.data, tuple(call.scalars.items())
    fused = ComputeOp(call.kernel, call.axes, maps(call.ins), maps(call.outs), scalars, reason)
    fused.location = named.location
    Rewriter.insert_op(fused, InsertPoint.before(last))
    erase_calls(last, *gone, values=tuple(op.buffers[-1] for op in gone))


def made_for(value: SSAValue, call: ComputeOp) -> ComputeOp | None:
    """
    The call that makes an operand for `call` alone, if it may as well be made where `call` is: both are in
    one phase, and nothing between them writes what it reads. None if there is no such call.
    """
    users = [use.operation for use in value.uses if not is_look(use.operation)]
    others = [user for user in users if user is not call]
    if not isinstance(value.owner, AllocOp) or len(users) != 2 or len(others) != 1:
        return None
    (before,) = others
    if (
        not isinstance(before, ComputeOp)
        or before.parent is not call.parent
        or value not in before.buffers[before.n_ins :]
    ):
        return None
    read = {owner_alloc(x)[0] for x in before.buffers[: before.n_ins]}
    step = before.next_op
    while step is not None and step is not call:
        if not isinstance(step, (AllocOp, BindOp, ComputeOp)):
            return None
        if isinstance(step, ComputeOp) and read & {owner_alloc(x)[0] for x in step.buffers[step.n_ins :]}:
            return None
        step = step.next_op
    return before if step is call else None


def is_look(op: Operation) -> bool:
    """Whether an operation is there so that a value can be looked at: one that is not stored cannot be."""
    return isinstance(op, BindOp) and op.kind.data == "value"


def erase_calls(*calls: ComputeOp, values: tuple[SSAValue, ...]) -> None:
    """Remove calls that another one replaces, with the buffers between them and the looks at those."""
    looks = [use.operation for value in values for use in value.uses if is_look(use.operation)]
    for op in (*calls, *looks, *(value.owner for value in values)):
        assert isinstance(op, Operation)
        op.detach()
        op.erase()
