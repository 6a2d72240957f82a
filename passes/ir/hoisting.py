# SPDX-License-Identifier: Apache-2.0
"""
Fills of padding that a repeat need not do again: before it, into a buffer that is kept for all iterations.

What a fill leaves behind the elements of an operand is there in the next iteration as well, if nobody else
gets the bytes in between. That costs memory, so whoever places buffers decides, and can take it back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.buffers.types import buffer_type
from tilewright.dialects.tile import AllocOp, ComputeOp, ExchangeOp, RepeatOp
from tilewright.passes.ir.neighbours import is_look


@dataclass
class Kept:
    """A buffer that is filled in a repeat, and its fills; `nbytes` on a tile."""

    repeat: RepeatOp
    alloc: AllocOp
    fills: list[ComputeOp]
    _behind: list[Operation] = field(default_factory=list[Operation])

    @property
    def nbytes(self) -> int:
        return buffer_type(self.alloc.result).shard_bytes

    def keep(self) -> None:
        """Declare and fill the buffer before the repeat."""
        for op in (self.alloc, *self.fills):
            assert op.next_op is not None
            self._behind.append(op.next_op)
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(self.repeat))

    def give_back(self) -> None:
        """Undo `keep`; of several buffers, what was kept last goes first."""
        for op in reversed((self.alloc, *self.fills)):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(self._behind.pop()))


def kept_buffers(function: FuncOp) -> list[Kept]:
    """The buffers of a function that could be filled before their repeat, the smallest first."""
    found: list[Kept] = []
    for repeat in [op for op in function.walk() if isinstance(op, RepeatOp)]:
        block = repeat.body.block
        if repeat.iterations < 2:
            continue
        for alloc in [op for op in block.ops if isinstance(op, AllocOp)]:
            fills = _fills(block, alloc.result)
            if fills:
                found.append(Kept(repeat, alloc, fills))
    return sorted(found, key=lambda kept: kept.nbytes)


def _fills(block: Block, buffer: SSAValue) -> list[ComputeOp]:
    """
    The fills of a buffer, if their words are the same whenever the buffer is read: one operation writes it
    behind them, to the same places in every iteration, and all others read it behind that. Else none.
    """
    users = {use.operation for use in buffer.uses if not is_look(use.operation)}
    if any(user.parent is not block for user in users):
        return []
    ordered = [op for op in block.ops if op in users]
    fills: list[ComputeOp] = []
    while ordered and isinstance(op := ordered[0], ComputeOp) and op.kernel.data == "fill":
        fills.append(op)
        ordered.pop(0)
    writers = [op for op in ordered if _writes(op, buffer)]
    alone = len(writers) == 1 and writers[0] is ordered[0] and not _reads(writers[0], buffer)
    return fills if alone else []


def _writes(op: Operation, buffer: SSAValue) -> bool:
    if isinstance(op, ExchangeOp):
        return any(target is buffer for _, _, target, _ in op.moves())
    return not isinstance(op, ComputeOp) or buffer in op.buffers[op.n_ins :]


def _reads(op: Operation, buffer: SSAValue) -> bool:
    if isinstance(op, ExchangeOp):
        return any(source is buffer for source, _, _, _ in op.moves())
    return not isinstance(op, ComputeOp) or buffer in op.buffers[: op.n_ins]
