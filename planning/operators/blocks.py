# SPDX-License-Identifier: Apache-2.0
"""Small blocks of rows over all tiles: what streams of residuals are kept in."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.machine import Machine
from tilewright.machine.kernels.matrix_unit import panel_inputs
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.planning.operators.base import ceil_div
from tilewright.planning.operators.targets import Target


def block_layout(shape: Sequence[int], machine: Machine) -> Target | None:
    """
    Rows of activations in small blocks of whole FP8 panels, over all tiles: what a stream of residuals is
    kept in.

    Columns are cut in blocks of up to 96 (three FP8 panels, six FP16 ones), rows as finely as the tiles
    allow: few rows on a tile make row statistics and reductions short. None for tensors that are not rows of
    whole panels.
    """
    if len(shape) != 2 or shape[1] % PANEL or not shape[0]:
        return None
    rows, columns = shape
    width = column_width(columns)
    parts = columns // width
    if parts > machine.tiles:
        return None
    block = ceil_div(rows, min(machine.tiles // parts, rows))
    layout = Layout(
        (Axis(rows, (Split(block, parts),)), Axis(columns, (Split(width, 1),), (panel_inputs(2),))),
        ((1, 0), (0, 0), (1, 1)),
        tiles=machine.tiles,
    )
    return layout, View.identity(tuple(shape))


def column_width(columns: int) -> int:
    """Columns of a block of a row of whole panels."""
    return next(w for w in (96, 64, 32) if columns % w == 0)


PANEL = panel_inputs(1)
"""FP8 inputs of a matrix pass: rows of whole panels of them are whole panels of FP16 as well."""
