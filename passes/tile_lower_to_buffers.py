# SPDX-License-Identifier: Apache-2.0
"""
Lowers placed tensor operations to the tile dialect: buffers, kernels, exchanges, in execution order.

Every operation is expanded to stages by its planner, with the record and the layouts that planning wrote into
the IR; stages become operations one to one. Carried values of a repeat are updated in place: the body ends
with a copy into the carried buffer. Sequences stay sequences, their current member is the repeat's block
argument.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from xdsl.builder import Builder as IRBuilder
from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FunctionType,
    ModuleOp,
    TensorType,
    f32,
    i32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tilewright.diagnostics import TileError
from tilewright.dialects import tile
from tilewright.dialects.entry import Entry, entry_function, read_entry
from tilewright.dialects.program_check import check_types, unsupported
from tilewright.dialects.tile import AllocOp, BindOp, BufferType, ComputeOp, ExchangeOp
from tilewright.dialects.tile_repeat import MemberOp, PackOp, RepeatOp, SequenceType
from tilewright.instrumentation import remark
from tilewright.machine import Machine
from tilewright.options import MACHINE_OPTION, option
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.tensors import (
    LoweringError,
    carried_in_place,
    choice_of,
    collected_sequence,
    dtype_of,
    machine_of,
    operator_of,
    placement,
    tensor_of,
    value_name,
)
from tilewright.planning import in_place
from tilewright.planning.graph import Placement
from tilewright.planning.layout import View
from tilewright.planning.operators import VIEWS, Choice, is_planned
from tilewright.planning.operators.base import Operator
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.movement import expand_convert
from tilewright.planning.operators.targets import flat_layout
from tilewright.planning.operators.views import apply_view
from tilewright.planning.stages import Buffer, ComputeStage, ExchangeStage, KernelOperand, Stages, Value

Stored = tuple[SSAValue, View]
"""A buffer and the view through which a tensor is seen in it."""

_ELEMENTS = {"f32": f32, "i32": i32}
"""Element types that a plan's own constants may have."""


@dataclass(frozen=True)
class TileLowerToBuffersPass(ProgramPass):
    """Lower tensor operations to buffers, kernels and exchanges."""

    name = "tile-lower-to-buffers"
    machine: str | None = option(None, MACHINE_OPTION)

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op, self.machine)
        check_types(entry_function(op), machine.reference)
        entry = read_entry(op)
        function = lower_entry(entry, machine)
        block = entry.func.parent_block()
        assert block is not None
        block.insert_op_before(function, entry.func)
        entry.func.detach()
        entry.func.erase(safe_erase=False)


def lower_entry(entry: Entry, machine: Machine) -> FuncOp:
    """
    The entry function on buffers: a new function, in no module. The program it is made from stays as it is.
    """
    return _Lowering(machine).lower_entry(entry)


