# SPDX-License-Identifier: Apache-2.0
"""Places every buffer, exchange row, argument table and kernel in tile memory.

Code and rows go to whole elements of the executable region first (an exchange may neither send from nor receive into the element
it executes from); buffers take the rest by first fit, with the element separation that kernels and exchanges demand. A
buffer lives from its first to its last use; what is used in a repeat but made outside of it lives through the whole repeat, and
parameters live for ever.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tilewright.diagnostics import TileError
from tilewright.dialects.entry import entry_function
from tilewright.dialects.tile import AllocOp, BindOp, ComputeOp, ExchangeOp, RepeatOp, buffer_type, owner_alloc
from tilewright.machine import Machine
from tilewright.machine.kernels import kernel
from tilewright.passes.exchange_ir import phase_buffers, phase_schedule
from tilewright.passes.tensor_ir import machine_of
from tilewright.planning.allocation import AllocationError, Problem, Request, allocate, verify
from tilewright.planning.operators.base import round_up

SUPPORT = "tile.support"


@dataclass(frozen=True)
class TileAllocateMemoryPass(ModulePass):
    """Place buffers, rows, tables and code."""

    name = "tile-allocate-memory"
    machine: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op, self.machine)
        function = entry_function(op)
        support, free = place_support(function, machine)
        function.attributes[SUPPORT] = DictionaryAttr({k: IntegerAttr(v, i64) for k, v in support.items()})
        problem, allocs = memory_problem(function, machine, free)
        try:
            addresses = allocate(problem, machine)
        except AllocationError as error:
            error.location = allocs[error.request].location
            raise
        faults = verify(problem, addresses, machine)
        if faults:
            raise TileError("the allocator placed buffers illegally", notes=faults[:10])
        for alloc, address in zip(allocs, addresses, strict=True):
            alloc.properties["address"] = IntegerAttr(address, i64)
            alloc.properties["stride"] = IntegerAttr(member_stride(alloc), i64)


def member_stride(alloc: AllocOp) -> int:
    """Bytes from one member of a sequence to the next (and of a single buffer, rounded)."""
    return round_up(max(buffer_type(alloc.result).shard_bytes, 4), 16)


# -- support: what the machine executes and the tables it reads ------------------------------------------------------------------


def place_support(function: FuncOp, machine: Machine) -> tuple[dict[str, int], tuple[tuple[int, int], ...]]:
    """Addresses of code, supervisor program, argument area and rows, and the ranges left for buffers.

    Rows sit in the executable region, in elements that hold no buffer. Sets `row_address` on every exchange.
    """
    region = next(r for r in machine.regions if r.executable)
    kernels = sorted({op.kernel.data for op in function.walk() if isinstance(op, ComputeOp)})
    phases = [op for op in function.walk() if isinstance(op, ExchangeOp)]
    items: list[tuple[str, int]] = [(f"code {k}", kernel(k).code_bytes) for k in kernels]
    items.append(("supervisor", 4 * sum(_instruction_words(op) for op in function.walk()) + machine.fetch_guard_bytes))
    items.append(("arguments", 4 * sum(_argument_words(op) for op in function.walk())))
    items.append(("patches", 4 * sum(_patch_words(op, machine) for op in function.walk())))
    ranges = [r for r in machine.available(region.name)]
    support: dict[str, int] = {}
    cursors = [a for a, _ in ranges]
    ends = [b for _, b in ranges]

    def take(name: str, nbytes: int, location: object) -> int:
        for i in reversed(range(len(ranges))):
            at = round_up(cursors[i], 8)
            if at + nbytes <= ends[i]:
                cursors[i] = at + nbytes
                return at
        used = sum(c - a for (a, _), c in zip(ranges, cursors, strict=True))
        room = sum(b - a for a, b in ranges)
        raise TileError(
            f"code and exchange rows do not fit the executable region of {machine.name}: {name} needs {nbytes} bytes",
            location=location,
            notes=(f"{used} of {room} bytes of the region are taken",),
            hint="fewer or larger exchange messages make shorter rows",
        )

    for name, nbytes in items:
        support[name] = take(name, nbytes, function.location)
    total = 0
    for phase in phases:
        if phase.row_bytes is None:
            raise TileError("an exchange has no rows yet", location=phase.location, hint="run tile-schedule-exchange first")
        nbytes = phase.row_bytes.value.data
        total += nbytes
        phase.properties["row_address"] = IntegerAttr(take(phase.reason.data, nbytes, phase.location), i64)
    if total > machine.exchange_cap_bytes:
        longest = sorted(phases, key=lambda p: -p.row_bytes.value.data)[:5]  # type: ignore[union-attr]
        raise TileError(
            f"exchange rows take {total} bytes a tile; the cap is {machine.exchange_cap_bytes}",
            location=function.location,
            notes=[f"{p.row_bytes.value.data:>8} bytes  {p.reason.data}" for p in longest],  # type: ignore[union-attr]
        )
    free: list[tuple[int, int]] = []
    for start, end in machine.available():
        for i, (a, b) in enumerate(ranges):
            if (start, end) == (a, b) and cursors[i] > a:
                start = machine.element_range(int(machine.element_index(cursors[i] - 1)))[1]
        if start < end:
            free.append((start, end))
    return support, tuple(free)


def _instruction_words(op: Operation) -> int:
    """An upper bound of the supervisor words of one operation."""
    match op:
        case ComputeOp():
            digits = sum(4 + sum(2 + 2 * 4 for _ in buffer_type(b).layout.axes) for b in op.buffers)
            return 16 + 2 * len(op.scalars.data) + 2 * digits
        case RepeatOp():
            return 8 + 8 * sum(1 for inner in op.walk() if isinstance(inner, ExchangeOp))
        case ExchangeOp() | BindOp():
            return 4
        case _:
            return 1


def _argument_words(op: Operation) -> int:
    return round_up(len(op.axes.data.split()), 2) if isinstance(op, ComputeOp) else 0


def _patch_words(op: Operation, machine: Machine) -> int:
    """Words of the tables that say which sends follow a sequence; 0 for an exchange that reads no sequence."""
    if not isinstance(op, ExchangeOp):
        return 0
    words = 0
    buffers = phase_buffers(op)
    for i, buffer in enumerate(buffers):
        _, repeats = owner_alloc(buffer)
        if repeats:
            words += restart_bound(op, machine, i)
    return words


def restart_bound(op: ExchangeOp, machine: Machine, buffer: int) -> int:
    """The largest number of patched words of one buffer in any tile's row (rows restart a stream once per message piece)."""
    from tilewright.backends.rows import SEND_FIELD

    template = phase_schedule(op, machine).template
    chosen = (template.fix_buffer == buffer) & (template.fix_shift == SEND_FIELD)
    count = np.bincount(template.fix_tile[chosen], minlength=machine.tiles)
    return round_up(int(count.max(initial=0)), 2)


