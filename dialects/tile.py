# SPDX-License-Identifier: Apache-2.0
"""
The `tile` dialect: how it is done. Buffers on tiles and the kernels and exchanges that fill them, in
execution order.

    %w = tile.alloc "w" parameters : !tile.buffer<f16, "[64/16@1, 32]">
    tile.bind parameter %w view "[64a, 32b]" tensors ["enc.w"]
    tile.exchange "operands" %w "[64a, 32b]" -> %a "[64a, 32b]"
    tile.compute "pointwise.add" (%a "x0=0 x1=1", %b "x0=0 x1=1") -> (%c "x0=0 x1=1") axes "x0 x1"
    tile.repeat "layers" count 4 sequences (%m = %ws) { ... }

A buffer's type holds its element type and layout (which tile, which byte); a sequence of them has a count.
Operands of a kernel name the storage axis behind each kernel axis (-1: broadcast; "flat": the words of the
shard; "pad=2": the words behind the last valid index of storage axis 2). Addresses (`at`) and the bytes of an
exchange's rows (`rows`) are filled in by later passes. The operations have effects; their order is the
program's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FloatAttr, IntegerAttr, StringAttr, f32, i64
from xdsl.ir import Attribute, Block, BlockArgument, Data, Dialect, Region, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from tilewright.diagnostics import TileError
from tilewright.machine.kernels import kernel
from tilewright.planning.dtypes import itemsize
from tilewright.planning.layout import Layout, View

CATEGORIES = ("parameters", "activations", "staging", "partials")
KINDS = ("parameter", "input", "output", "constant", "value")


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

    @classmethod
    def parse(cls, parser: Parser) -> AllocOp:
        name = parser.parse_str_literal()
        category = parser.parse_identifier()
        address = parser.parse_integer() if parser.parse_optional_keyword("at") else None
        stride = parser.parse_integer() if parser.parse_optional_keyword("stride") else None
        attributes = _parse_attributes(parser)
        parser.parse_punctuation(":")
        type_ = _parse_buffer_type(parser)
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


def _parse_buffer_type(parser: Parser) -> BufferType:
    start = parser.pos
    type_ = parser.parse_type()
    if not isinstance(type_, BufferType):
        parser.raise_error(f"expected a !tile.buffer type, found {type_}", start, parser.pos)
    return type_


def _parse_buffer_types(parser: Parser, count: int) -> list[BufferType]:
    start = parser.pos
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: _parse_buffer_type(parser))
    if len(types) != count:
        parser.raise_error(f"expected {count} types, found {len(types)}", start, parser.pos)
    return types


def _parse_attributes(parser: Parser) -> dict[str, Attribute]:
    """`attributes {...}`: what an operation carries beyond its own properties."""
    found = parser.parse_optional_attr_dict_with_keyword()
    return {} if found is None else dict(found.data)


def _parse_view(parser: Parser) -> StringAttr:
    start = parser.pos
    text = parser.parse_str_literal()
    try:
        View.parse(text)
    except TileError as error:
        parser.raise_error(error.message, start, parser.pos)
    return StringAttr(text)


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
        if self.kind.data not in KINDS:
            raise VerifyException(f"kind {self.kind.data!r} is none of {', '.join(KINDS)}")
        count = buffer_type(self.buffer).count
        if self.kind.data == "parameter" and len(self.tensors) != count:
            raise VerifyException(f"{len(self.tensors)} tensors are named for a buffer of {count}")
        if self.members is not None and math.prod(self.counts) != count:
            raise VerifyException(f"members {list(self.counts)} for a buffer of {count}")
        storage, axes = View.parse(self.view.data).offsets, buffer_type(self.buffer).layout.axes
        if len(storage) != len(axes):
            raise VerifyException(f"view is onto {len(storage)} storage axes, the layout has {len(axes)}")

    @classmethod
    def parse(cls, parser: Parser) -> BindOp:
        kind = parser.parse_identifier()
        operand = parser.parse_unresolved_operand()
        parser.parse_characters("view")
        view = _parse_view(parser)
        parser.parse_characters("tensors")
        tensors = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
        members = None
        if parser.parse_optional_keyword("members"):
            members = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        scale = parser.parse_integer() if parser.parse_optional_keyword("scale") else 0
        contents = parser.parse_attribute() if parser.parse_optional_keyword("contents") else None
        attributes = _parse_attributes(parser)
        parser.parse_punctuation(":")
        type_ = _parse_buffer_type(parser)
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


@irdl_op_definition
class ExchangeOp(IRDLOperation):
    """
    One exchange phase: regions of buffers go to regions of others. Operands alternate source and destination.
    """

    name = "tile.exchange"
    buffers = var_operand_def(BufferType)
    reason = prop_def(StringAttr)
    views = prop_def(ArrayAttr[StringAttr])
    row_bytes = opt_prop_def(IntegerAttr)
    row_address = opt_prop_def(IntegerAttr)

    def __init__(
        self,
        reason: str,
        moves: Sequence[tuple[SSAValue, View | str, SSAValue, View | str]],
        row_bytes: int | None = None,
        row_address: int | None = None,
    ) -> None:
        props: dict[str, Attribute] = {
            "reason": StringAttr(reason),
            "views": ArrayAttr([StringAttr(str(v)) for m in moves for v in (m[1], m[3])]),
        }
        if row_bytes is not None:
            props["row_bytes"] = IntegerAttr(row_bytes, i64)
        if row_address is not None:
            props["row_address"] = IntegerAttr(row_address, i64)
        super().__init__(operands=[[b for m in moves for b in (m[0], m[2])]], properties=props)

    def moves(self) -> Iterator[tuple[SSAValue, View, SSAValue, View]]:
        """(source, source view, destination, destination view) of each move."""
        views = [View.parse(v.data) for v in self.views]
        for i in range(0, len(self.buffers), 2):
            yield self.buffers[i], views[i], self.buffers[i + 1], views[i + 1]

    def verify_(self) -> None:
        if len(self.buffers) % 2 or len(self.buffers) != len(self.views):
            raise VerifyException("an exchange needs a source and a destination, each with a view, per move")
        for src, src_view, dst, dst_view in self.moves():
            a, b = buffer_type(src), buffer_type(dst)
            if a.dtype != b.dtype:
                raise VerifyException(
                    f"an exchange does not convert: source is {a.dtype}, destination {b.dtype}"
                )
            if src_view.shape != dst_view.shape:
                raise VerifyException(
                    f"source view has shape {src_view.shape}, destination view {dst_view.shape}"
                )
            for view, layout, side in ((src_view, a.layout, "source"), (dst_view, b.layout, "destination")):
                if len(view.offsets) != len(layout.axes):
                    raise VerifyException(
                        f"{side} view is onto {len(view.offsets)} storage axes, "
                        f"its layout has {len(layout.axes)}"
                    )

    @classmethod
    def parse(cls, parser: Parser) -> ExchangeOp:
        reason = parser.parse_str_literal()
        entries: list[tuple[object, StringAttr, object, StringAttr]] = []

        def entry() -> None:
            src = parser.parse_unresolved_operand()
            src_view = _parse_view(parser)
            parser.parse_punctuation("->")
            dst = parser.parse_unresolved_operand()
            entries.append((src, src_view, dst, _parse_view(parser)))

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, entry)
        row_bytes = parser.parse_integer() if parser.parse_optional_keyword("rows") else None
        row_address = parser.parse_integer() if parser.parse_optional_keyword("at") else None
        attributes = _parse_attributes(parser)
        parser.parse_punctuation(":")
        types = _parse_buffer_types(parser, 2 * len(entries))
        moves = []
        for i, (src, src_view, dst, dst_view) in enumerate(entries):
            s = parser.resolve_operand(src, types[2 * i])  # type: ignore[arg-type]
            d = parser.resolve_operand(dst, types[2 * i + 1])  # type: ignore[arg-type]
            moves.append((s, src_view.data, d, dst_view.data))
        op = cls(reason, moves, row_bytes, row_address)
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.reason.data)
        printer.print_string(" (")

        def move(i: int) -> None:
            printer.print_ssa_value(self.buffers[2 * i])
            printer.print_string(f' "{self.views.data[2 * i].data}" -> ')
            printer.print_ssa_value(self.buffers[2 * i + 1])
            printer.print_string(f' "{self.views.data[2 * i + 1].data}"')

        printer.print_list(range(len(self.buffers) // 2), move)
        printer.print_string(")")
        if self.row_bytes is not None:
            printer.print_string(f" rows {self.row_bytes.value.data}")
        if self.row_address is not None:
            printer.print_string(f" at 0x{self.row_address.value.data:x}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_list(self.buffers.types, printer.print_attribute)


Map = dict[str, int]
"""Kernel axis -> storage axis of one operand; {"flat": 0} for the words of the shard."""


def map_text(axes: Map) -> str:
    return "flat" if "flat" in axes else " ".join(f"{name}={axis}" for name, axis in axes.items())


def parse_map(text: str) -> Map:
    if text == "flat":
        return {"flat": 0}
    result: Map = {}
    for item in text.split():
        name, equals, axis = item.partition("=")
        if not equals or not axis.lstrip("-").isdigit():
            raise VerifyException(f"operand axes read like 'm=1 k=2' or 'flat', not {text!r}")
        result[name] = int(axis)
    return result


def scalar_attr(value: float) -> Attribute:
    return FloatAttr(value, f32) if isinstance(value, float) else IntegerAttr(int(value), i64)


@irdl_op_definition
class ComputeOp(IRDLOperation):
    """A kernel of the registry, on every tile that owns a part of its operands."""

    name = "tile.compute"
    buffers = var_operand_def(BufferType)
    kernel = prop_def(StringAttr)
    inputs = prop_def(IntegerAttr)
    axes = prop_def(StringAttr)
    maps = prop_def(ArrayAttr[StringAttr])
    scalars = prop_def(DictionaryAttr)
    reason = prop_def(StringAttr)

    def __init__(
        self,
        kernel: str,
        axes: Sequence[str],
        ins: Sequence[tuple[SSAValue, Map]],
        outs: Sequence[tuple[SSAValue, Map]],
        scalars: Sequence[tuple[str, int | float]] = (),
        reason: str = "",
    ) -> None:
        super().__init__(
            operands=[[b for b, _ in (*ins, *outs)]],
            properties={
                "kernel": StringAttr(kernel),
                "inputs": IntegerAttr(len(ins), i64),
                "axes": StringAttr(" ".join(axes)),
                "maps": ArrayAttr([StringAttr(map_text(m)) for _, m in (*ins, *outs)]),
                "scalars": DictionaryAttr({name: scalar_attr(value) for name, value in scalars}),
                "reason": StringAttr(reason),
            },
        )

    @property
    def n_ins(self) -> int:
        return self.inputs.value.data

    def operand_maps(self) -> list[tuple[SSAValue, Map]]:
        """Every operand, inputs first, with its axes."""
        return [(b, parse_map(m.data)) for b, m in zip(self.buffers, self.maps, strict=True)]

    def scalar_values(self) -> tuple[tuple[str, int | float], ...]:
        return tuple(
            (name, attr.value.data)  # type: ignore[union-attr]
            for name, attr in sorted(self.scalars.data.items())
        )

    def verify_(self) -> None:
        if len(self.maps) != len(self.buffers):
            raise VerifyException(f"{len(self.buffers)} operands but {len(self.maps)} axis maps")
        try:
            rules = kernel(self.kernel.data)
        except TileError as error:
            raise VerifyException(f"{error.message}; {error.hint}" if error.hint else error.message) from None
        have = (self.n_ins, len(self.buffers) - self.n_ins)
        want = (len(rules.ins), len(rules.outs))
        if have != want:
            raise VerifyException(
                f"kernel {self.kernel.data} has {want[0]} inputs and {want[1]} outputs, "
                f"not {have[0]} and {have[1]}"
            )
        names = self.axes.data.split()
        for value, axes in self.operand_maps():
            rank = len(buffer_type(value).layout.axes)
            if "flat" in axes:
                continue
            if "pad" in axes:
                if not 0 <= axes["pad"] < rank:
                    raise VerifyException(
                        f"padding of storage axis {axes['pad']} of a buffer that has {rank}"
                    )
                continue
            for name, axis in axes.items():
                if name not in names:
                    raise VerifyException(f"operand uses axis {name!r}; the call has axes {' '.join(names)}")
                if not -1 <= axis < rank:
                    raise VerifyException(f"axis {name!r} is storage axis {axis} of a buffer that has {rank}")

    @classmethod
    def parse(cls, parser: Parser) -> ComputeOp:
        kernel = parser.parse_str_literal()
        entries: list[tuple[object, str]] = []

        def entry() -> None:
            operand = parser.parse_unresolved_operand()
            entries.append((operand, parser.parse_str_literal()))

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, entry)
        n_ins = len(entries)
        parser.parse_punctuation("->")
        parser.parse_comma_separated_list(parser.Delimiter.PAREN, entry)
        parser.parse_characters("axes")
        axes = parser.parse_str_literal().split()
        scalars: list[tuple[str, int | float]] = []
        if parser.parse_optional_keyword("scalars"):
            attr = parser.parse_attribute()
            if not isinstance(attr, DictionaryAttr):
                parser.raise_error("scalars are a dictionary of numbers")
            scalars = [(k, v.value.data) for k, v in attr.data.items()]  # type: ignore[union-attr]
        reason = parser.parse_str_literal() if parser.parse_optional_keyword("for") else ""
        attributes = _parse_attributes(parser)
        parser.parse_punctuation(":")
        types = _parse_buffer_types(parser, len(entries))
        try:
            resolved = [
                (parser.resolve_operand(o, t), parse_map(m))  # type: ignore[arg-type]
                for (o, m), t in zip(entries, types, strict=True)
            ]
        except VerifyException as error:
            parser.raise_error(str(error))
        op = cls(kernel, axes, resolved[:n_ins], resolved[n_ins:], scalars, reason)
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.kernel.data)

        def operand(i: int) -> None:
            printer.print_ssa_value(self.buffers[i])
            printer.print_string(f' "{self.maps.data[i].data}"')

        printer.print_string(" (")
        printer.print_list(range(self.n_ins), operand)
        printer.print_string(") -> (")
        printer.print_list(range(self.n_ins, len(self.buffers)), operand)
        printer.print_string(f') axes "{self.axes.data}"')
        if self.scalars.data:
            printer.print_string(" scalars ")
            printer.print_attribute(self.scalars)
        if self.reason.data:
            printer.print_string(" for ")
            printer.print_string_literal(self.reason.data)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_list(self.buffers.types, printer.print_attribute)


@irdl_op_definition
class RepeatOp(IRDLOperation):
    """
    The body `count` times. Block arguments are the current members of the sequences; other buffers are used
    in place.
    """

    name = "tile.repeat"
    sequences = var_operand_def(BufferType)
    repeat_name = prop_def(StringAttr)
    count = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    def __init__(self, name: str, count: int, sequences: Sequence[SSAValue], body: Region) -> None:
        super().__init__(
            operands=[list(sequences)],
            properties={"repeat_name": StringAttr(name), "count": IntegerAttr(count, i64)},
            regions=[body],
        )

    @property
    def iterations(self) -> int:
        return self.count.value.data

    def verify_(self) -> None:
        arguments = self.body.block.args
        if len(arguments) != len(self.sequences):
            raise VerifyException(f"{len(self.sequences)} sequences but {len(arguments)} block arguments")
        for sequence, argument in zip(self.sequences, arguments, strict=True):
            have, member = buffer_type(sequence), buffer_type(argument)
            if have.count != self.iterations * member.count:
                raise VerifyException(f"a sequence of {have.count} in a repeat of {self.iterations}")
            if member != BufferType((have.dtype, have.layout, member.count)):
                raise VerifyException(f"member has type {member}, the sequence {have}")

    @classmethod
    def parse(cls, parser: Parser) -> RepeatOp:
        name = parser.parse_str_literal()
        parser.parse_characters("count")
        count = parser.parse_integer(allow_boolean=False)
        arguments: list[Parser.Argument] = []
        operands: list[SSAValue] = []

        def binding() -> None:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            type_ = _parse_buffer_type(parser)
            operands.append(parser.resolve_operand(operand, type_))
            arguments.append(
                argument.resolve(BufferType((type_.dtype, type_.layout, type_.count // max(count, 1))))
            )

        if parser.parse_optional_keyword("sequences"):
            parser.parse_comma_separated_list(parser.Delimiter.PAREN, binding)
        attributes = _parse_attributes(parser)
        body = parser.parse_region(arguments)
        if not body.blocks:
            body.add_block(Block(arg_types=[a.type for a in arguments]))
        op = cls(name, count, operands, body)
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.repeat_name.data)
        printer.print_string(f" count {self.iterations}")
        if self.sequences:
            printer.print_string(" sequences (")

            def binding(pair: tuple[SSAValue, SSAValue]) -> None:
                printer.print_ssa_value(pair[0])
                printer.print_string(" = ")
                printer.print_ssa_value(pair[1])
                printer.print_string(" : ")
                printer.print_attribute(pair[1].type)

            printer.print_list(zip(self.body.block.args, self.sequences, strict=True), binding)
            printer.print_string(")")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class MemberOp(IRDLOperation):
    """
    `tile.member %s[2] : type`: one member of a sequence, in place; of a nested sequence `count` of them that
    follow each other.
    """

    name = "tile.member"
    sequence = operand_def(BufferType)
    index = prop_def(IntegerAttr)
    result = result_def(BufferType)

    def __init__(self, sequence: SSAValue, index: int, count: int = 1) -> None:
        type_ = buffer_type(sequence)
        super().__init__(
            operands=[sequence],
            properties={"index": IntegerAttr(index, i64)},
            result_types=[BufferType((type_.dtype, type_.layout, count))],
        )

    @property
    def first(self) -> int:
        """The number of the first tensor of the member in the sequence."""
        return self.index.value.data * buffer_type(self.result).count

    def verify_(self) -> None:
        have, member = buffer_type(self.sequence), buffer_type(self.result)
        if member != BufferType((have.dtype, have.layout, member.count)):
            raise VerifyException(f"member has type {member}, the sequence {have}")
        if not 0 <= self.first <= have.count - member.count:
            raise VerifyException(
                f"member {self.index.value.data} of a sequence of {have.count // max(member.count, 1)}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> MemberOp:
        operand = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            index = parser.parse_integer()
        attributes = _parse_attributes(parser)
        parser.parse_punctuation(":")
        type_ = _parse_buffer_type(parser)
        parser.parse_punctuation("->")
        result = _parse_buffer_type(parser)
        op = cls(parser.resolve_operand(operand, type_), index, result.count)
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.sequence)
        printer.print_string(f"[{self.index.value.data}]")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_attribute(self.sequence.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


def owner_alloc(value: SSAValue) -> tuple[AllocOp, tuple[RepeatOp, ...]]:
    """The allocation behind a buffer, and the repeats whose member it is (outermost first)."""
    place = placed_in(value)
    return place.alloc, tuple(repeat for repeat, _ in place.steps)


@dataclass(frozen=True)
class Place:
    """
    Where a buffer lies: member number `first` of an allocation, and `steps` members further on for each
    iteration of the repeats that run through it (outermost first).
    """

    alloc: AllocOp
    first: int
    steps: tuple[tuple[RepeatOp, int], ...]


def placed_in(value: SSAValue) -> Place:
    """
    The place of a buffer: an allocation, a member of one, or the current member of a sequence in a repeat.
    """
    steps: list[tuple[RepeatOp, int]] = []
    first = 0
    while not isinstance(owner := value.owner, AllocOp):
        if isinstance(owner, MemberOp):
            first += owner.first
            value = owner.sequence
            continue
        assert isinstance(owner, Block)
        repeat = owner.parent_op()
        assert isinstance(repeat, RepeatOp)
        steps.append((repeat, buffer_type(value).count))
        value = repeat.sequences[cast("BlockArgument", value).index]
    return Place(owner, first, tuple(reversed(steps)))


Tile = Dialect("tile", [AllocOp, BindOp, ExchangeOp, ComputeOp, MemberOp, RepeatOp], [BufferType])
