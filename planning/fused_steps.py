# SPDX-License-Identifier: Apache-2.0
"""
What the passes behind the merging of phases make of a program's steps: values are made where a copy would
bring them, chains of functions are one call, casts to 8-bit floats are stores of the calls before them.

Which calls those are is said once, in `planning/fusing.py`. Here is what happens between two of them, as
`passes/tile_coalesce_copies.py` and `passes/ir/neighbours.py` read it from operations; a test holds that both
forms of a program stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from tilewright.planning.fusing import Before, Call, Operand, chained, stored_cast, whole_copy
from tilewright.planning.stages import ComputeStage, KernelOperand, Stages
from tilewright.planning.steps import Loop, Phase, Step, Store, steps_of

Once = Callable[[Hashable, Callable[[], Any]], Any]
"""Remembers what a function gives for a key, or asks it again."""


def fuse_steps(body: list[Any], stores: list[Store], once: Once) -> None:
    """
    Change a program in place, `body` with merged phases and its buffers, to what is scheduled and placed.
    """
    _coalesce(body, stores)
    for rule in (chained, _stored_cast):
        users = _users(body)
        for each in _bodies(body):
            run = _Run(each, users, once)
            run.fuse(rule)
            stores[:] = [store for store in stores if store not in run.unused]


def _stored_cast(cast: Call, made_for: Before) -> tuple[Call, Sequence[Call]] | None:
    found = stored_cast(cast, made_for)
    return None if found is None else (found[0], (found[1],))


def call_of(step: Step) -> Call:
    """The kernel call that a step is."""
    stage = step.stage
    assert isinstance(stage, ComputeStage)
    operands: list[Operand] = []
    for operand, names in zip((*stage.ins, *stage.outs), stage.operand_axes, strict=True):
        store = step.stores[operand.buffer]
        if operand.flat or operand.pad:
            axes = {"flat": 0} if operand.flat else {"pad": operand.axes[0]}
        else:
            axes = dict(zip(names, operand.axes, strict=True))
        operands.append(Operand(store, store.buffer.dtype, store.buffer.layout, store.count, axes))
    n = len(stage.ins)
    ins, outs = tuple(operands[:n]), tuple(operands[n:])
    return Call(stage.kernel, tuple(stage.axes), ins, outs, dict(stage.scalars), step)


def _bodies(body: list[Any]) -> Iterator[list[Any]]:
    yield body
    for item in body:
        if isinstance(item, Loop):
            yield from _bodies(item.body)


# -- copies


def _coalesce(program: list[Any], stores: list[Store]) -> None:
    """Make values where whole copies of them would bring them, if nobody needs that place in between."""
    touched: dict[Loop, set[Store]] = {}

    def touches(item: Any, store: Store) -> bool:
        if isinstance(item, Loop):
            if item not in touched:
                touched[item] = {
                    s for step in steps_of(item.body) for s in (*step.reads, *step.writes)
                } | _sequences(item)
            return store in touched[item]
        return any(store in s.reads or store in s.writes for s in steps_of([item]))

    def free(body: list[Any], loop: Loop | None, copy: Step, source: Store, target: Store) -> bool:
        if source.loop is not loop or source.kind or target.kind not in ("", "output"):
            return False
        around = loop
        while around is not None:
            if target in around.sequences:
                return False  # a member of it
            around = around.around
        at, found = body.index(copy), False
        for item in body[:at]:
            found = found or touches(item, source)
            if found and touches(item, target):
                return False
        return found and not any(touches(item, source) for item in body[at + 1 :])

    def walk(body: list[Any], loop: Loop | None) -> None:
        for item in list(body):
            if isinstance(item, Loop):
                walk(item.body, item)
            if not isinstance(item, Step) or not isinstance(item.stage, ComputeStage):
                continue
            if item.stage.kernel != "copy" or not whole_copy(call_of(item)):
                continue
            (source,), (target,) = item.reads, item.writes
            if free(body, loop, item, source, target):
                body.remove(item)
                _replace(body, source, target)
                stores.remove(source)
                touched.clear()

    walk(program, None)


def _sequences(loop: Loop) -> set[Store]:
    """The sequences of a repeat and of those in it."""
    inner = (_sequences(item) for item in loop.body if isinstance(item, Loop))
    return set(loop.sequences).union(*inner)


def _replace(body: list[Any], old: Store, new: Store) -> None:
    def renamed(stores: tuple[Store, ...]) -> tuple[Store, ...]:
        return tuple(dict.fromkeys(new if s is old else s for s in stores))

    for step in steps_of(body):
        if old in step.reads or old in step.writes:
            step.reads, step.writes = renamed(step.reads), renamed(step.writes)
            step.stores = {name: new if s is old else s for name, s in step.stores.items()}
    for inner in _bodies(body):
        for item in inner:
            if isinstance(item, Loop):
                item.sequences = renamed(item.sequences)


# -- calls


def _users(program: list[Any]) -> dict[Store, list[Step | Loop]]:
    """Steps by the buffers that they are on, once for every operand, and repeats by their sequences."""
    found: dict[Store, list[Step | Loop]] = {}
    for body in _bodies(program):
        for item in body:
            if isinstance(item, Loop):
                for store in item.sequences:
                    found.setdefault(store, []).append(item)
            elif isinstance(item, (Step, Phase)):
                for step in steps_of([item]):
                    for store in _operands(step):
                        found.setdefault(store, []).append(step)
    return found


class _Run:
    """The items of a body, and who uses which buffer."""

    def __init__(self, body: list[Any], users: dict[Store, list[Step | Loop]], once: Once) -> None:
        self.body, self.users, self.once = body, users, once
        self.items: list[Any] = list(body)
        """By their place at first, None for those that are gone."""
        self.at = {item: i for i, item in enumerate(body)}
        self.unused: set[Store] = set()
        """Buffers between calls that are one."""

    def fuse(self, rule: Callable[[Call, Before], tuple[Call, Sequence[Call]] | None]) -> None:
        for item in list(self.body):
            if not isinstance(item, Step) or not isinstance(item.stage, ComputeStage):
                continue
            if item.stage.kernel != "cast" and not item.stage.kernel.startswith("pointwise."):
                continue
            found = rule(call_of(item), self.made_for)
            if found is not None:
                self.put(item, found[0], [call.origin for call in found[1]])
        self.body[:] = [item for item in self.items if item is not None]

    def made_for(self, operand: Operand, call: Call) -> Call | None:
        """
        The call that makes an operand for another alone, if nothing between them writes what it reads, and
        both are in one phase.
        """
        store: Any = operand.buffer
        users = self.users.get(store, [])
        others = [user for user in users if user is not call.origin]
        if store.kind or store.count != 1 or len(users) != 2 or len(others) != 1:
            return None
        (before,) = others
        if not isinstance(before, Step) or before not in self.at or store not in before.writes:
            return None
        if not isinstance(before.stage, ComputeStage):
            return None
        start, end = self.at[before], self.at[call.origin]
        for item in self.items[start + 1 : end]:
            if item is None:
                continue
            if not isinstance(item, Step) or not set(before.reads).isdisjoint(item.writes):
                return None
        return call_of(before) if start < end else None

    def put(self, last: Step, call: Call, gone: Sequence[Step]) -> None:
        """One call in the place of the last of those that it replaces."""
        fused = _step(call, gone, last, self.once)
        self.unused.update(store for step in gone for store in step.writes)
        place = self.at[last]
        for step in (*gone, last):
            for store in _operands(step):
                self.users[store] = [user for user in self.users[store] if user is not step]
            self.items[self.at.pop(step)] = None
        self.items[place] = fused
        self.at[fused] = place
        for store in _operands(fused):
            self.users.setdefault(store, []).append(fused)


def _operands(step: Step) -> list[Store]:
    """The buffers of a step, once for every operand; none of what only names a buffer."""
    if isinstance(step.stage, ComputeStage):
        return [step.stores[operand.buffer] for operand in (*step.stage.ins, *step.stage.outs)]
    return [] if step.stage is None else [*step.reads, *step.writes]


def _step(call: Call, gone: Sequence[Step], last: Step, once: Once) -> Step:
    """The step of a call that replaces others; `call` says how, on buffers that are its own to name."""
    stores: list[Any] = list(dict.fromkeys(operand.buffer for operand in (*call.ins, *call.outs)))
    names = {store: f"x{i}" for i, store in enumerate(stores)}

    def make() -> Stages:
        def operand(one: Operand) -> KernelOperand:
            return KernelOperand(names[one.buffer], tuple(one.axes.values()))  # type: ignore[index]

        stage = ComputeStage(
            call.kernel,
            call.axes,
            tuple(operand(one) for one in call.ins),
            tuple(operand(one) for one in call.outs),
            tuple(tuple(one.axes) for one in (*call.ins, *call.outs)),
            tuple(call.scalars.items()),
            "fused",
        )
        return Stages((), {names[store]: store.buffer for store in stores}, (stage,), ())

    pattern = tuple(names[operand.buffer] for operand in (*call.ins, *call.outs))  # type: ignore[index]
    key = ("fused", tuple(id(step.stage) for step in (*gone, last)), pattern)
    stages = once(key, make)
    reads = tuple(dict.fromkeys(operand.buffer for operand in call.ins))
    writes = tuple(dict.fromkeys(operand.buffer for operand in call.outs))
    here = {names[store]: store for store in stores}
    return Step(stages, stages.stages[0], here, reads, writes, gone[0].owner)  # type: ignore[arg-type]


__all__ = ["call_of", "fuse_steps"]
