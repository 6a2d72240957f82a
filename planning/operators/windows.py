# SPDX-License-Identifier: Apache-2.0
"""
Windows that move over a tensor: pooling, and convolutions of each channel by itself.

The result's rows are divided into groups, and so are the channels; a tile that makes a group of rows has the
rows of the operand under its windows, padding around them included, so neighbours hold some rows twice. That
is one exchange; then every tile works by itself. Channels lie innermost, as they do in the operand: they
travel in whole words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tilewright.machine import Machine
from tilewright.machine.dtypes import float_format, integer_range, is_fp8, is_integer, itemsize
from tilewright.planning.exchange.estimate import receive_cycles
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.planning.operators.base import Operator, Record, Surroundings, ceil_div, round_up
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.grids import check_fits, check_parts
from tilewright.planning.operators.movement import fill_word
from tilewright.planning.operators.strategy import Strategy
from tilewright.planning.operators.targets import Target, flat_layout
from tilewright.planning.stages import Stages, Value

ORDER = ((0, 0), (1, 0), (2, 0), (3, 0))


@dataclass(frozen=True)
class WindowRecord(Record):
    """Parts of the result's rows (of every batch element; a divisor of the rows) and of its channels."""

    grid: tuple[int, ...] = (1, 1)


@dataclass(frozen=True)
class Shape:
    """
    Two axes over which windows move (one element and a window of one where there are fewer), the axes before
    them merged to a batch, all others to channels.

    Of the pairs the first is of the rows, the second of the columns of a picture.
    """

    axes: tuple[int | None, int | None]
    before: tuple[int, ...]
    after: tuple[int, ...]
    batch: int
    channels: int
    extents: tuple[int, int]
    size: tuple[int, int]
    strides: tuple[int, int]
    low: tuple[int, int]
    dilation: tuple[int, int]
    results: tuple[int, int]
    dtype: str

    def reach(self, axis: int, windows: int) -> int:
        """Elements under so many windows one after the other."""
        return (windows - 1) * self.strides[axis] + (self.size[axis] - 1) * self.dilation[axis] + 1


def canonical(operator: Operator) -> Shape:
    shape, dtype = operator.operand_types[0]
    attributes, rank = operator.attributes, len(shape)
    if operator.name == "convolution":
        spatial = list(range(1, rank - 1))
        size = operator.operand_types[1][0][: rank - 2]
    else:
        spatial, size = list(range(rank)), attributes["size"]
    number = len(spatial)
    clause = {
        name: attributes.get(name, (default,) * number)
        for name, default in (("strides", 1), ("low", 0), ("high", 0), ("dilation", 1))
    }
    moving = [
        i
        for i in range(number)
        if size[i] > 1 or clause["strides"][i] > 1 or clause["low"][i] or clause["high"][i]
    ]
    if operator.name == "convolution":
        moving = list(range(number))[:2]
        if number > 2:
            raise operator.error(f"windows move over {number} axes, 2 is the most")
    moving = moving or [0]
    at = [spatial[i] for i in moving]

    def pick(values: tuple[int, ...], neutral: int) -> tuple[int, int]:
        found = [int(values[i]) for i in moving]
        return (found[0], found[1]) if len(found) > 1 else (found[0], neutral)

    extents = [shape[a] for a in at] + [1] * (2 - len(at))
    results = [operator.result_shape[a] for a in at] + [1] * (2 - len(at))
    before = tuple(a for a in range(rank) if a < at[0])
    after = tuple(a for a in range(rank) if a > at[0] and a not in at)
    return Shape(
        (at[0], at[1] if len(at) > 1 else None),
        before,
        after,
        math.prod(shape[a] for a in before),
        math.prod(shape[a] for a in after),
        (extents[0], extents[1]),
        pick(tuple(size), 1),
        pick(clause["strides"], 1),
        pick(clause["low"], 0),
        pick(clause["dilation"], 1),
        (results[0], results[1]),
        dtype,
    )


