# SPDX-License-Identifier: Apache-2.0
"""
How far a tool is, on stderr: a line that shows the running step, with a bar where the step says how far it
is, on terminals only; with `-v` a line for every step that has ended, anywhere; with `-q` nothing.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TextIO

from tilewright import instrumentation
from tilewright.instrumentation import Instrument

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


PATIENCE = 0.7
"""Seconds before anything is drawn: a run that is shorter shows nothing, and does not load what draws."""


class StepDisplay(Instrument):
    """
    Told of steps and of how far they are; used by `shown`. `live` draws the line that changes, `verbose`
    prints a line for every step that ended.
    """

    def __init__(self, *, live: bool, verbose: bool) -> None:
        self._verbose = verbose
        self._open: list[tuple[str, float]] = []
        self._lock = threading.Lock()
        self._drawn: Progress | None = None
        self._task: TaskID | None = None
        self._timer = threading.Timer(PATIENCE, self._start_drawing) if live else None
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def before(self, step: str, module: object) -> None:
        with self._lock:
            self._open.append((step, time.perf_counter()))
            self._draw()

    def after(self, step: str, module: object) -> None:
        self._end("")

    def failed(self, step: str, module: object, error: Exception) -> None:
        self._end(" (failed)")

    def advanced(self, step: str, done: int, total: int) -> None:
        with self._lock:
            drawn, task = self._drawn, self._task
            if drawn is not None and task is not None:
                drawn.update(task, description=f"{step} {done}/{total}", completed=done, total=total)

    def say(self, text: str, file: TextIO) -> None:
        """Print a line where the one that changes is drawn, which comes back below it."""
        with self._lock:
            if self._drawn is not None:
                self._drawn.stop()
            print(text, file=file, flush=True)
            if self._drawn is not None:
                self._drawn.start()

    def close(self) -> None:
        """Take the line away."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._timer = None
            if self._drawn is not None:
                self._drawn.stop()
                self._drawn = None

    def _end(self, how: str) -> None:
        with self._lock:
            step, since = self._open.pop()
            if self._verbose:
                line = f"{time.perf_counter() - since:8.2f} s  {'  ' * len(self._open)}{step}{how}"
                if self._drawn is not None:
                    self._drawn.console.print(line, markup=False, highlight=False)
                else:
                    print(line, file=sys.stderr, flush=True)
            self._draw()

    def _start_drawing(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._timer is None:
                return  # closed in the meantime
            self._drawn = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=30),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._drawn.start()
            self._draw()

    def _draw(self) -> None:
        if self._drawn is None:
            return
        if self._task is not None:
            self._drawn.remove_task(self._task)
        self._task = self._drawn.add_task(self._open[-1][0], total=None) if self._open else None


_current: ContextVar[StepDisplay | None] = ContextVar("tilewright_progress", default=None)


def say(text: str, file: TextIO | None = None) -> None:
    """Print a line (to stdout, or `file`) inside of `shown`."""
    display = _current.get()
    if display is None:
        print(text, file=file or sys.stdout, flush=True)
    else:
        display.say(text, file or sys.stdout)


@contextmanager
def shown(options: argparse.Namespace) -> Generator[None]:
    """Show the steps of the block as `-q` and `-v` of a `ToolParser` say."""
    live = sys.stderr.isatty() and not options.quiet
    if not live and not options.verbose:
        yield
        return
    display = StepDisplay(live=live, verbose=options.verbose)
    token = _current.set(display)
    try:
        with instrumentation.use(display):
            yield
    finally:
        _current.reset(token)
        display.close()


@contextmanager
def step(name: str) -> Generator[None]:
    """A step of the tool itself, such as reading."""
    with instrumentation.step(name, None):
        yield
