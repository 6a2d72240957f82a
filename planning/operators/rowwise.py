# SPDX-License-Identifier: Apache-2.0
"""Operators that need whole rows on a tile: layer_norm, rms_norm, softmax and reductions.

The axes that are kept merge to rows, the axes that are normalised or reduced merge to columns; rows are divided over the tiles and
every row lies complete on one tile, row-major.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.machine import Machine
from tilewright.planning.dtypes import itemsize
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.planning.operators.base import Builder, Operator, Record, Target, ceil_div, merged_view, round_up
from tilewright.planning.stages import Stages, Value


@dataclass(frozen=True)
class RowRecord(Record):
    """The number of parts that the rows are divided into; 0: as many as there are tiles."""

    parts: int = 0


def default_record(operator: Operator, operands: tuple[Value | None, ...], machine: Machine) -> RowRecord:
    return RowRecord(0)


def _axes(operator: Operator) -> tuple[list[int], list[int]]:
    """Logical axes kept (rows) and reduced (columns)."""
    rank = len(operator.operand_types[0][0])
    if operator.name == "reduce":
        reduced = sorted(int(a) % rank for a in operator.attributes["axes"])
    else:
        reduced = [rank - 1]
    return [a for a in range(rank) if a not in reduced], reduced


def _block(operator: Operator, record: RowRecord, rows: int, machine: Machine) -> int:
    if record.parts < 0 or record.parts > machine.tiles:
        raise operator.error(f"{record.parts} row parts; machine {machine.name} has {machine.tiles} tiles")
    parts = min(record.parts or machine.tiles, max(rows, 1))
    block = ceil_div(max(rows, 1), parts)
    size = min(itemsize(operator.result_dtype), itemsize(operator.operand_types[0][1]))
    columns = math.prod(operator.operand_types[0][0][a] for a in _axes(operator)[1])
    if operator.name != "reduce" and columns * size % 4:
        block = round_up(block, 4 // math.gcd(4, columns * size))  # whole words on every tile
    if operator.name == "reduce":
        block = round_up(block, max(1, 4 // size))
    return block


def row_layout(shape: Sequence[int], rows: Sequence[int], columns: Sequence[int], block: int, tiles: int) -> Target:
    """Rows in blocks over the tiles, columns whole; the view merges the logical axes of each kind."""
    r, c = math.prod(shape[a] for a in rows), math.prod(shape[a] for a in columns)
    layout = Layout((Axis(r, (Split(block, 1),)), Axis(c)), ((0, 0), (1, 0)), tiles=tiles)
    return layout, merged_view(shape, (rows, columns))


def operand_targets(
    operator: Operator, record: RowRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    shape = operator.operand_types[0][0]
    kept, reduced = _axes(operator)
    rows = math.prod(shape[a] for a in kept)
    block = _block(operator, record, rows, machine)
    x = row_layout(shape, kept, reduced, block, machine.tiles)
    vector = Layout((Axis(shape[-1]),), ((0, 0),), ((ceil_div(rows, block), 1),) if rows > block else (), 0, machine.tiles)
    rest: list[Target | None] = [(vector, View.identity((shape[-1],))) for _ in operator.operand_types[1:]]
    return (x, *rest)


def expand(operator: Operator, record: RowRecord, operands: tuple[Value, ...], machine: Machine) -> Stages:
    builder = Builder(operator, operands, machine)
    targets = [t for t in operand_targets(operator, record, operands, machine) if t is not None]
    names = builder.convert(
        [(f"in{i}", value.view, target) for i, (value, target) in enumerate(zip(operands, targets, strict=True))],
        ["rows", "gamma", "beta"][: len(operands)],
        f"{operator.name} operands",
    )
    layout, view = targets[0]
    rc = {"r": 0, "c": 1}
    attrs = operator.attributes
    if operator.name == "reduce":
        return _expand_reduce(builder, operator, names[0], layout, view)
    result = builder.add_buffer("result", layout, operator.result_dtype, "activations")
    ins = [(names[0], rc), *((name, {"c": 0}) for name in names[1:])]
    scalars = (
        {"scale": float(attrs.get("scale", 1.0))} if operator.name == "softmax" else {"epsilon": float(attrs.get("epsilon", 1e-6))}
    )
    builder.compute(operator.name, "rc", ins, [(result, rc)], operator.name, **scalars)
    return builder.finish((result, view))


def _expand_reduce(builder: Builder, operator: Operator, rows: str, layout: Layout, view: View) -> Stages:
    kind = operator.attributes["kind"]
    kept, reduced = _axes(operator)
    shape = operator.operand_types[0][0]
    out = Layout((layout.axes[0],), ((0, 0),), tiles=layout.tiles)
    result = builder.add_buffer("result", out, operator.result_dtype, "activations")
    scalars: dict[str, int | float] = {"reduced": 1}
    kernel = f"reduce.{'sum' if kind == 'mean' else kind}"
    if kind == "mean":
        scalars["count"] = math.prod(shape[a] for a in reduced)
    builder.compute(kernel, "rc", [(rows, {"r": 0, "c": 1})], [(result, {"r": 0})], f"reduce {kind}", **scalars)
    keep_dims = bool(operator.attributes.get("keep_dims"))
    digits = [view.digits[a] if a in kept else () for a in range(len(shape)) if a in kept or keep_dims]
    return builder.finish((result, View(operator.result_shape, tuple(digits), (0,))))
