# SPDX-License-Identifier: Apache-2.0
"""
Threads for arithmetic: numpy lets go of the interpreter while it computes.

Whoever divides work says how; here it is only shared out. A part that divides its own work again does it
alone: there are no more threads than processors.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")

_here = threading.local()


def count() -> int:
    """How many threads there are for work that is shared out here: one inside of such work."""
    if getattr(_here, "busy", False):
        return 1
    try:
        return max(1, min(4, len(os.sched_getaffinity(0))))
    except AttributeError:  # pragma: no cover - platforms without affinity
        return max(1, min(4, os.cpu_count() or 1))


def share(items: Sequence[Item], work: Callable[[Iterator[Item]], None], workers: int) -> None:
    """
    Call `work` in each of at most `workers` threads with one iterator over the items, of which every item
    comes to one of them. Each item must write its own part of the result, so that their order cannot matter.
    """
    waiting = iter(items)
    workers = min(workers, len(items))
    if workers < 2:
        work(waiting)
        return

    def run() -> None:
        _here.busy = True
        work(waiting)

    # A pool per call: a pool kept for good would hang in a forked child.
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(run) for _ in range(workers)]:
            done.result()
