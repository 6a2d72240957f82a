# SPDX-License-Identifier: Apache-2.0
"""The layout that a view of an array has: the same places, named by the logical axes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.planning.layout.axis import Axis, Split
from tilewright.planning.layout.view import View

if TYPE_CHECKING:
    from tilewright.planning.layout import Layout


def through(layout: Layout, view: View) -> Layout | None:
    """What `Layout.through` gives."""
    view.check_inside(layout.shape)
    if 0 in view.shape or any(a < 0 for digits in view.digits for _, a, _ in digits):
        return None
    same = _reordered(layout, view)
    if same is not None or layout.chunk is not None:
        return same
    owner = [{a for _, a, _ in digits} for digits in view.digits]
    if not all(_adds_up(layout, view, a) for a in range(len(layout.axes))):
        return None  # the places of two logical axes are not found one by one
    if any(layout.sum_tables(a)[1][start] for a, start in enumerate(view.offsets)):
        return None  # a shard starts at offset 0
    base = layout.base + sum(int(layout.sum_tables(a)[0][start]) for a, start in enumerate(view.offsets))
    found: list[tuple[Axis, list[int]]] = []
    for i, n in enumerate(view.shape):
        zero = [np.zeros(1, np.int64)] * view.rank
        where = view.storage(*zero[:i], np.arange(n), *zero[i + 1 :])
        tables = [layout.sum_tables(a) for a in range(len(layout.axes))]
        tile: np.ndarray = sum((t[w] for (t, _), w in zip(tables, where, strict=True)), np.zeros(n, np.int64))
        place: np.ndarray = sum(
            (o[w] for (_, o), w in zip(tables, where, strict=True)), np.zeros(n, np.int64)
        )
        whole = [a for a in sorted(owner[i]) if view.digits[i] == ((n, a, 1),)]
        axis = layout.axes[whole[0]] if whole else None
        if axis is not None and view.offsets[whole[0]] == 0:
            # A prefix of one storage axis: the same steps, also where they are ragged in the middle.
            strides = [stride for _, stride in layout.strides(whole[0])]
            kept = tuple(split for split in axis.splits if split.block < n)
            found.append((replace(axis, extent=n, splits=kept), strides))
            continue
        steps = _steps(tile - tile[0], place - place[0])
        if steps is None:
            return None
        found.append(steps)
    digits = [(a, level) for a, (axis, _) in enumerate(found) for level in range(axis.levels)]
    counts = {(a, level): found[a][0].counts[level] for a, level in digits}
    # Digits that never count may have any stride: they go in front.
    order = sorted(digits, key=lambda d: (counts[d] != 1, -found[d[0]][1][d[1]], d))
    axes = tuple(axis for axis, _ in found)
    base = base % layout.tiles if layout.tiles else base
    out = replace(layout, axes=axes, order=tuple(order), base=base)
    for i, n in enumerate(view.shape):
        zero = [np.zeros(1, np.int64)] * view.rank
        index_arrays = (*zero[:i], np.arange(n), *zero[i + 1 :])
        mine, its = out.positions(*index_arrays), layout.positions(*view.storage(*index_arrays))
        if not all(np.array_equal(m, t) for m, t in zip(mine, its, strict=True)):
            return None
    return out


def _adds_up(layout: Layout, view: View, axis: int) -> bool:
    """Whether the logical axes that share a storage axis contribute to its tables as a sum."""
    start = view.offsets[axis]
    joint = np.full((), start, np.int64)
    singles: list[np.ndarray] = []
    for i, digits in enumerate(view.digits):
        if all(a != axis for _, a, _ in digits):
            continue
        zero = [np.zeros(1, np.int64)] * view.rank
        index_arrays = (*zero[:i], np.arange(view.shape[i]), *zero[i + 1 :])
        singles.append(view.storage(*index_arrays)[axis])
        joint = np.add.outer(joint, singles[-1] - start)
    if len(singles) < 2:
        return True
    for table in layout.sum_tables(axis):
        summed = np.full((), table[start], np.int64)
        for single in singles:
            summed = np.add.outer(summed, table[single] - table[start])
        if not np.array_equal(summed, table[joint]):
            return False
    return True


def _reordered(layout: Layout, view: View) -> Layout | None:
    """`through` for a new order of whole axes: all a panel sequence survives, exact for grids."""
    if any(view.offsets) or any(len(digits) > 1 for digits in view.digits):
        return None
    used = [digits[0][1] if digits else -1 for digits in view.digits]
    if any(d and d[0] != (layout.axes[a].extent, a, 1) for d, a in zip(view.digits, used, strict=True)):
        return None
    if any(axis.extent != 1 and a not in used for a, axis in enumerate(layout.axes)):
        return None
    left = [a for a, axis in enumerate(layout.axes) if axis.extent == 1 and a not in used]
    names: dict[int, int] = {}
    axes: list[Axis] = []
    for i, a in enumerate(used):
        if a < 0 and left:
            a = left.pop(0)
        if a >= 0:
            names[a] = i
        axes.append(layout.axes[a] if a >= 0 else Axis(1))
    if left:
        return None  # an axis of extent 1 with panels of its own has no logical axis to live on
    order = [(names[a], level) for a, level in layout.order]
    extra = [(i, 0) for i in range(len(axes)) if i not in names.values()]
    return replace(layout, axes=tuple(axes), order=(*extra, *order))


def _steps(tile: np.ndarray, offset: np.ndarray) -> tuple[Axis, list[int]] | None:
    """
    The axis (and strides of its levels) whose tables these are, by cutting off regular steps from the inside.

    None when steps inside a shard lie outside steps over tiles, or the tables are not made of steps.
    """
    n = tile.size
    inside: list[tuple[int, int]] = []  # (elements of one count, offset stride), inner to outer
    splits: list[Split] = []  # inner to outer
    unit = 1
    while tile.size > 1:
        over, step = int(tile[1] - tile[0]), int(offset[1] - offset[0])
        ramp = np.arange(tile.size)
        bad = np.flatnonzero((tile - tile[0] != ramp * over) | (offset - offset[0] != ramp * step))
        count = int(bad[0]) if bad.size else tile.size
        if (over and step) or over < 0 or (step and splits):
            return None
        if over:
            splits.append(Split(unit, over))
        else:
            inside.append((unit, step))
        unit *= count
        tile, offset = tile[::count], offset[::count]
    if not inside or inside[0][0] != 1:
        inside.insert(0, (1, 1))
    levels = inside[::-1]
    axis = Axis(n, tuple(splits[::-1]), tuple(size for size, _ in levels[:-1]))
    return axis, [stride for _, stride in levels]
