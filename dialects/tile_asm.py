# SPDX-License-Identifier: Apache-2.0
"""
The `tile_asm` dialect: what the machine runs. The textual form of `tilewright.backends.program.Program`.

    tile_asm.program "layers" machine "t4" supervisor 0x71000 {
      tile_asm.code "gemm.f16.f16" at 0x70000 size 1536
      tile_asm.table "extents" arguments at 0x72000 <[4, 4] shared, "010000000a000000...">
      tile_asm.binding "x" input at 0x79000 f16 layout "[40/10@1, 32|16] b0.a.b1" view "[40a, 32b]"
          shape [40, 32]
      tile_asm.placed "x" activations at 0x79000 size 640 live 0 3
      tile_asm.repeat "layers" count 3 patches [rows "rows" at "positions" by 256 field 3] {
        tile_asm.exchange "weights" rows "rows" from "model.mlir:6"
        tile_asm.call "gemm.f16.f16" (0x79000 f16 [0:0, 0:16, 0:160 16:1], ...) -> (...)
            scalars {scale = -2} extents "extents"
        tile_asm.tap "state" in "x"
      }
    }

Declarations come first, then the instructions in the order of execution. Addresses are SRAM byte addresses,
equal on all tiles; an axis of an operand is its digits `size:stride`, outermost first. Words that differ per
tile are in tables, which print as hexadecimal text, or as a reference to a sidecar file when one is in force
(`tilewright.backends.sidecar`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.ir import Block, Data, Dialect, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

from tilewright.backends import sidecar
from tilewright.backends.program import (
    Binding,
    BindingKind,
    Call,
    Code,
    Constant,
    Exchange,
    Instruction,
    Operand,
    Patch,
    Placed,
    Program,
    ProgramError,
    Repeat,
    Table,
    TableCategory,
    Tap,
)
from tilewright.diagnostics import TileError
from tilewright.planning.dtypes import name_of, numpy_dtype

BINDING_KINDS = ("parameter", "input", "output", "constant", "value")
TABLE_CATEGORIES = ("rows", "patch tables", "arguments")

# ---------------------------------------------------------------------------------------------- attributes


@dataclass(frozen=True, eq=False)
class Words:
    """Words of all tiles, uint32 (tiles, n); equal by contents."""

    array: npt.NDArray[np.uint32]

    @property
    def shared(self) -> bool:
        """Whether all tiles hold the same words."""
        return len(self.array) > 1 and bool((self.array == self.array[0]).all())

    @cached_property
    def digest(self) -> str:
        """sha256 of the words."""
        return hashlib.sha256(self.array.astype("<u4").tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words) and np.array_equal(self.array, other.array)

    def __hash__(self) -> int:
        return hash((self.array.shape, self.digest))


@irdl_attr_definition
class WordsAttr(Data[Words]):
    """
    `<[4, 3], "...">`: tiles and words of each, then the words as little-endian hexadecimal text, one row for
    all tiles if `shared`; or `file "name" offset sha256 "..."`.
    """

    name = "tile_asm.words"

    def __init__(self, data: Words | npt.NDArray[np.uint32]) -> None:
        super().__init__(data if isinstance(data, Words) else Words(np.ascontiguousarray(data, np.uint32)))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Words:
        with parser.in_angle_brackets():
            shape = tuple(_parse_ints(parser))
            if len(shape) != 2 or min(shape) < 0:
                parser.raise_error("expected [tiles, words]")
            shared = parser.parse_optional_keyword("shared") is not None
            parser.parse_punctuation(",")
            rows = min(shape[0], 1) if shared else shape[0]
            start = parser.pos
            try:
                raw = _parse_raw(parser, rows * shape[1] * 4)
            except TileError as error:
                parser.raise_error(error.message, start, parser.pos)
        if len(raw) != rows * shape[1] * 4:
            parser.raise_error(
                f"{len(raw)} bytes are given for {rows} rows of {shape[1]} words", start, parser.pos
            )
        array = np.frombuffer(raw, "<u4").astype(np.uint32).reshape(rows, shape[1])
        return Words(np.ascontiguousarray(np.broadcast_to(array, (shape[0], shape[1]))))

    def print_parameter(self, printer: Printer) -> None:
        tiles, count = self.data.array.shape
        shared = self.data.shared
        raw = (self.data.array[:1] if shared else self.data.array).astype("<u4").tobytes()
        with printer.in_angle_brackets():
            printer.print_string(f"[{tiles}, {count}]{' shared' if shared else ''}, ")
            writer = sidecar.writer()
            if writer is not None:
                reference = writer.put(raw)
                printer.print_string(
                    f'file "{reference.file}" {reference.offset} sha256 "{reference.sha256}"'
                )
            elif len(raw) <= sidecar.INLINE_LIMIT:
                printer.print_string(f'"{raw.hex()}"')
            else:
                # For people (errors, dumps between passes); it does not read back.
                printer.print_string(f'elided sha256 "{hashlib.sha256(raw).hexdigest()}"')


def _parse_raw(parser: AttrParser, nbytes: int) -> bytes:
    if parser.parse_optional_keyword("file"):
        name = parser.parse_str_literal()
        offset = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_keyword("sha256")
        return sidecar.fetch(sidecar.Reference(name, offset, nbytes, parser.parse_str_literal()))
    if parser.parse_optional_keyword("elided"):
        raise sidecar.SidecarError("the words of this table were not printed, so they cannot be read")
    try:
        return bytes.fromhex(parser.parse_str_literal())
    except ValueError:
        raise sidecar.SidecarError("expected words as hexadecimal text") from None


@irdl_attr_definition
class OperandAttr(Data[Operand]):
    """
    `<0x79000 f16 [0:160 16:1, 0:16] steps [1024]>`: address, element type, digits of each axis, address
    steps.
    """

    name = "tile_asm.operand"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Operand:
        with parser.in_angle_brackets():
            return parse_operand(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_operand(printer, self.data)


def parse_operand(parser: AttrParser) -> Operand:
    """An operand without brackets around it."""
    address = parser.parse_integer(allow_boolean=False, allow_negative=False)
    dtype = parser.parse_identifier()
    axes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_axis(parser))
    steps: Sequence[int] = ()
    if parser.parse_optional_keyword("steps"):
        steps = _parse_ints(parser)
    return Operand(address, dtype, tuple(axes), tuple(steps))


def _parse_axis(parser: AttrParser) -> tuple[tuple[int, int], ...]:
    digits: list[tuple[int, int]] = []
    while (size := parser.parse_optional_integer(allow_boolean=False)) is not None:
        parser.parse_punctuation(":")
        digits.append((size, parser.parse_integer(allow_boolean=False)))
    return tuple(digits)


def _parse_ints(parser: AttrParser) -> Sequence[int]:
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
    )


def print_operand(printer: Printer, operand: Operand) -> None:
    """The inverse of `parse_operand`."""
    axes = ", ".join(" ".join(f"{size}:{stride}" for size, stride in axis) for axis in operand.axes)
    printer.print_string(f"{operand.address:#x} {operand.dtype} [{axes}]")
    if operand.steps:
        printer.print_string(f" steps {list(operand.steps)}")


@irdl_attr_definition
class ScalarsAttr(Data[tuple[tuple[str, int | float], ...]]):
    """
    `<{scale = -2, epsilon = 1.0e-06}>`: scalar arguments in order; integers and floats stay what they are.
    """

    name = "tile_asm.scalars"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, int | float], ...]:
        with parser.in_angle_brackets():
            return parse_scalars(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_scalars(printer, self.data)


def parse_scalars(parser: AttrParser) -> tuple[tuple[str, int | float], ...]:
    """Scalars in braces."""

    def one() -> tuple[str, int | float]:
        name = parser.parse_identifier()
        parser.parse_punctuation("=")
        special = parser.parse_optional_str_literal()
        if special is not None:
            return name, float(special)
        value = parser.parse_number()
        return name, value

    return tuple(parser.parse_comma_separated_list(parser.Delimiter.BRACES, one))


def print_scalars(printer: Printer, scalars: Sequence[tuple[str, int | float]]) -> None:
    """The inverse of `parse_scalars`."""
    printer.print_string("{" + ", ".join(f"{name} = {_number(value)}" for name, value in scalars) + "}")


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return f'"{value}"'
    text = repr(value)
    if "." not in text:
        mantissa, _, exponent = text.partition("e")
        text = f"{mantissa}.0e{exponent}"
    return text


# ---------------------------------------------------------------------------------------------- operations


def _int(value: int) -> IntegerAttr:
    return IntegerAttr(int(value), i64)


def _text(printer: Printer, *parts: str) -> None:
    for part in parts:
        printer.print_string(part)


def _quoted(printer: Printer, text: str, before: str = " ") -> None:
    printer.print_string(before)
    printer.print_string_literal(text)


def _parse_address(parser: Parser) -> int:
    parser.parse_keyword("at")
    return parser.parse_integer(allow_boolean=False, allow_negative=False)


def _parse_from(parser: Parser) -> str:
    return parser.parse_str_literal() if parser.parse_optional_keyword("from") else ""


class _Declaration(IRDLOperation):
    """Common to the ops of a program: attributes that are not properties print at the end."""

    def _print_rest(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)

    def _take_rest(self, parser: Parser) -> None:
        self.attributes.update(parser.parse_optional_attr_dict())


@irdl_op_definition
class CodeOp(_Declaration):
    """The machine code of a kernel: its place on every tile."""

    name = "tile_asm.code"
    kernel = prop_def(StringAttr)
    address = prop_def(IntegerAttr)
    size = prop_def(IntegerAttr)

    def __init__(self, code: Code) -> None:
        super().__init__(
            properties={
                "kernel": StringAttr(code.kernel),
                "address": _int(code.address),
                "size": _int(code.nbytes),
            }
        )

    @property
    def value(self) -> Code:
        """The plain form."""
        return Code(self.kernel.data, self.address.value.data, self.size.value.data)

    @classmethod
    def parse(cls, parser: Parser) -> CodeOp:
        kernel = parser.parse_str_literal()
        address = _parse_address(parser)
        parser.parse_keyword("size")
        op = cls(Code(kernel, address, parser.parse_integer(allow_boolean=False)))
        op._take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        code = self.value
        _quoted(printer, code.kernel)
        _text(printer, f" at {code.address:#x} size {code.nbytes}")
        self._print_rest(printer)


@irdl_op_definition
class TableOp(_Declaration):
    """Words that differ per tile, at one address on all of them."""

    name = "tile_asm.table"
    sym = prop_def(StringAttr)
    category = prop_def(StringAttr)
    address = prop_def(IntegerAttr)
    words = prop_def(WordsAttr)

    def __init__(self, table: Table) -> None:
        super().__init__(
            properties={
                "sym": StringAttr(table.name),
                "category": StringAttr(table.category),
                "address": _int(table.address),
                "words": WordsAttr(table.words),
            }
        )

    @property
    def value(self) -> Table:
        """The plain form."""
        category = self.category.data
        return Table(
            self.sym.data, self.address.value.data, self.words.data.array, cast(TableCategory, category)
        )

    def verify_(self) -> None:
        if self.category.data not in TABLE_CATEGORIES:
            raise VerifyException(
                f"table category {self.category.data!r} is none of {', '.join(TABLE_CATEGORIES)}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> TableOp:
        name = parser.parse_str_literal()
        category = _parse_word(parser)
        address = _parse_address(parser)
        words = WordsAttr(WordsAttr.parse_parameter(parser))
        op = cls(Table(name, address, words.data.array, cast(TableCategory, category)))
        op._take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        _quoted(printer, self.sym.data)
        _word(printer, self.category.data)
        _text(printer, f" at {self.address.value.data:#x} ")
        self.words.print_parameter(printer)
        self._print_rest(printer)


def _word(printer: Printer, text: str) -> None:
    """A category: an identifier, or quoted when it has a space."""
    printer.print_string(" ")
    printer.print_identifier_or_string_literal(text)


def _parse_word(parser: Parser) -> str:
    return parser.parse_identifier_or_str_literal()


@irdl_op_definition
class ConstantOp(_Declaration):
    """Logical contents that the program brings: element type, shape, bytes (filled up to whole words)."""

    name = "tile_asm.constant"
    sym = prop_def(StringAttr)
    dtype = prop_def(StringAttr)
    shape = prop_def(ArrayAttr[IntegerAttr])
    words = prop_def(WordsAttr)

    def __init__(self, constant: Constant) -> None:
        raw = np.ascontiguousarray(constant.data).tobytes()
        words = np.frombuffer(raw + bytes(-len(raw) % 4), "<u4").astype(np.uint32)
        super().__init__(
            properties={
                "sym": StringAttr(constant.name),
                "dtype": StringAttr(name_of(constant.data.dtype)),
                "shape": ArrayAttr([_int(n) for n in constant.data.shape]),
                "words": WordsAttr(words[None, :]),
            }
        )

    @property
    def value(self) -> Constant:
        """The plain form."""
        dtype = numpy_dtype(self.dtype.data)
        shape = _ints(self.shape)
        count = math.prod(shape)
        raw = self.words.data.array.astype("<u4").tobytes()[: count * dtype.itemsize]
        return Constant(self.sym.data, np.frombuffer(raw, dtype).reshape(shape))

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        name = parser.parse_str_literal()
        dtype = parser.parse_identifier()
        shape = _parse_ints(parser)
        words = WordsAttr(WordsAttr.parse_parameter(parser))
        op = cls.create(
            properties={
                "sym": StringAttr(name),
                "dtype": StringAttr(dtype),
                "shape": ArrayAttr([_int(n) for n in shape]),
                "words": words,
            }
        )
        op._take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        _quoted(printer, self.sym.data)
        _text(printer, f" {self.dtype.data} {list(_ints(self.shape))} ")
        self.words.print_parameter(printer)
        self._print_rest(printer)


def _ints(array: ArrayAttr[IntegerAttr]) -> tuple[int, ...]:
    return tuple(value.value.data for value in array)


@irdl_op_definition
class BindingOp(_Declaration):
    """A named value of the host: see `tilewright.backends.program.Binding`."""

    name = "tile_asm.binding"
    sym = prop_def(StringAttr)
    kind = prop_def(StringAttr)
    address = prop_def(IntegerAttr)
    dtype = prop_def(StringAttr)
    layout = prop_def(StringAttr)
    view = prop_def(StringAttr)
    shape = prop_def(ArrayAttr[IntegerAttr])
    tensors = prop_def(ArrayAttr[StringAttr])
    count = prop_def(IntegerAttr)
    stride = prop_def(IntegerAttr)
    scale = prop_def(IntegerAttr)

    def __init__(self, binding: Binding) -> None:
        super().__init__(
            properties={
                "sym": StringAttr(binding.name),
                "kind": StringAttr(binding.kind),
                "address": _int(binding.address),
                "dtype": StringAttr(binding.dtype),
                "layout": StringAttr(binding.layout),
                "view": StringAttr(binding.view),
                "shape": ArrayAttr([_int(n) for n in binding.shape]),
                "tensors": ArrayAttr([StringAttr(name) for name in binding.tensors]),
                "count": _int(binding.count),
                "stride": _int(binding.stride),
                "scale": _int(binding.scale),
            }
        )

    @property
    def value(self) -> Binding:
        """The plain form."""
        return Binding(
            self.sym.data,
            cast(BindingKind, self.kind.data),
            self.address.value.data,
            self.dtype.data,
            self.layout.data,
            self.view.data,
            _ints(self.shape),
            tuple(name.data for name in self.tensors),
            self.count.value.data,
            self.stride.value.data,
            self.scale.value.data,
        )

    def verify_(self) -> None:
        if self.kind.data not in BINDING_KINDS:
            raise VerifyException(f"binding kind {self.kind.data!r} is none of {', '.join(BINDING_KINDS)}")

    @classmethod
    def parse(cls, parser: Parser) -> BindingOp:
        name = parser.parse_str_literal()
        kind = parser.parse_identifier()
        address = _parse_address(parser)
        dtype = parser.parse_identifier()
        parser.parse_keyword("layout")
        layout = parser.parse_str_literal()
        parser.parse_keyword("view")
        view = parser.parse_str_literal()
        parser.parse_keyword("shape")
        shape = tuple(_parse_ints(parser))
        tensors: Sequence[str] = ()
        if parser.parse_optional_keyword("tensors"):
            tensors = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
        count, stride, scale = 1, 0, 0
        if parser.parse_optional_keyword("count"):
            count = parser.parse_integer(allow_boolean=False)
            parser.parse_keyword("stride")
            stride = parser.parse_integer(allow_boolean=False)
        if parser.parse_optional_keyword("scale"):
            scale = parser.parse_integer(allow_boolean=False)
        op = cls(
            Binding(
                name,
                cast(BindingKind, kind),
                address,
                dtype,
                layout,
                view,
                shape,
                tuple(tensors),
                count,
                stride,
                scale,
            )
        )
        op._take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        binding = self.value
        _quoted(printer, binding.name)
        _text(printer, f" {binding.kind} at {binding.address:#x} {binding.dtype}")
        _quoted(printer, binding.layout, " layout ")
        _quoted(printer, binding.view, " view ")
        _text(printer, f" shape {list(binding.shape)}")
        if binding.tensors:
            _text(printer, " tensors [")
            printer.print_list(binding.tensors, printer.print_string_literal)
            _text(printer, "]")
        if (binding.count, binding.stride) != (1, 0):
            _text(printer, f" count {binding.count} stride {binding.stride}")
        if binding.scale:
            _text(printer, f" scale {binding.scale}")
        self._print_rest(printer)


@irdl_op_definition
class PlacedOp(_Declaration):
    """An allocated range, for accounting: category, bytes, first and last instruction that need it."""

    name = "tile_asm.placed"
    sym = prop_def(StringAttr)
    category = prop_def(StringAttr)
    address = prop_def(IntegerAttr)
    size = prop_def(IntegerAttr)
    first = prop_def(IntegerAttr)
    last = prop_def(IntegerAttr)
    layout = opt_prop_def(StringAttr)

    def __init__(self, placed: Placed) -> None:
        super().__init__(
            properties={
                "sym": StringAttr(placed.name),
                "category": StringAttr(placed.category),
                "address": _int(placed.address),
                "size": _int(placed.nbytes),
                "first": _int(placed.first),
                "last": _int(placed.last),
            }
        )
        if placed.layout:
            self.properties["layout"] = StringAttr(placed.layout)

    @property
    def value(self) -> Placed:
        """The plain form."""
        return Placed(
            self.sym.data,
            self.address.value.data,
            self.size.value.data,
            self.category.data,
            self.first.value.data,
            self.last.value.data,
            "" if self.layout is None else self.layout.data,
        )

    @classmethod
    def parse(cls, parser: Parser) -> PlacedOp:
        name = parser.parse_str_literal()
        category = _parse_word(parser)
        address = _parse_address(parser)
        parser.parse_keyword("size")
        size = parser.parse_integer(allow_boolean=False)
        parser.parse_keyword("live")
        first = parser.parse_integer(allow_boolean=False)
        last = parser.parse_integer(allow_boolean=False)
        layout = parser.parse_str_literal() if parser.parse_optional_keyword("layout") else ""
        op = cls(Placed(name, address, size, category, first, last, layout))
        op._take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        placed = self.value
        _quoted(printer, placed.name)
        _word(printer, placed.category)
        _text(printer, f" at {placed.address:#x} size {placed.nbytes} live {placed.first} {placed.last}")
        if placed.layout:
            _quoted(printer, placed.layout, " layout ")
        self._print_rest(printer)


@irdl_op_definition
class CallOp(_Declaration):
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
        op._take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        call = self.value
        _quoted(printer, call.kernel)
        for lead, operands in ((" (", call.ins), (") -> (", call.outs)):
            _text(printer, lead)
            printer.print_list(operands, lambda operand: print_operand(printer, operand))
        _text(printer, ")")
        if call.scalars:
            _text(printer, " scalars ")
            print_scalars(printer, call.scalars)
        _quoted(printer, call.extents, " extents ")
        if call.provenance:
            _quoted(printer, call.provenance, " from ")
        self._print_rest(printer)


@irdl_op_definition
class ExchangeOp(_Declaration):
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
        op._take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        _quoted(printer, self.label.data)
        _quoted(printer, self.rows.data, " rows ")
        if self.provenance.data:
            _quoted(printer, self.provenance.data, " from ")
        self._print_rest(printer)


@irdl_op_definition
class TapOp(_Declaration):
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
        op._take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        _quoted(printer, self.of.data)
        _quoted(printer, self.binding.data, " in ")
        self._print_rest(printer)


@irdl_attr_definition
class PatchAttr(Data[Patch]):
    """`<rows "rows" at "positions" by 256 field 3>`: see `tilewright.backends.program.Patch`."""

    name = "tile_asm.patch"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Patch:
        with parser.in_angle_brackets():
            return parse_patch(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_patch(printer, self.data)


def parse_patch(parser: AttrParser) -> Patch:
    """A patch without brackets around it."""
    parser.parse_keyword("rows")
    rows = parser.parse_str_literal()
    parser.parse_keyword("at")
    positions = parser.parse_str_literal()
    parser.parse_keyword("by")
    delta = parser.parse_integer(allow_boolean=False)
    parser.parse_keyword("field")
    return Patch(rows, positions, delta, parser.parse_integer(allow_boolean=False))


def print_patch(printer: Printer, patch: Patch) -> None:
    """The inverse of `parse_patch`."""
    _quoted(printer, patch.rows, "rows ")
    _quoted(printer, patch.positions, " at ")
    _text(printer, f" by {patch.delta_words} field {patch.shift}")


@irdl_op_definition
class RepeatOp(_Declaration):
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
                "count": _int(repeat.count),
                "patches": ArrayAttr([PatchAttr(patch) for patch in repeat.patches]),
            },
            regions=[Region(Block([_from_instruction(one) for one in repeat.body]))],
        )

    @property
    def value(self) -> Repeat:
        """The plain form."""
        return Repeat(
            self.label.data,
            self.count.value.data,
            _instructions(self.body.block),
            tuple(patch.data for patch in self.patches),
        )

    def verify_(self) -> None:
        if self.count.value.data < 0:
            raise VerifyException(f"a repeat cannot run {self.count.value.data} times")
        _only(self.body.block, INSTRUCTIONS, "a repeat holds instructions")

    @classmethod
    def parse(cls, parser: Parser) -> RepeatOp:
        label = parser.parse_str_literal()
        parser.parse_keyword("count")
        count = parser.parse_integer(allow_boolean=False)
        patches: Sequence[Patch] = ()
        if parser.parse_optional_keyword("patches"):
            patches = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_patch(parser))
        op = cls(Repeat(label, count, (), tuple(patches)))
        op.detach_region(0)
        op.add_region(_with_block(parser.parse_region()))
        op._take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        _quoted(printer, self.label.data)
        _text(printer, f" count {self.count.value.data}")
        if len(self.patches):
            _text(printer, " patches [")
            printer.print_list(self.patches, lambda patch: print_patch(printer, patch.data))
            _text(printer, "]")
        _text(printer, " ")
        printer.print_region(self.body, print_empty_block=False)
        self._print_rest(printer)


def _with_block(region: Region) -> Region:
    if not region.blocks:
        region.add_block(Block())
    return region


@irdl_op_definition
class ProgramOp(_Declaration):
    """A placed program: declarations, then instructions."""

    name = "tile_asm.program"
    sym = prop_def(StringAttr)
    machine = prop_def(StringAttr)
    supervisor = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator())

    def __init__(self, name: str, machine: str, supervisor: int, body: Sequence[Operation] = ()) -> None:
        super().__init__(
            properties={
                "sym": StringAttr(name),
                "machine": StringAttr(machine),
                "supervisor": _int(supervisor),
            },
            regions=[Region(Block(list(body)))],
        )

    def verify_(self) -> None:
        _only(
            self.body.block, (*DECLARATIONS, *INSTRUCTIONS), "a program holds declarations and instructions"
        )
        try:
            program = _program(self)
            bindings = [binding.name for binding in program.bindings]
            for instruction, _ in program.instructions():
                match instruction:
                    case Call():
                        program.table(instruction.extents)
                    case Exchange():
                        program.table(instruction.rows)
                    case Repeat():
                        for patch in instruction.patches:
                            program.table(patch.rows)
                            program.table(patch.positions)
                    case Tap():
                        if instruction.binding not in bindings:
                            raise ProgramError(f"no binding is named '{instruction.binding}'")
        except ProgramError as error:
            raise VerifyException(error.message) from error

    @classmethod
    def parse(cls, parser: Parser) -> ProgramOp:
        name = parser.parse_str_literal()
        parser.parse_keyword("machine")
        machine = parser.parse_str_literal()
        parser.parse_keyword("supervisor")
        op = cls(name, machine, parser.parse_integer(allow_boolean=False))
        op.detach_region(0)
        op.add_region(_with_block(parser.parse_region()))
        op._take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        _quoted(printer, self.sym.data)
        _quoted(printer, self.machine.data, " machine ")
        _text(printer, f" supervisor {self.supervisor.value.data:#x} ")
        printer.print_region(self.body, print_empty_block=False)
        self._print_rest(printer)


INSTRUCTIONS = (CallOp, ExchangeOp, RepeatOp, TapOp)
DECLARATIONS = (CodeOp, TableOp, ConstantOp, BindingOp, PlacedOp)


def _only(block: Block, kinds: tuple[type[Operation], ...], what: str) -> None:
    for op in block.ops:
        if not isinstance(op, kinds):
            raise VerifyException(f"{what}, not '{op.name}'")


# ---------------------------------------------------------------------------------------------- conversion


def _from_instruction(instruction: Instruction) -> Operation:
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


def _instructions(block: Block) -> tuple[Instruction, ...]:
    return tuple(op.value for op in block.ops if isinstance(op, CallOp | ExchangeOp | RepeatOp | TapOp))


def _program(op: ProgramOp) -> Program:
    ops = list(op.body.block.ops)
    return Program(
        machine=op.machine.data,
        name=op.sym.data,
        code=tuple(one.value for one in ops if isinstance(one, CodeOp)),
        supervisor_address=op.supervisor.value.data,
        tables=tuple(one.value for one in ops if isinstance(one, TableOp)),
        bindings=tuple(one.value for one in ops if isinstance(one, BindingOp)),
        placed=tuple(one.value for one in ops if isinstance(one, PlacedOp)),
        body=_instructions(op.body.block),
        constants=tuple(one.value for one in ops if isinstance(one, ConstantOp)),
    )


def program_to_module(program: Program) -> ModuleOp:
    """A module that holds the program in textual form; `module_to_program` is the inverse."""
    body: list[Operation] = [
        *(CodeOp(code) for code in program.code),
        *(TableOp(table) for table in program.tables),
        *(ConstantOp(constant) for constant in program.constants),
        *(BindingOp(binding) for binding in program.bindings),
        *(PlacedOp(placed) for placed in program.placed),
        *(_from_instruction(instruction) for instruction in program.body),
    ]
    op = ProgramOp(program.name, program.machine, program.supervisor_address, body)
    return ModuleOp([op], {"tile.machine": StringAttr(program.machine)})


def module_to_program(module: ModuleOp) -> Program:
    """The one `tile_asm.program` of a module; ProgramError when there is none or more."""
    found = [op for op in module.walk() if isinstance(op, ProgramOp)]
    if len(found) != 1:
        raise ProgramError(
            f"the module has {len(found)} tile_asm.program operations, expected 1",
            hint="lower the program with tile-lower-to-asm" if not found else None,
        )
    return _program(found[0])


TileAsm = Dialect(
    "tile_asm",
    [*DECLARATIONS, *INSTRUCTIONS, ProgramOp],
    [WordsAttr, OperandAttr, ScalarsAttr, PatchAttr],
)
