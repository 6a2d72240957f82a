# SPDX-License-Identifier: Apache-2.0
"""
Exchange geometry: which bytes of which shard go where when a value changes its layout.

Places are sums over storage axes, so the logical index falls apart in *components* (digits of logical axes
that share a storage axis on either side in a way that is not a sum) whose contributions to source and
destination simply add. Runs of elements that stay together are found inside components; only spans, never
elements, are multiplied out. A linear home is worked on as one long row of panels and cut at its chunk
boundaries at the end. Where everything is coupled, the only component is the whole array, which is the
enumeration by element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from math import prod

import numpy as np

from tilewright.planning.exchange.ordering import ordered_by
from tilewright.planning.layout import Layout, LayoutError, View, row_major


@dataclass(frozen=True)
class Transfers:
    """
    Spans of bytes to copy between shards, one row each; arrays are int64 (spans,), bytes count from the
    shard's start.

    Every destination byte that holds an element, in every copy of the destination, is written by exactly one
    span. A span whose two tiles are equal is a local copy. The order is deterministic and otherwise
    unspecified.
    """

    src_tile: np.ndarray
    src_byte: np.ndarray
    dst_tile: np.ndarray
    dst_byte: np.ndarray
    nbytes: np.ndarray
    whole_words: bool  # all offsets and sizes are multiples of 4

    def __len__(self) -> int:
        return int(self.nbytes.size)

    def local(self) -> np.ndarray:
        """Which spans stay on their tile, bool (spans,)."""
        return self.src_tile == self.dst_tile

    def select(self, which: np.ndarray) -> Transfers:
        """The spans that an index or mask array picks."""
        return _transfers(
            *(a[which] for a in (self.src_tile, self.src_byte, self.dst_tile, self.dst_byte, self.nbytes))
        )

    def received(self, tiles: int) -> np.ndarray:
        """Bytes that arrive at each tile from other tiles, int64 (tiles,)."""
        away = ~self.local()
        return _count(self.dst_tile[away], self.nbytes[away], tiles)


def _count(where: np.ndarray, what: np.ndarray, tiles: int) -> np.ndarray:
    out = np.zeros(tiles, np.int64)
    np.add.at(out, where, what)
    return out


def _transfers(
    src_tile: np.ndarray, src_byte: np.ndarray, dst_tile: np.ndarray, dst_byte: np.ndarray, nbytes: np.ndarray
) -> Transfers:
    whole = not bool(((src_byte | dst_byte | nbytes) & 3).any())
    return Transfers(src_tile, src_byte, dst_tile, dst_byte, nbytes, whole)


# -- atoms: the common digits of two views -------------------------------------------------------------------


@dataclass(frozen=True)
class _Atom:
    """
    A digit of a logical axis on which both views are given by a table per storage axis (usually a stride).
    """

    size: int
    # per side (source, destination): storage axis -> contribution of each value, int64 (size,)
    adds: tuple[dict[int, np.ndarray], dict[int, np.ndarray]]


def _weights(digits: Sequence[tuple[int, int, int]]) -> list[int]:
    """Products of the inner sizes at every digit boundary, 1 ... n."""
    out = [1]
    for size, _, _ in reversed(digits):
        out.append(out[-1] * size)
    return out


def _atoms(src: View, dst: View) -> list[_Atom]:
    """
    Cut every logical axis where both views' digits allow; where they do not align, the stretch stays one
    atom.
    """
    out: list[_Atom] = []
    for n, ours, theirs in zip(src.shape, src.digits, dst.digits, strict=True):
        weights = (_weights(ours), _weights(theirs))
        common = sorted(set(weights[0]) & set(weights[1]))
        cuts = [1]
        for low, high in pairwise(common):
            inside = sorted({w for side in weights for w in side if low < w <= high})
            chain = [low, *inside]
            aligned = all(b % a == 0 for a, b in pairwise(chain))
            cuts += inside if aligned else [high]
        pieces: list[_Atom] = []
        for low, high in pairwise(cuts):
            values = np.arange(high // low, dtype=np.int64) * low
            pieces.append(_Atom(values.size, (_adds(ours, values), _adds(theirs, values))))
        assert prod(p.size for p in pieces) == n
        out += reversed(pieces)
    return out


def _adds(digits: Sequence[tuple[int, int, int]], values: np.ndarray) -> dict[int, np.ndarray]:
    out: dict[int, np.ndarray] = {}
    rest = values
    for size, axis, stride in reversed(digits):
        digit = rest % size
        rest = rest // size
        if axis >= 0 and digit.any():
            out[axis] = out.get(axis, 0) + digit * stride
    return out


# -- components: what adds up --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sum:
    """A summand of a side's place: depends on some atoms only. Arrays have one axis per atom of `atoms`."""

    atoms: tuple[int, ...]
    tile: np.ndarray
    offset: np.ndarray


