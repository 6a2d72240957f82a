# SPDX-License-Identifier: Apache-2.0
"""
Problems that are known to have a solution, because they were made from one.

A *guillotine* instance cuts the rectangle (events x bytes) into buffers, so that every event is full. A
*sampled* instance takes sizes and lives from given buffers, lays them down one above the other, and lets each
grow to the next. The addresses are then hidden. `fill` is the largest number of bytes live at one event over
the capacity that the solver gets.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from tilewright.planning.memory.problem import Buffer, Problem

GRANULE = 8
"""Sizes and addresses are multiples of this many bytes."""


def guillotine(
    buffers: int, fill: float, seed: int, capacity: int = 1 << 18, events: int = 64
) -> tuple[Problem, tuple[int, ...]]:
    """
    A problem of so many buffers, and a solution of it. `capacity` is the height of the rectangle in bytes.
    """
    rng = random.Random(f"guillotine {buffers} {seed}")
    parts = [(0, max(events, buffers), 0, capacity // GRANULE)]  # first, end, low, high
    while len(parts) < buffers:
        cuts = [i for i, (a, b, lo, hi) in enumerate(parts) if b - a > 1 or hi - lo > 1]
        weights = [(parts[i][1] - parts[i][0]) * (parts[i][3] - parts[i][2]) for i in cuts]
        a, b, lo, hi = parts.pop(rng.choices(cuts, weights)[0])
        if hi - lo > 1 and (b - a == 1 or rng.random() < 0.5):
            at = rng.randint(lo + 1, hi - 1)
            parts += [(a, b, lo, at), (a, b, at, hi)]
        else:
            at = rng.randint(a + 1, b - 1)
            parts += [(a, at, lo, hi), (at, b, lo, hi)]
    rng.shuffle(parts)
    made = tuple(
        Buffer(f"b{i}", (hi - lo) * GRANULE, a, b - 1, alignment=GRANULE)
        for i, (a, b, lo, hi) in enumerate(parts)
    )
    return _hidden(f"guillotine-{buffers}-{fill:g}-{seed}", made, fill, 0), tuple(
        lo * GRANULE for _, _, lo, _ in parts
    )


def sampled(pool: Sequence[Buffer], buffers: int, fill: float, seed: int) -> tuple[Problem, tuple[int, ...]]:
    """A problem of so many buffers with sizes and lives of `pool`, and a solution of it."""
    rng = random.Random(f"sampled {buffers} {seed}")
    chosen = [rng.choice(pool) for _ in range(buffers)]
    rng.shuffle(chosen)
    low: list[int] = []
    size = [-(-max(b.extent, 1) // GRANULE) * GRANULE for b in chosen]
    for i, b in enumerate(chosen):
        at = 0
        for start, end in sorted((low[j], low[j] + size[j]) for j in range(i) if _meet(b, chosen[j])):
            if at + size[i] <= start:
                break
            at = max(at, end)
        low.append(at)
    top = max(at + n for at, n in zip(low, size, strict=True))
    for i in sorted(range(buffers), key=lambda i: -low[i]):
        above = [low[j] for j in range(buffers) if j != i and low[j] > low[i] and _meet(chosen[i], chosen[j])]
        size[i] = min(above, default=top) - low[i]
    made = tuple(
        Buffer(f"b{i}", size[i], b.first, b.last, alignment=GRANULE, category=b.category)
        for i, b in enumerate(chosen)
    )
    return _hidden(f"sampled-{buffers}-{fill:g}-{seed}", made, fill, top), tuple(low)


def _meet(a: Buffer, b: Buffer) -> bool:
    return a.first <= b.last and b.first <= a.last


def _hidden(name: str, buffers: tuple[Buffer, ...], fill: float, least: int) -> Problem:
    """
    The buffers in one range that they fill so far; `least`: what the known solution needs, should it need
    more.
    """
    peak = max(sum(b.nbytes for b in buffers if b.live_at(a.first)) for a in buffers)
    capacity = max(least, -(-int(peak / fill) // GRANULE) * GRANULE)
    return Problem(buffers, ((0, capacity),), name=name)