# -- buffers ---------------------------------------------------------------------------------------------------------------------


def memory_problem(
    function: FuncOp, machine: Machine, ranges: tuple[tuple[int, int], ...]
) -> tuple[Problem, list[AllocOp]]:
    """Lives, alignments, classes and separations of all buffers of a function."""
    numbering = _Events()
    numbering.block(function.body.block)
    allocs = [op for op in function.walk() if isinstance(op, AllocOp)]
    index = {alloc: i for i, alloc in enumerate(allocs)}
    last_event = numbering.count
    first = {a: last_event for a in allocs}
    last = {a: 0 for a in allocs}
    alignment = {a: 8 for a in allocs}
    memory = {a: buffer_type(a.result).layout.memory for a in allocs}
    separate: set[tuple[int, int]] = set()

    def use(alloc: AllocOp, op: Operation) -> None:
        lo, hi = numbering.span(op, alloc)
        first[alloc] = min(first[alloc], lo)
        last[alloc] = max(last[alloc], hi)

    for op in function.walk():
        if isinstance(op, (AllocOp, RepeatOp)):
            continue
        owners = [owner_alloc(v)[0] for v in op.operands if _is_buffer(v)]
        for alloc in owners:
            use(alloc, op)
        if isinstance(op, ComputeOp):
            entry = kernel(op.kernel.data)
            rules = (*entry.ins, *entry.outs)
            for alloc, rule in zip(owners, rules, strict=False):
                alignment[alloc] = max(alignment[alloc], rule.alignment)
                if rule.memory != "any":
                    memory[alloc] = rule.memory
            for a, b in entry.separate:
                separate.add(_pair(index[owners[a]], index[owners[b]]))
        elif isinstance(op, ExchangeOp):
            phase = [owner_alloc(b)[0] for b in phase_buffers(op)]
            for a, b in phase_schedule(op, machine).conflicts().tolist():
                separate.add(_pair(index[phase[a]], index[phase[b]]))
        elif isinstance(op, BindOp):
            (alloc,) = owners
            kind = op.kind.data
            if kind in ("parameter", "constant"):
                first[alloc], last[alloc] = 0, last_event
            elif kind == "input":
                first[alloc] = 0
            elif kind == "output":
                last[alloc] = last_event
    requests = []
    for alloc in allocs:
        type_ = buffer_type(alloc.result)
        nbytes = type_.shard_bytes if type_.count == 1 else member_stride(alloc) * type_.count
        requests.append(
            Request(
                alloc.buffer_name.data,
                round_up(max(nbytes, 4), 4),
                min(first[alloc], last[alloc]),
                last[alloc],
                max(alignment[alloc], 16 if type_.count > 1 else 8),
                memory[alloc],
                "interleaved" if alloc.category.data == "parameters" else "standard",
                alloc.category.data,
            )
        )
    return Problem(tuple(requests), tuple(sorted(separate)), ranges), allocs


def _is_buffer(value: SSAValue) -> bool:
    return value.type.name == "tile.buffer"


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


class _Events:
    """Numbers operations in program order; a repeat spans the numbers of its body."""

    def __init__(self) -> None:
        self.count = 1
        self.spans: dict[Operation, tuple[int, int]] = {}

    def block(self, block: Block) -> None:
        for op in block.ops:
            start = self.count
            self.count += 1
            for region in op.regions:
                for inner in region.blocks:
                    self.block(inner)
            self.spans[op] = (start, self.count - 1)

    def span(self, op: Operation, alloc: AllocOp) -> tuple[int, int]:
        """The events at which `op` needs a buffer allocated by `alloc`: all of every repeat around it that the buffer outlives."""
        span = self.spans[op]
        block = alloc.parent_block()
        current: Operation | None = op
        while current is not None and current.parent_block() is not block:
            current = current.parent_op()
            if current is not None and current in self.spans:
                span = self.spans[current]
        return span