def _side_sums(layout: Layout, view: View, atoms: Sequence[_Atom], side: int) -> tuple[int, int, list[_Sum]]:
    """
    (tile, offset) of logical element 0 and the summands that depend on atoms; each summand is 0 at index 0.
    """
    base_tile = base_offset = 0
    sums: list[_Sum] = []
    for axis, start in enumerate(view.offsets):
        tiles, offsets = layout.sum_tables(axis)
        base_tile += int(tiles[start])
        base_offset += int(offsets[start])
        ids = [i for i, atom in enumerate(atoms) if axis in atom.adds[side]]
        if not ids:
            continue
        where = reduce(np.add.outer, (atoms[i].adds[side][axis] for i in ids)) + start
        tile = tiles[where] - tiles[start]
        offset = offsets[where] - offsets[start]
        for group in _separate(tile, offset):
            pick = tuple(slice(None) if k in group else 0 for k in range(len(ids)))
            sums.append(_Sum(tuple(ids[k] for k in group), tile[pick], offset[pick]))
    return base_tile, base_offset, sums


def _separate(*tables: np.ndarray) -> list[list[int]]:
    """
    Groups of array axes such that every table is a sum of tables over the groups (mixed differences vanish
    between them).
    """
    rank = tables[0].ndim
    group = list(range(rank))
    for i in range(rank):
        for j in range(i + 1, rank):
            if group[i] == group[j]:
                continue
            zero_i = tuple(slice(0, 1) if k == i else slice(None) for k in range(rank))
            zero_j = tuple(slice(0, 1) if k == j else slice(None) for k in range(rank))
            if any((t - t[zero_i] - t[zero_j] + t[zero_i][zero_j]).any() for t in tables):
                old, new = group[j], group[i]
                group = [new if g == old else g for g in group]
    return [[k for k in range(rank) if group[k] == g] for g in sorted(set(group))]


