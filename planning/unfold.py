# SPDX-License-Identifier: Apache-2.0
"""
A planned program as buffers and steps, without IR: what lowering will emit, in the order in which phases are
merged, its calls fused.

`unfold` walks a graph as `tile-lower-to-buffers` walks the program, asks the same expansions, orders every
straight run as `tile-merge-phases` does, and fuses calls as the passes behind it do. A test holds that both
give the same kernels and phases on the same buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tilewright.machine import Machine
from tilewright.planning import in_place
from tilewright.planning.fused_steps import fuse_steps
from tilewright.planning.graph import (
    Graph,
    Node,
    OperatorNode,
    Placement,
    ReadNode,
    RepeatNode,
    SequenceNode,
)
from tilewright.planning.layout import View
from tilewright.planning.operators import VIEWS
from tilewright.planning.operators.base import Operator
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.cast_panels import PANELS
from tilewright.planning.operators.movement import expand_convert
from tilewright.planning.operators.strategy import Choice
from tilewright.planning.operators.targets import Target, flat_layout
from tilewright.planning.operators.views import apply_view
from tilewright.planning.phases import Access, levels
from tilewright.planning.stages import (
    Buffer,
    ComputeStage,
    ExchangeStage,
    KernelOperand,
    Stages,
    Value,
    used_buffers,
)
from tilewright.planning.steps import Cut, Item, Kind, Loop, Phase, Step, Store, Unfolded

T = TypeVar("T")

COPIES = ("copy", "widen")
"""Kernels whose equal calls in one run are made once."""


def informed(graph: Graph, node: OperatorNode, choices: Mapping[str, Choice]) -> OperatorNode:
    """
    The node with what its expansion may know of how its operands were made: of attention, whether queries and
    keys are casts that complete groups of columns with zeros.
    """
    if node.operator.name != "attention":
        return node
    attributes = dict(node.operator.attributes)
    attributes["zero_lanes"] = all(_zero_lanes(graph, value, choices) for value in node.operands[:2])
    return replace(node, operator=replace(node.operator, attributes=attributes))


def _zero_lanes(graph: Graph, value: int, choices: Mapping[str, Choice]) -> bool:
    maker = graph.makers.get(value)
    while maker is not None and maker.operator.name in ("transpose", "reshape"):
        maker = graph.makers.get(maker.operands[0])
    choice = None if maker is None or maker.operator.name != "cast" else choices.get(maker.name)
    return choice is not None and choice.strategy.name == PANELS.name


def places_of(operands: Sequence[Value | None]) -> Hashable:
    """Where operands lie, as far as an expansion can see: which of them are one buffer as well."""
    storages = [None if value is None else value.storage for value in operands]
    shared = tuple(storages.index(s) if s is not None else i for i, s in enumerate(storages))
    return tuple(None if v is None else (v.layout, v.view, v.dtype) for v in operands), shared


class Expander:
    """Expansions of operators and moves, by the placements of what they read; subclasses remember them."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives; for one program and machine it depends on `key` alone."""
        return make()

    def operator(self, node: OperatorNode, choice: Choice, operands: tuple[Value, ...]) -> Stages:
        """The stages of an operator under a choice. Raises PlanError."""
        return choice.expand(node.operator, operands, self.machine)

    def candidate(self, node: OperatorNode, choice: Choice, operands: tuple[Value, ...]) -> Stages:
        """As `operator`, of a choice that a search makes: subclasses refuse those that can fit nowhere."""
        return self.operator(node, choice, operands)

    def convert(self, value: Value, target: Target) -> Stages:
        """The stages that bring a value into another layout."""
        operator = Operator("convert", {}, ((value.shape, value.dtype),), ((value.shape, value.dtype),))
        return expand_convert(operator, target, (value,), self.machine)

    def move(self, source: Value, target: Value) -> Stages:
        """The stages that bring a value into a buffer that exists."""
        kind = (target.shape, target.dtype)
        builder = Builder(Operator("move", {}, (kind,), (kind,)), (source, target), self.machine)
        builder.gather_into([("in0", source.view, target.view)], "in1", "move")
        return builder.finish()

    def copy(self, source: Value, target: Value) -> Stages:
        """The local copy of a value into a member of a sequence that lies as it does."""
        names = tuple(f"x{i}" for i in range(len(target.layout.axes)))
        axes = tuple(range(len(names)))
        ins, outs = (KernelOperand("in0", axes),), (KernelOperand("in1", axes),)
        stage = ComputeStage("copy", names, ins, outs, (names, names), (("run_bytes", 8),), "copy")
        return Stages((source, target), {}, (stage,), ())


