# SPDX-License-Identifier: Apache-2.0
"""
Deliveries of rows that a repeat patches, without decoding them anew in every iteration.

A patch adds a constant to the address fields of some sends. Times, receivers and destinations stay; the
sources of some pieces move by a constant from one iteration to the next. So two decoded iterations give all
others, provided that the words differ from the first ones as predicted, and that no moved source comes near
what the phase writes or executes. Whatever is not as simple as that is decoded in full.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.backends.rows import ADDRESS_MASK, K_SEND, K_SENDPICP, SEND_FIELD, kinds
from tilewright.machine import Machine
from tilewright.sim import fabric

Words = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]

_FIELD = np.uint32(ADDRESS_MASK << SEND_FIELD)


class Relocation:
    """The first two iterations of a patched row table and what changes from one to the next."""

    def __init__(self, words: Words, delivery: fabric.Delivery, address: int, machine: Machine) -> None:
        self.words = words.copy()
        self.base = delivery
        self.address = address
        self.machine = machine
        self._step: Ints | None = None  # words added per iteration, at `_where`
        self._where: tuple[Ints, Ints] | None = None
        self._shift: Ints | None = None  # bytes that the source of each moved piece moves per iteration
        self._moved: Ints | None = None
        self._groups: list[tuple[int, Ints, Ints, Ints]] = []
        self._sources: list[tuple[int, Ints, Ints]] = []
        self._writes: npt.NDArray[np.uint64] | None = None

    def learn(self, words: Words, delivery: fabric.Delivery) -> None:
        """Take another iteration as the pattern of all; nothing of it is kept but what changes."""
        if self._step is None:
            self._build(words, delivery)

    def _build(self, words: Words, delivery: fabric.Delivery) -> None:
        """
        Work out the pattern; there is none when the two iterations differ in more than the sources of sends.
        """
        row, column = np.nonzero(words != self.words)
        where = (row, column)
        before, after = self.words[where], words[where]
        sends = np.isin(kinds(before[None])[0], (K_SEND, K_SENDPICP))
        if not len(before) or not sends.all() or ((before ^ after) & ~_FIELD).any():
            return
        base = self.base
        if len(base.nwords) != len(delivery.nwords) or base.ordered or delivery.ordered:
            return
        for name in ("src_tile", "dst_tile", "dst_address", "nwords", "sent", "landed"):
            if not np.array_equal(getattr(base, name), getattr(delivery, name)):
                return
        first, second = fabric.by_length(base), fabric.by_length(delivery)
        self._groups, self._sources = [], []
        for (size, source, destination), (_, other, _) in zip(first, second, strict=True):
            step = other - source
            self._groups.append((size, source, destination, step))
            self._sources.append((size, *_distinct(source, step)))
        shift = delivery.src_address - base.src_address
        self._moved = np.flatnonzero(shift)
        self._shift = shift[self._moved]
        self._writes = self._elements(base.dst_tile, base.dst_address, base.nwords)
        self._where = where
        self._step = after.astype(np.int64) - before.astype(np.int64)

    def deliver(self, words: Words) -> fabric.Delivery | None:
        """The delivery of these words, or None when they do not follow the pattern."""
        if self._step is None or self._where is None or self._shift is None or self._moved is None:
            return None
        change = words[self._where].astype(np.int64) - self.words[self._where]
        times, rest = divmod(int(change[0]), int(self._step[0]))
        if rest or not np.array_equal(change, times * self._step):
            return None
        expected = self.words.copy()
        expected[self._where] = words[self._where]
        if ((words[self._where] ^ self.words[self._where]) & ~_FIELD).any() or not np.array_equal(
            expected, words
        ):
            return None
        base = self.base
        moved, source = self._moved, base.src_address.copy()
        source[moved] += times * self._shift
        if not self._apart(base.src_tile[moved], source[moved], base.nwords[moved]):
            return None
        cache: dict[str, Any] = {
            "groups": [(size, first + times * step, target) for size, first, target, step in self._groups],
            "sources": [(size, np.sort(first + times * step)) for size, first, step in self._sources],
        }
        return replace(base, src_address=source, cache=cache)

    def _apart(self, tile: Ints, address: Ints, nwords: Ints) -> bool:
        """
        Whether these reads stay in SRAM, out of reservations and off the elements that the phase writes or
        that hold its rows.
        """
        machine = self.machine
        if not len(tile):
            return True
        if int(address.min()) < machine.sram_base or int((address + 4 * nwords).max()) > machine.sram_end:
            return False
        if any(
            ((address < taken.end) & (address + 4 * nwords > taken.start)).any()
            for taken in machine.reservations
        ):
            return False
        reads = self._elements(tile, address, nwords)
        rows = np.arange(self.address, self.address + 4 * self.words.shape[1], 4)
        for element in np.unique(machine.element_index(rows)).tolist():
            reads_row = reads >> np.uint64(element) & np.uint64(1)
            if reads_row.any():
                return False
        assert self._writes is not None
        return not (reads & self._writes).any()

    def _elements(self, tile: Ints, address: Ints, nwords: Ints) -> npt.NDArray[np.uint64]:
        """Bit set of the memory elements that ranges touch on each tile, (tiles,)."""
        machine = self.machine
        found = np.zeros(machine.tiles, np.uint64)
        if machine.elements > 64:
            return ~found  # no room in a word: everything counts as touched
        first = machine.element_index(address)
        last = machine.element_index(address + 4 * nwords - 4)
        for element in range(machine.elements):
            hit = np.bincount(tile[(first <= element) & (element <= last)], minlength=machine.tiles) > 0
            found |= hit.astype(np.uint64) << np.uint64(element)
        return found


def _distinct(first: Ints, step: Ints) -> tuple[Ints, Ints]:
    """The distinct pairs of two arrays of one length: what is equal in all iterations is there once."""
    order = np.lexsort((step, first))
    first, step = first[order], step[order]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (np.diff(first) != 0) | (np.diff(step) != 0)
    return first[fresh], step[fresh]
