# SPDX-License-Identifier: Apache-2.0
"""How much memory a part of a test takes, in a process that has run others before it."""

from __future__ import annotations

from pathlib import Path

from tilewright.host import peak_rss_bytes


def peak_bytes(anew: bool = False) -> int:
    """
    The most memory that this process has had since the last call with `anew`, which forgets what it had
    before. 0 where there is no way to tell.
    """
    forget = Path("/proc/self/clear_refs")
    if not forget.exists():
        return 0
    if anew:
        forget.write_text("5", "ascii")  # resets the high-water mark, proc(5)
    return peak_rss_bytes()