class _Lowering:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.env: dict[SSAValue, Stored] = {}
        self.top = Block()
        self.at = IRBuilder(InsertPoint.at_end(self.top))
        self.location: object = None
        self.constants = 0
        self.waiting: dict[SSAValue, Operation] = {}
        """Materialised operands that their only reader takes from the home."""

    # -- emission

    def emit(self, op: Operation) -> Operation:
        if self.location is not None:
            op.location = self.location  # type: ignore[assignment]
        return self.at.insert(op)

    def alloc(self, name: str, buffer: Buffer, count: int = 1, category: str | None = None) -> SSAValue:
        op = AllocOp(name, category or buffer.category, BufferType((buffer.dtype, buffer.layout, count)))
        self.emit(op)
        hint = "".join(c if c.isascii() and c.isalnum() else "_" for c in name.rpartition(".")[2])
        op.result.name_hint = hint if hint and not hint[0].isdigit() else f"b{hint}"
        return op.result

    # -- program

    def lower_entry(self, entry: Entry) -> FuncOp:
        self.location = entry.func.location
        for argument in entry.arguments:
            where = placement(argument.value)
            if where is None:
                raise LoweringError(
                    f"argument {argument.name!r} has no layout",
                    location=argument.location,
                    hint="run tile-plan-layouts first",
                )
            layout, view = where
            tensor = tensor_of(argument.value)
            buffer = Buffer(layout, dtype_of(tensor.element_type))
            category = "parameters" if argument.kind == "parameter" else "activations"
            counts = argument.value.type.counts if isinstance(argument.value.type, SequenceType) else None
            value = self.alloc(argument.name, buffer, math.prod(counts or ()), category)
            members = counts if argument.kind == "input" else None
            self.emit(BindOp(argument.kind, value, view, argument.names, argument.scale, members=members))
            self.env[argument.value] = (value, view)
        self.lower_block(entry.func.body.block)
        for name, value in zip(entry.outputs, entry.return_op.operands, strict=True):
            buffer, view = self.env[value]
            members = value.type.counts if isinstance(value.type, SequenceType) else None
            self.emit(BindOp("output", buffer, view, (name,), members=members))
        self.emit(ReturnOp())
        function = FuncOp(entry.func.sym_name.data, FunctionType.from_lists([], []), Region([self.top]))
        function.location = entry.func.location
        return function

    def lower_block(self, block: Block) -> None:
        for op in block.ops:
            self.location = op.location
            try:
                self.lower_op(op)
            except TileError as error:
                if error.location is None:
                    error.location = op.location
                raise

    def lower_op(self, op: Operation) -> None:
        kind = op.name.partition(".")[2]
        if isinstance(op, RepeatOp):
            self.lower_repeat(op)
        elif isinstance(op, PackOp):
            self.lower_pack(op)
        elif isinstance(op, MemberOp):
            self.lower_member(op)
        elif kind == "constant" and op.name.startswith("tile_tensor."):
            self.lower_constant(op)
        elif op.name.startswith("tile_tensor.") and kind in VIEWS:
            self.lower_view(op)
        elif op.name.startswith("tile_tensor."):
            self.lower_operator(op)
        elif op.name == "tile_layout.home":
            self.env[op.results[0]] = self.env[op.operands[0]]
        elif op.name == "tile_layout.materialize" and _read_by_one_operation(op):
            self.waiting[op.results[0]] = op
        elif op.name in ("tile_layout.convert", "tile_layout.materialize"):
            self.lower_convert(op)
        elif op.name in ("func.return", "tile_repeat.yield"):
            pass
        else:
            raise unsupported(op)

    def stored(self, value: SSAValue) -> tuple[SSAValue, Value]:
        """The buffer behind a tensor and its placed value."""
        if value not in self.env:
            raise LoweringError(
                "a value has no storage",
                location=value.owner.location if isinstance(value.owner, Operation) else None,
            )
        buffer, view = self.env[value]
        type_ = tile.buffer_type(buffer)
        return buffer, Value(Buffer(type_.layout, type_.dtype), view, buffer)

    def lower_constant(self, op: Operation) -> None:
        where = placement(op.results[0])
        if where is None:
            return  # nobody reads it
        layout, view = where
        contents = op.properties["value"]
        name = f"constant{self.constants}"
        self.constants += 1
        saved, self.at = self.at, IRBuilder(InsertPoint.at_start(self.top))
        value = self.alloc(
            "constant", Buffer(layout, dtype_of(tensor_of(op.results[0]).element_type)), 1, "parameters"
        )
        self.emit(BindOp("constant", value, view, (name,), 0, contents))
        self.at = saved
        self.env[op.results[0]] = (value, view)

    def lower_view(self, op: Operation) -> None:
        buffer, value = self.stored(op.operands[0])
        operator = operator_of(op)
        view = apply_view(operator, value.view)
        if view is None:
            buffer, flat = self.make_flat(buffer, value, op)
            view = apply_view(operator, flat)
            assert view is not None
        self.env[op.results[0]] = (buffer, view)

    def make_flat(self, buffer: SSAValue, value: Value, op: Operation) -> Stored:
        """The value as a row-major sequence, on which every reshape is a view."""
        target = flat_layout(value.shape, value.dtype, self.machine)
        remark("fallback", f"no view of `{value_name(op)}`: its operand is copied row by row", op)
        operator = Operator("convert", {}, ((value.shape, value.dtype),), ((value.shape, value.dtype),))
        stages = expand_convert(operator, target, (value,), self.machine)
        (result,) = self.lower_stages(stages, (buffer,), value_name(op))
        return result

    def lower_convert(self, op: Operation) -> None:
        buffer, value = self.stored(op.operands[0])
        where = placement(op.results[0])
        if where is None:
            raise LoweringError("the result of a conversion needs a layout", location=op.location)
        remark("conversion", f"{value.buffer.layout} becomes {where[0]}", op)
        operator = Operator("convert", {}, ((value.shape, value.dtype),), ((value.shape, value.dtype),))
        (self.env[op.results[0]],) = self.lower_stages(
            expand_convert(operator, where, (value,), self.machine), (buffer,), "convert"
        )

    def lower_operator(self, op: Operation) -> None:
        operator = operator_of(op)
        choice = choice_of(op, operator)
        if choice is None:
            raise LoweringError(
                f"{op.name} has no plan", location=op.location, hint="run tile-plan-layouts first"
            )
        stages, stored = self.expand_from_homes(op, operator, choice)
        name = value_name(op)
        results = self.lower_stages(stages, tuple(buffer for buffer, _ in stored), name)
        for result, (buffer, view) in zip(op.results, results, strict=True):
            self.env[result] = (buffer, view)
            if result.first_use is not None:
                self.emit(BindOp("value", buffer, view, (name,)))

    def expand_from_homes(
        self, op: Operation, operator: Operator, choice: Choice
    ) -> tuple[Stages, list[tuple[SSAValue, Value]]]:
        """
        The stages of an operation and what its operands are stored in.

        An operand that is materialised for this operation alone comes straight from its home, in the exchange
        that brings the other operands, unless the plan depends on its layout or a kernel reads it in place.
        """
        waiting = [i for i, v in enumerate(op.operands) if v in self.waiting]
        if waiting:
            direct = [
                self.stored(self.waiting[v].operands[0] if v in self.waiting else v) for v in op.operands
            ]
            stages = _expand_unless_refused(choice, operator, [v for _, v in direct], self.machine)
            expected = [placement(result) for result in op.results]
            if stages is not None:
                found = [(stages.buffer(name).layout, view) for name, view in stages.results]
                read = [
                    o.buffer for s in stages.stages if isinstance(s, ComputeStage) for o in (*s.ins, *s.outs)
                ]
                if found == expected and not any(f"in{i}" in read for i in waiting):
                    return stages, direct
            for i in waiting:
                if op.operands[i] not in self.env:
                    self.lower_convert(self.waiting[op.operands[i]])
        stored = [self.stored(v) for v in op.operands]
        return choice.expand(operator, tuple(v for _, v in stored), self.machine), stored

    def lower_stages(self, stages: Stages, operands: tuple[SSAValue, ...], name: str) -> list[Stored]:
        """Emit the buffers and operations of an expansion; returns its results."""
        buffers: dict[str, SSAValue] = {f"in{i}": b for i, b in enumerate(operands)}
        for key, buffer in stages.buffers.items():
            if key in stages.constants:
                buffers[key] = self.constant(f"{name}.{key}", buffer, stages.constants[key])
            else:
                buffers[key] = self.alloc(f"{name}.{key}", buffer)
        for stage in stages.stages:
            if isinstance(stage, ExchangeStage):
                self.emit(
                    ExchangeOp(
                        f"{name}: {stage.reason}",
                        [(buffers[m.src], m.src_view, buffers[m.dst], m.dst_view) for m in stage.moves],
                    )
                )
            else:
                self.emit(_compute(stage, buffers, name))
        return [(buffers[key], view) for key, view in stages.results]

    def constant(self, name: str, buffer: Buffer, contents: np.ndarray) -> SSAValue:
        """
        A buffer that a plan needs filled from the start, such as the number of the first row that a tile
        owns.
        """
        type_ = TensorType(_ELEMENTS[buffer.dtype], contents.shape)
        value = DenseIntOrFPElementsAttr.from_list(type_, contents.ravel().tolist())
        saved, self.at = self.at, IRBuilder(InsertPoint.at_start(self.top))
        result = self.alloc(name, buffer, 1, "parameters")
        self.emit(
            BindOp(
                "constant", result, View.identity(contents.shape), (f"constant{self.constants}",), 0, value
            )
        )
        self.constants += 1
        self.at = saved
        return result

    # -- repeats

    def lower_repeat(self, op: RepeatOp) -> None:
        carried, invariant = len(op.carried_args), len(op.invariant_args)
        count = op.iterations
        buffers: list[SSAValue] = []
        for i, argument in enumerate(op.carried_args):
            where = placement(argument)
            assert where is not None
            name = argument.name_hint or f"carried{i}"
            if self.stays(op, i, where):
                buffers.append(self.env[op.operands[i]][0])
                self.env[argument] = self.env[op.operands[i]]
                continue
            buffer = self.alloc(
                f"{op.repeat_name.data}.{name}",
                Buffer(where[0], dtype_of(tensor_of(argument).element_type)),
                1,
                "activations",
            )
            self.move_into(op.operands[i], buffer, where[1], f"initial {name}")
            buffers.append(buffer)
            self.env[argument] = (buffer, where[1])
        for i, argument in enumerate(op.invariant_args):
            self.env[argument] = self.env[op.operands[carried + i]]
        collected: list[SSAValue] = []
        kept = self.kept_members(op)
        for i, value in enumerate(op.yield_op.operands[carried:]):
            where = placement(op.collected_results[i])
            assert where is not None
            if i in kept:
                continue
            members = count * (math.prod(value.type.counts) if isinstance(value.type, SequenceType) else 1)
            collected.append(
                self.alloc(
                    f"{op.repeat_name.data}.collected{i}",
                    Buffer(where[0], dtype_of(tensor_of(value).element_type)),
                    members,
                    "activations",
                )
            )
        sequences = [self.env[v][0] for v in op.operands[carried + invariant :]]
        if count:
            self.lower_body(op, buffers, sequences, collected, kept)
        for i, result in enumerate(op.carried_results):
            where = placement(op.carried_args[i])
            assert where is not None
            self.env[result] = (buffers[i], where[1])
        made = iter(collected)
        for i, result in enumerate(op.collected_results):
            where = placement(result)
            assert where is not None
            self.env[result] = (sequences[kept[i]] if i in kept else next(made), where[1])

    def stays(self, op: RepeatOp, number: int, where: Placement) -> bool:
        """Whether a carried value that the body updates in place can be the buffer that it begins in."""
        buffer, view = self.env[op.operands[number]]
        type_ = tile.buffer_type(buffer)
        return in_place.stays(carried_in_place(op, number), (type_.layout, view), type_.count, where)

    def kept_members(self, op: RepeatOp) -> dict[int, int]:
        """Collected values that stay the members of an iterated sequence, by number."""
        outer = op.operands[len(op.carried_args) + len(op.invariant_args) :]
        return in_place.kept_members(
            [collected_sequence(op, i) for i in range(len(op.collected_results))],
            [placement(v) for v in op.collected_results],
            [placement(v) for v in op.iterated_args],
            [placement(v) for v in outer],
        )

    def lower_body(
        self,
        op: RepeatOp,
        buffers: list[SSAValue],
        sequences: list[SSAValue],
        collected: list[SSAValue],
        kept: dict[int, int],
    ) -> None:
        location, count = op.location, op.iterations
        carried, invariant = len(op.carried_args), len(op.invariant_args)
        block = Block(arg_types=[_member_type(s, count) for s in (*sequences, *collected)])
        for i, argument in enumerate(op.iterated_args):
            block.args[i].name_hint = argument.name_hint
            self.env[argument] = (block.args[i], self.env[op.operands[carried + invariant + i]][1])
        saved = self.at
        self.at = IRBuilder(InsertPoint.at_end(block))
        self.lower_block(op.body_block)
        self.location = op.yield_op.location
        made = iter(block.args[len(sequences) :])
        members: list[SSAValue] = [
            block.args[kept[i]] if i in kept else next(made) for i in range(len(op.collected_results))
        ]
        self.lower_yield(op, buffers, members)
        self.at = saved
        self.location = location
        self.emit(tile.RepeatOp(op.repeat_name.data, count, [*sequences, *collected], Region([block])))

    def lower_yield(self, op: RepeatOp, carried: list[SSAValue], members: list[SSAValue]) -> None:
        """Write the next carried values in place, and the collected ones into their member."""
        values = list(op.yield_op.operands)
        for value, member, result in zip(values[len(carried) :], members, op.collected_results, strict=True):
            where = placement(result)
            assert where is not None
            if self.env[value] != (member, where[1]):
                self.copy_into(value, member, where[1], "collected")
        ready: list[Stored] = []
        for i, value in enumerate(values[: len(carried)]):
            buffer, view = self.env[value]
            target = placement(op.carried_args[i])
            assert target is not None
            if buffer in carried and not (buffer is carried[i] and view == target[1]):
                # another carried value (or another view of this one) must not be overwritten before it is
                # read
                temporary = self.alloc(
                    f"{op.repeat_name.data}.next{i}", Buffer(target[0], tile.buffer_type(buffer).dtype)
                )
                self.move_into(value, temporary, target[1], "next carried value")
                ready.append((temporary, target[1]))
            else:
                ready.append((buffer, view))
        for i, (buffer, view) in enumerate(ready):
            target = placement(op.carried_args[i])
            assert target is not None
            if buffer is not carried[i]:
                self.move_stored((buffer, view), carried[i], target[1], "next carried value")

    def move_into(self, value: SSAValue, buffer: SSAValue, view: View, reason: str) -> None:
        self.move_stored(self.env[value], buffer, view, reason)

    def move_stored(self, stored: Stored, buffer: SSAValue, view: View, reason: str) -> None:
        """Bring a tensor into an existing buffer, converting its layout where it differs."""
        source = tile.buffer_type(stored[0])
        target = tile.buffer_type(buffer)
        values = (
            Value(Buffer(source.layout, source.dtype), stored[1]),
            Value(Buffer(target.layout, target.dtype), view),
        )
        operator = Operator("move", {}, ((view.shape, target.dtype),), ((view.shape, target.dtype),))
        builder = Builder(operator, values, self.machine)
        builder.gather_into([("in0", stored[1], view)], "in1", reason)
        self.lower_stages(builder.finish(), (stored[0], buffer), reason.replace(" ", "_"))

    def copy_into(self, value: SSAValue, member: SSAValue, view: View, reason: str) -> None:
        """
        A local copy into a member of a sequence (kernels can step through a sequence, receive pointers
        cannot).
        """
        self.copy_stored(self.env[value], member, view, reason)

    def copy_stored(self, stored: Stored, member: SSAValue, view: View, reason: str) -> None:
        type_ = tile.buffer_type(member)
        if type_.count != 1:
            self.copy_members(stored, member, view, reason)
            return
        if tile.buffer_type(stored[0]).layout != type_.layout or stored[1] != view:
            temporary = self.alloc(reason, Buffer(type_.layout, type_.dtype))
            self.move_stored(stored, temporary, view, reason)
            stored = (temporary, view)
        axes = {f"x{i}": i for i in range(len(type_.layout.axes))}
        self.emit(
            ComputeOp("copy", list(axes), [(stored[0], axes)], [(member, axes)], (("run_bytes", 8),), reason)
        )

    def copy_members(self, stored: Stored, sequence: SSAValue, view: View, reason: str) -> None:
        """Copy all members of a sequence to those of another."""
        count = tile.buffer_type(sequence).count
        if not count:
            return
        block = Block(arg_types=[_member_type(s, count) for s in (stored[0], sequence)])
        saved, self.at = self.at, IRBuilder(InsertPoint.at_end(block))
        self.copy_stored((block.args[0], stored[1]), block.args[1], view, reason)
        self.at = saved
        self.emit(tile.RepeatOp(reason, count, [stored[0], sequence], Region([block])))

    def lower_pack(self, op: PackOp) -> None:
        where = placement(op.result)
        assert where is not None
        layout, view = where
        type_ = op.result.type
        assert isinstance(type_, SequenceType)
        total = math.prod(type_.counts)
        buffer = self.alloc(
            "pack", Buffer(layout, dtype_of(tensor_of(op.result).element_type)), total, "activations"
        )
        for i, value in enumerate(op.members):
            member = self.emit(tile.MemberOp(buffer, i, total // len(op.members))).results[0]
            self.copy_into(value, member, view, "pack")
        self.env[op.result] = (buffer, view)

    def lower_member(self, op: MemberOp) -> None:
        buffer, view = self.env[op.sequence]
        count = math.prod(op.result.type.counts) if isinstance(op.result.type, SequenceType) else 1
        member = self.emit(tile.MemberOp(buffer, op.index.value.data, count)).results[0]
        self.env[op.result] = (member, view)


def _read_by_one_operation(op: Operation) -> bool:
    """Whether the result is read once, by an operation of the same block that has a planner."""
    user = op.results[0].get_user_of_unique_use()
    if user is None or user.parent_block() is not op.parent_block():
        return False
    return user.name.startswith("tile_tensor.") and is_planned(user.name.partition(".")[2])


def _expand_unless_refused(
    choice: Choice, operator: Operator, values: list[Value], machine: Machine
) -> Stages | None:
    try:
        return choice.expand(operator, tuple(values), machine)
    except TileError:
        return None


def _member_type(sequence: SSAValue, count: int) -> BufferType:
    """The type of one of `count` members of a sequence (which may be nested)."""
    type_ = tile.buffer_type(sequence)
    return BufferType((type_.dtype, type_.layout, type_.count // count))


def _compute(stage: ComputeStage, buffers: dict[str, SSAValue], name: str) -> ComputeOp:
    def operand(op: KernelOperand, axes: tuple[str, ...]) -> tuple[SSAValue, tile.Map]:
        if op.flat or op.pad:
            return buffers[op.buffer], {"flat": 0} if op.flat else {"pad": op.axes[0]}
        return buffers[op.buffer], dict(zip(axes, op.axes, strict=True))

    operands = [
        operand(op, axes) for op, axes in zip((*stage.ins, *stage.outs), stage.operand_axes, strict=True)
    ]
    n = len(stage.ins)
    return ComputeOp(
        stage.kernel, stage.axes, operands[:n], operands[n:], stage.scalars, f"{name}: {stage.reason}"
    )
