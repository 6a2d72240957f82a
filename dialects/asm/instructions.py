# SPDX-License-Identifier: Apache-2.0
"""Instructions of a `tile_asm.program`: kernel calls, exchange phases, taps and repeats."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, IntAttr, IntegerAttr, StringAttr
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from tilewright.backends.program import Call, Exchange, Instruction, Patch, Repeat, Tap, repeat_problem
from tilewright.dialects.asm.attributes import (
    OperandAttr,
    PatchAttr,
    ScalarsAttr,
    integer,
    parse_int,
    parse_operand,
    parse_patch,
    parse_scalars,
    print_operand,
    print_patch,
    print_quoted,
    print_scalars,
    print_text,
)
from tilewright.dialects.asm.declarations import ProgramPart


@irdl_op_definition
class CallOp(ProgramPart):
    """A kernel on every tile whose extents are not zero."""

    name = "tile_asm.call"
    kernel = prop_def(StringAttr)
    ins = prop_def(ArrayAttr[OperandAttr])
    outs = prop_def(ArrayAttr[OperandAttr])
    scalars = prop_def(ScalarsAttr)
    extents = prop_def(StringAttr)
    provenance = prop_def(StringAttr)

    def __init__(self, call: Call) -> None:
        super().__init__(
            properties={
                "kernel": StringAttr(call.kernel),
                "ins": ArrayAttr([OperandAttr(operand) for operand in call.ins]),
                "outs": ArrayAttr([OperandAttr(operand) for operand in call.outs]),
                "scalars": ScalarsAttr(call.scalars),
                "extents": StringAttr(call.extents),
                "provenance": StringAttr(call.provenance),
            }
        )

    @property
    def value(self) -> Call:
        """The plain form."""
        return Call(
            self.kernel.data,
            tuple(operand.data for operand in self.ins),
            tuple(operand.data for operand in self.outs),
            self.scalars.data,
            self.extents.data,
            self.provenance.data,
        )

    @classmethod
    def parse(cls, parser: Parser) -> CallOp:
        kernel = parser.parse_str_literal()
        ins = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_operand(parser))
        parser.parse_punctuation("->")
        outs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_operand(parser))
        scalars: tuple[tuple[str, int | float], ...] = ()
        if parser.parse_optional_keyword("scalars"):
            scalars = parse_scalars(parser)
        parser.parse_keyword("extents")
        extents = parser.parse_str_literal()
        op = cls(Call(kernel, tuple(ins), tuple(outs), scalars, extents, _parse_from(parser)))
        op.take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        call = self.value
        print_quoted(printer, call.kernel)
        for lead, operands in ((" (", call.ins), (") -> (", call.outs)):
            print_text(printer, lead)
            printer.print_list(operands, lambda operand: print_operand(printer, operand))
        print_text(printer, ")")
        if call.scalars:
            print_text(printer, " scalars ")
            print_scalars(printer, call.scalars)
        print_quoted(printer, call.extents, " extents ")
        if call.provenance:
            print_quoted(printer, call.provenance, " from ")
        self.print_rest(printer)


@irdl_op_definition
class ExchangeOp(ProgramPart):
    """An exchange phase: every tile executes its row of a table."""

    name = "tile_asm.exchange"
    label = prop_def(StringAttr)
    rows = prop_def(StringAttr)
    provenance = prop_def(StringAttr)

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(
            properties={
                "label": StringAttr(exchange.name),
                "rows": StringAttr(exchange.rows),
                "provenance": StringAttr(exchange.provenance),
            }
        )

    @property
    def value(self) -> Exchange:
        """The plain form."""
        return Exchange(self.rows.data, self.provenance.data, self.label.data)

    @classmethod
    def parse(cls, parser: Parser) -> ExchangeOp:
        label = parser.parse_str_literal()
        parser.parse_keyword("rows")
        rows = parser.parse_str_literal()
        op = cls(Exchange(rows, _parse_from(parser), label))
        op.take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        print_quoted(printer, self.label.data)
        print_quoted(printer, self.rows.data, " rows ")
        if self.provenance.data:
            print_quoted(printer, self.provenance.data, " from ")
        self.print_rest(printer)


@irdl_op_definition
class TapOp(ProgramPart):
    """Marks that a value is complete in a binding; costs nothing."""

    name = "tile_asm.tap"
    of = prop_def(StringAttr)
    binding = prop_def(StringAttr)

    def __init__(self, tap: Tap) -> None:
        super().__init__(properties={"of": StringAttr(tap.value), "binding": StringAttr(tap.binding)})

    @property
    def value(self) -> Tap:
        """The plain form."""
        return Tap(self.of.data, self.binding.data)

    @classmethod
    def parse(cls, parser: Parser) -> TapOp:
        value = parser.parse_str_literal()
        parser.parse_keyword("in")
        op = cls(Tap(value, parser.parse_str_literal()))
        op.take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        print_quoted(printer, self.of.data)
        print_quoted(printer, self.binding.data, " in ")
        self.print_rest(printer)


@irdl_op_definition
class RepeatOp(ProgramPart):
    """The body `count` times, with patches of rows between iterations."""

    name = "tile_asm.repeat"
    label = prop_def(StringAttr)
    count = prop_def(IntegerAttr)
    patches = prop_def(ArrayAttr[PatchAttr])
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    def __init__(self, repeat: Repeat) -> None:
        super().__init__(
            properties={
                "label": StringAttr(repeat.name),
                "count": integer(repeat.count),
                "patches": ArrayAttr([PatchAttr(patch) for patch in repeat.patches]),
            },
            regions=[Region(Block([from_instruction(one) for one in repeat.body]))],
        )

    @property
    def value(self) -> Repeat:
        """The plain form."""
        return Repeat(
            self.label.data,
            self.count.value.data,
            instructions(self.body.block),
            tuple(patch.data for patch in self.patches),
        )

    def verify_(self) -> None:
        problem = repeat_problem(self.count.value.data)
        if problem is not None:
            raise VerifyException(problem)
        check_only(self.body.block, INSTRUCTIONS, "a repeat holds instructions")

    @classmethod
    def parse(cls, parser: Parser) -> RepeatOp:
        label = parser.parse_str_literal()
        parser.parse_keyword("count")
        count = parse_int(parser)
        patches: Sequence[Patch] = ()
        if parser.parse_optional_keyword("patches"):
            patches = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_patch(parser))
        op = cls(Repeat(label, count, (), tuple(patches)))
        op.detach_region(0)
        op.add_region(with_block(parser.parse_region()))
        op.take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        print_quoted(printer, self.label.data)
        print_text(printer, f" count {self.count.value.data}")
        if len(self.patches):
            print_text(printer, " patches [")
            printer.print_list(self.patches, lambda patch: print_patch(printer, patch.data))
            print_text(printer, "]")
        print_text(printer, " ")
        printer.print_region(self.body, print_empty_block=False)
        self.print_rest(printer)


INSTRUCTIONS = (CallOp, ExchangeOp, RepeatOp, TapOp)


def from_instruction(instruction: Instruction) -> Operation:
    """The operation of an instruction, at the location that its provenance starts with."""
    match instruction:
        case Call():
            op: Operation = CallOp(instruction)
        case Exchange():
            op = ExchangeOp(instruction)
        case Repeat():
            return RepeatOp(instruction)
        case Tap():
            return TapOp(instruction)
    location = _location(instruction.provenance)
    if location is not None:
        op.location = location
    return op


def _location(provenance: str) -> FileLineColLoc | None:
    """The location that a provenance starts with ("file:line:column ..."), if it does."""
    parts = provenance.split(" ")[0].rsplit(":", 2)
    if len(parts) == 3 and parts[0] and parts[1].isdigit() and parts[2].isdigit():
        return FileLineColLoc(StringAttr(parts[0]), IntAttr(int(parts[1])), IntAttr(int(parts[2])))
    return None


def instructions(block: Block) -> tuple[Instruction, ...]:
    """The plain form of the instructions in a block."""
    return tuple(op.value for op in block.ops if isinstance(op, CallOp | ExchangeOp | RepeatOp | TapOp))


def with_block(region: Region) -> Region:
    """The region, with a block in it if it had none."""
    if not region.blocks:
        region.add_block(Block())
    return region


def check_only(block: Block, kinds: tuple[type[Operation], ...], what: str) -> None:
    """VerifyException when the block holds other operations than `kinds`."""
    for op in block.ops:
        if not isinstance(op, kinds):
            raise VerifyException(f"{what}, not '{op.name}'")


def _parse_from(parser: Parser) -> str:
    return parser.parse_str_literal() if parser.parse_optional_keyword("from") else ""
