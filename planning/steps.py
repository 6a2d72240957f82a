# SPDX-License-Identifier: Apache-2.0
"""What a program without IR is made of: buffers, the steps on them, phases that steps share, and repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Literal

from tilewright.planning.stages import Buffer, ComputeStage, ExchangeStage, Stages

Kind = Literal["", "parameter", "input", "constant", "output"]


@dataclass(eq=False)
class Store:
    """A buffer of the program: `count` members, and what the host does with it (`kind`)."""

    name: str
    buffer: Buffer
    count: int
    kind: Kind
    loop: Loop | None
    """The repeat in whose body it is; None outside of all."""


@dataclass(eq=False)
class Step:
    """
    A stage of an expansion on buffers of the program, or (without one) something that only names a buffer.
    `owner` is the operator it belongs to, "" for what repeats and sequences need.
    """

    stages: Stages | None
    stage: ComputeStage | ExchangeStage | None
    stores: Mapping[str, Store]
    reads: tuple[Store, ...]
    writes: tuple[Store, ...]
    owner: str

    @property
    def is_exchange(self) -> bool:
        return isinstance(self.stage, ExchangeStage)


@dataclass(eq=False)
class Phase:
    """Exchange stages that share one phase."""

    parts: list[Step]


class Cut:
    """Nothing is moved across it."""


@dataclass(eq=False)
class Loop:
    """A repeat: its body is executed `count` times."""

    name: str
    count: int
    sequences: tuple[Store, ...]
    around: Loop | None
    body: list[Any] = field(default_factory=list)
    """Its items."""


Item = Step | Phase | Loop


KEPT_TRIES = 4
"""Placements that are tried with buffers kept over the iterations of their repeat, for their fills."""


def kept_fills(loop: Loop) -> dict[Store, list[Step]]:
    """
    Fills, by their buffer, that need not be done again in every iteration: of buffers that only one other
    step writes, before all that read them. Placing makes them once before the repeat where their buffers find
    room for all of it (`passes/ir/hoisting.py`).
    """
    users: dict[Store, list[Step]] = {}
    inside: set[Store] = set()
    for item in loop.body:
        if isinstance(item, Loop):
            inside |= {s for each in steps_of(item.body) for s in (*each.reads, *each.writes)}
        else:
            for step in steps_of([item]):
                for store in {*step.reads, *step.writes}:
                    users.setdefault(store, []).append(step)
    found: dict[Store, list[Step]] = {}
    for store, steps in users.items():
        fills = list(takewhile(_is_fill, steps))
        others = steps[len(fills) :]
        if store.loop is not loop or store.kind or store in inside or not others:
            continue
        alone = [step for step in others if store in step.writes or step.stage is None] == others[:1]
        if fills and alone and others[0].stage is not None and store not in others[0].reads:
            found[store] = fills
    return found


def _is_fill(step: Step) -> bool:
    return isinstance(step.stage, ComputeStage) and step.stage.kernel == "fill"


def steps_of(items: Sequence[Item]) -> Iterator[Step]:
    """Every step, those of phases and repeats too, in order."""
    for item in items:
        match item:
            case Step():
                yield item
            case Phase():
                yield from item.parts
            case Loop():
                yield from steps_of(item.body)


@dataclass(eq=False)
class Unfolded:
    """All buffers of a program, and what happens to them in order."""

    stores: list[Store]
    body: list[Item]

    def items(self, body: Sequence[Item] | None = None) -> Iterator[tuple[Item, int]]:
        """Every item with the number of times it is executed, a repeat before its body."""

        def walk(items: Sequence[Item], times: int) -> Iterator[tuple[Item, int]]:
            for item in items:
                yield item, times
                if isinstance(item, Loop):
                    yield from walk(item.body, times * item.count)

        return walk(self.body if body is None else body, 1)


__all__ = [
    "KEPT_TRIES",
    "Cut",
    "Item",
    "Kind",
    "Loop",
    "Phase",
    "Step",
    "Store",
    "Unfolded",
    "kept_fills",
    "steps_of",
]
