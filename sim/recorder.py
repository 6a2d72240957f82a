# SPDX-License-Identifier: Apache-2.0
"""
Records what a run executes: cycles of every step on every tile, every barrier, and what each exchange phase
moves.

A stretch of steps between two barriers is a *segment*; the body of a repeat executes the same segments again
and again. A segment is kept once: its first execution exactly, the others as a sum over executions. The order
in which segments were executed is kept in full, with the cycle at which each began and how long its slowest
tile took.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tilewright.machine import Machine
from tilewright.machine.kernels.measurements import CYCLE_CLASSES
from tilewright.sim.accounts import Pending
from tilewright.sim.fabric import Delivery
from tilewright.sim.phase import Phase

Ints = npt.NDArray[np.int64]
Key = tuple[tuple[int, str, str], ...]

SMALL = 256
"""Tiles up to which each is a group of its own where traffic is kept by groups."""
BANDS = 4
"""
Bands of physical rows into which each physical column is divided where traffic is kept by groups of tiles.
"""


@dataclass(eq=False)
class RecordedSegment:
    """
    The steps between two barriers. `first` (steps, tiles) cycles of the first execution, `later` (steps,
    tiles) the sum over the others; `attributed` (steps, classes of evidence) cycles on the critical path,
    summed over all executions.
    """

    phases: tuple[Phase, ...]
    categories: tuple[str, ...]
    active: tuple[int, ...]
    iteration: tuple[int, ...]
    first: Ints
    later: Ints
    attributed: Ints
    count: int = 1


@dataclass(frozen=True, eq=False)
class Traffic:
    """
    What one exchange phase moves in its first execution: bytes that each tile sends (a word to several
    receivers counts once) and receives, (tiles,); bytes delivered from group to group of tiles, (groups,
    groups).
    """

    sent: Ints
    received: Ints
    groups: Ints


@dataclass(eq=False)
class Recorder:
    """An observer of one run of an executor."""

    machine: Machine
    segments: list[RecordedSegment] = field(default_factory=list[RecordedSegment])
    executed: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    """Of each execution, in order: the segment, the cycle at which it began, cycles of its slowest tile."""
    traffic: dict[int, Traffic] = field(default_factory=dict[int, Traffic])
    """By supervisor word of the exchange."""
    _known: dict[Key, int] = field(default_factory=dict[Key, int])

    def __post_init__(self) -> None:
        self.groups = tile_groups(self.machine)

    def segment(self, steps: Sequence[Pending], start: int, slowest: int) -> None:
        """Note the execution of a segment."""
        key = tuple((step.phase.word, step.phase.name, step.category) for step in steps)
        number = self._known.get(key)
        length = sum(int(step.cycles[slowest]) for step in steps)
        if number is None:
            number = self._known[key] = len(self.segments)
            cycles = np.array([step.cycles for step in steps], np.int64)
            self.segments.append(
                RecordedSegment(
                    tuple(step.phase for step in steps),
                    tuple(step.category for step in steps),
                    tuple(step.active for step in steps),
                    steps[0].phase.iteration,
                    cycles,
                    np.zeros_like(cycles),
                    np.zeros((len(steps), len(CYCLE_CLASSES)), np.int64),
                )
            )
        else:
            known = self.segments[number]
            known.count += 1
            for row, step in zip(known.later, steps, strict=True):
                row += step.cycles
        attributed = self.segments[number].attributed
        for row, step in zip(attributed, steps, strict=True):
            row[step.evidence[slowest]] += step.cycles[slowest]
        self.executed.append((number, start, length))

    def exchanged(self, phase: Phase, delivery: Delivery) -> None:
        """Note the bytes of a phase that is executed for the first time."""
        if phase.word not in self.traffic:
            self.traffic[phase.word] = traffic(delivery, self.groups, self.machine.tiles)


def traffic(delivery: Delivery, groups: Ints, tiles: int) -> Traffic:
    """The bytes of a delivery, by tile and between the groups of tiles that `groups` (tiles,) says."""
    nbytes = 4 * delivery.nwords
    received = _sum(delivery.dst_tile, nbytes, tiles)
    count = int(groups.max(initial=0)) + 1
    pair = groups[delivery.src_tile] * count + groups[delivery.dst_tile]
    between = _sum(pair, nbytes, count * count).reshape(count, count)
    # An item on a bus is heard by several receivers at once: what counts is the time in which a tile sends.
    ends = delivery.sent - delivery.nwords // -delivery.rate  # (pieces,)
    span = int(ends.max(initial=0)) + 1
    begin = delivery.src_tile * span + delivery.sent  # tile after tile on one line
    order = np.argsort(begin, kind="stable")
    tile, begin = delivery.src_tile[order], begin[order]
    end = tile * span + ends[order]
    before = np.maximum.accumulate(np.concatenate([np.zeros(1, np.int64), end]))[:-1]
    busy = np.maximum(end - np.maximum(begin, before), 0)
    sent = _sum(tile, 4 * delivery.rate[order] * busy, tiles)
    return Traffic(sent, received, between)


def _sum(index: Ints, values: Ints, size: int) -> Ints:
    return np.bincount(index, weights=values, minlength=size).astype(np.int64)


def tile_groups(machine: Machine) -> Ints:
    """
    The group of each tile, int64 (tiles,): of small machines every tile is one, else those of a physical
    column in a band of rows.
    """
    if machine.tiles <= SMALL:
        return np.arange(machine.tiles, dtype=np.int64)
    row, column, _ = machine.places(np.arange(machine.tiles))
    band = np.minimum(row * BANDS // machine.topology.rows, BANDS - 1)
    return np.unique(column * BANDS + band, return_inverse=True)[1].astype(np.int64)
