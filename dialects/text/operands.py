# SPDX-License-Identifier: Apache-2.0
"""The part `%a, %b {attributes} :` that operations with a form of their own have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer


def parse_operands(parser: Parser) -> tuple[list[UnresolvedOperand], dict[str, Attribute]]:
    """Operands, attributes and the colon in front of the types."""
    operands = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    return operands or [], dict(attributes)


def print_operands(
    printer: Printer, operands: Sequence[SSAValue], attributes: Mapping[str, Attribute]
) -> None:
    """What `parse_operands` reads."""
    if operands:
        printer.print_string(" ")
        printer.print_list(operands, printer.print_operand)
    printer.print_op_attributes(attributes)
    printer.print_string(" : ")
