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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FloatAttr, IntegerAttr, StringAttr, f32, i64
from xdsl.ir import Attribute, Block, BlockArgument, Dialect, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from tilewright.diagnostics import TileError
from tilewright.dialects.buffers.declarations import AllocOp, BindOp
from tilewright.dialects.buffers.types import (
    BufferType,
    Map,
    buffer_type,
    map_text,
    parse_attributes,
    parse_buffer_type,
    parse_buffer_types,
    parse_map,
    parse_view,
)
from tilewright.machine.kernels import kernel
from tilewright.planning.layout import View

__all__ = [
    "AllocOp",
    "BindOp",
    "BufferType",
    "ComputeOp",
    "ExchangeOp",
    "Map",
    "MemberOp",
    "Place",
    "RepeatOp",
    "Tile",
    "buffer_type",
    "map_text",
    "owner_alloc",
    "parse_map",
    "placed_in",
    "scalar_attr",
]


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
            src_view = parse_view(parser)
            parser.parse_punctuation("->")
            dst = parser.parse_unresolved_operand()
            entries.append((src, src_view, dst, parse_view(parser)))

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, entry)
        row_bytes = parser.parse_integer() if parser.parse_optional_keyword("rows") else None
        row_address = parser.parse_integer() if parser.parse_optional_keyword("at") else None
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        types = parse_buffer_types(parser, 2 * len(entries))
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


def scalar_attr(value: float) -> Attribute:
    return FloatAttr(value, f32) if isinstance(value, float) else IntegerAttr(int(value), i64)


def _scalar_fault(scalars: DictionaryAttr) -> str | None:
    """Why a dictionary cannot be the scalars of a call; None where it can."""
    for name, value in scalars.data.items():
        if not isinstance(value, IntegerAttr | FloatAttr):
            return f"scalar {name!r} is {value}, which is no number"
    return None


def _scalar_values(scalars: DictionaryAttr) -> list[tuple[str, int | float]]:
    numbers = cast("dict[str, IntegerAttr | FloatAttr]", scalars.data)
    return [(name, attr.value.data) for name, attr in numbers.items()]


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
        return tuple(sorted(_scalar_values(self.scalars)))

    def verify_(self) -> None:
        if (fault := _scalar_fault(self.scalars)) is not None:
            raise VerifyException(fault)
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
            if (fault := _scalar_fault(attr)) is not None:
                parser.raise_error(fault)
            scalars = _scalar_values(attr)
        reason = parser.parse_str_literal() if parser.parse_optional_keyword("for") else ""
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        types = parse_buffer_types(parser, len(entries))
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
            type_ = parse_buffer_type(parser)
            operands.append(parser.resolve_operand(operand, type_))
            arguments.append(
                argument.resolve(BufferType((type_.dtype, type_.layout, type_.count // max(count, 1))))
            )

        if parser.parse_optional_keyword("sequences"):
            parser.parse_comma_separated_list(parser.Delimiter.PAREN, binding)
        attributes = parse_attributes(parser)
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
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type_ = parse_buffer_type(parser)
        parser.parse_punctuation("->")
        result = parse_buffer_type(parser)
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
