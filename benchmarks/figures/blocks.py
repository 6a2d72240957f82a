# SPDX-License-Identifier: Apache-2.0
"""
Figures in documents: blocks between `<!-- figures:NAME -->` and `<!-- /figures -->` that a command writes.

A block holds what its producer returns, tables and lines of text, and below it a line with the version, the
commit and the machine it was made at. Comparing leaves out that line and the columns that are timings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"<!-- figures:([a-z0-9-]+) -->\n(.*?)<!-- /figures -->", re.DOTALL)
STAMP = re.compile(r"^_tilewright [^\n]*_$", re.MULTILINE)
HIDDEN = "~"


@dataclass(frozen=True)
class Table:
    """A table; `timed` are the columns that depend on the host (seconds, memory): they are never compared."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    timed: frozenset[str] = frozenset()

    def lines(self, hide: bool = False) -> list[str]:
        secret = {i for i, name in enumerate(self.head) if hide and name in self.timed}
        return [
            _row(self.head),
            "|---" * len(self.head) + "|",
            *(_row([HIDDEN if i in secret else cell for i, cell in enumerate(row)]) for row in self.rows),
        ]


Part = Table | str
"""What a producer returns: tables, and paragraphs without timings."""


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def render(parts: Sequence[Part], hide: bool = False) -> list[str]:
    """The lines of a block without its stamp; parts are separated by empty lines."""
    found: list[str] = []
    for part in parts:
        found += ["", *([part] if isinstance(part, str) else part.lines(hide))]
    return found[1:]


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks() -> Iterator[tuple[Path, str, str]]:
    """(document, name, contents) of every block."""
    for path in documents():
        for match in BLOCK.finditer(path.read_text("utf-8")):
            yield path, match[1], match[2]


def write(path: Path, name: str, parts: Sequence[Part], stamp: str) -> None:
    """Replace the contents of a block."""
    text = "\n".join([*render(parts), "", f"_{stamp}_"])
    old = path.read_text("utf-8")

    def replaced(match: re.Match[str]) -> str:
        if match[1] != name:
            return match[0]
        return f"<!-- figures:{name} -->\n{text}\n<!-- /figures -->"

    path.write_text(BLOCK.sub(replaced, old), encoding="utf-8")


def differences(contents: str, parts: Sequence[Part]) -> list[str]:
    """Where a block departs from what its producer returned, timings and the stamp left out."""
    have = [line for line in STAMP.sub("", contents).strip().splitlines() if line.strip()]
    want = [line for line in render(parts, hide=True) if line.strip()]
    secret: dict[int, set[int]] = {}
    at = 0
    for part in parts:
        count = 1 if isinstance(part, str) else len(part.rows) + 2
        if isinstance(part, Table):
            columns = {i for i, name in enumerate(part.head) if name in part.timed}
            secret |= {at + 2 + i: columns for i in range(len(part.rows))}
        at += count
    found: list[str] = []
    for i in range(max(len(have), len(want))):
        mine = have[i] if i < len(have) else ""
        wanted = want[i] if i < len(want) else ""
        if columns := secret.get(i):
            mine = _row([HIDDEN if k in columns else cell for k, cell in enumerate(_cells(mine))])
        if "|" in wanted and "|" in mine:
            mine, wanted = _row(_cells(mine)), _row(_cells(wanted))
        if mine != wanted:
            found.append(f"document: {mine or 'nothing'}\n     now: {wanted or 'nothing'}")
    return found
