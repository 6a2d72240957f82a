# SPDX-License-Identifier: Apache-2.0
"""The peak of memory is the process's own, not what the one that started it held."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tilewright import host

SMALL = "from tilewright.host import peak_rss_bytes; print(peak_rss_bytes())"
LARGE = "import numpy; held = numpy.ones(1 << 26, numpy.uint8); " + SMALL


def peak(text: str) -> int:
    command = [sys.executable, "-c", text]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_a_process_does_not_count_what_its_parent_holds() -> None:
    held = np.ones(1 << 28, np.uint8)
    assert 1 << 22 < peak(SMALL) < held.nbytes
    assert peak(LARGE) > 1 << 26


def test_processes_that_were_started_say_what_they_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host._Started, "peak", 0)
    for held in (5, 9, 7):
        host.note_started(held)
    assert host.peak_started_bytes() == 9
