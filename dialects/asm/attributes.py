# SPDX-License-Identifier: Apache-2.0
"""Attributes of the `tile_asm` dialect: words of tables, operands, scalars and patches, and their text."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tilewright.backends import sidecar
from tilewright.backends.program import (
    Operand,
    Patch,
    operand_problem,
    patch_problem,
    scalar_text,
    table_problem,
)
from tilewright.diagnostics import TileError


@dataclass(frozen=True, eq=False)
class Words:
    """Words of all tiles, uint32 (tiles, n); equal by contents."""

    array: npt.NDArray[np.uint32]

    @property
    def shared(self) -> bool:
        """Whether all tiles hold the same words."""
        return len(self.array) > 1 and bool((self.array == self.array[0]).all())

    @property
    def raw(self) -> bytes:
        """The words as they are stored, little-endian: one row if all tiles share it."""
        return (self.array[:1] if self.shared else self.array).astype("<u4").tobytes()

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
            start = parser.pos
            shape = tuple(parse_ints(parser))
            if len(shape) != 2 or min(shape) < 0:
                parser.raise_error("expected [tiles, words]", start, parser.pos)
            refuse(parser, start, table_problem("rows", 0, *shape))
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
        raw = self.data.raw
        with printer.in_angle_brackets():
            printer.print_string(f"[{tiles}, {count}]{' shared' if shared else ''}, ")
            if (reference := sidecar.place_of(raw)) is not None:
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
        offset = parse_int(parser, 0)
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
    start = parser.pos
    address = parse_int(parser, 0)
    dtype = parser.parse_identifier()
    axes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_axis(parser))
    steps: Sequence[int] = ()
    if parser.parse_optional_keyword("steps"):
        steps = parse_ints(parser)
    operand = Operand(address, dtype, tuple(axes), tuple(steps))
    refuse(parser, start, operand_problem(operand))
    return operand


def _parse_axis(parser: AttrParser) -> tuple[tuple[int, int], ...]:
    digits: list[tuple[int, int]] = []
    while (size := parser.parse_optional_integer(allow_boolean=False)) is not None:
        parser.parse_punctuation(":")
        digits.append((size, parser.parse_integer(allow_boolean=False)))
    return tuple(digits)


def parse_int(parser: AttrParser, low: int = -(2**63), high: int = 2**63 - 1) -> int:
    """An integer from `low` to `high`; by default one of 64 bits, as a property holds it."""
    start = parser.pos
    value = parser.parse_integer(allow_boolean=False)
    if not low <= value <= high:
        parser.raise_error(f"expected an integer from {low} to {high}", start, parser.pos)
    return value


def refuse(parser: AttrParser, start: int, problem: str | None) -> None:
    """A parse error from `start` to here, if there is a problem."""
    if problem is not None:
        parser.raise_error(problem, start, parser.pos)


def parse_ints(parser: AttrParser) -> Sequence[int]:
    """Integers in square brackets."""
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_int(parser))


def print_operand(printer: Printer, operand: Operand) -> None:
    """The inverse of `parse_operand`."""
    printer.print_string(operand.text)


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
        start = parser.pos
        special = parser.parse_optional_str_literal()
        if special is not None:
            if special not in ("inf", "-inf", "nan"):
                parser.raise_error('expected a number, "inf", "-inf" or "nan"', start, parser.pos)
            return name, float(special)
        value = parser.parse_number()
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            parser.raise_error("expected an integer of 64 bits", start, parser.pos)
        return name, value

    return tuple(parser.parse_comma_separated_list(parser.Delimiter.BRACES, one))


def print_scalars(printer: Printer, scalars: Sequence[tuple[str, int | float]]) -> None:
    """The inverse of `parse_scalars`."""
    printer.print_string("{" + ", ".join(f"{name} = {_number(value)}" for name, value in scalars) + "}")


def _number(value: float) -> str:
    return scalar_text(value) if math.isfinite(value) else f'"{value}"'


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
    start = parser.pos
    parser.parse_keyword("rows")
    rows = parser.parse_str_literal()
    parser.parse_keyword("at")
    positions = parser.parse_str_literal()
    parser.parse_keyword("by")
    delta = parse_int(parser)
    parser.parse_keyword("field")
    patch = Patch(rows, positions, delta, parse_int(parser))
    refuse(parser, start, patch_problem(patch))
    return patch


def print_patch(printer: Printer, patch: Patch) -> None:
    """The inverse of `parse_patch`."""
    print_quoted(printer, patch.rows, "rows ")
    print_quoted(printer, patch.positions, " at ")
    print_text(printer, f" by {patch.delta_words} field {patch.shift}")


def integer(value: int) -> IntegerAttr:
    """An i64 property."""
    return IntegerAttr(int(value), i64)


def integers(array: ArrayAttr[IntegerAttr]) -> tuple[int, ...]:
    """The numbers of an array property."""
    return tuple(value.value.data for value in array)


def print_text(printer: Printer, *parts: str) -> None:
    """Print text as it is."""
    for part in parts:
        printer.print_string(part)


def print_quoted(printer: Printer, text: str, before: str = " ") -> None:
    """Print `before` and then `text` as a string literal."""
    printer.print_string(before)
    printer.print_string_literal(text)
