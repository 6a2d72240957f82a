# SPDX-License-Identifier: Apache-2.0
"""
What no order of allocation can change: the bytes that are live at an event.

Everything here is a proof: if a bound exceeds what there is, the problem has no solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.planning.memory.problem import Buffer, Problem


@dataclass(frozen=True)
class Payload:
    """
    Bytes live at `event` on a tile of class `number`, in the memory that `memory` names, against what there
    is.
    """

    event: int
    number: int
    memory: str
    live: int
    available: int

    @property
    def short(self) -> int:
        """Bytes that are missing; 0 or less where they fit."""
        return self.live - self.available


def lower_bound(problem: Problem) -> int:
    """Largest number of bytes live at one event on one tile, over everything that has to have a place."""
    return max((p.live for p in payloads(problem, "any")), default=0)


def payloads(problem: Problem, memory: str) -> list[Payload]:
    """For each class the event at which most bytes of a memory class are live (the earliest of equals)."""
    buffers = [b for b in problem.buffers if memory == "any" or _within(problem, b, memory)]
    buffers = [b for b in buffers if b.extent]
    available = sum(end - start for start, end in problem.ranges if _in(problem, start, memory))
    found: list[Payload] = []
    starts = sorted({b.first for b in buffers})
    for number in range(len(problem.classes)):
        mine = [b for b in buffers if not b.classes or number in b.classes]
        if not mine:
            continue
        live = [_live(problem, mine, event) for event in starts]
        at = int(np.argmax(live))
        found.append(Payload(starts[at], number, memory, live[at], available))
    return found


def live_buffers(problem: Problem, event: int, number: int, memory: str = "any") -> list[Buffer]:
    """Buffers live at an event on a class, largest first."""
    found = [
        b
        for b in problem.buffers
        if b.live_at(event)
        and b.extent
        and (not b.classes or number in b.classes)
        and (memory == "any" or _within(problem, b, memory))
    ]
    return sorted(found, key=lambda b: (-b.extent, b.name))


def _within(problem: Problem, b: Buffer, memory: str) -> bool:
    """Whether the buffer can only lie in what `memory` names."""
    ranges = problem.ranges_for(b)
    return bool(ranges) and all(_in(problem, start, memory) for start, _ in ranges)


def _in(problem: Problem, start: int, memory: str) -> bool:
    region = problem.region_of(start)
    if memory == "any":
        return True
    return region is not None and (region.executable if memory == "executable" else region.name == memory)


def _live(problem: Problem, buffers: Sequence[Buffer], event: int) -> int:
    """Bytes that the buffers need at an event at least; aliases and pairs that may overlap count once."""
    live = [b for b in buffers if b.first <= event <= b.last]
    names = {b.name for b in live}
    height: dict[str, int] = {}
    for b in live:
        key = b.alias or b.name
        height[key] = max(height.get(key, 0), b.extent + b.guard)
    total = sum(height.values())
    joined: set[str] = set()
    for a, b in problem.together:
        if a in names and b in names and not joined & {a, b}:
            joined |= {a, b}
            total -= min(height.get(a, 0), height.get(b, 0))
    return total
