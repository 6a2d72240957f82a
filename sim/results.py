# SPDX-License-Identifier: Apache-2.0
"""What a run of the machine model gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tilewright.backends.program import Binding

Category = Literal["compute", "exchange", "copy", "sync"]


@dataclass(frozen=True)
class Step:
    """
    One executed step. `start` and `cycles` are on the clock of the whole run; a step of category "exchange"
    is followed by one of category "sync" for the phase overhead. `busy` is the mean over all tiles, `tiles`
    how many take part, `iteration` the iteration number of each enclosing repeat, `word` the supervisor word
    (position of the instruction in the program). `evidence`: what the cycles rest on, of `CYCLE_CLASSES`.
    """

    name: str
    category: Category
    provenance: str
    start: int
    cycles: int
    busy: float
    tiles: int
    iteration: tuple[int, ...]
    word: int
    slowest: int
    evidence: str = "measured"

    @property
    def operator(self) -> str:
        """The operator that it belongs to, or what it does where it belongs to none."""
        return operator_of_step(self.provenance, self.name)


def operator_of_step(provenance: str, name: str) -> str:
    """The operator that a provenance ("layers.q: partial sums") starts with; the step's name without one."""
    return provenance.partition(":")[0] or name


@dataclass(frozen=True)
class RepeatCycles:
    """
    Cycles of a repeat (its first execution, when it is nested): the first iteration, and the mean of the
    others.
    """

    name: str
    count: int
    first: int
    per_iteration: float | None


@dataclass(frozen=True)
class Tapped:
    """A value seen while the program runs."""

    value: str
    iteration: tuple[int, ...]
    data: np.ndarray
    binding: Binding


@dataclass(eq=False)
class RunResult:
    """
    What a run gives back: outputs by name (logical arrays), cycles by category with "total" and
    "assumed_share", the steps. `evidence`: the cycles by what they rest on, of `CYCLE_CLASSES`; they sum to
    the total.
    """

    outputs: dict[str, np.ndarray]
    cycles: dict[str, float]
    steps: tuple[Step, ...]
    repeats: tuple[RepeatCycles, ...]
    taps: tuple[Tapped, ...] = ()
    evidence: dict[str, int] = field(default_factory=dict[str, int])
