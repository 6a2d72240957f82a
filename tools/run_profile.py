# SPDX-License-Identifier: Apache-2.0
"""
Makes a profile of what `tile-run` compiled and ran: the facts of the program before and while it is compiled,
its final placement, and what the recorder saw. Of a compilation that did not fit, the memory it asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from tilewright.backends import program as asm
from tilewright.backends.accounting import always, row_bytes
from tilewright.backends.image import encode_supervisor
from tilewright.diagnostics import TileError
from tilewright.dialects.entry import entry_function
from tilewright.dialects.tile import ExchangeOp, buffer_type, owner_alloc
from tilewright.machine import Machine
from tilewright.machine.description import CATEGORIES
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.measurements import CYCLE_CLASSES
from tilewright.passes.ir.exchange import PhaseFigures
from tilewright.passes.ir.graph import GraphOfModule, plan_of
from tilewright.passes.ir.lives import Events, buffer_lives, source_text
from tilewright.passes.ir.memory import memory_requests
from tilewright.passes.pipeline import level_of
from tilewright.planning.graph import OperatorNode, RepeatNode
from tilewright.planning.layout import Layout
from tilewright.planning.plan import Plan
from tilewright.planning.search.favourites import Planned
from tilewright.profile import (
    Binding,
    Buffer,
    Failure,
    Header,
    Instruction,
    MachineFacts,
    Move,
    Operator,
    Phase,
    Profile,
    Region,
    Repeat,
    Reservation,
    Segment,
    SourceLine,
    Step,
)
from tilewright.sim.recorder import tile_groups
from tilewright.sim.results import operator_of_step

if TYPE_CHECKING:
    from tilewright.sim.recorder import Recorder

Ints = npt.NDArray[np.int64]

LINES_AROUND = 3
"""Lines of the program that are kept before and behind one that an operator is on."""
LINE_LENGTH = 400
"""Characters of a line that are kept."""


@dataclass(eq=False)
class CompilationFacts:
    """What is known of a program while it is compiled, and no longer when it runs."""

    operators: dict[str, Operator] = field(default_factory=dict[str, Operator])
    plan: Plan | None = None
    why: dict[tuple[str, int], tuple[str, str]] = field(
        default_factory=dict[tuple[str, int], tuple[str, str]]
    )
    """By name and address of a buffer: where it comes from, why it is alive."""
    moves: list[tuple[Move, ...]] = field(default_factory=list[tuple[Move, ...]])
    """Of every exchange phase, in program order."""
    text: tuple[str, str] = "", ""
    """The name of the program's file as locations say it, and what is in it."""

    def read_program(self, module: ModuleOp, planned_already: bool = False) -> None:
        """The operators of a module of tensor operations, as they were given or as they are planned."""
        if level_of(module) != "tensors":
            return
        program = GraphOfModule(module)
        graph = program.graph
        planned = program.planned() if planned_already else Planned({}, {})
        for node, repeats in _operators(graph.body, ()):
            value = graph.values[node.results[0]]
            layout = planned.placements.get(node.results[0])
            choice = planned.choices.get(node.name)
            record = {} if choice is None else choice.to_json()
            self.operators[node.name] = Operator(
                node.name,
                node.operator.name,
                source_text(program.operations[node.name]),
                tuple(graph.values[operand].name for operand in node.operands),
                value.shape,
                value.dtype,
                "" if layout is None else str(layout[0]),
                "" if layout is None else str(layout[1]),
                repeats,
                json.dumps(record) if record else "",
            )

    def after(self, stage: str, module: ModuleOp) -> None:
        """Told by the pipeline when a stage has ended."""
        if stage in ("tile-plan-layouts", "tile-select-homes"):
            self.read_program(module, planned_already=True)
            self.plan = plan_of(module)
        elif stage == "tile-allocate-memory":
            function = entry_function(module)
            for op, life in buffer_lives(function, Events(function)).items():
                if op.address is not None:
                    key = op.buffer_name.data, op.address.value.data
                    self.why[key] = source_text(op), life.reason
            self.moves = [_moves(op) for op in function.walk() if isinstance(op, ExchangeOp)]

    def lines(self) -> tuple[SourceLine, ...]:
        """The lines of the program that operators are on, and those around them."""
        name, text = self.text
        wanted: set[int] = set()
        for operator in self.operators.values():
            file, _, place = operator.source.rpartition(":")[0].rpartition(":")
            if file == name and place.isdigit():
                wanted |= set(range(int(place) - LINES_AROUND, int(place) + LINES_AROUND + 1))
        lines = text.splitlines()
        return tuple(
            SourceLine(name, number, lines[number - 1][:LINE_LENGTH])
            for number in sorted(wanted)
            if 1 <= number <= len(lines)
        )


