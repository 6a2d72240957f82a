# SPDX-License-Identifier: Apache-2.0
"""One storage axis of a layout: how it is divided over tiles and how the rest is cut in panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import index

import numpy as np

from tilewright import limits
from tilewright.planning.layout.view import LayoutError


@dataclass(frozen=True)
class Split:
    """Index i goes to part i // block, which adds part * tile_stride to the tile; i % block remains."""

    block: int
    tile_stride: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "block", index(self.block))
        object.__setattr__(self, "tile_stride", index(self.tile_stride))
        if max(self.block, self.tile_stride) > limits.EXTENT:
            raise LayoutError(f"a block of {self.block} and a tile stride of {self.tile_stride}: too large")
        if self.block < 1:
            raise LayoutError(f"a block has at least one element, not {self.block}")
        if self.tile_stride < 0:
            raise LayoutError(f"a tile stride is not negative: {self.tile_stride}")


@dataclass(frozen=True)
class Axis:
    """
    One storage axis: its extent, how it is divided over tiles (outer to inner), how the local index is cut
    (outer to inner).

    Level 0 of the local index counts panels[0]s, the last level single elements; without panels there is one
    level.
    """

    extent: int
    splits: tuple[Split, ...] = ()
    panels: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "extent", index(self.extent))
        object.__setattr__(self, "splits", tuple(self.splits))
        object.__setattr__(self, "panels", tuple(index(p) for p in self.panels))
        if self.extent < 0:
            raise LayoutError(f"the extent of an axis is not negative: {self.extent}")
        if max(self.extent, *self.panels, 0) > limits.LAYOUT_EXTENT:
            raise LayoutError(
                f"an axis or panel of {max(self.extent, *self.panels, 0)} elements is beyond the largest, "
                f"{limits.LAYOUT_EXTENT}"
            )
        parts, size = 1, self.extent
        for split in self.splits:
            parts, size = parts * -(-size // split.block), min(size, split.block)
        if parts > limits.LAYOUT_PARTS:
            raise LayoutError(f"an axis of {self.extent} elements in {parts} parts: too many for any machine")
        if any(p < 1 for p in self.panels):
            raise LayoutError(f"a panel has at least one element: {self.panels}")
        for outer, inner in pairwise(self.panels):
            if outer % inner:
                raise LayoutError(f"panel {inner} does not divide the panel {outer} around it")

    @property
    def local(self) -> int:
        """Elements of the largest shard along this axis."""
        return min((self.extent, *(s.block for s in self.splits)))

    @property
    def levels(self) -> int:
        """Number of digits of the local index."""
        return len(self.panels) + 1

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Padded count of each digit, outer to inner, in the largest shard."""
        if not self.panels:
            return (self.local,)
        inner = (*self.panels, 1)
        return (-(-self.local // inner[0]), *(p // q for p, q in pairwise(inner)))

    def walk(self) -> tuple[np.ndarray, np.ndarray]:
        """(tile contribution, local index) of every storage index, int64 (extent,)."""
        local = np.arange(self.extent, dtype=np.int64)
        tile = np.zeros(self.extent, np.int64)
        for split in self.splits:
            part, local = np.divmod(local, split.block)
            tile += part * split.tile_stride
        return tile, local

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """(tile contribution, elements) of every part that holds something, in order of the index."""
        if not self.splits:
            held = int(self.extent > 0)
            return np.zeros(held, np.int64), np.full(held, self.extent, np.int64)
        tiles = np.zeros(1, np.int64)
        sizes = np.full(1, self.extent, np.int64)
        for split in self.splits:
            counts = -(-sizes // split.block)
            first = np.cumsum(counts) - counts
            within = np.arange(counts.sum(), dtype=np.int64) - np.repeat(first, counts)
            tiles = np.repeat(tiles, counts) + within * split.tile_stride
            sizes = np.minimum(split.block, np.repeat(sizes, counts) - within * split.block)
        return tiles, sizes

    def __str__(self) -> str:
        splits = "".join(f"/{s.block}@{s.tile_stride}" for s in self.splits)
        return f"{self.extent}{splits}" + "".join(f"|{p}" for p in self.panels)


def natural_order(axes: Sequence[Axis]) -> tuple[tuple[int, int], ...]:
    """Every digit (axis, level), axis by axis."""
    return tuple((a, level) for a, axis in enumerate(axes) for level in range(axis.levels))
