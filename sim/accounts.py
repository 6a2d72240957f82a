# SPDX-License-Identifier: Apache-2.0
"""The clock of a run: steps since the last barrier, and all cycles before it by category and evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tilewright.machine.kernels.measurements import CYCLE_CLASSES
from tilewright.sim import fabric
from tilewright.sim.phase import Phase
from tilewright.sim.results import Category, Step


@dataclass(frozen=True, eq=False)
class Pending:
    """
    A step since the last barrier: cycles int64 (tiles,), and what they rest on, index into `CYCLE_CLASSES`
    int64 (tiles,). `active` tiles take part.
    """

    phase: Phase
    category: Category
    cycles: npt.NDArray[np.int64]
    evidence: npt.NDArray[np.int64]
    active: int


class Observer(Protocol):
    """Told what a run executes, as it does."""

    def segment(self, steps: Sequence[Pending], start: int, slowest: int) -> None:
        """A barrier: the steps since the last one began at cycle `start`, tile `slowest` took longest."""
        ...

    def exchanged(self, phase: Phase, delivery: fabric.Delivery) -> None:
        """What an exchange phase has moved."""
        ...


class Accounts:
    """
    Cycles of one run: `clock` at the last barrier, those of all steps by category and by evidence. `observer`
    is told of every barrier.
    """

    def __init__(self, tiles: int, observer: Observer | None = None) -> None:
        self.tiles = tiles
        self.observer = observer
        self.clock = 0
        self.steps: list[Step] = []
        self.cycles: dict[Category, int] = {"compute": 0, "exchange": 0, "copy": 0, "sync": 0}
        self.evidence: dict[str, int] = dict.fromkeys(CYCLE_CLASSES, 0)
        self._segment: list[Pending] = []

    def record(
        self,
        phase: Phase,
        category: Category,
        cycles: npt.NDArray[np.int64] | int,
        rests_on: npt.NDArray[np.int64] | None = None,
        active: int | None = None,
    ) -> None:
        """
        Account a step: `cycles` per tile, or one number for all; without `rests_on`, those of the fabric. An
        exchange phase is a segment of its own.
        """
        if isinstance(cycles, int | np.integer):
            cycles = np.full(self.tiles, int(cycles), np.int64)
        count = int(np.count_nonzero(cycles)) if active is None else active
        if rests_on is None:
            rests_on = np.full(self.tiles, CYCLE_CLASSES.index(category), np.int64)
        self._segment.append(Pending(phase, category, cycles, rests_on, count))
        if category in ("exchange", "sync"):
            self.barrier()

    def barrier(self) -> None:
        """
        All tiles wait for the slowest: the steps since the last barrier are attributed as that tile spent
        them.

        Tiles go through the kernel calls between two exchange phases at their own pace, so it is their sums
        that count, not the slowest tile of each call.
        """
        if not self._segment:
            return
        total = np.sum([step.cycles for step in self._segment], axis=0)
        slowest = int(total.argmax())
        if self.observer is not None:
            self.observer.segment(self._segment, self.clock, slowest)
        for step in self._segment:
            worst = int(step.cycles[slowest])
            phase, rests_on = step.phase, CYCLE_CLASSES[step.evidence[slowest]]
            self.steps.append(
                Step(
                    phase.name,
                    step.category,
                    phase.provenance,
                    self.clock,
                    worst,
                    float(step.cycles.mean()),
                    step.active,
                    phase.iteration,
                    phase.word,
                    slowest,
                    rests_on,
                )
            )
            self.clock += worst
            self.cycles[step.category] += worst
            self.evidence[rests_on] += worst
        self._segment.clear()
