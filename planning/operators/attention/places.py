# SPDX-License-Identifier: Apache-2.0
"""Where the operands, the scores, the partial outputs and the result of an attention lie."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import COLUMNS, WEIGHT_MEMORY, product
from tilewright.planning.layout import Axis, Layout, View
from tilewright.planning.operators.attention.grids import still_grid
from tilewright.planning.operators.attention.shape import AttentionRecord, Shape, blocks, canonical, used_grid
from tilewright.planning.operators.base import Operator, ceil_div, round_up
from tilewright.planning.operators.grids import replicas, splits
from tilewright.planning.operators.targets import Target, batch_view, swap_last
from tilewright.planning.stages import Value

ROW_COLUMNS = 8
"""Columns that are whole 8-byte items in every element type: rows of multiples of them need no panels."""


@dataclass(frozen=True)
class Layouts:
    """
    Storage axes: q (b, m, d), k (b, n, d), v (b, e, n), scores (b, m, n), the rest with a leading axis of key
    parts.
    """

    q: Layout
    k: Layout
    v: Layout
    scores: Layout
    maxima: Layout
    all_maxima: Layout
    row: Layout
    sums: Layout
    partial: Layout
    arrived: Layout
    arrived_sums: Layout
    result: Layout
    result_row: Layout


Digits = tuple[tuple[int, int], ...]


def tile_digits(shape: Shape, grid: tuple[int, ...]) -> tuple[Digits, Digits, Digits]:
    """
    Where the parts of the batch, the queries and the keys lie, as (count, tile stride) digits, outer to
    inner.

    Tiles 2t and 2t + 1 share a bus and get what both want at twice the rate: keys and values if they are two
    parts of the queries, queries if they are two parts of the keys.
    """
    bp, qp, np_ = used_grid(shape, grid)
    _, qb, nb = blocks(shape, grid)
    queries, keys = qb * shape.depth, nb * (shape.depth + shape.value_depth)
    batch = ((bp, qp * np_),)
    if qp % 2 == 0 and (keys > queries or np_ % 2):
        return batch, ((qp // 2, 2 * np_), (2, 1)), ((np_, 2),)
    return batch, ((qp, np_),), ((np_, 1),)


def layouts(shape: Shape, grid: tuple[int, ...], machine: Machine) -> Layouts:
    """The layouts of a score grid."""
    _, _, np_ = used_grid(shape, grid)
    bb, qb, nb = blocks(shape, grid)
    batch, by_query, by_key = tile_digits(shape, grid)
    tiles = machine.tiles
    d_pass, n_pass = product(shape.score_kernel).inputs, product(shape.output_kernel).inputs
    b_axis, m_axis = Axis(shape.b, splits(bb, batch)), Axis(shape.queries, splits(qb, by_query))
    n_split = splits(nb, by_key)
    interleaved = WEIGHT_MEMORY
    out_memory = machine.family.kernel(shape.score_kernel).outs[0].memory
    wide = ((0, 0), (1, 0), (2, 0), (1, 1), (2, 1))
    panel = ((0, 0), (2, 0), (1, 0), (2, 1))
    q = Layout((b_axis, m_axis, Axis(shape.stored_depth, (), (d_pass,))), panel, replicas(*by_key), 0, tiles)
    k = Layout(
        (b_axis, Axis(shape.keys, n_split, (COLUMNS,)), Axis(shape.stored_depth, (), (d_pass,))),
        wide,
        replicas(*by_query),
        0,
        tiles,
        interleaved,
    )
    # keys of V complete the last word: whoever computes V transposed has the lane, and its probability is
    # zero (so that it may hold any finite number: `finite_lanes` of the operator)
    v_keys = round_up(shape.keys, max(1, 4 // itemsize(shape.dtype)))
    v = Layout(
        (b_axis, Axis(shape.stored_values, (), (COLUMNS,)), Axis(v_keys, n_split, (n_pass,))),
        wide,
        replicas(*by_query),
        0,
        tiles,
        interleaved,
    )
    scores = Layout((b_axis, m_axis, Axis(shape.keys, n_split, (COLUMNS,))), panel, (), 0, tiles, out_memory)
    p_axis, p_local = Axis(np_, splits(1, by_key)), Axis(np_)
    maxima = Layout((p_axis, b_axis, m_axis), ((0, 0), (1, 0), (2, 0)), (), 0, tiles)
    spread = replicas(*by_key)
    all_maxima = Layout((p_local, b_axis, m_axis), ((0, 0), (1, 0), (2, 0)), spread, 0, tiles)
    row = Layout((b_axis, m_axis), ((0, 0), (1, 0)), spread, 0, tiles)
    e_axis = Axis(shape.stored_values, (), (COLUMNS,))
    parts = ((0, 0), (1, 0), (3, 0), (2, 0), (3, 1))
    partial = Layout((p_axis, b_axis, m_axis, e_axis), parts, (), 0, tiles, out_memory)
    owner = m_axis
    if np_ > 1:
        owner = Axis(shape.queries, (*m_axis.splits, *splits(ceil_div(qb, np_), by_key)))
    arrived = Layout((p_local, b_axis, owner, e_axis), parts, (), 0, tiles)
    arrived_sums = Layout((p_local, b_axis, owner), ((0, 0), (1, 0), (2, 0)), (), 0, tiles)
    # Rows of a head one after another: whoever takes several heads side by side cuts them at other columns.
    whole = shape.stored_values % ROW_COLUMNS == 0
    rows = ((0, 0), (1, 0), (2, 0)) if whole else panel
    result = Layout((b_axis, owner, Axis(shape.stored_values) if whole else e_axis), rows, (), 0, tiles)
    result_row = Layout((b_axis, owner), ((0, 0), (1, 0)), (), 0, tiles)
    return Layouts(
        q, k, v, scores, maxima, all_maxima, row, maxima, partial, arrived, arrived_sums, result, result_row
    )


def shape_targets(shape: Shape, record: AttentionRecord, machine: Machine) -> tuple[Target | None, ...]:
    """Where the operands of an attention of this shape are wanted."""
    where = layouts(shape, record.grid, machine)
    return (
        (where.q, shape.view(shape.depth)),
        (where.k, batch_view(shape.batch, shape.keys, shape.depth)),
        (where.v, swap_last(batch_view(shape.batch, shape.value_depth, shape.keys))),
        *(() if shape.mask is None else (None,)),
    )


def grid_of_keys(shape: Shape, keys: Value | None, machine: Machine) -> tuple[int, int, int] | None:
    """The score grid that reads keys where they lie, if they lie as `still_targets` wants them."""
    if keys is None or keys.layout.memory != WEIGHT_MEMORY:
        return None
    grid = still_grid(shape, machine)
    where = layouts(shape, grid, machine).k, batch_view(shape.batch, shape.keys, shape.depth)
    return grid if where == (keys.layout, keys.view) else None


def still_targets(operator: Operator, machine: Machine) -> tuple[Target, Target]:
    """Where keys and values lie best that stay where they are from one run of an attention to the next."""
    shape = canonical(operator)
    where = layouts(shape, still_grid(shape, machine), machine)
    return (
        (where.k, batch_view(shape.batch, shape.keys, shape.depth)),
        (where.v, swap_last(batch_view(shape.batch, shape.value_depth, shape.keys))),
    )


def mask_place(
    shape: Shape, grid: tuple[int, ...], machine: Machine
) -> tuple[Layout, View, dict[str, int], tuple[int, ...]]:
    """
    Where the mask is added: layout, view of the mask broadcast over the batch (b, m, n), its kernel axes,
    and that shape.

    A mask that is the same for all queries (of all heads that share keys) lies once beside every block of
    them.
    """
    assert shape.mask is not None
    where = layouts(shape, grid, machine).scores
    b_axis, m_axis, n_axis = where.axes
    n_axis = dataclasses.replace(n_axis, panels=())
    own_heads = shape.group > 1 and shape.mask[-3] != 1
    if shape.mask[-2] != 1 or shape.queries == 1 or own_heads:
        layout = Layout((b_axis, m_axis, n_axis), ((0, 0), (1, 0), (2, 0)), (), where.base, where.tiles)
        view = shape.view(shape.keys)
        return layout, view, {"b": 0, "m": 1, "n": 2}, view.shape
    _, by_query, _ = tile_digits(shape, grid)
    layout = Layout((b_axis, n_axis), ((0, 0), (1, 0)), replicas(*by_query), where.base, where.tiles)
    return layout, batch_view(shape.batch, shape.keys), {"b": 0, "m": -1, "n": 1}, (*shape.batch, shape.keys)


def mask_source(value: Value, full: tuple[int, ...], drop: bool) -> View | None:
    """The mask as it is stored, seen in the shape it is wanted in: without its axis of queries if `drop`."""
    view: View | None = value.view
    if drop:
        view = view.reshape((*value.shape[:-2], value.shape[-1])) if view is not None else None
    if view is None:
        return None
    return view.broadcast(full, tuple(range(len(full) - len(view.shape), len(full))))
