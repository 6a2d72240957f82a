# SPDX-License-Identifier: Apache-2.0
"""
Sums by index: the base lies divided over the tiles by rows and columns, the indices and the columns that a
tile owns of all updates go to it, and it adds those that name one of its rows. Nothing of the base moves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.layout import Axis, Layout, Split
from tilewright.planning.operators import gather
from tilewright.planning.operators.base import Operator, Surroundings, ceil_div
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.gather import GatherRecord, Shape, blocks, used_grid
from tilewright.planning.operators.grids import check_fits, check_parts
from tilewright.planning.operators.strategy import Strategy
from tilewright.planning.operators.targets import Target, merged_view
from tilewright.planning.stages import Stages, Value


def canonical(operator: Operator) -> Shape:
    """As of a gather of as many rows from the base."""
    (base, dtype), (indices, _), _ = operator.operand_types
    columns = 1
    for extent in base[1:]:
        columns *= extent
    return Shape(base[0], columns, indices[0], dtype)


def choose_grid(shape: Shape, machine: Machine) -> tuple[int, int]:
    """Columns of a double word, which keeps the updates that a tile receives few; rows as they fit."""
    narrow = ceil_div(max(shape.columns, 1) * itemsize(shape.dtype), gather.ROW_BYTES)
    columns = max(1, min(narrow, machine.tiles))
    return used_grid(shape, (max(1, min(shape.rows, machine.tiles // columns)), columns))


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> GatherRecord:
    return GatherRecord(choose_grid(canonical(operator), machine))


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> Iterator[GatherRecord]:
    """The default alone."""
    yield default_record(operator, operands, machine, near)


def check_record(operator: Operator, record: GatherRecord, machine: Machine) -> None:
    check_parts(operator, record.grid, ("rows", "columns"))
    check_fits(operator, record.grid, used_grid(canonical(operator), record.grid), machine)


def _base_target(operator: Operator, record: GatherRecord, machine: Machine) -> Target:
    shape = operator.operand_types[0][0]
    where = gather.layouts(canonical(operator), record.grid, machine)
    return where.table, merged_view(shape, [[0], range(1, len(shape))])


def operand_targets(
    operator: Operator, record: GatherRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    check_record(operator, record, machine)
    return _base_target(operator, record, machine), None, None


def expand(operator: Operator, record: GatherRecord, operands: tuple[Value, ...], machine: Machine) -> Stages:
    check_record(operator, record, machine)
    shape = canonical(operator)
    where = gather.layouts(shape, record.grid, machine)
    rows, columns = blocks(shape, record.grid)
    parts, column_parts = used_grid(shape, record.grid)
    builder = Builder(operator, operands, machine)
    base = _base_target(operator, record, machine)
    if not shape.count:  # nothing is added
        (name,) = builder.convert([("in0", operands[0].view, base)], ["base"], "scatter_add operands")
        if operator.result_dtype == shape.dtype:
            return builder.finish((name, base[1]))
        result = builder.add_buffer("result", where.table, operator.result_dtype, "activations")
        builder.elementwise("cast", name, result, "nothing is added", **operator.saturation)
        return builder.finish((result, base[1]))
    copies = ((parts, column_parts),) if parts > 1 else ()
    everywhere = where.indices, merged_view(operands[1].shape, [[0]])
    seen = Layout(
        (Axis(shape.count), Axis(shape.columns, (Split(columns, 1),))),
        ((0, 0), (1, 0)),
        copies,
        0,
        machine.tiles,
    )
    updates = seen, merged_view(operands[2].shape, [[0], range(1, len(operands[2].shape))])
    names = builder.convert(
        [(f"in{i}", operands[i].view, target) for i, target in enumerate((base, everywhere, updates))],
        ["base", "indices", "updates"],
        "scatter_add operands",
    )
    first = builder.add_buffer("first", where.first, "i32", "parameters")
    result = builder.add_buffer("result", where.table, operator.result_dtype, "activations")
    builder.compute(
        "scatter_add",
        "ptrc",
        [
            (names[0], {"r": 0, "c": 1}),
            (names[1], {"t": 0}),
            (names[2], {"t": 0, "c": 1}),
            (first, {"p": 0}),
        ],
        [(result, {"r": 0, "c": 1})],
        "rows that lie here",
        **operator.saturation,
    )
    done = builder.finish((result, base[1]))
    return dataclasses.replace(done, constants={first: np.arange(parts, dtype=np.int32) * rows})


OWNERS = Strategy(
    "owners",
    ("scatter_add",),
    GatherRecord,
    default=default_record,
    candidates=candidates,
    targets=operand_targets,
    expand=expand,
)
STRATEGIES = (OWNERS,)
