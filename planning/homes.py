# SPDX-License-Identifier: Apache-2.0
"""
Where a persistent parameter lives: its home layout, derived from the layout in which its consumer wants
it.

A compute layout repeats the same shard on every tile that uses it. The compact home keeps one copy: the tiles
that would hold the same shard divide its panels among themselves, in the consumer's element order, so that
materialising it moves whole panels and permutes nothing below a word.
"""

from __future__ import annotations

import dataclasses
import math

from tilewright.planning.dtypes import itemsize
from tilewright.planning.layout import Axis, Layout, Split

SMALL_SHARD_BYTES = 256
"""
A replicated vector of at most this many bytes a tile stays where it is used; larger ones are divided into
such shards.
"""


def home_layout(layout: Layout, dtype: str, members: int = 1) -> Layout:
    """
    The home of a parameter that is wanted in `layout`; `members` of them are resident when it is a sequence.
    """
    size = itemsize(dtype)
    if not layout.replicas or layout.shard_bytes(size) * members <= SMALL_SHARD_BYTES:
        return layout
    home = dataclasses.replace(layout, replicas=(), memory="any")
    for count, stride in layout.replicas:
        home = _divide(home, count, stride, size)
    return home


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
