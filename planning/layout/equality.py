# SPDX-License-Identifier: Apache-2.0
"""When layouts are the same: the normal form, and the comparison place by place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.planning.layout.axis import Axis, Split

if TYPE_CHECKING:
    from tilewright.planning.layout import Layout


def normal_form(layout: Layout) -> Layout:
    """What `Layout.normal` gives."""
    axes: list[Axis] = []
    for axis in layout.axes:
        splits: list[Split] = []
        size = axis.extent
        for split in axis.splits:
            if split.block >= size:
                continue
            if splits and splits[-1].block % split.block == 0:
                outer = splits[-1]
                if outer.tile_stride == split.tile_stride * (outer.block // split.block):
                    splits.pop()
            splits.append(split)
            size = split.block
        axes.append(replace(axis, splits=tuple(splits)))
    order = _idle_first(layout, axes, layout.order)
    for a in range(len(axes)):
        level = 0
        while level < len(axes[a].panels):
            axis = axes[a]
            fused = replace(axis, panels=axis.panels[:level] + axis.panels[level + 1 :])
            outer, inner = axis.counts[level : level + 2]
            here = order.index((a, level))
            adjacent = order[here + 1 : here + 2] == [(a, level + 1)]
            # A linear home counts level-0 digits: fusing one of them would change what a panel is.
            keep = layout.chunk is not None and level == 0 and inner != 1
            if fused.counts[level] != outer * inner or keep or not (adjacent or 1 in (outer, inner)):
                level += 1
                continue
            order.remove((a, level if outer == 1 else level + 1))
            axes[a] = fused
            order = _idle_first(layout, axes, [(b, k - (b == a and k > level)) for b, k in order])
            level = 0
    replicas: list[tuple[int, int]] = []
    for n, stride in sorted((r for r in layout.replicas if r[0] > 1), key=lambda r: (-r[1], r[0])):
        if replicas and replicas[-1][1] == n * stride:
            n *= replicas.pop()[0]
        replicas.append((n, stride))
    out = replace(layout, axes=tuple(axes), order=tuple(order), replicas=tuple(replicas))
    if out.chunk is not None:
        out = replace(out, chunk=max(1, min(out.chunk, out.panel_count)))
    if out.tiles:
        out = replace(out, base=out.base % out.tiles)
        unwrapped = replace(out, tiles=0)
        if unwrapped.tile_count() <= out.tiles:
            out = unwrapped
    return out


def _idle_first(
    layout: Layout, axes: Sequence[Axis], order: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The order with the digits that never count in front, as far as a linear home lets them."""
    idle = sorted(d for d in order if axes[d[0]].counts[d[1]] == 1)
    out = idle + [d for d in order if d not in idle]
    return out if layout.chunk is None else sorted(out, key=lambda d: d[1] != 0)


def equivalent(layout: Layout, other: Layout) -> bool:
    """What `Layout.equivalent` answers."""
    if layout.shape != other.shape or layout.memory != other.memory:
        return False
    if layout.normal() == other.normal():
        return True
    if 0 in layout.shape:
        return layout.shard_elements == other.shard_elements
    tiles = max(layout.tile_count(), other.tile_count())
    if not np.array_equal(layout.shard_bytes_per_tile(1, tiles), other.shard_bytes_per_tile(1, tiles)):
        return False
    if layout.replica_tiles.size != other.replica_tiles.size:
        return False
    if layout.chunk is None and other.chunk is None and not (layout.tiles or other.tiles):
        zero = np.zeros((), np.int64)
        firsts = [np.sort(x.positions(*([zero] * len(x.axes)))[0] + x.replica_tiles) for x in (layout, other)]
        return np.array_equal(firsts[0], firsts[1]) and all(
            np.array_equal(mine - mine[0], its - its[0])
            for a in range(len(layout.axes))
            for mine, its in zip(layout.sum_tables(a), other.sum_tables(a), strict=True)
        )
    # Wraps and panel sequences are not sums: compare element by element, by slabs of the first axis.
    return all(
        np.array_equal(_copies_of_slab(layout, i), _copies_of_slab(other, i))
        for i in range(max(1, *layout.shape[:1], 1))
    )


def _copies_of_slab(layout: Layout, i: int) -> np.ndarray:
    """
    Sorted (tile, offset) of all copies of the elements with first index i, int64 (2, copies,
    elements...).
    """
    grids = np.ogrid[tuple(slice(n) for n in layout.shape[1:])]
    indices = (np.full((1,) * len(layout.shape[1:]), i), *grids) if layout.shape else ()
    tile, offset = layout.positions(*indices)
    tiles = tile[None] + layout.replica_tiles.reshape((-1,) + (1,) * tile.ndim)
    if layout.tiles:
        tiles %= layout.tiles
    return np.stack([np.sort(tiles, axis=0), np.broadcast_to(offset, tiles.shape)])
