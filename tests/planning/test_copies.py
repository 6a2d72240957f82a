# SPDX-License-Identifier: Apache-2.0
"""Moves into parts of buffers: what may walk whole shards, and boxes of words around pieces."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.planning.exchange.copies import bounding_box, choose_move, covers
from tilewright.planning.exchange.geometry import element_places, transfers
from tilewright.planning.layout import Axis, Layout, Split, View

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
