# SPDX-License-Identifier: Apache-2.0
"""What a delivery does to memory: copy its bytes, and keep the record of defined words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.machine.numerics import workers
from tilewright.sim.fabric.delivery import Delivery, Ints
from tilewright.sim.illegal import IllegalProgram


def by_length(delivery: Delivery) -> list[tuple[int, Ints, Ints]]:
    """
    (words, source indices, destination indices) of groups of equal pieces, in flat words of all tiles.

    Lengths that occur often are copied as they are; the rest is cut to powers of two, so the number of groups
    stays small. Remembered in the delivery.
    """
    cached = delivery.cache.get("groups")
    if cached is not None:
        return cached
    source, destination, length = delivery.source, delivery.destination, delivery.nwords
    groups: list[tuple[int, Ints, Ints]] = []
    values, inverse, counts = np.unique(length, return_inverse=True, return_counts=True)
    common = counts >= max(64, len(length) // 256)
    rare = ~common[inverse]
    parts: dict[int, list[tuple[Ints, Ints]]] = {}
    by_value = np.argsort(inverse, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(counts)])
    for k in np.flatnonzero(common).tolist():
        chosen = by_value[bounds[k] : bounds[k + 1]]
        parts.setdefault(int(values[k]), []).append((source[chosen], destination[chosen]))
    s, d, n = source[rare], destination[rare], length[rare]
    bit = 1
    while len(n) and bit <= int(n.max()):
        chosen = (n & bit) != 0
        done = n[chosen] & (bit - 1)
        if chosen.any():
            parts.setdefault(bit, []).append((s[chosen] + done, d[chosen] + done))
        bit <<= 1
    for size, members in sorted(parts.items()):
        groups.append(
            (size, np.concatenate([m[0] for m in members]), np.concatenate([m[1] for m in members]))
        )
    delivery.cache["groups"] = groups
    return groups


def read_sources(delivery: Delivery) -> list[tuple[int, Ints]]:
    """(words, source indices in ascending order) of what is read: a multicast once. Remembered likewise."""
    if "sources" not in delivery.cache:
        delivery.cache["sources"] = [(size, np.unique(source)) for size, source, _ in by_length(delivery)]
    return delivery.cache["sources"]


def _windows(flat: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """All runs of `size` neighbours, as a writable view."""
    return np.lib.stride_tricks.as_strided(flat, (len(flat) - size + 1, size), (flat.itemsize, flat.itemsize))


_BLOCK_WORDS = 1 << 19
"""Words copied at a time: temporaries stay small."""


def move(delivery: Delivery, memory: npt.NDArray[np.uint8]) -> None:
    """
    Copy the bytes of a phase. `memory` is uint8 (tiles, sram_bytes), contiguous, column 0 at the machine's
    sram_base.
    """
    flat = memory.reshape(-1).view(np.uint32)
    if not np.shares_memory(flat, memory):
        raise ValueError("memory must be one contiguous array")
    groups = by_length(delivery)
    if delivery.ordered:
        held = [_windows(flat, size)[source] for size, source, _ in groups]
        for (size, _, destination), contents in zip(groups, held, strict=True):
            _windows(flat, size)[destination] = contents
        return

    def copy(blocks: Iterator[tuple[int, Ints, Ints]]) -> None:
        for size, source, destination in blocks:
            window = _windows(flat, size)
            window[destination] = window[source]

    # No word of these is both read and written: blocks of them may be copied in any order.
    blocks = [
        (size, source[a : a + step], destination[a : a + step])
        for size, source, destination in groups
        for step in (max(1, _BLOCK_WORDS // size),)
        for a in range(0, len(source), step)
    ]
    words = sum(size * len(source) for size, source, _ in groups)
    workers.share(blocks, copy, workers.count() if words >= _BLOCK_WORDS else 1)


def touches(delivery: Delivery, marks: npt.NDArray[np.bool_]) -> bool:
    """Whether the phase writes to any of the words that are marked, (tiles, sram_bytes // 4)."""
    flat = marks.reshape(-1)
    for size, _, destination in by_length(delivery):
        window = _windows(flat, size)
        step = max(1, 16 * _BLOCK_WORDS // size)
        if any(window[destination[a : a + step]].any() for a in range(0, len(destination), step)):
            return True
    return False


def require_written(
    delivery: Delivery, valid: npt.NDArray[Any], full: int | bool = True, phase: str = ""
) -> None:
    """
    Refuse a phase that sends words never written. `valid` has one entry per word, (tiles, sram_bytes //
    4); a word is defined where it equals `full`. Every word that any tile hears is checked.
    """
    flat = valid.reshape(-1)
    for size, unique in read_sources(delivery):
        window = _windows(flat, size)
        step = max(1, 16 * _BLOCK_WORDS // size)
        for a in range(0, len(unique), step):
            good = window[unique[a : a + step]] == full
            if not good.all():
                row, column = (int(x[0]) for x in np.nonzero(~good))
                index = int(unique[a + row]) + column
                tile, word = divmod(index, delivery.sram_bytes // 4)
                address = delivery.sram_base + 4 * word
                mine = np.flatnonzero(
                    (delivery.src_tile == tile)
                    & (delivery.src_address <= address)
                    & (delivery.src_address + 4 * delivery.nwords > address)
                )[0]
                raise IllegalProgram(
                    f"a word is sent to tile {delivery.dst_tile[mine]} that was never written",
                    rule="read of unwritten memory",
                    tile=tile,
                    phase=phase or None,
                    cycle=int(delivery.sent[mine])
                    + (address - int(delivery.src_address[mine])) // (4 * int(delivery.rate[mine])),
                    address=address,
                )


def mark_written(delivery: Delivery, valid: npt.NDArray[Any], full: int | bool = True) -> None:
    """Set the entries of all words that the phase writes to `full`."""
    flat = valid.reshape(-1)
    if not np.shares_memory(flat, valid):
        raise ValueError("the record of written words must be one contiguous array")
    for size, _, destination in by_length(delivery):
        _windows(flat, size)[destination] = full