def _moves(op: ExchangeOp) -> tuple[Move, ...]:
    made: list[Move] = []
    for source, source_view, target, target_view in op.moves():
        one, two = (owner_alloc(value)[0].buffer_name.data for value in (source, target))
        first, second = buffer_type(source), buffer_type(target)
        sides = str(first.layout), str(source_view), two, str(second.layout), str(target_view)
        made.append(Move(one, *sides, first.dtype))
    return tuple(made)


def _operators(
    body: Sequence[Any], repeats: tuple[str, ...]
) -> Sequence[tuple[OperatorNode, tuple[str, ...]]]:
    found: list[tuple[OperatorNode, tuple[str, ...]]] = []
    for node in body:
        if isinstance(node, OperatorNode):
            found.append((node, repeats))
        elif isinstance(node, RepeatNode):
            found.extend(_operators(node.body, (*repeats, node.name)))
    return found


def machine_facts(machine: Machine) -> MachineFacts:
    """The machine as a profile says it."""
    return MachineFacts(
        machine.name,
        machine.digest,
        machine.tiles,
        machine.clock_hz,
        machine.sram_base,
        machine.sram_bytes,
        machine.topology.rows,
        tuple(machine.topology.columns),
        tuple(Region(r.name, r.start, r.end, r.element_bytes) for r in machine.regions),
        tuple(Reservation(r.name, r.start, r.end, r.category) for r in machine.reservations),
    )


def profile_of_run(
    program: asm.Program,
    machine: Machine,
    recorder: Recorder,
    facts: CompilationFacts,
    figures: Sequence[PhaseFigures],
    result: Mapping[str, Any],
) -> Profile:
    """The profile of a run; `result` is the record of result.json, with its section `operators`."""
    instructions = list(program.instructions())
    number_of = {
        entry.word: number for number, entry in enumerate(encode_supervisor(program).debug)
    }  # the supervisor's words, by number of the instruction
    listed = tuple(_instruction(i, around) for i, around in instructions)
    steps: list[Step] = []
    segments: list[Segment] = []
    for recorded in recorder.segments:
        around: tuple[str, ...] = ()
        first = len(steps)
        for phase, category, active in zip(
            recorded.phases, recorded.categories, recorded.active, strict=True
        ):
            number = number_of[phase.word]
            operator = operator_of_step(phase.provenance, phase.name)
            known = facts.operators.get(operator)
            extents, operands = _call_facts(instructions[number][0], program, phase.name)
            around = max(around, _repeat_names(instructions[number]), key=len)
            steps.append(
                Step(
                    len(segments),
                    phase.name,
                    category,
                    operator,
                    phase.provenance,
                    known.source if known is not None else "",
                    number,
                    active,
                    extents,
                    operands,
                )
            )
        segments.append(Segment(recorded.count, first, len(steps) - first, around))
    placed = tuple(_buffer(p, len(instructions), facts) for p in program.placed)
    tile_class, held = _classes([p.layout for p in program.placed], machine)
    phases, sent, received, between = _phases(program, recorder, facts, figures, number_of, machine)
    header = Header(
        str(result.get("program", "")),
        result.get("precision"),
        machine_facts(machine),
        CATEGORIES,
        tuple(CYCLE_CLASSES),
        tuple(steps),
        tuple(segments),
        tuple(
            Repeat(r["name"], r["count"], r["first"], r["per_iteration"]) for r in result.get("repeats", ())
        ),
        listed,
        placed,
        tuple(_binding(b, i) for i, b in enumerate(program.bindings)),
        _with_cycles(facts.operators, result.get("operators", ())),
        phases,
        facts.plan.to_json() if facts.plan is not None else {},
        result,
        source=facts.lines(),
    )
    tiles = machine.tiles
    arrays = {
        "first": _stack([s.first for s in recorder.segments], tiles),
        "later": _stack([s.later for s in recorder.segments], tiles),
        "attributed": _stack([s.attributed for s in recorder.segments], len(CYCLE_CLASSES)),
        "executed_segment": np.array([e[0] for e in recorder.executed], np.int64),
        "executed_start": np.array([e[1] for e in recorder.executed], np.int64),
        "executed_cycles": np.array([e[2] for e in recorder.executed], np.int64),
        "tile_class": tile_class,
        "held": held,
        "row_bytes": row_bytes(program, machine),
        "homes": _stack([_home(b, tiles)[None] for b in program.bindings], tiles),
        "sent": sent,
        "received": received,
        "between": between,
        **_places(machine),
    }
    return Profile.of(header, arrays)


