# SPDX-License-Identifier: Apache-2.0
"""How much memory a part of a test takes, in a process that has run others before it."""

from __future__ import annotations

import re
from pathlib import Path


def peak_bytes(anew: bool = False) -> int:
    """
    The most memory that this process has had since the last call with `anew`, which forgets what it had
    before. 0 where there is no way to tell.
    """
    status, forget = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not status.exists() or not forget.exists():
        return 0
    if anew:
        forget.write_text("5", "ascii")  # resets the high-water mark, proc(5)
    return int(re.search(r"VmHWM:\s*(\d+) kB", status.read_text("ascii"))[1]) * 1024  # type: ignore[index]
