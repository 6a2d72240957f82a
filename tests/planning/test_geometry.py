# SPDX-License-Identifier: Apache-2.0
"""Transfers on the shapes of a vision transformer: spans, traffic, copies and time."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tilewright.planning.exchange.geometry import common_refinement, contiguous_spans, transfers
from tilewright.planning.layout import Axis, Layout, LayoutError, Split, View, linear_home, row_major


def gemm_left(m: int, k: int, blocks: tuple[int, int], strides: tuple[int, int], copies=()) -> Layout:
    """Left operand of an f16 matmul: row blocks and k blocks, order [k/16][m][16] on each tile."""
    axes = (Axis(m, (Split(blocks[0], strides[0]),)), Axis(k, (Split(blocks[1], strides[1]),), (16,)))
    return Layout(axes, ((1, 0), (0, 0), (1, 1)), copies)


ROWS_729 = View.identity((729, 1152))


def test_row_major_to_operand_order_in_panel_rows():
    left = gemm_left(729, 1152, (146, 288), (48, 12))
    start = time.perf_counter()
    t = transfers(row_major((729, 1152)), ROWS_729, left, ROWS_729, 2)
    assert time.perf_counter() - start < 0.5  # about 8 ms; catches enumeration by element
    assert len(t) == 729 * 72 and np.unique(t.nbytes).tolist() == [32] and t.whole_words
    held = left.held_elements(240) * 2
    held[0] = 0  # what stays on tile 0 is no traffic
    assert np.array_equal(t.received(240), held)


def test_equal_layouts_move_whole_shards():
    left = gemm_left(730, 1152, (146, 288), (48, 12))
    t = transfers(left, View.identity((730, 1152)), left.rotate(1), View.identity((730, 1152)), 2)
    assert len(t) == 20 and np.unique(t.nbytes).tolist() == [146 * 288 * 2]
    assert np.array_equal(t.dst_tile, t.src_tile + 1) and not t.local().any()


def test_fp8_home_gives_spans_of_whole_panels():
    shape = (4304, 1152)
    order = ((0, 0), (1, 0), (0, 1), (1, 1))
    home = linear_home(shape, ((16,), (32,)), order, tiles=1472)
    assert home.chunk == 7 and home.shard_bytes(1) == 7 * 512  # 269 x 36 panels over 1472 tiles
    axes = (Axis(4304, (Split(48, 1),), (16,)), Axis(1152, (Split(288, 90),), (32,)))
    operand = Layout(axes, order, ((4, 360),))
    t = transfers(home, View.identity(shape), operand, View.identity(shape), 1)
    assert t.nbytes.min() == 512 and t.whole_words
    assert t.nbytes.sum() == 4 * 4304 * 1152
    # Each span has one sender, whichever copy it is for: the fabric multicasts it.
    senders = np.unique(np.stack([t.src_tile, t.src_byte]), axis=1).shape[1]
    assert senders * 4 == len(t)


@pytest.mark.parametrize("columns", [72, 48])
def test_heads_of_a_column_split_product(columns):
    """Q of 16 heads of 72 columns, from a product split in blocks that do or do not align with the heads."""
    axes = (Axis(729, (Split(146, 72),)), Axis(1152, (Split(columns, 1),), (24,)))
    product = Layout(axes, ((1, 0), (0, 0), (1, 1)))
    heads = View.identity((729, 1152)).reshape((729, 16, 72)).transpose((1, 0, 2))
    scores = Layout(
        (Axis(16, (Split(1, 88),)), Axis(729, (Split(67, 8),)), Axis(72, (), (24,))),
        ((0, 0), (2, 0), (1, 0), (2, 1)),
        ((8, 1),),
    )
    t = transfers(product, heads, scores, View.identity((16, 729, 72)), 1)
    assert t.nbytes.sum() == 8 * 729 * 1152 and t.whole_words
    assert (
        len(t) == 5760 and t.nbytes.min() == 288
    )  # rows of one panel stay together where row blocks overlap
    assert np.array_equal(t.received(1408) + _kept(t, 1408), scores.held_elements(1408))


def _kept(t, tiles: int) -> np.ndarray:
    out = np.zeros(tiles, np.int64)
    np.add.at(out, t.dst_tile[t.local()], t.nbytes[t.local()])
    return out


def test_padded_heads_of_three_panels():
    """72 columns kept as 3 panels of 24 in a pitch of 32: the view leaves the gaps out."""
    storage = Layout((Axis(729), Axis(96, (), (32,))), ((1, 0), (0, 0), (1, 1)))
    view = View((729, 72), (((729, 0, 1),), ((3, 1, 32), (24, 1, 1))), (0, 0))
    assert view.is_injective() and not view.is_bijection((729, 96))
    t = transfers(row_major((729, 72)), View.identity((729, 72)), storage, view, 1)
    assert np.unique(t.nbytes).tolist() == [24] and len(t) == 3 * 729
    assert np.unique(t.dst_byte % 32).tolist() == [0]


def test_a_copy_on_the_tile_itself_is_used():
    source = Layout((Axis(8),), ((0, 0),), ((4, 1),))
    t = transfers(source, View.identity((8,)), source, View.identity((8,)), 4)
    assert t.local().all() and len(t) == 4


def test_spans_spread_over_source_copies_and_keep_one_sender_each():
    source = Layout((Axis(64),), ((0, 0),), ((4, 1),))
    target = Layout((Axis(64, (Split(8, 2),)),), ((0, 0),), ((2, 1),), base=8)
    t = transfers(source, View.identity((64,)), target, View.identity((64,)), 4)
    assert len(t) == 16
    assert np.bincount(t.src_tile, minlength=4).tolist() == [4, 4, 4, 4]
    pairs = np.unique(np.stack([t.src_byte, t.src_tile]), axis=1)
    assert pairs.shape[1] == 8


def test_nothing_moves_for_an_empty_value():
    empty = row_major((0, 4))
    t = transfers(empty, View.identity((0, 4)), empty.rotate(1), View.identity((0, 4)), 2)
    assert len(t) == 0 and t.whole_words
    assert contiguous_spans(empty, View.identity((0, 4)), 2).nbytes.size == 0
    assert [c.tolist() for c in common_refinement(empty, View.identity((0, 4)), empty, View.identity((0, 4)))]


def test_a_scalar_moves():
    t = transfers(row_major(()), View.identity(()), row_major((), base=3), View.identity(()), 4)
    assert (t.src_tile.tolist(), t.dst_tile.tolist(), t.nbytes.tolist()) == ([0], [3], [4])


def test_values_of_different_shape_do_not_convert():
    with pytest.raises(LayoutError, match=r"shape \(2, 3\) to one of shape \(3, 2\)"):
        transfers(row_major((2, 3)), View.identity((2, 3)), row_major((3, 2)), View.identity((3, 2)), 2)


def test_common_rectangles_of_rows_and_panels():
    blocks = gemm_left(12, 64, (5, 32), (2, 1))
    rows = Layout((Axis(12, (Split(4, 1),)), Axis(64)), ((0, 0), (1, 0)))
    cuts = common_refinement(blocks, View.identity((12, 64)), rows, View.identity((12, 64)))
    assert [c.tolist() for c in cuts] == [[0, 4, 5, 8, 10, 12], [0, 16, 32, 48, 64]]
