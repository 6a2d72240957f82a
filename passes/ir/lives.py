# SPDX-License-Identifier: Apache-2.0
"""
When the buffers of a function are alive: events, the lives between them, and how a person calls an operation.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from tilewright.dialects.tile import (
    AllocOp,
    BindOp,
    BufferType,
    ComputeOp,
    ExchangeOp,
    RepeatOp,
    owner_alloc,
)


class Events:
    """Numbers the operations of a function in program order; a repeat spans the numbers of its body."""

    def __init__(self, function: FuncOp) -> None:
        self.count = 1
        self.spans: dict[Operation, tuple[int, int]] = {}
        self.labels: list[tuple[int, str]] = [(0, "loading")]
        self._block(function.body.block)
        self.labels.append((self.count, "end of the program"))

    def _block(self, block: Block) -> None:
        for op in block.ops:
            start = self.count
            self.count += 1
            if isinstance(op, (ComputeOp, ExchangeOp, RepeatOp)):
                self.labels.append((start, op_text(op)))
            for region in op.regions:
                for inner in region.blocks:
                    self._block(inner)
            self.spans[op] = (start, self.count - 1)

    def needed(self, op: Operation, alloc: AllocOp) -> tuple[int, int]:
        """
        The events at which `op` needs a buffer of `alloc`: all of every repeat around it that the buffer
        outlives.
        """
        span = self.spans[op]
        block = alloc.parent_block()
        current: Operation | None = op
        while current is not None and current.parent_block() is not block:
            current = current.parent_op()
            if current is not None and current in self.spans:
                span = self.spans[current]
        return span


@dataclass(frozen=True)
class Life:
    """Events of a buffer, and why it is alive in between."""

    first: int
    last: int
    reason: str


def buffer_lives(function: FuncOp, events: Events) -> dict[AllocOp, Life]:
    """The life of every buffer."""
    first: dict[AllocOp, int] = {}
    last: dict[AllocOp, int] = {}
    makers: dict[AllocOp, Operation] = {}
    readers: dict[AllocOp, Operation] = {}
    kinds: dict[AllocOp, set[str]] = {}  # a parameter or input that is returned is an output too
    repeats: dict[AllocOp, RepeatOp] = {}
    allocs: list[AllocOp] = []
    for op in function.walk():
        if isinstance(op, AllocOp):
            allocs.append(op)
            continue
        if isinstance(op, RepeatOp):
            for value in op.sequences:
                repeats.setdefault(owner_alloc(value)[0], op)
        for value in op.operands:
            if not isinstance(value.type, BufferType):
                continue
            alloc, _ = owner_alloc(value)
            lo, hi = events.needed(op, alloc)
            if lo < first.get(alloc, events.count + 1):
                first[alloc], makers[alloc] = lo, op
            if hi >= last.get(alloc, -1):
                last[alloc], readers[alloc] = hi, op
            if isinstance(op, BindOp) and op.kind.data != "value":
                kinds.setdefault(alloc, set()).add(op.kind.data)
            around = op.parent_op()
            if isinstance(around, RepeatOp) and around is not alloc.parent_op():
                repeats.setdefault(alloc, around)
    lives: dict[AllocOp, Life] = {}
    for alloc in allocs:
        lo, hi = first.get(alloc, events.spans[alloc][0]), last.get(alloc, events.spans[alloc][0])
        kind = kinds.get(alloc, set())
        if resident := next((k for k in ("parameter", "constant") if k in kind), None):
            repeat = repeats.get(alloc)
            through = (
                f", read by every iteration of repeat '{repeat.repeat_name.data}'"
                if repeat is not None
                else ""
            )
            lives[alloc] = Life(0, events.count, f"resident {resident}{through}")
            continue
        maker, reader = makers.get(alloc), readers.get(alloc)
        made = (
            "an input"
            if "input" in kind
            else f"made by {op_text(maker)}"
            if maker is not None
            else "never used"
        )
        read = (
            "an output"
            if "output" in kind
            else f"needed until {op_text(reader)}"
            if reader is not None
            else ""
        )
        if (repeat := repeats.get(alloc)) is not None and "output" not in kind:
            read += f", in all of repeat '{repeat.repeat_name.data}'"
        lives[alloc] = Life(
            0 if "input" in kind else lo,
            events.count if "output" in kind else hi,
            ", ".join(t for t in (made, read) if t),
        )
    return lives


def instruction_lives(function: FuncOp) -> dict[AllocOp, tuple[int, int]]:
    """
    For every buffer the numbers of the first and last instruction of the lowered program that need it, as
    `Program.instructions` counts them; -1 for what is there from loading on, the number of instructions for
    what is read back.
    """
    events = Events(function)
    started = [0] * (events.count + 2)  # instructions that start before each event
    for op, (start, _) in events.spans.items():
        if isinstance(op, (ComputeOp, ExchangeOp, RepeatOp)) or (
            isinstance(op, BindOp) and op.kind.data == "value"
        ):
            started[start + 1] += 1
    for event in range(1, len(started)):
        started[event] += started[event - 1]
    lives: dict[AllocOp, tuple[int, int]] = {}
    for alloc, life in buffer_lives(function, events).items():
        first = -1 if life.first == 0 else started[life.first]
        last = started[-1] if life.last >= events.count else started[life.last + 1] - 1
        lives[alloc] = (first, max(first, last))
    return lives


def op_text(op: Operation) -> str:
    """An operation as a person knows it."""
    match op:
        case ComputeOp():
            text = f"{op.kernel.data}" + (f" ({op.reason.data})" if op.reason.data else "")
        case ExchangeOp():
            text = f"exchange ({op.reason.data})"
        case RepeatOp():
            text = f"repeat '{op.repeat_name.data}'"
        case BindOp():
            text = f"{op.kind.data} {', '.join(op.names[:1])}".strip()
        case _:
            text = op.name
    where = source_text(op)
    return f"{text} at {where}" if where else text


def source_text(op: Operation) -> str:
    """file:line:col of an operation (of an inlined one, in the function that was called), or nothing."""
    location = op.location
    while isinstance(location, CallSiteLoc):
        location = location.callee
    if isinstance(location, FileLineColLoc):
        return f"{location.filename.data}:{location.line.data}:{location.column.data}"
    return ""
