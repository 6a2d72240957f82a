# SPDX-License-Identifier: Apache-2.0
"""
The programs of a module, and what else is in it.

A program is one function of our operations in a module of its own. A module that holds nothing else is that
module. Where foreign code is around, or several programs, `tile-outline` gives each a nested module with the
attribute `tile.program`; every pass works on the programs of a module (`programs`) and leaves the rest as it
is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr, UnknownLoc
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.passes import ModulePass

from tilewright.diagnostics import TileError
from tilewright.dialects.program_check import type_fault

PROGRAM = "tile.program"
"""On a module: it holds one program, of this name, and nothing else."""

OURS = ("tile.", "tile_asm.", "tile_layout.", "tile_repeat.", "tile_tensor.")
"""Prefixes of the names of our operations, and of our attributes."""


def programs(module: ModuleOp) -> tuple[ModuleOp, ...]:
    """
    The modules of one program each, in order: those inside that are marked, or else the module itself. None
    where all is foreign: several operations at the top of a module, and nothing of ours among them.
    """
    if PROGRAM in module.attributes:
        return (module,)
    marked = tuple(op for op in module.walk() if isinstance(op, ModuleOp) and PROGRAM in op.attributes)
    return marked or ((module,) if len(module.ops) < 2 or _concerns_us(module) else ())


def _concerns_us(module: ModuleOp) -> bool:
    return any(
        op.name.startswith(OURS) or (isinstance(op, FuncOp) and is_declared(op)) for op in module.walk()
    )


def program_name(module: ModuleOp) -> str | None:
    """The name of a marked program; None for a module that is not marked."""
    name = module.attributes.get(PROGRAM)
    return name.data if isinstance(name, StringAttr) else None


def scopes(module: ModuleOp) -> tuple[ModuleOp, ...]:
    """The module and all inside of it that are no marked programs: each is a table of symbols."""
    found = [op for op in module.walk() if isinstance(op, ModuleOp)]
    return tuple(op for op in found if PROGRAM not in op.attributes)


class ProgramPass(ModulePass):
    """
    A pass that works on one program at a time, and on every program of a module.

    Errors about an operation without a source location (xDSL's own parser gives none, builders neither) quote
    the operation.
    """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _check_outlined(op)
        for program in programs(op):
            _tell_apart(program)
            try:
                self.apply_to_program(ctx, program)
            except TileError as error:
                error.notes = (*error.notes, *_quoted(program, error.location))
                raise

    @abstractmethod
    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        """Work on a module that is one program."""


def _check_outlined(module: ModuleOp) -> None:
    """Refuse a module whose `main` is foreign and whose programs have not been parted from it."""
    if any(PROGRAM in op.attributes for op in module.walk() if isinstance(op, ModuleOp)):
        return
    census = Census.of(module)
    main = census.functions.get("main")
    if census.ours and main is not None and "main" not in census.ours:
        raise TileError(
            "@main is foreign code beside programs",
            location=main,
            notes=(f"programs: {', '.join(f'@{name}' for name in census.ours)}",),
            hint="run tile-outline first (tile-compile does it)",
        )


def _tell_apart(module: ModuleOp) -> None:
    """Give every operation an unknown location of its own: equal to all others, and yet to be found by."""
    for op in module.walk():
        if isinstance(op.location, UnknownLoc):
            op.location = UnknownLoc()


def _quoted(module: ModuleOp, location: object | None) -> tuple[str, ...]:
    if isinstance(location, Operation):
        location = location.location
    if not isinstance(location, UnknownLoc):
        return ()
    found = next((op for op in module.walk() if op.location is location), None)
    return (f"in `{quotation(found)}`",) if found is not None else ()


def quotation(op: Operation) -> str:
    """The first line of an operation's text, cut where it is long."""
    line = str(op).partition("\n")[0].rstrip(" {")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


_LONGEST = 160
"""Characters of an operation that are quoted."""


def is_ours(op: Operation, callable: Container[str] | None = None) -> bool:
    """
    Whether an operation is one of ours, with all that is in its regions: calls there are those of functions
    in `callable` (None: any).
    """
    return op.name.startswith(OURS) and all(
        inner.name.startswith(OURS)
        or (isinstance(inner, CallOp) and (callable is None or callee(inner) in callable))
        for inner in op.walk()
    )


def is_declared(function: FuncOp) -> bool:
    """Whether an attribute of ours on an argument or a result says that the function is a program."""
    for attributes in (function.arg_attrs, function.res_attrs):
        for entry in attributes or ():
            if any(name.startswith(OURS) for name in entry.data):
                return True
    return False


def callee(call: CallOp) -> str:
    """The name of the called function."""
    return call.callee.root_reference.data


def calls(function: FuncOp) -> Iterator[CallOp]:
    """The calls in a function, at any depth, in order."""
    return (op for op in function.walk() if isinstance(op, CallOp))


@dataclass(frozen=True)
class Census:
    """
    What a module (one table of symbols) holds: functions with a body by name, those of ours among them, and
    the operations beside the functions of ours. Functions of ours hold our operations, on types that compile,
    and calls to each other; or they say that they are programs, whatever they hold.
    """

    module: ModuleOp
    functions: dict[str, FuncOp]
    ours: dict[str, FuncOp]
    host: tuple[Operation, ...]

    @staticmethod
    def of(module: ModuleOp) -> Census:
        functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks}
        ours = {name: f for name, f in functions.items() if is_declared(f) or _only_ours(f)}
        while stray := [n for n, f in ours.items() if not is_declared(f) and not _calls_within(f, ours)]:
            for name in stray:
                del ours[name]
        members = set(ours.values())
        host = tuple(
            op
            for op in module.ops
            if op not in members
            and not op.name.startswith(OURS)
            and not (isinstance(op, ModuleOp) and PROGRAM in op.attributes)
        )
        return Census(module, functions, ours, host)

    def referenced(self) -> set[str]:
        """Names that foreign code refers to, in calls and in any attribute, also as `@module::@name`."""
        inside = {names[0] for op in self.host for inner in op.walk() for names in _symbols_of(inner)}
        outermost = self.module.get_toplevel_object()
        if outermost is self.module or not isinstance(outermost, Operation):
            return inside
        return inside | {names[-1] for op in outermost.walk() for names in _symbols_of(op) if names[1:]}

    def helpers(self) -> set[str]:
        """Functions of ours that only functions of ours call: `main` is none, whoever calls it."""
        called = {callee(c) for f in self.ours.values() for c in calls(f)}
        return {n for n in self.ours if n in called and n != "main"} - self.referenced()

    def mixed(self) -> tuple[FuncOp, ...]:
        """Foreign functions with operations of ours inside."""
        return tuple(
            op
            for op in self.host
            if isinstance(op, FuncOp) and any(inner.name.startswith(OURS) for inner in op.walk())
        )


def _only_ours(function: FuncOp) -> bool:
    if len(function.body.blocks) != 1:
        return False
    types = (*function.function_type.inputs, *function.function_type.outputs)
    if any(type_fault(type_) is not None for type_ in types):
        return False
    return all(is_ours(op) or op.name in ("func.call", "func.return") for op in function.body.block.ops)


def _calls_within(function: FuncOp, ours: dict[str, FuncOp]) -> bool:
    return all(callee(call) in ours for call in calls(function))


def _symbols_of(op: Operation) -> Iterator[tuple[str, ...]]:
    """The symbols that the attributes of an operation name, each with the names of its path."""
    for attribute in (*op.properties.values(), *op.attributes.values()):
        yield from _symbols(attribute)


def _symbols(attribute: Attribute) -> Iterator[tuple[str, ...]]:
    match attribute:
        case SymbolRefAttr():
            yield (attribute.root_reference.data, *(name.data for name in attribute.nested_references))
        case ArrayAttr():
            for entry in attribute.data:
                yield from _symbols(entry)
        case DictionaryAttr():
            for entry in attribute.data.values():
                yield from _symbols(entry)
        case ParametrizedAttribute():
            for parameter in attribute.parameters:
                yield from _symbols(parameter)
        case _:
            return