def profile_of_failure(
    error: TileError, module: ModuleOp, machine: Machine, facts: CompilationFacts, program: str
) -> Profile:
    """
    The memory that a compilation asked for before it ended with `error`: of every buffer, if it got as far as
    buffers.
    """
    header = Header(
        program,
        None,
        machine_facts(machine),
        CATEGORIES,
        tuple(CYCLE_CLASSES),
        operators=tuple(facts.operators.values()),
        plan=facts.plan.to_json() if facts.plan is not None else {},
        failure=Failure(error.message, error.notes, error.hint or ""),
        source=facts.lines(),
    )
    arrays = {**_places(machine), **dict(zip(("tile_class", "held"), _classes([], machine), strict=True))}
    if level_of(module) == "buffers":
        problem = memory_requests(entry_function(module), machine, strict=False, pins=False).problem
        last = max((event for event, _ in problem.events), default=0)
        labels = dict(problem.events)
        text, instructions = "", list[Instruction]()
        for event in range(1, last + 1):
            text = labels.get(event, text)
            instructions.append(Instruction("event", text, ""))
        buffers = tuple(
            Buffer(b.name, None, b.extent, b.category, b.first - 1, b.last - 1, b.layout, b.source, b.reason)
            for b in problem.buffers
        )
        header = replace(header, instructions=tuple(instructions), buffers=buffers)
        arrays["tile_class"], arrays["held"] = _classes([b.layout for b in problem.buffers], machine)
        rows = sum(b.extent for b in problem.buffers if b.category == "rows")
        arrays["row_bytes"] = np.full(machine.tiles, rows, np.int64)
    return Profile.of(header, arrays)


# ------------------------------------------------------------------------------------------------ inside


def _places(machine: Machine) -> dict[str, npt.NDArray[Any]]:
    places = np.stack(machine.places(np.arange(machine.tiles)), axis=1)  # (tiles, 3)
    return {"places": places, "tile_group": tile_groups(machine)}


def _stack(parts: Sequence[npt.NDArray[Any]], width: int) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros((0, width), np.int64)


def _repeat_names(entry: tuple[asm.Instruction, tuple[asm.Repeat, ...]]) -> tuple[str, ...]:
    return tuple(repeat.name for repeat in entry[1])


def _instruction(instruction: asm.Instruction, around: tuple[asm.Repeat, ...]) -> Instruction:
    repeats = tuple(repeat.name for repeat in around)
    match instruction:
        case asm.Call():
            operator = operator_of_step(instruction.provenance, instruction.kernel)
            return Instruction("call", instruction.kernel, operator, repeats)
        case asm.Exchange():
            name = instruction.name or instruction.rows
            return Instruction("exchange", name, operator_of_step(instruction.provenance, name), repeats)
        case asm.Repeat():
            return Instruction("repeat", instruction.name, "", repeats)
        case asm.Tap():
            return Instruction("tap", instruction.value, "", repeats)


