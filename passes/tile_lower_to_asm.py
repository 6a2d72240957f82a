# SPDX-License-Identifier: Apache-2.0
"""
Lowers placed tile operations to the machine program: encoded exchange rows, argument tables, supervisor body,
host bindings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue

from tilewright.backends import program as asm
from tilewright.backends.fabric import FABRICS
from tilewright.backends.image import encode_supervisor
from tilewright.backends.rows import Rows, require_relocatable
from tilewright.dialects.entry import entry_function
from tilewright.dialects.reference import constant_array
from tilewright.dialects.tile import (
    AllocOp,
    BindOp,
    ComputeOp,
    ExchangeOp,
    Map,
    Place,
    RepeatOp,
    buffer_type,
    owner_alloc,
    placed_in,
)
from tilewright.dialects.tile_asm import program_to_module
from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels import kernel
from tilewright.options import MACHINE_OPTION, option
from tilewright.passes.ir.exchange import phase_buffers, phase_schedule
from tilewright.passes.ir.lives import instruction_lives
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.tensors import LoweringError, machine_of
from tilewright.passes.tile_allocate_memory import SUPPORT, member_stride
from tilewright.planning.layout import View
from tilewright.planning.layout.padding import PadRegion, pad_region
from tilewright.planning.operators.base import round_up
from tilewright.planning.stages import Buffer, call_extents, flat_extents


@dataclass(frozen=True)
class TileLowerToAsmPass(ProgramPass):
    """Lower tile operations to the machine program."""

    name = "tile-lower-to-asm"
    machine: str | None = option(None, MACHINE_OPTION)

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op, self.machine)
        program = _Assembler(machine, machine.reference).assemble(entry_function(op))
        lowered = program_to_module(program)
        for old in list(op.body.block.ops):
            if isinstance(old, FuncOp):
                old.detach()
                old.erase(safe_erase=False)
        for new in list(lowered.body.block.ops):
            new.detach()
            op.body.block.add_op(new)
        op.attributes.update(lowered.attributes)


class _Assembler:
    def __init__(self, machine: Machine, machine_name: str) -> None:
        self.machine = machine
        self.machine_name = machine_name
        self.tables: list[asm.Table] = []
        self.extents: dict[bytes, str] = {}
        self.rows: dict[bytes, str] = {}
        self.bindings: list[asm.Binding] = []
        self.constants: list[asm.Constant] = []
        self.placed: list[asm.Placed] = []
        self.kernels: dict[str, None] = {}
        self.arguments = 0
        self.patches = 0
        self.pending: dict[RepeatOp, list[asm.Patch]] = {}

    def assemble(self, function: FuncOp) -> asm.Program:
        support = function.attributes.get(SUPPORT)
        if not isinstance(support, DictionaryAttr):
            raise LoweringError(
                "memory is not allocated", location=function.location, hint="run tile-allocate-memory first"
            )
        where = {
            name: value.value.data for name, value in support.data.items() if isinstance(value, IntegerAttr)
        }
        kernels = sorted({op.kernel.data for op in function.walk() if isinstance(op, ComputeOp)})
        wanted = ("arguments", "supervisor", "supervisor bytes", *(f"code {name}" for name in kernels))
        missing = [name for name in wanted if name not in where]
        if missing:
            raise LoweringError(
                f"`{SUPPORT}` has no integer {missing[0]!r}",
                location=function.location,
                hint="run tile-allocate-memory, which writes it",
            )
        self.arguments, self.patches = where["arguments"], where.get("patches", 0)
        body = self.block(function.body.block, ())
        code = tuple(
            asm.Code(name, where[f"code {name}"], kernel(name).code_bytes) for name in sorted(self.kernels)
        )
        for item in code:
            self.placed.append(asm.Placed(f"code {item.kernel}", item.address, item.nbytes, "code"))
        for op, (first, last) in instruction_lives(function).items():
            self.placed.append(self.placed_buffer(op, first, last))
        program = asm.Program(
            self.machine_name,
            function.sym_name.data,
            code,
            where["supervisor"],
            tuple(self.tables),
            tuple(self.bindings),
            (),
            body,
            tuple(self.constants),
        )
        words = encode_supervisor(program).words
        if 4 * len(words) > where["supervisor bytes"]:
            raise LoweringError(
                f"the supervisor program has {4 * len(words)} bytes; "
                f"{where['supervisor bytes']} were reserved"
            )
        self.placed.append(asm.Placed("supervisor program", where["supervisor"], 4 * len(words), "code"))
        for table in self.tables:
            self.placed.append(asm.Placed(table.name, table.address, table.nbytes, _table_category(table)))
        return asm.Program(
            program.machine,
            program.name,
            program.code,
            program.supervisor_address,
            program.tables,
            program.bindings,
            tuple(sorted((p for p in self.placed if p.nbytes), key=lambda p: (p.address, p.name))),
            program.body,
            program.constants,
        )

    def placed_buffer(self, op: AllocOp, first: int, last: int) -> asm.Placed:
        type_ = buffer_type(op.result)
        nbytes = round_up(type_.shard_bytes, 4) + member_stride(op) * (type_.count - 1) if type_.count else 0
        name, category = op.buffer_name.data, op.category.data
        return asm.Placed(name, _address(op.result), nbytes, category, first, last, str(type_.layout))

    # -- instructions

    def block(self, block: Block, repeats: tuple[RepeatOp, ...]) -> tuple[asm.Instruction, ...]:
        result: list[asm.Instruction] = []
        for op in block.ops:
            match op:
                case ComputeOp():
                    result.append(self.call(op, repeats))
                case ExchangeOp():
                    result.append(self.exchange(op))
                case RepeatOp():
                    result.append(self.repeat(op, repeats))
                case BindOp():
                    result += self.bind(op, repeats)
                case _:
                    continue
        return tuple(result)

    def operand(self, value: SSAValue, axes: Map, repeats: tuple[RepeatOp, ...]) -> asm.Operand:
        place = placed_in(value)
        type_ = buffer_type(value)
        moves = dict(place.steps)
        steps = tuple(member_stride(place.alloc) * moves.get(r, 0) for r in repeats) if moves else ()
        if "flat" in axes:
            return asm.Operand(_address(value), "u32", (((0, 1),),), steps)
        if "pad" in axes:
            region = self.padding(value, axes)
            return asm.Operand(_address(value) + region.offset, "u32", region.axes, steps)
        digits = tuple(type_.layout.strides(axis) if axis >= 0 else ((0, 0),) for axis in axes.values())
        return asm.Operand(_address(value), type_.dtype, digits, steps)

    def padding(self, value: SSAValue, axes: Map) -> PadRegion:
        type_ = buffer_type(value)
        region = pad_region(type_.layout, axes["pad"], itemsize(type_.dtype), self.machine.tiles)
        if region is None:
            raise LoweringError(
                f"the padding of storage axis {axes['pad']} of {type_.layout} is not one region of words"
            )
        return region

    def call(self, op: ComputeOp, repeats: tuple[RepeatOp, ...]) -> asm.Call:
        self.kernels[op.kernel.data] = None
        operands = op.operand_maps()
        names = op.axes.data.split()
        n, tiles = op.n_ins, self.machine.tiles
        if any("flat" in axes for _, axes in operands):
            type_ = buffer_type(operands[-1][0])
            extents = flat_extents(Buffer(type_.layout, type_.dtype), tiles)
        elif any("pad" in axes for _, axes in operands):
            extents = self.padding(*operands[-1]).extents
        else:
            described = [(buffer_type(value).layout, axes) for value, axes in operands]
            extents = call_extents(names, described[:n], described[n:], tiles)
        placed = [self.operand(value, axes, repeats) for value, axes in operands]
        scalars = tuple((k, v) for k, v in op.scalar_values() if k != "run_bytes")
        return asm.Call(
            op.kernel.data,
            tuple(placed[:n]),
            tuple(placed[n:]),
            scalars,
            self.extents_table(extents.astype(np.uint32)),
            op.reason.data,
        )

    def extents_table(self, words: np.ndarray) -> str:
        key = words.shape[1].to_bytes(2, "little") + words.tobytes()
        if key not in self.extents:
            name = f"extents{len(self.extents)}"
            self.extents[key] = name
            self.tables.append(asm.Table(name, self.arguments, words, "arguments"))
            self.arguments += 4 * round_up(words.shape[1], 2)
        return self.extents[key]

    def exchange(self, op: ExchangeOp) -> asm.Exchange:
        if op.row_address is None:
            raise LoweringError(
                "an exchange has no row address", location=op.location, hint="run tile-allocate-memory first"
            )
        schedule = phase_schedule(op, self.machine)
        buffers = phase_buffers(op)
        addresses = np.array([_address(b) for b in buffers], np.int64)
        rows = FABRICS.of(self.machine).encode(schedule, addresses, self.machine)
        needed, reserved = 4 * int(rows.lengths.max(initial=0)), op.row_bytes
        if reserved is None or needed > reserved.value.data:
            raise LoweringError(
                f"the rows of this phase have {needed} bytes; "
                f"{0 if reserved is None else reserved.value.data} were reserved",
                location=op.location,
                hint="run tile-schedule-exchange and tile-allocate-memory again",
            )
        moving = [(i, place) for i, place in enumerate(map(placed_in, buffers)) if place.steps]
        # Equal rows say that the same buffers are at the same places, so that one copy serves both phases.
        key = rows.words.shape[1].to_bytes(4, "little") + rows.words.tobytes()
        if not moving and key in self.rows:
            return asm.Exchange(self.rows[key], op.reason.data, op.reason.data)
        name = f"rows{sum(1 for t in self.tables if t.category == 'rows')}"
        self.tables.append(asm.Table(name, op.row_address.value.data, rows.words, "rows"))
        for i, place in moving:
            for repeat, members in place.steps:
                step = member_stride(place.alloc) * members
                require_relocatable(rows, i, step, repeat.iterations, self.machine)
            self.patch(name, rows, i, place)
        if not moving:
            self.rows[key] = name
        return asm.Exchange(name, op.reason.data, op.reason.data)

    def patch(self, name: str, rows: Rows, buffer: int, place: Place) -> None:
        """Patches of the sends from one buffer: a table for those in words, one for those in 8-byte items."""
        kinds: tuple[tuple[Literal["restarts", "paired_restarts"], int, str], ...] = (
            ("restarts", 4, ""),
            ("paired_restarts", 8, "p"),
        )
        for kind, size, suffix in kinds:
            positions = rows.positions(buffer, kind)
            if not positions.shape[1]:
                continue
            positions = np.pad(
                positions, ((0, 0), (0, positions.shape[1] % 2)), constant_values=asm.NO_POSITION
            )
            table = f"{name}.patch{buffer}{suffix}"
            self.tables.append(asm.Table(table, self.patches, positions, "patch tables"))
            self.patches += 4 * positions.shape[1]
            for repeat, members in place.steps:
                patch = asm.Patch(name, table, member_stride(place.alloc) * members // size)
                self.pending.setdefault(repeat, []).append(patch)

    def repeat(self, op: RepeatOp, repeats: tuple[RepeatOp, ...]) -> asm.Repeat:
        body = self.block(op.body.block, (*repeats, op))
        return asm.Repeat(op.repeat_name.data, op.iterations, body, tuple(self.pending.pop(op, ())))

    def bind(self, op: BindOp, repeats: tuple[RepeatOp, ...]) -> list[asm.Instruction]:
        alloc, _ = owner_alloc(op.buffer)
        type_ = buffer_type(op.buffer)
        view = View.parse(op.view.data)
        names = op.names
        kind = op.kind.data
        name = names[0] if names else alloc.buffer_name.data
        if kind == "value":
            name = f"{name}#{sum(1 for b in self.bindings if b.kind == 'value')}"
        elif kind == "parameter":
            name = f"parameter {name}"
        count = type_.count
        if kind == "value" and (steps := placed_in(op.buffer).steps):
            # a member of a sequence that was updated in place; a tap knows the innermost repeat alone
            if steps != ((repeats[-1], 1),):
                return []
            count = repeats[-1].iterations
        if op.contents is not None:
            self.constants.append(asm.Constant(names[0], _contents(op.contents, view.shape)))
        self.bindings.append(
            asm.Binding(
                name,
                kind,  # type: ignore[arg-type]
                _address(op.buffer),
                type_.dtype,
                str(type_.layout),
                op.view.data,
                (*op.counts, *view.shape),
                names,
                count,
                member_stride(alloc) if count > 1 else 0,
                op.scale.value.data,
            )
        )
        return [asm.Tap(names[0], name)] if kind == "value" else []


def _address(buffer: SSAValue) -> int:
    """The address of a buffer (in the first iteration of the repeats that run through it)."""
    place = placed_in(buffer)
    if place.alloc.address is None:
        raise LoweringError(
            "a buffer has no address", location=place.alloc.location, hint="run tile-allocate-memory first"
        )
    return place.alloc.address.value.data + place.first * member_stride(place.alloc)


def _contents(attribute: object, shape: tuple[int, ...]) -> np.ndarray:
    """A dense attribute as an array of its element type."""
    assert isinstance(attribute, DenseIntOrFPElementsAttr)
    found = constant_array(attribute)
    whole = found.size == math.prod(shape)
    return (found.reshape(shape) if whole else np.broadcast_to(found, shape)).copy()


def _table_category(table: asm.Table) -> str:
    return {"rows": "rows", "patch tables": "patch tables"}.get(table.category, "code")