def unfold(
    graph: Graph,
    choices: Mapping[str, Choice],
    placements: Mapping[int, Placement],
    machine: Machine,
    expander: Expander | None = None,
) -> Unfolded:
    """The program with these choices and placements. Raises PlanError for what an operator does not allow."""
    unfolding = _Unfolding(graph, choices, placements, machine, expander or Expander(machine))
    for value in graph.arguments:
        unfolding.argument(value)
    unfolding.block(graph.body)
    for node in graph.body:
        if isinstance(node, ReadNode):
            unfolding.outputs(node)
    ordered = _ordered(unfolding.out, _in_several_runs(unfolding.out))
    fuse_steps(ordered, unfolding.stores, unfolding.expander.once)
    return Unfolded(unfolding.stores, _without_cuts(ordered))


@dataclass(frozen=True)
class _Stored:
    store: Store
    view: View
    count: int
    """Members of the sequence that this is, 1 for a tensor."""


class _Unfolding:
    def __init__(
        self,
        graph: Graph,
        choices: Mapping[str, Choice],
        placements: Mapping[int, Placement],
        machine: Machine,
        expander: Expander,
    ) -> None:
        self.graph, self.choices, self.placements = graph, choices, placements
        self.machine, self.expander = machine, expander
        self.stores: list[Store] = []
        self.env: dict[int, _Stored] = {}
        self.out: list[Step | Loop | Cut] = []
        self.loop: Loop | None = None

    def store(self, name: str, buffer: Buffer, count: int = 1, kind: Kind = "") -> Store:
        self.stores.append(Store(name, buffer, count, kind, None if kind else self.loop))
        return self.stores[-1]

    def argument(self, value: int) -> None:
        described = self.graph.values[value]
        if value not in self.placements:
            return
        layout, view = self.placements[value]
        category = "parameters" if described.origin != "input" else "activations"
        kind: Kind = described.origin if described.origin in ("parameter", "input", "constant") else "input"  # type: ignore[assignment]
        made = self.store(described.name, Buffer(layout, described.dtype, category), described.members, kind)
        self.env[value] = _Stored(made, view, described.members)

    def of(self, value: int) -> _Stored:
        if value not in self.env:
            self.argument(value)  # a constant, or what somebody else makes
        return self.env[value]

    def value(self, value: int) -> Value:
        return self._value(self.of(value))

    @staticmethod
    def _value(stored: _Stored) -> Value:
        return Value(stored.store.buffer, stored.view, id(stored.store))

    def block(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            match node:
                case RepeatNode():
                    self.repeat(node)
                case SequenceNode():
                    self.sequence(node)
                case OperatorNode() if node.operator.name in VIEWS:
                    self.view(node)
                case OperatorNode():
                    self.operator(node)
                case ReadNode():
                    pass

    def outputs(self, node: ReadNode) -> None:
        for value in node.operands:
            stored = self.of(value)
            if not stored.store.kind:
                stored.store.kind = "output"
            self.name(stored.store)

    def name(self, store: Store) -> None:
        self.out.append(Step(None, None, {}, (store,), (), ""))

    def operator(self, node: OperatorNode) -> None:
        operands = [self.of(v) for v in node.operands]
        choice = self.choices[node.name]
        values = tuple(self._value(o) for o in operands)
        stages = self.expander.operator(informed(self.graph, node, self.choices), choice, values)
        results = self.emit(stages, operands, node.name)
        for result, stored in zip(node.results, results, strict=True):
            self.env[result] = stored
            if result in self.graph.needed:
                self.name(stored.store)

    def view(self, node: OperatorNode) -> None:
        stored = self.of(node.operands[0])
        view = apply_view(node.operator, stored.view)
        if view is None:
            value = self._value(stored)
            target = flat_layout(value.shape, value.dtype, self.machine)
            (stored,) = self.emit(self.expander.convert(value, target), [stored], node.name)
            view = apply_view(node.operator, stored.view)
            assert view is not None
        self.env[node.results[0]] = replace(stored, view=view)

    def emit(self, stages: Stages, operands: Sequence[_Stored], name: str) -> list[_Stored]:
        stores = {f"in{i}": o.store for i, o in enumerate(operands)}
        for key, buffer in stages.buffers.items():
            resident = key in stages.constants
            stores[key] = self.store(f"{name}.{key}", buffer, 1, "constant" if resident else "")
        for stage in stages.stages:
            if isinstance(stage, ExchangeStage):
                reads = tuple(dict.fromkeys(stores[m.src] for m in stage.moves))
                writes = tuple(dict.fromkeys(stores[m.dst] for m in stage.moves))
            else:
                reads = tuple(dict.fromkeys(stores[o.buffer] for o in stage.ins))
                writes = tuple(dict.fromkeys(stores[o.buffer] for o in stage.outs))
            here = {n: stores[n] for n in used_buffers(stage)}
            self.out.append(Step(stages, stage, here, reads, writes, name))
        return [_Stored(stores[key], view, 1) for key, view in stages.results]

    # -- repeats

    def repeat(self, node: RepeatNode) -> None:
        carried: list[_Stored] = []
        for c in node.carried:
            layout, view = self.placements[c.argument]
            initial = self.of(c.initial)
            placed = initial.store.buffer.layout, initial.view
            if in_place.stays(c.in_place, placed, initial.count, (layout, view)):
                carried.append(initial)
                self.env[c.argument] = initial
                continue
            dtype = self.graph.values[c.argument].dtype
            made = self.store(self.graph.values[c.argument].name, Buffer(layout, dtype, "activations"))
            stored = _Stored(made, view, 1)
            self.move(initial, stored)
            carried.append(stored)
            self.env[c.argument] = stored
        for passed in node.invariant:
            self.env[passed.argument] = self.of(passed.outer)
        sequences = [self.of(p.outer) for p in node.iterated]
        kept = in_place.kept_members(
            [c.sequence for c in node.collected],
            [self.placements.get(c.result) for c in node.collected],
            [self.placements.get(p.argument) for p in node.iterated],
            [self.placements.get(p.outer) for p in node.iterated],
        )
        collected: list[_Stored] = []
        for i, c in enumerate(node.collected):
            layout, view = self.placements[c.result]
            if i in kept:
                collected.append(replace(sequences[kept[i]], view=view))
                continue
            members = node.count * self.graph.values[c.member].members
            dtype = self.graph.values[c.result].dtype
            made = self.store(self.graph.values[c.result].name, Buffer(layout, dtype, "activations"), members)
            collected.append(_Stored(made, view, members))
        if node.count:
            self.body(node, carried, sequences, collected, kept)
        for c, stored in zip(node.carried, carried, strict=True):
            self.env[c.result] = stored
        for c, stored in zip(node.collected, collected, strict=True):
            self.env[c.result] = stored

    def body(
        self,
        node: RepeatNode,
        carried: list[_Stored],
        sequences: list[_Stored],
        collected: list[_Stored],
        kept: Mapping[int, int],
    ) -> None:
        made = [stored for i, stored in enumerate(collected) if i not in kept]
        loop = Loop(node.name, node.count, tuple(s.store for s in (*sequences, *made)), self.loop)
        for passed, stored in zip(node.iterated, sequences, strict=True):
            self.env[passed.argument] = replace(stored, count=stored.count // node.count)
        saved = self.out, self.loop
        self.out, self.loop = loop.body, loop
        self.block(node.body)
        for i, (c, stored) in enumerate(zip(node.collected, collected, strict=True)):
            found, member = self.of(c.member), replace(stored, count=stored.count // node.count)
            if i not in kept or found != member:
                self.copy(found, member)
        ready: list[_Stored] = []
        buffers = {stored.store for stored in carried}
        for c, target in zip(node.carried, carried, strict=True):
            found = self.of(c.following)
            if found.store in buffers and not (found.store is target.store and found.view == target.view):
                made = self.store(
                    f"{target.store.name}.next", replace(target.store.buffer, category="staging")
                )
                temporary = _Stored(made, target.view, 1)
                self.move(found, temporary)
                ready.append(temporary)
            else:
                ready.append(found)
        for found, target in zip(ready, carried, strict=True):
            if found.store is not target.store:
                self.move(found, target)
        self.out, self.loop = saved
        self.out.append(loop)

    def move(self, source: _Stored, target: _Stored) -> None:
        self.emit(self.expander.move(self._value(source), self._value(target)), [source, target], "")

    def copy(self, source: _Stored, target: _Stored) -> None:
        """A local copy into a member of a sequence, of one tensor or of all members of an inner sequence."""
        if target.count != 1:
            if not target.count:
                return
            loop = Loop("members", target.count, (source.store, target.store), self.loop)
            saved = self.out, self.loop
            self.out, self.loop = loop.body, loop
            self.copy(replace(source, count=1), replace(target, count=1))
            self.out, self.loop = saved
            self.out.append(loop)
            return
        if source.store.buffer.layout != target.store.buffer.layout or source.view != target.view:
            made = self.store("copied", replace(target.store.buffer, category="staging"))
            temporary = _Stored(made, target.view, 1)
            self.move(source, temporary)
            source = temporary
        self.emit(self.expander.copy(self._value(source), self._value(target)), [source, target], "")

    def sequence(self, node: SequenceNode) -> None:
        (result,) = node.results
        described = self.graph.values[result]
        packed = not node.operands or len(described.counts) > len(self.graph.values[node.operands[0]].counts)
        if not packed:
            stored = self.of(node.operands[0])
            self.env[result] = replace(stored, count=described.members)
            self.out.append(Cut())
            return
        layout, view = self.placements[result]
        made = self.store("pack", Buffer(layout, described.dtype, "activations"), described.members)
        for operand in node.operands:
            self.out.append(Cut())
            member = _Stored(made, view, max(1, described.members // len(node.operands)))
            self.copy(self.of(operand), member)
        self.env[result] = _Stored(made, view, described.members)


# -- order


def _in_several_runs(items: Sequence[Step | Loop | Cut]) -> set[Store]:
    """Buffers that are used in more than one straight run, or as sequences of a repeat."""
    runs: dict[Store, int] = {}
    several: set[Store] = set()
    number = 0

    def walk(items: Sequence[Step | Loop | Cut]) -> None:
        nonlocal number
        number += 1
        for item in items:
            if isinstance(item, Step):
                for store in (*item.reads, *item.writes):
                    if runs.setdefault(store, number) != number:
                        several.add(store)
                continue
            if isinstance(item, Loop):
                several.update(item.sequences)
                walk(item.body)
            number += 1

    walk(items)
    return several


def _ordered(items: Sequence[Step | Loop | Cut], several: set[Store]) -> list[Item | Cut]:
    """Items in the order of merged phases, those of repeats too."""
    result: list[Item | Cut] = []
    run: list[Step] = []
    for item in items:
        if isinstance(item, Step):
            run.append(item)
            continue
        result += _merged(run, several)
        run = []
        if isinstance(item, Loop):
            item.body[:] = _ordered(item.body, several)
        result.append(item)
    return result + _merged(run, several)


def _without_cuts(items: Sequence[Item | Cut]) -> list[Item]:
    """Items that take time, in repeats too."""
    for item in items:
        if isinstance(item, Loop):
            item.body[:] = _without_cuts(item.body)
    return [item for item in items if not isinstance(item, Cut)]


def _merged(run: list[Step], several: set[Store]) -> list[Item]:
    if not run:
        return []
    level = levels(
        [
            Access(
                s.reads, s.writes, s.is_exchange, s.stage.kernel if isinstance(s.stage, ComputeStage) else ""
            )
            for s in run
        ]
    )
    run, level = _without_equal_copies(run, level, several)
    phases = [n for s, n in zip(run, level, strict=True) if s.is_exchange]
    if len(set(phases)) == len(phases):
        return [Phase([s]) if s.is_exchange else s for s in run]
    result: list[Item] = []
    for n in range(max(level, default=-1) + 1):
        exchanges = [s for s, at in zip(run, level, strict=True) if at == n and s.is_exchange]
        if exchanges:
            result.append(Phase(exchanges))
        result += [s for s, at in zip(run, level, strict=True) if at == n and not s.is_exchange]
    return result


def _without_equal_copies(
    run: list[Step], level: list[int], several: set[Store]
) -> tuple[list[Step], list[int]]:
    """The run without copies of one buffer, in one level, that an earlier step makes already."""
    writers: dict[Store, list[Step]] = {}
    for step in run:
        for store in step.writes:
            writers.setdefault(store, []).append(step)
    version: dict[Store, int] = {}
    first: dict[tuple[object, ...], Store] = {}
    gone: set[Step] = set()
    for i, step in enumerate(run):
        stage = step.stage
        if isinstance(stage, ComputeStage) and stage.kernel in COPIES and step.stages is not None:
            source, target = step.stores[stage.ins[0].buffer], step.stores[stage.outs[0].buffer]
            key = (
                level[i],
                stage.kernel,
                stage.ins[0].axes,
                stage.outs[0].axes,
                stage.scalars,
                source,
                version.get(source),
                target.buffer.layout,
                target.buffer.dtype,
            )
            if writers[target] == [step] and target.kind in ("", "output") and target not in several:
                if key in first:
                    gone.add(step)
                    _replace(run, target, first[key])
                    continue
                first[key] = target
        for store in step.writes:
            version[store] = i
    kept = [(s, n) for s, n in zip(run, level, strict=True) if s not in gone]
    return [s for s, _ in kept], [n for _, n in kept]


def _replace(run: list[Step], old: Store, new: Store) -> None:
    for step in run:
        if old in step.reads:
            step.reads = tuple(dict.fromkeys(new if s is old else s for s in step.reads))
            step.stores = {n: new if s is old else s for n, s in step.stores.items()}


__all__ = ["Expander", "unfold"]
