# SPDX-License-Identifier: Apache-2.0
"""Progress: drawn on terminals, a line for every step with -v, nothing with -q."""

from __future__ import annotations

import io
import time
from argparse import Namespace

import pytest

from tilewright import instrumentation
from tilewright.tools.driver import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def work(seconds: float = 0.0) -> None:
    with progress.step("tile-schedule-exchange"):
        for done in range(8):
            instrumentation.advance(done, 8)
            time.sleep(seconds / 8)
    with pytest.raises(ValueError), progress.step("simulate"):
        raise ValueError


@pytest.mark.parametrize(
    ("terminal", "quiet", "verbose"),
    [(False, False, False), (False, True, False), (True, True, False), (True, False, False)],
)
def test_nothing_is_said_elsewhere_or_of_what_is_quick(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, quiet: bool, verbose: bool
) -> None:
    stderr = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", stderr)
    with progress.shown(Namespace(quiet=quiet, verbose=verbose)):
        work()
    assert stderr.getvalue() == ""


def test_verbose_is_a_line_for_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr("sys.stderr", stderr)
    with progress.shown(Namespace(quiet=False, verbose=True)), progress.step("compile"):
        work()
    lines = stderr.getvalue().splitlines()
    assert [line.partition(" s  ")[2] for line in lines] == [
        "  tile-schedule-exchange",
        "  simulate (failed)",
        "compile",
    ]


def test_a_terminal_shows_the_step_and_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = Terminal()
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with progress.shown(Namespace(quiet=False, verbose=False)):
        time.sleep(0.5)  # drawing begins
        work(1.0)
    text = stderr.getvalue()
    assert "tile-schedule-exchange 7/8" in text
    assert "\x1b[2K" in text[-20:], "the line is taken away again"


@pytest.mark.parametrize("terminal", [False, True])
def test_lines_are_printed_around_what_is_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool
) -> None:
    if terminal:
        monkeypatch.setattr("sys.stderr", Terminal())
        monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.shown(Namespace(quiet=False, verbose=False)), progress.step("compile"):
        time.sleep(0.3 if terminal else 0.0)
        progress.say("3 phases checked")
    assert capsys.readouterr().out == "3 phases checked\n"
