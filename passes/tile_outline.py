# SPDX-License-Identifier: Apache-2.0
"""
Parts what is compiled for tiles from the foreign code around it.

Connected operations of ours in foreign functions become functions of their own, each called where it stood;
conversions to and from tensors stay in the foreign code. Then every program (a function of ours that foreign
code calls, or nobody) moves into a nested module with the attribute `tile.program`, and the host keeps a
declaration for its calls. A module that is one program, and nothing else, is left as it is.

    func.func @host(%m: memref<4x8xf16>) -> memref<4x8xf16> {
      %x = bufferization.to_tensor %m : memref<4x8xf16> to tensor<4x8xf16>
      %y = func.call @host_tiles_0(%x) : (tensor<4x8xf16>) -> tensor<4x8xf16>
      ...
    }
    func.func private @host_tiles_0(tensor<4x8xf16>) -> tensor<4x8xf16>
    builtin.module attributes {tile.program = "host_tiles_0", tile.machine = "t16"} {
      func.func @host_tiles_0(%x: tensor<4x8xf16>) -> tensor<4x8xf16> { ... }
    }
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from tilewright.dialects.tile_tensor import ConstantOp
from tilewright.instrumentation import remark
from tilewright.passes.ir.programs import OURS, PROGRAM, Census, is_declared, is_ours, scopes
from tilewright.passes.ir.tensors import MACHINE, nearest_machine
from tilewright.passes.tile_inline_calls import inline_calls


@dataclass(frozen=True)
class TileOutlinePass(ModulePass):
    """Move programs, and regions of ours in foreign functions, into modules of their own."""

    name = "tile-outline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for module in scopes(op):
            outline(module)
            inline_calls(module)
            isolate(module, nested=module is not op)


# -- regions in foreign functions


def outline(module: ModuleOp) -> None:
    """Make functions of the connected operations of ours in the foreign functions of a module."""
    taken = {op.sym_name.data for op in module.ops if isinstance(op, FuncOp)}
    census = Census.of(module)
    for function in census.mixed():
        name, number, last = function.sym_name.data, 0, function
        scanner = _Scanner(function, frozenset(census.ours))
        components = scanner.components()
        if len(components) > 1:
            remark(
                "missed",
                f"what tiles compute in `@{name}` stays in {len(components)} pieces: foreign operations lie"
                " between them, or they have nothing in common",
                function.location,
                pieces=len(components),
            )
        for component in components:
            while (fresh := f"{name}_tiles_{number}") in taken:
                number += 1
            taken.add(fresh)
            made = _outlined(component, fresh)
            if made is not None:
                remark(
                    "conversion",
                    f"{len(component)} operations of `@{name}` are the function `@{fresh}`",
                    made.location,
                    operations=len(component),
                )
                Rewriter.insert_op(made, InsertPoint.after(last))
                last = made
        for constant in [op for op in function.walk() if isinstance(op, ConstantOp)]:
            if constant.result.first_use is None:
                Rewriter.erase_op(constant)


class _Scanner:
    """Looks for what to outline from one function; `callable` names the functions of ours."""

    def __init__(self, function: FuncOp, callable: Container[str]) -> None:
        self.function = function
        self.callable = callable
        self.found: list[list[Operation]] = []
        self.exported: set[Operation] = set()

    def components(self) -> list[list[Operation]]:
        """
        Connected operations of ours, by block: all that can run together at the place of the last of them.
        What a foreign operation reads ends its component, so that no foreign operation moves.
        """
        self.part_constants()
        for block in self.function.body.blocks:
            self.scan(block)
        return self.found

    def movable(self, op: Operation) -> bool:
        return is_ours(op, self.callable) and not op.has_trait(IsTerminator)

    def part_constants(self) -> None:
        """Constants that foreign operations read get a copy for these: the others go where they are read."""
        for constant in [op for op in self.function.walk() if isinstance(op, ConstantOp)]:
            foreign = {use.operation for use in constant.result.uses if not self.movable(use.operation)}
            parent = constant.parent_op()
            if foreign and not (parent is not None and self.movable(parent)):
                copy = constant.clone()
                self.exported.add(copy)
                Rewriter.insert_op(copy, InsertPoint.after(constant))
                constant.result.replace_uses_with_if(copy.result, lambda u, f=foreign: u.operation in f)

    def scan(self, block: Block) -> None:
        joinable: dict[Operation, list[Operation]] = {}
        order = {op: i for i, op in enumerate(block.ops)}
        for op in tuple(block.ops):
            if self.movable(op):
                if not isinstance(op, ConstantOp) or op in self.exported:
                    self.join(op, joinable, order)
                continue
            for inner in op.walk():
                for producer in _producers(inner):
                    for member in joinable.get(producer, ()):
                        joinable.pop(member, None)
            for region in op.regions:
                for nested in region.blocks:
                    self.scan(nested)

    def join(
        self, op: Operation, joinable: dict[Operation, list[Operation]], order: dict[Operation, int]
    ) -> None:
        parts = {id(c): c for p in _producers(op) if (c := joinable.get(p)) is not None}
        members = sorted((member for part in parts.values() for member in part), key=order.__getitem__)
        members.append(op)
        self.found = [c for c in self.found if id(c) not in parts]
        self.found.append(members)
        joinable.update(dict.fromkeys(members, members))


def _producers(op: Operation) -> list[Operation]:
    return [owner for operand in op.operands if isinstance(owner := operand.owner, Operation)]


def _outlined(ops: list[Operation], name: str) -> FuncOp | None:
    """The operations in a function, with a call in the place of the last; None (and no operation) if dead."""
    inside = set(ops)
    read = dict.fromkeys(v for op in ops for v in op.operands if v.owner not in inside)
    constants = [v for v in read if isinstance(v.owner, ConstantOp)]
    inputs = [v for v in read if v not in constants]
    outputs = [r for op in ops for r in op.results if any(u.operation not in inside for u in r.uses)]
    if outputs:
        call = CallOp(name, inputs, [value.type for value in outputs])
        call.location = ops[-1].location
        Rewriter.insert_op(call, InsertPoint.before(ops[-1]))
        for value, result in zip(outputs, call.results, strict=True):
            result.name_hint = value.name_hint
            value.replace_uses_with_if(result, lambda use: use.operation not in inside)
    else:
        for op in reversed(ops):
            Rewriter.erase_op(op)
        return None
    body = Block(arg_types=[value.type for value in inputs])
    replaced: list[tuple[SSAValue, SSAValue]] = list(zip(inputs, body.args, strict=True))
    for constant in constants:
        assert isinstance(constant.owner, ConstantOp)
        copy = constant.owner.clone()
        body.add_op(copy)
        replaced.append((constant, copy.result))
    for op in ops:
        op.detach()
        body.add_op(op)
    for value, inner in replaced:
        inner.name_hint = value.name_hint
        value.replace_uses_with_if(inner, lambda use: use.operation in inside)
    body.add_op(ReturnOp(*outputs))
    types = ([value.type for value in inputs], [value.type for value in outputs])
    function = FuncOp(name, types, Region(body))
    function.location = ops[0].location
    return function


# -- programs in modules of their own


def isolate(module: ModuleOp, *, nested: bool) -> None:
    """Give each program of a module a module of its own, unless that is what the module is."""
    census = Census.of(module)
    wanted = census.referenced()
    helpers = census.helpers()
    roots = [name for name, f in census.ours.items() if name not in helpers and (name in wanted or _does(f))]
    if not roots or (not nested and not census.host and len(roots) == 1):
        return
    machine = nearest_machine(module)
    if not census.host and len(roots) == 1:
        _mark(module, roots[0], machine)
        return
    for name in roots:
        function = census.ours[name]
        if name in wanted:
            types = function.function_type
            declared = FuncOp.external(name, types.inputs.data, types.outputs.data)
            declared.location = function.location
            Rewriter.insert_op(declared, InsertPoint.before(function))
        remark("conversion", f"`@{name}` is a program in a module of its own", function.location)
        function.detach()
        program = ModuleOp([function])
        program.location = function.location
        _mark(program, name, machine)
        module.body.block.add_op(program)


def _mark(program: ModuleOp, name: str, machine: str | None) -> None:
    program.attributes[PROGRAM] = StringAttr(name)
    if machine is not None:
        program.attributes[MACHINE] = StringAttr(machine)


def _does(function: FuncOp) -> bool:
    """Whether a function is a program by itself: one that does something, or says that it is one."""
    return is_declared(function) or any(op.name.startswith(OURS) for op in function.walk())
