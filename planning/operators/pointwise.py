# SPDX-License-Identifier: Apache-2.0
"""
Elementwise operators with broadcasting, and casts: the result keeps the layout of one operand, the leader.

The other operands are brought to the leader's distribution; an operand that does not have some of the
result's axes is kept once per tile that needs it (its missing axes become replicas) and read with zero
strides.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import panel_inputs
from tilewright.machine.numerics.pointwise import OPERATIONS, function_of
from tilewright.planning.layout import Layout, View
from tilewright.planning.operators.base import Operator, Record, Surroundings, ceil_div
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.strategy import Strategy
from tilewright.planning.operators.targets import WORD, Target, flat_layout, row_layout
from tilewright.planning.stages import Stages, Value


@dataclass(frozen=True)
class PointwiseRecord(Record):
    """The operand whose layout the result keeps; -1: a row-major sequence over all tiles."""

    leader: int = 0


def kernel_name(operator: Operator) -> str:
    """The kernel that computes an operator."""
    if operator.name in ("cast", "bias_gelu"):
        return operator.name
    return function_of(operator.name, operator.attributes).kernel


def row_column_storage(value: Value | None) -> bool:
    """
    Whether a value's last axis is one storage axis, but for lanes that complete its last word, and all others
    lie on one more (axes of one element aside).
    """
    if value is None or len(value.view.digits[-1]) != 1 or value.view.digits[-1][0][2] != 1:
        return False
    column = value.view.digits[-1][0][1]
    axes = value.layout.axes
    return (
        0 <= axes[column].extent - value.shape[-1] < WORD
        and len(axes) > 1
        and sum(a.extent > 1 for i, a in enumerate(axes) if i != column) <= 1
    )


def _can_lead(value: Value | None, operator: Operator) -> bool:
    """
    Whether the result may lie as an operand does. A cast has no other operand that groups of columns with
    lanes behind them could matter to.
    """
    if value is None or value.shape != operator.result_shape or value.layout.chunk is not None:
        return False
    return fills_storage(value) or (operator.name == "cast" and fills_storage(without_groups(value)))


def without_groups(value: Value) -> Value:
    """A value whose last axis lies in groups that lanes complete to words, with these lanes as elements."""
    match value.view.digits[-1:]:
        case (((count, axis, pitch), (group, other, 1)),) if axis == other and 0 < pitch - group < WORD:
            shape = (*value.shape[:-1], count * pitch)
            view = View(shape, (*value.view.digits[:-1], ((count * pitch, axis, 1),)), value.view.offsets)
            return dataclasses.replace(value, view=view)
        case _:
            return value


def fills_storage(value: Value, lanes: int = WORD) -> bool:
    """
    Whether a value's view covers its whole storage, except for fewer than `lanes` elements that complete one
    axis. Products complete theirs to words of 8-bit elements, whatever they store, and write all of it; what
    arrives by an exchange has nothing beyond the last word of its own type: ask with the elements of that.
    """
    storage = tuple(axis.extent for axis in value.layout.axes)
    if value.view.is_bijection(storage):
        return True
    return any(
        value.view.is_bijection((*storage[:i], extent - slack, *storage[i + 1 :]))
        for i, extent in enumerate(storage)
        for slack in range(1, min(lanes, extent))
    )


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> PointwiseRecord:
    for i, value in enumerate(operands):
        if _can_lead(value, operator) and (operator.name != "bias_gelu" or row_column_storage(value)):
            return PointwiseRecord(i)
    return PointwiseRecord(-1)


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> Iterator[PointwiseRecord]:
    """Every operand that can lead, and none."""
    for i, value in enumerate(operands):
        if _can_lead(value, operator) and (operator.name != "bias_gelu" or row_column_storage(value)):
            yield PointwiseRecord(i)
    yield PointwiseRecord(-1)


def result_place(
    operator: Operator, record: PointwiseRecord, operands: tuple[Value | None, ...], machine: Machine
) -> Target:
    """Layout and view of the result."""
    if record.leader < 0 and operator.name == "bias_gelu":
        return row_layout(operator.result_shape, machine)
    if record.leader < 0:
        return flat_layout(operator.result_shape, operator.result_dtype, machine)
    if record.leader >= len(operands) or not _can_lead(leader := operands[record.leader], operator):
        raise operator.error(
            f"operand {record.leader} cannot give the result its layout",
            notes=("a leader has the result's shape and covers its whole storage",),
        )
    assert leader is not None
    if operator.name == "bias_gelu" and not row_column_storage(leader):
        raise operator.error(
            f"operand {record.leader} cannot give the result its layout",
            notes=("bias_gelu needs one storage axis of rows and one of columns",),
        )
    layout = leader.layout
    if operator.name == "cast":
        layout = repanelled(layout, operator.result_dtype)
    return dataclasses.replace(layout, memory="any", replicas=layout.replicas), leader.view


def repanelled(layout: Layout, dtype: str) -> Layout:
    """
    The same distribution with the innermost panel as wide as the matrix unit reads this element type.

    A cast to FP8 writes panels of 32 columns where the product had 16: the exchange that follows moves whole
    panel rows.
    """
    want = panel_inputs(itemsize(dtype)) if itemsize(dtype) < 4 else None
    inner = layout.order[-1][0]
    axis = layout.axes[inner]
    block = axis.splits[-1].block if axis.splits else axis.extent
    if want is None or axis.panels in ((), (want,)) or len(axis.panels) != 1 or block < want:
        return layout
    axes = tuple(
        dataclasses.replace(a, panels=(want,)) if i == inner else a for i, a in enumerate(layout.axes)
    )
    return dataclasses.replace(layout, axes=axes)


def operand_targets(
    operator: Operator, record: PointwiseRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    layout, view = result_place(operator, record, operands, machine)
    targets: list[Target | None] = []
    for i, (shape, _) in enumerate(operator.operand_types):
        if i == record.leader:
            value = operands[i]
            assert value is not None
            targets.append((value.layout, value.view))
            continue
        full = operator.result_shape
        target = broadcast_target(layout, view, shape, full)
        targets.append(target)
    return tuple(targets)


def broadcast_target(
    layout: Layout, view: View, shape: tuple[int, ...], full: tuple[int, ...]
) -> Target | None:
    """
    Where an operand of `shape`, broadcast to `full` by numpy's rule, is wanted beside a result at (layout,
    view).

    Storage axes that only hold broadcast axes are dropped (they become replicas). None if a storage axis
    mixes both kinds: then the operand is wanted in full.
    """
    if shape == full:
        return layout, view
    missing = _broadcast_along(shape, full)
    drop: list[int] = []
    for storage, users in enumerate(_missing_users(layout, view, missing)):
        if users and all(users):
            drop.append(storage)
        elif any(users):
            return None
    keep = [i for i in range(len(layout.axes)) if i not in drop]
    if not keep:
        keep = [drop.pop(0)]
        return _single(layout, view, keep[0], shape)
    renumber = {old: new for new, old in enumerate(keep)}
    axes = tuple(layout.axes[i] for i in keep)
    order = tuple((renumber[axis], level) for axis, level in layout.order if axis in renumber)
    replicas = list(layout.replicas)
    for i in drop:
        extent = layout.axes[i].extent
        for split in layout.axes[i].splits:
            count = ceil_div(extent, split.block)
            extent = min(extent, split.block)
            if count > 1:
                replicas.append((count, split.tile_stride))
    target = dataclasses.replace(layout, axes=axes, order=order, replicas=tuple(replicas), memory="any")
    offset = len(full) - len(shape)
    digits = tuple(
        tuple(
            (size if not missing[axis + offset] else 1, renumber[s], stride)
            for size, s, stride in view.digits[axis + offset]
            if s in renumber and not missing[axis + offset]
        )
        or ((shape[axis], -1, 0),)
        for axis in range(len(shape))
    )
    return target, View(shape, digits, tuple(view.offsets[i] for i in keep))


def _single(layout: Layout, view: View, storage: int, shape: tuple[int, ...]) -> Target:
    """One element wanted by every tile that owns a part: a one-element axis, replicated."""
    from tilewright.planning.layout import Axis

    replicas = list(layout.replicas)
    for axis in layout.axes:
        extent = axis.extent
        for split in axis.splits:
            count = ceil_div(extent, split.block)
            extent = min(extent, split.block)
            if count > 1:
                replicas.append((count, split.tile_stride))
    target = Layout((Axis(1),), ((0, 0),), tuple(replicas), layout.base, layout.tiles)
    return target, View(shape, tuple(((extent, -1, 0),) for extent in shape), (0,))


def expand(
    operator: Operator, record: PointwiseRecord, operands: tuple[Value, ...], machine: Machine
) -> Stages:
    builder = Builder(operator, operands, machine)
    layout, view = result_place(operator, record, operands, machine)
    targets = operand_targets(operator, record, operands, machine)
    wanted: list[tuple[str, View, Target]] = []
    full = operator.result_shape
    for i, (value, target) in enumerate(zip(operands, targets, strict=True)):
        if target is None:  # mixed: send the broadcast operand in full
            source = value.view.broadcast(full, tuple(range(len(full) - len(value.shape), len(full))))
            assert source is not None
            wanted.append((f"in{i}", source, (layout, view)))
        else:
            wanted.append((f"in{i}", value.view, target))
    names = builder.convert(wanted, [f"operand{i}" for i in range(len(wanted))], f"{operator.name} operands")
    result = builder.add_buffer("result", layout, operator.result_dtype, "activations")
    axes = {f"x{i}": i for i in range(len(layout.axes))}
    ins = []
    for name, target, (shape, _) in zip(names, targets, operator.operand_types, strict=True):
        ins.append((name, axes if target is None else kept_axes(layout, view, shape, full)))
    scalars: dict[str, int | float] = {}
    if operator.name == "cast":
        scalars["scale"] = int(operator.attributes.get("scale", 0))
        if operator.attributes.get("rounding", "nearest") == "truncate":
            scalars["truncate"] = 1
    if operator.name == "cast" or operator.result_dtype.startswith("f8"):
        scalars["saturate"] = int(operator.attributes.get("saturate", True))
    if operator.name == "bias_gelu":
        scalars["saturate"] = int(operator.attributes.get("saturate", True))
        ins, axes = _as_rows(operator, layout, view, ins)
    builder.compute(kernel_name(operator), tuple(axes), ins, [(result, axes)], operator.name, **scalars)
    return builder.finish((result, view))


def _as_rows(
    operator: Operator, layout: Layout, view: View, ins: list[tuple[str, dict[str, int]]]
) -> tuple[list[tuple[str, dict[str, int]]], dict[str, int]]:
    """The operands of a kernel with the axes (rows, columns): columns are the storage axis of the bias."""
    (_, _), (bias, kept) = ins
    column = next(
        i
        for i in range(len(layout.axes))
        if kept[f"x{i}"] >= 0 and 0 <= layout.axes[i].extent - operator.result_shape[-1] < WORD
    )
    rows = [i for i, axis in enumerate(layout.axes) if i != column and axis.extent > 1] or [
        i for i in range(len(layout.axes)) if i != column
    ]
    if len(rows) != 1 and not all(layout.axes[i].extent == 1 for i in rows):
        raise operator.error(
            "bias_gelu needs one storage axis of rows", hint="do not fuse the sum with its gelu"
        )
    rc = {"r": rows[0], "c": column}
    return [(ins[0][0], rc), (bias, {"c": kept[f"x{column}"]})], rc


def _broadcast_along(shape: tuple[int, ...], full: tuple[int, ...]) -> list[bool]:
    """Whether an operand of `shape` is broadcast along each axis of `full`."""
    padded = (1,) * (len(full) - len(shape)) + shape
    return [have == 1 and want != 1 for have, want in zip(padded, full, strict=True)]


def _missing_users(layout: Layout, view: View, missing: list[bool]) -> list[list[bool]]:
    """For every storage axis, whether the logical axis of each digit on it is `missing`."""
    return [
        [
            missing[axis]
            for axis, digits in enumerate(view.digits)
            for size, target, _ in digits
            if target == storage and size > 1
        ]
        for storage in range(len(layout.axes))
    ]


def kept_axes(layout: Layout, view: View, shape: tuple[int, ...], full: tuple[int, ...]) -> dict[str, int]:
    """Kernel axis -> storage axis of a broadcast operand (-1: dropped); mirrors `broadcast_target`."""
    result: dict[str, int] = {}
    n = 0
    for storage, users in enumerate(_missing_users(layout, view, _broadcast_along(shape, full))):
        if users and all(users):
            result[f"x{storage}"] = -1
        else:
            result[f"x{storage}"] = n
            n += 1
    if n == 0:
        return {f"x{i}": -1 for i in range(len(layout.axes))}
    return result


LEADER = Strategy(
    "leader",
    (*OPERATIONS, "bias_gelu", "cast"),
    PointwiseRecord,
    default=default_record,
    candidates=candidates,
    targets=operand_targets,
    expand=expand,
)
STRATEGIES = (LEADER,)

__all__ = ["LEADER", "PointwiseRecord", "default_record", "expand", "operand_targets"]
