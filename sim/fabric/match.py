# SPDX-License-Identifier: Apache-2.0
"""
Who hears what and when: sends and listening of all tiles put together, and followed to where the words are
stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewright.backends.rows import Events
from tilewright.backends.rows import decode as decode_words
from tilewright.sim.fabric.decode import (
    Listening,
    check_buses,
    check_pairs,
    check_words,
    listening,
    streams,
)
from tilewright.sim.fabric.delivery import Delivery, Ints, PhaseErrors, Pieces, first, members
from tilewright.sim.fabric.refuse import check_inside, check_memory, check_reserved

if TYPE_CHECKING:
    from tilewright.machine import Machine

SLACK = 4096
"""Cycles after the last return that are later than any landing and any effective selection."""


def deliver(
    words: npt.NDArray[np.uint32], machine: Machine, *, address: int | None = None, phase: str = ""
) -> Delivery:
    """
    Who hears what, for the rows (tiles, width) of one phase. `address` is where the rows lie in SRAM
    (equal on all tiles): with it, alignment is checked as placed and the elements that hold rows are
    protected. Raises IllegalProgram.
    """
    errors = PhaseErrors(phase)
    words = np.ascontiguousarray(words, np.uint32)
    events = decode_words(words)
    check_words(events, words, address, errors)
    reach = int(events.ends.max(initial=0)) + SLACK

    sends = streams(events, errors)
    check_inside(sends, "send", machine, errors)
    check_reserved(sends, "send", machine, errors)
    check_buses(sends, machine, errors)

    heard = listening(events, machine, reach, errors)
    check_pairs(heard, machine, errors)
    arrivals = _arrivals(heard, sends, machine, reach, errors)
    _check_returns(arrivals, events, errors)

    arrivals, stores = _stores(arrivals, events, reach, errors)
    check_inside(stores, "receive", machine, errors)
    check_reserved(stores, "receive", machine, errors)
    _check_alignment(stores, errors)
    ordered = check_memory(sends, stores, events.length, address, machine, errors)
    return Delivery(
        src_tile=arrivals.source,
        src_address=arrivals.pieces.address,
        dst_tile=stores.tile,
        dst_address=stores.address,
        nwords=stores.items * stores.size // 4,
        rate=stores.size // 4,
        sent=arrivals.sent,
        landed=stores.start,
        end_cycle=events.ends,
        sent_items=np.bincount(sends.tile, sends.items, machine.tiles).astype(np.int64),
        ordered=ordered,
        sram_base=machine.sram_base,
        sram_bytes=machine.sram_bytes,
    )


@dataclass(frozen=True, eq=False)
class _Arrivals:
    """
    What lands, sorted by (tile, start): `pieces` with the receiver's tile and landing cycles and the sender's
    addresses; the sender and the cycle at which the first item leaves it.
    """

    pieces: Pieces
    source: Ints
    sent: Ints

    def cut(self, owner: Ints, shift: Ints, items: Ints) -> _Arrivals:
        """Parts of pieces `owner`: `items` items from `shift` items after the start of each."""
        whole = self.pieces
        parts = Pieces(
            whole.tile[owner],
            whole.start[owner] + shift,
            items,
            whole.address[owner] + whole.size[owner] * shift,
            whole.size[owner],
        )
        return _Arrivals(parts, self.source[owner], self.sent[owner] + shift)


def _arrivals(
    heard: Listening, sends: Pieces, machine: Machine, reach: int, errors: PhaseErrors
) -> _Arrivals:
    """The pieces of the sources' streams inside each interval of listening; refuses silence in one."""
    travel = _travel(heard, machine)
    # Keys order (tile, cycle) pairs; an interval of listening, seen from its source, starts `travel` earlier.
    stream_key = sends.tile * reach + sends.start
    stream_end = stream_key + sends.items
    begin = heard.source * reach + np.maximum(heard.first - travel, 0)
    end = heard.source * reach + np.maximum(heard.until - travel, 0)
    lo = np.searchsorted(stream_end, begin, "right")
    hi = np.searchsorted(stream_key, end, "left")
    owner, member = members(lo, np.maximum(hi - lo, 0))  # interval and stream of each piece
    left = np.maximum(stream_key[member], begin[owner])
    right = np.minimum(stream_end[member], end[owner])
    items = np.bincount(owner, right - left, len(heard.tile)).astype(np.int64)
    if (i := first(items != heard.until - heard.first)) is not None:
        mine = owner == i
        raise errors.refuse(
            "listening to silence",
            f"tile {heard.source[i]} sends nothing that lands then (selected for cycles {heard.first[i]}.."
            f"{heard.until[i]})",
            tile=heard.tile[i],
            cycle=travel[i]
            + _first_gap(
                int(heard.first[i] - travel[i]),
                left[mine] - heard.source[i] * reach,
                right[mine] - heard.source[i] * reach,
            ),
        )
    source = heard.source[owner]
    sent = left - source * reach
    pieces = Pieces(
        heard.tile[owner],
        sent + travel[owner],
        right - left,
        sends.address[member] + sends.size[member] * (left - stream_key[member]),
        sends.size[member],
    )
    if (i := first((pieces.size == 8) != (heard.wide[owner] != 0))) is not None:
        raise errors.refuse(
            "item size",
            f"tile {source[i]} sends {pieces.size[i]}-byte items, the receiver expects others",
            tile=pieces.tile[i],
            cycle=pieces.start[i],
        )
    return _Arrivals(pieces, source, sent)


