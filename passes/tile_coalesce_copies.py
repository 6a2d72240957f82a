# SPDX-License-Identifier: Apache-2.0
"""
Removes local copies of whole buffers: what is copied is made where the copy would bring it.

A carried value that the body makes anew is copied to its place at the end of every iteration, because readers
of the old one may come late. Where the last of them comes before the new value is begun, it is begun in that
place. A copy is removed if both buffers are alike and full (no padding that somebody may have filled), nobody
needs the target from the first use of the source to the copy, and nobody the source behind it.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.tile import AllocOp, BindOp, ComputeOp
from tilewright.instrumentation import remark
from tilewright.passes.ir.neighbours import call_of
from tilewright.passes.ir.programs import ProgramPass
from tilewright.planning.fusing import whole_copy


@dataclass(frozen=True)
class TileCoalesceCopiesPass(ProgramPass):
    """Make values where a local copy would bring them."""

    name = "tile-coalesce-copies"

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        for copy in [o for o in op.walk() if isinstance(o, ComputeOp) and o.kernel.data == "copy"]:
            if _whole(copy) and _free(copy):
                _coalesce(copy)


def _whole(copy: ComputeOp) -> bool:
    """Whether a copy brings all of one buffer to another one like it."""
    return all(isinstance(value.owner, AllocOp) for value in copy.buffers) and whole_copy(call_of(copy))


def _free(copy: ComputeOp) -> bool:
    """Whether the source may lie in the target from its first use on."""
    source, target = copy.buffers
    block = copy.parent
    assert isinstance(source.owner, AllocOp) and isinstance(target.owner, AllocOp)
    if (
        block is None
        or source.owner.parent is not block
        or not (_bindings(source) <= {"value"} and _bindings(target) <= {"value", "output"})
    ):
        return False
    used = {_in(block, use.operation) for use in source.uses}
    needed = {_in(block, use.operation) for use in target.uses}
    found = False
    step: Operation | None = source.owner
    while (step := step.next_op) is not None and step is not copy:
        found = found or step in used
        if found and step in needed:
            return False
    behind = copy.next_op
    while behind is not None:
        if behind in used:
            return False
        behind = behind.next_op
    return found and step is copy


def _bindings(value: SSAValue) -> set[str]:
    """What the host has a buffer for."""
    return {use.operation.kind.data for use in value.uses if isinstance(use.operation, BindOp)}


def _in(block: Block, op: Operation) -> Operation | None:
    """The operation of a block that an operation is, or is part of; None if it is outside."""
    current: Operation | None = op
    while current is not None and current.parent is not block:
        current = current.parent_op()
    return current


def _coalesce(copy: ComputeOp) -> None:
    source, target = copy.buffers
    remark("fusion", f"`{copy.reason.data}`: the value is made where it is wanted", copy.location)
    made, place = source.owner, target.owner
    assert isinstance(made, AllocOp) and isinstance(place, AllocOp)
    copy.detach()
    copy.erase()
    if place.parent is made.parent:
        place.detach()
        Rewriter.insert_op(place, InsertPoint.before(made))
    source.replace_all_uses_with(target)
    made.detach()
    made.erase()
