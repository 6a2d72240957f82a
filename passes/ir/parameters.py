# SPDX-License-Identifier: Apache-2.0
"""Parameters of a program that a pass makes from others, or leaves without a reader."""

from __future__ import annotations

from abc import abstractmethod
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, BlockArgument

from tilewright.diagnostics import TileError
from tilewright.dialects.entry import (
    PARAMETER_ATTRIBUTE,
    SCALE_ATTRIBUTE,
    Argument,
    Entry,
    argument_attributes,
)
from tilewright.dialects.nearest import convert
from tilewright.frontends.program_folder import read_tensors, write_tensors
from tilewright.options import option
from tilewright.passes.ir.programs import ProgramPass

Array = NDArray[Any]


class FoldError(TileError):
    """Parameters without values."""


@dataclass(frozen=True)
class FoldingPass(ProgramPass):
    """A pass that makes parameters of a program from others, whose values it is given in a file."""

    parameters: str | None = option(None, "values of the parameters (.safetensors)")
    into: str | None = option(None, "write the parameters, the new ones among them, to this file")

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        if self.parameters is None:
            raise FoldError(f"{self.name} needs the values of the parameters", hint="parameters=FILE")
        values = dict(read_tensors(Path(self.parameters)))
        added = self.fold(op, values)
        if self.into is not None:
            write_tensors(Path(self.into), {**values, **added})

    @abstractmethod
    def fold(self, module: ModuleOp, parameters: Mapping[str, Array]) -> Mapping[str, NDArray[np.float32]]:
        """Rewrite a program in place; returns the values of its new parameters, f32."""


class MadeValues(Mapping[str, NDArray[np.float32]]):
    """
    Tensors by name that are worked out whenever they are asked for: those that one pass makes for all layers
    of a model, held at once, take more memory than compiling it.
    """

    def __init__(self) -> None:
        self._makers: dict[str, Callable[[], NDArray[np.float32]]] = {}

    def add(self, name: str, maker: Callable[[], NDArray[np.float32]]) -> None:
        """The tensor `name` is what `maker` gives, the same each time."""
        self._makers[name] = maker

    def __getitem__(self, name: str) -> NDArray[np.float32]:
        return self._makers[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def over(self, given: Mapping[str, Array]) -> Mapping[str, Array]:
        """These tensors and the others of `given`."""
        return ChainMap(cast("MutableMapping[str, Array]", self), cast("MutableMapping[str, Array]", given))


def given_value(argument: Argument, name: str, parameters: Mapping[str, Array]) -> Array:
    """The tensor that a parameter is loaded from. Raises FoldError where it is missing."""
    if name not in parameters:
        raise FoldError(
            f"the parameter {name!r} has no value", location=argument.location, hint="give its file"
        )
    return parameters[name]


def program_value(argument: Argument, parameters: Mapping[str, Array]) -> Array:
    """What the program sees of a parameter that is one tensor: in its element type, its scale applied."""
    element = cast("TensorType[Attribute]", argument.type).element_type
    return convert(given_value(argument, argument.name, parameters), str(element), argument.scale)


def add_parameter(entry: Entry, name: str, type_: TensorType[Any], scale: int = 0) -> BlockArgument:
    """A new last argument of the entry function, loaded from the tensor `name`, times `2^-scale`."""
    function = entry.func
    attributes = _attributes(entry)
    value = function.body.block.insert_arg(type_, len(attributes))
    scaled = {SCALE_ATTRIBUTE: IntegerAttr(scale, i32)} if scale else {}
    attributes.append({PARAMETER_ATTRIBUTE: StringAttr(name), **scaled})
    _set_attributes(entry, attributes)
    return value


def set_scale(entry: Entry, value: BlockArgument, scale: int) -> None:
    """Load a parameter with another scale."""
    attributes = _attributes(entry)
    attributes[value.index] |= {SCALE_ATTRIBUTE: IntegerAttr(scale, i32)}
    _set_attributes(entry, attributes)


def drop_unread(entry: Entry, arguments: Iterable[Argument]) -> list[str]:
    """Takes those of these parameters away that nothing reads; returns their names."""
    unread = [argument for argument in arguments if not argument.value.uses]
    attributes = _attributes(entry)
    for argument in sorted(unread, key=lambda found: found.value.index, reverse=True):
        del attributes[argument.value.index]
        entry.func.body.block.erase_arg(argument.value)
    _set_attributes(entry, attributes)
    return [name for argument in unread for name in argument.names]


def _attributes(entry: Entry) -> list[dict[str, Attribute]]:
    function = entry.func
    return [argument_attributes(function.arg_attrs, i) for i in range(len(function.args))]


def _set_attributes(entry: Entry, attributes: list[dict[str, Attribute]]) -> None:
    entry.func.arg_attrs = ArrayAttr([DictionaryAttr(given) for given in attributes])
    entry.func.update_function_type()
