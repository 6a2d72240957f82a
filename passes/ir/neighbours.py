# SPDX-License-Identifier: Apache-2.0
"""Kernel calls that follow one another: what a pass asks before it makes one call of two."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.tile import AllocOp, BindOp, ComputeOp, owner_alloc
from tilewright.planning.layout import Layout


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


def same_elements(one: Layout, axis: int, other: Layout, along: int) -> bool:
    """Whether two storage axes are divided over the tiles alike."""
    return (one.base, one.tiles, one.axes[axis].extent, one.axes[axis].splits) == (
        other.base,
        other.tiles,
        other.axes[along].extent,
        other.axes[along].splits,
    )
