# SPDX-License-Identifier: Apache-2.0
"""
The buffers of a function in the tile dialect, and what the machine executes and reads beside them, as an
allocation problem.

An event is one operation in program order; event 0 is before the first (loading), the last one is after all.
A buffer lives from its first to its last use; what is used in a repeat but made outside of it lives through
the whole repeat (later iterations still need it); parameters live for ever.

Code and exchange rows lie in the executable region, in elements that hold no tensor, and a sequence that
something must be kept apart from has its elements to itself. That is more than the machine demands, which
only forbids certain pairs, and makes placements robust; where a program does not fit that way, `strict=False`
demands the pairs only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from tilewright.dialects.tile import (
    AllocOp,
    BufferType,
    ComputeOp,
    ExchangeOp,
    MemberOp,
    RepeatOp,
    buffer_type,
    owner_alloc,
)
from tilewright.machine import Machine
from tilewright.machine.kernels import kernel
from tilewright.passes.ir.exchange import phase_buffers, phase_schedule
from tilewright.passes.ir.lives import Events, buffer_lives, source_text
from tilewright.passes.ir.support import support_requests, unique
from tilewright.planning.memory.problem import Buffer, Problem, TileClass, regions_of
from tilewright.planning.operators.base import round_up


@dataclass(frozen=True)
class Requests:
    """A problem and what its buffers stand for."""

    problem: Problem
    allocs: dict[str, AllocOp]
    phases: dict[str, ExchangeOp]
    support: tuple[str, ...]


def member_alignment(alloc: AllocOp) -> int:
    """Alignment of every member: what the kernels that use it demand."""
    return _uses(alloc)[0]


def member_stride(alloc: AllocOp) -> int:
    """Bytes from one member of a sequence to the next, wherever it lies."""
    if alloc.stride is not None:
        return alloc.stride.value.data
    return round_up(max(buffer_type(alloc.result).shard_bytes, 4), member_alignment(alloc))


def _uses(alloc: AllocOp) -> tuple[int, str, int]:
    """Alignment, memory class and tail that the uses of a buffer demand."""
    alignment, memory, tail = 8, buffer_type(alloc.result).layout.memory, 0
    values: list[SSAValue] = [alloc.result]
    while values:
        value = values.pop()
        for use in value.uses:
            op = use.operation
            if isinstance(op, ComputeOp):
                entry = kernel(op.kernel.data)
                rules = (*entry.ins, *entry.outs)
                if use.index < len(rules):
                    rule = rules[use.index]
                    alignment = max(alignment, rule.alignment)
                    tail = max(tail, rule.tail)
                    memory = rule.memory if rule.memory != "any" else memory
            elif isinstance(op, RepeatOp):
                values.append(op.body.block.args[use.index])
            elif isinstance(op, MemberOp):
                values.append(op.result)
    return alignment, memory, tail


def memory_requests(
    function: FuncOp, machine: Machine, *, strict: bool = True, pins: bool = True, scheduled: bool = True
) -> Requests:
    """
    Everything that needs a place in a function. Raises TileError if its exchanges are not scheduled, unless
    `scheduled` is False: then what is not known yet (rows, patch tables, what exchanges keep apart) is left
    out.
    """
    events = Events(function)
    allocs = [op for op in function.walk() if isinstance(op, AllocOp)]
    support, phases = support_requests(
        function, machine, events, strict=strict, pins=pins, scheduled=scheduled
    )
    names = unique([alloc.buffer_name.data for alloc in allocs], tuple(b.name for b in support))
    name_of = dict(zip(allocs, names, strict=True))
    lives = buffer_lives(function, events)
    classes, held = _tile_classes(allocs, machine)
    pairs = _separations(function, machine, name_of, scheduled)
    constrained = {name for pair in pairs for name in pair}
    buffers: list[Buffer] = []
    for i, alloc in enumerate(allocs):
        type_ = buffer_type(alloc.result)
        alignment, memory, tail = _uses(alloc)
        life = lives[alloc]
        sequence = type_.count > 1
        buffers.append(
            Buffer(
                names[i],
                round_up(max(type_.shard_bytes, 4), 4),
                life.first,
                life.last,
                count=type_.count,
                stride=member_stride(alloc) if sequence else 0,
                alignment=alignment,
                memory=memory,
                prefer="any"
                if memory != "any"
                else "interleaved"
                if alloc.category.data == "parameters"
                else "standard",
                tail=tail,
                exclusive=strict and sequence and names[i] in constrained,
                classes=held[i],
                at=alloc.address.value.data if pins and alloc.address is not None else -1,
                category=alloc.category.data,
                source=source_text(alloc),
                layout=str(type_.layout),
                reason=life.reason,
            )
        )
    if not strict:
        for name, phase in phases.items():
            used = dict.fromkeys(name_of[owner_alloc(b)[0]] for b in phase_buffers(phase))
            pairs += [(other, name) for other in used]
    problem = Problem(
        (*buffers, *support),
        machine.available(),
        tuple(pairs),
        regions_of(machine),
        classes,
        events=tuple(events.labels),
        name=function.sym_name.data,
        machine=machine.name,
    )
    return Requests(
        problem,
        dict(zip(names, allocs, strict=True)),
        phases,
        tuple(b.name for b in support if b.name not in phases),
    )


def _tile_classes(
    allocs: list[AllocOp], machine: Machine
) -> tuple[tuple[TileClass, ...], list[tuple[int, ...]]]:
    """
    Classes of tiles that hold the same buffers, and for each buffer the classes that hold it (empty: all).
    """
    owners = np.ones((len(allocs) + 1, machine.tiles), np.bool_)  # (buffers, tiles); the last row is support
    known: dict[BufferType, np.ndarray] = {}
    for i, alloc in enumerate(allocs):
        type_ = buffer_type(alloc.result)
        if type_ not in known:
            known[type_] = type_.layout.owners(machine.tiles)
        owners[i] = known[type_]
    _, first, counts = np.unique(np.packbits(owners, axis=0), axis=1, return_index=True, return_counts=True)
    order = np.argsort(first)
    classes = tuple(TileClass(int(first[k]), int(counts[k])) for k in order)
    member = owners[:, first[order]]  # (buffers, classes)
    held = [() if row.all() else tuple(np.flatnonzero(row).tolist()) for row in member[: len(allocs)]]
    return classes, held


def _separations(
    function: FuncOp, machine: Machine, name_of: dict[AllocOp, str], scheduled: bool
) -> list[tuple[str, str]]:
    """Pairs of buffers that a kernel or an exchange accesses in one cycle."""
    pairs: dict[tuple[str, str], None] = {}

    def add(a: str, b: str) -> None:
        if a != b:
            pairs[(a, b) if a < b else (b, a)] = None

    for op in function.walk():
        if isinstance(op, ComputeOp):
            owners = [name_of[owner_alloc(b)[0]] for b in op.buffers]
            for a, b in kernel(op.kernel.data).separate:
                if max(a, b) < len(owners):
                    add(owners[a], owners[b])
        elif isinstance(op, ExchangeOp) and (scheduled or op.row_bytes is not None):
            owners = [name_of[owner_alloc(b)[0]] for b in phase_buffers(op)]
            for a, b in phase_schedule(op, machine).conflicts().tolist():
                add(owners[a], owners[b])
    return sorted(pairs)