def _call_facts(
    instruction: asm.Instruction, program: asm.Program, name: str
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Largest extents of a call, and its operands as text."""
    if not isinstance(instruction, asm.Call) or instruction.kernel != name:
        return (), ()
    extents = program.table(instruction.extents).words.max(axis=0, initial=0).tolist()
    return tuple(extents), tuple(o.text for o in (*instruction.ins, *instruction.outs))


def _buffer(placed: asm.Placed, end: int, facts: CompilationFacts) -> Buffer:
    source, reason = facts.why.get((placed.name, placed.address), ("", ""))
    resident = always(placed)
    return Buffer(
        placed.name,
        placed.address,
        placed.nbytes,
        placed.category,
        -1 if resident else placed.first,
        end if resident else placed.last,
        placed.layout,
        source,
        reason or ("there all the time" if resident else ""),
    )


@lru_cache(maxsize=512)
def _layout(text: str) -> Layout:
    return Layout.parse(text)


def _classes(layouts: Sequence[str], machine: Machine) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """
    The class of each tile (tiles,), and which classes hold what is laid out so (layouts, classes); "" is on
    all.
    """
    distinct = {text: i for i, text in enumerate(dict.fromkeys(layouts))}
    owners = np.ones((len(distinct) + 1, machine.tiles), np.bool_)
    for text, i in distinct.items():
        if text:
            owners[i] = _layout(text).owners(machine.tiles)
    _, first, inverse = np.unique(np.packbits(owners, axis=0), axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    rows = [distinct[text] for text in layouts]
    return rank[inverse.reshape(-1)], owners[:, first[order]][rows]


def _binding(binding: asm.Binding, number: int) -> Binding:
    return Binding(
        binding.name,
        binding.kind,
        binding.address,
        binding.dtype,
        tuple(binding.shape),
        binding.layout,
        binding.view,
        tuple(binding.tensors),
        binding.count,
        binding.stride,
        number,
    )


def _home(binding: asm.Binding, tiles: int) -> Ints:
    return _layout(binding.layout).shard_bytes_per_tile(itemsize(binding.dtype), tiles) * binding.count


def _phases(
    program: asm.Program,
    recorder: Recorder,
    facts: CompilationFacts,
    figures: Sequence[PhaseFigures],
    number_of: Mapping[int, int],
    machine: Machine,
) -> tuple[tuple[Phase, ...], Ints, Ints, Ints]:
    """Every exchange phase of the program, and the bytes that it moves; those that never run move none."""
    word_of = {number: word for word, number in number_of.items()}
    executions: dict[int, int] = {}
    for segment in recorder.segments:
        for phase, category in zip(segment.phases, segment.categories, strict=True):
            if category == "exchange":
                executions[phase.word] = executions.get(phase.word, 0) + segment.count
    groups = int(recorder.groups.max(initial=0)) + 1
    listed: list[Phase] = []
    sent, received, between = list[Ints](), list[Ints](), list[Ints]()
    position = 0
    for number, (instruction, _) in enumerate(program.instructions()):
        if not isinstance(instruction, asm.Exchange):
            continue
        known = figures[position] if position < len(figures) else None
        position += 1
        name = instruction.name or instruction.rows
        table = program.table(instruction.rows)
        word = word_of[number]
        listed.append(
            Phase(
                name,
                operator_of_step(instruction.provenance, name),
                number,
                executions.get(word, 0),
                known.transfers if known else 0,
                known.row_bytes if known else table.nbytes,
                known.bound if known else 0,
                known.scheduled if known else 0,
                known.estimated if known else 0,
                known.paired if known else 0,
                facts.moves[position - 1] if position <= len(facts.moves) else (),
            )
        )
        moved = recorder.traffic.get(word)
        sent.append(moved.sent if moved else np.zeros(machine.tiles, np.int64))
        received.append(moved.received if moved else np.zeros(machine.tiles, np.int64))
        between.append(moved.groups if moved else np.zeros((groups, groups), np.int64))
    shape = (len(listed), machine.tiles)
    return (
        tuple(listed),
        np.array(sent, np.int64).reshape(shape),
        np.array(received, np.int64).reshape(shape),
        np.array(between, np.int64).reshape(len(listed), groups, groups),
    )


def _with_cycles(known: Mapping[str, Operator], counted: Sequence[Mapping[str, Any]]) -> tuple[Operator, ...]:
    """Operators in the order of execution with their cycles; those without any at the end."""
    found: dict[str, Operator] = {}
    for entry in counted:
        name = entry["name"]
        operator = known.get(name) or Operator(name, entry["kind"], "", (), (), "", "", "", (), "")
        found[name] = replace(operator, **{key: entry[key] for key in operator.cycles()})
    return (*found.values(), *(o for name, o in known.items() if name not in found))
