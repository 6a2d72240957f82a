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
from xdsl.dialects.builtin import CallSiteLoc, DictionaryAttr, FileLineColLoc, IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from tilewright.diagnostics import TileError
from tilewright.dialects.tile import (
    AllocOp,
    BindOp,
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
from tilewright.planning.memory.problem import Buffer, Problem, TileClass, regions_of
from tilewright.planning.operators.base import round_up
from tilewright.settings import current

SUPPORT = "tile.support"
"""Attribute of a function: addresses of code and tables, and the bytes reserved for them."""

EXECUTABLE = "executable"
SUPPORT_KEYS = {"argument tables": "arguments", "patch tables": "patches"}
"""Names in the support attribute of requests that are called otherwise."""


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


# -- the problem


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
    names = _unique([alloc.buffer_name.data for alloc in allocs], tuple(b.name for b in support))
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


def _unique(names: list[str], taken: tuple[str, ...] = ()) -> list[str]:
    """The names, numbered from 2 where one comes again or is taken."""
    used = dict.fromkeys(taken, 1)
    result: list[str] = []
    for name in names:
        number, fresh = used.get(name, 0) + 1, name
        while fresh in used:
            fresh, number = f"{name}#{number}", number + 1
        used[name], used[fresh] = number, 1
        result.append(fresh)
    return result


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


# -- lives


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


# -- what the machine executes and reads beside tensors


def support_requests(
    function: FuncOp,
    machine: Machine,
    events: Events,
    *,
    strict: bool = True,
    pins: bool = True,
    scheduled: bool = True,
) -> tuple[tuple[Buffer, ...], dict[str, ExchangeOp]]:
    """
    Code, supervisor program, argument and patch tables and exchange rows of a function: all of it resident,
    on every tile, rows at the length of the longest tile's. Tables that are only read ("data") may lie in
    either region beside anything.
    """
    end = events.count
    kernels = sorted({op.kernel.data for op in function.walk() if isinstance(op, ComputeOp)})
    guard = machine.fetch_guard_bytes
    kind = "code" if strict else "data"
    given = function.attributes.get(SUPPORT) if pins else None
    pinned = (
        {k: v.value.data for k, v in given.data.items() if isinstance(v, IntegerAttr)}
        if isinstance(given, DictionaryAttr)
        else {}
    )

    def code(name: str, nbytes: int, reason: str, category: str = "code", at: int = -1) -> Buffer:
        return Buffer(
            name,
            nbytes,
            0,
            end,
            memory=EXECUTABLE,
            tail=guard,
            kind=kind,
            category=category,
            at=at,
            reason=reason,
        )

    items = [
        code(f"code {name}", kernel(name).code_bytes, "kernel code", at=pinned.get(f"code {name}", -1))
        for name in kernels
    ]
    words = 1 + sum(_instruction_words(op) for op in function.walk())
    items.append(code("supervisor", 4 * words, "supervisor program", at=pinned.get("supervisor", -1)))
    for name, count in (
        ("argument tables", sum(_argument_words(op) for op in function.walk())),
        ("patch tables", sum(_patch_words(op, machine) for op in function.walk()) if scheduled else 0),
    ):
        category = "code" if name == "argument tables" else "patch tables"
        items.append(
            Buffer(
                name,
                4 * count,
                0,
                end,
                kind="data",
                prefer="standard",
                category=category,
                at=pinned.get(SUPPORT_KEYS[name], -1),
                reason="tables",
            )
        )
    phases = [op for op in function.walk() if isinstance(op, ExchangeOp)]
    names = _unique([f"rows {phase.reason.data}" for phase in phases])
    for name, phase in zip(names, phases, strict=True):
        if phase.row_bytes is None:
            if not scheduled:
                continue
            raise TileError(
                "an exchange has no rows yet",
                location=phase.location,
                hint="run tile-schedule-exchange first",
            )
        at = phase.row_address.value.data if pins and phase.row_address is not None else -1
        row = code(name, phase.row_bytes.value.data, "exchange rows of the longest tile", "rows", at)
        items.append(row)
    return tuple(items), dict(zip(names, phases, strict=True))


def check_row_cap(function: FuncOp, machine: Machine, cap: int | None = None) -> None:
    """
    Hold the rows of all phases under a cap: the given one, that of the command line, or the machine's policy;
    raises TileError with the longest phases.
    """
    given = current().exchange_cap if cap is None else cap
    limit = machine.exchange_cap_bytes if given is None else given
    phases = [op for op in function.walk() if isinstance(op, ExchangeOp) and op.row_bytes is not None]
    size = {op: op.row_bytes.value.data for op in phases if op.row_bytes is not None}
    total = sum(size.values())
    if total > limit:
        longest = sorted(phases, key=lambda p: -size[p])[:5]
        raise TileError(
            f"exchange rows take {total} bytes a tile; the cap is {limit}",
            location=function.location,
            notes=[f"{size[p]:>8} bytes  {p.reason.data}" for p in longest],
            hint="--exchange-cap BYTES allows more; coarser panels and fewer partials take less",
        )


def _instruction_words(op: Operation) -> int:
    """
    An upper bound of the supervisor words of one operation (exact but for patches; the format is in
    backends/image.py).
    """
    match op:
        case ComputeOp():
            words = 4 + 3 * len(op.scalars.data)
            for buffer, axes in op.operand_maps():
                layout = buffer_type(buffer).layout
                levels = [
                    layout.axes[axis].levels if 0 <= axis < len(layout.axes) else 1 for axis in axes.values()
                ]
                if "flat" in axes or "pad" in axes:
                    levels = [4] * 3
                words += 2 + sum(1 + 2 * n for n in levels) + _depth(op)
            return words
        case RepeatOp():
            return 4 + 12 * sum(
                len(phase_buffers(inner)) for inner in op.walk() if isinstance(inner, ExchangeOp)
            )
        case ExchangeOp():
            return 3
        case BindOp():
            return 2
        case _:
            return 1


def _depth(op: Operation) -> int:
    """The number of repeats around an operation."""
    depth, parent = 0, op.parent_op()
    while parent is not None:
        depth += isinstance(parent, RepeatOp)
        parent = parent.parent_op()
    return depth


def _argument_words(op: Operation) -> int:
    return round_up(len(op.axes.data.split()), 2) if isinstance(op, ComputeOp) else 0


def _patch_words(op: Operation, machine: Machine) -> int:
    """
    Words of the tables that say which sends follow a sequence; 0 for an exchange that reads no sequence.
    """
    if not isinstance(op, ExchangeOp):
        return 0
    return sum(
        _restart_bound(op, machine, i) for i, buffer in enumerate(phase_buffers(op)) if owner_alloc(buffer)[1]
    )


def _restart_bound(op: ExchangeOp, machine: Machine, buffer: int) -> int:
    """
    Words of the tables that name the sends from one buffer: one table for sends in words, one for those in
    8-byte items, each as wide as the row with most of them asks for.
    """
    from tilewright.backends.rows import SEND_FIELD

    template = phase_schedule(op, machine).template
    chosen = (template.fix_buffer == buffer) & (template.fix_shift == SEND_FIELD)
    words = 0
    for paired in (False, True):
        tile = template.fix_tile[chosen & (template.fix_paired == paired)]
        words += round_up(int(np.bincount(tile, minlength=machine.tiles).max(initial=0)), 2)
    return words
