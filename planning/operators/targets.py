# SPDX-License-Identifier: Apache-2.0
"""Layouts that operators want tensors in: flat, by rows, with axes merged."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.layout import Layout, View
from tilewright.planning.operators.base import ceil_div, round_up

WORD = 4
"""Elements of the narrowest type in a word: rows are completed by fewer lanes."""

Target = tuple[Layout, View]
"""
A layout that an operand is wanted in, and the view from the operand's logical shape to its storage axes.
"""


def identity(layout: Layout) -> View:
    return View.identity(tuple(axis.extent for axis in layout.axes))


def _size(shape: Sequence[int]) -> int:
    n = 1
    for extent in shape:
        n *= extent
    return n


def flat_layout(shape: Sequence[int], dtype: str, machine: Machine) -> Target:
    """
    A tensor as one row-major sequence cut into equal chunks over the tiles: every reshape of it is free.
    """
    from tilewright.planning.layout import Axis, Split

    n = _size(shape)
    size = itemsize(dtype)
    grain = max(1, 32 // size)
    block = max(grain, round_up(ceil_div(max(n, 1), machine.tiles), grain))
    layout = Layout((Axis(n, (Split(block, 1),)),), ((0, 0),), tiles=machine.tiles)
    return layout, merged_view(shape, [tuple(range(len(shape)))])


def vector_layout(shape: Sequence[int], dtype: str, machine: Machine) -> Target | None:
    """
    A vector that ends inside a word of 8-bit elements as a sequence that is completed: rows of products that
    are completed so get their vectors in whole words. None for others, which lie anywhere.
    """
    (extent,) = shape
    if extent % WORD == 0:
        return None
    layout, _ = flat_layout((round_up(extent, WORD),), dtype, machine)
    return layout, View((extent,), (((extent, 0, 1),),), (0,))


def row_layout(shape: Sequence[int], machine: Machine) -> Target:
    """Complete rows (the last axis) over all tiles, row-major; the other axes merge to rows."""
    from tilewright.planning.layout import Axis, Split

    rows = _size(shape[:-1])
    layout = Layout(
        (Axis(rows, (Split(max(1, ceil_div(rows, machine.tiles)), 1),)), Axis(shape[-1])),
        ((0, 0), (1, 0)),
        tiles=machine.tiles,
    )
    return layout, merged_view(shape, (tuple(range(len(shape) - 1)), (len(shape) - 1,)))


def merged_view(shape: Sequence[int], groups: Sequence[Sequence[int]]) -> View:
    """The view in which each storage axis is the row-major merge of a group of logical axes."""
    digits: list[tuple[tuple[int, int, int], ...]] = [()] * len(shape)
    for storage, group in enumerate(groups):
        stride = 1
        for axis in reversed(group):
            digits[axis] = ((shape[axis], storage, stride),)
            stride *= shape[axis]
    return View(tuple(shape), tuple(digits), (0,) * len(groups))


def batch_view(batch: tuple[int, ...], *rest: int) -> View:
    """(*batch, *rest) onto storage axes (b, rest...): the batch axes merge, row-major."""
    rank = len(batch)
    return merged_view((*batch, *rest), (range(rank), *([rank + i] for i in range(len(rest)))))


def swap_last(view: View) -> View:
    """The view with its last two logical axes exchanged."""
    rank = len(view.shape)
    result = view.transpose((*range(rank - 2), rank - 1, rank - 2))
    assert result is not None
    return result
