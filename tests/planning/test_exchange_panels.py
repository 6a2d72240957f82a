# SPDX-License-Identifier: Apache-2.0
"""Moves as regions by panels: they tile the value, name the sender, and are clipped where layouts cut."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.planning.exchange.geometry import element_places
from tilewright.planning.exchange.panels import traverse
from tilewright.planning.layout import Axis, Layout, Split, View, row_major


def operand(rows: int, columns: int, block: tuple[int, int], inputs: int, copies: int = 1) -> Layout:
    """A left operand of a matrix kernel on a grid of blocks."""
    down = -(-rows // block[0])
    replicas = ((copies, down * -(-columns // block[1])),) if copies > 1 else ()
    axes = (Axis(rows, (Split(block[0], 1),)), Axis(columns, (Split(block[1], down),), (inputs,)))
    return Layout(axes, ((1, 0), (0, 0), (1, 1)), replicas, 0, 64)


@pytest.mark.parametrize(
    ("rows", "columns", "source", "target", "dtype"),
    [
        (64, 128, (64, 128), (16, 32), "f8E4M3FNUZ"),
        (61, 97, (13, 32), (17, 64), "f8E4M3FNUZ"),
        (48, 80, (16, 80), (24, 40), "f16"),
        (30, 24, (7, 8), (30, 24), "f32"),
    ],
)
def test_regions_tile_the_value(rows, columns, source, target, dtype):
    inputs = {"f8E4M3FNUZ": 32, "f16": 16, "f32": 8}[dtype]
    one, two = operand(rows, columns, source, inputs), operand(rows, columns, target, inputs, 2)
    view = View.identity((rows, columns))
    walked = traverse(one, view, two, view, dtype)
    assert walked.panel == (16, inputs)
    seen = np.zeros((rows, columns), int)
    sender, receiver = element_places(one, view)[0], element_places(two, view)[0]
    for (i, j), (m, n), tile in zip(walked.start, walked.size, walked.tile, strict=True):
        part = (slice(i, i + m), slice(j, j + n))
        seen[part] += 1
        assert (sender[part] == tile).all()
        assert (receiver[part] == receiver[i, j]).all()
        assert m <= 16 and n <= inputs
    assert (seen == 1).all()
    assert (walked.receivers == 2).all()
    assert int(walked.spans.sum()) == 2 * rows * columns * (32 // inputs)


def test_whole_panels_and_clipped_ones():
    view = View.identity((64, 128))
    whole = traverse(
        operand(64, 128, (64, 32), 32), view, operand(64, 128, (16, 128), 32), view, "f8E4M3FNUZ"
    )
    assert not whole.clipped.any() and len(whole) == 16
    assert (whole.spans == 512).all()
    cut = traverse(operand(64, 128, (10, 128), 32), view, operand(64, 128, (64, 128), 32), view, "f8E4M3FNUZ")
    assert cut.clipped.any() and cut.spans.max() == 320
    assert cut.summary().startswith(f"panels 16x32: {len(cut)} regions, {int(cut.clipped.sum())} clipped")


def test_the_panel_lies_along_the_shared_inner_axis():
    view = View.identity((64, 64))
    turned = Layout((Axis(64, (), (32,)), Axis(64)), ((0, 0), (1, 0), (0, 1)), (), 0, 16)
    assert traverse(turned, view, turned.rotate(3), view, "f8E4M3FNUZ").panel == (32, 16)
    straight = Layout((Axis(64), Axis(64, (), (32,))), ((1, 0), (0, 0), (1, 1)), (), 0, 16)
    assert traverse(straight, view, straight.rotate(3), view, "f8E4M3FNUZ").panel == (16, 32)


def test_small_values():
    empty = View.identity((0, 4))
    assert traverse(row_major((0, 4)), empty, row_major((0, 4)), empty, "f32").summary().endswith("nothing")
    line = View.identity((5,))
    assert traverse(row_major((5,)), line, row_major((5,)), line, "f32").panel == (5,)
