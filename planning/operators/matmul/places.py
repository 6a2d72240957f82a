# SPDX-License-Identifier: Apache-2.0
"""Where the operands, the partial products and the result of a matrix multiplication lie."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import COLUMNS, WEIGHT_MEMORY
from tilewright.planning.layout import Axis, Layout, View
from tilewright.planning.operators.base import Operator, ceil_div, round_up
from tilewright.planning.operators.blocks import block_layout
from tilewright.planning.operators.grids import replicas, splits
from tilewright.planning.operators.matmul.addends import further_addends
from tilewright.planning.operators.matmul.records import BLOCKS, MatmulRecord, check_record, shape_of
from tilewright.planning.operators.matmul.shape import (
    PANEL_WORD,
    Shape,
    blocks,
    unbatched,
    used_grid,
    word_elements,
)
from tilewright.planning.operators.pointwise import broadcast_target
from tilewright.planning.operators.targets import Target, batch_view, swap_last, vector_layout
from tilewright.planning.stages import Value


@dataclass(frozen=True)
class Layouts:
    """Layouts of one grid. Storage axes: (b, m, k), (b, n, k), (p, b, m, n) and (b, m, n)."""

    a: Layout
    w: Layout
    partial: Layout
    arrived: Layout
    result: Layout


@dataclass(frozen=True)
class TileOrder:
    """
    Where the parts of a grid lie: for each of its axes (count, tile stride) digits of the part number, outer
    to inner.
    """

    b: tuple[tuple[int, int], ...]
    m: tuple[tuple[int, int], ...]
    n: tuple[tuple[int, int], ...]
    k: tuple[tuple[int, int], ...]


def tile_order(shape: Shape, grid: tuple[int, ...], share: int = 1) -> TileOrder:
    """
    The order of a grid over the tiles: batch, rows, columns, parts of the contraction next to each other, and
    inside of those pairs of column blocks or of row blocks.

    Tiles 2t and 2t + 1 share a bus and get what both want at twice the rate. The left operand is the same
    along n, the right one along m: pairs run along the axis on which the larger operand is the same, if its
    number of parts is even. Parts of the contraction stay close, because they exchange partial products all
    with all.
    """
    bp, mp, np_, kp = used_grid(shape, grid)
    _, mb, nb, _ = blocks(shape, grid)
    left = mb if np_ % 2 == 0 and (share == 1 or share % 2 == 0) else 0
    right = nb if mp % 2 == 0 else 0
    b = ((bp, mp * np_ * kp),)
    if left and left >= right:
        return TileOrder(b, ((mp, np_ * kp),), ((np_ // 2, 2 * kp), (2, 1)), ((kp, 2),))
    if right:
        return TileOrder(b, ((mp // 2, 2 * np_ * kp), (2, 1)), ((np_, 2 * kp),), ((kp, 2),))
    return TileOrder(b, ((mp, np_ * kp),), ((np_, kp),), ((kp, 1),))


def layouts(shape: Shape, grid: tuple[int, ...], machine: Machine, share: int = 1, base: int = 0) -> Layouts:
    """The layouts of a grid, its first part on tile `base`; `share` as in the record."""
    _, _, _, kp = used_grid(shape, grid)
    bb, mb, nb, kb = blocks(shape, grid)
    tiles, p = machine.tiles, shape.inputs
    where = tile_order(shape, grid, share)
    b_axis = Axis(shape.b, splits(bb, where.b))
    m_axis = Axis(shape.m, splits(mb, where.m))
    n_axis = Axis(shape.n, splits(nb, where.n), (COLUMNS,))
    grain = p if shape.filled else PANEL_WORD if shape.lanes else 1
    k_axis = Axis(round_up(shape.k, grain), splits(kb, where.k), (p,))
    one, copies = (Axis(1), (*where.b, *where.n)) if shape.shared else (b_axis, where.n)
    a = Layout((one, m_axis, k_axis), ((0, 0), (2, 0), (1, 0), (2, 1)), replicas(*copies), base, tiles)
    w = Layout(
        (b_axis, n_axis, k_axis),
        ((0, 0), (1, 0), (2, 0), (1, 1), (2, 1)),
        replicas(*where.m),
        base,
        tiles,
        WEIGHT_MEMORY,
    )
    # products keep whole words where rows end inside one: the unit writes whole panels, so the lanes exist
    n_stored = round_up(shape.n, word_elements(shape))
    written = Axis(columns_sent(shape, grid, share), n_axis.splits, (COLUMNS,))
    n_axis = Axis(n_stored, n_axis.splits, (COLUMNS,))
    p_axis = Axis(kp, splits(1, where.k))
    order4 = ((0, 0), (1, 0), (3, 0), (2, 0), (3, 1))
    partial = Layout(
        (p_axis, b_axis, m_axis, written),
        order4,
        (),
        base,
        tiles,
        machine.family.kernel(shape.kernel).outs[0].memory,
    )
    if kp == 1:
        one = Layout((b_axis, m_axis, n_axis), ((0, 0), (2, 0), (1, 0), (2, 1)), (), base, tiles)
        return Layouts(a, w, partial, partial, one)
    m_out, n_out = m_axis, n_axis
    if share > 1:
        rows = ceil_div(mb, kp * share)
        groups, members = _grouped(where.n, share)
        m_out = Axis(shape.m, (*m_axis.splits, *splits(share * rows, where.k), *splits(rows, members)))
        n_out = Axis(n_stored, splits(nb * share, groups), (COLUMNS,))
    elif owned_by_rows(shape, grid):
        m_out = Axis(shape.m, (*m_axis.splits, *splits(ceil_div(mb, kp), where.k)))
    else:
        part = owned_columns(shape, grid)
        n_out = Axis(
            n_stored, (*n_axis.splits, *splits(part, where.k)), (COLUMNS,) if part % COLUMNS == 0 else ()
        )
    order = ((0, 0), (2, 0), (1, 0), (2, 1)) if n_out.panels else ((0, 0), (1, 0), (2, 0))
    result = Layout((b_axis, m_out, n_out), order, (), base, tiles)
    n_in = dataclasses.replace(n_out, extent=written.extent)
    arrived = Layout(
        (Axis(kp), b_axis, m_out, n_in), ((0, 0), *((x + 1, level) for x, level in order)), (), base, tiles
    )
    return Layouts(a, w, partial, arrived, result)


def columns_sent(shape: Shape, grid: tuple[int, ...], share: int) -> int:
    """
    The columns of partial products that are sent: those of the result. Where the last column block is shorter
    than others all of the last panel, which the unit wrote, so that its rows follow each other.
    """
    stored = round_up(shape.n, word_elements(shape))
    _, _, np_, kp = used_grid(shape, grid)
    by_rows = kp > 1 and (share > 1 or owned_by_rows(shape, grid))
    return round_up(stored, COLUMNS) if by_rows and np_ > share else stored


def owned_by_rows(shape: Shape, grid: tuple[int, ...]) -> bool:
    """Whether those who have partial products of a block own rows of it: else columns, which is less then."""
    _, mb, nb, _ = blocks(shape, grid)
    kp = used_grid(shape, grid)[3]
    return mb >= kp or nb < mb * owned_columns(shape, grid)


def owned_columns(shape: Shape, grid: tuple[int, ...]) -> int:
    """The columns of an owner where those who have partial products of a block own columns of it."""
    grain = max(1, 4 // itemsize(shape.partial), 4 // itemsize(shape.result_dtype))
    part = round_up(ceil_div(blocks(shape, grid)[2], used_grid(shape, grid)[3]), grain)
    return round_up(part, COLUMNS) if part > COLUMNS else part


def _grouped(
    digits: Sequence[tuple[int, int]], share: int
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """Digits of the groups of `share` neighbouring parts, and of the parts inside of a group."""
    groups: list[tuple[int, int]] = []
    members: list[tuple[int, int]] = []
    for count, stride in reversed(digits):
        inside = min(count, share)
        share //= inside
        if inside > 1:
            members.insert(0, (inside, stride))
        if count > inside:
            groups.insert(0, (count // inside, stride * inside))
    return tuple(groups), tuple(members)


def operand_targets(
    operator: Operator, record: MatmulRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    """Where the two operands are wanted, as (layout, view of the operand's logical shape)."""
    check_record(operator, record, machine)
    shape = shape_of(operator, record)
    where = layouts(shape, record.grid, machine, record.share, record.base)
    left, right = (where.a, shape.left), (where.w, shape.right)
    if shape.shared:
        left, right = (where.a, batch_view((), shape.m, shape.k)), (where.w, unbatched(shape.right, shape))
    if record.swap:
        left, right = right, left
    attrs = operator.attributes
    left_view = swap_last(left[1]) if attrs.get("transpose_a") else left[1]
    right_view = right[1] if attrs.get("transpose_b") else swap_last(right[1])
    place = result_place(operator, record, machine)
    addends = [
        broadcast_target(*place, operator.operand_types[i][0], operator.result_shape)
        for i in range(2, len(operator.operand_types))
    ]
    for i in further_addends(operator):
        if len(operator.operand_types[i][0]) == 1:
            addends[i - 2] = vector_layout(*operator.operand_types[i], machine)
    ranks = [len(operand) for operand, _ in operator.operand_types[:2]]
    return (left[0], _of_rank(left_view, ranks[0])), (right[0], _of_rank(right_view, ranks[1])), *addends


def _of_rank(view: View, rank: int) -> View:
    """The view without leading axes of one element that the operand does not have."""
    drop = len(view.shape) - rank
    return View(view.shape[drop:], view.digits[drop:], view.offsets) if drop else view


def result_place(operator: Operator, record: MatmulRecord, machine: Machine) -> Target:
    """Layout and view of the result, as the operator has it."""
    if record.target == BLOCKS:
        blocks = block_layout(operator.result_shape, machine)
        assert blocks is not None
        return blocks
    shape = shape_of(operator, record)
    layout = layouts(shape, record.grid, machine, record.share, record.base).result
    view = shape.product
    return layout, unbatched(swap_last(view), shape) if record.swap else view


def stored_view(shape: Shape, record: MatmulRecord, sent: tuple[int, ...]) -> View:
    """All that is sent of a product, (b, m, n with its lanes) as in `sent`, in storage like the result's."""
    if record.target == BLOCKS:
        return View((1, shape.m, shape.n), (((1, -1, 0),), ((shape.m, 0, 1),), ((shape.n, 1, 1),)), (0, 0))
    return View.identity(sent)