@dataclass(frozen=True)
class _Spans:
    """
    Summands of places with lengths in elements; one component, or several multiplied out. All int64 (spans,).
    """

    src_tile: np.ndarray
    src: np.ndarray
    dst_tile: np.ndarray
    dst: np.ndarray
    length: np.ndarray

    def __len__(self) -> int:
        return int(self.src.size)

    def times(self, other: _Spans) -> _Spans:
        """All sums of a span of self with one of `other`, whose spans are single steps."""

        def add(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return (a[:, None] + b).ravel()

        return _Spans(
            add(self.src_tile, other.src_tile),
            add(self.src, other.src),
            add(self.dst_tile, other.dst_tile),
            add(self.dst, other.dst),
            np.repeat(self.length, len(other)),
        )

    def take(self, which: np.ndarray) -> _Spans:
        return _Spans(
            self.src_tile[which], self.src[which], self.dst_tile[which], self.dst[which], self.length[which]
        )


def _merged(spans: _Spans, step: int | None = None) -> _Spans:
    """
    Join spans that follow each other on both sides.

    With `step`, the spans are single values of a component, `step` elements apart when they continue each
    other, and lengths count values; without, lengths are elements.
    """
    n = len(spans)
    if n < 2:
        return spans
    shift = spans.src - spans.dst
    order = ordered_by(spans.src_tile, spans.dst_tile, shift, spans.src)
    src_tile, dst_tile, shift, src = (a[order] for a in (spans.src_tile, spans.dst_tile, shift, spans.src))
    length = spans.length[order]
    reach = length[:-1] if step is None else step
    joined = (
        (src_tile[1:] == src_tile[:-1])
        & (dst_tile[1:] == dst_tile[:-1])
        & (shift[1:] == shift[:-1])
        & (src[1:] == src[:-1] + reach)
    )
    starts = np.flatnonzero(np.concatenate(([True], ~joined)))
    if starts.size == n:
        return spans
    return _Spans(
        src_tile[starts],
        src[starts],
        dst_tile[starts],
        (src - shift)[starts],
        np.add.reduceat(length, starts),
    )


def _components(atoms: Sequence[_Atom], sums: Sequence[Sequence[_Sum]]) -> list[_Spans]:
    """The spans of single elements of every component."""
    owner = list(range(len(atoms)))
    for side in sums:
        for s in side:
            old = {owner[i] for i in s.atoms}
            owner = [min(old) if o in old else o for o in owner]
    out: list[_Spans] = []
    for root in sorted(set(owner)):
        ids = [i for i in range(len(atoms)) if owner[i] == root]
        shape = tuple(atoms[i].size for i in ids)
        places: list[tuple[np.ndarray, np.ndarray]] = []
        for side in sums:
            tile = np.zeros(shape, np.int64)
            offset = np.zeros(shape, np.int64)
            for s in side:
                if s.atoms[0] in ids:
                    wide = tuple(slice(None) if i in s.atoms else None for i in ids)
                    tile += s.tile[wide]
                    offset += s.offset[wide]
            places.append((tile.ravel(), offset.ravel()))
        (src_tile, src), (dst_tile, dst) = places
        out.append(_Spans(src_tile, src, dst_tile, dst, np.ones(prod(shape), np.int64)))
    return out


def _multiply(spans: _Spans, rest: list[_Spans]) -> _Spans:
    """Multiply components out, joining a component first wherever its values continue the spans there are."""
    if not rest:
        return spans
    lengths = np.flatnonzero(np.bincount(spans.length))  # few and small: counting beats hashing
    if lengths.size == 1:
        step = int(lengths[0])
        for k, component in enumerate(rest):
            joined = _merged(component, step)
            if len(joined) < len(component):
                longer = spans.times(joined)
                length = (spans.length[:, None] * joined.length).ravel()
                return _multiply(replace(longer, length=length), rest[:k] + rest[k + 1 :])
    elif lengths.size <= 8:
        parts = [_multiply(spans.take(spans.length == n), rest) for n in lengths]
        return _Spans(*(np.concatenate([getattr(p, f) for p in parts]) for f in _Spans.__dataclass_fields__))
    return reduce(_Spans.times, rest, spans)


def _spread(rest: list[_Spans]) -> _Spans:
    """All spans of the sum of the components, as long as they get."""
    zero = np.zeros(1, np.int64)
    start = _Spans(zero, zero, zero, zero, np.ones(1, np.int64))
    return _merged(_multiply(start, rest))


# -- from sums to places -------------------------------------------------------------------------------------


def _cut(spans: _Spans, places: np.ndarray, chunk: int) -> _Spans:
    """Cut spans so that none crosses a multiple of `chunk` in `places` (spans.src or spans.dst)."""
    first = places // chunk
    pieces = (places + spans.length - 1) // chunk - first + 1
    if int(pieces.max(initial=1)) == 1:
        return spans
    which = np.repeat(np.arange(len(spans)), pieces)
    rank = np.arange(which.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    start = np.maximum(places[which], (first[which] + rank) * chunk)
    end = np.minimum((places + spans.length)[which], (first[which] + rank + 1) * chunk)
    ahead = start - places[which]
    out = spans.take(which)
    return replace(out, src=out.src + ahead, dst=out.dst + ahead, length=end - start)


def moves_whole_words(src: Layout, src_view: View, dst: Layout, dst_view: View, itemsize: int) -> bool | None:
    """
    Whether all spans of `transfers` are whole words, from the components alone; None where only the spans
    tell (no, or linear homes, or words put together from runs of several lengths). Arguments as there.
    """
    word = 4 // itemsize if itemsize < 4 else 1
    if word == 1:
        return True
    if src.chunk is not None or dst.chunk is not None or src_view.shape != dst_view.shape:
        return None
    src_view.check_inside(src.shape)
    dst_view.check_inside(dst.shape)
    if 0 in src_view.shape:
        return True
    atoms = [a for a in _atoms(src_view, dst_view) if a.size > 1 and (a.adds[0] or a.adds[1])]
    _check_destination(atoms, dst_view)
    sides = [_side_sums(src, src_view, atoms, 0), _side_sums(dst, dst_view, atoms, 1)]
    rest = _components(atoms, [side[2] for side in sides])
    if (sides[0][1] | sides[1][1]) % word:
        return None
    length = 1
    while length % word:
        joined = [_merged(component, length) for component in rest]
        found = [k for k, (a, b) in enumerate(zip(joined, rest, strict=True)) if len(a) < len(b)]
        if not found:
            return None
        k = found[0]
        runs = length * np.unique(joined[k].length)
        if runs.size > 1 and (runs % word).any():
            return None
        length, rest[k] = (int(runs[0]) if runs.size == 1 else word), joined[k]
    cut = any(((spans.src | spans.dst) & (word - 1)).any() for spans in rest)
    return None if cut else True


def transfers(src: Layout, src_view: View, dst: Layout, dst_view: View, itemsize: int) -> Transfers:
    """
    Spans that bring a value from one layout to another; both views have the value's logical shape.

    `itemsize` is in bytes. Copies of the destination are all written. Where the source is replicated, a
    destination tile uses its own copy if it has one; the rest is spread over the copies by the position of
    the span, so that one span keeps one sender. LayoutError if the shapes differ, a view leaves its layout,
    or two elements would have one destination.
    """
    if src_view.shape != dst_view.shape:
        raise LayoutError(
            f"cannot convert a value of shape {src_view.shape} to one of shape {dst_view.shape}"
        )
    src_view.check_inside(src.shape)
    dst_view.check_inside(dst.shape)
    if 0 in src_view.shape:
        empty = np.zeros(0, np.int64)
        return _transfers(empty, empty, empty, empty, empty)
    # A digit that is broadcast on both sides moves the same bytes again: one value of it is enough.
    atoms = [a for a in _atoms(src_view, dst_view) if a.size > 1 and (a.adds[0] or a.adds[1])]
    _check_destination(atoms, dst_view)
    sides = [_side_sums(src, src_view, atoms, 0), _side_sums(dst, dst_view, atoms, 1)]
    components = _components(atoms, [side[2] for side in sides])
    spans = _spread(components)
    spans = replace(
        spans,
        src_tile=spans.src_tile + sides[0][0],
        src=spans.src + sides[0][1],
        dst_tile=spans.dst_tile + sides[1][0],
        dst=spans.dst + sides[1][1],
    )
    if src.chunk_elements is not None:
        spans = _cut(spans, spans.src, src.chunk_elements)
    if dst.chunk_elements is not None:
        spans = _cut(spans, spans.dst, dst.chunk_elements)
    src_tile, src_offset = src.place(spans.src_tile, spans.src)
    dst_tile, dst_offset = dst.place(spans.dst_tile, spans.dst)
    nbytes = spans.length * itemsize
    src_byte, dst_byte = src_offset * itemsize, dst_offset * itemsize
    copies = dst.replica_tiles
    if copies.size > 1:
        dst_tile = (dst_tile[:, None] + copies).ravel()
        if dst.tiles:
            dst_tile %= dst.tiles
        src_tile, src_byte, dst_byte, nbytes = (
            np.repeat(a, copies.size) for a in (src_tile, src_byte, dst_byte, nbytes)
        )
    if src.replica_tiles.size > 1:
        src_tile = _nearest_copy(src, src_tile, src_byte, dst_tile)
    return _transfers(src_tile, src_byte, dst_tile, dst_byte, nbytes)


def _nearest_copy(
    src: Layout, src_tile: np.ndarray, src_byte: np.ndarray, dst_tile: np.ndarray
) -> np.ndarray:
    """
    The tile of the source copy that serves each span: the destination's own, else one picked by rank inside
    the shard.
    """
    order = ordered_by(src_tile, src_byte)
    tile, byte = src_tile[order], src_byte[order]
    new_tile = np.concatenate(([True], tile[1:] != tile[:-1]))
    distinct = np.cumsum(new_tile | np.concatenate(([True], byte[1:] != byte[:-1]))) - 1
    shard_first = np.maximum.accumulate(np.where(new_tile, distinct, 0))
    rank = np.empty_like(distinct)
    rank[order] = distinct - shard_first
    copies = src.replica_tiles
    out = src_tile + copies[rank % copies.size]
    if src.tiles:
        out %= src.tiles
    for step in copies:
        here = src_tile + step
        if src.tiles:
            here = here % src.tiles
        out = np.where(here == dst_tile, dst_tile, out)
    return out


def _check_destination(atoms: Sequence[_Atom], view: View) -> None:
    """Two logical elements that differ at the source may not share a place at the destination."""
    clash = any(not a.adds[1] for a in atoms)
    if not clash and not view.is_injective():
        for axis in range(len(view.offsets)):
            where = reduce(
                np.add.outer, (a.adds[1][axis] for a in atoms if axis in a.adds[1]), np.zeros((), np.int64)
            )
            clash = clash or np.unique(where).size != where.size
        # Digits with places on two storage axes are distinguished by either: only then is the check above too
        # strict.
        if clash and any(len(a.adds[1]) > 1 for a in atoms):
            sums = [np.zeros(1, np.int64)] * len(view.offsets)
            for a in atoms:
                for axis in range(len(sums)):
                    add = a.adds[1].get(axis, np.zeros(a.size, np.int64))
                    sums[axis] = np.add.outer(sums[axis], add).ravel()
            clash = np.unique(np.stack(sums), axis=1).shape[1] != sums[0].size
    if clash:
        raise LayoutError(
            f"view '{view}' gives several elements of a {view.shape} value one place: "
            "nothing can be written through it"
        )


# -- other questions about geometry --------------------------------------------------------------------------


def element_places(layout: Layout, view: View) -> tuple[np.ndarray, np.ndarray]:
    """
    (tile, offset in elements) of every logical element (replica 0), int64 of the view's shape: for host
    packing and tests.
    """
    view.check_inside(layout.shape)
    if 0 in view.shape:
        return np.zeros(view.shape, np.int64), np.zeros(view.shape, np.int64)
    atoms = _atoms(view, view)
    tile, offset, sums = _side_sums(layout, view, atoms, 0)
    shape = tuple(a.size for a in atoms)
    tiles = np.full(shape, tile, np.int64)
    offsets = np.full(shape, offset, np.int64)
    for s in sums:
        wide = tuple(slice(None) if i in s.atoms else None for i in range(len(atoms)))
        tiles += s.tile[wide]
        offsets += s.offset[wide]
    tiles, offsets = layout.place(tiles, offsets)
    return tiles.reshape(view.shape), offsets.reshape(view.shape)


def contiguous_spans(layout: Layout, view: View, itemsize: int) -> Transfers:
    """
    The runs of bytes that are contiguous in the shards and in the row-major logical array.

    Source is the layout (one copy of an element), destination the flat array: `dst_byte` is its byte offset.
    """
    return transfers(layout, view, row_major(view.shape), View.identity(view.shape), itemsize)


def common_refinement(src: Layout, src_view: View, dst: Layout, dst_view: View) -> tuple[np.ndarray, ...]:
    """
    Cut points of every logical axis, from 0 to its size, int64.

    On each rectangle between them both layouts stay on one tile, with offsets affine in the logical index.
    """
    if src_view.shape != dst_view.shape:
        raise LayoutError(f"values of shape {src_view.shape} and {dst_view.shape} have no common rectangles")
    shape = src_view.shape
    cuts: list[np.ndarray] = [
        np.zeros(n, bool) for n in shape
    ]  # cuts[i][k]: the difference k-1 -> k is not the last
    jumps: list[np.ndarray] = [
        np.zeros(n, bool) for n in shape
    ]  # jumps[i][k]: k starts a rectangle in any case
    if 0 not in shape:
        for layout, view in ((src, src_view), (dst, dst_view)):
            view.check_inside(layout.shape)
            for axis, start in enumerate(view.offsets):
                adds = [
                    _adds(digits, np.arange(n)).get(axis)
                    for n, digits in zip(shape, view.digits, strict=True)
                ]
                ids = [i for i, add in enumerate(adds) if add is not None]
                if not ids:
                    continue
                where = reduce(np.add.outer, [add for add in adds if add is not None]) + start
                tiles, offsets = layout.sum_tables(axis)
                if layout.chunk is not None:  # one panel, one tile
                    tiles = np.arange(tiles.size) // (*layout.axes[axis].panels, 1)[0]
                _note_breaks(tiles[where], offsets[where], ids, cuts, jumps)
    return tuple(_cut_points(c, j) for c, j in zip(cuts, jumps, strict=True))


def _note_breaks(
    tile: np.ndarray, offset: np.ndarray, ids: list[int], cuts: list[np.ndarray], jumps: list[np.ndarray]
) -> None:
    """Record where tables over the logical axes `ids` change tile, slope, or slope along another axis."""
    for k, i in enumerate(ids):
        rows = np.moveaxis(offset, k, 0)
        step = np.diff(rows, axis=0).reshape(rows.shape[0] - 1, -1)
        cuts[i][2:] |= (step[1:] != step[:-1]).any(axis=1)
        other = np.diff(np.moveaxis(tile, k, 0), axis=0).reshape(rows.shape[0] - 1, -1)
        jumps[i][1:] |= (other != 0).any(axis=1)
        for m in range(k + 1, len(ids)):
            mixed = np.diff(np.diff(offset, axis=k), axis=m) != 0
            for axis, name in ((k, i), (m, ids[m])):
                rest = tuple(a for a in range(mixed.ndim) if a != axis)
                jumps[name][1:] |= mixed.any(axis=rest)


def _cut_points(cuts: np.ndarray, jumps: np.ndarray) -> np.ndarray:
    """Starts of the longest stretches without a jump and with one slope, and the end."""
    events = np.flatnonzero(cuts | jumps)
    points = [0] if cuts.size else []
    for k in events.tolist():
        start = points[-1]
        if k <= start:
            continue
        # A new slope from k-1 to k: the old stretch ends with k-1; a stretch of one element has no slope yet.
        if jumps[k] or k - start >= 2:
            points.append(k)
    return np.array([*points, cuts.size], np.int64)
