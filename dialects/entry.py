# SPDX-License-Identifier: Apache-2.0
"""
The function that a program runs, and what its arguments and results are called.

    func.func @main(
        %x: tensor<4x8xf16> {tile_tensor.input = "image"},
        %w: tensor<8x8xf8E4M3FNUZ> {tile_tensor.parameter = "dense", tile_tensor.scale = -3 : i32},
        %g: !tile_repeat.sequence<2 x tensor<8xf16>> {tile_tensor.parameter = ["norm.0", "norm.1"]}
      ) -> (tensor<4x8xf16> {tile_tensor.output = "features"})

A parameter keeps its value between runs and is loaded once, from the tensors it names; its program value is
`round(tensor * 2^-scale)`. Every other argument is an input, called `arg<position>` unless named; results
are called `out<position>` unless named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, UnknownLoc, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation

from tilewright.diagnostics import TileError
from tilewright.dialects.tile_repeat import SequenceType

PARAMETER_ATTRIBUTE = "tile_tensor.parameter"
SCALE_ATTRIBUTE = "tile_tensor.scale"
INPUT_ATTRIBUTE = "tile_tensor.input"
OUTPUT_ATTRIBUTE = "tile_tensor.output"

SMALLEST_SCALE, LARGEST_SCALE = -32, 31


class ProgramError(TileError):
    """The module has no usable entry function, or its argument attributes are wrong."""


@dataclass(frozen=True)
class Argument:
    """One argument of the entry function."""

    kind: Literal["parameter", "input"]
    names: tuple[str, ...]
    """
    The tensor it is loaded from; for a sequence of parameters one name per member, nested sequences row-
    major.
    """
    value: BlockArgument
    scale: int = 0
    """The program sees `tensor * 2^-scale`."""

    @property
    def name(self) -> str:
        """The name of an input, or the first name of a parameter (none for a sequence of no members)."""
        return self.names[0] if self.names else ""

    @property
    def location(self) -> Attribute | None:
        """Where it stands in the text: its own location, or that of its function."""
        function = self.value.block.parent_op()
        if function is not None and isinstance(self.value.location, UnknownLoc):
            return function.location
        return self.value.location

    @property
    def type(self) -> Attribute:
        """A tensor type or a sequence of them."""
        return self.value.type


@dataclass(frozen=True)
class Entry:
    """The entry function, its arguments in order, and the names of its results in order."""

    func: FuncOp
    arguments: tuple[Argument, ...]
    outputs: tuple[str, ...]

    @property
    def parameters(self) -> tuple[Argument, ...]:
        """The arguments that persist."""
        return tuple(argument for argument in self.arguments if argument.kind == "parameter")

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The arguments that each run brings."""
        return tuple(argument for argument in self.arguments if argument.kind == "input")

    @property
    def return_op(self) -> Operation:
        """The terminator, whose operands are the outputs."""
        return cast("Operation", self.func.body.block.last_op)


def entry_function(module: ModuleOp) -> FuncOp:
    """The function `main`, or the only one with a body. Raises `ProgramError`."""
    functions = [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks]
    for function in functions:
        if function.sym_name.data == "main":
            return function
    if len(functions) == 1:
        return functions[0]
    if not functions:
        raise ProgramError("the module has no function with a body", location=module.location)
    names = ", ".join("@" + function.sym_name.data for function in functions)
    raise ProgramError(
        f"the module has {len(functions)} functions and none is @main: {names}",
        location=functions[1].location,
        hint="call the one to run @main, or part them with tile-outline",
    )


def default_input_name(position: int) -> str:
    """What an input without a name is called; `position` counts all arguments."""
    return f"arg{position}"


def argument_attributes(attributes: ArrayAttr[DictionaryAttr] | None, position: int) -> dict[str, Attribute]:
    """The dictionary of one argument or result, empty if there is none."""
    return dict(attributes.data[position].data) if attributes is not None else {}


