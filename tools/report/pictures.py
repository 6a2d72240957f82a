# SPDX-License-Identifier: Apache-2.0
"""
What a picture of a layout shows, as data: which tile holds which element, copies, padding; and of a
conversion between two layouts, what moves. `svg` and the page of tile-report draw it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewright.machine.dtypes import itemsize
from tilewright.planning.exchange.geometry import transfers
from tilewright.planning.layout import Layout, View

if TYPE_CHECKING:
    from tilewright.machine import Machine
    from tilewright.profile import Profile

Ints = npt.NDArray[np.int64]

MOST_ROWS, MOST_COLUMNS = 64, 96
"""Elements of a value that its picture shows, evenly spread."""
MOST_ENDS = 64
"""Tiles up to which each is an end of its own where moves are drawn; of more, each physical column is one."""


@dataclass(frozen=True, eq=False)
class Chip:
    """
    The tiles on the chip: physical row and place in it (column and lane) of each, (tiles,); `ends` (tiles,)
    is the end that each belongs to where moves are drawn, `labels` what the ends are called.
    """

    tiles: int
    rows: int
    columns: int
    row: Ints
    column: Ints
    ends: Ints
    labels: tuple[str, ...]

    @staticmethod
    def of(rows: int, columns: tuple[int, ...], places: npt.NDArray[np.integer]) -> Chip:
        """From the physical columns that exist and row, column and lane of every tile, (tiles, 3)."""
        tiles = len(places)
        column = np.searchsorted(np.array(columns), places[:, 1])
        each = tiles <= MOST_ENDS
        return Chip(
            tiles,
            rows,
            4 * len(columns),
            places[:, 0].astype(np.int64),
            4 * column + places[:, 2],
            np.arange(tiles) if each else column,
            tuple(map(str, range(tiles) if each else columns)),
        )

    @staticmethod
    def of_machine(machine: Machine) -> Chip:
        """The chip of a machine."""
        places = np.stack(machine.places(np.arange(machine.tiles)), axis=1)
        return Chip.of(machine.topology.rows, tuple(machine.topology.columns), places)

    @staticmethod
    def of_profile(profile: Profile) -> Chip:
        """The chip that a profile was recorded on."""
        return Chip.of(profile.machine.rows, profile.machine.columns, profile.places)


@dataclass(frozen=True)
class Value:
    """A value that is somewhere: `what` says what it is."""

    name: str
    what: str
    dtype: str
    layout: Layout
    view: View


@dataclass(frozen=True, eq=False)
class Picture:
    """
    Where a value is. `owners` (rows, columns) is the first tile that holds each element of an even raster
    over it, whose leading axes count as rows; the value has `height` rows and `width` columns. `nbytes` and
    `padding` (tiles,) are bytes of each tile's shard and those of them that hold no element, `first` (tiles,)
    the tile with the first copy of what each tile holds, -1 where that is nothing.
    """

    value: Value
    owners: Ints
    height: int
    width: int
    nbytes: Ints
    padding: Ints
    first: Ints

    @property
    def copies(self) -> int:
        """How often each element is there."""
        return int(self.value.layout.replica_tiles.size)


@dataclass(frozen=True, eq=False)
class Moved:
    """
    What a conversion moves: bytes from end to end of the chip between different tiles, (ends, ends); bytes
    that stay on their tile; the most that one tile receives; spans of contiguous bytes.
    """

    between: Ints
    stays: int
    most: int
    spans: int

    @property
    def total(self) -> int:
        """Bytes that leave their tile; what several receivers hear counts for each."""
        return int(self.between.sum())


def picture(value: Value, tiles: int) -> Picture:
    """The picture of a value. Raises LayoutError where the layout needs more tiles."""
    layout, size = value.layout, itemsize(value.dtype)
    owners, height, width = _raster(layout, value.view)
    return Picture(
        value,
        owners,
        height,
        width,
        layout.shard_bytes_per_tile(size, tiles),
        layout.padding(size, tiles),
        layout.first_copy(tiles),
    )


def _raster(layout: Layout, view: View) -> tuple[Ints, int, int]:
    shape = view.shape if len(view.shape) > 1 else (1, *(view.shape or (1,)))
    width = shape[-1]
    height = int(np.prod(shape[:-1]))
    if not height or not width:
        return np.zeros((0, 0), np.int64), height, width
    down, across = _spread(height, MOST_ROWS), _spread(width, MOST_COLUMNS)
    flat = (down[:, None] * width + across).ravel()
    indices = np.unravel_index(flat, view.shape) if view.shape else ()
    tile, _ = layout.positions(*view.storage(*indices))
    return np.broadcast_to(tile, flat.shape).reshape(len(down), len(across)), height, width


def _spread(size: int, most: int) -> Ints:
    """At most `most` numbers below `size`: each the middle of an equal part of them."""
    count = min(size, most)
    return (2 * np.arange(count) + 1) * size // (2 * count)


def moved(source: Value, target: Value, chip: Chip) -> Moved:
    """What moves when a value goes from one layout to another."""
    spans = transfers(source.layout, source.view, target.layout, target.view, itemsize(source.dtype))
    away = ~spans.local()
    count = len(chip.labels)
    pair = chip.ends[spans.src_tile[away]] * count + chip.ends[spans.dst_tile[away]]
    between = np.bincount(pair, weights=spans.nbytes[away], minlength=count * count)
    return Moved(
        between.astype(np.int64).reshape(count, count),
        int(spans.nbytes[~away].sum()),
        int(spans.received(chip.tiles).max(initial=0)),
        len(spans),
    )
