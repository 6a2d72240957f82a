# SPDX-License-Identifier: Apache-2.0
"""
Gather: the table stays where it is, its rows and columns divided over all tiles; the indices go to
everyone.

Every tile copies the rows it owns to the places that ask for them and leaves zeros elsewhere; of the parts
that share a block of columns exactly one holds any row, so their sum is the row, unrounded. Nothing of the
table moves. An index outside the table is drawn to its first or last row by every tile, or with `out_of_range
zero` found by none, so that zeros come out. A -0 that passes through a sum comes out as +0.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.exchange.estimate import receive_cycles
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.planning.operators.base import Operator, Record, Surroundings, ceil_div
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.grids import check_fits, check_parts, replicas
from tilewright.planning.operators.strategy import Strategy
from tilewright.planning.operators.targets import Target, merged_view
from tilewright.planning.stages import Stages, Value

ROW_BYTES = 8
"""Bytes of a row that a tile owns at least: what the kernel moves at once."""


@dataclass(frozen=True)
class GatherRecord(Record):
    """Parts of the table's rows and of its columns."""

    grid: tuple[int, ...] = (1, 1)


@dataclass(frozen=True)
class Shape:
    """
    A gather of `count` rows of a table of `rows` by `columns` (all axes of the table but the one that is
    indexed).
    """

    rows: int
    columns: int
    count: int
    dtype: str


def canonical(operator: Operator) -> Shape:
    table, dtype = operator.operand_types[0]
    axis = _axis(operator)
    indices = operator.operand_types[1][0]
    columns = math.prod(table[:axis]) * math.prod(table[axis + 1 :])
    return Shape(table[axis], columns, math.prod(indices), dtype)


def _axis(operator: Operator) -> int:
    return int(operator.attributes.get("axis", 0)) % len(operator.operand_types[0][0])


