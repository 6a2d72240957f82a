# SPDX-License-Identifier: Apache-2.0
"""What a process takes of the host it runs on."""

from __future__ import annotations

import re
import resource
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak_rss_bytes() -> int:
    """
    The most memory that this process has held, in bytes. What `getrusage` says counts, on Linux, what the
    process that started this one held at the time; it is used where there is no better source.
    """
    try:
        found = re.search(r"^VmHWM:\s*(\d+) kB$", _STATUS.read_text("ascii"), re.MULTILINE)
    except OSError:
        found = None
    if found is not None:
        return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # Linux reports KiB


class _Started:
    """The most memory that a process held which this one started, by what they say themselves."""

    peak = 0


def note_started(peak: int) -> None:
    """A process that this one started says how many bytes it has held at most."""
    _Started.peak = max(_Started.peak, peak)


def peak_started_bytes() -> int:
    """The most memory that one process held which this one started (`note_started`), in bytes; 0 without."""
    return _Started.peak
