# SPDX-License-Identifier: Apache-2.0
"""
Reads text of StableHLO and CHLO, pretty and generic, without jaxlib: into operations that only carry what
stands in the text.

The operations keep their names (`stablehlo.add`), so that what comes after works by name and on another
compiler's classes as well. One grammar serves nearly all pretty forms: operands, `key = value` pairs and
words, separated by commas, attributes, types; the few others have a method of their own.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnregisteredAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand

from tilewright.dialects.parsing import context
from tilewright.dialects.text.parser import LocatedParser
from tilewright.dialects.text.sources import Source, SourceError, Sources

DIALECTS = ("stablehlo", "chlo", "mhlo", "vhlo", "check")
"""Dialects whose operations are read in whatever form they are written."""

_RANGE = re.compile(r'(":\d+:\d+) to (?:\d+)?:\d+')
"""The end of a location that is a range: left out, in place."""

_OPENING, _CLOSING = "<([{", ">)]}"


class SourceOperation(IRDLOperation):
    """An operation of the source: operands, results, regions, attributes; nothing is checked."""

    arguments = var_operand_def()
    results_ = var_result_def()
    regions_ = var_region_def()

    @classmethod
    def parse(cls, parser: Parser) -> SourceOperation:
        return cast("SourceOperation", _Pretty(cast("StableHloParser", parser), cls).read())


@cache
def _class_of(name: str) -> type[SourceOperation]:
    members = {"name": name, "__module__": __name__, "__doc__": f"`{name}` as it is written."}
    return cast("type[SourceOperation]", irdl_op_definition(type("SourceOp", (SourceOperation,), members)))


class StableHloParser(LocatedParser):
    """The located parser, with the operations and attributes of StableHLO in their pretty forms."""

    def _get_op_by_name(self, name: str) -> type[Operation]:
        if name.partition(".")[0] in DIALECTS and "." in name:
            start = self._op_starts[-1]
            at = self._source.text.find(name, start)
            self._op_starts[-1] = at if at >= 0 else start
            return _class_of(name)
        return super()._get_op_by_name(name)

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: Any) -> Any:
        dialect, dot, _ = attr_or_dialect_name.partition(".")
        text, at = self._source.text, self._current_token.span.start
        foreign = dialect not in ("builtin", "func") and not dialect.startswith("tile_")
        if not is_type and foreign and text[at : at + 1] == "<" and (dot or dialect in DIALECTS):
            end = balanced(text, at)
            body = text[at + 1 : end - 1]
            self._resume_from(end)
            return opaque(attr_or_dialect_name, body)
        return super()._parse_extended_type_or_attribute(attr_or_dialect_name, is_type)

    def place(self) -> tuple[str, int]:
        """The text, and where in it the next token begins."""
        return self._source.text, self._current_token.span.start

    def resume(self, at: int) -> None:
        """Go on reading from a place in the text."""
        self._resume_from(at)

    @property
    def ahead(self) -> str:
        """The next token."""
        return self._current_token.text


def opaque(name: str, body: str) -> Attribute:
    """An attribute of a dialect that is not there, as text."""
    kind = UnregisteredAttr.with_name_and_type(name, False)
    return kind(name, False, False, body)


def balanced(text: str, at: int) -> int:
    """The place behind the bracket that closes the one at `at`; `->` is no bracket. Raises `ValueError`."""
    depth, i = 0, at
    while i < len(text):
        character = text[i]
        if character == '"':
            i = text.index('"', i + 1)
        elif text.startswith("->", i):
            i += 1
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
            if not depth:
                return i + 1
        i += 1
    raise ValueError("a bracket is not closed")


class _Pretty:
    """One operation in its pretty form."""

    def __init__(self, parser: StableHloParser, kind: type[SourceOperation]) -> None:
        self.parser = parser
        self.kind = kind
        self.operands: list[UnresolvedOperand] = []
        self.attributes: dict[str, Attribute] = {}

    def read(self) -> SourceOperation:
        match self.kind.name.partition(".")[2]:
            case "constant":
                return self._constant()
            case "reduce":
                return self._reduce()
            case "while":
                return self._while()
            case "convolution":
                return self._convolution()
            case "custom_call":
                self.attributes["call_target_name"] = self.parser.parse_symbol_name()
                return self._rest()
            case "composite":
                self.attributes["name"] = StringAttr(self.parser.parse_str_literal())
                return self._rest()
            case _:
                return self._rest()

    # ------------------------------------------------------------------------------------- the common grammar

    def _rest(self) -> SourceOperation:
        parser = self.parser
        parenthesised = parser.parse_optional_punctuation("(") is not None
        while self._item():
            if parser.parse_optional_punctuation(",") is None:
                break
        if parenthesised:
            parser.parse_punctuation(")")
            while parser.parse_optional_punctuation(",") is not None:
                self._item()
        if parser.parse_optional_punctuation("[") is not None:
            self._box()
        self.attributes |= parser.parse_optional_attr_dict()
        return self._typed()

    def _item(self) -> bool:
        """An operand, `key = value`, or a word."""
        parser = self.parser
        operand = parser.parse_optional_unresolved_operand()
        if operand is not None:
            self.operands.append(operand)
            return True
        if parser.ahead == "dense":
            self.attributes["value"] = parser.parse_attribute()
            return True
        key = parser.parse_optional_identifier()
        if key is None:
            return False
        if parser.parse_optional_punctuation("=") is None:
            self.attributes.setdefault("word" if "word" not in self.attributes else "word2", StringAttr(key))
            return True
        self.attributes[key] = self._value()
        if (parser.parse_optional_keyword("x")) is not None:
            self.attributes[f"{key}_right"] = self._value()
        return True

    def _value(self) -> Attribute:
        parser = self.parser
        text, at = parser.place()
        if text[at] == "<":
            end = balanced(text, at)
            parser.resume(end)
            return StringAttr(text[at:end])
        if text[at] == "[":
            entries = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, self._value)
            if all(isinstance(entry, IntegerAttr) for entry in entries):
                return DenseArrayBase.from_list(i64, [cast(IntegerAttr, e).value.data for e in entries])
            return ArrayAttr(entries)
        word = parser.parse_optional_identifier()
        if word is not None:
            return StringAttr(word)
        return IntegerAttr(parser.parse_integer(), i64)

    def _box(self) -> None:
        """`[0:4, 1:9:2]` behind a slice's operand."""
        parser = self.parser
        start: list[int] = []
        limit: list[int] = []
        strides: list[int] = []
        while parser.parse_optional_punctuation("]") is None:
            start.append(parser.parse_integer())
            parser.parse_punctuation(":")
            limit.append(parser.parse_integer())
            strides.append(
                parser.parse_integer() if parser.parse_optional_punctuation(":") is not None else 1
            )
            parser.parse_optional_punctuation(",")
        for name, values in (("start_indices", start), ("limit_indices", limit), ("strides", strides)):
            self.attributes[name] = DenseArrayBase.from_list(i64, values)

    def _types(self) -> tuple[list[Attribute], list[Attribute]]:
        """
        The types of operands and results, from `(..) -> ..`, `T -> U`, or a list for operands and result.
        """
        parser = self.parser
        if parser.parse_optional_punctuation(":") is None:
            value = self.attributes.get("value")  # of a check: its type is that of what it is compared with
            return ([] if value is None else [cast("Any", value).type] * len(self.operands)), []
        place = parser.ahead
        if place == "(":
            type_ = parser.parse_function_type()
            return list(type_.inputs.data), list(type_.outputs.data)
        listed: list[Attribute] = list(
            parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        )
        count = len(self.operands)
        if parser.parse_optional_punctuation("->") is not None:
            results: list[Attribute] = []
            if parser.ahead == "(":
                results += parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
            else:
                results.append(parser.parse_type())
            return listed if len(listed) == count else listed * count, results
        name = self.kind.name.partition(".")[2]
        if name == "return":
            return listed, []
        if name == "optimization_barrier":
            return listed, listed
        if name == "select" and len(listed) == 2:
            return [listed[0], listed[1], listed[1]], [listed[1]]
        return listed * count if len(listed) == 1 else listed, [listed[-1]]

    def _typed(self) -> SourceOperation:
        place = self.parser.pos
        operands, results = self._types()
        return self._make(operands, results, place)

    def _make(
        self,
        operands: list[Attribute],
        results: list[Attribute],
        place: int,
        regions: list[Region] | None = None,
    ) -> SourceOperation:
        values = self.parser.resolve_operands(self.operands, operands, place)
        return self.kind.create(
            operands=values, result_types=results, attributes=self.attributes, regions=regions or []
        )

    # --------------------------------------------------------------------------------------------- the others

    def _constant(self) -> SourceOperation:
        self.attributes |= self.parser.parse_optional_attr_dict()
        value = self.parser.parse_attribute()
        self.attributes["value"] = value
        type_ = getattr(value, "type", None)
        if type_ is None:
            self.parser.raise_error("a constant is `dense<...> : tensor<...>`")
        return self._make([], [type_], self.parser.pos)

    def _convolution(self) -> SourceOperation:
        parser = self.parser
        parser.parse_punctuation("(")
        while self._item():
            if parser.parse_optional_punctuation(",") is None:
                break
        parser.parse_punctuation(")")
        source, at = parser.place()
        found = re.compile(
            r"dim_numbers\s*=\s*(\[[^\]]*\]x\[[^\]]*\]->\[[^\]]*\])\s*,\s*window\s*=\s*"
        ).match(source, at)
        if found is None:
            parser.raise_error("expected `dim_numbers = [..]x[..]->[..], window = {..}`")
        self.attributes["dimension_numbers"] = opaque("stablehlo.conv", found[1])
        end = balanced(source, found.end())
        self.attributes["window"] = StringAttr(source[found.end() : end])
        parser.resume(end)
        self.attributes |= parser.parse_optional_attr_dict()
        return self._typed()

    def _reduce(self) -> SourceOperation:
        parser = self.parser
        initial: list[UnresolvedOperand] = []
        while parser.parse_optional_punctuation("(") is not None:
            self.operands.append(parser.parse_unresolved_operand())
            parser.parse_keyword("init")
            parser.parse_punctuation(":")
            initial.append(parser.parse_unresolved_operand())
            parser.parse_punctuation(")")
            parser.parse_optional_punctuation(",")
        self.operands += initial
        applied: str | None = None
        if parser.parse_optional_keyword("applies") is not None:
            applied = parser.parse_identifier()
        parser.parse_keyword("across")
        parser.parse_keyword("dimensions")
        parser.parse_punctuation("=")
        self.attributes["dimensions"] = self._value()
        self.attributes |= parser.parse_optional_attr_dict()
        place = parser.pos
        operands, results = self._types()
        if applied is not None:
            element = operands[len(initial)]
            block = Block(arg_types=[element, element])
            op = _class_of(applied).create(operands=block.args, result_types=[element])
            block.add_ops([op, _class_of("stablehlo.return").create(operands=op.results)])
            return self._make(operands, results, place, [Region(block)])
        parser.parse_keyword("reducer")
        arguments: list[Parser.Argument] = []
        while parser.ahead == "(":  # pyright: ignore[reportPrivateUsage]
            arguments += parser.parse_comma_separated_list(parser.Delimiter.PAREN, self._argument)
        if len(arguments) != len(operands):
            parser.raise_error(f"the reducer takes {len(operands)} values, found {len(arguments)}")
        # written in pairs (a of x, b of x), (a of y, b of y); the body takes all a first
        ordered = arguments[0::2] + arguments[1::2]
        return self._make(operands, results, place, [parser.parse_region(ordered)])

    def _argument(self) -> Parser.Argument:
        argument = self.parser.parse_argument()
        self.parser.parse_optional_location()
        return argument

    def _while(self) -> SourceOperation:
        parser = self.parser
        names: list[Any] = []

        def binding() -> None:
            names.append(parser.parse_argument(expect_type=False))
            parser.parse_punctuation("=")
            self.operands.append(parser.parse_unresolved_operand())

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, binding)
        place = parser.pos
        types: list[Attribute] = []
        if parser.parse_optional_punctuation(":") is not None:
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        parser.parse_optional_attr_dict_with_keyword()
        regions: list[Region] = []
        for word in ("cond", "do"):
            parser.parse_keyword(word)
            arguments = [name.resolve(type_) for name, type_ in zip(names, types, strict=True)]
            regions.append(parser.parse_region(arguments))
        return self._make(types, types, place, regions)


def parse_stablehlo(text: str, name: str = "<text>", sources: Sources | None = None) -> ModuleOp:
    """
    The module in a text of StableHLO, pretty or generic; locations are those in the text, or places in it.

    Raises `ParseError` and `TileError` at the place of the fault.
    """
    ctx = context()
    ctx.allow_unregistered = True
    text = _RANGE.sub(lambda m: m[1] + " " * (len(m[0]) - len(m[1])), text)
    source = Source(name, text)
    sources = sources or Sources()
    sources.add(source)
    if not text.strip():
        raise SourceError(f"`{name}` is empty")
    return StableHloParser(ctx, source, sources).parse_module()


__all__ = ["StableHloParser", "balanced", "opaque", "parse_stablehlo"]
