# SPDX-License-Identifier: Apache-2.0
"""
Diagnostics in plain `xdsl-opt`, which ends with a traceback whatever was wrong: errors of ours, what our
operations say when they verify, and parse errors in texts with operations or types of ours are printed as
tile-opt prints them. Others are left alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from types import TracebackType

from xdsl.utils.exceptions import DiagnosticException, ParseError

from tilewright.diagnostics import TileError
from tilewright.dialects.text.sources import Source, Sources
from tilewright.tools.driver.render import diagnose, format_diagnostic

TOOL = "xdsl-opt"

_OURS = re.compile(r"\btile(_asm|_layout|_repeat|_tensor)?\.[a-z]")


def report(error: BaseException, trace: TracebackType | None) -> bool:
    """Print an error of ours to stderr; False (and nothing printed) for one that is not."""
    sources = Sources()
    if isinstance(error, ParseError):
        text = error.span.input.content
        if not isinstance(text, str) or _OURS.search(text) is None:
            return False
        sources.add(Source(error.span.input.name, text))
    elif not isinstance(error, TileError) and not (
        isinstance(error, DiagnosticException) and _raised_by_us(error, trace)
    ):
        return False
    shown = diagnose(error, sources)
    if not isinstance(error, (TileError, ParseError)):
        shown = replace(shown, notes=(*shown.notes, *_marked(error)))
    sys.stdout.flush()
    sys.stderr.write(format_diagnostic(shown, TOOL, sources))
    return True


def _raised_by_us(error: BaseException, trace: TracebackType | None) -> bool:
    return any(name.startswith("tilewright.") for name in _modules(error, trace))


def _modules(error: BaseException, trace: TracebackType | None) -> Iterator[str]:
    """Names of the modules that an error and its causes came through."""
    current: BaseException | None = error
    while current is not None:
        while trace is not None:
            yield str(trace.tb_frame.f_globals.get("__name__", ""))
            trace = trace.tb_next
        current = current.__cause__
        trace = current.__traceback__ if current is not None else None


def _marked(error: BaseException) -> list[str]:
    """The operation that xDSL has marked in its print of the whole module."""
    for note in getattr(error, "__notes__", ()):
        lines = str(note).splitlines()
        for above, line in pairwise(lines):
            if re.match(r"\s*\^\^", line):
                return [f"in `{above.strip()}`"]
    return []
