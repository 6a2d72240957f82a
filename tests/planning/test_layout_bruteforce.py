# SPDX-License-Identifier: Apache-2.0
"""Layouts, views and transfers against a definition by element, on small random cases."""

from __future__ import annotations

import itertools
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.planning.exchange.geometry import (
    common_refinement,
    contiguous_spans,
    element_places,
    transfers,
)
from tilewright.planning.layout import Axis, Layout, LayoutError, Split, View, linear_home, row_major

EXTENTS = st.sampled_from([1, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13])
examples = settings(max_examples=100, deadline=None)


# -- the definition, element by element ----------------------------------------------------------------------


def naive_places(layout: Layout, index: tuple[int, ...]) -> list[tuple[int, int]]:
    """(tile, offset) of every copy of one storage element, straight from the words of the specification."""
    tile = layout.base
    digits: dict[tuple[int, int], int] = {}
    counts: dict[tuple[int, int], int] = {}
    for a, (axis, i) in enumerate(zip(layout.axes, index, strict=True)):
        block = axis.extent
        for split in axis.splits:
            tile += i // split.block * split.tile_stride
            i %= split.block
            block = min(block, split.block)
        sizes = [*axis.panels, 1]
        for level, size in enumerate(sizes):
            digits[a, level] = i // size
            i %= size
            counts[a, level] = -(-block // size) if level == 0 else sizes[level - 1] // size
    offset = 0
    panel = panels = 0
    panel_elements = prod(n for (_, level), n in counts.items() if level)
    for d in layout.order:
        offset = offset * counts[d] + digits[d]
        if d[1] == 0:
            panels = panels * counts[d] + digits[d]
        else:
            panel = panel * counts[d] + digits[d]
    if layout.chunk is not None:
        tile += panels // layout.chunk
        offset = panels % layout.chunk * panel_elements + panel
    copies = [tile]
    for n, stride in layout.replicas:
        copies = [t + r * stride for t in copies for r in range(n)]
    return [(t % layout.tiles if layout.tiles else t, offset) for t in copies]


def naive_storage(view: View, index: tuple[int, ...]) -> tuple[int, ...]:
    out = list(view.offsets)
    for i, digits in zip(index, view.digits, strict=True):
        for size, axis, stride in reversed(digits):
            if axis >= 0:
                out[axis] += i % size * stride
            i //= size
    return tuple(out)


def all_indices(shape: tuple[int, ...]):
    return itertools.product(*map(range, shape))


# -- random cases --------------------------------------------------------------------------------------------


@st.composite
def axes(draw, extent: int, split: bool = True):
    splits = []
    block = extent
    for _ in range(draw(st.integers(0, 2)) if split else 0):
        block = draw(st.integers(1, max(1, block)))
        splits.append(Split(block, draw(st.sampled_from([1, 2, 3, 5, 12, 30, 100]))))
    panels: list[int] = []
    for _ in range(draw(st.integers(0, 2))):
        panels.insert(0, (panels[0] if panels else 1) * draw(st.sampled_from([1, 2, 3, 4])))
    return Axis(extent, tuple(splits), tuple(panels))


@st.composite
def layouts(draw, shape: tuple[int, ...]):
    """Any legal layout of a storage shape: grids and linear homes, replicated and rotated."""
    linear = draw(st.booleans())
    parts = tuple(draw(axes(n, split=not linear)) for n in shape)
    digits = [(a, level) for a, axis in enumerate(parts) for level in range(axis.levels)]
    order = draw(st.permutations(digits))
    if linear:
        order = sorted(order, key=lambda d: d[1] > 0)
    chunk = draw(st.integers(1, 5)) if linear else None
    replicas = draw(st.sampled_from([(), (), ((2, 1000),), ((3, 400), (2, 2000))]))
    base = draw(st.sampled_from([0, 0, 3, 17]))
    memory = draw(st.sampled_from(["any", "interleaved"]))
    try:
        layout = Layout(parts, tuple(order), replicas, base, 0, memory, chunk)
    except LayoutError:  # two parts on one tile: take the legal layout with the same order in the shard
        parts, replicas = tuple(Axis(a.extent, (), a.panels) for a in parts), ()
        layout = Layout(parts, tuple(order), replicas, base, 0, memory, chunk)
    if draw(st.booleans()):  # wrap where the tile numbers stay distinct
        for tiles in (layout.tile_count() - 1, layout.tile_count() + 5):
            try:
                return Layout(parts, tuple(order), replicas, base, max(tiles, 0), memory, chunk).rotate(
                    draw(st.integers(0, 40))
                )
            except LayoutError:
                continue
    return layout


@st.composite
def shapes(draw, rank: int = 3, limit: int = 160):
    out: list[int] = []
    for _ in range(draw(st.integers(1, rank))):
        n = draw(EXTENTS)
        out.append(n if prod(out) * n <= limit else 1)
    return tuple(out)


def factorings(n: int) -> list[tuple[int, ...]]:
    out: list[tuple[int, ...]] = [(n,)]
    out += [(a, n // a) for a in range(1, n + 1) if n % a == 0]
    out += [(a, b, n // a // b) for a in range(1, n + 1) for b in range(1, n + 1) if n % (a * b) == 0]
    return out


@st.composite
def view_chains(draw, storage: tuple[int, ...], steps: int = 3, injective: bool = False):
    """(view, storage index array of every logical element) built by random operations, mirrored in numpy."""
    view = View.identity(storage)
    where = np.arange(prod(storage)).reshape(storage)
    for _ in range(draw(st.integers(0, steps))):
        kind = draw(st.sampled_from(["transpose", "slice", "reshape"] + ([] if injective else ["broadcast"])))
        if kind == "transpose":
            perm = draw(st.permutations(range(view.rank)))
            new, array = view.transpose(perm), where.transpose(perm)
        elif kind == "slice":
            starts = [draw(st.integers(0, n - 1)) for n in view.shape]
            sizes = [draw(st.integers(1, n - s)) for n, s in zip(view.shape, starts, strict=True)]
            steps = [draw(st.sampled_from([1, 1, 2, 3])) for _ in view.shape]
            sizes = [-(-n // k) for n, k in zip(sizes, steps, strict=True)]
            new = view.slice(starts, sizes, steps)
            box = zip(starts, sizes, steps, strict=True)
            array = where[tuple(slice(s, s + (n - 1) * k + 1, k) for s, n, k in box)]
        elif kind == "reshape":
            shape = draw(st.sampled_from(factorings(where.size)))
            new, array = view.reshape(shape), where.reshape(shape)
        else:
            if where.size > 100:
                continue
            ones = [d for d, n in enumerate(view.shape) if n == 1]
            dims = list(range(1, view.rank + 1)) if not ones else list(range(view.rank))
            shape = (
                [2, *view.shape]
                if not ones
                else [3 if d in ones[:1] else n for d, n in enumerate(view.shape)]
            )
            new = view.broadcast(shape, dims)
            array = np.broadcast_to(where.reshape([1, *where.shape] if not ones else where.shape), shape)
        if new is not None:
            view, where = new, array
    return view, where


# -- views ---------------------------------------------------------------------------------------------------


@examples
@given(st.data())
def test_view_operations_are_numpy_operations(data):
    storage = data.draw(shapes())
    view, where = data.draw(view_chains(storage, steps=5))
    assert view.shape == where.shape
    for index in all_indices(view.shape):
        s = naive_storage(view, index)
        assert np.ravel_multi_index(s, storage) == where[index]
    got = np.ravel_multi_index(view.storage(*np.indices(view.shape)), storage) if view.rank else where
    assert np.array_equal(got, where)
    assert view.is_injective() == (np.unique(where).size == where.size)
    assert view.is_bijection(storage) == (view.is_injective() and where.size == prod(storage))
    assert View.parse(str(view)) == view


@examples
@given(st.data())
def test_views_compose(data):
    storage = data.draw(shapes())
    inner, inner_where = data.draw(view_chains(storage))
    outer, outer_where = data.draw(view_chains(inner.shape))
    both = outer.then(inner)
    if both is None:
        return
    where = inner_where.ravel()[outer_where]
    assert np.array_equal(np.ravel_multi_index(both.storage(*np.indices(both.shape)), storage), where)


@given(st.data())
@examples
def test_views_that_align_always_compose(data):
    storage = data.draw(shapes())
    outer, _ = data.draw(view_chains(storage))
    perm = data.draw(st.permutations(range(len(storage))))
    assert outer.then(View.identity(storage)) == outer
    inner = View.identity(tuple(storage[p] for p in np.argsort(perm))).transpose(perm)
    assert outer.then(inner) is not None


# -- layouts -------------------------------------------------------------------------------------------------


@examples
@given(st.data())
def test_places_sizes_and_owners(data):
    shape = data.draw(shapes())
    layout = data.draw(layouts(shape))
    tiles = layout.tile_count()
    tile, offset = layout.positions(*np.ogrid[tuple(slice(n) for n in shape)])
    held = np.zeros(tiles, int)
    reach = np.zeros(tiles, int)
    seen: set[tuple[int, int]] = set()
    extents = [[set() for _ in range(tiles)] for _ in shape]
    for index in all_indices(shape):
        copies = naive_places(layout, index)
        assert copies[0] == (tile[index], offset[index])
        for t, o in copies:
            assert (t, o) not in seen
            seen.add((t, o))
            held[t] += 1
            reach[t] = max(reach[t], o + 1)
            for a, i in enumerate(index):
                extents[a][t].add(i)
    assert np.array_equal(layout.held_elements(tiles), held)
    assert np.array_equal(layout.owners(tiles), held > 0)
    per_tile = layout.shard_bytes_per_tile(2, tiles)
    assert (per_tile >= 2 * reach).all() and per_tile.max() <= layout.shard_bytes(2)
    assert np.array_equal(layout.padding(2, tiles), per_tile - 2 * held)
    assert layout.has_padding() == bool((per_tile != 2 * held).any())
    assert tiles == 1 + max(t for t, _ in seen)
    if layout.chunk is None:
        for a in range(len(shape)):
            assert np.array_equal(layout.local_extents(a, tiles), [len(s) for s in extents[a]])
            table = layout.tile_table(a), layout.offset_table(a)
            assert table[0].shape == table[1].shape == (shape[a],)
    assert Layout.parse(str(layout)) == layout


@examples
@given(st.data())
def test_normal_form_keeps_every_place(data):
    shape = data.draw(shapes())
    layout = data.draw(layouts(shape))
    normal = layout.normal()
    assert normal.normal() == normal
    assert normal.shard_elements == layout.shard_elements
    for index in all_indices(shape):
        assert sorted(naive_places(normal, index)) == sorted(naive_places(layout, index))
    assert layout.equivalent(normal) and normal.equivalent(layout)


@examples
@given(st.data())
def test_equivalence_is_equality_of_places(data):
    shape = data.draw(shapes(rank=2, limit=20))
    one, two = data.draw(layouts(shape)), data.draw(layouts(shape))
    tiles = max(one.tile_count(), two.tile_count())
    same = (
        one.memory == two.memory
        and np.array_equal(one.shard_bytes_per_tile(1, tiles), two.shard_bytes_per_tile(1, tiles))
        and all(sorted(naive_places(one, i)) == sorted(naive_places(two, i)) for i in all_indices(shape))
    )
    assert one.equivalent(two) == same
    if one.normal() == two.normal():
        assert same


@examples
@given(st.data())
def test_rotation_shifts_tiles(data):
    shape = data.draw(shapes(limit=40))
    layout = data.draw(layouts(shape))
    n = data.draw(st.integers(0, 50))
    for index in all_indices(shape):
        for (t, o), (u, p) in zip(
            naive_places(layout, index), naive_places(layout.rotate(n), index), strict=True
        ):
            assert o == p and u == ((t + n) % layout.tiles if layout.tiles else t + n)


# -- transfers -----------------------------------------------------------------------------------------------


def check_transfers(src: Layout, src_view: View, dst: Layout, dst_view: View, itemsize: int) -> None:
    t = transfers(src, src_view, dst, dst_view, itemsize)
    assert all(a.dtype == np.int64 for a in (t.src_tile, t.src_byte, t.dst_tile, t.dst_byte, t.nbytes))
    got: dict[tuple[int, int], tuple[int, int]] = {}
    for row in zip(
        t.src_tile.tolist(),
        t.src_byte.tolist(),
        t.dst_tile.tolist(),
        t.dst_byte.tolist(),
        t.nbytes.tolist(),
        strict=True,
    ):
        from_tile, from_byte, to_tile, to_byte, n = row
        assert n > 0
        for k in range(n):
            assert (to_tile, to_byte + k) not in got, "a byte is written twice"
            got[to_tile, to_byte + k] = (from_tile, from_byte + k)
    wanted: set[tuple[int, int]] = set()
    for index in all_indices(src_view.shape):
        sources = naive_places(src, naive_storage(src_view, index))
        for tile, offset in naive_places(dst, naive_storage(dst_view, index)):
            for k in range(itemsize):
                place = (tile, offset * itemsize + k)
                wanted.add(place)
                source = got[place]
                choices = {(s, o * itemsize + k) for s, o in sources}
                assert source in choices
                if tile in {s for s, _ in choices}:
                    assert source[0] == tile, "the tile has a copy of its own"
    assert wanted == set(got)
    words = all(not (a % 4).any() for a in (t.src_byte, t.dst_byte, t.nbytes))
    assert t.whole_words == words
    # No two spans could have been one: the ends of spans never meet another span's start on both sides.
    if src.replica_tiles.size == 1 and src.chunk is None and dst.chunk is None:
        starts = set(
            zip(
                t.src_tile.tolist(),
                t.src_byte.tolist(),
                t.dst_tile.tolist(),
                t.dst_byte.tolist(),
                strict=True,
            )
        )
        ends = zip(
            t.src_tile.tolist(),
            (t.src_byte + t.nbytes).tolist(),
            t.dst_tile.tolist(),
            (t.dst_byte + t.nbytes).tolist(),
            strict=True,
        )
        assert not starts & set(ends)


def _reachable(draw, shape):
    """A view of `shape` made from an identity on another factoring, with margins around it."""
    storage = tuple(draw(st.sampled_from(factorings(prod(shape)))))
    view = View.identity(storage).reshape(shape)
    if view is None:
        view = View.identity(shape)
    return view


@st.composite
def holders(draw, shape: tuple[int, ...]):
    """
    (layout, view) that can hold a value of a logical shape: other factorings, permutations, margins, gaps.
    """
    view = _reachable(draw, shape)
    axes_used = len(view.offsets)
    perm = draw(st.permutations(range(axes_used)))
    gap = draw(st.sampled_from([1, 1, 1, 2]))
    margin = tuple(draw(st.sampled_from([0, 0, 1, 3])) for _ in range(axes_used))
    digits = tuple(
        tuple((n, perm[a] if a >= 0 else a, s * (gap if a == 0 else 1)) for n, a, s in d) for d in view.digits
    )
    view = View(view.shape, digits, margin)
    storage = list(margin)
    for ds in view.digits:
        for n, a, s in ds:
            storage[a] += (n - 1) * s
    extents = tuple(n + 1 + draw(st.sampled_from([0, 0, 2])) for n in storage)
    return draw(layouts(extents)), view


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_transfers_move_every_element_to_every_copy(data):
    shape = data.draw(shapes(limit=60))
    src, src_view = data.draw(holders(shape))
    dst, dst_view = data.draw(holders(shape))
    check_transfers(src, src_view, dst, dst_view, data.draw(st.sampled_from([1, 2, 4])))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_transfers_from_any_view_chain(data):
    storage = data.draw(shapes(limit=60))
    src_view, _ = data.draw(view_chains(storage))
    src = data.draw(layouts(storage))
    if prod(src_view.shape) > 200:
        return
    dst, dst_view = data.draw(holders(src_view.shape))
    check_transfers(src, src_view, dst, dst_view, 2)


@examples
@given(st.data())
def test_element_places(data):
    shape = data.draw(shapes(limit=60))
    layout, view = data.draw(holders(shape))
    tile, offset = element_places(layout, view)
    for index in all_indices(shape):
        assert naive_places(layout, naive_storage(view, index))[0] == (tile[index], offset[index])


def test_there_and_back_is_the_identity_on_bytes():
    shape = (13, 24)
    one = Layout((Axis(13, (Split(4, 2),)), Axis(24, (Split(12, 1),), (8,))), ((1, 0), (0, 0), (1, 1)))
    two = linear_home(shape, ((4,), (3,)), ((1, 0), (0, 0), (0, 1), (1, 1)), tiles=8, base=5)
    view = View.identity(shape)
    value = np.arange(13 * 24, dtype=np.uint16)
    memory = np.zeros((8, 1000), np.uint8)
    for src, dst in [(row_major(shape), one), (one, two), (two, row_major(shape))]:
        if src == row_major(shape):
            memory[0, : value.nbytes] = value.view(np.uint8)
        t = transfers(src, view, dst, view, 2)
        after = np.zeros_like(memory)
        for s, i, d, j, n in zip(t.src_tile, t.src_byte, t.dst_tile, t.dst_byte, t.nbytes, strict=True):
            after[d, j : j + n] = memory[s, i : i + n]
        memory = after
    assert np.array_equal(memory[0, : value.nbytes].view(np.uint16), value)


def test_two_elements_may_not_have_one_destination():
    view = View.identity((1, 4)).broadcast((3, 4), (0, 1))
    source = row_major((3, 4))
    with pytest.raises(LayoutError, match="several elements"):
        transfers(source, View.identity((3, 4)), row_major((1, 4)), view, 2)
    # Broadcast on both sides moves the one row.
    assert transfers(row_major((1, 4)), view, row_major((1, 4)), view, 2).nbytes.tolist() == [8]


# -- algebra -------------------------------------------------------------------------------------------------


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_a_layout_seen_through_a_view(data):
    storage = data.draw(shapes(limit=60))
    layout = data.draw(layouts(storage))
    view, _ = data.draw(view_chains(storage, injective=True))
    seen = layout.through(view)
    if seen is None:
        return
    assert seen.shape == view.shape and seen.shard_elements <= layout.shard_elements
    for index in all_indices(view.shape):
        assert sorted(naive_places(seen, index)) == sorted(naive_places(layout, naive_storage(view, index)))


@examples
@given(st.data())
def test_permutations_are_always_seen(data):
    storage = data.draw(shapes(limit=60))
    layout = data.draw(layouts(storage))
    perm = data.draw(st.permutations(range(len(storage))))
    assert layout.through(View.identity(storage).transpose(perm)) is not None


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_common_refinement_is_affine_on_every_rectangle(data):
    shape = data.draw(shapes(limit=60))
    sides = [data.draw(holders(shape)) for _ in range(2)]
    cuts = common_refinement(*sides[0], *sides[1])
    for c, n in zip(cuts, shape, strict=True):
        assert c[0] == 0 and c[-1] == n and (np.diff(c) > 0).all()
    for layout, view in sides:
        tile, offset = element_places(layout, view)
        for corner in all_indices(tuple(len(c) - 1 for c in cuts)):
            box = tuple(slice(c[k], c[k + 1]) for c, k in zip(cuts, corner, strict=True))
            assert np.unique(tile[box]).size == 1
            part = offset[box] - offset[box].flat[0]
            slopes = [
                part[tuple(int(a == b) for b in range(part.ndim))] if part.shape[a] > 1 else 0
                for a in range(part.ndim)
            ]
            assert np.array_equal(
                part, sum(s * i for s, i in zip(slopes, np.indices(part.shape), strict=True))
            )


@examples
@given(st.data())
def test_contiguous_spans_cover_the_logical_array_once(data):
    shape = data.draw(shapes(limit=60))
    layout, view = data.draw(holders(shape))
    spans = contiguous_spans(layout, view, 1)
    assert np.array_equal(
        np.sort(
            np.concatenate([np.arange(a, a + n) for a, n in zip(spans.dst_byte, spans.nbytes, strict=True)])
        ),
        np.arange(prod(shape)),
    )
