# SPDX-License-Identifier: Apache-2.0
"""
Which exchange phases can be one: the order of a straight run of steps by what each reads and writes.

Steps of a run are levelled: an exchange comes after what it reads is computed and what it overwrites is
read; a computation comes after the exchanges it waits for. Exchanges of one level become one phase,
computations between two phases keep their order. Buffers are any hashable values. Lowering orders its
operations by it, and the price of a plan is read from the same order.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

LATE = ("widen",)
"""Kernels that make a large copy for one phase: they run as late as that allows."""


@dataclass(frozen=True)
class Access:
    """What one step reads and writes; `kernel` is "" for an exchange and for what only names a buffer."""

    reads: tuple[Hashable, ...]
    writes: tuple[Hashable, ...]
    exchange: bool = False
    kernel: str = ""


def levels(steps: Sequence[Access]) -> list[int]:
    """
    Phase number of each step: computations of level l run after phase l, exchanges of level l are phase l
    (from 1).

    As early as their inputs allow; what has no input in the run (filling padding, fetching parameters) and
    copies with one element a word as late as their users allow, so that they take no memory before they have
    to.
    """
    before = _predecessors(steps)
    level = [1 if step.exchange else 0 for step in steps]
    for i, earlier in enumerate(before):
        for j in earlier:
            # an exchange follows the computations of level `at` and the phase `at`; a computation may share
            # the level of either
            level[i] = max(level[i], level[j] + 1 if steps[i].exchange else level[j])
    after: list[list[int]] = [[] for _ in steps]
    for i, earlier in enumerate(before):
        for j in earlier:
            after[j].append(i)
    for i in reversed(range(len(steps))):
        if (not before[i] or steps[i].kernel in LATE) and after[i]:
            level[i] = max(level[i], min(level[j] - 1 if steps[j].exchange else level[j] for j in after[i]))
    return level


def _predecessors(steps: Sequence[Access]) -> list[list[int]]:
    """
    For each step the earlier ones that it depends on: writers of what it reads or writes, readers of what it
    writes.
    """
    writer: dict[Hashable, int] = {}
    readers: dict[Hashable, list[int]] = {}
    result: list[list[int]] = []
    for i, step in enumerate(steps):
        found = [writer[b] for b in (*step.reads, *step.writes) if b in writer]
        found += [j for b in step.writes for j in readers.get(b, ())]
        result.append(sorted(set(found) - {i}))
        for b in step.reads:
            readers.setdefault(b, []).append(i)
        for b in step.writes:
            writer[b] = i
            readers[b] = []
    return result
