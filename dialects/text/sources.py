# SPDX-License-Identifier: Apache-2.0
"""The texts a tool has read, so that a diagnostic can show the line it speaks of."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from xdsl.ir import Operation

from tilewright.diagnostics import TileError


class SourceError(TileError):
    """A file that is no text."""


@dataclass(frozen=True)
class Position:
    """A place in a file; line and column count from one."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass
class Source:
    """One text. `line_offset` is the number of lines above it in its file (chunks of a split file)."""

    name: str
    text: str
    line_offset: int = 0
    _starts: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._starts = [0]
        at = self.text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = self.text.find("\n", at + 1)

    def position(self, offset: int) -> Position:
        """
        Of the character at `offset`; O(log lines), where counting newlines anew would make a parse quadratic.
        """
        line = bisect_right(self._starts, offset)
        return Position(self.name, line + self.line_offset, offset - self._starts[line - 1] + 1)

    def line(self, number: int) -> str | None:
        """The text of a line (numbered as in `position`), without its newline; None outside."""
        index = number - self.line_offset - 1
        if not 0 <= index < len(self._starts):
            return None
        end = self.text.find("\n", self._starts[index])
        return self.text[self._starts[index] : end if end >= 0 else len(self.text)].rstrip("\r")


class Sources:
    """Everything read so far, by name, and where the ops that bring their own location stood in the text."""

    def __init__(self) -> None:
        self._by_name: dict[str, Source] = {}
        self._written_at: dict[Operation, Position] = {}

    def add(self, source: Source) -> Source:
        self._by_name[source.name] = source
        return source

    def get(self, name: str) -> Source | None:
        return self._by_name.get(name)

    def all(self) -> tuple[Source, ...]:
        return tuple(self._by_name.values())

    def note_op(self, op: Operation, position: Position) -> None:
        self._written_at[op] = position

    def written_at(self, op: Operation) -> Position | None:
        """Where an op with an explicit `loc(...)` was parsed; None for the others, whose location says it."""
        return self._written_at.get(op)
