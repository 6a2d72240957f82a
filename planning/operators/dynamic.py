# SPDX-License-Identifier: Apache-2.0
"""
Windows whose place is known when the program runs: dynamic_slice and dynamic_update_slice.

The exchange moves words between places that the compiler knows, so a window cannot travel to or from the
tiles that happen to hold it. What is updated stays where it is: every tile that holds a part of the axis gets
the update and the start index, and writes those rows that lie with it. What is read is read by tiles that
hold the whole axis.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.planning.operators.base import Operator, Record, Surroundings, ceil_div, round_up
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.strategy import Strategy
from tilewright.planning.operators.targets import Target, flat_layout
from tilewright.planning.stages import Stages, Value

WINDOWS = 4
"""Axes along which one call of the kernel that updates can have a window."""


@dataclass(frozen=True)
class DynamicRecord(Record):
    """No choices: the operand stays where it is if a window can move in it there."""


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> DynamicRecord:
    return DynamicRecord()


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> tuple[DynamicRecord, ...]:
    """There is one."""
    return (DynamicRecord(),)


def window_shape(operator: Operator) -> tuple[int, ...]:
    """What is read or written."""
    if operator.name == "dynamic_slice":
        return operator.result_shape
    return operator.operand_types[1][0]


def moving_axes(operator: Operator) -> tuple[int, ...]:
    """The logical axes along which the window can move; none if there is nothing in it."""
    shape, window = operator.operand_types[0][0], window_shape(operator)
    if 0 in window:
        return ()
    return tuple(i for i, (n, extent) in enumerate(zip(window, shape, strict=True)) if n < extent)


def storage_axes(operator: Operator, layout: Layout, view: View) -> tuple[int, ...] | None:
    """
    The storage axis of every axis of `moving_axes`, if windows can move in this storage: each is a storage
    axis of its own, nothing lies beside the view, and parts of it begin at multiples of their size.
    """
    if layout.chunk is not None or not view.is_bijection(layout.shape):
        return None
    found: list[int] = []
    for axis in moving_axes(operator):
        digits = view.digits[axis]
        if len(digits) != 1 or digits[0][2] != 1:
            return None
        storage = layout.axes[digits[0][1]]
        if storage.extent != view.shape[axis] or (storage.splits and operator.name == "dynamic_slice"):
            return None
        if any(split.block % storage.splits[-1].block for split in storage.splits):
            return None
        found.append(digits[0][1])
    return tuple(found)


def whole_layout(operator: Operator, machine: Machine) -> Target:
    """Storage in which windows can move: axes that they move along are whole, others divided over tiles."""
    shape, dtype = operator.operand_types[0]
    moving = moving_axes(operator)
    word = max(1, 4 // itemsize(dtype))
    left, stride = machine.tiles, 1
    axes: list[Axis] = []
    for i, extent in reversed(list(enumerate(shape))):
        if i in moving or left < 2:
            axes.append(Axis(extent))
            continue
        block = ceil_div(extent, min(left, extent))
        if i == len(shape) - 1:  # rows are cut at words, if they are whole words
            block = round_up(block, word) if extent % word == 0 else extent
        parts = ceil_div(extent, block)
        axes.append(Axis(extent, (Split(block, stride),) if parts > 1 else ()))
        left, stride = left // parts, stride * parts
    axes.reverse()
    layout = Layout(tuple(axes), tuple((i, 0) for i in range(len(axes))), tiles=machine.tiles)
    return layout, View.identity(shape)


def place(operator: Operator, value: Value | None, machine: Machine) -> Target:
    """Where the operand lies while the window is read or written."""
    if not moving_axes(operator):
        return flat_layout(*operator.operand_types[0], machine)
    if value is not None:
        found = storage_axes(operator, value.layout, value.view)
        if found is not None:
            return value.layout, value.view
    return whole_layout(operator, machine)


def operand_targets(
    operator: Operator, record: DynamicRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    """
    Start indices and updates of an input are placed as plain sequences: a copy on every tile would be the
    host's to write.
    """
    return (place(operator, operands[0], machine), *(None,) * (len(operands) - 1))


def _steps(axis: Axis) -> list[tuple[int, int]]:
    """(count, tile stride) of each cut of an axis."""
    extent = axis.extent
    found: list[tuple[int, int]] = []
    for split in axis.splits:
        found.append((ceil_div(extent, split.block), split.tile_stride))
        extent = min(extent, split.block)
    return [step for step in found if step[0] > 1]


def _shortened(layout: Layout, view: View, axis: int, storage: int, size: int) -> Target:
    """The same storage with `size` elements of an axis on every tile that holds a part of it."""
    axes = tuple(Axis(size) if i == storage else a for i, a in enumerate(layout.axes))
    order = tuple((a, level) for a, level in layout.order if a != storage or level == 0)
    replicas = (*layout.replicas, *_steps(layout.axes[storage]))
    shape = (*view.shape[:axis], size, *view.shape[axis + 1 :])
    digits = (*view.digits[:axis], ((size, storage, 1),), *view.digits[axis + 1 :])
    where = dataclasses.replace(layout, axes=axes, order=order, replicas=replicas, memory="any")
    return where, View(shape, digits, view.offsets)


def _everywhere(layout: Layout) -> Target:
    """One number on every tile that holds a part."""
    replicas = (*layout.replicas, *(step for axis in layout.axes for step in _steps(axis)))
    return Layout((Axis(1),), ((0, 0),), replicas, layout.base, layout.tiles), View((), (), (0,))


def _first(layout: Layout, storage: int) -> tuple[Layout, np.ndarray]:
    """Where the number of the first element of an axis lies that each tile holds, and these numbers."""
    axis = layout.axes[storage]
    block = axis.splits[-1].block if axis.splits else max(axis.extent, 1)
    parts = Axis(
        ceil_div(axis.extent, block),
        tuple(Split(split.block // block, split.tile_stride) for split in axis.splits),
    )
    others = (step for i, other in enumerate(layout.axes) if i != storage for step in _steps(other))
    where = Layout((parts,), ((0, 0),), (*layout.replicas, *others), layout.base, layout.tiles)
    return where, np.arange(parts.extent, dtype=np.int32) * block


def _run_bytes(layout: Layout, storage: Sequence[int], dtype: str) -> int:
    """Bytes of a window that lie together, as far as it shows in the innermost digit of its storage."""
    axis, level = layout.order[-1]
    size = itemsize(dtype)
    if axis in storage:
        return size
    return math.gcd(8, size * layout.axes[axis].counts[level])


def expand(
    operator: Operator, record: DynamicRecord, operands: tuple[Value, ...], machine: Machine
) -> Stages:
    if operator.name == "dynamic_slice":
        return _Reading(operator, operands, machine).stages()
    return _Updating(operator, operands, machine).stages()


class _Window:
    """What both have in common: the operand, start indices and the axes that the window moves along."""

    def __init__(self, operator: Operator, operands: tuple[Value, ...], machine: Machine) -> None:
        self.operator = operator
        self.machine = machine
        self.builder = Builder(operator, operands, machine)
        self.layout, self.view = place(operator, operands[0], machine)
        self.moving = moving_axes(operator)
        storage = storage_axes(operator, self.layout, self.view) if self.moving else ()
        assert storage is not None
        self.storage = storage
        self.sizes = tuple(window_shape(operator)[axis] for axis in self.moving)
        self.dtype = operator.operand_types[0][1]

    def starts(self, first: int) -> list[tuple[str, View, Target]]:
        """The start indices of the axes along which the window moves, wanted on every tile."""
        operands = self.builder.operands
        wanted = _everywhere(self.layout)
        return [(f"in{first + axis}", operands[first + axis].view, wanted) for axis in self.moving]

    def still(self) -> dict[str, int]:
        """Kernel axes of the storage axes along which the window does not move."""
        others = (i for i in range(len(self.layout.axes)) if i not in self.storage)
        return {f"x{number}": storage for number, storage in enumerate(others)}


class _Reading(_Window):
    def stages(self) -> Stages:
        builder = self.builder
        source, *starts = builder.convert(
            [("in0", builder.operands[0].view, (self.layout, self.view)), *self.starts(1)],
            ["whole", *(f"start{axis}" for axis in self.moving)],
            "dynamic_slice operands",
        )
        layout, view = self.layout, self.view
        if not self.moving:
            layout = dataclasses.replace(layout, memory="any")
            result = builder.add_buffer("result", layout, self.dtype, "activations")
            builder.elementwise("copy", source, result, "all of it", run_bytes=8)
            return builder.finish((result, view))
        for number, (axis, storage, size) in enumerate(
            zip(self.moving, self.storage, self.sizes, strict=True)
        ):
            layout, view = _shortened(layout, view, axis, storage, size)
            last = number == len(self.moving) - 1
            result = builder.add_buffer(
                "result" if last else "part", layout, self.dtype, "activations" if last else "staging"
            )
            others = {f"x{i}": i for i in range(len(layout.axes)) if i != storage}
            builder.compute(
                "read_window",
                ["r", "t", "at", *others],
                [(source, {"r": storage, **others}), (starts[number], {"at": 0})],
                [(result, {"t": storage, **others})],
                f"the window along axis {axis}",
                run_bytes=_run_bytes(layout, (storage,), self.dtype),
            )
            source = result
        return builder.finish((source, view))


class _Updating(_Window):
    def stages(self) -> Stages:
        builder, operands = self.builder, self.builder.operands
        update_layout, update_view = self.layout, self.view
        for axis, storage, size in zip(self.moving, self.storage, self.sizes, strict=True):
            update_layout, update_view = _shortened(update_layout, update_view, axis, storage, size)
        if len(self.moving) > WINDOWS:
            raise self.operator.error(
                f"an update moves along {len(self.moving)} axes; kernels have {WINDOWS}",
                hint="update with whole axes, or reshape axes that move together into one",
            )
        if 0 in window_shape(self.operator) or not self.moving:
            return self.without_a_window(update_layout, update_view)
        target, update, *starts = builder.convert(
            [
                ("in0", operands[0].view, (self.layout, self.view)),
                ("in1", operands[1].view, (update_layout, update_view)),
                *self.starts(2),
            ],
            ["result", "update", *(f"start{axis}" for axis in self.moving)],
            "dynamic_update_slice operands",
        )
        target = self.writable(target)
        constants: dict[str, np.ndarray] = {}
        ins = [(target, {}), (update, {})]
        still = self.still()
        axes: list[str] = []
        numbers: list[str] = []
        scalars: dict[str, int] = {}
        where: list[tuple[str, dict[str, int]]] = []
        for number, (axis, storage) in enumerate(zip(self.moving, self.storage, strict=True)):
            suffix = "" if number == 0 else str(number + 1)
            layout, firsts = _first(self.layout, storage)
            first = builder.add_buffer(f"first{axis}", layout, "i32", "parameters")
            constants[first] = firsts
            axes += [f"r{suffix}", f"t{suffix}"]
            numbers += [f"at{suffix}", f"first{suffix}"]
            ins[0][1][f"r{suffix}"] = ins[1][1][f"t{suffix}"] = storage
            where += [(starts[number], {f"at{suffix}": 0}), (first, {f"first{suffix}": 0})]
            scalars[f"rows{suffix}"] = self.view.shape[axis]
        for _, kernel_axes in ins:
            kernel_axes.update(still)
        builder.compute(
            f"update_window{'' if len(self.moving) == 1 else len(self.moving)}",
            [*axes, *numbers, *still],
            [*ins, *where],
            [ins[0]],
            "the rows that lie here",
            run_bytes=_run_bytes(self.layout, self.storage, self.dtype),
            **scalars,
        )
        return dataclasses.replace(builder.finish((target, self.view)), constants=constants)

    def writable(self, target: str) -> str:
        """The operand if nothing reads it any more, else a copy."""
        if target != "in0" or self.operator.attributes.get("in_place", False):
            return target
        copy = self.builder.add_buffer(
            "result", dataclasses.replace(self.layout, memory="any"), self.dtype, "activations"
        )
        self.builder.elementwise("copy", target, copy, "the operand is read again", run_bytes=8)
        return copy

    def without_a_window(self, layout: Layout, view: View) -> Stages:
        """Nothing is replaced, or everything."""
        builder = self.builder
        number = 0 if 0 in window_shape(self.operator) else 1
        layout = dataclasses.replace(self.layout, memory="any")
        result = builder.add_buffer("result", layout, self.dtype, "activations")
        builder.gather_into(
            [(f"in{number}", builder.operands[number].view, self.view)], result, "dynamic_update_slice"
        )
        return builder.finish((result, self.view))


WINDOW = Strategy(
    "window",
    ("dynamic_slice", "dynamic_update_slice"),
    DynamicRecord,
    default=default_record,
    candidates=candidates,
    targets=operand_targets,
    expand=expand,
)
STRATEGIES = (WINDOW,)
