# SPDX-License-Identifier: Apache-2.0
"""Messages for the tests of schedules, rows and the fabric."""

from __future__ import annotations

import numpy as np

from tilewright.machine import Machine
from tilewright.planning.exchange import Messages


def messages(*spans: tuple[int, int, int, int, int, int, int]) -> Messages:
    """From tuples (source tile, buffer, offset, destination tile, buffer, offset, bytes)."""
    table = np.array(spans, np.int64).reshape(-1, 7).T
    return Messages(*table)


def addresses(machine: Machine) -> list[int]:
    """
    Four buffers: 0 and 1 of 16 KiB to send from, 2 and 3 of some 30 KiB to receive into, apart from each
    other, from rows at the base and from what is reserved.
    """
    interleaved = -(-machine.available("interleaved")[0][0] // 64) * 64
    return [
        machine.sram_base + 0x8000,
        machine.sram_base + 0xC000,
        interleaved,
        machine.region("interleaved").start + 0x10000,
    ]


def random_messages(machine: Machine, seed: int, count: int = 40, longest: int = 90) -> Messages:
    """Single messages and multicasts of random sizes that never write a word twice."""
    r = np.random.default_rng(seed)
    tiles = machine.tiles
    spans: list[tuple[int, ...]] = []
    fill = np.zeros((2, tiles), int)
    for _ in range(int(r.integers(1, count))):
        size = 4 * int(r.integers(1, longest) if r.random() < 0.7 else r.integers(1, 3))
        source, buffer, offset = int(r.integers(tiles)), int(r.integers(2)), 4 * int(r.integers(500))
        receivers = int(r.integers(1, tiles + 1)) if r.random() < 0.4 else 1
        for tile in r.choice(tiles, receivers, replace=False).tolist():
            to = int(r.integers(2))
            spans.append((source, buffer, offset, tile, 2 + to, int(fill[to, tile]), size))
            fill[to, tile] += size + (4 if r.random() < 0.3 else 0)
    return messages(*spans)  # type: ignore[arg-type]


def expected(machine: Machine, wanted: Messages, memory: np.ndarray) -> np.ndarray:
    """The memory after the messages, byte by byte."""
    place = addresses(machine)
    after = memory.copy()
    for src, sb, so, dst, db, do, size in zip(
        *(getattr(wanted, name).tolist() for name in Messages.__dataclass_fields__), strict=True
    ):
        a = place[sb] + so - machine.sram_base
        b = place[db] + do - machine.sram_base
        after[dst, b : b + size] = memory[src, a : a + size]
    return after
