# SPDX-License-Identifier: Apache-2.0
"""
Diagnostics that a text expects, by MLIR's rules: `expected-error {{text}}`, `-warning`, `-note`, `-remark`.

A designator behind the kind says which line the diagnostic is on: none, the line of the comment; `@+N` and
`@-N`, N lines below and above; `@below` and `@above`, the next and the last line without a comment of this
kind, so that several may be stacked; `@unknown`, no line of this text. The text is a part of the message;
behind `-re`, its pieces in `{{...}}` are regular expressions. As in Clang, a count may stand before the text:
`2`, `2+`, `0-1`; without one, the diagnostic occurs at least once.

Beyond MLIR, several expectations may stand on a line, and what begins like one and is none is an error (MLIR
passes over both).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from tilewright.dialects.text.sources import Position, Source
from tilewright.tools.driver.render import Diagnostic, Severity

_START = re.compile(r"(?<![\w-])expected-(error|warning|note|remark)(?![\w]|-(?!re))")
_REST = re.compile(
    r"(?P<regex>-re)?\s*(?:@(?P<where>[+-][0-9]+|above|below|unknown))?\s*"
    r"(?P<count>[0-9]+(?:\+|-[0-9]+)?)?\s*\{\{"
)


@dataclass
class Expectation:
    """One expected diagnostic; `line` is None for `@unknown`. `seen` counts those that it matched."""

    severity: Severity
    line: int | None
    pattern: re.Pattern[str]
    text: str
    least: int
    most: int | None
    at: Position
    width: int
    seen: int = 0

    def wants(self, severity: str, line: int | None, message: str) -> bool:
        """Whether a diagnostic is the one that is expected."""
        return severity == self.severity and line == self.line and self.pattern.search(message) is not None


def read_expectations(source: Source) -> tuple[list[Expectation], list[Diagnostic]]:
    """The expectations in a text, and what looks like one and is none."""
    found: list[Expectation] = []
    faults: list[Diagnostic] = []
    waiting: list[Expectation] = []
    last_plain = source.line_offset + 1
    lines = source.text.split("\n")
    for number, text in enumerate(lines, source.line_offset + 1):
        start = _START.search(text)
        if start is None:
            for expectation in waiting:
                expectation.line = number
            waiting.clear()
            last_plain = number
            continue
        while start is not None:
            at = Position(source.name, number, start.start() + 1)
            rest = _REST.match(text, start.end())
            end = _closing(text, rest.end()) if rest is not None else None
            if rest is None or end is None:
                message = "expected `@LINE`, a count, or `{{`" if rest is None else "`{{` without `}}`"
                faults.append(Diagnostic(f"{message} in an expected diagnostic", at, 0))
                break
            written = text[rest.end() : end]
            try:
                pattern = _pattern(written, bool(rest["regex"]))
                least, most = _counts(rest["count"])
            except (re.error, ValueError) as error:
                faults.append(Diagnostic(f"bad expected diagnostic: {error}", at, 0))
                start = _START.search(text, end + 2)
                continue
            where = rest["where"]
            line: int | None = number
            if where is not None and where[0] in "+-":
                line = number + int(where)
            elif where == "above":
                line = last_plain
            elif where == "unknown":
                line = None
            severity = cast(Severity, start[1])
            made = Expectation(severity, line, pattern, written, least, most, at, end + 2 - start.start())
            found.append(made)
            if where == "below":
                made.line = source.line_offset + len(lines)
                waiting.append(made)
            start = _START.search(text, end + 2)
    return found, faults


def check_expectations(
    expectations: Sequence[Expectation], diagnostics: Iterable[Diagnostic], name: str, *, strict: bool = True
) -> list[Diagnostic]:
    """
    What is wrong: diagnostics that nobody expects (`strict`), expectations that were not met. Notes are
    diagnostics of their own, on the line of what they belong to. `name` is the file of the expectations.
    """
    faults: list[Diagnostic] = []
    for diagnostic in diagnostics:
        position = diagnostic.position
        line = position.line if position is not None and position.file == name else None
        told: list[tuple[Severity, str]] = [(diagnostic.severity, diagnostic.message)]
        for note in diagnostic.notes:
            told.append(("note", note))
        for severity, message in told:
            matching = [e for e in expectations if e.wants(severity, line, message)]
            if matching:
                open_ = [e for e in matching if e.seen < max(e.least, 1)]
                (open_ or matching)[0].seen += 1
                continue
            other = next(
                (e for e in expectations if e.line == line and e.pattern.search(message) is not None), None
            )
            if other is not None:
                fault = f"{severity} where the text expects {other.severity}: {message}"
                other.seen += 1
                faults.append(Diagnostic(fault, other.at, other.width))
            elif strict:
                faults.append(Diagnostic(f"unexpected {severity}: {message}", position, 0))
    for expectation in expectations:
        if expectation.seen < expectation.least or (
            expectation.most is not None and expectation.seen > expectation.most
        ):
            fault = f'the expected {expectation.severity} "{expectation.text}" was not produced'
            if expectation.seen:
                fault = fault.replace(
                    "was not produced", f"was to come {_times(expectation)}, it came {expectation.seen} times"
                )
            faults.append(Diagnostic(fault, expectation.at, expectation.width))
    return faults


def _times(expectation: Expectation) -> str:
    least, most = expectation.least, expectation.most
    if most is None:
        return f"at least {least} times"
    return f"{least} times" if least == most else f"{least} to {most} times"


def _counts(text: str | None) -> tuple[int, int | None]:
    if text is None:
        return 1, None
    if text.endswith("+"):
        return int(text[:-1]), None
    least, dash, most = text.partition("-")
    if dash and int(most) < int(least):
        raise ValueError(f"the count {text} has its ends the wrong way round")
    return int(least), int(most if dash else least)


def _closing(text: str, start: int) -> int | None:
    """Where the `}}` stands that closes a `{{` which ended at `start`; pairs inside belong to the text."""
    depth, at = 1, start
    while at < len(text):
        if text.startswith("{{", at):
            depth, at = depth + 1, at + 2
        elif text.startswith("}}", at):
            run = len(text) - at - len(text[at:].lstrip("}"))
            # of an odd number of braces the first belongs to the text
            depth, at = depth - min(depth, run // 2), at + run
            if depth == 0:
                return at - 2
        else:
            at += 1
    return None


def _pattern(text: str, regex: bool) -> re.Pattern[str]:
    if not regex:
        return re.compile(re.escape(text))
    pieces: list[str] = []
    at = 0
    while (start := text.find("{{", at)) >= 0:
        pieces.append(re.escape(text[at:start]))
        end = _closing(text, start + 2)
        assert end is not None, "pairs inside are closed, or the text would not have ended here"
        pieces.append(f"(?:{text[start + 2 : end]})")
        at = end + 2
    pieces.append(re.escape(text[at:]))
    return re.compile("".join(pieces))
