# SPDX-License-Identifier: Apache-2.0
"""
A cast to 8-bit floats that leaves the columns of attention heads in whole panels of the matrix unit.

A head of 72 columns is two and a quarter panels of 32. Cut elsewhere it is three panels of 24 columns and 8
lanes of zeros, which the cast writes as it goes. Everything behind it moves whole panels: nothing is
rearranged, and the product with such operands is the product of the columns.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

from tilewright.machine import Machine
from tilewright.machine.dtypes import is_fp8, itemsize
from tilewright.machine.kernels.matrix_unit import COLUMNS, panel_inputs
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.planning.operators.base import Operator, Record, Surroundings, ceil_div, round_up
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.strategy import Strategy
from tilewright.planning.operators.targets import WORD, Target, merged_view
from tilewright.planning.stages import Buffer, Stages, Value

PANEL = panel_inputs(1)
"""8-bit inputs of a pass of the matrix unit."""


@dataclass(frozen=True)
class PanelsRecord(Record):
    """
    `group`: columns that stay together; each group is completed to whole panels with zeros. 0: the columns of
    a row.
    """

    group: int = 0


def lanes(group: int) -> int:
    """The storage that a group takes: whole panels."""
    return round_up(group, PANEL)


def groups(head: int) -> tuple[int, ...]:
    """
    The ways to cut a head into equal groups of whole words whose panels are as few as those of the head, the
    finest first; the whole head is always one.
    """
    panels = ceil_div(head, PANEL)
    fine = head // panels
    return (fine, head) if panels > 1 and head % panels == 0 and fine % 4 == 0 else (head,)


def stored_group(value: Value, depth: int) -> int:
    """
    The group of a value whose last axis is `depth` columns in groups that are completed to panels; 0 where
    columns follow each other.
    """
    view = value.view
    digits = view.digits[-1]
    if not digits or digits[-1][1] < 0 or digits[-1][2] != 1 or {d[1] for d in digits} != {digits[-1][1]}:
        return 0
    axis, group = digits[-1][1], digits[-1][0]
    pitch, whole = lanes(group), depth // group * lanes(group)
    steps = [d[2] for ds in view.digits[:-1] for d in ds if d[1] == axis]
    if len(digits) > 2 or any(d[2] != pitch for d in digits[:-1]) or pitch == group:
        return 0
    apart = all(step % whole == 0 for step in steps) and value.layout.axes[axis].extent % whole == 0
    return group if apart and view.offsets[axis] % whole == 0 else 0


def widened(view: View, group: int) -> View:
    """The view with the lanes behind every group as elements of its last axis."""
    depth = view.shape[-1]
    axis, full = view.digits[-1][0][1], depth // group * lanes(group)
    return View((*view.shape[:-1], full), (*view.digits[:-1], ((full, axis, 1),)), view.offsets)


def narrowed(view: View, group: int) -> View:
    """The view of the columns alone, onto storage whose last axis has the lanes as elements."""
    return view.grouped(-1, group, lanes(group))


def applies(operator: Operator) -> bool:
    """Whether halves become 8-bit floats in rows of several columns."""
    several = operator.result_shape[-1:] > (1,)
    return several and operator.operand_types[0][1] == "f16" and is_fp8(operator.result_dtype)


def suits(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> bool:
    """
    Whether the result is an operand of attention by heads that are no whole panels. Heads that their product
    completed to words stay as they are: the call that adds its partials can store them.
    """
    if near.head % PANEL == 0 or operator.result_shape[-1] % near.head:
        return False
    value = operands[0]
    return value is None or pitch_of(value.layout, value.view, near.head) in (0, near.head)


def pitch_of(layout: Layout, view: View, group: int) -> int:
    """
    How far apart groups of columns lie: they follow each other, or have lanes behind them; 0 otherwise. Lanes
    behind a single group complete its last word.
    """
    match view.digits[-1]:
        case ((size, axis, 1),) if axis >= 0:
            single = size == group and 0 <= layout.axes[axis].extent - group < WORD
            return layout.axes[axis].extent if single else group
        case ((_, axis, pitch), (size, other, 1)) if axis == other and size == group:
            return pitch
        case _:
            return 0


def in_place(value: Value | None, group: int) -> Target | None:
    """Where the result lies beside its operand: the same rows, groups of columns completed to panels."""
    pitch = (
        0 if value is None or value.layout.chunk is not None else pitch_of(value.layout, value.view, group)
    )
    if value is None or not pitch or value.shape[-1] % group:
        return None
    layout, view = value.layout, value.view
    axis, count = view.digits[-1][0][1], value.shape[-1] // group
    found = layout.axes[axis]
    others = [a for i, a in enumerate(layout.axes) if i != axis and a.extent > 1]
    if found.extent != count * pitch or view.offsets[axis]:
        return None
    if any(split.block % pitch for split in found.splits) or len(others) > 2 or len(found.panels) > 1:
        return None
    wide = lanes(group)
    splits = tuple(Split(s.block // pitch * wide, s.tile_stride) for s in found.splits)
    axes = tuple(Axis(count * wide, splits, (PANEL,)) if i == axis else a for i, a in enumerate(layout.axes))
    order = tuple(digit for digit in layout.order if digit[0] != axis)
    rows = [digit for digit in order if layout.axes[digit[0]].extent > 1]
    at = order.index(rows[-1]) if rows else 0
    order = (*order[:at], (axis, 0), *order[at:], (axis, 1))
    result = dataclasses.replace(layout, axes=axes, order=order, memory="any")
    digits = ((count, axis, wide), (group, axis, 1))
    return result, View(view.shape, (*view.digits[:-1], digits), view.offsets)


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> PanelsRecord:
    return next(candidates(operator, operands, machine, near))


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> Iterator[PanelsRecord]:
    """The ways to cut a head, those first that no tile's columns cut; without heads the rows as they are."""
    found = groups(near.head) if near.head else (0,)
    for group in sorted(found, key=lambda g: in_place(operands[0], g or operator.result_shape[-1]) is None):
        yield PanelsRecord(group)


