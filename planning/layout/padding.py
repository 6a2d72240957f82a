# SPDX-License-Identifier: Apache-2.0
"""
The padding of panelled shards as regions of words, so that it can be defined without touching what lies
beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tilewright.planning.layout import Layout


@dataclass(frozen=True, eq=False)
class PadRegion:
    """
    The words behind the last valid index of one storage axis, on the tiles whose shard ends inside a
    panel.

    `offset` is in bytes from the start of the shard; `axes` are the digits (size, stride in words) of one
    kernel axis per storage axis; `extents` int64 (tiles, axes), 0 on tiles without this padding.
    """

    offset: int
    axes: tuple[tuple[tuple[int, int], ...], ...]
    extents: np.ndarray


@lru_cache(maxsize=256)
def pad_region(layout: Layout, axis: int, itemsize: int, tiles: int) -> PadRegion | None:
    """
    The padding of storage axis `axis`; None where it is not one region (several shard lengths, or panels
    that cut words).

    The region may begin up to a word early, inside valid data: fill before the data arrives.
    """
    panels = layout.axes[axis].panels
    if len(panels) != 1 or layout.chunk is not None:
        return None
    panel = panels[0]
    local = layout.local_extents(axis, tiles)
    ends = np.unique(local[local % panel != 0])
    if ends.size != 1:
        return None
    end = int(ends[0])
    inner, level = layout.order[-1]
    run = layout.axes[inner].panels[-1] if layout.axes[inner].panels else 0
    if level != len(layout.axes[inner].panels) or run * itemsize % 4:
        return None
    word = 4 // itemsize if itemsize < 4 else 1
    first = end - end % word if inner == axis else end
    active = local == end
    digits: list[tuple[tuple[int, int], ...]] = []
    extents = np.ones((tiles, len(layout.axes)), np.int64)
    offset = 0
    for i, entry in enumerate(layout.axes):
        strides = layout.strides(i)
        own = layout.local_extents(i, tiles)
        step = entry.panels[0] if entry.panels else 1
        padded = -(-own // step) * step
        if i == axis:
            (_, outer), (_, within) = strides
            offset = ((first // panel) * outer + (first % panel) * within) * itemsize
            count = panel - first % panel
            extents[:, i] = count // word if i == inner else count
            digits.append(((0, 1 if i == inner else within // word),))
        elif i == inner:
            extents[:, i] = padded // word
            outer = strides[0][1]
            digits.append(((0, outer // word), (run // word, 1)) if len(strides) == 2 else ((0, 1),))
        else:
            extents[:, i] = padded
            if any(stride % word for _, stride in strides):
                return None
            digits.append(tuple((size, stride // word) for size, stride in strides))
    if inner != axis and layout.strides(axis)[1][1] % word:
        return None
    return PadRegion(offset, tuple(digits), np.where(active[:, None], extents, 0))


def panel_padding(layout: Layout) -> tuple[int, ...]:
    """The storage axes along which some shard ends inside a panel."""
    tiles = layout.tiles or layout.tile_count()
    return tuple(
        i
        for i, axis in enumerate(layout.axes)
        if axis.panels and layout.chunk is None and (layout.local_extents(i, tiles) % axis.panels[0]).any()
    )
