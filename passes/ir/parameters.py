# SPDX-License-Identifier: Apache-2.0
"""Parameters of a program that a pass makes from others, or leaves without a reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from numpy.typing import NDArray
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, TensorType, i32
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

Array = NDArray[Any]


class FoldError(TileError):
    """Parameters without values."""


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
