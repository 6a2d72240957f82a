# SPDX-License-Identifier: Apache-2.0
"""Moves into parts of buffers: what may walk whole shards, and boxes of words around pieces."""

import dataclasses
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.planning.exchange.copies import bounding_box, choose_move, covers, refusal
from tilewright.planning.exchange.geometry import element_places, moves_whole_words, transfers
from tilewright.planning.layout import Axis, Layout, Split, View, row_major

FLAT = Layout((Axis(32, (Split(16, 1),)),), ((0, 0),), tiles=4)


def part(shape: tuple[int, ...], offsets: tuple[int, ...], sizes: tuple[int, ...]) -> View:
    view = View.identity((prod(shape),)).reshape(shape)
    assert view is not None
    piece = view.slice(offsets, sizes)
    assert piece is not None
    return piece


def test_a_local_copy_is_exact_only_where_the_view_covers_the_storage() -> None:
    whole, piece = View.identity((32,)), part((4, 8), (0, 0), (4, 7))
    assert choose_move([(FLAT, whole, whole)], FLAT, "f16", exact=True).kind == "local"
    assert choose_move([(FLAT, piece, piece)], FLAT, "f16").kind == "local"
    assert choose_move([(FLAT, piece, piece)], FLAT, "f16", exact=True).kind != "local"
    assert choose_move([(FLAT, piece, piece)], FLAT, "f32", exact=True).kind == "words"


def test_pieces_cover_a_buffer_together() -> None:
    left, right = part((4, 8), (0, 0), (4, 7)), part((4, 8), (0, 7), (4, 1))
    assert covers([left, right], FLAT)
    assert not covers([left], FLAT)


