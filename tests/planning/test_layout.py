# SPDX-License-Identifier: Apache-2.0
"""Layouts and views by example: what the specification says, text, errors."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tilewright.diagnostics import TileError
from tilewright.planning.layout import (
    Axis,
    Layout,
    LayoutError,
    Split,
    View,
    linear_home,
    row_major,
    single_tile,
)


def test_a_matrix_operand():
    left = Layout.parse("[729/146@48, 1152/288@12|16] b0.a.b1 *12@1 %1472")
    assert left == Layout(
        (Axis(729, (Split(146, 48),)), Axis(1152, (Split(288, 12),), (16,))),
        ((1, 0), (0, 0), (1, 1)),
        ((12, 1),),
        tiles=1472,
    )
    assert left.shard_bytes(2) == 146 * 288 * 2
    assert left.strides(0) == ((0, 16),) and left.strides(1) == ((0, 146 * 16), (16, 1))
    assert left.tile_count() == 240 and left.owners(1472).sum() == 240
    assert np.unique(left.local_extents(0, 240)).tolist() == [145, 146]
    tile, offset = left.positions(np.array(147), np.array(305))
    assert (tile, offset) == (48 + 12, (1 * 146 + 1) * 16 + 1)


def test_ragged_blocks_keep_the_strides_of_the_largest_shard():
    layout = Layout.parse("[7/4@1, 6]")
    assert layout.shard_bytes_per_tile(2, 3).tolist() == [48, 36, 0]
    columns = Layout.parse("[4, 7/4@1]")
    assert columns.strides(0) == ((0, 4),)
    assert columns.shard_bytes_per_tile(2, 2).tolist() == [32, 30]  # 3 rows of pitch 4, then 3 columns
    assert columns.padding(2, 2).tolist() == [0, 6]


def test_panels_are_padded_to_whole_ones():
    layout = Layout.parse("[9, 5|4] b0.a.b1")
    assert layout.shard_elements == 2 * 9 * 4 and layout.has_padding()
    assert layout.padding(1, 1).tolist() == [72 - 45]


def test_block_major_order_is_panels_of_panels():
    layout = single_tile(
        (64, 64), panels=((32, 16), (64, 32)), order=((0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2))
    )
    assert layout.strides(0) == ((0, 2048), (2, 1024), (16, 32))
    assert layout.strides(1) == ((0, 2048), (2, 512), (32, 1))


def test_a_linear_home_deals_whole_panels():
    home = linear_home((1152, 3456), ((16,), (32,)), ((0, 0), (1, 0), (0, 1), (1, 1)), tiles=1472, base=10)
    assert home.chunk == 6 and home.tile_count() == 10 + 1296
    assert home.shard_bytes_per_tile(1, 1472).max() == 3072
    assert not home.has_padding()
    with pytest.raises(LayoutError, match="tile table"):
        home.tile_table(0)


def test_rotation_wraps_at_the_machine():
    home = Layout.parse("[8/2@1] %5").rotate(3)
    assert home.positions(np.arange(8))[0].tolist() == [3, 3, 4, 4, 0, 0, 1, 1]
    assert home.rotate(2) == Layout.parse("[8/2@1] %5")


def test_an_empty_last_shard_is_no_owner():
    layout = Layout.parse("[9/3@1]")  # nine in four parts: blocks of three, the fourth has nothing
    assert layout.owners(4).tolist() == [True, True, True, False]
    assert layout.shard_bytes_per_tile(2, 4).tolist() == [6, 6, 6, 0]
    with pytest.raises(LayoutError, match="uses tile 2, but there are 2 tiles"):
        layout.owners(2)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("[8/8@5]", "[8]"),  # one part
        ("[8/4@2, 6]", "[8/4@2, 6]"),
        ("[8/4@2/2@1]", "[8/2@1]"),  # splits that count on
        ("[8|4|2]", "[8]"),  # panels that cut nothing out of order
        ("[9|4] ", "[9|4]"),  # ... but pad
        ("[8, 6|2] b0.b1.a", "[8, 6] b.a"),
        ("[8] *2@4 *2@2 *2@1", "[8] *8@1"),
        ("[8] *2@1 *2@2", "[8] *4@1"),
        ("[8/2@1] +3 %16", "[8/2@1] +3"),  # no tile number wraps
        ("[8/2@1] +14 %16", "[8/2@1] +14 %16"),
        ("[1, 8, 1] b.c.a", "[1, 8, 1] a.c.b"),  # digits that never count go first
        ("[8|2] chunk 9", "[8|2] chunk 4"),
    ],
)
def test_normal_form(text, normal):
    layout = Layout.parse(text)
    assert str(layout.normal()) == normal
    assert layout.equivalent(layout.normal())


def test_equal_places_without_equal_steps():
    one, two = Layout.parse("[4/3@2]"), Layout.parse("[4/3@2/3@7]")
    assert one != two and one.equivalent(two)
    assert not one.equivalent(Layout.parse("[4/3@1]"))
    assert not one.equivalent(Layout.parse("[4/3@2] interleaved"))


def test_a_permuted_and_sliced_layout():
    layout = Layout.parse("[8/4@3, 6|2] b0.a.b1")
    view = View.identity((8, 6)).transpose((1, 0)).slice((0, 4), (6, 4))
    assert view is not None
    assert str(layout.through(view)) == "[6|2, 4] a0.b.a1 +3"
    parted = View.identity((8, 6)).reshape((2, 4, 6))
    assert parted is not None
    assert str(layout.through(parted)) == "[2/1@3, 4, 6|2] a.c0.b.c1"


def test_heads_across_column_blocks_have_no_sum_form():
    layout = Layout.parse("[1152/48@1]")
    heads = View.identity((1152,)).reshape((16, 72))
    assert heads is not None and layout.through(heads) is None


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[0]",
        "[5]",
        "[729/146@48/7@2|16|4, 3] b.a2.a1.a0 *2@1 *3@400 +7 %1472 standard",
        "[8|2] +1 chunk 3",
    ],
)
def test_text_round_trips(text):
    assert str(Layout.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["[]", "[1, 5a]", "[16b*72, 729a, 72b]", "[3b*32.24b] + (5, 0)", "[4_, 8a]", "[0]"]
)
def test_view_text_round_trips(text):
    assert str(View.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[8/4@]", "'[8/4@]' is not a layout at column 6"),
        ("[8] b", "names every digit of its axes once: b0 is not an order of a"),
        ("[8|3|2]", "panel 2 does not divide the panel 3 around it"),
        ("[8/0@1]", "a block has at least one element, not 0"),
        ("[8/4@1, 6/3@1]", "puts two parts on tile 1"),
        ("[8/2@1] *2@2", "puts two parts on tile 2"),
        ("[8/2@1] %3", "puts two parts on tile 0 (tile numbers wrap at 3)"),
        ("[8] chunk 0", "a linear home has at least one panel per tile, not 0"),
        ("[8/2@1] chunk 1", "its axes have no splits"),
        ("[8|2, 8|2] chunk 1", "the outermost digit of every axis comes first"),
        ("[99999999/1@1, 99999999/1@1]", "too many for any machine"),
    ],
)
def test_refused_layouts(text, message):
    with pytest.raises(LayoutError, match=re.escape(message)):
        Layout.parse(text)
    assert issubclass(LayoutError, TileError)


def test_views_that_are_not_expressible():
    flat = View.identity((6, 4)).transpose((1, 0))
    assert flat.reshape((24,)) is not None  # two digits on one logical axis
    assert flat.reshape((8, 3)) == View((8, 3), (((4, 1, 1), (2, 0, 3)), ((3, 0, 1),)), (0, 0))
    assert flat.reshape((3, 8)) is None  # 6 rows do not split in eighths
    merged = flat.reshape((24,))
    assert merged is not None and merged.slice((3,), (6,)) is None
    assert merged.slice((6,), (12,)) == View((12,), (((2, 1, 1), (6, 0, 1)),), (0, 1))


def test_refused_views():
    with pytest.raises(LayoutError, match="do not multiply to 8"):
        View((8,), (((7, 0, 1),),), (0,))
    with pytest.raises(LayoutError, match=r"slice \[3, 9\) of axis 0 is outside its 8 elements"):
        View.identity((8,)).slice((3,), (6,))
    with pytest.raises(LayoutError, match="the number of elements differs"):
        View.identity((8,)).reshape((9,))
    with pytest.raises(LayoutError, match="reaches index 8 of storage axis a"):
        View((8,), (((8, 0, 1),),), (1,)).check_inside((8,))


def test_row_major_is_the_flat_array():
    assert (
        row_major((3, 5)).positions(*np.indices((3, 5)))[1].tolist() == np.arange(15).reshape(3, 5).tolist()
    )


def test_every_text_in_the_specification_is_a_layout_or_view():
    spec = Path(__file__).parents[2] / "docs" / "spec" / "layout.md"
    rows = re.findall(r"^\| `(\[.*?\].*?)` \|", spec.read_text(encoding="utf-8"), flags=re.M)
    assert len(rows) >= 11
    for text in (row.replace("\\|", "|") for row in rows):
        kind = View if re.match(r"\[\d+[a-z_]", text) else Layout
        assert str(kind.parse(text)) == text
