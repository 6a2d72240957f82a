# SPDX-License-Identifier: Apache-2.0
"""
Forms of a home: in which element order and in which pieces a persistent parameter is stored.

A compute layout repeats or concentrates a parameter on the tiles that use it. A *compact home* keeps one
copy: the array is cut in panels in the element order of its consumer (so materialising it moves whole panels
and permutes nothing below a word) and whole panels are divided over tiles, in a grid of panels or as a linear
sequence of chunks. docs/homes.md has figures.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from tilewright.diagnostics import TileError
from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.planning.stages import Buffer, ExchangeStage, Move, Stages, exchange_cycles

SMALL_SHARD_BYTES = 256
"""Owner shards of vectors have about this size."""
PANEL_BYTES = 512
"""A panel of anything with two axes: 16 x 32 FP8, 16 x 16 FP16 or 16 x 8 FP32 elements."""
SMALLEST_SHARD_BYTES = 32
VECTOR_BUDGET_BYTES = 2048
"""What all members of a sequence of small vectors may take together on one tile."""
PADDED_TIMES, PADDED_BYTES = 8, 8192
"""A sequence that takes so many times its elements, and so much, on all tiles together is kept unpadded."""

Form = Literal["ready", "fine", "whole", "divided", "row-major"]


class HomeError(TileError):
    """A home that cannot be, or a pinned one that would have to move."""


# -- forms: the panel sequence of a home
# -------------------------------------------------------------------------------------


def panel_form(compute: Layout, size: int, *, whole: bool = False, members: int = 1) -> Layout:
    """
    The whole array on one tile as a sequence of panels in the element order of `compute` (elements of `size`
    bytes).

    Panels that the consumer has stay; axes without panels are cut, from the innermost outwards, until a panel
    has about `PANEL_BYTES` (vectors: 256, less where `members` of them would not fit `VECTOR_BUDGET_BYTES`).
    `whole` makes the panel square in its two innermost axes (FP8: 32 x 32), so that it holds whole exchange
    panels in both orientations.
    """
    axes = compute.axes
    limit = PANEL_BYTES
    if sum(axis.extent > 1 for axis in axes) < 2:
        limit = SMALL_SHARD_BYTES
        while limit > SMALLEST_SHARD_BYTES and limit * members > VECTOR_BUDGET_BYTES:
            limit //= 2
    panels = [axis.panels for axis in axes]
    unit = math.prod(p[0] for p in panels if p) * size
    rising = [a for a, level in reversed(compute.order) if level == axes[a].levels - 1]
    for a in rising:
        room = limit // unit
        if panels[a] or axes[a].extent <= 1 or room < 2:
            continue
        local = axes[a].extent if limit < PANEL_BYTES else min(axes[a].local, axes[a].extent)
        length = _cut(axes[a].extent, local, room, max(1, 4 // math.gcd(4, unit)))
        if length > 1:
            panels[a] = (length,)
            unit *= length
    word = 4 // math.gcd(4, unit)
    if word > 1:  # the last resort for arrays of a few bytes: a panel that is padded to a word
        a = next((a for a in rising if not axes[a].panels), None)
        if a is not None:
            panels[a] = ((panels[a][0] if panels[a] else 1) * word,)
    if whole:
        cut = [a for a in dict.fromkeys(rising) if panels[a] and axes[a].extent > 1][:2]
        side = max((panels[a][0] for a in cut), default=1)
        for a in cut:
            if side > panels[a][0] and side % panels[a][0] == 0:
                panels[a] = (side, *panels[a]) if axes[a].panels else (side,)
    return _sequence(compute, panels)


def _cut(extent: int, local: int, room: int, word: int) -> int:
    """
    Elements of a panel along an axis that has none: at most `room`, whole words, with as little padding as
    possible.
    """
    if local <= room:
        return -(-local // word) * word
    largest = max(word, room // word * word)
    choices = range(largest, max(word, largest // 2) - 1, -word)
    return min(choices, key=lambda n: (-(-extent // n) * n, local % n != 0, -n))


def _sequence(compute: Layout, panels: Sequence[tuple[int, ...]]) -> Layout:
    """
    `compute` without distribution, cut in `panels`: the outermost digit of every axis first, then the digits
    inside a panel.
    """
    axes = tuple(Axis(axis.extent, (), p) for axis, p in zip(compute.axes, panels, strict=True))
    outer = [(a, 0) for a, level in compute.order if level == 0]
    inner = [
        (a, level + axes[a].levels - compute.axes[a].levels)
        for a, level in compute.order
        if level + axes[a].levels - compute.axes[a].levels > 0
    ]
    return Layout(axes, (*outer, *inner), (), 0, compute.tiles)


def linear(
    form: Layout, tiles: int, *, owners: int | None = None, chunk: int | None = None, base: int = 0
) -> Layout:
    """
    Successive tiles from `base` take `chunk` panels each (default: as evenly as whole panels allow over
    `owners` tiles).
    """
    chunk = max(1, chunk if chunk is not None else -(-form.panel_count // (owners or tiles)))
    return dataclasses.replace(form, chunk=chunk, base=base, tiles=tiles)


@lru_cache(maxsize=1024)
def panel_grid(form: Layout, tiles: int, owners: int | None = None) -> Layout:
    """
    Whole panels in a grid over at most `owners` tiles: the smallest largest shard, then the least padding of
    all shards.
    """
    room = owners or tiles
    counts = [axis.counts[0] for axis in form.axes]
    blocks = np.meshgrid(*[_distinct_blocks(n, room) for n in counts], indexing="ij")
    flat = [b.ravel() for b in blocks]
    parts = [-(-n // b) for n, b in zip(counts, flat, strict=True)]
    used = np.prod(parts, axis=0)
    shard = np.prod(flat, axis=0)
    best = int(np.lexsort((np.arange(used.size), used * shard, shard, used > room))[0])
    stride = 1
    splits: dict[int, tuple[Split, ...]] = {}
    for a, _ in reversed(form.order[: len(counts)]):
        n = int(parts[a][best])
        panel = form.axes[a].panels[0] if form.axes[a].panels else 1
        splits[a] = (Split(int(flat[a][best]) * panel, stride),) if n > 1 else ()
        stride *= n
    axes = tuple(Axis(axis.extent, splits[a], axis.panels) for a, axis in enumerate(form.axes))
    return Layout(axes, form.order, (), 0, tiles)


def _distinct_blocks(count: int, room: int) -> np.ndarray:
    parts = np.arange(1, max(1, min(count, room)) + 1)
    return np.unique(-(-max(count, 1) // parts))


def row_major_home(shape: Sequence[int], size: int, tiles: int) -> tuple[Layout, View]:
    """
    The tensor as one row-major sequence in equal chunks of whole 32-byte pieces: no padding, but the consumer
    reorders.
    """
    n = math.prod(shape)
    grain = max(1, 32 // size)
    block = math.ceil(math.ceil(max(n, 1) / tiles) / grain) * grain
    layout = Layout((Axis(n, (Split(block, 1),)),), ((0, 0),), tiles=tiles)
    digits: list[tuple[tuple[int, int, int], ...]] = []
    stride = n
    for extent in shape:
        stride //= max(extent, 1)
        digits.append(((extent, 0, stride),))
    return layout, View(tuple(shape), tuple(digits), (0,))


@dataclass(frozen=True)
class Candidate:
    """
    One way to store a parameter: its home, and the bytes of a member on the fullest tile once it is spread
    over all tiles.
    """

    form: Form
    layout: Layout
    view: View
    spread_bytes: int


WORTH = 0.75
"""
Compact storage is offered where it takes at most this part of compute-ready storage (or has fewer copies).
"""


def candidates(compute: Layout, view: View, dtype: str, members: int, tiles: int) -> tuple[Candidate, ...]:
    """
    Compute-ready storage and, where its shards are smaller once spread, compact storage; whoever the consumer
    is.

    Compact homes lie on the tiles that use the parameter (`select_homes` spreads them): in fine panels, in
    whole exchange panels, or, for consumers whose blocks cut words, in the consumer's own blocks. The
    row-major sequence comes last: it has no padding but its consumer has to reorder elements.
    """
    size = itemsize(dtype)
    ready = Candidate("ready", compute, view, compute.shard_bytes(size))
    found = [ready]
    copies = compute.replica_tiles.size > 1
    owners = max(1, int(compute.owners(tiles).sum()))

    def offer(form: Form, home: Layout, home_view: View, spread: int) -> None:
        if (spread <= WORTH * ready.spread_bytes or copies) and all(home != c.layout for c in found):
            found.append(Candidate(form, home, home_view, spread))

    for form in ("fine", "whole"):
        sequence = panel_form(compute, size, whole=form == "whole", members=members)
        spread = linear(sequence, tiles).shard_bytes(size)
        offer(form, linear(sequence, tiles, owners=owners, base=compute.base), view, spread)
    if copies:
        home = compute
        for count, stride in compute.replicas:
            home = _divide(dataclasses.replace(home, replicas=(), memory="any"), count, stride, size)
        offer("divided", home, view, home.shard_bytes(size))
    flat, flat_view = row_major_home(view.shape, size, tiles)
    offer("row-major", flat, flat_view, flat.shard_bytes(size))
    return tuple(found)


def materialise_cycles(
    home: Layout, home_view: View, want: Layout, view: View, dtype: str, machine: Machine
) -> int:
    """
    Bound of the exchange that brings one member from its home to where it is used (cycles; 0 where nothing
    moves).
    """
    buffers = {"home": Buffer(home, dtype), "want": Buffer(want, dtype)}
    stage = ExchangeStage((Move("home", home_view, "want", view),), "materialise")
    return exchange_cycles(Stages((), buffers, (stage,), ()), stage, machine)


# -- storage groups


def home_layout(layout: Layout, dtype: str, members: int = 1) -> Layout:
    """
    The provisional home of a value that is wanted in `layout`: the tiles that would hold the same shard
    divide it.
    """
    size = itemsize(dtype)
    if not layout.replicas or layout.shard_bytes(size) * members <= SMALL_SHARD_BYTES:
        return layout
    home = dataclasses.replace(layout, replicas=(), memory="any")
    for count, stride in layout.replicas:
        home = _divide(home, count, stride, size)
    return home


def home_place(layout: Layout, view: View, dtype: str, members: int, tiles: int) -> tuple[Layout, View]:
    """
    The provisional home, layout and view, of a value that is wanted in (layout, view).

    That of `home_layout`; but a sequence whose members would mostly be padding there (products of few rows
    and columns: 264 bytes in panels of 16,896) is kept as row-major sequences, and a member is laid out when
    it is used.
    """
    home, size = home_layout(layout, dtype, members), itemsize(dtype)
    one = dataclasses.replace(home, replicas=())  # copies are no padding
    used = int(one.shard_bytes_per_tile(size, tiles).sum()) * members if members > 1 else 0
    if used < PADDED_BYTES or used < PADDED_TIMES * math.prod(view.shape) * size * members:
        return home, view
    return row_major_home(view.shape, size, tiles)


def _divide(layout: Layout, count: int, stride: int, size: int) -> Layout:
    """
    Divide every shard among `count` tiles `stride` apart, along the axis that leaves the smallest shard.
    """
    best = layout
    for i, axis in enumerate(layout.axes):
        local = min(axis.local, axis.extent)
        unit = axis.panels[0] if axis.panels else max(1, 8 // size)
        if not axis.panels and len(layout.axes) == 1:
            unit = max(unit, SMALL_SHARD_BYTES // size)
        units = math.ceil(local / unit)
        if units < 2:
            continue
        block = math.ceil(units / count) * unit
        splits = (*axis.splits, Split(block, stride)) if axis.splits else (Split(block, stride),)
        divided = Axis(axis.extent, splits, axis.panels)
        axes = tuple(divided if j == i else a for j, a in enumerate(layout.axes))
        candidate = dataclasses.replace(layout, axes=axes)
        if candidate.shard_elements < best.shard_elements:
            best = candidate
    return best