def blocks(shape: Shape, grid: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of a tile's part."""
    return ceil_div(max(shape.rows, 1), grid[0]), ceil_div(max(shape.columns, 1), grid[1])


def used_grid(shape: Shape, grid: tuple[int, ...]) -> tuple[int, int]:
    rows, columns = blocks(shape, grid)
    return ceil_div(max(shape.rows, 1), rows), ceil_div(max(shape.columns, 1), columns)


@lru_cache(maxsize=64)
def choose_grid(shape: Shape, machine: Machine) -> tuple[int, int]:
    """
    The grid with the least closed-form cycles: narrow columns make small parts, many row parts make many
    partials.
    """
    size = itemsize(shape.dtype)
    best: tuple[int, tuple[int, int]] | None = None
    block = ROW_BYTES // size
    while True:
        column_parts = ceil_div(max(shape.columns, 1), block)
        if column_parts <= machine.tiles:
            parts = used_grid(shape, (max(1, min(shape.rows, machine.tiles // column_parts)), column_parts))
            total = _cycles(shape, parts, machine)
            if best is None or total < best[0]:
                best = total, parts
        if block >= shape.columns:
            break
        block *= 2
    assert best is not None
    return best[1]


def _cycles(shape: Shape, parts: tuple[int, int], machine: Machine) -> int:
    rows, columns = blocks(shape, parts)
    size = itemsize(shape.dtype)

    def cycles(name: str, *extents: int) -> int:
        return int(
            machine.family.kernel(name).cycles(machine, np.array([extents]), (shape.dtype,) * 4, {})[0]
        )

    total = cycles("gather_rows", 1, shape.count, rows, columns) + shape.count
    if parts[0] > 1:
        received = int(receive_cycles(shape.count * columns * size, messages=parts[0]))
        own = ceil_div(shape.count, parts[0]) * columns
        total += received + machine.phase_overhead + cycles("reduce_partials", parts[0], own)
    room = rows * columns * size + 2 * shape.count * columns * size
    return total if room <= machine.sram_bytes // 3 else total + (1 << 30) + room


@dataclass(frozen=True)
class Layouts:
    """Storage axes: table (r, c), indices (t), first (p), partial (p, t, c), result (t, c)."""

    table: Layout
    indices: Layout
    first: Layout
    partial: Layout
    arrived: Layout
    result: Layout


def layouts(shape: Shape, grid: tuple[int, ...], machine: Machine) -> Layouts:
    rp, cp = used_grid(shape, grid)
    rows, columns = blocks(shape, grid)
    tiles = machine.tiles
    c_axis = Axis(shape.columns, (Split(columns, 1),))
    table = Layout((Axis(shape.rows, (Split(rows, cp),)), c_axis), ((0, 0), (1, 0)), tiles=tiles)
    indices = Layout((Axis(shape.count),), ((0, 0),), replicas((rp, cp), (cp, 1)), 0, tiles)
    p_axis = Axis(rp, (Split(1, cp),))
    first = Layout((p_axis,), ((0, 0),), ((cp, 1),) if cp > 1 else (), 0, tiles)
    order = ((0, 0), (1, 0), (2, 0))
    partial = Layout((p_axis, Axis(shape.count), c_axis), order, tiles=tiles)
    t_axis = Axis(shape.count, (Split(ceil_div(max(shape.count, 1), rp), cp),))
    arrived = Layout((Axis(rp), t_axis, c_axis), order, tiles=tiles)
    result = Layout((t_axis, c_axis), order[:2], tiles=tiles)
    return Layouts(table, indices, first, partial, arrived, result)


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> GatherRecord:
    return GatherRecord(choose_grid(canonical(operator), machine))


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> Iterator[GatherRecord]:
    """The default alone: its grid spreads the table as far as it goes."""
    yield default_record(operator, operands, machine, near)


def check_record(operator: Operator, record: GatherRecord, machine: Machine) -> None:
    check_parts(operator, record.grid, ("rows", "columns"))
    check_fits(operator, record.grid, used_grid(canonical(operator), record.grid), machine)


def operand_targets(
    operator: Operator, record: GatherRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    """
    The indices of an input are placed as a plain sequence: a copy on every tile would be the host's to write.
    """
    check_record(operator, record, machine)
    axis, table = _axis(operator), operator.operand_types[0][0]
    where = layouts(canonical(operator), record.grid, machine)
    others = [a for a in range(len(table)) if a != axis]
    return (where.table, merged_view(table, [[axis], others])), None


def expand(operator: Operator, record: GatherRecord, operands: tuple[Value, ...], machine: Machine) -> Stages:
    check_record(operator, record, machine)
    shape = canonical(operator)
    where = layouts(shape, record.grid, machine)
    rows, _ = blocks(shape, record.grid)
    parts, _ = used_grid(shape, record.grid)
    builder = Builder(operator, operands, machine)
    target = operand_targets(operator, record, operands, machine)[0]
    assert target is not None
    everywhere = (where.indices, merged_view(operands[1].shape, [range(len(operands[1].shape))]))
    table, indices = builder.convert(
        [("in0", operands[0].view, target), ("in1", operands[1].view, everywhere)],
        ["table", "indices"],
        "gather operands",
    )
    first = builder.add_buffer("first", where.first, "i32", "parameters")
    partial = builder.add_buffer(
        "partial" if parts > 1 else "result",
        where.partial,
        shape.dtype,
        "partials" if parts > 1 else "activations",
    )
    ptc = {"p": 0, "t": 1, "c": 2}
    builder.compute(
        "gather_rows",
        "ptrc",
        [(table, {"r": 0, "c": 1}), (indices, {"t": 0}), (first, {"p": 0})],
        [(partial, ptc)],
        "rows that lie here",
        **({} if operator.attributes.get("out_of_range") == "zero" else {"rows": shape.rows}),
    )
    axis, result_shape = _axis(operator), operator.result_shape
    gathered = list(range(axis, axis + len(operator.operand_types[1][0])))
    others = [a for a in range(len(result_shape)) if a not in gathered]
    view = merged_view(result_shape, [gathered, others])
    constants = {first: np.arange(parts, dtype=np.int32) * rows}
    if parts == 1:
        digits = tuple(tuple((size, at + 1, stride) for size, at, stride in ds) for ds in view.digits)
        done = builder.finish((partial, View(view.shape, digits, (0, *view.offsets))))
        return dataclasses.replace(done, constants=constants)
    arrived = builder.add_buffer("arrived", where.arrived, shape.dtype, "partials")
    every = View.identity((parts, shape.count, shape.columns))
    builder.gather_into([(partial, every, every)], arrived, "rows of all parts")
    result = builder.add_buffer("result", where.result, operator.result_dtype, "activations")
    builder.compute(
        "reduce_partials",
        "ptc",
        [(arrived, ptc)],
        [(result, {"t": 0, "c": 1})],
        f"the one row of {parts} parts",
        saturate=0,
    )
    return dataclasses.replace(builder.finish((result, view)), constants=constants)


__all__ = ["GatherRecord", "default_record", "expand", "operand_targets"]


GRID = Strategy(
    "grid",
    ("gather",),
    GatherRecord,
    default=default_record,
    candidates=candidates,
    targets=operand_targets,
    expand=expand,
)
STRATEGIES = (GRID,)
