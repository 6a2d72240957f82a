# SPDX-License-Identifier: Apache-2.0
"""
The exchange phases of the tile dialect as messages and schedules.

A schedule is a pure function of the phase's geometry and the machine (it holds no address), so the IR keeps
only the bytes of the rows; passes of one process share the schedule through a cache keyed by the geometry.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, SSAValue

from tilewright.backends import program as asm
from tilewright.backends.rows import ADDRESS_MASK
from tilewright.diagnostics import TileError
from tilewright.dialects.tile import ExchangeOp, RepeatOp, buffer_type, placed_in
from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.exchange import ExchangeError, Messages, Schedule
from tilewright.planning.exchange.check import require
from tilewright.planning.exchange.fabric import FABRICS
from tilewright.planning.exchange.together import plan_phases
from tilewright.planning.layout import Layout, View
from tilewright.planning.stages import cached_transfers

Geometry = tuple[tuple[int, Layout, View, int, Layout, View, int], ...]
"""Of each move: number, layout and view of the source, the same of the destination, bytes of an element."""

_Key = tuple[str, Geometry, bool]
"""Digest of the machine, geometry, and whether the phase goes in words alone: what a schedule depends on."""

_schedules: OrderedDict[_Key, Schedule] = OrderedDict()
_KEPT = 512


def phase_buffers(op: ExchangeOp) -> list[SSAValue]:
    """The distinct buffers of a phase, in order of appearance; messages number them so."""
    return list(dict.fromkeys(op.buffers))


def phase_messages(op: ExchangeOp) -> Messages:
    """All messages of a phase."""
    number = {buffer: i for i, buffer in enumerate(phase_buffers(op))}
    parts: list[Messages] = []
    for src, src_view, dst, dst_view in op.moves():
        a, b = buffer_type(src), buffer_type(dst)
        t = cached_transfers(a.layout, src_view, b.layout, dst_view, itemsize(a.dtype))
        full = np.full(len(t.src_tile), 0, np.int64)
        parts.append(
            Messages(
                t.src_tile,
                full + number[src],
                t.src_byte,
                t.dst_tile,
                full + number[dst],
                t.dst_byte,
                t.nbytes,
            )
        )
    return Messages.concatenate(parts)


ITEMS = "tile.exchange_items"
"""Attribute of a phase that is scheduled in words alone; its rows are made by passes that come later."""


def set_items(op: ExchangeOp, items: Literal["auto", "words"]) -> None:
    """Choose the items of a phase: "words", or 8-byte items where they make it shorter ("auto")."""
    if items == "words":
        op.attributes[ITEMS] = StringAttr(items)
    else:
        op.attributes.pop(ITEMS, None)


def words_only(op: ExchangeOp) -> bool:
    """Whether a phase goes in words alone."""
    return ITEMS in op.attributes


def phase_schedule(op: ExchangeOp, machine: Machine) -> Schedule:
    """The schedule of a phase, in the items that `set_items` chose for it."""
    key = _key(op, machine)
    found = _schedules.get(key)
    if found is None:
        wide = not words_only(op)
        found = FABRICS.of(machine).schedule(phase_messages(op), machine, paired=None if wide else False)
        _keep(key, found)
    else:
        _schedules.move_to_end(key)
    return found


def plan_together(ops: Sequence[ExchangeOp], machine: Machine, told: Callable[[int, int], None]) -> None:
    """
    Work out the schedules and figures of phases, as far as nobody has asked for them yet: in two processes
    where that is worth while. `told` hears how many are done, of how many. Where one cannot be scheduled,
    others are left out as well.
    """
    missing = {key: op for op in ops if (key := _key(op, machine)) not in _figures or key not in _schedules}
    tasks = [lambda op=op: (phase_messages(op), not words_only(op)) for op in missing.values()]
    for key, planned in zip(missing, plan_phases(tasks, machine, told), strict=True):
        if planned is not None:
            _keep(key, planned[0])
            _figures[key] = _figures_of(*planned)


def _key(op: ExchangeOp, machine: Machine) -> _Key:
    return machine.digest, _geometry(op), words_only(op)


def _keep(key: _Key, schedule: Schedule) -> None:
    _schedules[key] = schedule
    while len(_schedules) > _KEPT:
        _schedules.popitem(last=False)


def _geometry(op: ExchangeOp) -> Geometry:
    """What the messages of a phase are made from, and nothing else."""
    number = {buffer: i for i, buffer in enumerate(phase_buffers(op))}
    moves: list[tuple[int, Layout, View, int, Layout, View, int]] = []
    for src, src_view, dst, dst_view in op.moves():
        a, b = buffer_type(src), buffer_type(dst)
        moves.append((number[src], a.layout, src_view, number[dst], b.layout, dst_view, itemsize(a.dtype)))
    return tuple(moves)


def forget_schedules() -> None:
    """Drop the schedules that are kept; they come to a gigabyte for a large program."""
    _schedules.clear()
    _figures.clear()


# -- what is recorded of every phase

PHASES = "tile.exchange_phases"
"""Attribute of a module: the figures of its exchange phases, in program order."""


@dataclass(frozen=True)
class PhaseFigures:
    """
    One phase: messages (a multicast is one), bytes of its longest row, and cycles without the machine's
    overhead for a phase: the bound (items that the busiest tile sends or receives), the schedule, and what
    planning estimates. `paired` is the share of the received bytes that come in 8-byte items, in thousandths.
    """

    reason: str
    transfers: int
    row_bytes: int
    bound: int
    scheduled: int
    estimated: int
    paired: int


def record_figures(module: ModuleOp, figures: Sequence[PhaseFigures]) -> None:
    """Note the figures in the module."""
    entries: list[DictionaryAttr] = []
    for phase in figures:
        values: dict[str, Attribute] = {
            name: StringAttr(value) if isinstance(value, str) else IntegerAttr(value, i64)
            for name, value in asdict(phase).items()
        }
        entries.append(DictionaryAttr(values))
    module.attributes[PHASES] = ArrayAttr(entries)


_figures: dict[_Key, PhaseFigures] = {}


def phase_figures(op: ExchangeOp, machine: Machine) -> PhaseFigures:
    """The figures of one phase; worked out once for equal phases."""
    key = _key(op, machine)
    if key not in _figures:
        wide = not words_only(op)
        made = phase_schedule(op, machine)  # refuses messages that cannot be; an estimate does not
        estimated = FABRICS.of(machine).estimate(phase_messages(op), machine, paired=wide).cycles
        _figures[key] = _figures_of(made, estimated)
    return replace(_figures[key], reason=op.reason.data)


def _figures_of(made: Schedule, estimated: int) -> PhaseFigures:
    return PhaseFigures(
        "",
        len(made.send_tile),
        4 * int(made.row_words.max(initial=0)),
        made.summary.bound,
        made.horizon,
        estimated,
        round(1000 * made.paired_share),
    )


def read_figures(module: ModuleOp) -> tuple[PhaseFigures, ...]:
    """The figures noted in a module; none if it was not scheduled by the pass."""
    attribute = module.attributes.get(PHASES)
    if not isinstance(attribute, ArrayAttr):
        return ()
    found: list[PhaseFigures] = []
    for entry in attribute.data:
        if not isinstance(entry, DictionaryAttr):
            continue
        values: dict[str, str | int] = {}
        for name, value in entry.data.items():
            if isinstance(value, StringAttr):
                values[name] = value.data
            elif isinstance(value, IntegerAttr):
                values[name] = value.value.data
        kinds = {f.name: "str" if f.name == "reason" else "int" for f in fields(PhaseFigures)}
        if {name: type(value).__name__ for name, value in values.items()} != kinds:
            raise TileError(
                f"an entry of `{PHASES}` has other figures than those of a phase",
                location=module.location,
                notes=(f"found: {', '.join(values)}", f"expected: {', '.join(kinds)}"),
            )
        found.append(PhaseFigures(**values))  # type: ignore[arg-type]
    return tuple(found)


# -- the independent check of a whole program


@dataclass(frozen=True, eq=False)
class ExpectedPhase:
    """
    What a placed phase has to deliver: its messages, and for each buffer (arrays (buffers,)) the address in
    the first iteration and the bytes it moves with every iteration of `repeat`.
    """

    reason: str
    messages: Messages
    addresses: npt.NDArray[np.int64]
    steps: npt.NDArray[np.int64]
    repeat: str
    iterations: int


def expected_phases(module: ModuleOp) -> list[ExpectedPhase]:
    """The exchange phases of a module whose buffers have addresses, in program order."""
    from tilewright.passes.ir.memory import member_stride

    found: list[ExpectedPhase] = []
    for op in module.walk():
        if not isinstance(op, ExchangeOp):
            continue
        addresses: list[int] = []
        steps: list[int] = []
        parent = op.parent_op()
        for buffer in phase_buffers(op):
            place = placed_in(buffer)
            if place.alloc.address is None:
                raise ExchangeError(
                    "an exchange buffer has no address", hint="run tile-allocate-memory first"
                )
            stride = member_stride(place.alloc)
            addresses.append(place.alloc.address.value.data + place.first * stride)
            steps.append(sum(stride * members for repeat, members in place.steps if repeat is parent))
        inside = isinstance(parent, RepeatOp)
        found.append(
            ExpectedPhase(
                op.reason.data,
                phase_messages(op),
                np.array(addresses, np.int64),
                np.array(steps, np.int64),
                parent.repeat_name.data if inside else "",
                parent.iterations if inside else 1,
            )
        )
    return found


def exchanges(
    body: Sequence[asm.Instruction], repeat: asm.Repeat | None = None
) -> Iterator[tuple[asm.Exchange, asm.Repeat | None]]:
    """The exchanges of a program in its order, with the innermost repeat around each."""
    for instruction in body:
        if isinstance(instruction, asm.Exchange):
            yield instruction, repeat
        elif isinstance(instruction, asm.Repeat):
            yield from exchanges(instruction.body, instruction)


def check_program(program: asm.Program, phases: Sequence[ExpectedPhase], machine: Machine) -> int:
    """
    Judge the rows of every phase, as lowered, with the independent checker: in the first, the second and the
    last iteration of the repeat around them, patched as the supervisor patches them. Returns how many sets of
    rows were checked; raises ExchangeError with the findings.
    """
    tables = {table.name: table for table in program.tables}
    lowered = list(exchanges(program.body))
    if len(lowered) != len(phases):
        raise ExchangeError(f"the program has {len(lowered)} exchanges, {len(phases)} were asked for")
    checked = 0
    for (exchange, repeat), phase in zip(lowered, phases, strict=True):
        table = tables[exchange.rows]
        patches = [p for p in repeat.patches if p.rows == exchange.rows] if repeat is not None else []
        last = phase.iterations - 1
        for iteration in sorted({0, min(1, last), last} if patches else {0}):
            words = table.words.copy()
            for patch in patches:
                _apply(words, tables[patch.positions].words, patch, iteration)
            name = phase.reason + (f", iteration {iteration}" if patches else "")
            addresses = phase.addresses + iteration * phase.steps
            require(words, phase.messages, addresses, machine, row_address=table.address, phase=name)
            checked += 1
    return checked


def _apply(
    words: npt.NDArray[np.uint32], positions: npt.NDArray[np.uint32], patch: asm.Patch, times: int
) -> None:
    """Patch rows as after `times` iterations."""
    tile, column = np.nonzero(positions != asm.NO_POSITION)
    place = positions[tile, column]
    old = words[tile, place].astype(np.int64)
    field = (old >> patch.shift) + times * patch.delta_words & ADDRESS_MASK
    words[tile, place] = (old & ~(ADDRESS_MASK << patch.shift) | field << patch.shift).astype(np.uint32)
