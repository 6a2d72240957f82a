# SPDX-License-Identifier: Apache-2.0
"""
The price of a planned program: cycles, memory and bytes of exchange rows, from the same expansions and the
same order of phases that lowering uses, without IR.

Cycles are counted by segments, as the machine does: between two barriers those of the slowest tile, exchange
phases by their estimate. The first iteration of a repeat has no rows to patch, the others have. Memory is
what is live at an event on the fullest class of tiles, beside code and rows. Expansions, kernel times and
phases are remembered, spans are not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from tilewright.diagnostics import TileError
from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.exchange.estimate import estimated_rows
from tilewright.planning.exchange.fabric import FABRICS
from tilewright.planning.exchange.messages import Messages
from tilewright.planning.graph import OperatorNode
from tilewright.planning.layout import Layout
from tilewright.planning.operators.base import round_up
from tilewright.planning.operators.strategy import Choice
from tilewright.planning.operators.targets import Target
from tilewright.planning.stages import (
    ComputeStage,
    PlanError,
    Stages,
    Value,
    compute_cycles,
    stage_transfers,
    used_buffers,
)
from tilewright.planning.steps import KEPT_TRIES, Item, Loop, Phase, Step, Store, Unfolded, kept_fills
from tilewright.planning.unfold import Expander, places_of

T = TypeVar("T")

SPANS_PER_NODE = 20_000
"""Spans whose enumeration counts as much work as an expansion."""


WORD = 4
"""Bytes of a word of the fabric."""


@dataclass(frozen=True)
class PhasePrice:
    """
    Cycles of a phase with the machine's overhead (0: it moves nothing), its bytes of rows on the fullest
    tile, and on every tile, int64 (tiles,), the sends from each sequence.
    """

    cycles: int
    rows: int
    patched: np.ndarray | None


@dataclass(frozen=True)
class Need:
    """
    Bytes of `memory` ("any", the name of a region, or "rows") that are live at one event, against what there
    is.
    """

    memory: str
    live: int
    available: int
    owner: str
    """The operator at the event; "" where it is none of one."""
    tile: int = 0
    """The first tile of the class of tiles that has most."""

    @property
    def short(self) -> int:
        """Bytes that are missing; 0 or less where they fit."""
        return self.live - self.available


@dataclass(frozen=True)
class Price:
    """
    Cycles of a run, bytes of rows on the fullest tile, and for each kind of memory the event that needs most
    of it. `cycles_of` has the cycles by operator ("" for what repeats need), those of a phase at its first.
    """

    cycles: int
    rows: int
    needs: tuple[Need, ...]
    cycles_of: dict[str, int] = field(default_factory=dict)
    crowded: int = 0
    """Bytes that are missing, summed over the operators at which any are."""
    copied: dict[str, int] = field(default_factory=dict)
    """Of `cycles_of`, those in local copies of pieces below a word."""

    @property
    def short(self) -> int:
        """Bytes that are missing in the memory that lacks most; less than 0 where all fit."""
        return max(need.short for need in self.needs)


class Pricer(Expander):
    """
    Prices of programs on one machine. `expanded` counts expansions, `spans` the messages enumerated.
    """

    def __init__(self, machine: Machine, *, balanced: bool = True, row_cap: int | None = None) -> None:
        super().__init__(machine)
        self.row_cap = machine.exchange_cap_bytes if row_cap is None else row_cap
        self.balanced = balanced
        """Parameters are spread evenly over the tiles, wherever planning places them at first."""
        self.expanded = 0
        self.spans = 0
        self._expansions: dict[Hashable, Stages | PlanError] = {}
        self._answers: dict[Hashable, Any] = {}
        self._kernels: dict[int, tuple[ComputeStage, np.ndarray, bool]] = {}
        self._phases: dict[Hashable, PhasePrice] = {}
        self._kept: list[Stages] = []
        self._owners: dict[Layout, np.ndarray] = {}
        self._largest = _largest_ranges(machine)

    # -- expansions

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._answers:
            self._answers[key] = make()
        return self._answers[key]

    def operator(self, node: OperatorNode, choice: Choice, operands: tuple[Value, ...]) -> Stages:
        zero_lanes = bool(node.operator.attributes.get("zero_lanes"))
        key = (node.name, choice.strategy.name, choice.record, zero_lanes, places_of(operands))
        found = self._expansions.get(key)
        if found is None:
            self.expanded += 1
            try:
                found = super().operator(node, choice, operands)
            except TileError as error:
                found = error if isinstance(error, PlanError) else PlanError(error.message)
            self._expansions[key] = found
        if isinstance(found, Stages):
            return found
        raise found

    def candidate(self, node: OperatorNode, choice: Choice, operands: tuple[Value, ...]) -> Stages:
        found = self.operator(node, choice, operands)
        self._check_ranges(found)
        return found

    def convert(self, value: Value, target: Target) -> Stages:
        return self._remembered(
            ("convert", places_of((value,)), target), lambda: super(Pricer, self).convert(value, target)
        )

    def move(self, source: Value, target: Value) -> Stages:
        return self._remembered(
            ("move", places_of((source, target))), lambda: super(Pricer, self).move(source, target)
        )

    def copy(self, source: Value, target: Value) -> Stages:
        return self._remembered(
            ("copy", places_of((source, target))), lambda: super(Pricer, self).copy(source, target)
        )

    def _remembered(self, key: Hashable, make: object) -> Stages:
        found = self._expansions.get(key)
        if found is None:
            self.expanded += 1
            found = self._expansions[key] = make()  # type: ignore[operator]
        assert isinstance(found, Stages)
        return found

    def _check_ranges(self, stages: Stages) -> None:
        """Refuse an expansion with a shard that no range of its class has room for."""
        for name, buffer in stages.buffers.items():
            most = self._largest[buffer.layout.memory if buffer.layout.memory != "any" else "any"]
            if buffer.bytes > most:
                raise PlanError(
                    f"{name} takes {buffer.bytes:,} bytes of a tile, the largest range of"
                    f" {buffer.layout.memory} memory has {most:,}"
                )

    # -- programs

    def price(self, program: Unfolded) -> Price:
        """The price of an unfolded program."""
        rows = sum(self.phase(item).rows for item, _ in program.items() if isinstance(item, Phase))
        needs, crowded, kept = self._memory(program, rows)
        clock = _Clock(self, kept)
        clock.block(program.body, 1)
        clock.flush(1)
        needs = (*needs, Need("rows", rows, self.row_cap, ""))
        return Price(clock.total, rows, needs, clock.owners, crowded, clock.copied)

    def alone(self, stages: Stages, sequences: Sequence[bool]) -> int:
        """Cycles of an expansion by itself; `sequences` says which operands are members of sequences."""
        stores = {
            f"in{i}": Store("", value.buffer, 2 if several else 1, "", None)
            for i, (value, several) in enumerate(zip(stages.operands, sequences, strict=True))
        }
        stores |= {name: Store(name, buffer, 1, "", None) for name, buffer in stages.buffers.items()}
        clock = _Clock(self)
        for stage in stages.stages:
            step = Step(stages, stage, {n: stores[n] for n in used_buffers(stage)}, (), (), "")
            clock.block([Phase([step]) if step.is_exchange else step], 1)
        clock.flush(1)
        return clock.total

    def kernel(self, step: Step) -> np.ndarray:
        """Cycles of a kernel call on every tile, int64 (tiles,)."""
        assert step.stages is not None and isinstance(step.stage, ComputeStage)
        found = self._kernels.get(id(step.stage))
        if found is None:
            cycles = compute_cycles(step.stages, step.stage, self.machine)
            found = self._kernels[id(step.stage)] = (step.stage, cycles, False)
        return found[1]

    def phase(self, phase: Phase) -> PhasePrice:
        """The price of a phase."""
        numbers: dict[Store, int] = {}
        pattern: list[int] = []
        for part in phase.parts:
            for name in sorted(part.stores):
                pattern.append(numbers.setdefault(part.stores[name], len(numbers)))
        sequences = tuple(store.count > 1 for store in numbers)
        key = (tuple(id(part.stage) for part in phase.parts), tuple(pattern), sequences)
        found = self._phases.get(key)
        if found is None:
            found = self._phases[key] = self._price_phase(phase, numbers, sequences)
            self._kept += [part.stages for part in phase.parts if part.stages is not None]
        return found

    def _price_phase(self, phase: Phase, numbers: dict[Store, int], sequences: Sequence[bool]) -> PhasePrice:
        parts: list[Messages] = []
        for part in phase.parts:
            assert part.stages is not None and part.stage is not None
            for move in part.stage.moves:  # type: ignore[union-attr]
                t = stage_transfers(part.stages, move)
                full = np.zeros(len(t), np.int64)
                src, dst = full + numbers[part.stores[move.src]], full + numbers[part.stores[move.dst]]
                parts.append(Messages(t.src_tile, src, t.src_byte, t.dst_tile, dst, t.dst_byte, t.nbytes))
        messages = Messages.concatenate(parts)
        self.spans += len(messages)
        cycles = FABRICS.of(self.machine).estimate(messages, self.machine).cycles
        if not cycles:
            return PhasePrice(0, 0, None)
        rows, patched = estimated_rows(messages, self.machine, np.array(sequences, bool))
        moved = patched if patched.any() else None
        return PhasePrice(cycles + self.machine.phase_overhead, int(rows.max(initial=0)), moved)

    # -- memory

    def owners(self, layout: Layout) -> np.ndarray:
        """Which tiles hold a part of a layout, bool (tiles,)."""
        found = self._owners.get(layout)
        if found is None:
            found = self._owners[layout] = layout.owners(self.machine.tiles)
        return found

    def _memory(self, program: Unfolded, rows: int) -> tuple[tuple[Need, ...], int, dict[Loop, list[Step]]]:
        """
        The event that needs most of each kind of memory, the bytes missing over all operators, and the fills
        of every repeat that there is room to do once.
        """
        machine = self.machine
        lives, events, spans = _lives(program)
        support = _support(program, machine)
        patterns: dict[bytes, int] = {}
        rows_of: list[np.ndarray] = []
        number: list[int] = []
        spread = 0
        singles: list[tuple[Store, int]] = []
        for store in program.stores:
            size = _bytes(store)
            if store.kind == "parameter" and self.balanced:
                spread += size * int(self.owners(store.buffer.layout).sum())
                continue
            if store not in lives and not store.kind:
                continue
            mine = self.owners(store.buffer.layout)
            key = mine.tobytes()
            if key not in patterns:
                patterns[key] = len(rows_of)
                rows_of.append(mine)
            singles.append((store, size))
            number.append(patterns[key])
        resident = -(-spread // machine.tiles)
        table = np.array(rows_of).reshape(len(rows_of), machine.tiles)
        _, first = np.unique(np.packbits(table, axis=0), axis=1, return_index=True)
        held = table[number][:, first].astype(np.float64)  # (stores, classes)
        last = len(events)
        span = np.array([_life(store, lives, last) for store, _ in singles]).reshape(-1, 2)
        at = np.arange(last + 1)[:, None]
        live = ((span[:, 0] <= at) & (span[:, 1] >= at)).astype(np.float64)  # (events, stores)
        sizes = np.array([size for _, size in singles], np.float64)
        needs: list[Need] = []
        crowded = 0
        left: list[tuple[np.ndarray, np.ndarray]] = []  # bytes (events, classes), and for which stores
        for memory in ("any", *(region.name for region in machine.regions)):
            wanted = np.array(
                [
                    memory in ("any", support.demands.get(store, store.buffer.layout.memory))
                    for store, _ in singles
                ]
            )
            available = sum(
                end - start for start, end in machine.available(None if memory == "any" else memory)
            )
            beside = support.executed + support.tables + rows + resident if memory == "any" else 0
            if memory == next((r.name for r in machine.regions if r.executable), None):
                beside = support.executed + rows
            total = live @ (held * (sizes * wanted)[:, None]) + beside  # (events, classes)
            left.append((available - total, wanted))
            where = int(total.argmax()) if total.size else 0
            most = int(total.flat[where]) if total.size else beside
            event = where // max(total.shape[1], 1)
            tile = int(first[where % max(total.shape[1], 1)]) if total.size else 0
            needs.append(Need(memory, most, available, events[event] if event < last else "", tile))
            over = np.maximum(total.max(axis=1, initial=0) - available, 0)
            worst: dict[str, int] = {}
            for at_event in np.flatnonzero(over).tolist():
                owner = events[at_event] if at_event < last else ""
                worst[owner] = max(worst.get(owner, 0), int(over[at_event]))
            crowded += sum(worst.values())
        number_of = {store: i for i, (store, _) in enumerate(singles)}

        def fits(kept: Sequence[tuple[Loop, Store, list[Step]]]) -> bool:
            for room, wanted in left:
                more = np.zeros_like(room)
                for loop, store, _ in kept:
                    i = number_of[store]
                    if wanted[i]:
                        first_of, last_of = spans[loop]
                        idle = 1 - live[first_of : last_of + 1, i]
                        more[first_of : last_of + 1] += idle[:, None] * held[i] * sizes[i]
                if (more > np.maximum(room, 0)).any():
                    return False
            return True

        return tuple(needs), crowded, _kept(program, fits)


class _Clock:
    """Counts the cycles of a program."""

    def __init__(self, pricer: Pricer, kept: Mapping[Loop, list[Step]] | None = None) -> None:
        self.pricer = pricer
        self.kept = kept or {}
        """Fills of repeats that are done once."""
        self.total = 0
        self.owners: dict[str, int] = {}
        self.pending = np.zeros(pricer.machine.tiles, np.int64)
        self.copied: dict[str, int] = {}
        self.waiting: list[tuple[str, np.ndarray, bool]] = []

    def flush(self, times: int) -> None:
        """A barrier: everybody waits for the slowest tile."""
        if self.waiting:
            slowest = int(np.argmax(self.pending))
            self.total += times * int(self.pending[slowest])
            for owner, cycles, below_words in self.waiting:
                spent = times * int(cycles[slowest])
                self._charge(owner, spent)
                if below_words and spent:
                    self.copied[owner] = self.copied.get(owner, 0) + spent
        self.pending = np.zeros_like(self.pending)
        self.waiting = []

    def _charge(self, owner: str, cycles: int) -> None:
        self.owners[owner] = self.owners.get(owner, 0) + cycles

    def block(self, items: Sequence[Item], times: int, without: Collection[Step] = ()) -> None:
        """What happens in order, but for the steps that were done before."""
        for item in items:
            match item:
                case Step():
                    if isinstance(item.stage, ComputeStage) and item not in without:
                        self.run(item.owner, self.pricer.kernel(item), _below_words(item.stage))
                case Phase():
                    price = self.pricer.phase(item)
                    if price.cycles:
                        self.flush(times)
                        self.total += times * price.cycles
                        self._charge(item.parts[0].owner, times * price.cycles)
                case Loop():
                    self.loop(item, times)

    def run(self, owner: str, cycles: np.ndarray, below_words: bool = False) -> None:
        self.pending = self.pending + cycles
        self.waiting.append((owner, cycles, below_words))

    def loop(self, loop: Loop, times: int) -> None:
        """
        Padding that is filled once, the first iteration, then the others behind the patching of rows; every
        iteration is a barrier.
        """
        kept = self.kept.get(loop, [])
        self.block(kept, times)
        self.flush(times)
        if not loop.count:
            return
        self.block(loop.body, times, kept)
        self.flush(times)
        if loop.count == 1:
            return
        patches = self._patches(loop)
        if patches is not None:
            self.run("", patches)
        self.block(loop.body, times * (loop.count - 1), kept)
        self.flush(times * (loop.count - 1))
        if patches is not None:
            self.run("", patches)
            self.flush(times)

    def _patches(self, loop: Loop) -> np.ndarray | None:
        """Cycles in which every tile patches the rows that follow a sequence of this loop."""
        counts = np.zeros(self.pricer.machine.tiles, np.int64)
        for item in loop.body:
            if isinstance(item, Phase) and (patched := self.pricer.phase(item).patched) is not None:
                counts += patched
        return self.pricer.machine.patch_cycles(counts) if counts.any() else None


def _below_words(stage: ComputeStage) -> bool:
    """Whether a kernel call moves pieces below a word: the fabric could not have."""
    run = dict(stage.scalars).get("run_bytes", WORD)
    return stage.kernel in ("widen", "narrow") or (stage.kernel == "copy" and run < WORD)


def _bytes(store: Store) -> int:
    size = round_up(max(store.buffer.layout.shard_bytes(itemsize(store.buffer.dtype)), 4), 8)
    return size * store.count


def _largest_ranges(machine: Machine) -> dict[str, int]:
    """The longest range of each class of memory, in bytes."""
    longest = {
        region.name: max((end - start for start, end in machine.available(region.name)), default=0)
        for region in machine.regions
    }
    longest["any"] = max(longest.values(), default=0)
    for name in ("standard", "interleaved"):
        longest.setdefault(name, longest["any"])
    return longest


def _kept(
    program: Unfolded, fits: Callable[[Sequence[tuple[Loop, Store, list[Step]]]], bool]
) -> dict[Loop, list[Step]]:
    """
    Fills that are done once before their repeat: as placing tries it, of all buffers of which that may be, or
    of all but the few largest; none where those have no room.
    """
    order = {store: i for i, store in enumerate(program.stores)}
    found = [
        (item, store, fills)
        for item, _ in program.items()
        if isinstance(item, Loop) and item.count > 1
        for store, fills in kept_fills(item).items()
    ]
    found.sort(key=lambda kept: (kept[1].buffer.bytes, order[kept[1]]))
    for count in range(len(found), max(len(found) - KEPT_TRIES, 0), -1):
        if fits(found[:count]):
            result: dict[Loop, list[Step]] = {}
            for loop, _, fills in found[:count]:
                result.setdefault(loop, []).extend(fills)
            return result
    return {}


def _lives(
    program: Unfolded,
) -> tuple[dict[Store, tuple[int, int]], list[str], dict[Loop, tuple[int, int]]]:
    """First and last event of every buffer that is used, the operator of each event, events of repeats."""
    events: list[str] = []
    uses: list[tuple[Store, int, int, tuple[Loop, ...]]] = []
    spans: dict[Loop, tuple[int, int]] = {}

    def walk(items: Sequence[Item], around: tuple[Loop, ...]) -> None:
        for item in items:
            at = len(events)
            if isinstance(item, Loop):
                events.append("")
                uses.extend((store, at, at, (*around, item)) for store in item.sequences)
                walk(item.body, (*around, item))
                spans[item] = (at, len(events) - 1)
                continue
            parts = item.parts if isinstance(item, Phase) else [item]
            events.append(parts[0].owner)
            for part in parts:
                uses.extend((store, at, at, around) for store in (*part.reads, *part.writes))

    walk(program.body, ())
    lives: dict[Store, tuple[int, int]] = {}
    for store, first, last, around in uses:
        for loop in around:  # the outermost repeat that the buffer outlives
            if loop.around is store.loop:
                first, last = spans[loop]
                break
        known = lives.get(store)
        lives[store] = (first, last) if known is None else (min(first, known[0]), max(last, known[1]))
    return lives, events, spans


def _life(store: Store, lives: dict[Store, tuple[int, int]], last: int) -> tuple[int, int]:
    if store.kind in ("parameter", "constant"):
        return 0, last
    first, end = lives.get(store, (0, 0))
    return (0 if store.kind == "input" else first), (last if store.kind == "output" else end)


@dataclass(frozen=True)
class _Support:
    """Bytes of what is executed and read beside tensors and rows, and the memory that kernels demand."""

    executed: int
    tables: int
    demands: dict[Store, str]


def _support(program: Unfolded, machine: Machine) -> _Support:
    """
    What the machine executes and reads beside tensors: kernels' code, the supervisor's program (its words as
    `passes/ir/support.py` bounds them), tables of arguments.
    """
    demands: dict[Store, str] = {}
    kernels: set[str] = set()
    words, arguments = 2, 0

    def patched(items: Sequence[Item]) -> int:
        """Sequences that phases send from."""
        found = 0
        for item in items:
            if isinstance(item, Phase):
                found += len({id(s) for part in item.parts for s in part.stores.values() if s.count > 1})
            elif isinstance(item, Loop):
                found += patched(item.body)
        return found

    def walk(items: Sequence[Item], depth: int) -> None:
        nonlocal words, arguments
        for item in items:
            if isinstance(item, Loop):
                words += 5 + 12 * patched(item.body)
                walk(item.body, depth + 1)
            elif isinstance(item, Phase):
                words += 3
            elif isinstance(item.stage, ComputeStage):
                stage = item.stage
                kernels.add(stage.kernel)
                entry = machine.family.kernel(stage.kernel)
                words += 4 + 3 * len(stage.scalars)
                arguments += round_up(len(stage.axes), 2)
                rules = (*entry.ins, *entry.outs)
                for number, operand in enumerate((*stage.ins, *stage.outs)):
                    store = item.stores[operand.buffer]
                    axes = store.buffer.layout.axes
                    levels = [axes[a].levels if 0 <= a < len(axes) else 1 for a in operand.axes]
                    if operand.flat or operand.pad:
                        levels = [4] * 3
                    words += 2 + sum(1 + 2 * n for n in levels) + depth
                    if number < len(rules) and rules[number].memory != "any":
                        demands[store] = rules[number].memory
            else:
                words += 2

    walk(program.body, 0)
    words += 3 * len(program.stores)
    guard = machine.fetch_guard_bytes
    code = sum(machine.family.kernel(name).code_bytes + guard for name in kernels)
    return _Support(code + 4 * words, 4 * arguments, demands)
