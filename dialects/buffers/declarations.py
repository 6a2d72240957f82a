# SPDX-License-Identifier: Apache-2.0
"""Operations of the `tile` dialect that declare storage: allocations and what the host sees of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.backends.program import BINDING_KINDS
from tilewright.diagnostics import TileError
from tilewright.dialects.buffers.types import (
    BufferType,
    buffer_type,
    parse_attributes,
    parse_buffer_type,
    parse_view,
)
from tilewright.machine.dtypes import itemsize
from tilewright.planning.layout import View

CATEGORIES = ("parameters", "activations", "staging", "partials")


@irdl_op_definition
class AllocOp(IRDLOperation):
    """A buffer; its address is the same on every tile."""

    name = "tile.alloc"
    buffer_name = prop_def(StringAttr)
    category = prop_def(StringAttr)
    address = opt_prop_def(IntegerAttr)
    stride = opt_prop_def(IntegerAttr)
    result = result_def(BufferType)

    def __init__(
        self,
        name: str,
        category: str,
        buffer: BufferType,
        address: int | None = None,
        stride: int | None = None,
    ) -> None:
        props: dict[str, Attribute] = {"buffer_name": StringAttr(name), "category": StringAttr(category)}
        if address is not None:
            props["address"] = IntegerAttr(address, i64)
        if stride is not None:
            props["stride"] = IntegerAttr(stride, i64)
        super().__init__(result_types=[buffer], properties=props)

    def verify_(self) -> None:
        if self.category.data not in CATEGORIES:
            raise VerifyException(f"category {self.category.data!r} is none of {', '.join(CATEGORIES)}")
        least = self.result.type.shard_bytes
        if self.stride is not None and self.stride.value.data < least:
            raise VerifyException(
                f"members of {least} bytes overlap where they begin every {self.stride.value.data}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> AllocOp:
        name = parser.parse_str_literal()
        category = parser.parse_identifier()
        address = parser.parse_integer() if parser.parse_optional_keyword("at") else None
        stride = parser.parse_integer() if parser.parse_optional_keyword("stride") else None
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type_ = parse_buffer_type(parser)
        op = cls(name, category, type_, address, stride)
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.buffer_name.data)
        printer.print_string(f" {self.category.data}")
        if self.address is not None:
            printer.print_string(f" at 0x{self.address.value.data:x}")
        if self.stride is not None:
            printer.print_string(f" stride {self.stride.value.data}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class BindOp(IRDLOperation):
    """
    Gives a buffer to the host: a parameter, input, output or constant, or a value that can be looked at
    (`value`).
    """

    name = "tile.bind"
    buffer = operand_def(BufferType)
    kind = prop_def(StringAttr)
    view = prop_def(StringAttr)
    tensors = prop_def(ArrayAttr[StringAttr])
    scale = prop_def(IntegerAttr)
    members = opt_prop_def(ArrayAttr[IntegerAttr])
    """
    Counts of an input or output that is a sequence (nested: outermost first): leading axes of the host's
    array.
    """
    contents = opt_prop_def(Attribute)

    def __init__(
        self,
        kind: str,
        buffer: SSAValue,
        view: View | str,
        tensors: Sequence[str],
        scale: int = 0,
        contents: Attribute | None = None,
        members: Sequence[int] | None = None,
    ) -> None:
        props: dict[str, Attribute] = {
            "kind": StringAttr(kind),
            "view": StringAttr(str(view)),
            "tensors": ArrayAttr([StringAttr(t) for t in tensors]),
            "scale": IntegerAttr(scale, i64),
        }
        if contents is not None:
            props["contents"] = contents
        if members is not None:
            props["members"] = ArrayAttr([IntegerAttr(n, i64) for n in members])
        super().__init__(operands=[buffer], properties=props)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(t.data for t in self.tensors)

    @property
    def counts(self) -> tuple[int, ...]:
        """The leading axes of the host's array; none for a single tensor."""
        return () if self.members is None else tuple(n.value.data for n in self.members)

    def verify_(self) -> None:
        if self.kind.data not in BINDING_KINDS:
            raise VerifyException(f"kind {self.kind.data!r} is none of {', '.join(BINDING_KINDS)}")
        count = buffer_type(self.buffer).count
        if self.kind.data == "parameter" and len(self.tensors) != count:
            raise VerifyException(f"{len(self.tensors)} tensors are named for a buffer of {count}")
        if not self.tensors and (self.kind.data != "parameter" or count):
            raise VerifyException(f"a binding of kind {self.kind.data} names what it is bound to")
        if self.members is not None and math.prod(self.counts) != count:
            raise VerifyException(f"members {list(self.counts)} for a buffer of {count}")
        storage, axes = View.parse(self.view.data).offsets, buffer_type(self.buffer).layout.axes
        if len(storage) != len(axes):
            raise VerifyException(f"view is onto {len(storage)} storage axes, the layout has {len(axes)}")
        try:
            View.parse(self.view.data).check_inside(buffer_type(self.buffer).layout.shape)
        except TileError as error:
            raise VerifyException(error.message) from error
        self._verify_contents()

    def _verify_contents(self) -> None:
        contents = self.contents
        if (contents is not None) != (self.kind.data == "constant"):
            raise VerifyException("a constant, and nothing else, has contents")
        if contents is None:
            return
        if not isinstance(contents, DenseIntOrFPElementsAttr):
            raise VerifyException("the contents of a constant are `dense<...> : tensor<...>`")
        dtype, count = buffer_type(self.buffer).dtype, math.prod(View.parse(self.view.data).shape)
        if str(contents.get_element_type()) != dtype:
            raise VerifyException(f"contents of {contents.get_element_type()} for a buffer of {dtype}")
        if len(contents.data.data) not in (itemsize(dtype), count * itemsize(dtype)):
            raise VerifyException(f"the contents do not fill the {count} elements of the constant")

    @classmethod
    def parse(cls, parser: Parser) -> BindOp:
        kind = parser.parse_identifier()
        operand = parser.parse_unresolved_operand()
        parser.parse_characters("view")
        view = parse_view(parser)
        parser.parse_characters("tensors")
        tensors = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
        members = None
        if parser.parse_optional_keyword("members"):
            members = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        scale = parser.parse_integer() if parser.parse_optional_keyword("scale") else 0
        contents = parser.parse_attribute() if parser.parse_optional_keyword("contents") else None
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type_ = parse_buffer_type(parser)
        op = cls(kind, parser.resolve_operand(operand, type_), view.data, tensors, scale, contents, members)
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_ssa_value(self.buffer)
        printer.print_string(" view ")
        printer.print_string_literal(self.view.data)
        printer.print_string(" tensors [")
        printer.print_list(self.names, printer.print_string_literal)
        printer.print_string("]")
        if self.members is not None:
            printer.print_string(f" members {list(self.counts)}")
        if self.scale.value.data:
            printer.print_string(f" scale {self.scale.value.data}")
        if self.contents is not None:
            printer.print_string(" contents ")
            printer.print_attribute(self.contents)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)
