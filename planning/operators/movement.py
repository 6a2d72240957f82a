# SPDX-License-Identifier: Apache-2.0
"""
Operators that only move data and cannot be a view: concatenation, padding, and plain conversions of layout.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tilewright.machine import Machine
from tilewright.machine.dtypes import is_integer, itemsize, numpy_dtype
from tilewright.machine.numerics.rounding import round_to
from tilewright.planning.layout import Layout, View
from tilewright.planning.operators.base import Operator, Record, Surroundings, ceil_div
from tilewright.planning.operators.blocks import block_layout
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.strategy import Strategy
from tilewright.planning.operators.targets import Target, flat_layout, merged_view
from tilewright.planning.stages import Stages, Value


@dataclass(frozen=True)
class FlatRecord(Record):
    """No choices: the result is a row-major sequence cut into equal chunks over the tiles."""


@dataclass(frozen=True)
class BlocksRecord(Record):
    """No choices: the result lies in small blocks of rows over all tiles (`block_layout`)."""


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> FlatRecord:
    return FlatRecord()


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> tuple[FlatRecord, ...]:
    """There is one."""
    return (FlatRecord(),)


def operand_targets(
    operator: Operator, record: FlatRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    return (None,) * len(operands)


def expand_concat(
    operator: Operator, record: FlatRecord, operands: tuple[Value, ...], machine: Machine
) -> Stages:
    builder = Builder(operator, operands, machine)
    layout, view = flat_layout(operator.result_shape, operator.result_dtype, machine)
    result = builder.add_buffer("result", layout, operator.result_dtype, "activations")
    axis = int(operator.attributes["axis"]) % len(operator.result_shape)
    start = 0
    sources: list[tuple[str, View, View]] = []
    for i, value in enumerate(operands):
        offsets = [0] * len(operator.result_shape)
        offsets[axis] = start
        if 0 in value.shape:
            continue
        sources.append((f"in{i}", value.view, _part(view, offsets, value.shape)))
        start += value.shape[axis]
    builder.gather_into(sources, result, "concat")
    return builder.finish((result, view))


def row_blocks(shape: Sequence[int], machine: Machine) -> Target | None:
    """Rows (the last axis; the others merged) in the blocks of `block_layout`; None where it has none."""
    if len(shape) < 2:
        return None
    found = block_layout((math.prod(shape[:-1]), shape[-1]), machine)
    return found and (found[0], merged_view(shape, (range(len(shape) - 1), (len(shape) - 1,))))


def stays_in_blocks(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> bool:
    """Whether a pad keeps the columns of rows that lie in blocks: it moves pieces of blocks then."""
    (value,), shape = operands, operator.operand_types[0][0]
    if value is None or shape[-1:] != operator.result_shape[-1:] or not math.prod(operator.result_shape):
        return False
    have = row_blocks(shape, machine)
    kept = have is not None and have[0] == value.layout
    return kept and row_blocks(operator.result_shape, machine) is not None


def expand_pad(
    operator: Operator, record: FlatRecord, operands: tuple[Value, ...], machine: Machine
) -> Stages:
    place = flat_layout(operator.result_shape, operator.result_dtype, machine)
    return _expand_pad(operator, place, operands, machine)


def expand_pad_in_blocks(
    operator: Operator, record: BlocksRecord, operands: tuple[Value, ...], machine: Machine
) -> Stages:
    place = row_blocks(operator.result_shape, machine)
    if place is None:
        raise operator.error(
            f"a result of shape {operator.result_shape} has no blocks of whole panels",
            hint='use strategy "flat"',
        )
    return _expand_pad(operator, place, operands, machine)


def _expand_pad(operator: Operator, place: Target, operands: tuple[Value, ...], machine: Machine) -> Stages:
    """The operand, or the part of it that stays, between words of the padding; `place` is the result's."""
    builder = Builder(operator, operands, machine)
    layout, view = place
    result = builder.add_buffer("result", layout, operator.result_dtype, "activations")
    word = fill_word(operator.attributes.get("value", 0.0), operator.result_dtype)
    (value,) = operands
    taken, offsets, steps = inside(operator)
    sizes = tuple(size for _, size in taken)
    if 0 in sizes:
        builder.fill(result, "pad of nothing", word)
        return builder.finish((result, view))
    source = value.view.slice([start for start, _ in taken], sizes)
    name = "in0"
    if source is None:  # the box of a sequence in which axes are merged
        flat, flat_view = flat_layout(value.shape, value.dtype, machine)
        (name,) = builder.convert([("in0", value.view, (flat, flat_view))], ["operand"], "pad operand")
        source = _part(flat_view, [start for start, _ in taken], sizes)
    builder.gather_into([(name, source, _part(view, offsets, sizes, steps))], result, "pad", rest=word)
    return builder.finish((result, view))


