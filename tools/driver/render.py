# SPDX-License-Identifier: Apache-2.0
"""From an exception to `file:line:col: error: message`, source line, caret, notes and hint."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Operation
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.hints import isa
from xdsl.utils.lexer import Span

from tilewright.diagnostics import TileError
from tilewright.dialects.text.sources import Position, Source, Sources
from tilewright.instrumentation import Remark
from tilewright.tools.driver.errors import ContextNote
from tilewright.tools.driver.verify import reason

_LINE_LIMIT = 160
"""Characters of a source line that are shown; longer ones (dense constants) are cut around the caret."""


Severity = Literal["error", "warning", "note", "remark"]


@dataclass(frozen=True)
class Diagnostic:
    """One error, or remark, as it is printed. `context` are notes that say where the error came up."""

    message: str
    position: Position | None = None
    width: int = 1
    notes: Sequence[str] = ()
    hint: str | None = None
    context: Sequence[str] = ()
    severity: Severity = "error"


def position_of(location: object, sources: Sources) -> tuple[Position | None, tuple[str, ...]]:
    """A place in a text, and notes about what else the location says."""
    if location is None:
        return None, ()
    if isinstance(location, Position):
        return location, ()
    if isinstance(location, Operation):
        written_at = sources.written_at(location)
        if written_at is None:
            return position_of(location.location, sources)
        origin, notes = position_of(location.location, sources)
        return written_at, (*((f"the op comes from {origin}",) if origin is not None else ()), *notes)
    if isinstance(location, FileLineColLoc):
        return Position(location.filename.data, location.line.data, location.column.data), ()
    if isinstance(location, NameLoc):
        position, notes = position_of(location.location, sources)
        return position, (f"in `{location.desc.data}`", *notes)
    if isinstance(location, CallSiteLoc):
        position, notes = position_of(location.callee, sources)
        caller, _ = position_of(location.caller, sources)
        return position, (*notes, *((f"called from {caller}",) if caller is not None else ()))
    if isinstance(location, FusedLoc) and isa(location.locations, ArrayAttr):
        for part in location.locations:
            position, notes = position_of(part, sources)
            if position is not None:
                return position, notes
        return None, ()
    if isinstance(location, str):
        file, line, column = ([*location.rsplit(":", 2), "", ""])[:3]
        if line.isdigit() and column.isdigit():
            return Position(file, int(line), int(column)), ()
        return None, (f"at {location}",) if location else ()
    return None, ()


def diagnose(error: BaseException, sources: Sources) -> Diagnostic:
    """What to print for an error that the user caused."""
    if isinstance(error, TileError):
        position, notes = position_of(error.location, sources)
        own = tuple(note for note in error.notes if not isinstance(note, ContextNote))
        context = (*(note for note in error.notes if isinstance(note, ContextNote)), *notes)
        return Diagnostic(error.message, position, 0, own, error.hint, context)
    if isinstance(error, ParseError):
        where = _shown(error.span).get_location()
        notes: tuple[str, ...] = ()
        if isinstance(error, MultipleSpansParseError):
            notes = tuple(
                f"{error.ref_text or 'see'} {span.get_location()}" + (f": {text}" if text else "")
                for span, text in error.refs
            )
        return Diagnostic(
            error.msg,
            Position(where.file, where.line, where.col),
            max(1, error.span.len),
            notes,
            getattr(error, "hint", None),
        )
    if isinstance(error, OSError) and error.filename is not None:
        return Diagnostic(f"cannot open `{error.filename}`: {(error.strerror or str(error)).lower()}")
    if isinstance(error, OSError) and error.strerror:
        return Diagnostic(f"cannot write the output: {error.strerror.lower()}")
    return Diagnostic(reason(error) or type(error).__name__)


def diagnose_remark(remark: Remark, sources: Sources) -> Diagnostic:
    """What to print for a remark, or a warning, of a pass."""
    position, notes = position_of(remark.location, sources)
    if remark.category == "warning":
        return Diagnostic(remark.message, position, 0, context=notes, severity="warning")
    origin = f" [{remark.step}: {remark.category}]"
    return Diagnostic(remark.message + origin, position, 0, context=notes, severity="remark")


def _shown(span: Span[str] | Span[bytes]) -> Span[str] | Span[bytes]:
    """The span, or the last character of the text where the parser stumbled over the end of the file."""
    end = len(span.input.content.rstrip())
    if span.start < end or end == 0:
        return span
    return dataclasses.replace(span, start=end - 1, end=end)


def format_diagnostic(diagnostic: Diagnostic, tool: str, sources: Sources) -> str:
    """Text, with a newline at the end."""
    position = diagnostic.position
    prefix = str(position) if position is not None else tool
    lines = [f"{prefix}: {diagnostic.severity}: {diagnostic.message}"]
    if position is not None and (text := _source_line(position, sources)) is not None:
        lines.extend(_caret(text, position.column, diagnostic.width))
    lines.extend(f"note: {note}" for note in (*diagnostic.notes, *diagnostic.context))
    if diagnostic.hint:
        lines.append(f"hint: {diagnostic.hint}")
    return "\n".join(lines) + "\n"


def _source_line(position: Position, sources: Sources) -> str | None:
    source = sources.get(position.file)
    if source is None:
        try:
            source = sources.add(Source(position.file, Path(position.file).read_text("utf-8")))
        except (OSError, UnicodeDecodeError, ValueError):
            return None
    return source.line(position.line)


def _caret(text: str, column: int, width: int) -> tuple[str, str]:
    """The line and the marks under it. `width` 0 marks the word that starts there."""
    start = min(max(column - 1, 0), len(text))
    if width == 0:
        end = start
        while end < len(text) and not text[end].isspace() and text[end] not in "(),{}":
            end += 1
        width = max(1, end - start)
    width = max(1, min(width, len(text) - start))
    if len(text) > _LINE_LIMIT:
        cut = max(0, start - _LINE_LIMIT // 2)
        shown = text[cut : cut + _LINE_LIMIT]
        width = min(width, len(shown) - (start - cut)) or 1
        text = ("..." if cut else "") + shown + ("..." if cut + _LINE_LIMIT < len(text) else "")
        start = start - cut + (3 if cut else 0)
    indent = "".join("\t" if character == "\t" else " " for character in text[:start])
    return text, indent + "^" + "~" * (width - 1)