@st.composite
def pieces(draw: st.DrawFn) -> tuple[Layout, View, int]:
    """A piece of a matrix in a layout with one or two storage axes, and the size of an element."""
    rows, columns = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    offsets = (draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1)))
    sizes = tuple(draw(st.integers(1, n - o)) for n, o in zip((rows, columns), offsets, strict=True))
    if draw(st.booleans()):
        n = rows * columns
        layout = Layout((Axis(n, (Split(max(32, -(-n // 128) * 32), 1),)),), ((0, 0),), tiles=4)
        view = part((rows, columns), offsets, sizes)
    else:
        axes = (Axis(rows, (Split(-(-rows // 4), 1),)), Axis(columns))
        layout = Layout(axes, draw(st.sampled_from((((0, 0), (1, 0)), ((1, 0), (0, 0))))), tiles=4)
        box = View.identity((rows, columns)).slice(offsets, sizes)
        assert box is not None
        view = box
    if draw(st.booleans()):
        view = view.transpose((1, 0))
    return layout, view, draw(st.sampled_from((1, 2, 4)))


@given(pieces())
@settings(max_examples=100, deadline=None)
def test_arithmetic_finds_words_whole_only_where_the_spans_are(case: tuple[Layout, View, int]) -> None:
    layout, view, size = case
    for target in (row_major(view.shape), row_major((*view.shape[:-1], view.shape[-1] + 3))):
        into = View(view.shape, View.identity(view.shape).digits, (0,) * view.rank)
        found = moves_whole_words(layout, view, target, into, size)
        assert found is None or found == transfers(layout, view, target, into, size).whole_words


@given(pieces(), st.sampled_from(((), ((3, 1),), ((2, 2), (2, 1)))), st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_copies_do_not_change_how_spans_lie_in_words(
    case: tuple[Layout, View, int], copies: tuple[tuple[int, int], ...], gap: int
) -> None:
    layout, view, size = case
    one = row_major((*view.shape[:-1], view.shape[-1] + gap))
    target = dataclasses.replace(one, replicas=copies, tiles=4)
    into = View(view.shape, View.identity(view.shape).digits, (0,) * view.rank)
    spans = transfers(layout, view, target, into, size)
    choice = choose_move(((layout, view, into),), target, {1: "i8", 2: "f16", 4: "f32"}[size])
    if choice.kind == "words":
        assert spans.whole_words
    elif not spans.whole_words:
        bits = 4 | int(np.bitwise_or.reduce(spans.src_byte | spans.dst_byte | spans.nbytes))
        assert choice.grain == bits & -bits and choice.span == spans.nbytes.min()


@given(pieces())
@settings(deadline=None)
def test_a_box_holds_the_piece_in_whole_words(piece: tuple[Layout, View, int]) -> None:
    layout, view, size = piece
    found = bounding_box(view, layout, size, 4)
    if found is None:
        return
    box, staged, inner = found
    spans = transfers(layout, box, staged, View.identity(staged.shape), size)
    assert spans.whole_words
    # The element that the piece sees in the source arrives where the piece sees it in the box.
    numbers = np.arange(prod(layout.shape)).reshape(layout.shape)
    arrived = numbers[tuple(slice(o, o + n) for o, n in zip(box.offsets, box.shape, strict=True))]
    grids = np.ogrid[tuple(slice(n) for n in view.shape)]
    assert np.array_equal(numbers[view.storage(*grids)], arrived[inner.storage(*grids)])
    tile, offset = element_places(staged, View.identity(staged.shape))
    assert np.unique(np.stack([tile.ravel(), offset.ravel()]), axis=1).shape[1] == prod(staged.shape)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_the_box_of_a_row_is_the_row_with_its_words(size: int) -> None:
    found = bounding_box(
        View((15,), (((15, 0, 1),),), (14443,)), Layout((Axis(120_000),), ((0, 0),)), size, 4
    )
    assert found is not None
    word = 4 // size
    assert found[0].offsets == (14443 // word * word,)
    assert found[0].shape == (-(-14458 // word) * word - 14443 // word * word,)


# The choice of a move, against what happens to each element

Places = tuple[np.ndarray, np.ndarray]
"""Tile and offset in elements of every element of a value."""


@st.composite
def matrices(draw: st.DrawFn, rows: int, columns: int) -> Layout:
    """A matrix on four tiles: split along none, one or both axes, in either order, with panels or without."""

    def axis(extent: int, most: int, stride: int) -> Axis:
        parts = draw(st.integers(1, most))
        block = -(-extent // parts)
        panels = draw(st.sampled_from(((), (), (4,), (8,))))
        if panels and parts > 1:
            block = -(-block // panels[0]) * panels[0]
        return Axis(extent, (Split(block, stride),) if block < extent else (), panels)

    axes = (axis(rows, 2, 1), axis(columns, 2, 2))
    order = [(a, 0) for a in draw(st.permutations((0, 1)))]
    inner = [(a, 1) for a, entry in enumerate(axes) if entry.panels]
    return Layout(axes, (*order, *draw(st.permutations(inner))), tiles=4)


@st.composite
def copies(draw: st.DrawFn) -> tuple[Layout, View, Layout, View, str]:
    """A matrix or a piece of it, maybe transposed, from one layout into all of another."""
    rows, columns = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    source = draw(matrices(rows, columns))
    offsets = (draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1)))
    if draw(st.booleans()):
        offsets = (0, 0)
    sizes = tuple(draw(st.integers(1, n - o)) for n, o in zip((rows, columns), offsets, strict=True))
    if draw(st.booleans()):
        offsets, sizes = (0, 0), (rows, columns)
    view = View.identity((rows, columns)).slice(offsets, sizes)
    assert view is not None
    if draw(st.booleans()):
        view = view.transpose((1, 0))
    target = source if view.shape == (rows, columns) and draw(st.booleans()) else draw(matrices(*view.shape))
    return source, view, target, View.identity(view.shape), draw(st.sampled_from(("i8", "f16", "f32")))


def in_whole(lanes: int, source: Places, target: Places) -> bool:
    """
    Whether groups of so many elements stay together: every group of the source that has an element of the
    value is moved complete, to one group of the target, each element to its own lane.
    """
    groups: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for st_, so, dt, do in zip(*(a.ravel().tolist() for a in (*source, *target)), strict=True):
        if so % lanes != do % lanes:
            return False
        groups.setdefault((st_, so // lanes), []).append((dt, do // lanes, so % lanes))
    return all(
        len({(tile, group) for tile, group, _ in members}) == 1
        and sorted(lane for _, _, lane in members) == list(range(lanes))
        for members in groups.values()
    )


def rearranged(layout: Layout) -> list[Layout]:
    """The orders a local rearrangement has: each axis innermost in turn, unpanelled."""
    axes = tuple(Axis(a.extent, a.splits) for a in layout.axes)
    ranks = range(len(axes))
    return [
        Layout(axes, (*((i, 0) for i in ranks if i != inner), (inner, 0)), tiles=layout.tiles)
        for inner in reversed(ranks)
    ]


@given(copies())
@settings(deadline=None)
def test_the_kind_of_a_move_is_what_happens_to_its_elements(
    case: tuple[Layout, View, Layout, View, str],
) -> None:
    source, view, target, into, dtype = case
    size = {"i8": 1, "f16": 2, "f32": 4}[dtype]
    choice = choose_move([(source, view, into)], target, dtype)
    start, end = element_places(source, view), element_places(target, into)
    lanes = 4 // size
    whole = in_whole(lanes, start, end)
    grains = [grain for grain in (1, 2, 4) if grain >= size and in_whole(grain // size, start, end)]
    assert choice.grain == max(grains)
    assert choice.span >= size and choice.span % choice.grain == 0
    if choice.kind == "local":
        assert np.array_equal(start[0], end[0])
        return
    assert (choice.kind == "words") == whole
    before = [in_whole(lanes, element_places(order, view), end) for order in rearranged(source)]
    after = [in_whole(lanes, start, element_places(order, into)) for order in rearranged(target)]
    if choice.kind == "pack":
        assert choice.through == rearranged(source)[before.index(True)]
        # A local copy will do: no element changes its tile on the way to where it is packed.
        assert np.array_equal(element_places(choice.through, view)[0], start[0])
    elif choice.kind == "unpack":
        assert not any(before) and choice.through == rearranged(target)[after.index(True)]
        assert np.array_equal(element_places(choice.through, into)[0], end[0])
    elif choice.kind == "widen":
        assert not any(before) and not any(after) and size < 4


@given(copies())
@settings(deadline=None)
def test_a_refusal_is_a_move_that_no_copy_kernel_can_do(case: tuple[Layout, View, Layout, View, str]) -> None:
    source, view, target, into, dtype = case
    size = {"i8": 1, "f16": 2, "f32": 4}[dtype]
    why = refusal("w", source, view, target, into, dtype)
    pairs = max(1, 2 // size)
    there = in_whole(pairs, element_places(source, view), element_places(target, into))
    assert (why is None) == (there or (source, view) == (target, into))
    assert why is None or ("spans of" in why and "no copy kernel moves less than 2 bytes" in why)
