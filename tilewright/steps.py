# SPDX-License-Identifier: Apache-2.0
"""
Where a compilation stands: one JSON line when a step starts and one when it ends, flushed as they happen, so
that a run that is killed has said how far it came and what it took.

Lines: {"step", "state": "start" | "end", "at_seconds"} and, at the end, "seconds" and "peak_rss_bytes" (of
the process so far).
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from tilewright.host import peak_rss_bytes
from tilewright.instrumentation import Instrument

FORMAT = {"format": "tilewright-steps", "version": 1}


class StepLog(Instrument):
    """Writes steps to a file; nothing without one. The first line names the format."""

    def __init__(self, path: Path | None) -> None:
        self._began = time.perf_counter()
        self._out: TextIO | None = None
        self._open: dict[str, float] = {}
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._out = path.open("w", encoding="utf-8")
            self._line(FORMAT)

    def start(self, step: str) -> None:
        """A step begins."""
        now = time.perf_counter()
        self._open[step] = now
        self._line({"step": step, "state": "start", "at_seconds": round(now - self._began, 4)})

    def end(self, step: str) -> None:
        """A step that has begun is done."""
        now = time.perf_counter()
        rss = peak_rss_bytes()
        self._line(
            {
                "step": step,
                "state": "end",
                "at_seconds": round(now - self._began, 4),
                "seconds": round(now - self._open.pop(step, now), 4),
                "peak_rss_bytes": rss,
            }
        )

    def before(self, step: str, module: object) -> None:
        """A pass, or a stage of one, begins."""
        self.start(step)

    def after(self, step: str, module: object) -> None:
        """It has ended well."""
        self.end(step)

    @contextmanager
    def step(self, name: str) -> Generator[None]:
        """Both lines around a block; the second is missing if the block raises."""
        self.start(name)
        yield
        self.end(name)

    def _line(self, data: Mapping[str, object]) -> None:
        if self._out is not None:
            self._out.write(json.dumps(data) + "\n")
            self._out.flush()