def _travel(heard: Listening, machine: Machine) -> Ints:
    """Cycles from the send to the landing of what each interval hears."""
    travel = np.asarray(machine.latency(heard.source, heard.tile), np.int64)
    if not heard.wide.any():
        return travel
    # an 8-byte item lands on both tiles of a pair when the later one has it
    other = np.asarray(machine.latency(heard.source, machine.partner(heard.tile)), np.int64)
    return np.where(heard.wide, np.maximum(travel, other), travel)


def _first_gap(cursor: int, begins: Ints, ends: Ints) -> int:
    """The first cycle from `cursor` on that the intervals, in order of time, do not cover."""
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        if begin > cursor:
            break
        cursor = end
    return cursor


def _check_returns(arrivals: _Arrivals, events: Events, errors: PhaseErrors) -> None:
    """Refuse rows that return before their last word has landed."""
    got = arrivals.pieces
    if (i := first(got.stop > events.ends[got.tile])) is not None:
        cycle = max(int(got.start[i]), int(events.ends[got.tile[i]]))
        raise errors.refuse(
            "return too early", "a word lands after the row has returned", tile=got.tile[i], cycle=cycle
        )


def _stores(arrivals: _Arrivals, events: Events, reach: int, errors: PhaseErrors) -> tuple[_Arrivals, Pieces]:
    """
    What lands, cut where a pointer is set, and the same pieces with the addresses at which they are stored:
    a pointer's first item goes where it points, the next ones behind it.
    """
    got = arrivals.pieces
    if not len(got):
        return arrivals, got
    set_by = np.flatnonzero(events.point >= 0)
    point_key = events.tile[set_by] * reach + events.control[set_by]
    key = got.tile * reach + got.start
    holds = np.searchsorted(point_key, key, "right") - 1  # the pointer at the start of each piece, -1: none
    after = np.searchsorted(point_key, key + got.items, "left")
    # Parts of each piece: one for the pointer that holds at its start, one for each that is set inside.
    owner, pointer = members(holds, np.maximum(after - holds - 1, 0) + 1)
    known = pointer >= 0
    known[known] = events.tile[set_by[pointer[known]]] == got.tile[owner[known]]
    if (i := first(~known)) is not None:
        raise errors.refuse(
            "receive without a pointer",
            "a word lands before any pointer is set",
            tile=got.tile[owner[i]],
            cycle=got.start[owner[i]],
        )
    opening = np.append(True, owner[1:] != owner[:-1])
    begin = np.where(opening, key[owner], point_key[pointer])
    stop = np.where(np.append(opening[1:], True), (key + got.items)[owner], np.append(begin[1:], 0))
    arrivals = arrivals.cut(owner, begin - key[owner], stop - begin)

    parts = arrivals.pieces
    # Bytes that landed before each part, and before its pointer was set: no part straddles a pointer.
    landed = np.append(0, np.cumsum(parts.items * parts.size))
    before_pointer = landed[np.searchsorted(begin, point_key[pointer], "left")]
    address = events.point[set_by[pointer]] + landed[:-1] - before_pointer
    return arrivals, Pieces(parts.tile, parts.start, parts.items, address, parts.size)


def _check_alignment(stores: Pieces, errors: PhaseErrors) -> None:
    if (i := first(stores.address % stores.size != 0)) is not None:
        raise errors.refuse(
            "misaligned item",
            f"8-byte items are received at {int(stores.address[i]):#x}",
            tile=stores.tile[i],
            cycle=stores.start[i],
            address=stores.address[i],
        )
