# SPDX-License-Identifier: Apache-2.0
"""
xDSL's parser, with what a compiler that talks to users needs: every op knows its source location, literals
mean what they mean in MLIR, an unknown name is reported where it stands with the nearest known ones.

All private names of xDSL's parser that this project touches are touched here.
"""

from __future__ import annotations

import re
import struct
from math import prod
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    FileLineColLoc,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    UnknownLoc,
    UnregisteredOp,
    f64,
    i64,
)
from xdsl.ir import Block, Operation
from xdsl.parser import Parser, ParserState
from xdsl.parser.attribute_parser import AttrParser
from xdsl.utils.exceptions import ParseError, UnregisteredConstructException, VerifyException
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind

from tilewright import limits
from tilewright.diagnostics import TileError
from tilewright.dialects.text.float_literals import float_of_bits, round_literal
from tilewright.dialects.text.sources import Source, SourceError, Sources
from tilewright.suggestions import near

# xDSL 0.75's pattern tries every way to cut the text into runs before it gives up: a forgotten closing quote
# takes time exponential in the rest of the line. The same language, with possessive repetition.
MLIRLexer._unescaped_characters_regex = re.compile(  # pyright: ignore[reportPrivateUsage]
    r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"'
)


_WIDEST_INTEGER = 128
"""Bits of the widest integer type that is read; programs compute with at most 32."""

_UNFIT = (
    VerifyException,
    ValueError,
    UnregisteredConstructException,
    # what xDSL raises where a literal and its type do not fit together
    ArithmeticError,
    AssertionError,
    NotImplementedError,
    struct.error,
)


_DENSE = (
    (
        re.compile(r"Shape mismatch in dense literal. Expected (\[.*\]) shape .* got (\[.*\]) shape"),
        "the constant has shape {1}, its type has {0}",
    ),
    (
        re.compile(r"Shape mismatch in dense literal. Expected (\d+) elements .* got (\d+) elements"),
        "the bytes of the constant are {1} elements, its type has {0}",
    ),
    (re.compile("Expected at least one element"), "the constant is empty, its type is not"),
    (re.compile("Hex string in denseAttr"), "the bytes of a constant are hexadecimal digits behind `0x`"),
    (re.compile("Tensor literal has inconsistent"), "the rows of the constant differ in length"),
)
"""What xDSL says of constants that do not have the size of their type, and what we say."""


