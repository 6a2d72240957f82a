# SPDX-License-Identifier: Apache-2.0
"""Declarations of a `tile_asm.program`: kernel code, tables, constants, bindings and accounted ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.backends.program import (
    Binding,
    BindingKind,
    Code,
    Constant,
    Placed,
    Table,
    TableCategory,
    binding_problem,
    constant_problem,
    table_problem,
)
from tilewright.dialects.asm.attributes import (
    WordsAttr,
    integer,
    integers,
    parse_int,
    parse_ints,
    print_quoted,
    print_text,
)
from tilewright.machine.dtypes import name_of, numpy_dtype


class ProgramPart(IRDLOperation):
    """Common to the operations of a program: attributes that are not properties print at the end."""

    def print_rest(self, printer: Printer) -> None:
        """Print the attributes that are not properties."""
        printer.print_op_attributes(self.attributes)

    def take_rest(self, parser: Parser) -> None:
        """Read what `print_rest` printed."""
        self.attributes.update(parser.parse_optional_attr_dict())


@irdl_op_definition
class CodeOp(ProgramPart):
    """The machine code of a kernel: its place on every tile."""

    name = "tile_asm.code"
    kernel = prop_def(StringAttr)
    address = prop_def(IntegerAttr)
    size = prop_def(IntegerAttr)

    def __init__(self, code: Code) -> None:
        super().__init__(
            properties={
                "kernel": StringAttr(code.kernel),
                "address": integer(code.address),
                "size": integer(code.nbytes),
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
        op = cls(Code(kernel, address, parse_int(parser)))
        op.take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        code = self.value
        print_quoted(printer, code.kernel)
        print_text(printer, f" at {code.address:#x} size {code.nbytes}")
        self.print_rest(printer)


@irdl_op_definition
class TableOp(ProgramPart):
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
                "address": integer(table.address),
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
        tiles, count = self.words.data.array.shape
        problem = table_problem(self.category.data, self.address.value.data, tiles, count)
        if problem is not None:
            raise VerifyException(problem)

    @classmethod
    def parse(cls, parser: Parser) -> TableOp:
        name = parser.parse_str_literal()
        category = _parse_word(parser)
        address = _parse_address(parser)
        words = WordsAttr(WordsAttr.parse_parameter(parser))
        op = cls(Table(name, address, words.data.array, cast(TableCategory, category)))
        op.take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        print_quoted(printer, self.sym.data)
        _print_word(printer, self.category.data)
        print_text(printer, f" at {self.address.value.data:#x} ")
        self.words.print_parameter(printer)
        self.print_rest(printer)


@irdl_op_definition
class ConstantOp(ProgramPart):
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
                "shape": ArrayAttr([integer(n) for n in constant.data.shape]),
                "words": WordsAttr(words[None, :]),
            }
        )

    def verify_(self) -> None:
        words = self.words.data.array
        problem = constant_problem(self.dtype.data, integers(self.shape), 4 * words.size, True)
        if problem is not None:
            raise VerifyException(problem)

    @property
    def value(self) -> Constant:
        """The plain form."""
        dtype = numpy_dtype(self.dtype.data)
        shape = integers(self.shape)
        count = math.prod(shape)
        raw = self.words.data.array.astype("<u4").tobytes()[: count * dtype.itemsize]
        return Constant(self.sym.data, np.frombuffer(raw, dtype).reshape(shape))

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        name = parser.parse_str_literal()
        dtype = parser.parse_identifier()
        shape = parse_ints(parser)
        words = WordsAttr(WordsAttr.parse_parameter(parser))
        op = cls.create(
            properties={
                "sym": StringAttr(name),
                "dtype": StringAttr(dtype),
                "shape": ArrayAttr([integer(n) for n in shape]),
                "words": words,
            }
        )
        op.take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        print_quoted(printer, self.sym.data)
        print_text(printer, f" {self.dtype.data} {list(integers(self.shape))} ")
        self.words.print_parameter(printer)
        self.print_rest(printer)


@irdl_op_definition
class BindingOp(ProgramPart):
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
                "address": integer(binding.address),
                "dtype": StringAttr(binding.dtype),
                "layout": StringAttr(binding.layout),
                "view": StringAttr(binding.view),
                "shape": ArrayAttr([integer(n) for n in binding.shape]),
                "tensors": ArrayAttr([StringAttr(name) for name in binding.tensors]),
                "count": integer(binding.count),
                "stride": integer(binding.stride),
                "scale": integer(binding.scale),
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
            integers(self.shape),
            tuple(name.data for name in self.tensors),
            self.count.value.data,
            self.stride.value.data,
            self.scale.value.data,
        )

    def verify_(self) -> None:
        problem = binding_problem(self.value)
        if problem is not None:
            raise VerifyException(problem)

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
        shape = tuple(parse_ints(parser))
        tensors: Sequence[str] = ()
        if parser.parse_optional_keyword("tensors"):
            tensors = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
        count, stride, scale = 1, 0, 0
        if parser.parse_optional_keyword("count"):
            count = parse_int(parser)
            parser.parse_keyword("stride")
            stride = parse_int(parser)
        if parser.parse_optional_keyword("scale"):
            scale = parse_int(parser)
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
        op.take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        binding = self.value
        print_quoted(printer, binding.name)
        print_text(printer, f" {binding.kind} at {binding.address:#x} {binding.dtype}")
        print_quoted(printer, binding.layout, " layout ")
        print_quoted(printer, binding.view, " view ")
        print_text(printer, f" shape {list(binding.shape)}")
        if binding.tensors:
            print_text(printer, " tensors [")
            printer.print_list(binding.tensors, printer.print_string_literal)
            print_text(printer, "]")
        if (binding.count, binding.stride) != (1, 0):
            print_text(printer, f" count {binding.count} stride {binding.stride}")
        if binding.scale:
            print_text(printer, f" scale {binding.scale}")
        self.print_rest(printer)


@irdl_op_definition
class PlacedOp(ProgramPart):
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
                "address": integer(placed.address),
                "size": integer(placed.nbytes),
                "first": integer(placed.first),
                "last": integer(placed.last),
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
        size = parse_int(parser)
        parser.parse_keyword("live")
        first = parse_int(parser)
        last = parse_int(parser)
        layout = parser.parse_str_literal() if parser.parse_optional_keyword("layout") else ""
        op = cls(Placed(name, address, size, category, first, last, layout))
        op.take_rest(parser)
        return op

    def print(self, printer: Printer) -> None:
        placed = self.value
        print_quoted(printer, placed.name)
        _print_word(printer, placed.category)
        print_text(printer, f" at {placed.address:#x} size {placed.nbytes} live {placed.first} {placed.last}")
        if placed.layout:
            print_quoted(printer, placed.layout, " layout ")
        self.print_rest(printer)


def _print_word(printer: Printer, text: str) -> None:
    """A category: an identifier, or quoted when it has a space."""
    printer.print_string(" ")
    printer.print_identifier_or_string_literal(text)


def _parse_word(parser: Parser) -> str:
    return parser.parse_identifier_or_str_literal()


def _parse_address(parser: Parser) -> int:
    parser.parse_keyword("at")
    return parse_int(parser, 0, 2**32 - 1)


DECLARATIONS = (CodeOp, TableOp, ConstantOp, BindingOp, PlacedOp)
