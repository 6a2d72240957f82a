# SPDX-License-Identifier: Apache-2.0
"""
What a program may consist of, checked before it is compiled: the operations of `tile_tensor`, `tile_repeat`
and `tile_layout`, on tensors of the element types that compile, and sequences of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from tilewright.diagnostics import TileError
from tilewright.dialects.tensor.base import ELEMENT_TYPES, tensor_type_fault
from tilewright.dialects.tile_layout import placement, verify_placement
from tilewright.dialects.tile_repeat import RepeatOp, SequenceType

OUR_PREFIXES = ("tile_tensor.", "tile_repeat.", "tile_layout.")

_INSTEAD = {
    "func.call": "tile-inline-calls puts the body of the called function in its place",
    "arith.constant": "`tile_tensor.constant dense<...> : tensor<...>` makes a constant",
    "tensor.empty": "results of tile_tensor operations need no storage made for them",
}


class UnsupportedProgram(TileError):
    """An operation or a type that no compilation takes."""


def operation_name(op: Operation) -> str:
    """`dialect.name`, for unregistered operations as well."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def foreign_operations(function: FuncOp) -> Iterator[Operation]:
    """The operations of a program that are none of ours, in order; not what lies in their regions."""

    def inside(op: Operation) -> Iterator[Operation]:
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    if inner.name.startswith(OUR_PREFIXES):
                        yield from inside(inner)
                    elif inner.name != "func.return":
                        yield inner

    yield from inside(function)


def check_operations(function: FuncOp) -> None:
    """`UnsupportedProgram` at the first operation that is none of ours."""
    for op in foreign_operations(function):
        raise unsupported(op)


def unsupported(op: Operation, why: str | None = None) -> UnsupportedProgram:
    """The refusal of a foreign operation."""
    name = operation_name(op)
    return UnsupportedProgram(
        f"{name} has no lowering to tiles",
        location=op,
        notes=(
            *([why] if why else []),
            "programs consist of operations of tile_tensor, tile_repeat and tile_layout, and func.return",
        ),
        hint=_INSTEAD.get(name, "convert it to tile_tensor operations first"),
    )


def check_types(function: FuncOp, machine: str | None = None) -> None:
    """
    `UnsupportedProgram` where the function or one of our operations has a value that does not compile, one
    whose layout the machine (name or file) does not have the tiles for, or one that a repeat carries and that
    no iteration could write.
    """
    for number, type_ in enumerate(function.function_type.inputs):
        _check(type_, f"argument {number}", function, machine)
    for number, type_ in enumerate(function.function_type.outputs):
        _check(type_, f"result {number}", function, machine)
    for op in function.walk():
        if not op.name.startswith(OUR_PREFIXES):
            continue
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    _check(argument.type, f"argument {argument.index} of the body", op, machine)
        if isinstance(op, RepeatOp):
            _check_carried(op)
        for result in op.results:
            _check(result.type, f"the result of {op.name}", op, machine)


def check_placed(function: FuncOp) -> None:
    """`UnsupportedProgram` at a foreign operation that does not take placed tensors."""
    for op in foreign_operations(function):
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as error:
            text = str(error).removeprefix("Operation does not verify: ").rstrip()
            raise unsupported(op, f"it takes no placed tensors: {text}") from error


def type_fault(type_: Attribute) -> str | None:
    """Why a program cannot have values of this type; None where it can."""
    while isinstance(type_, SequenceType):
        type_ = type_.element
    return tensor_type_fault(type_)


def _check_carried(repeat: RepeatOp) -> None:
    """Every iteration writes what it carries."""
    for argument in repeat.carried_args:
        placed = placement(argument.type)
        if placed is not None and not placed[1].is_injective():
            raise UnsupportedProgram(
                f"carried value {argument.index}: view '{placed[1]}' gives several elements one place, "
                "no iteration can write it",
                location=repeat,
            )


def _check(type_: Attribute, what: str, where: Operation, machine: str | None) -> None:
    fault = type_fault(type_)
    if fault is not None:
        raise UnsupportedProgram(
            f"{what} has the type {type_}, which does not compile: {fault}",
            location=where,
            notes=(f"element types: {', '.join(ELEMENT_TYPES)}",),
        )
    try:
        verify_placement(type_, what, machine)
    except VerifyException as error:
        raise UnsupportedProgram(str(error), location=where) from error
