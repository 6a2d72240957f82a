# SPDX-License-Identifier: Apache-2.0
"""
Which command makes which block: `producer` registers a function from `Runs` to tables and paragraphs.

`cost` says who runs it again to compare: "fast" the fast tests (seconds), "slow" (a minute) and "long"
(minutes each) `make test-full` and `make figures-check`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from figures.blocks import Part
from figures.runs import Runs

Cost = Literal["fast", "slow", "long"]


@dataclass(frozen=True)
class Producer:
    """`machine` is the machine of the figures; `timed` whether there are seconds of the host among them."""

    make: Callable[[Runs], list[Part]]
    cost: Cost
    machine: str
    timed: bool


PRODUCERS: dict[str, Producer] = {}


def producer(
    name: str, cost: Cost, machine: str, *, timed: bool = False
) -> Callable[[Callable[[Runs], list[Part]]], Callable[[Runs], list[Part]]]:
    def add(make: Callable[[Runs], list[Part]]) -> Callable[[Runs], list[Part]]:
        assert name not in PRODUCERS, name
        PRODUCERS[name] = Producer(make, cost, machine, timed)
        return make

    return add
