# SPDX-License-Identifier: Apache-2.0
"""
Refusals that come from where things lie: bounds of memory, reservations, memory elements, words with two
users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewright.sim.fabric.delivery import Ints, PhaseErrors, Pieces, first, members

if TYPE_CHECKING:
    from tilewright.machine import Machine


def check_inside(pieces: Pieces, what: str, machine: Machine, errors: PhaseErrors) -> None:
    """Refuse addresses outside of SRAM."""
    low, high = machine.sram_base, machine.sram_base + machine.sram_bytes
    if (i := first((pieces.address < low) | (pieces.end > high))) is not None:
        address = int(pieces.address[i])
        size = int(pieces.size[i])
        past = max(0, (high - address + size - 1) // size) if address >= low else 0
        raise errors.refuse(
            "address out of range",
            f"{what} of {pieces.items[i]} x {size} bytes at {address:#x} leaves SRAM {low:#x}..{high:#x}",
            tile=pieces.tile[i],
            cycle=pieces.start[i] + past,
            address=address + size * past,
        )


def check_reserved(pieces: Pieces, what: str, machine: Machine, errors: PhaseErrors) -> None:
    """Refuse addresses in a reservation."""
    for taken in machine.reservations:
        if (i := first((pieces.address < taken.end) & (pieces.end > taken.start))) is not None:
            size, address = int(pieces.size[i]), int(pieces.address[i])
            before = max(0, (taken.start - address) // size)
            raise errors.refuse(
                "reserved memory",
                f"a {what} of {pieces.items[i]} x {size} bytes at {address:#x} touches the {taken.name}",
                tile=pieces.tile[i],
                cycle=pieces.start[i] + before,
                address=max(address, taken.start),
            )


def check_memory(
    sends: Pieces,
    stores: Pieces,
    length: Ints,
    address: int | None,
    machine: Machine,
    errors: PhaseErrors,
) -> bool:
    """
    Refuse what elements and words forbid, for rows of `length` words (tiles,) at `address` (None: nowhere
    yet). Returns whether words are overwritten that the phase sends, so that reads come before writes.
    """
    reads, writes = _by_element(sends, machine), _by_element(stores, machine)
    if address is not None:
        _check_row_elements(reads, writes, length, address, machine, errors)
    _check_elements(reads, writes, machine, errors)
    ranges = _Ranges(stores, machine)
    _check_writers(ranges, errors)
    return _overwrites_sent(sends, ranges, errors)


Parts = tuple[Pieces, Ints]
"""Pieces that lie in one memory element each, and that element."""


def _check_row_elements(
    reads: Parts, writes: Parts, length: Ints, address: int, machine: Machine, errors: PhaseErrors
) -> None:
    """Refuse accesses to the memory elements that hold the rows."""
    low = int(np.asarray(machine.element_index(address)))
    high = np.asarray(machine.element_index(address + 4 * length - 1), np.int64)
    for (parts, element), what in ((reads, "send reads"), (writes, "receive writes")):
        if (i := first((element >= low) & (element <= high[parts.tile]))) is not None:
            raise errors.refuse(
                "row element in use",
                f"a {what} the memory element that holds the row",
                tile=parts.tile[i],
                cycle=parts.start[i],
                address=parts.address[i],
            )


def _check_elements(reading: Parts, writing: Parts, machine: Machine, errors: PhaseErrors) -> None:
    """Refuse a read and a write of one memory element in one cycle."""
    (reads, read_element), (writes, write_element) = reading, writing
    if not len(reads) or not len(writes):
        return
    reach = int(max(reads.stop.max(), writes.stop.max())) + 1
    read_key = (reads.tile * machine.elements + read_element) * reach + reads.start
    order = np.argsort(read_key, kind="stable")
    read_key = read_key[order]
    key = (writes.tile * machine.elements + write_element) * reach + writes.start
    lo = np.searchsorted(read_key + reads.items[order], key, "right")
    hi = np.searchsorted(read_key, key + writes.items, "left")
    if (i := first(hi > lo)) is not None:
        j = order[lo[i]]
        cycle = max(int(reads.start[j]), int(writes.start[i]))
        raise errors.refuse(
            "element conflict",
            f"a send reads {int(reads.address_at(j, cycle)):#x} while a receive writes the same memory"
            " element",
            tile=writes.tile[i],
            cycle=cycle,
            address=writes.address_at(i, cycle),
        )


def _by_element(pieces: Pieces, machine: Machine) -> tuple[Pieces, Ints]:
    """The pieces cut at borders of memory elements, and the element of each part."""
    edges = np.sort(np.array([machine.element_range(i)[0] for i in range(machine.elements)], np.int64))
    numbers = np.asarray(machine.element_index(edges), np.int64)
    lo = np.searchsorted(edges, pieces.address, "right") - 1
    hi = np.searchsorted(edges, pieces.end, "left")
    if (hi - lo == 1).all():
        return pieces, numbers[lo]
    owner, member = members(lo, hi - lo)
    size = pieces.size[owner]
    begin = np.maximum(pieces.address[owner], edges[member])
    end = np.minimum(pieces.end[owner], np.append(edges[1:], machine.sram_base + machine.sram_bytes)[member])
    shift = (begin - pieces.address[owner]) // size
    parts = Pieces(pieces.tile[owner], pieces.start[owner] + shift, (end - begin) // size, begin, size)
    return parts, numbers[member]


class _Ranges:
    """The words that pieces write, in order of (tile, address): keys `begin` and `stop`, piece `order`."""

    def __init__(self, writes: Pieces, machine: Machine) -> None:
        self.writes = writes
        self.tile_span = machine.sram_base + machine.sram_bytes
        begin = writes.tile * self.tile_span + writes.address
        self.order = np.argsort(begin, kind="stable")
        self.begin = begin[self.order]
        self.stop = self.begin + (writes.end - writes.address)[self.order]

    def met_by(self, pieces: Pieces) -> tuple[Ints, Ints]:
        """Pairs (of the given pieces, of the writing ones) that have words in common."""
        key = pieces.tile * self.tile_span + pieces.address
        lo = np.searchsorted(self.stop, key, "right")
        hi = np.searchsorted(self.begin, key + pieces.end - pieces.address, "left")
        owner, member = members(lo, np.maximum(hi - lo, 0))
        return owner, self.order[member]


def _check_writers(ranges: _Ranges, errors: PhaseErrors) -> None:
    """Refuse two writers of one word."""
    if (i := first(ranges.stop[:-1] > ranges.begin[1:])) is not None:
        writes, before, j = ranges.writes, ranges.order[i], ranges.order[i + 1]
        raise errors.refuse(
            "two writers",
            "two receives of the phase write the same word",
            tile=writes.tile[j],
            cycle=max(int(writes.start[j]), int(writes.start[before])),
            address=writes.address[j],
        )


def _overwrites_sent(sends: Pieces, ranges: _Ranges, errors: PhaseErrors) -> bool:
    """Whether words are overwritten that the phase sends; refuses one that is sent after it was received."""
    if not len(sends) or not len(ranges.order):
        return False
    writes = ranges.writes
    read, write = ranges.met_by(sends)
    if not len(read):
        return False
    # Reads and writes of the overlap are linear in time: its ends decide.
    low = np.maximum(sends.address[read], writes.address[write])
    high = np.minimum(sends.end[read], writes.end[write]) - 4
    early = sends.cycle_of(read, low) >= writes.cycle_of(write, low)
    late = sends.cycle_of(read, high) >= writes.cycle_of(write, high)
    if (i := first(early | late)) is not None:
        where = low[i] if early[i] else high[i]
        raise errors.refuse(
            "send after receive",
            "a word received in this phase is sent in the same phase",
            tile=sends.tile[read[i]],
            cycle=sends.cycle_of(read[i], where),
            address=where,
        )
    return True
