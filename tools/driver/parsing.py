# SPDX-License-Identifier: Apache-2.0
"""
xDSL's parser, with what a compiler that talks to users needs: every op knows its source location, hexadecimal
float literals mean bits, an unknown name is reported where it stands with the nearest known ones.

All private names of xDSL's parser that this project touches are touched here.
"""

from __future__ import annotations

import re
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, FileLineColLoc, IntAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.parser.attribute_parser import AttrParser
from xdsl.utils.exceptions import ParseError, UnregisteredConstructException, VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRLexer

from tilewright.diagnostics import TileError
from tilewright.tools.driver.errors import DriverError, near
from tilewright.tools.driver.sources import Source, Sources

# xDSL 0.75's pattern tries every way to cut the text into runs before it gives up: a forgotten closing quote
# takes time exponential in the rest of the line. The same language, with possessive repetition.
MLIRLexer._unescaped_characters_regex = re.compile(  # pyright: ignore[reportPrivateUsage]
    r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"'
)


class HexFloatParser(Parser):
    """
    xDSL 0.75 reads `dense<0xFF800000> : tensor<f32>` as the number 4286578688; MLIR means the bits (here
    minus infinity).
    """

    class _TensorLiteralElement(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
        def to_type(self, parser: AttrParser, type: Any) -> Any:
            text = self.span.text
            if isinstance(type, AnyFloat) and text[:2].lower() == "0x":
                return type.unpack(int(text, 16).to_bytes(type.compile_time_size, "little"), 1)[0]
            return super().to_type(parser, type)


class LocatedParser(HexFloatParser):
    """
    Parses one `Source` into ops that carry `FileLineColLoc` unless the text gives them another location.
    """

    def __init__(self, ctx: Context, source: Source, sources: Sources) -> None:
        super().__init__(ctx, source.text, source.name)
        self._source = source
        self._sources = sources
        self._file = StringAttr(source.name)
        self._op_starts: list[int] = []

    def parse_operation(self) -> Operation:
        self._op_starts.append(self.pos)
        try:
            op = super().parse_operation()
        except (VerifyException, ValueError, UnregisteredConstructException) as error:
            # Attributes verify when they are built, in the middle of the parse: say in which op that was.
            start = self._op_starts[-1]
            raise ParseError(Span(start, start + 1, self.lexer.input), str(error)) from error
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
        ) is not None:
            return op_type
        span = Span(start, start + len(name), self.lexer.input)
        raise UnknownName(span, *_explain_unknown_op(self.ctx, name))

    def _parse_extended_type_or_attribute(self, attr_or_dialect_name: str, is_type: Any) -> Any:
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

    def __init__(self, span: Span, msg: str, hint: str | None) -> None:
        super().__init__(span, msg)
        self.hint = hint


def _explain_unknown_op(ctx: Context, name: str) -> tuple[str, str | None]:
    prefix, dot, _ = name.partition(".")
    known = ctx.registered_dialect_names
    if not dot:
        return f"unknown operation `{name}`", "operations are written `dialect.name`"
    if prefix not in known:
        return f"unknown dialect `{prefix}` in `{name}`", near(prefix, known)
    dialect = ctx.get_optional_dialect(prefix)
    names = [op.name for op in dialect.operations] if dialect is not None else []
    return f"dialect `{prefix}` has no operation `{name}`", near(name, names)


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
    """UTF-8 text of a file; `DriverError` says at which byte it stops being text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DriverError(
            f"`{name}` is not text: byte {error.start} is 0x{data[error.start]:02x}, which is not UTF-8",
            hint="MLIR bytecode and program images are not read here; give the textual form",
        ) from None
    if (at := text.find("\0")) >= 0:
        raise DriverError(f"`{name}` is not text: character {at} is a NUL byte")
    return text


def parse_source(ctx: Context, source: Source, sources: Sources, *, implicit_module: bool = True) -> ModuleOp:
    """Parse; `ParseError` at the place of the fault."""
    sources.add(source)
    if not source.text.strip():
        raise DriverError(f"`{source.name}` is empty", hint="an empty program is written `builtin.module {}`")
    return LocatedParser(ctx, source, sources).parse_module(implicit_module)
