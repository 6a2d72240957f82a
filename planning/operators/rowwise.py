# SPDX-License-Identifier: Apache-2.0
"""
Operators that need whole rows on a tile: layer_norm, rms_norm, softmax and reductions.

The axes that are kept merge to rows, the axes that are normalised or reduced merge to columns; rows are
divided over the tiles and every row lies complete on one tile, row-major.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.planning.operators.base import Operator, Record, Surroundings, ceil_div, round_up
from tilewright.planning.operators.blocks import block_layout
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.pointwise import broadcast_target, repanelled
from tilewright.planning.operators.strategy import Strategy
from tilewright.planning.operators.targets import WORD, Target, merged_view
from tilewright.planning.stages import Move, Stages, Value


def reduction(kind: str) -> str:
    """What the kernel `reduce.` for a kind of reduction is called: i1 is a number of one bit to it."""
    return {"mean": "sum", "any": "max", "all": "min"}.get(kind, kind)


SHORTENED = ("reduce", "argmax", "argmin")
"""Operators that leave one element of a row."""

COMPLETED = {"layer_norm": 3, "rms_norm": 2, "softmax": 1}
"""Operators (with so many operands) whose kernels write zeros behind the columns of a row."""

EMPTY_ROWS = {"zero": 0, "uniform": 1, "nan": 2}
"""The scalar `empty_rows` of the kernels."""


@dataclass(frozen=True)
class RowRecord(Record):
    """
    The number of parts that the rows are divided into; 0: as many as there are tiles.

    `split` (layer_norm only): rows lie in column blocks on several tiles, which exchange their statistics.
    """

    parts: int = 0
    split: bool = False


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> RowRecord:
    return RowRecord(0, _can_split(operator, machine))


def _can_split(operator: Operator, machine: Machine) -> bool:
    last = row_axis(operator) == len(operator.result_shape) - 1
    return operator.name == "layer_norm" and last and split_width(operator.result_shape, machine) > 0


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> Iterator[RowRecord]:
    """Split rows where they can be; whole rows over all tiles, or one or two for each worker of a tile."""
    if _can_split(operator, machine):
        yield RowRecord(0, True)
    yield RowRecord(0, False)
    kept, _ = _axes(operator)
    rows = math.prod(operator.operand_types[0][0][a] for a in kept)
    for group in (machine.workers, 2 * machine.workers):
        parts = ceil_div(rows, group)
        if 0 < parts < machine.tiles and rows > group:
            yield RowRecord(parts, False)


def split_width(shape: Sequence[int], machine: Machine) -> int:
    """
    Columns of each part of a row whose statistics are exchanged; 0 where rows are better kept whole.

    It depends on the shape alone, not on where the operand lies: how a row is cut shows in the last bit of
    its statistics.
    """
    blocks = block_layout(shape, machine)
    if blocks is None:
        return 0
    columns = blocks[0].axes[1]
    return columns.splits[0].block if columns.splits[0].block < columns.extent else 0


def split_place(
    operator: Operator, value: Value | None, machine: Machine
) -> tuple[Target, tuple[int, int]] | None:
    """
    Where a layer_norm on split rows works, with its storage axes (rows, columns): in place if the operand is
    cut as it should be, else in the blocks of `block_layout`."""
    if operator.name != "layer_norm" or not _can_split(operator, machine):
        return None
    width = split_width(operator.result_shape, machine)
    axes = split_axes(operator, value)
    if value is not None and axes is not None and value.layout.axes[axes[1]].splits[0].block == width:
        return (value.layout, value.view), axes
    blocks = block_layout(operator.result_shape, machine)
    assert blocks is not None
    return blocks, (0, 1)


def split_axes(operator: Operator, value: Value | None) -> tuple[int, int] | None:
    """
    Storage axes (rows, columns) of an operand whose rows are divided over tiles in blocks of equal width;
    None if it has not.

    Merging statistics needs ceil blocks of columns, and the kernels take one axis of rows.
    """
    if value is None or value.layout.chunk is not None or value.layout.replicas:
        return None
    layout, view = value.layout, value.view
    digits = view.digits[-1]
    if (
        len(digits) != 1
        or digits[0][2] != 1
        or not view.is_bijection(tuple(axis.extent for axis in layout.axes))
    ):
        return None
    column = digits[0][1]
    axis = layout.axes[column]
    if axis.extent != view.shape[-1] or len(axis.splits) != 1 or axis.extent <= axis.splits[0].block:
        return None
    if ceil_div(axis.extent, ceil_div(axis.extent, axis.splits[0].block)) != axis.splits[0].block:
        return None
    rows = [i for i, a in enumerate(layout.axes) if i != column and a.extent > 1]
    return (rows[0], column) if len(rows) == 1 else None


def _axes(operator: Operator) -> tuple[list[int], list[int]]:
    """Logical axes kept (rows) and reduced (columns)."""
    rank = len(operator.operand_types[0][0])
    if operator.name == "reduce":
        reduced = sorted(int(a) % rank for a in operator.attributes["axes"])
    else:
        reduced = [row_axis(operator)]
    return [a for a in range(rank) if a not in reduced], reduced


def row_axis(operator: Operator) -> int:
    """The axis along which an operator works on rows: `axis`, or the last one."""
    return int(operator.attributes.get("axis", len(operator.operand_types[0][0]) - 1))


def stored_columns(operator: Operator) -> int:
    """
    The columns that a row is stored with: where it ends inside a word, with lanes that complete it to words
    of 8-bit elements. The kernel does not read them, and writes zeros.
    """
    shape = operator.operand_types[0][0]
    columns = math.prod(shape[a] for a in _axes(operator)[1])
    size = min(itemsize(operator.result_dtype), itemsize(operator.operand_types[0][1]))
    served = COMPLETED.get(operator.name) == len(operator.operand_types)
    return round_up(columns, WORD) if served and columns * size % WORD else columns


def _block(operator: Operator, record: RowRecord, rows: int, machine: Machine) -> int:
    if record.parts < 0 or record.parts > machine.tiles:
        raise operator.error(f"{record.parts} row parts; machine {machine.name} has {machine.tiles} tiles")
    parts = min(record.parts or machine.tiles, max(rows, 1))
    block = ceil_div(max(rows, 1), parts)
    size = min(itemsize(operator.result_dtype), itemsize(operator.operand_types[0][1]))
    columns = stored_columns(operator)
    if operator.name not in SHORTENED and columns * size % WORD:
        block = round_up(block, WORD // math.gcd(WORD, columns * size))  # whole words on every tile
    if operator.name in SHORTENED:
        block = round_up(block, max(1, 4 // size))
    return block


def row_layout(
    shape: Sequence[int], rows: Sequence[int], columns: Sequence[int], block: int, tiles: int, stored: int
) -> Target:
    """
    Rows in blocks over the tiles, columns whole and completed to `stored`; the view merges the logical axes
    of each kind.
    """
    r = math.prod(shape[a] for a in rows)
    layout = Layout((Axis(r, (Split(block, 1),)), Axis(stored)), ((0, 0), (1, 0)), tiles=tiles)
    return layout, merged_view(shape, (rows, columns))


def operand_targets(
    operator: Operator, record: RowRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    shape = operator.operand_types[0][0]
    if record.split:
        place = split_place(operator, operands[0], machine)
        if place is None:
            raise operator.error(
                "only a layer_norm of rows of several whole panels can be split", hint="use split = false"
            )
        (layout, view), _ = place
        return (
            (layout, view),
            *(broadcast_target(layout, view, t[0], shape) for t in operator.operand_types[1:]),
        )
    kept, reduced = _axes(operator)
    rows = math.prod(shape[a] for a in kept)
    block = _block(operator, record, rows, machine)
    stored = stored_columns(operator)
    x = row_layout(shape, kept, reduced, block, machine.tiles, stored)
    if len(operator.operand_types) == 1:
        return (x,)
    width = shape[row_axis(operator)]
    copies = ((ceil_div(rows, block), 1),) if rows > block else ()
    vector = Layout((Axis(stored),), ((0, 0),), copies, 0, machine.tiles)
    rest: list[Target | None] = [(vector, View.identity((width,))) for _ in operator.operand_types[1:]]
    return (x, *rest)


def expand(operator: Operator, record: RowRecord, operands: tuple[Value, ...], machine: Machine) -> Stages:
    builder = Builder(operator, operands, machine)
    targets = [t for t in operand_targets(operator, record, operands, machine) if t is not None]
    names = builder.convert(
        [
            (f"in{i}", value.view, target)
            for i, (value, target) in enumerate(zip(operands, targets, strict=True))
        ],
        ["rows", "gamma", "beta"][: len(operands)],
        f"{operator.name} operands",
    )
    layout, view = targets[0]
    if record.split:
        return _expand_split(builder, operator, names)
    rc = {"r": 0, "c": 1}
    attrs = operator.attributes
    if operator.name in SHORTENED:
        return _expand_reduce(builder, operator, names[0], layout, view)
    result = builder.add_buffer("result", layout, operator.result_dtype, "activations")
    ins = [(names[0], rc), *((name, {"c": 0}) for name in names[1:])]
    scalars: dict[str, int | float] = dict(operator.saturation)
    if operator.name in ("sort", "argsort"):
        scalars = {"descending": 1} if attrs.get("descending") else {}
    elif operator.name == "softmax":
        scalars |= {"scale": float(attrs.get("scale", 1.0)), **empty_rows(operator, "nan")}
    elif operator.name != "cumsum":
        scalars["epsilon"] = float(attrs.get("epsilon", 1e-6))
    if attrs.get("scale") and operator.name == "layer_norm":
        scalars["scale"] = int(attrs["scale"])
    if (columns := math.prod(operator.operand_types[0][0][a] for a in _axes(operator)[1])) != layout.shape[1]:
        scalars["columns"] = columns
    if operator.name == "layer_norm" and len(names) == 1:
        whole = Layout((layout.axes[0],), ((0, 0),), tiles=layout.tiles)
        own = [builder.add_buffer(s, whole, "f32") for s in ("mean", "variance")]
        builder.compute("norm.statistics", "rc", ins, [(b, {"r": 0}) for b in own], "statistics of the rows")
        builder.compute(
            "norm.mix", "rc", [*ins, *((b, {"r": 0}) for b in own)], [(result, rc)], "normalise", **scalars
        )
        return builder.finish((result, view))
    builder.compute(operator.name, "rc", ins, [(result, rc)], operator.name, **scalars)
    return builder.finish((result, view))


def empty_rows(operator: Operator, default: str) -> dict[str, int]:
    """What the softmax kernels are told about rows that are masked whole: nothing at their default."""
    found = operator.attributes.get("empty_rows", default)
    return {} if found == default else {"empty_rows": EMPTY_ROWS[found]}


def _expand_reduce(builder: Builder, operator: Operator, rows: str, layout: Layout, view: View) -> Stages:
    kind = operator.attributes.get("kind", "")
    kept, reduced = _axes(operator)
    shape = operator.operand_types[0][0]
    out = Layout((layout.axes[0],), ((0, 0),), tiles=layout.tiles)
    result = builder.add_buffer("result", out, operator.result_dtype, "activations")
    scalars: dict[str, int | float] = {"reduced": 1, **operator.saturation}
    kernel = f"reduce.{reduction(kind)}"
    if kind == "mean":
        scalars["count"] = math.prod(shape[a] for a in reduced)
    reason = f"reduce {kind}"
    if operator.name != "reduce":
        kernel, reason, scalars = operator.name, operator.name, {}
    builder.compute(kernel, "rc", [(rows, {"r": 0, "c": 1})], [(result, {"r": 0})], reason, **scalars)
    keep_dims = bool(operator.attributes.get("keep_dims"))
    digits = [view.digits[a] if a in kept else () for a in range(len(shape)) if a in kept or keep_dims]
    return builder.finish((result, View(operator.result_shape, tuple(digits), (0,))))


def _expand_split(builder: Builder, operator: Operator, names: list[str]) -> Stages:
    """
    layer_norm of rows that lie on several tiles: statistics of the parts, exchanged; then merged and applied
    in place by one call.
    """
    place = split_place(operator, builder.operands[0], builder.machine)
    assert place is not None
    (layout, view), (r, c) = place
    columns, rows = layout.axes[c], layout.axes[r]
    stride = columns.splits[0].tile_stride
    parts = ceil_div(columns.extent, columns.splits[0].block)
    pr = ((0, 0), (1, 0))
    rows = Axis(rows.extent, rows.splits)
    part = Layout((Axis(parts, (Split(1, stride),)), rows), pr, (), layout.base, layout.tiles)
    gathered = Layout((Axis(parts), rows), pr, ((parts, stride),), layout.base, layout.tiles)
    statistics = ("mean", "variance")
    own = [builder.add_buffer(f"part_{s}", part, "f32", "partials") for s in statistics]
    builder.compute(
        "norm.statistics",
        "rc",
        [(names[0], {"r": r, "c": c})],
        [(b, {"r": 1}) for b in own],
        "statistics of the parts",
    )
    arrived = [builder.add_buffer(f"all_{s}", gathered, "f32", "partials") for s in statistics]
    every = View.identity((parts, rows.extent))
    builder.exchange([Move(a, every, b, every) for a, b in zip(own, arrived, strict=True)], "row statistics")
    result = builder.add_buffer(
        "result",
        dataclasses.replace(repanelled(layout, operator.result_dtype), memory="any"),
        operator.result_dtype,
        "activations",
    )
    scale = int(operator.attributes.get("scale", 0))
    builder.compute(
        "norm.merge_apply" if len(names) > 1 else "norm.merge_mix",
        "prc",
        [
            (names[0], {"r": r, "c": c}),
            *((b, {"p": 0, "r": 1}) for b in arrived),
            *((b, {"c": _column(builder, b)}) for b in names[1:]),
        ],
        [(result, {"r": r, "c": c})],
        "normalise",
        count=columns.extent,
        epsilon=float(operator.attributes.get("epsilon", 1e-6)),
        **operator.saturation,
        **({"scale": scale} if scale else {}),
    )
    return builder.finish((result, view))


def _column(builder: Builder, vector: str) -> int:
    """The storage axis of a vector of columns (axes of one element may lie beside it)."""
    axes = builder.get(vector).layout.axes
    return max(range(len(axes)), key=lambda i: axes[i].extent)


ROWS = Strategy(
    "rows",
    ("layer_norm", "rms_norm", "softmax", "cumsum", "sort", "argsort", *SHORTENED),
    RowRecord,
    default=default_record,
    candidates=candidates,
    targets=operand_targets,
    expand=expand,
)
STRATEGIES = (ROWS,)