def kernel_name(operator: Operator) -> str:
    if operator.name == "convolution":
        return "window.products"
    kind = str(operator.attributes["kind"])
    return f"window.{'sum' if kind == 'mean' else kind}"


def scalars_of(operator: Operator, shape: Shape) -> dict[str, int]:
    """What the kernel is told of its windows."""
    names = (("size", shape.size), ("stride", shape.strides), ("dilation", shape.dilation))
    found = {f"{name}_{letter}": pair[i] for name, pair in names for i, letter in enumerate("yx")}
    if operator.attributes.get("kind") == "mean":
        found["count"] = math.prod(shape.size)
    return found | operator.saturation


def around(operator: Operator) -> float:
    """What counts for nothing beside the operand."""
    kind, dtype = operator.attributes.get("kind"), operator.operand_types[0][1]
    if kind not in ("max", "min"):
        return 0.0
    if is_integer(dtype):
        lowest, highest = (float(end) for end in integer_range(dtype))
    elif is_fp8(dtype) and not float_format(dtype).has_inf:
        highest = float_format(dtype).max_value
        lowest = -highest
    else:
        lowest, highest = -math.inf, math.inf
    return lowest if kind == "max" else highest


def used_parts(shape: Shape, grid: tuple[int, ...]) -> tuple[int, int]:
    """Tiles along the batch and row groups, and along channels."""
    return shape.batch * grid[0], ceil_div(shape.channels, _channels(shape, grid))