class BoundedLexer(MLIRLexer):
    """
    xDSL's lexer; an integer has at most 64 bits, and `1e-05`, as Python and C write it, is a number (xDSL and
    MLIR want a point in it).
    """

    _exponent_regex = re.compile(r"[eE][+-]?[0-9]+(?![\w.$])")

    def _lex_number(self, start_pos: int) -> MLIRToken:
        token = super()._lex_number(start_pos)
        if token.kind is not MLIRTokenKind.INTEGER_LIT:
            return token
        text = token.text
        hexadecimal = text[:2].lower() == "0x"
        if not hexadecimal and self._consume_regex(self._exponent_regex) is not None:
            return self._form_token(MLIRTokenKind.FLOAT_LIT, start_pos)
        # the length first: Python refuses to convert thousands of decimal digits
        digits = text[2:].lstrip("0") if hexadecimal else text.lstrip("0")
        longest = -(-limits.INTEGER_BITS // 4) if hexadecimal else len(str(2**limits.INTEGER_BITS - 1))
        if len(digits) > longest or int(digits or "0", 16 if hexadecimal else 10) >> limits.INTEGER_BITS:
            shown = text if len(text) <= 40 else f"{text[:37]}..."
            raise ParseError(token.span, f"integer {shown} has more than {limits.INTEGER_BITS} bits")
        return token


class LiteralParser(Parser):
    """
    xDSL's parser with MLIR's reading of literals.

    xDSL 0.75 reads `dense<0xFF800000> : tensor<f32>` as the number 4286578688 where MLIR means the bits (here
    minus infinity), fails on decimal literals beyond the range of f16 and f32, which MLIR rounds, and makes
    constants and types of any size.
    """

    class _TensorLiteralElement(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
        def to_type(self, parser: AttrParser, type: Any) -> Any:
            if not isinstance(type, AnyFloat):
                return super().to_type(parser, type)
            text = self.span.text
            if text[:2].lower() == "0x":
                try:
                    return float_of_bits(text, type)
                except ValueError as error:
                    parser.raise_error(str(error), self.span)
            if text[:3].lower() == "-0x":
                parser.raise_error("the bits of a float have no sign before them", self.span)
            if isinstance(self.value, tuple):
                return super().to_type(parser, type)
            return round_literal(self.value, type)

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        start = self._current_token.span
        boolean = self.try_parse_builtin_boolean_attr()
        if boolean is not None:
            return boolean
        value = self.parse_optional_number()
        if value is None:
            return None
        text = start.input.slice(start.start, self._current_token.span.start) or ""
        if self._current_token.kind is not MLIRTokenKind.COLON:
            return FloatAttr(value, f64) if isinstance(value, float) else IntegerAttr(value, i64)
        type_ = self._parse_attribute_type()
        if isinstance(type_, AnyFloat):
            if text[:3].lower() == "-0x":
                self.raise_error("the bits of a float have no sign before them", start)
            if text[:2].lower() != "0x":
                return FloatAttr(round_literal(value, type_), type_)
            try:
                return FloatAttr(float_of_bits(text.strip(), type_), type_)
            except ValueError as error:
                self.raise_error(str(error), start)
        if not isinstance(type_, IntegerType | IndexType):
            self.raise_error("a number has an integer, index or float type", start)
        if isinstance(value, float):
            self.raise_error(f"{text.strip()} is no value of the integer type {type_}", start)
        return IntegerAttr(value, type_)

    def _parse_dense_literal_type(self) -> Any:
        type_ = super()._parse_dense_literal_type()
        count = prod(type_.get_shape())
        if count > limits.CONSTANT_ELEMENTS:
            self.raise_error(
                f"a constant in the text has at most {limits.CONSTANT_ELEMENTS} elements, this one {count}"
            )
        return type_

    def parse_dense_int_or_fp_elements_attr(self, type: Any) -> Any:
        start = self._current_token.span.start
        try:
            return super().parse_dense_int_or_fp_elements_attr(type)
        except ParseError as error:
            # xDSL marks what stands behind the type, on the next line
            for pattern, message in _DENSE:
                if (found := pattern.match(error.msg)) is not None:
                    text = str(self.lexer.input.content)
                    end = text.find(">", start) + 1
                    raise ParseError(
                        Span(start, end, self.lexer.input), message.format(*found.groups())
                    ) from None
            raise

    def _parse_block(self) -> Block:
        if self._current_token.kind is not MLIRTokenKind.CARET_IDENT:  # xDSL says `in block definition`
            found = self._current_token.text
            self.raise_error(
                f"expected an operation or `}}` here, found `{found}`" if found else "expected `}`"
            )
        return super()._parse_block()

    def _parse_optional_integer_or_float_type(self) -> Any:
        text = self._current_token.text
        match = self._builtin_integer_type_regex.match(text)
        if match is not None and (len(match.group(1)) > 3 or int(match.group(1)) > _WIDEST_INTEGER):
            self.raise_error(f"an integer type has at most {_WIDEST_INTEGER} bits")
        return super()._parse_optional_integer_or_float_type()


class LocatedParser(LiteralParser):
    """
    Parses one `Source` into ops that carry `FileLineColLoc` unless the text gives them another location.
    """

    def __init__(self, ctx: Context, source: Source, sources: Sources) -> None:
        super().__init__(ctx, source.text, source.name)
        self._parser_state = ParserState(BoundedLexer(Input(source.text, source.name)))
        self._source = source
        self._sources = sources
        self._file = StringAttr(source.name)
        self._op_starts: list[int] = []
        self._forward: set[str] = set()
        """Aliases of locations that were read before their definition is reached."""

    def parse_operation(self) -> Operation:
        self._op_starts.append(self.pos)
        try:
            op = super().parse_operation()
        except _UNFIT as error:
            # Attributes verify when they are built, in the middle of the parse: say in which op that was.
            start = self._op_starts[-1]
            message = str(error) or "the text does not make an operation"
            raise ParseError(Span(start, start + 1, self.lexer.input), message) from error
        except TileError as error:
            if error.location is None:
                error.location = self._source.position(self._op_starts[-1])
            raise
        start = self._op_starts.pop()
        position = self._source.position(start)
        if isinstance(op.location, UnknownLoc):
            op.location = FileLineColLoc(self._file, IntAttr(position.line), IntAttr(position.column))
        else:
            self._sources.note_op(op, position)
        return op

    def _get_op_by_name(self, name: str) -> type[Operation]:
        # The name token is consumed already; the op's text starts with its results, so the first match is the
        # name.
        start = self._op_starts[-1]
        at = self._source.text.find(name, start)
        self._op_starts[-1] = start = at if at >= 0 else start
        if (
            op_type := self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        ) is not None and not (issubclass(op_type, UnregisteredOp) and _is_ours(self.ctx, name)):
            return op_type
        span = Span(start, start + len(name), self.lexer.input)
        raise UnknownName(span, *_explain_unknown_op(self.ctx, name))

    def _parse_alias_def(self) -> None:
        name = self._current_token.text
        if name not in self._forward:
            super()._parse_alias_def()
            return
        self._consume_token()
        self.parse_punctuation("=", "after attribute alias name")
        self.parse_attribute()  # read before, where it was used
        self._forward.remove(name)

    def _read_forward_location(self, name: str) -> None:
        """MLIR defines aliases of locations at the end of a file: read the one called `name` from there."""
        found = re.search(rf"^{re.escape(name)}\s*=\s*(?=loc\()", self._source.text, re.M)
        if found is None or name in self._forward:
            return
        self._forward.add(name)
        back = self.pos
        self._resume_from(found.end())
        self.attribute_aliases[name] = self.parse_attribute()
        self._resume_from(back)

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: Any) -> Any:
        if not is_type and f"#{attr_or_dialect_name}" not in self.attribute_aliases:
            self._read_forward_location(f"#{attr_or_dialect_name}")
        end = self._current_token.span.start
        try:
            return super()._parse_extended_type_or_attribute(attr_or_dialect_name, is_type)
        except ParseError as error:
            if not error.msg.endswith("is not registered"):
                raise
            # The current token may be far away, behind comments: search the op for the name as it is written.
            written = re.compile(rf"[!#]{re.escape(attr_or_dialect_name)}(?![\w.$-])")
            match = written.search(self._source.text, self._op_starts[-1] if self._op_starts else 0)
            start = match.start() + 1 if match is not None else end
            span = Span(start, start + len(attr_or_dialect_name), self.lexer.input)
            name = error.msg.split("'")[1]
            raise UnknownName(span, *_explain_unknown_attribute(self.ctx, name, is_type)) from None


class UnknownName(ParseError):
    """A parse error with a suggestion."""

    def __init__(self, span: Span[str] | Span[bytes], msg: str, hint: str | None) -> None:
        super().__init__(span, msg)
        self.hint = hint


_USUAL = ("tile_tensor", "tile", "tile_layout", "tile_repeat", "arith", "func", "scf", "builtin")
"""Dialects in which an operation that is written without one is looked for."""

_TYPES = ("tensor", "memref", "vector", "index", "none", "tuple", "complex", "i1", "i8", "i32", "i64", "f64")
_TYPES += ("f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ")


_PLAIN = {
    "Expected region!": "expected a region in braces",
    "Expected suffix identifier after {first_char}": "expected a name behind `{}`",
    "Could not parse entire input!": "expected an operation, found `{}`",
    "End of file reached before closing string literal.": "the text ends inside of a string",
}
"""What xDSL says, and what we say; `{}` is the character there."""


def _explained(error: ParseError, source: Source) -> ParseError:
    """The error with what xDSL leaves out: which bracket is open at the end, what a type may have been."""
    text = source.text
    # a name that nobody knows may be half of one, if not even a newline follows
    end = len(text) if isinstance(error, UnknownName) else len(text.rstrip())
    cut = error.span.end >= end and "string literal" not in error.msg
    if cut and (at := _open_bracket(text)) is not None:
        line = source.position(at).line
        message = f"the text ends before the `{text[at]}` of line {line} is closed"
        return UnknownName(Span(at, at + 1, Input(text, source.name)), message, "is the file cut off?")
    if error.msg in _PLAIN:
        found = text[error.span.start : error.span.start + 1]
        return ParseError(error.span, _PLAIN[error.msg].format(found).removesuffix(", found ``"))
    if error.msg in ("type expected", "Expected shape type."):
        word = re.compile(r"[A-Za-z_][\w.$]*").match(text, error.span.start)
        if word is None:  # `4xf17` is one token
            word = re.compile(r"x([A-Za-z_]\w*)$").search(error.span.text)
            return error if word is None else _unknown_type(error, word[1])
        return _unknown_type(error, word[0].removeprefix("x"))
    if error.msg.startswith("undefined symbol alias "):
        name = error.msg.split("'")[1]
        at = max(text.rfind(name, 0, error.span.start + len(name)), 0)
        known = re.findall(r"^([#!][\w.$-]+)\s*=", text, re.M)
        span = Span(at, at + len(name), Input(text, source.name))
        if name in known:
            hint = "only aliases of locations may be defined behind their use, and not by themselves"
            return UnknownName(span, f"the alias `{name}` is not defined here", hint)
        return UnknownName(span, f"the alias `{name}` is not defined", near(name, known))
    return error


def _unknown_type(error: ParseError, word: str) -> ParseError:
    if word in _TYPES:
        return error
    if "." in word:
        hint = f"types of dialects begin with `!`: `!{word}`"
        return UnknownName(error.span, f"unknown type `{word}`", hint)
    return UnknownName(error.span, f"unknown type `{word}`", near(word, _TYPES))


def _open_bracket(text: str) -> int | None:
    """Where the innermost bracket stands that is open at the end of a text; strings and comments apart."""
    found: list[int] = []
    for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|[][(){}]', text):
        character = match[0]
        if character in ("(", "[", "{"):
            found.append(match.start())
        elif character in (")", "]", "}") and found:
            found.pop()
    return found[-1] if found else None


def _is_ours(ctx: Context, name: str) -> bool:
    """
    Whether an operation would be of one of our dialects: what these do not have is wrong even where foreign
    dialects need not be known.
    """
    prefix = name.partition(".")[0]
    return prefix in ctx.registered_dialect_names and (prefix == "tile" or prefix.startswith("tile_"))


def _explain_unknown_op(ctx: Context, name: str) -> tuple[str, str | None]:
    prefix, dot, _ = name.partition(".")
    known = ctx.registered_dialect_names
    if not dot:
        known_names = [f"{dialect}.{name}" for dialect in _USUAL if ctx.get_optional_op(f"{dialect}.{name}")]
        hint = near(known_names[0], known_names) if known_names else _near_operation(ctx, name)
        return f"unknown operation `{name}`", hint
    if prefix not in known:
        return f"unknown dialect `{prefix}` in `{name}`", near(prefix, known)
    dialect = ctx.get_optional_dialect(prefix)
    names = [op.name for op in dialect.operations] if dialect is not None else []
    return f"dialect `{prefix}` has no operation `{name}`", near(name, names)


def _near_operation(ctx: Context, name: str) -> str:
    """A hint for the name of an operation without a dialect that no usual dialect has."""
    from difflib import get_close_matches

    full: dict[str, str] = {}
    for prefix in reversed(_USUAL):
        dialect = ctx.get_optional_dialect(prefix)
        full |= {op.name.partition(".")[2]: op.name for op in (dialect.operations if dialect else ())}
    close = get_close_matches(name, full, 1, 0.8)
    return f"did you mean `{full[close[0]]}`?" if close else "operations are written `dialect.name`"


def _explain_unknown_attribute(ctx: Context, name: str, is_type: bool) -> tuple[str, str | None]:
    prefix, _, _ = name.partition(".")
    kind = "type" if is_type else "attribute"
    known = ctx.registered_dialect_names
    if prefix not in known:
        return f"unknown dialect `{prefix}` in the {kind} `{name}`", near(prefix, known)
    dialect = ctx.get_optional_dialect(prefix)
    names = [attribute.name for attribute in dialect.attributes] if dialect is not None else []
    return f"dialect `{prefix}` has no {kind} `{name}`", near(name, names)


def decode(data: bytes, name: str) -> str:
    """UTF-8 text of a file; `SourceError` says at which byte it stops being text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(
            f"`{name}` is not text: byte {error.start} is 0x{data[error.start]:02x}, which is not UTF-8",
            hint="MLIR bytecode and program images are not read here; give the textual form",
        ) from None
    if (at := text.find("\0")) >= 0:
        raise SourceError(f"`{name}` is not text: character {at} is a NUL byte")
    return text


def parse_source(ctx: Context, source: Source, sources: Sources, *, implicit_module: bool = True) -> ModuleOp:
    """Parse; `ParseError` at the place of the fault."""
    sources.add(source)
    if not source.text.strip():
        raise SourceError(f"`{source.name}` is empty", hint="an empty program is written `builtin.module {}`")
    try:
        return LocatedParser(ctx, source, sources).parse_module(implicit_module)
    except ParseError as error:
        explained = _explained(error, source)
        if explained is error:
            raise
        raise explained from error
