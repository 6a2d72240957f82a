# SPDX-License-Identifier: Apache-2.0
"""Rows written by hand: words of the exchange program, and a row that listens, on the machine t4."""

from __future__ import annotations

import numpy as np

from tilewright.backends import rows as r
from tilewright.machine import load

MACHINE = load("t4")
NEUTRAL = 0x640
LEAD = int(MACHINE.select_lead(1))
START = 100
"""Cycle at which tile 0 sends in the rows of tests."""


def delay(events: int) -> int:
    return r.DELAY | events - 1


def pointer(events: int, address: int) -> int:
    return r.DELAYPIC | events - 1 << 19 | address >> 2


def select(events: int, source: int) -> int:
    return r.DELAYXPIC | events - 1 << 14 | source


def send(words: int, address: int, control: int = 3) -> int:
    return r.SEND | words - 1 << 21 | address >> 2 << 3 | control


def sendpicp(words: int, address: int, source: int, point: int, control: int = 3) -> tuple[int, int]:
    return r.SENDPICP | words - 1 << 21 | address >> 2 << 3 | control, source << 18 | point >> 2


def rows(*each: list[int], end: bool = True) -> np.ndarray:
    """Rows of the first tiles; the others return at once."""
    table = [*each, *([[]] * (MACHINE.tiles - len(each)))]
    table = [[*row, r.RETURN] if end else row for row in table]
    width = max(len(row) for row in table)
    return np.array([row + [0] * (width - len(row)) for row in table], np.uint32)


def number(tile: int) -> int:
    return int(MACHINE.physical(tile))


def way(source: int, tile: int) -> int:
    return int(MACHINE.latency(source, tile))


LAND = START + way(0, 1)


def listener(first: int, words: int, address: int, source: int = 0, tail: int = 200) -> list[int]:
    """A row of tile 1 that hears `words` words landing from cycle `first` on."""
    on, off = first - LEAD, first + words - LEAD
    return [pointer(1, address), select(on, number(source)), select(off - on, NEUTRAL), delay(tail)]
