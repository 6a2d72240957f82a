# SPDX-License-Identifier: Apache-2.0
"""
A move between two layouts as structured transfers: which part of the logical value goes from where to whom.

The value is walked by panels of its element type (those of the matrix unit: 16 columns of 32, 16 or 8 inputs)
and by the common refinement of both layouts. A panel that a boundary of either layout cuts is clipped there;
a region knows its place and size in the value, its sender, and the tiles that want it. What continues a
region on both sides is contiguous in memory and goes in one message: `planning/exchange/geometry.py` finds
those without walking panels. This is their account, and says why a phase has the fragments it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import COLUMNS, panel_inputs
from tilewright.planning.exchange.geometry import common_refinement, element_places, transfers
from tilewright.planning.layout import Layout, View

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Traversal:
    """
    Regions of one move, in row-major order of the value: `start` and `size` int64 (regions, rank) in
    elements, `tile` int64 (regions,) the sender, `receivers` int64 (regions,) how many tiles want it. `panel`
    (rank,) is the panel.

    `spans` are the contiguous pieces of bytes that the move falls into, int64 (spans,).
    """

    panel: tuple[int, ...]
    start: Ints
    size: Ints
    tile: Ints
    receivers: Ints
    spans: Ints

    def __len__(self) -> int:
        return len(self.tile)

    @property
    def clipped(self) -> npt.NDArray[np.bool_]:
        """Which regions are less than a whole panel."""
        return (self.size != np.array(self.panel, np.int64)).any(axis=1)

    def summary(self) -> str:
        """The account in one line."""
        shape = "x".join(map(str, self.panel))
        if not len(self):
            return f"panels {shape}: nothing"
        return (
            f"panels {shape}: {len(self)} regions, {int(self.clipped.sum())} clipped, "
            f"up to {int(self.receivers.max())} receivers; spans of {int(self.spans.min())} to "
            f"{int(self.spans.max())} bytes, median {int(np.median(self.spans))}"
        )


def panel_shape(src: Layout, src_view: View, dst: Layout, dst_view: View, size: int) -> tuple[int, ...]:
    """
    The panel of a move: the inputs of a pass along the logical axis that is innermost on both sides (or on
    the destination's, where they differ), the columns of a panel along the other one of the last two axes, 1
    along the rest.
    """
    shape = src_view.shape
    panel = [1] * len(shape)
    last = range(max(0, len(shape) - 2), len(shape))
    inner = _innermost(dst, dst_view, last)
    if inner is None:
        inner = _innermost(src, src_view, last)
    for axis in last:
        outer = COLUMNS if len(last) > 1 else panel_inputs(size)
        wanted = panel_inputs(size) if axis == (inner if inner is not None else len(shape) - 1) else outer
        panel[axis] = max(1, min(wanted, shape[axis]))
    return tuple(panel)


def _innermost(layout: Layout, view: View, axes: range) -> int | None:
    """The logical axis whose neighbours are closest in memory, if that can be said."""
    best: tuple[int, int] | None = None
    for axis in axes if 0 not in view.shape else ():
        if view.shape[axis] < 2:
            continue
        pair = view.slice((0,) * view.rank, tuple(2 if i == axis else 1 for i in range(view.rank)))
        if pair is None:
            continue
        offset = element_places(layout, pair)[1].ravel()
        step = abs(int(offset[1] - offset[0]))
        if step and (best is None or step < best[0]):
            best = (step, axis)
    return None if best is None else best[1]


def traverse(src: Layout, src_view: View, dst: Layout, dst_view: View, dtype: str) -> Traversal:
    """Walk one move by panels. LayoutError as for `transfers`."""
    size = itemsize(dtype)
    shape = src_view.shape
    panel = panel_shape(src, src_view, dst, dst_view, size)
    spans = transfers(src, src_view, dst, dst_view, size).nbytes
    if 0 in shape:
        none = np.zeros((0, len(shape)), np.int64)
        return Traversal(
            panel, none, none, none[:, 0] if shape else np.zeros(0, np.int64), np.zeros(0, np.int64), spans
        )
    cuts: list[Ints] = []
    for n, width, refined in zip(shape, panel, common_refinement(src, src_view, dst, dst_view), strict=True):
        cuts.append(_cut(n, width, np.asarray(refined, np.int64)))
    starts = [c[:-1] for c in cuts]
    sizes = [np.diff(c) for c in cuts]
    mesh = np.meshgrid(*starts, indexing="ij") if starts else []
    extent = np.meshgrid(*sizes, indexing="ij") if sizes else []
    start = np.stack([m.ravel() for m in mesh], axis=1) if mesh else np.zeros((1, 0), np.int64)
    size_of = np.stack([m.ravel() for m in extent], axis=1) if extent else np.zeros((1, 0), np.int64)
    tiles, _ = element_places(src, src_view)
    sender = tiles[tuple(start.T)] if shape else tiles.reshape(1)
    copies = int(np.prod([count for count, _ in dst.replicas], dtype=np.int64))
    receivers = np.full(len(start), copies, np.int64)
    return Traversal(panel, start, size_of, np.asarray(sender, np.int64).reshape(-1), receivers, spans)


def _cut(extent: int, width: int, refined: Ints) -> Ints:
    """
    Cut points of an axis: the boundaries of the layouts, and the panels, counted from the last boundary that
    is not inside of a panel (so that a panel is not cut twice where blocks are whole panels).
    """
    points: set[int] = set()
    for low, high in pairwise(refined.tolist()):
        points.update((low, high))
        points.update(range(-(-low // width) * width, high, width))
    points.update((0, extent))
    return np.array(sorted(points), np.int64)
