# SPDX-License-Identifier: Apache-2.0
"""
What no order of allocation can change: the bytes that are live at an event.

Everything here is a proof: if a bound exceeds what there is, the problem has no solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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


def memories(problem: Problem) -> tuple[str, ...]:
    """The kinds of memory that a payload is held against."""
    return ("any", *(r.name for r in problem.regions), "executable") if problem.regions else ("any",)


def payloads(problem: Problem, memory: str) -> list[Payload]:
    """For each class the event at which most bytes of a memory class are live (the earliest of equals)."""
    buffers = [b for b in problem.buffers if memory == "any" or _within(problem, b, memory)]
    buffers = [b for b in buffers if b.extent]
    available = sum(end - start for start, end in problem.ranges if _in(problem, start, memory))
    if not buffers:
        return []
    starts = sorted({b.first for b in buffers})
    live = _live_bytes(problem, buffers, starts)  # (events, classes)
    at = np.argmax(live, axis=0)
    held = _held(problem, buffers).any(axis=0)
    return [
        Payload(starts[at[number]], number, memory, int(live[at[number], number]), available)
        for number in np.flatnonzero(held).tolist()
    ]


def _held(problem: Problem, buffers: Sequence[Buffer]) -> npt.NDArray[np.bool_]:
    """Which class holds which buffer, (buffers, classes)."""
    held = np.zeros((len(buffers), len(problem.classes)), np.bool_)
    for i, b in enumerate(buffers):
        held[i, list(b.classes) if b.classes else slice(None)] = True
    return held


def _live_bytes(problem: Problem, buffers: Sequence[Buffer], events: Sequence[int]) -> npt.NDArray[np.int64]:
    """Bytes that the buffers need at least at each event on each class, (events, classes)."""
    names = {b.name for b in buffers}
    shared = any(b.alias for b in buffers) or any(names.issuperset(pair) for pair in problem.together)
    held = _held(problem, buffers)
    if shared:
        found = np.zeros((len(events), held.shape[1]), np.int64)
        for number in range(held.shape[1]):
            mine = [b for b, h in zip(buffers, held[:, number].tolist(), strict=True) if h]
            found[:, number] = [_live(problem, mine, event) for event in events]
        return found
    first, last, size = (
        np.array(column, np.int64)
        for column in zip(*((b.first, b.last, b.extent + b.guard) for b in buffers), strict=True)
    )
    at = np.array(events, np.int64)[:, None]
    live = ((first <= at) & (last >= at)).astype(np.float64)  # exact: sums stay far below 2^53
    return (live @ (held * size[:, None]).astype(np.float64)).astype(np.int64)


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
