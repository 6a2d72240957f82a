# SPDX-License-Identifier: Apache-2.0
"""
Layouts: which tile and which element of its shard holds each element of a storage array.

A layout is a plain value without IR. Per storage axis it is one table for the tile and one for the offset;
tile and offset of an element are sums of those tables, so every question costs O(extent) and never an
enumeration of elements. Two forms exist:

* a *grid* divides each axis in blocks over tiles (`Split`), then cuts what is left in panels (compute
layouts);
* a *linear home* (`chunk`) cuts panels first and deals whole panels, in the order of the panel sequence, to
successive tiles.

docs/spec/layout.md has the definition, the text form and examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod
from operator import index
from typing import get_args

import numpy as np

from tilewright import limits
from tilewright.planning.layout.axis import Axis, Split, natural_order
from tilewright.planning.layout.equality import equivalent, normal_form
from tilewright.planning.layout.text import Memory, layout_text, order_text, read_layout
from tilewright.planning.layout.through import through
from tilewright.planning.layout.view import LETTERS, LayoutError, View

__all__ = [
    "Axis",
    "Layout",
    "LayoutError",
    "Memory",
    "Split",
    "View",
    "linear_home",
    "row_major",
    "single_tile",
]


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


@dataclass(frozen=True)
class Layout:
    """
    Where every element of a storage array is.

    axes: the storage axes.
    order: every digit (axis, level) once, outermost to innermost; strides are products of the padded counts
    further in. replicas: (count, tile_stride) grid axes without a storage axis: the same shard on several
    tiles. base: added to every tile number. tiles: tile numbers wrap at this machine tile count, 0 = they do
    not. memory: the class of SRAM that the shard needs. chunk: None for a grid; for a linear home the panels
    per tile: panel number p, counted over the level-0 digits in
        `order` (which come first), is on tile base + p // chunk at panel position p % chunk.
    """

    axes: tuple[Axis, ...]
    order: tuple[tuple[int, int], ...]
    replicas: tuple[tuple[int, int], ...] = ()
    base: int = 0
    tiles: int = 0
    memory: Memory = "any"
    chunk: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", tuple(self.axes))
        object.__setattr__(self, "order", tuple((index(a), index(level)) for a, level in self.order))
        object.__setattr__(self, "replicas", tuple((index(n), index(stride)) for n, stride in self.replicas))
        object.__setattr__(self, "base", index(self.base))
        object.__setattr__(self, "tiles", index(self.tiles))
        if len(self.axes) > len(LETTERS):
            raise LayoutError(f"a layout may have at most {len(LETTERS)} storage axes, not {len(self.axes)}")
        digits = natural_order(self.axes)
        if tuple(sorted(self.order)) != digits:
            named, wanted = order_text(self.axes, self.order), order_text(self.axes, digits)
            raise LayoutError(
                "the order of a layout names every digit of its axes once: "
                f"{named} is not an order of {wanted}"
            )
        if any(n < 1 or stride < 0 for n, stride in self.replicas):
            raise LayoutError(f"replicas are (count >= 1, tile stride >= 0): {self.replicas}")
        if max(self.base, self.tiles, *(max(r) for r in self.replicas), 0) > limits.TILES:
            raise LayoutError(f"a layout names at most {limits.TILES} tiles: '{layout_text(self)}'")
        if self.base < 0 or self.tiles < 0:
            raise LayoutError(f"base {self.base} and tile count {self.tiles} are not negative")
        if self.memory not in get_args(Memory):
            raise LayoutError(f"memory class {self.memory!r} is none of {', '.join(get_args(Memory))}")
        if self.chunk is not None:
            object.__setattr__(self, "chunk", index(self.chunk))
            if self.chunk < 1:
                raise LayoutError(f"a linear home has at least one panel per tile, not {self.chunk}")
            if any(axis.splits for axis in self.axes):
                raise LayoutError("a linear home deals whole panels to tiles: its axes have no splits")
            if any(level for _, level in self.order[: len(self.axes)]):
                raise LayoutError(
                    "a linear home enumerates panels: the outermost digit of every axis comes first"
                )
        self._check_tiles()

    def _check_tiles(self) -> None:
        """Two different parts of the grid may not be on one tile: their elements would share addresses."""
        steps = sorted((stride, n) for n, stride in self._radices() if n > 1)
        reach = 0
        for stride, n in steps:
            if stride <= reach:
                break
            reach += (n - 1) * stride
        else:
            if not self.tiles or reach < self.tiles:
                return
        if prod(n for _, n in steps) > limits.LAYOUT_PARTS:
            raise LayoutError(
                f"layout '{self}' has {prod(n for _, n in steps)} parts and copies: too many for any machine"
            )
        tiles = self._used_tiles()
        flat = np.sort(tiles.ravel())
        twice = flat[1:][flat[1:] == flat[:-1]]
        if twice.size:
            # Copies of one part that meet are a collision too: a tile has one shard.
            limit = f" (tile numbers wrap at {self.tiles})" if self.tiles else ""
            raise LayoutError(
                f"layout '{self}' puts two parts on tile {int(twice[0])}{limit}",
                notes=(f"{tiles.size} parts and copies are on {np.unique(flat).size} tiles",),
                hint="every part and copy needs a tile of its own: check strides, blocks and the tile count",
            )

    def _radices(self) -> list[tuple[int, int]]:
        """
        (count, tile stride) of every splitting and replicating step; counts are upper bounds for nested
        splits.
        """
        out = list(self.replicas)
        if self.chunk is not None:
            out.append((-(-self.panel_count // self.chunk), 1))
        for axis in self.axes:
            size = axis.extent
            for split in axis.splits:
                out.append((-(-size // split.block), split.tile_stride))
                size = min(size, split.block)
        return out

    # -- digits and strides

    @property
    def parts_at_most(self) -> int:
        """An upper bound of the parts of the grid and their copies, from the counts alone."""
        return prod(n for n, _ in self._radices())

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the storage axes."""
        return tuple(axis.extent for axis in self.axes)

    @cached_property
    def _digit_strides(self) -> dict[tuple[int, int], int]:
        stride = 1
        out: dict[tuple[int, int], int] = {}
        for axis, level in reversed(self.order):
            out[axis, level] = stride
            stride *= self.axes[axis].counts[level]
        return out

    def strides(self, axis: int) -> tuple[tuple[int, int], ...]:
        """
        (size, stride in elements) of the digits of `axis`, outer to inner; the outermost size is 0,
        unbounded.
        """
        counts = self.axes[axis].counts
        return tuple(
            (counts[level] if level else 0, self._digit_strides[axis, level]) for level in range(len(counts))
        )

    @property
    def panel_elements(self) -> int:
        """Elements of one panel: the product of all digits but the outermost of each axis."""
        return prod(n for axis in self.axes for n in axis.counts[1:])

    @property
    def panel_count(self) -> int:
        """Panels of the whole array when no axis is split (linear homes), of the largest shard otherwise."""
        return prod(axis.counts[0] for axis in self.axes)

    @property
    def chunk_elements(self) -> int | None:
        """Elements per tile of a linear home, None for a grid."""
        return None if self.chunk is None else self.chunk * self.panel_elements

    # -- tables

    def tile_table(self, axis: int) -> np.ndarray:
        """What storage index i of `axis` adds to the tile number, int64 (extent,); not for linear homes."""
        self._grid_only("tile table")
        return self.sum_tables(axis)[0]

    def offset_table(self, axis: int) -> np.ndarray:
        """
        What storage index i of `axis` adds to the offset in the shard, in elements, int64 (extent,); not for
        linear homes.
        """
        self._grid_only("offset table")
        return self.sum_tables(axis)[1]

    def sum_tables(self, axis: int) -> tuple[np.ndarray, np.ndarray]:
        """
        (tile, offset) contributions of an axis, int64 (extent,).

        For a linear home the tiles are zero and the offsets add to the position in the whole panel sequence,
        which is then divided by `chunk_elements` into tile and offset.
        """
        return self._tables[axis]

    @cached_property
    def _tables(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        out: list[tuple[np.ndarray, np.ndarray]] = []
        for a, axis in enumerate(self.axes):
            tile, local = axis.walk()
            offset = np.zeros(axis.extent, np.int64)
            for level, panel in enumerate((*axis.panels, 1)):
                digit, local = np.divmod(local, panel)
                offset += digit * self._digit_strides[a, level]
            out.append((_read_only(tile), _read_only(offset)))
        return tuple(out)

    def _grid_only(self, what: str) -> None:
        if self.chunk is not None:
            raise LayoutError(f"a linear home has no {what} per axis: its tiles follow from the panel number")

    def positions(self, *indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(tile, offset in elements) of storage index arrays (broadcast together), for replica 0."""
        if len(indices) != len(self.axes):
            raise LayoutError(
                f"a layout of {len(self.axes)} axes takes {len(self.axes)} index arrays, not {len(indices)}"
            )
        tile: np.ndarray = np.zeros((), np.int64)
        offset: np.ndarray = np.zeros((), np.int64)
        for a, i in enumerate(indices):
            tiles, offsets = self.sum_tables(a)
            tile = tile + tiles[i]
            offset = offset + offsets[i]
        return self.place(tile, offset)

    def place(self, tile: np.ndarray, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """
        Turn sums of the tables into (tile, offset): deal the panel sequence, add the base, wrap. Replica 0.
        """
        if self.chunk is not None:
            step, offset = np.divmod(offset, max(self.chunk * self.panel_elements, 1))
            tile = tile + step
        tile = tile + self.base
        if self.tiles:
            tile = tile % self.tiles
        return tile, offset

    # -- who holds what

    @cached_property
    def replica_tiles(self) -> np.ndarray:
        """What each replica adds to the tile number, int64 (replicas,), the first is 0."""
        out = np.zeros(1, np.int64)
        for n, stride in self.replicas:
            out = (out[:, None] + np.arange(n, dtype=np.int64) * stride).ravel()
        return _read_only(out)

    @cached_property
    def _part_tiles(self) -> np.ndarray:
        """Tile sums of a grid without base and wrap, int64 (parts of axis 0, ..., replicas)."""
        out = np.zeros((1,) * len(self.axes) + (self.replica_tiles.size,), np.int64) + self.replica_tiles
        for a, axis in enumerate(self.axes):
            tiles, _ = axis.parts
            out = out + tiles.reshape((-1,) + (1,) * (len(self.axes) - a))
        return _read_only(out)

    def _wrap(self, tiles: np.ndarray) -> np.ndarray:
        tiles = tiles + self.base
        return tiles % self.tiles if self.tiles else tiles

    @cached_property
    def _chunk_parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Of a linear home: (tiles (chunks, replicas), panels (chunks,))."""
        assert self.chunk is not None
        count = self.panel_count
        chunks = -(-count // self.chunk)
        first = np.arange(chunks, dtype=np.int64)
        return self._wrap(first[:, None] + self.replica_tiles), np.minimum(
            self.chunk, count - first * self.chunk
        )

    def _used_tiles(self) -> np.ndarray:
        return self._wrap(self._part_tiles) if self.chunk is None else self._chunk_parts[0]

    def _into(self, tiles: int, where: np.ndarray, what: np.ndarray) -> np.ndarray:
        if where.size and int(where.max()) >= tiles:
            raise LayoutError(f"layout '{self}' uses tile {int(where.max())}, but there are {tiles} tiles")
        out = np.zeros(tiles, np.int64)
        out[where] = np.broadcast_to(what, where.shape)
        return out

    def tile_count(self) -> int:
        """1 + the largest tile that holds something, 0 when nothing is held."""
        used = self._used_tiles()
        return int(used.max()) + 1 if used.size else 0

    def owners(self, tiles: int) -> np.ndarray:
        """Which of `tiles` tiles hold something, bool (tiles,), replicas included."""
        used = self._used_tiles()
        return self._into(tiles, used, np.ones((), np.int64)).astype(bool)

    def first_copy(self, tiles: int) -> np.ndarray:
        """
        The tile with the first copy of the part that each tile holds, int64 (tiles,), -1 where it holds
        nothing.
        """
        used = self._used_tiles()
        return self._into(tiles, used, used[..., :1] + 1) - 1

    def local_extents(self, axis: int, tiles: int) -> np.ndarray:
        """
        Elements along `axis` that each tile holds, int64 (tiles,), 0 where it holds nothing; not for linear
        homes.
        """
        self._grid_only("extent")
        sizes = self.axes[axis].parts[1].reshape((-1,) + (1,) * (len(self.axes) - axis))
        return self._into(tiles, self._used_tiles(), sizes)

    @property
    def shard_elements(self) -> int:
        """Elements of the largest shard, with its padding."""
        if self.chunk is not None:
            return min(self.chunk, self.panel_count) * self.panel_elements
        return prod(n for axis in self.axes for n in axis.counts)

    def shard_bytes(self, itemsize: int) -> int:
        """Bytes of the largest shard, with its padding."""
        return self.shard_elements * itemsize

    def shard_bytes_per_tile(self, itemsize: int, tiles: int) -> np.ndarray:
        """
        Bytes up to the last padded panel of each tile's shard, int64 (tiles,), 0 where it holds nothing.

        Strides are those of the largest shard, so a ragged shard may have gaps, which are counted.
        """
        if self.chunk is not None:
            where, panels = self._chunk_parts
            return self._into(tiles, where, panels[:, None] * (self.panel_elements * itemsize))
        used = self._used_tiles()
        last: np.ndarray = np.ones((1,) * (len(self.axes) + 1), np.int64)
        for a, axis in enumerate(self.axes):
            outer, *inner = self.strides(a)
            panels = -(-axis.parts[1] // (axis.panels[0] if axis.panels else 1))
            reach = (panels - 1) * outer[1] + sum((n - 1) * stride for n, stride in inner)
            last = last + reach.reshape((-1,) + (1,) * (len(self.axes) - a))
        return self._into(tiles, used, last * itemsize)

    def held_elements(self, tiles: int) -> np.ndarray:
        """Elements of the array (no padding) that each tile holds, int64 (tiles,)."""
        if self.chunk is None:
            held: np.ndarray = np.ones((1,) * (len(self.axes) + 1), np.int64)
            for a, axis in enumerate(self.axes):
                held = held * axis.parts[1].reshape((-1,) + (1,) * (len(self.axes) - a))
            return self._into(tiles, self._used_tiles(), held)
        where, panels = self._chunk_parts
        fill = np.ones(1, np.int64)
        for a, _ in self.order[: len(self.axes)]:
            axis = self.axes[a]
            panel = axis.panels[0] if axis.panels else 1
            starts = np.arange(axis.counts[0], dtype=np.int64) * panel
            fill = (fill[:, None] * np.minimum(panel, axis.extent - starts)).ravel()
        if not fill.size:
            return np.zeros(tiles, np.int64)
        assert self.chunk is not None
        held = np.add.reduceat(fill, np.arange(panels.size) * self.chunk)
        return self._into(tiles, where, held[:, None])

    def padding(self, itemsize: int, tiles: int) -> np.ndarray:
        """Bytes of each tile's shard that hold no element of the array, int64 (tiles,)."""
        return self.shard_bytes_per_tile(itemsize, tiles) - self.held_elements(tiles) * itemsize

    def has_padding(self) -> bool:
        """Whether some shard has bytes that hold no element."""
        if not prod(self.shape):
            return False
        tiles = self.tile_count()
        return bool(self.padding(1, tiles).any())

    # -- other layouts from this one

    def rotate(self, n: int) -> Layout:
        """The same layout on tiles shifted by n (cyclic when `tiles` is set)."""
        return replace(self, base=(self.base + n) % self.tiles if self.tiles else self.base + n)

    def normal(self) -> Layout:
        """
        The normal form: same places, sizes and memory class, without steps that do nothing.

        Splits and replicas that count on are joined, panels that change neither order nor padding are
        dropped, digits that never count come first, and the wrap goes where no tile number wraps.
        """
        return normal_form(self)

    def through(self, view: View) -> Layout | None:
        """
        The layout over the logical axes of `view` with every element where self has it, or None.

        Shards may come out smaller than self's (what the view leaves out at their end is not counted).
        """
        return through(self, view)

    def equivalent(self, other: Layout) -> bool:
        """
        Whether both put every element, and every copy of it, at the same place of equally large shards.

        Decided on the tables, so it also sees equalities that the normal form does not (ragged coincidences).
        """
        return equivalent(self, other)

    # -- text

    def __str__(self) -> str:
        return layout_text(self)

    @staticmethod
    @lru_cache(maxsize=1024)
    def parse(text: str) -> Layout:
        """Read back what `str` prints; remembered with its tables, as programs repeat layouts."""
        return Layout(*read_layout(text))


def row_major(shape: Sequence[int], *, base: int = 0, tiles: int = 0, memory: Memory = "any") -> Layout:
    """The whole array on tile `base`, last axis innermost, without padding."""
    return single_tile(shape, base=base, tiles=tiles, memory=memory)


def single_tile(
    shape: Sequence[int],
    *,
    panels: Sequence[Sequence[int]] | None = None,
    order: Sequence[tuple[int, int]] | None = None,
    base: int = 0,
    tiles: int = 0,
    memory: Memory = "any",
) -> Layout:
    """
    The whole array on tile `base`, cut in `panels` (per axis, outer to inner), in `order` (default: axis by
    axis).
    """
    cuts = panels if panels is not None else [()] * len(shape)
    axes = tuple(Axis(n, (), tuple(p)) for n, p in zip(shape, cuts, strict=True))
    return Layout(axes, tuple(order) if order is not None else natural_order(axes), (), base, tiles, memory)


def linear_home(
    shape: Sequence[int],
    panels: Sequence[Sequence[int]],
    order: Sequence[tuple[int, int]],
    *,
    tiles: int,
    owners: int | None = None,
    base: int = 0,
    memory: Memory = "any",
) -> Layout:
    """
    A home that deals whole panels to `owners` (default: all `tiles`) successive tiles, as evenly as whole
    panels allow.
    """
    axes = tuple(Axis(n, (), tuple(p)) for n, p in zip(shape, panels, strict=True))
    count = prod(axis.counts[0] for axis in axes)
    chunk = max(1, -(-count // (tiles if owners is None else owners)))
    return Layout(axes, tuple(order), (), base, tiles, memory, chunk)
