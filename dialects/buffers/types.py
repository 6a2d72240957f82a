# SPDX-License-Identifier: Apache-2.0
"""The type of the `tile` dialect, the axes of kernel operands, and how both are read."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Data, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.diagnostics import TileError
from tilewright.machine.dtypes import itemsize
from tilewright.planning.layout import Layout, View


@irdl_attr_definition
class BufferType(Data[tuple[str, Layout, int]], TypeAttribute):
    """
    Storage on tiles: element type, layout, and the number of members of a sequence (1: a single tensor).
    """

    name = "tile.buffer"

    @property
    def dtype(self) -> str:
        return self.data[0]

    @property
    def layout(self) -> Layout:
        return self.data[1]

    @property
    def count(self) -> int:
        return self.data[2]

    @property
    def shard_bytes(self) -> int:
        """Bytes of the largest shard of one member."""
        return self.layout.shard_bytes(itemsize(self.dtype))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, Layout, int]:
        with parser.in_angle_brackets():
            dtype = parser.parse_identifier()
            parser.parse_punctuation(",")
            start = parser.pos
            text = parser.parse_str_literal()
            try:
                layout = Layout.parse(text)
                itemsize(dtype)
            except (TileError, KeyError, ValueError) as error:
                parser.raise_error(str(error), start, parser.pos)
            count = parser.parse_integer(allow_boolean=False) if parser.parse_optional_punctuation(",") else 1
        return dtype, layout, count

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f'{self.dtype}, "{self.layout}"')
            if self.count != 1:
                printer.print_string(f", {self.count}")


def buffer_type(value: SSAValue) -> BufferType:
    """The type of a buffer value."""
    if not isinstance(value.type, BufferType):
        raise VerifyException(f"expected a tile.buffer, found {value.type}")
    return value.type


def parse_buffer_type(parser: Parser) -> BufferType:
    """A type, which must be that of a buffer."""
    start = parser.pos
    type_ = parser.parse_type()
    if not isinstance(type_, BufferType):
        parser.raise_error(f"expected a !tile.buffer type, found {type_}", start, parser.pos)
    return type_


def parse_buffer_types(parser: Parser, count: int) -> list[BufferType]:
    """`count` types of buffers."""
    start = parser.pos
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_buffer_type(parser))
    if len(types) != count:
        parser.raise_error(f"expected {count} types, found {len(types)}", start, parser.pos)
    return types


def parse_attributes(parser: Parser) -> dict[str, Attribute]:
    """`attributes {...}`: what an operation carries beyond its own properties."""
    found = parser.parse_optional_attr_dict_with_keyword()
    return {} if found is None else dict(found.data)


def parse_view(parser: Parser) -> StringAttr:
    """The text of a view, checked."""
    start = parser.pos
    text = parser.parse_str_literal()
    try:
        View.parse(text)
    except TileError as error:
        parser.raise_error(error.message, start, parser.pos)
    return StringAttr(text)


Map = dict[str, int]
"""Kernel axis -> storage axis of one operand; {"flat": 0} for the words of the shard."""


def map_text(axes: Map) -> str:
    """`m=1 k=2`, or `flat`."""
    return "flat" if "flat" in axes else " ".join(f"{name}={axis}" for name, axis in axes.items())


def parse_map(text: str) -> Map:
    """The inverse of `map_text`; VerifyException for other text."""
    if text == "flat":
        return {"flat": 0}
    result: Map = {}
    for item in text.split():
        name, equals, axis = item.partition("=")
        if not equals or not axis.lstrip("-").isdigit():
            raise VerifyException(f"operand axes read like 'm=1 k=2' or 'flat', not {text!r}")
        result[name] = int(axis)
    return result