def read_entry(module: ModuleOp) -> Entry:
    """The entry function with its names, checked. Raises `ProgramError`."""
    function = entry_function(module)
    block = function.body.blocks.first
    if block is None or len(function.body.blocks) != 1:
        raise ProgramError(
            f"@{function.sym_name.data} has {len(function.body.blocks)} blocks, a program has one",
            location=function.location,
            hint="repetition is written with tile_repeat.repeat",
        )
    arguments = tuple(read_argument(function, value) for value in block.args)
    outputs = tuple(
        _read_output(function, position) for position in range(len(function.function_type.outputs.data))
    )
    _refuse_twins(function, "inputs", [a.name for a in arguments if a.kind == "input"])
    _refuse_twins(function, "outputs", outputs)
    return Entry(function, arguments, outputs)


def read_argument(function: FuncOp, value: BlockArgument) -> Argument:
    """One argument of a function with its attributes, checked. Raises `ProgramError`."""
    attributes = argument_attributes(function.arg_attrs, value.index)
    named = attributes.get(PARAMETER_ATTRIBUTE)
    if named is None:
        name = attributes.get(INPUT_ATTRIBUTE, StringAttr(default_input_name(value.index)))
        if not isinstance(name, StringAttr):
            raise _wrong(value, INPUT_ATTRIBUTE, "a string", name)
        if SCALE_ATTRIBUTE in attributes:
            raise _wrong(value, SCALE_ATTRIBUTE, "only on parameters", attributes[SCALE_ATTRIBUTE])
        return Argument("input", (name.data,), value)
    if INPUT_ATTRIBUTE in attributes:
        raise _wrong(value, INPUT_ATTRIBUTE, "absent on a parameter", attributes[INPUT_ATTRIBUTE])
    names = _parameter_names(value, named)
    scale = attributes.get(SCALE_ATTRIBUTE)
    if scale is None:
        return Argument("parameter", names, value)
    if not isinstance(scale, IntegerAttr) or not SMALLEST_SCALE <= scale.value.data <= LARGEST_SCALE:
        raise _wrong(value, SCALE_ATTRIBUTE, f"an integer from {SMALLEST_SCALE} to {LARGEST_SCALE}", scale)
    member = value.type.tensor if isinstance(value.type, SequenceType) else value.type
    if scale.value.data and getattr(member, "element_type", None) == i1:
        raise _wrong(value, SCALE_ATTRIBUTE, "for numbers", scale)
    return Argument("parameter", names, value, scale.value.data)


def _parameter_names(value: BlockArgument, named: Attribute) -> tuple[str, ...]:
    if not isinstance(value.type, SequenceType):
        if not isinstance(named, StringAttr):
            raise _wrong(value, PARAMETER_ATTRIBUTE, "the name of one tensor", named)
        return (named.data,)
    count = prod(value.type.counts)
    members = cast("Sequence[Attribute]", named.data) if isinstance(named, ArrayAttr) else ()
    names = tuple(member.data for member in members if isinstance(member, StringAttr))
    if not isinstance(named, ArrayAttr) or len(names) != len(members) or len(names) != count:
        raise _wrong(value, PARAMETER_ATTRIBUTE, f"an array of {count} names", named)
    return names


def _read_output(function: FuncOp, position: int) -> str:
    name = argument_attributes(function.res_attrs, position).get(
        OUTPUT_ATTRIBUTE, StringAttr(f"out{position}")
    )
    if not isinstance(name, StringAttr):
        raise ProgramError(
            f"result {position}: `{OUTPUT_ATTRIBUTE}` is a string, found {name}", location=function.location
        )
    return name.data


def _wrong(value: BlockArgument, attribute: str, expected: str, found: Attribute) -> ProgramError:
    return ProgramError(
        f"argument {value.index} ({value.type}): `{attribute}` is {expected}, found {found}",
        location=value.location,
    )


def _refuse_twins(function: FuncOp, what: str, names: Sequence[str]) -> None:
    seen: list[str] = []
    for name in names:
        if name in seen:
            raise ProgramError(f"two {what} are called {name!r}", location=function.location)
        seen.append(name)
