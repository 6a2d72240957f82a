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
from functools import cached_property
from itertools import pairwise
from math import prod
from operator import index
from typing import Literal, get_args

import numpy as np
from lark import Token, Tree

from tilewright.planning.view import LETTERS, LayoutError, View, axis_letter, parse_tree

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

Memory = Literal["any", "standard", "interleaved"]


@dataclass(frozen=True)
class Split:
    """Index i goes to part i // block, which adds part * tile_stride to the tile; i % block remains."""

    block: int
    tile_stride: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "block", index(self.block))
        object.__setattr__(self, "tile_stride", index(self.tile_stride))
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
        _, local = self.walk()
        starts = np.flatnonzero(local == 0) if self.extent else np.zeros(0, np.int64)
        sizes = np.diff(np.append(starts, self.extent))
        return self.walk()[0][starts], sizes.astype(np.int64)

    def __str__(self) -> str:
        splits = "".join(f"/{s.block}@{s.tile_stride}" for s in self.splits)
        return f"{self.extent}{splits}" + "".join(f"|{p}" for p in self.panels)


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
        digits = _natural_order(self.axes)
        if tuple(sorted(self.order)) != digits:
            raise LayoutError(
                f"the order of a layout names every digit of its axes once: {self._order_text(self.order)} "
                f"is not an order of {self._order_text(digits)}"
            )
        if any(n < 1 or stride < 0 for n, stride in self.replicas):
            raise LayoutError(f"replicas are (count >= 1, tile stride >= 0): {self.replicas}")
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
        if prod(n for _, n in steps) > 1 << 24:
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
        axes: list[Axis] = []
        for axis in self.axes:
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
        order = self._idle_first(axes, self.order)
        for a in range(len(axes)):
            level = 0
            while level < len(axes[a].panels):
                axis = axes[a]
                fused = replace(axis, panels=axis.panels[:level] + axis.panels[level + 1 :])
                outer, inner = axis.counts[level : level + 2]
                here = order.index((a, level))
                adjacent = order[here + 1 : here + 2] == [(a, level + 1)]
                # A linear home counts level-0 digits: fusing one of them would change what a panel is.
                keep = self.chunk is not None and level == 0 and inner != 1
                if fused.counts[level] != outer * inner or keep or not (adjacent or 1 in (outer, inner)):
                    level += 1
                    continue
                order.remove((a, level if outer == 1 else level + 1))
                axes[a] = fused
                order = self._idle_first(axes, [(b, k - (b == a and k > level)) for b, k in order])
                level = 0
        replicas: list[tuple[int, int]] = []
        for n, stride in sorted((r for r in self.replicas if r[0] > 1), key=lambda r: (-r[1], r[0])):
            if replicas and replicas[-1][1] == n * stride:
                n *= replicas.pop()[0]
            replicas.append((n, stride))
        out = replace(self, axes=tuple(axes), order=tuple(order), replicas=tuple(replicas))
        if out.chunk is not None:
            out = replace(out, chunk=max(1, min(out.chunk, out.panel_count)))
        if out.tiles:
            out = replace(out, base=out.base % out.tiles)
            unwrapped = replace(out, tiles=0)
            if unwrapped.tile_count() <= out.tiles:
                out = unwrapped
        return out

    def _idle_first(self, axes: Sequence[Axis], order: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """The order with the digits that never count in front, as far as a linear home lets them."""
        idle = sorted(d for d in order if axes[d[0]].counts[d[1]] == 1)
        out = idle + [d for d in order if d not in idle]
        return out if self.chunk is None else sorted(out, key=lambda d: d[1] != 0)

    def through(self, view: View) -> Layout | None:
        """
        The layout over the logical axes of `view` with every element where self has it, or None.

        Shards may come out smaller than self's (what the view leaves out at their end is not counted).
        """
        view.check_inside(self.shape)
        if 0 in view.shape or any(a < 0 for digits in view.digits for _, a, _ in digits):
            return None
        same = self._reordered(view)
        if same is not None or self.chunk is not None:
            return same
        owner = [{a for _, a, _ in digits} for digits in view.digits]
        if not all(self._adds_up(view, a) for a in range(len(self.axes))):
            return None  # the places of two logical axes are not found one by one
        if any(self.sum_tables(a)[1][start] for a, start in enumerate(view.offsets)):
            return None  # a shard starts at offset 0
        base = self.base + sum(int(self.sum_tables(a)[0][start]) for a, start in enumerate(view.offsets))
        found: list[tuple[Axis, list[int]]] = []
        for i, n in enumerate(view.shape):
            zero = [np.zeros(1, np.int64)] * view.rank
            where = view.storage(*zero[:i], np.arange(n), *zero[i + 1 :])
            tables = [self.sum_tables(a) for a in range(len(self.axes))]
            tile: np.ndarray = sum(
                (t[w] for (t, _), w in zip(tables, where, strict=True)), np.zeros(n, np.int64)
            )
            place: np.ndarray = sum(
                (o[w] for (_, o), w in zip(tables, where, strict=True)), np.zeros(n, np.int64)
            )
            whole = [a for a in sorted(owner[i]) if view.digits[i] == ((n, a, 1),)]
            axis = self.axes[whole[0]] if whole else None
            if axis is not None and view.offsets[whole[0]] == 0:
                # A prefix of one storage axis: the same steps, also where they are ragged in the middle.
                strides = [stride for _, stride in self.strides(whole[0])]
                kept = tuple(split for split in axis.splits if split.block < n)
                found.append((replace(axis, extent=n, splits=kept), strides))
                continue
            steps = _steps(tile - tile[0], place - place[0])
            if steps is None:
                return None
            found.append(steps)
        digits = [(a, level) for a, (axis, _) in enumerate(found) for level in range(axis.levels)]
        counts = {(a, level): found[a][0].counts[level] for a, level in digits}
        # Digits that never count may have any stride: they go in front.
        order = sorted(digits, key=lambda d: (counts[d] != 1, -found[d[0]][1][d[1]], d))
        axes = tuple(axis for axis, _ in found)
        base = base % self.tiles if self.tiles else base
        out = replace(self, axes=axes, order=tuple(order), base=base)
        for i, n in enumerate(view.shape):
            zero = [np.zeros(1, np.int64)] * view.rank
            index_arrays = (*zero[:i], np.arange(n), *zero[i + 1 :])
            mine, its = out.positions(*index_arrays), self.positions(*view.storage(*index_arrays))
            if not all(np.array_equal(m, t) for m, t in zip(mine, its, strict=True)):
                return None
        return out

    def _adds_up(self, view: View, axis: int) -> bool:
        """Whether the logical axes that share a storage axis contribute to its tables as a sum."""
        start = view.offsets[axis]
        joint = np.full((), start, np.int64)
        singles: list[np.ndarray] = []
        for i, digits in enumerate(view.digits):
            if all(a != axis for _, a, _ in digits):
                continue
            zero = [np.zeros(1, np.int64)] * view.rank
            index_arrays = (*zero[:i], np.arange(view.shape[i]), *zero[i + 1 :])
            singles.append(view.storage(*index_arrays)[axis])
            joint = np.add.outer(joint, singles[-1] - start)
        if len(singles) < 2:
            return True
        for table in self.sum_tables(axis):
            summed = np.full((), table[start], np.int64)
            for single in singles:
                summed = np.add.outer(summed, table[single] - table[start])
            if not np.array_equal(summed, table[joint]):
                return False
        return True

    def _reordered(self, view: View) -> Layout | None:
        """`through` for a new order of whole axes: all a panel sequence survives, exact for grids."""
        if any(view.offsets) or any(len(digits) > 1 for digits in view.digits):
            return None
        used = [digits[0][1] if digits else -1 for digits in view.digits]
        if any(d and d[0] != (self.axes[a].extent, a, 1) for d, a in zip(view.digits, used, strict=True)):
            return None
        if any(axis.extent != 1 and a not in used for a, axis in enumerate(self.axes)):
            return None
        left = [a for a, axis in enumerate(self.axes) if axis.extent == 1 and a not in used]
        names: dict[int, int] = {}
        axes: list[Axis] = []
        for i, a in enumerate(used):
            if a < 0 and left:
                a = left.pop(0)
            if a >= 0:
                names[a] = i
            axes.append(self.axes[a] if a >= 0 else Axis(1))
        if left:
            return None  # an axis of extent 1 with panels of its own has no logical axis to live on
        order = [(names[a], level) for a, level in self.order]
        extra = [(i, 0) for i in range(len(axes)) if i not in names.values()]
        return replace(self, axes=tuple(axes), order=(*extra, *order))

    def equivalent(self, other: Layout) -> bool:
        """
        Whether both put every element, and every copy of it, at the same place of equally large shards.

        Decided on the tables, so it also sees equalities that the normal form does not (ragged coincidences).
        """
        if self.shape != other.shape or self.memory != other.memory:
            return False
        if self.normal() == other.normal():
            return True
        if 0 in self.shape:
            return self.shard_elements == other.shard_elements
        tiles = max(self.tile_count(), other.tile_count())
        if not np.array_equal(self.shard_bytes_per_tile(1, tiles), other.shard_bytes_per_tile(1, tiles)):
            return False
        if self.replica_tiles.size != other.replica_tiles.size:
            return False
        if self.chunk is None and other.chunk is None and not (self.tiles or other.tiles):
            zero = np.zeros((), np.int64)
            firsts = [
                np.sort(x.positions(*([zero] * len(x.axes)))[0] + x.replica_tiles) for x in (self, other)
            ]
            return np.array_equal(firsts[0], firsts[1]) and all(
                np.array_equal(mine - mine[0], its - its[0])
                for a in range(len(self.axes))
                for mine, its in zip(self.sum_tables(a), other.sum_tables(a), strict=True)
            )
        # Wraps and panel sequences are not sums: compare element by element, by slabs of the first axis.
        return all(
            np.array_equal(self._copies_of_slab(i), other._copies_of_slab(i))
            for i in range(max(1, *self.shape[:1], 1))
        )

    def _copies_of_slab(self, i: int) -> np.ndarray:
        """
        Sorted (tile, offset) of all copies of the elements with first index i, int64 (2, copies,
        elements...).
        """
        grids = np.ogrid[tuple(slice(n) for n in self.shape[1:])]
        indices = (np.full((1,) * len(self.shape[1:]), i), *grids) if self.shape else ()
        tile, offset = self.positions(*indices)
        tiles = tile[None] + self.replica_tiles.reshape((-1,) + (1,) * tile.ndim)
        if self.tiles:
            tiles %= self.tiles
        return np.stack([np.sort(tiles, axis=0), np.broadcast_to(offset, tiles.shape)])

    # -- text

    def _order_text(self, order: Sequence[tuple[int, int]]) -> str:
        def digit(a: int, level: int) -> str:
            letter = axis_letter(a) if 0 <= a < len(LETTERS) else f"?{a}"
            single = a < len(self.axes) and self.axes[a].levels == 1 and level == 0
            return letter if single else f"{letter}{level}"

        return ".".join(digit(a, level) for a, level in order)

    def __str__(self) -> str:
        words = ["[" + ", ".join(map(str, self.axes)) + "]"]
        if self.order != _natural_order(self.axes):
            words.append(self._order_text(self.order))
        words += [f"*{n}@{stride}" for n, stride in self.replicas]
        if self.base:
            words.append(f"+{self.base}")
        if self.tiles:
            words.append(f"%{self.tiles}")
        if self.memory != "any":
            words.append(self.memory)
        if self.chunk is not None:
            words.append(f"chunk {self.chunk}")
        return " ".join(words)

    @staticmethod
    def parse(text: str) -> Layout:
        """Read back what `str` prints."""
        axes: list[Axis] = []
        order: tuple[tuple[int, int], ...] | None = None
        replicas: list[tuple[int, int]] = []
        numbers: dict[str, int] = {}
        memory: Memory = "any"
        for node in parse_tree(text, "layout").children:
            if not isinstance(node, Tree):
                memory = "standard" if str(node) == "standard" else "interleaved"
            elif node.data == "axis":
                axes.append(_parse_axis(node))
            elif node.data == "order":
                order = tuple((LETTERS.index(str(d)[0]), int(str(d)[1:] or 0)) for d in node.children)
            elif node.data == "replica":
                n, stride = _ints(node)
                replicas.append((n, stride))
            else:
                (numbers[str(node.data)],) = _ints(node)
        return Layout(
            tuple(axes),
            _natural_order(axes) if order is None else order,
            tuple(replicas),
            numbers.get("base", 0),
            numbers.get("wrap", 0),
            memory,
            numbers.get("chunk"),
        )


def _ints(node: Tree[Token]) -> list[int]:
    return [int(str(t)) for t in node.children]


def _parse_axis(node: Tree[Token]) -> Axis:
    splits: list[Split] = []
    panels: list[int] = []
    for child in node.children[1:]:
        assert isinstance(child, Tree)
        if child.data == "split":
            splits.append(Split(*_ints(child)))
        else:
            panels += _ints(child)
    return Axis(int(str(node.children[0])), tuple(splits), tuple(panels))


def _steps(tile: np.ndarray, offset: np.ndarray) -> tuple[Axis, list[int]] | None:
    """
    The axis (and strides of its levels) whose tables these are, by cutting off regular steps from the inside.

    None when steps inside a shard lie outside steps over tiles, or the tables are not made of steps.
    """
    n = tile.size
    inside: list[tuple[int, int]] = []  # (elements of one count, offset stride), inner to outer
    splits: list[Split] = []  # inner to outer
    unit = 1
    while tile.size > 1:
        over, step = int(tile[1] - tile[0]), int(offset[1] - offset[0])
        ramp = np.arange(tile.size)
        bad = np.flatnonzero((tile - tile[0] != ramp * over) | (offset - offset[0] != ramp * step))
        count = int(bad[0]) if bad.size else tile.size
        if (over and step) or over < 0 or (step and splits):
            return None
        if over:
            splits.append(Split(unit, over))
        else:
            inside.append((unit, step))
        unit *= count
        tile, offset = tile[::count], offset[::count]
    if not inside or inside[0][0] != 1:
        inside.insert(0, (1, 1))
    levels = inside[::-1]
    axis = Axis(n, tuple(splits[::-1]), tuple(size for size, _ in levels[:-1]))
    return axis, [stride for _, stride in levels]


def _natural_order(axes: Sequence[Axis]) -> tuple[tuple[int, int], ...]:
    return tuple((a, level) for a, axis in enumerate(axes) for level in range(axis.levels))


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
    return Layout(axes, tuple(order) if order is not None else _natural_order(axes), (), base, tiles, memory)


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
