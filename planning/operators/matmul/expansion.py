# SPDX-License-Identifier: Apache-2.0
"""The stages of a matrix multiplication: products, exchange of the partial ones, one sum."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import RESULT_MEMORY
from tilewright.planning.layout import Axis, Layout, View
from tilewright.planning.operators.base import Operator
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.matmul.addends import (
    addend_axes,
    axes_of,
    behind,
    first_addend,
    further_addends,
    in_full,
    slot_of,
)
from tilewright.planning.operators.matmul.pieces import (
    Streamed,
    matrix_kernel,
    multiply_pieces,
    stored_products,
    streamed,
)
from tilewright.planning.operators.matmul.places import (
    Layouts,
    layouts,
    operand_targets,
    result_place,
    stored_view,
)
from tilewright.planning.operators.matmul.records import (
    BLOCKS,
    PARTS,
    MatmulRecord,
    check_record,
    contracted,
    hosted,
    shape_of,
)
from tilewright.planning.operators.matmul.shape import (
    Shape,
    canonical,
    cast_exponent,
    unbatched,
    used_grid,
)
from tilewright.planning.operators.pointwise import broadcast_target
from tilewright.planning.operators.standard import crowds_results
from tilewright.planning.operators.targets import swap_last
from tilewright.planning.stages import Stages, Value


def expand(operator: Operator, record: MatmulRecord, operands: tuple[Value, ...], machine: Machine) -> Stages:
    """The stages of a product with its addends; its operands are brought to where the record wants them."""
    check_record(operator, record, machine)
    builder = Builder(operator, operands, machine)
    shape = canonical(operator)
    names = ["in0", "in1"]
    for i, dtype in enumerate(shape.operand_dtype):
        if (
            operands[i].dtype != dtype
        ):  # OCP formats become FNUZ at half the value; FP8 is widened exactly to f16
            cast = builder.add_buffer(f"cast{i}", operands[i].layout, dtype)
            exponent = cast_exponent(operands[i].dtype, dtype)
            builder.elementwise(
                "cast", names[i], cast, "operand in the kernel's format", scale=exponent, saturate=0
            )
            names[i] = cast
    targets = operand_targets(operator, record, operands, machine)
    own = first_addend(operator)
    names += [f"in{i}" for i in range(2, len(operands))]
    wanted = [0, 1] if own is None else [0, 1, own]
    host = hosted(operator) if record.filler else None
    shape = shape_of(operator, record)
    a, w = (1, 0) if record.swap else (0, 1)
    if record.pieces > 1:
        wanted.remove(a)
    found = builder.convert(
        [
            (names[i], operands[i].view, target)
            if (target := targets[i]) is not None
            else in_full(builder, i, *result_place(operator, record, machine))
            for i in wanted
        ],
        [("left", "right", "addend")[min(i, 2)] for i in wanted],
        f"{operator.name} operands",
        zero_pad=True,
        finite_lanes=("left", "right") if shape.lanes else (),
        loose=["addend"],
        completed={} if host is None else {("left", "right")[i]: contracted(operator, i) for i in (0, 1)},
        zeros=None if host is None else ("left", "right")[host],
    )
    brought = dict(zip(wanted, found, strict=True))
    left: str | Streamed
    if record.pieces > 1:
        target = targets[a]
        assert target is not None
        where = layouts(shape, record.grid, machine, record.share, record.base)
        left = streamed(builder, record, names[a], operands[a].view, target, where)
    else:
        left = brought[a]
    if own is None and record.target == PARTS:
        result, view = multiply(
            builder, shape, record.grid, left, brought[w], operator.name, share=record.share, base=record.base
        )
        return builder.finish((result, unbatched(swap_last(view), shape) if record.swap else view))
    return _add_up(builder, record, shape, left, brought[w], None if own is None else brought[own])


def _add_up(
    builder: Builder, record: MatmulRecord, shape: Shape, a: str | Streamed, w: str, own: str | None
) -> Stages:
    """
    Matrix kernel and one sum: the first addend, the partial products, the further addends.

    Vectors that move in whole words arrive behind the partials, repeated for every row; what does not is
    added by a further call on the sum in f32.
    """
    operator, machine = builder.operator, builder.machine
    layout, view = result_place(operator, record, machine)
    where = layouts(shape, record.grid, machine, record.share, record.base)
    kp = used_grid(shape, record.grid)[3]
    product = _Product(builder, shape, where, kp, a, w, operator.name)
    scattered = kp > 1 or record.target == BLOCKS
    axes = axes_of(layout)
    slots: list[tuple[str, View, View]] = []
    later: list[int] = []
    count = kp
    if scattered:
        room = Layout(
            (Axis(kp + len(further_addends(operator))), *layout.axes),
            ((0, 0), *((axis + 1, level) for axis, level in layout.order)),
            layout.replicas,
            layout.base,
            layout.tiles,
        )
        for i in further_addends(operator):
            slot = slot_of(builder, i, shape, view, room, count)
            if slot is None:
                later.append(i)
            else:
                slots.append(slot)
                count += 1
        stored = room.axes[1:] if record.target == BLOCKS else where.arrived.axes[1:]
        room = wide_partials(dataclasses.replace(room, axes=(Axis(count), *stored)), shape, machine)
        target = behind(stored_view(shape, record, where.partial.shape[1:]), 0, kp)
        summed = product.arrived(room, target, slots)
        terms = {"p": 0, **{name: axis + 1 for name, axis in axes.items()}}
    else:
        later = further_addends(operator)
        summed = product.partials()
        terms = {"p": 0, **{name: axis + 1 for name, axis in axes.items()}}
    parts = f"add {count} partials" if count > 1 else "result type"
    sums = [(own, summed, terms, f"{operator.name}: {parts}")]
    for i in later:
        target = broadcast_target(layout, view, operator.operand_types[i][0], operator.result_shape)
        (name,) = builder.convert(
            [
                in_full(builder, i, layout, view)
                if target is None
                else (f"in{i}", builder.operands[i].view, target)
            ],
            ["addend"],
            f"{operator.name} addend",
        )
        kept = addend_axes(layout, view, operator, i)
        sums.append((None, name, {"p": -1, **kept}, f"{operator.name}: addend"))
    running = own
    for number, (_, name, found, reason) in enumerate(sums):
        last = number == len(sums) - 1
        dtype, category = (operator.result_dtype, "activations") if last else ("f32", "staging")
        result = builder.add_buffer("result" if last else "sum", layout, dtype, category)
        ins: list[tuple[str, dict[str, int]]] = [(name, found)]
        scalars: dict[str, int] = dict(operator.saturation) if last else {}
        if running is not None:
            first = axes
            if number == 0 and (i := first_addend(operator)) is not None:
                first = addend_axes(layout, view, operator, i)
            if -1 in first.values():
                scalars["vector"] = 1
            ins.insert(0, (running, first))
        wide = builder.get(name).layout.memory == "interleaved" and scattered
        builder.compute(
            reducer(wide, running is not None), ("p", *axes), ins, [(result, axes)], reason, **scalars
        )
        running = result
    assert running is not None
    return builder.finish((running, view))


def wide_partials(room: Layout, shape: Shape, machine: Machine) -> Layout:
    """
    The room for partials (first axis), in memory that loads 16 bytes at once, where rows of panels make their
    distances whole. The unit leaves partials in that memory too, and they are sent while others arrive: it
    has to have an element for each.
    """
    inner = room.axes[room.order[-1][0]]
    size = inner.panels[-1] * itemsize(shape.partial) if inner.panels else 1
    if size % 16 or not any(r.name == RESULT_MEMORY for r in machine.regions) or crowds_results(machine):
        return room
    return dataclasses.replace(room, memory=RESULT_MEMORY)


def reducer(wide: bool, onto: bool) -> str:
    """The kernel that adds partials up: `wide` ones load 16 bytes at once, a first term may lie apart."""
    return (
        "reduce_partials"
        + {
            (False, False): "",
            (False, True): ".onto",
            (True, False): ".wide",
            (True, True): ".wide_onto",
        }[wide, onto]
    )


def multiply(
    builder: Builder,
    shape: Shape,
    grid: tuple[int, ...],
    a: str | Streamed,
    w: str,
    reason: str,
    name: str = "result",
    share: int = 1,
    base: int = 0,
) -> tuple[str, View]:
    """
    Matrix kernel, exchange of partials and reduction, operands being in place, or the left one streamed;
    returns the result and its view.
    """
    where = layouts(shape, grid, builder.machine, share, base)
    kp = used_grid(shape, grid)[3]
    view = shape.product
    product = _Product(builder, shape, where, kp, a, w, reason)
    if kp == 1:
        partial = product.partials()
        if shape.partial == shape.result_dtype:
            return partial, _without_parts(view)
        result = builder.add_buffer(name, where.result, shape.result_dtype, "activations")
        axes = {"b": 0, "m": 1, "n": 2}
        builder.compute(
            "cast",
            "bmn",
            [(partial, {"b": 1, "m": 2, "n": 3})],
            [(result, axes)],
            f"{reason}: result type",
            scale=0,
            saturate=int(builder.operator.attributes.get("saturate", True)),
        )
        return result, view
    room = wide_partials(where.arrived, shape, builder.machine)
    arrived = product.arrived(room, stored_products(where))
    result = builder.add_buffer(name, where.result, shape.result_dtype, "activations")
    axes4 = {"p": 0, "b": 1, "m": 2, "n": 3}
    builder.compute(
        reducer(room.memory == "interleaved", False),
        "pbmn",
        [(arrived, axes4)],
        [(result, {"b": 0, "m": 1, "n": 2})],
        f"{reason}: add {kp} partials",
        **builder.operator.saturation,
    )
    return result, view


@dataclasses.dataclass(frozen=True)
class _Product:
    """A product on the blocks of a grid: its left operand in place or streamed, the right one in place."""

    builder: Builder
    shape: Shape
    where: Layouts
    parts: int
    """Of the contraction, each with a partial product of its own."""
    left: str | Streamed
    right: str
    reason: str

    def partials(self) -> str:
        """The matrix kernel; returns the buffer of its partials."""
        name = "partial" if self.parts > 1 else "product"
        partial = self.builder.add_buffer(name, self.where.partial, self.shape.partial, "partials")
        if isinstance(self.left, Streamed):
            self._in_pieces(self.left, partial, stored_products(self.where), (), f"{self.reason} pieces")
        else:
            matrix_kernel(self.builder, self.shape, self.left, self.right, partial, self.reason)
        return partial

    def arrived(self, room: Layout, target: View, others: Sequence[tuple[str, View, View]] = ()) -> str:
        """
        The matrix kernel and the exchange that brings its partials, and `others`, to where they are added up;
        returns the buffer that they arrive in.
        """
        gathered = f"{self.reason} partials"
        partial = "" if isinstance(self.left, Streamed) else self.partials()
        arrived = self.builder.add_buffer("arrived", room, self.shape.partial, "partials")
        if isinstance(self.left, Streamed):
            self._in_pieces(self.left, arrived, target, others, gathered)
        else:
            moves = [(partial, stored_products(self.where), target), *others]
            self.builder.gather_into(moves, arrived, gathered)
        return arrived

    def _in_pieces(
        self,
        left: Streamed,
        into: str,
        target: View,
        others: Sequence[tuple[str, View, View]],
        gathered: str,
    ) -> None:
        multiply_pieces(
            self.builder, self.shape, left, self.right, into, target, others, self.reason, gathered
        )


def _without_parts(view: View) -> View:
    """The same view onto storage axes (p, b, m, n) with a single part."""
    digits = tuple(tuple((size, axis + 1, stride) for size, axis, stride in ds) for ds in view.digits)
    return View(view.shape, digits, (0, *view.offsets))