def inside(operator: Operator) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """
    Of a pad, per axis: the first element of the operand that stays and how many do, where the first lies in
    the result, and how far apart they lie there.
    """
    shape, attributes = operator.operand_types[0][0], operator.attributes
    between = attributes.get("interior", (0,) * len(shape))
    taken: list[tuple[int, int]] = []
    offsets: list[int] = []
    steps = [count + 1 for count in between]
    for extent, low, step, size in zip(shape, attributes["low"], steps, operator.result_shape, strict=True):
        first = ceil_div(max(-low, 0), step)
        last = min(extent - 1, (size - 1 - low) // step)
        taken.append((first, max(last - first + 1, 0)) if extent else (0, 0))
        offsets.append(low + first * step)
    return taken, offsets, steps


def expand_convert(
    operator: Operator, target: Target, operands: tuple[Value, ...], machine: Machine
) -> Stages:
    """An explicit change of layout; `target` is where the result is to lie."""
    builder = Builder(operator, operands, machine)
    (name,) = builder.convert(
        [("in0", operands[0].view, target)], ["result"], operator.name, zero_pad=_has_room(*target)
    )
    return builder.finish((name, target[1]))


def _has_room(layout: Layout, view: View) -> bool:
    """
    Whether storage for a whole word of 8-bit elements or more lies behind an axis of a view: whoever wants a
    parameter there wants zeros behind it (`MatmulRecord.filler`).
    """
    return any(
        layout.axes[ds[0][1]].extent - view.offsets[ds[0][1]] - ds[0][0] >= 4
        for ds in view.digits
        if len(ds) == 1 and ds[0][1] >= 0 and ds[0][2] == 1
    )


def _part(view: View, offsets: list[int], sizes: tuple[int, ...], steps: Sequence[int] | None = None) -> View:
    steps = (1,) * len(sizes) if steps is None else steps
    part = view.slice(offsets, sizes, steps)
    if part is not None:
        return part
    # a box of a row-major sequence is always expressible: the strides stay, the offset moves
    digits = tuple(
        tuple((sizes[i], axis, stride * steps[i]) for _, axis, stride in ds[-1:]) or ((sizes[i], -1, 0),)
        for i, ds in enumerate(view.digits)
    )
    start = sum(o * (ds[-1][2] if ds else 0) for o, ds in zip(offsets, view.digits, strict=True))
    return View(sizes, digits, (view.offsets[0] + start,))


def fill_word(value: float, dtype: str) -> int:
    """The 32-bit word that repeats one element of this type; an integer exactly, a float rounded once."""
    if is_integer(dtype):
        raw = np.array([int(value)]).astype(numpy_dtype(dtype)).tobytes()
    else:
        raw = round_to(np.array([float(value)]), dtype).tobytes()
    return int.from_bytes(raw * (4 // itemsize(dtype)), "little")


def _flat(
    kind: str, expand: Callable[[Operator, FlatRecord, tuple[Value, ...], Machine], Stages]
) -> Strategy:
    return Strategy(
        "flat",
        (kind,),
        FlatRecord,
        default=default_record,
        candidates=candidates,
        targets=operand_targets,
        expand=expand,
    )


BLOCKS = Strategy(
    "blocks",
    ("pad",),
    BlocksRecord,
    default=lambda operator, operands, machine, near: BlocksRecord(),
    candidates=lambda operator, operands, machine, near: (
        (BlocksRecord(),) if row_blocks(operator.result_shape, machine) else ()
    ),
    targets=operand_targets,
    expand=expand_pad_in_blocks,
    applies=lambda operator: operator.result_shape[-1:] == operator.operand_types[0][0][-1:],
    suits=stays_in_blocks,
)
"""A pad whose result lies in blocks of rows, as a stream of residuals does."""

STRATEGIES = (_flat("concat", expand_concat), _flat("pad", expand_pad), BLOCKS)