def whole_groups(operator: Operator, group: int, machine: Machine) -> Target:
    """
    Rows of whole groups over all tiles: where the operand goes if a tile's columns cut groups. Groups that
    cut words are completed with lanes.
    """
    shape, dtype = operator.operand_types[0]
    pitch = round_up(group, WORD) if group * itemsize(dtype) % WORD else group
    rows, columns = math.prod(shape[:-1]), shape[-1] // group * pitch
    # whole panels of the product's columns, where groups make them: they move in one piece for several rows
    whole = math.lcm(pitch, COLUMNS)
    least = whole if columns % whole == 0 else pitch
    block = least * ceil_div(columns // least, machine.tiles)
    parts = ceil_div(columns, block)
    height = ceil_div(max(rows, 1), max(1, min(machine.tiles // parts, rows)))
    panels = (COLUMNS,) if block % COLUMNS == 0 else ()
    axes = (Axis(rows, (Split(height, parts),)), Axis(columns, (Split(block, 1),), panels))
    order = ((1, 0), (0, 0), (1, 1)) if panels else ((0, 0), (1, 0))
    view = merged_view((*shape[:-1], columns), (tuple(range(len(shape) - 1)), (len(shape) - 1,)))
    return Layout(axes, order, tiles=machine.tiles), view.grouped(-1, group, pitch)


def _places(
    operator: Operator, record: PanelsRecord, value: Value | None, machine: Machine
) -> tuple[Target, Target, int]:
    """Where the operand is wanted, where the result goes, and the group."""
    group = record.group or operator.result_shape[-1]
    if record.group < 0 or operator.result_shape[-1] % group:
        raise operator.error(
            f"groups of {record.group} columns do not divide rows of {operator.result_shape[-1]}"
        )
    if value is not None and (found := in_place(value, group)) is not None:
        return (value.layout, value.view), found, group
    where = whole_groups(operator, group, machine)
    found = in_place(Value(Buffer(where[0], operator.operand_types[0][1]), where[1]), group)
    assert found is not None
    return where, found, group


def operand_targets(
    operator: Operator, record: PanelsRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    return (_places(operator, record, operands[0], machine)[0],)


def expand(operator: Operator, record: PanelsRecord, operands: tuple[Value, ...], machine: Machine) -> Stages:
    target, (layout, view), group = _places(operator, record, operands[0], machine)
    builder = Builder(operator, operands, machine)
    (source,) = builder.convert([("in0", operands[0].view, target)], ["rows"], "cast operand")
    result = builder.add_buffer("result", layout, operator.result_dtype, "activations")
    axis = view.digits[-1][-1][1]
    rows = [i for i, a in enumerate(layout.axes) if i != axis and a.extent > 1]
    names = dict(zip(("b", "m"), (-1, -1, *rows)[-2:], strict=True))
    kept = {name: at for name, at in names.items() if at >= 0}
    scalars: dict[str, int] = {"scale": int(operator.attributes.get("scale", 0)), "group": group}
    if (pitch := pitch_of(*target, group)) != group:
        scalars["pitch"] = pitch
    if operator.attributes.get("rounding", "nearest") == "truncate":
        scalars["truncate"] = 1
    builder.compute(
        "cast.panels",
        "bmcd",
        [(source, {"b": -1, "m": -1, **kept, "c": axis})],
        [(result, {"b": -1, "m": -1, **kept, "d": axis})],
        f"cast, groups of {group} columns in whole panels",
        saturate=int(operator.attributes.get("saturate", True)),
        **scalars,
    )
    return builder.finish((result, view))


PANELS = Strategy(
    "panels",
    ("cast",),
    PanelsRecord,
    default=default_record,
    candidates=candidates,
    targets=operand_targets,
    expand=expand,
    applies=applies,
    suits=suits,
)
STRATEGIES = (PANELS,)