def _channels(shape: Shape, grid: tuple[int, ...]) -> int:
    grain = max(1, 4 // itemsize(shape.dtype))
    return min(round_up(ceil_div(shape.channels, grid[1]), grain), max(shape.channels, 1))


def choose_grid(operator: Operator, shape: Shape, machine: Machine) -> tuple[int, int]:
    """The grid with the least cycles: of the kernel on a tile, and to receive what it reads."""
    best: tuple[int, tuple[int, int]] | None = None
    most = min(shape.results[0], machine.tiles)
    rows = [d for d in range(1, most + 1) if shape.results[0] % d == 0]
    grain = max(1, 8 // itemsize(shape.dtype))
    parts, columns = 1, []
    while True:
        columns.append(parts)
        if parts >= ceil_div(shape.channels, grain):
            break
        parts = min(2 * parts, ceil_div(shape.channels, grain))
    kernel = machine.family.kernel(kernel_name(operator))
    types = tuple(dtype for _, dtype in (*operator.operand_types, *operator.result_types))
    for groups in rows:
        for cuts in columns:
            first, second = used_parts(shape, (groups, cuts))
            held = ceil_div(first, max(1, machine.tiles // second))
            if second > machine.tiles:
                continue
            high, wide = shape.results[0] // groups, shape.results[1]
            channels = _channels(shape, (groups, cuts))
            read = held * shape.reach(0, high) * shape.reach(1, wide) * channels
            extents = _extents(operator, shape, held, high, channels)
            cycles = int(kernel.cycles(machine, np.array([extents]), types, scalars_of(operator, shape))[0])
            total = cycles + int(receive_cycles(read * itemsize(shape.dtype)))
            if best is None or total < best[0]:
                best = total, (groups, cuts)
    assert best is not None
    return best[1]


def whole(operator: Operator) -> tuple[int, ...]:
    """The extents of the kernel if one tile did all of it."""
    shape = canonical(operator)
    return _extents(operator, shape, shape.batch, shape.results[0], shape.channels)


def _extents(operator: Operator, shape: Shape, held: int, high: int, channels: int) -> tuple[int, ...]:
    wide = shape.results[1]
    taps = (math.prod(shape.size),) if operator.name == "convolution" else ()
    return (held, shape.reach(0, high), shape.reach(1, wide), channels, high, wide, *taps)


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> WindowRecord:
    _check_depthwise(operator)
    return WindowRecord(choose_grid(operator, canonical(operator), machine))


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> Iterator[WindowRecord]:
    """The default alone: it is the best of all grids by its own estimate."""
    yield default_record(operator, operands, machine, near)


def _check_depthwise(operator: Operator) -> None:
    if operator.name == "convolution":
        channels, outputs = operator.operand_types[0][0][-1], operator.operand_types[1][0][-1]
        if not channels == outputs == operator.attributes["groups"]:
            raise operator.error(
                "channels that mix have no plan of their own", hint="tile-decompose makes products of them"
            )


def check_record(operator: Operator, record: WindowRecord, machine: Machine) -> tuple[Shape, int, int]:
    """The shape, and the parts of batch and rows, and of channels; an error for a grid that cannot be."""
    _check_depthwise(operator)
    shape = canonical(operator)
    check_parts(operator, record.grid, ("rows", "channels"))
    if shape.results[0] % record.grid[0]:
        raise operator.error(f"grid {list(record.grid)} does not divide {shape.results[0]} rows")
    first, second = used_parts(shape, record.grid)
    check_fits(operator, record.grid, (second,), machine)
    return shape, first, second


@dataclass(frozen=True)
class Layouts:
    """Storage axes (batch and group of rows, row, column, channel); of the weights (tap, channel)."""

    operand: Layout
    result: Layout
    weights: Layout


def layouts(shape: Shape, grid: tuple[int, ...], machine: Machine) -> Layouts:
    first, second = used_parts(shape, grid)
    block = ceil_div(first, max(1, machine.tiles // second))
    batch = Axis(first, (Split(block, second),))
    channels = Axis(shape.channels, (Split(_channels(shape, grid), 1),))
    high, wide = shape.results[0] // grid[0], shape.results[1]
    read = Axis(shape.reach(0, high)), Axis(shape.reach(1, wide))
    copies = ceil_div(first, block)
    replicas = ((copies, second),) if copies > 1 else ()
    taps = Axis(math.prod(shape.size))
    return Layouts(
        Layout((batch, *read, channels), ORDER, tiles=machine.tiles),
        Layout((batch, Axis(high), Axis(wide), channels), ORDER, tiles=machine.tiles),
        Layout((taps, channels), ORDER[:2], replicas, 0, machine.tiles),
    )


def operand_targets(
    operator: Operator, record: WindowRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    shape, _, _ = check_record(operator, record, machine)
    if operator.name != "convolution":
        return (None,)
    return None, _weights(operator, shape, record, machine)


def _weights(operator: Operator, shape: Shape, record: WindowRecord, machine: Machine) -> Target:
    """The weights [k.., 1, c] as taps by channels."""
    given = operator.operand_types[1][0]
    digits: list[tuple[tuple[int, int, int], ...]] = []
    stride = math.prod(given[:-2])
    for extent in given[:-2]:
        stride //= extent
        digits.append(((extent, 0, stride),))
    digits += [((1, -1, 0),), ((given[-1], 1, 1),)]
    return layouts(shape, record.grid, machine).weights, View(given, tuple(digits), (0, 0))


def expand(operator: Operator, record: WindowRecord, operands: tuple[Value, ...], machine: Machine) -> Stages:
    shape, _, _ = check_record(operator, record, machine)
    groups = record.grid[0]
    where = layouts(shape, record.grid, machine)
    builder = Builder(operator, operands, machine)
    source, view = "in0", operands[0].view
    if not _sliceable(shape, view, groups):
        flat, flat_view = flat_layout(operands[0].shape, shape.dtype, machine)
        (source,) = builder.convert(
            [("in0", view, (flat, flat_view))], ["operand"], f"{operator.name} operand"
        )
        view = flat_view
    padded = builder.add_buffer("windows", where.operand, shape.dtype, "staging")
    moves = [
        (source, view.slice(*box), _place(shape, operands[0].shape, groups, group, box))
        for group in range(groups)
        if (box := _box(shape, operands[0].shape, groups, group)) is not None
    ]
    word = fill_word(around(operator), shape.dtype)
    wanted = [(piece, part, target) for piece, part, target in moves if part is not None]
    builder.gather_into(wanted, padded, f"{operator.name}: rows under windows", rest=word)
    nyxc = {"n": 0, "y": 1, "x": 2, "c": 3}
    ins = [(padded, {"n": 0, "p": 1, "q": 2, "c": 3})]
    axes = ["n", "p", "q", "c", "y", "x"]
    if operator.name == "convolution":
        target = _weights(operator, shape, record, machine)
        (weights,) = builder.convert([("in1", operands[1].view, target)], ["weights"], "weights")
        ins.append((weights, {"k": 0, "c": 1}))
        axes.append("k")
    result = builder.add_buffer("result", where.result, operator.result_dtype, "activations")
    builder.compute(
        kernel_name(operator), axes, ins, [(result, nyxc)], operator.name, **scalars_of(operator, shape)
    )
    return builder.finish((result, _result_view(operator, shape, groups)))


Box = tuple[list[int], list[int]]


def _box(shape: Shape, given: tuple[int, ...], groups: int, group: int) -> Box | None:
    """Offsets and sizes of what the operand has under the windows of a group of rows; None: nothing."""
    high = shape.results[0] // groups
    first = group * high * shape.strides[0] - shape.low[0]
    offsets, sizes = [0] * len(given), list(given)
    for i, (axis, start, reach) in enumerate(
        (
            (shape.axes[0], first, shape.reach(0, high)),
            (shape.axes[1], -shape.low[1], shape.reach(1, shape.results[1])),
        )
    ):
        if axis is None:
            continue
        low, end = max(start, 0), min(start + reach, shape.extents[i])
        if end <= low:
            return None
        offsets[axis], sizes[axis] = low, end - low
    return offsets, sizes


def _sliceable(shape: Shape, view: View, groups: int) -> bool:
    boxes = (_box(shape, view.shape, groups, group) for group in range(groups))
    return all(view.slice(*box) is not None for box in boxes if box is not None)


def _place(shape: Shape, given: tuple[int, ...], groups: int, group: int, box: Box) -> View:
    """Where a box of the operand lies in the buffer of windows."""
    offsets, sizes = box
    high = shape.results[0] // groups
    digits: list[tuple[tuple[int, int, int], ...]] = [()] * len(given)
    for axes, storage, stride in ((shape.before, 0, groups), (shape.after, 3, 1)):
        for axis in reversed(axes):
            digits[axis] = ((given[axis], storage, stride),)
            stride *= given[axis]
    rows, columns = shape.axes
    assert rows is not None
    digits[rows] = ((sizes[rows], 1, 1),)
    top = offsets[rows] - (group * high * shape.strides[0] - shape.low[0])
    left = 0
    if columns is not None:
        digits[columns] = ((sizes[columns], 2, 1),)
        left = offsets[columns] + shape.low[1]
    return View(tuple(sizes), tuple(digits), (group, top, left, 0))


def _result_view(operator: Operator, shape: Shape, groups: int) -> View:
    given = operator.result_shape
    digits: list[tuple[tuple[int, int, int], ...]] = [()] * len(given)
    for axes, storage, stride in ((shape.before, 0, groups), (shape.after, 3, 1)):
        for axis in reversed(axes):
            digits[axis] = ((given[axis], storage, stride),)
            stride *= given[axis]
    rows, columns = shape.axes
    assert rows is not None
    digits[rows] = ((groups, 0, 1), (shape.results[0] // groups, 1, 1))
    if columns is not None:
        digits[columns] = ((shape.results[1], 2, 1),)
    return View(given, tuple(digits), (0, 0, 0, 0))


WINDOWS = Strategy(
    "windows",
    ("convolution", "reduce_window"),
    WindowRecord,
    default=default_record,
    candidates=candidates,
    targets=operand_targets,
    expand=expand,
)
STRATEGIES = (WINDOWS,)
