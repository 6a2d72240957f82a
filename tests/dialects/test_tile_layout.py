# SPDX-License-Identifier: Apache-2.0
"""The tile_layout dialect through its Python interface; filecheck/dialects/tile_layout tests its text."""

from __future__ import annotations

import re

import pytest
from xdsl.dialects.builtin import TensorType, f16
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.test_value import create_ssa_value

from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_layout import (
    ConvertOp,
    HomeOp,
    LayoutAttr,
    MaterializeOp,
    TileLayout,
    place,
    placement,
    unplaced,
    verify_placement,
)
from tilewright.dialects.tile_repeat import SequenceType
from tilewright.planning.layout import Layout, LayoutError, View, row_major

SPLIT = Layout.parse("[8/4@1, 6]")
FLIPPED = View.identity((8, 6)).transpose((1, 0))
PLAIN = TensorType(f16, [8, 6])


def test_the_identity_view_is_no_view():
    assert LayoutAttr((SPLIT, View.identity((8, 6)))) == LayoutAttr((SPLIT, None))
    assert LayoutAttr((SPLIT, None)).view == View.identity((8, 6))
    assert LayoutAttr((SPLIT, FLIPPED)) != LayoutAttr((SPLIT, None))
    assert str(LayoutAttr((SPLIT, FLIPPED))) == '#tile_layout.at<"[8/4@1, 6]", "[6b, 8a]">'


def test_a_view_stays_inside_its_layout():
    with pytest.raises(VerifyException, match="reaches index 8 of storage axis a"):
        LayoutAttr((SPLIT, View((9, 6), (((9, 0, 1),), ((6, 1, 1),)), (0, 0))))


def test_place_and_placement_reach_into_sequences():
    assert placement(PLAIN) is None and placement(f16) is None
    assert placement(place(PLAIN, SPLIT)) == (SPLIT, View.identity((8, 6)))
    members = SequenceType(3, PLAIN)
    placed = place(members, SPLIT)
    assert isinstance(placed, SequenceType) and placed.count.data == 3
    assert placement(placed) == (SPLIT, View.identity((8, 6)))
    with pytest.raises(LayoutError, match="only tensors and sequences"):
        place(f16, SPLIT)


def test_operations_build_and_verify():
    weights = create_ssa_value(PLAIN)
    home = HomeOp(weights, place(PLAIN, SPLIT), pinned=True)
    used = MaterializeOp(home, place(PLAIN, row_major((8, 6))))
    turned = ConvertOp(used, place(PLAIN, Layout.parse("[6, 8/4@1]"), View.parse("[8b, 6a]")))
    for op in (home, used, turned):
        op.verify()
    assert home.pinned is not None
    assert HomeOp(weights, place(PLAIN, SPLIT)).pinned is None
    assert turned.fold() is None
    same = ConvertOp(used, used.result.type)
    assert same.fold() == (used.result,)


def test_machines_have_the_tiles_or_say_so():
    type_ = place(PLAIN, Layout.parse("[8/1@3, 6]"))
    verify_placement(type_, "x", "t64")
    with pytest.raises(VerifyException, match=re.escape("'[8/1@3, 6]' uses tile 21, but machine t16 has")):
        verify_placement(type_, "x", "t16")


def test_unplaced_values_in_program_order():
    module = parse_module(
        """
        func.func @f(%x: tensor<8xf16>, %y: tensor<8xf16, #tile_layout.at<"[8]">>, %n: i32) {
          %a = tile_layout.convert %x : tensor<8xf16> -> tensor<8xf16, #tile_layout.at<"[8]">>
          %b = "test.op"(%a) : (tensor<8xf16, #tile_layout.at<"[8]">>) -> tensor<2x4xf16>
          func.return
        }
        """
    )
    assert [value.name_hint for value in unplaced(module)] == ["x", "b"]


def test_wrong_text_is_a_parse_error_with_its_place():
    with pytest.raises(ParseError, match=r"is not a layout \(it stops too early\)"):
        parse_module('"test.op"() {a = #tile_layout.at<"[8/4">} : () -> ()')


def test_the_dialect_is_registered_under_its_name():
    ctx = context()
    ctx.load_registered_dialect("tile_layout")
    assert TileLayout.name == "tile_layout"
    assert {op.name for op in TileLayout.operations} == {
        "tile_layout.convert",
        "tile_layout.home",
        "tile_layout.materialize",
    }
