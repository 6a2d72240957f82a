# SPDX-License-Identifier: Apache-2.0
"""
The exchange fabric of the machine model: decode rows, find out who hears what and when, refuse what is
illegal, move the bytes.

`deliver` works on the words of all tiles at once. Nothing tells it what was meant: it follows source
selections, pointers and sends by the model of time in docs/spec/rows.md. `move` then copies;
`require_written` and `mark_written` keep the record of defined words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tilewright.backends.rows import (
    K_BAD,
    K_SENDPIC,
    K_SENDPICP,
    NAMES,
    PAIR_SOURCE,
    PAIRED,
    Events,
    decode,
)
from tilewright.sim.illegal import IllegalProgram

if TYPE_CHECKING:
    from tilewright.machine import Machine

Ints = npt.NDArray[np.int64]

ROW_ALIGNMENT = 8
"""Rows start at multiples of this many bytes, so that an even word of a row is what sendpicp needs."""


@dataclass(frozen=True, eq=False)
class Delivery:
    """
    What one phase moves. Pieces (arrays (pieces,)): `nwords` words from `src_address` of `src_tile`, read
    from cycle `sent` on, to `dst_address` of `dst_tile`, written from cycle `landed` on; byte addresses.
    `rate` is the words that move in a cycle: 2 for 8-byte items. Pieces are sorted by (dst_tile, landed).

    `end_cycle` (tiles,): cycle of the return of each row. `ordered`: some words are read and later
    overwritten, so all reads of the phase come before its writes.
    """

    src_tile: Ints
    src_address: Ints
    dst_tile: Ints
    dst_address: Ints
    nwords: Ints
    rate: Ints
    sent: Ints
    landed: Ints
    end_cycle: Ints
    sent_items: Ints
    ordered: bool
    sram_base: int
    sram_bytes: int
    cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def cycles(self) -> int:
        """Cycle at which the last row returns."""
        return int(self.end_cycle.max(initial=0))

    @property
    def source(self) -> Ints:
        """Index of the first source word of each piece in the flat memory of all tiles."""
        return (self.src_tile * self.sram_bytes + self.src_address - self.sram_base) // 4

    @property
    def destination(self) -> Ints:
        """Index of the first destination word of each piece in the flat memory of all tiles."""
        return (self.dst_tile * self.sram_bytes + self.dst_address - self.sram_base) // 4


def _expand(first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """For ranges [first, first + count): owner of each member, and the member."""
    owner = np.repeat(np.arange(len(first)), count)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(count) - count - first, count)


class _Phase:
    """Where errors happen."""

    def __init__(self, name: str) -> None:
        self.name = name or None

    def refuse(
        self, rule: str, message: str, *, tile: Any, cycle: Any = None, address: Any = None
    ) -> IllegalProgram:
        return IllegalProgram(
            message,
            rule=rule,
            tile=int(tile),
            phase=self.name,
            cycle=None if cycle is None else int(cycle),
            address=None if address is None else int(address),
        )


def _check_words(events: Events, words: npt.NDArray[np.uint32], address: int | None, phase: _Phase) -> None:
    """Refusals that one row shows by itself."""

    def place(i: int) -> int | None:
        return None if address is None else address + 4 * int(events.word[i])

    bad = events.kind == K_BAD
    if bad.any():
        i = int(np.argmax(bad))
        word = int(words[events.tile[i], events.word[i]])
        raise phase.refuse(
            "bad opcode",
            f"word {events.word[i]} of the row is {word:#010x}",
            tile=events.tile[i],
            cycle=events.start[i],
            address=place(i),
        )
    if (events.length == 0).any():
        tile = int(np.argmin(events.length))
        raise phase.refuse(
            "missing return", f"the row of {words.shape[1]} words has none", tile=tile, address=address
        )
    offset = 0 if address is None else address % ROW_ALIGNMENT // 4
    if address is not None and address % 4:
        raise phase.refuse("misaligned row", "rows start at multiples of 4", tile=0, address=address)
    bad = (events.kind == K_SENDPICP) & ((events.word + offset) % 2 == 1)
    if bad.any():
        i = int(np.argmax(bad))
        raise phase.refuse(
            "misaligned sendpicp",
            f"word {events.word[i]} of the row is not at a multiple of 8 bytes",
            tile=events.tile[i],
            cycle=events.start[i],
            address=place(i),
        )
    bad = (events.select >= 2 * PAIR_SOURCE) | (events.point > 0xFFFFF)
    if bad.any():
        i = int(np.argmax(bad))
        raise phase.refuse(
            "unknown selector",
            f"{NAMES[events.kind[i]]} uses a control form that the model does not know",
            tile=events.tile[i],
            cycle=events.control[i],
            address=place(i),
        )


@dataclass(eq=False)
class _Pieces:
    """Intervals of one tile in time that walk linearly through memory, `size` bytes (4 or 8) a cycle."""

    tile: Ints
    start: Ints
    items: Ints
    address: Ints
    size: Ints

    @property
    def end(self) -> Ints:
        """Address after the last item."""
        return self.address + self.size * self.items


def _streams(events: Events, phase: _Phase) -> _Pieces:
    """What every tile sends, by instruction, in order of time; merged where time and memory continue."""
    i = np.flatnonzero(events.items > 0)
    tile, start, items = events.tile[i], events.start[i], events.items[i]
    size = len(i)
    position = np.arange(size)
    restart = events.absolute[i]
    # A sendpic has no direction of its own: it continues the last one stated.
    stated = np.where(events.kind[i] == K_SENDPIC, -1, position)
    holder = np.maximum.accumulate(stated) if size else stated
    opener = np.maximum.accumulate(np.where(restart, position, -1)) if size else stated
    control = events.direction[i][np.maximum(holder, 0)]
    direction, item = control & 3, np.where(control & PAIRED, 8, 4)
    continues = ~restart
    lost = continues & (
        (opener < 0)
        | (tile[np.maximum(opener, 0)] != tile)
        | (events.direction[i][np.maximum(opener, 0)] & 3 == 0)
    )
    if lost.any():
        j = int(np.argmax(lost))
        raise phase.refuse(
            "send without a stream",
            f"{NAMES[events.kind[i[j]]]} continues a stream that was not started",
            tile=tile[j],
            cycle=start[j],
        )
    # Address of the first item: that of the restart, plus what was sent and skipped since.
    delta = events.delta[i]
    sent = np.cumsum(items * item) - items * item + np.cumsum(delta)
    address = events.address[i][np.maximum(opener, 0)] + sent - sent[np.maximum(opener, 0)]
    live = direction != 0
    pieces = _Pieces(tile[live], start[live], items[live], address[live], item[live])
    if not len(pieces.tile):
        return pieces
    odd = pieces.address % pieces.size != 0
    if odd.any():
        j = int(np.argmax(odd))
        raise phase.refuse(
            "misaligned item",
            f"8-byte items are sent from {int(pieces.address[j]):#x}",
            tile=pieces.tile[j],
            cycle=pieces.start[j],
            address=pieces.address[j],
        )
    joins = np.zeros(len(pieces.tile), bool)
    joins[1:] = (
        (pieces.tile[1:] == pieces.tile[:-1])
        & (pieces.start[1:] == pieces.start[:-1] + pieces.items[:-1])
        & (pieces.address[1:] == pieces.end[:-1])
        & (pieces.size[1:] == pieces.size[:-1])
    )
    head = np.flatnonzero(~joins)
    length = np.add.reduceat(pieces.items, head)
    return _Pieces(pieces.tile[head], pieces.start[head], length, pieces.address[head], pieces.size[head])


def _lent_buses(streams: _Pieces, machine: Machine, phase: _Phase) -> None:
    """Refuse sends of a tile whose bus its partner uses for 8-byte items."""
    wide = np.flatnonzero(streams.size == 8)
    if not len(wide):
        return
    reach = int((streams.start + streams.items).max()) + 1
    key = streams.tile * reach + streams.start
    borrowed = np.asarray(machine.partner(streams.tile[wide]), np.int64) * reach + streams.start[wide]
    lo = np.searchsorted(key + streams.items, borrowed, "right")
    hi = np.searchsorted(key, borrowed + streams.items[wide], "left")
    bad = hi > lo
    if bad.any():
        i = int(np.argmax(bad))
        j = lo[i]
        raise phase.refuse(
            "bus in use",
            f"a tile sends while its partner {streams.tile[wide[i]]} sends 8-byte items over both buses",
            tile=streams.tile[j],
            cycle=max(int(streams.start[j]), int(streams.start[wide[i]])),
            address=streams.address[j],
        )


def _inside(pieces: _Pieces, what: str, machine: Machine, phase: _Phase) -> None:
    """Refuse addresses outside of SRAM."""
    low, high = machine.sram_base, machine.sram_base + machine.sram_bytes
    bad = (pieces.address < low) | (pieces.end > high)
    if bad.any():
        i = int(np.argmax(bad))
        address = int(pieces.address[i])
        size = int(pieces.size[i])
        past = max(0, (high - address + size - 1) // size) if address >= low else 0
        raise phase.refuse(
            "address out of range",
            f"{what} of {pieces.items[i]} x {size} bytes at {address:#x} leaves SRAM {low:#x}..{high:#x}",
            tile=pieces.tile[i],
            cycle=pieces.start[i] + past,
            address=address + size * past,
        )


def _reserved(pieces: _Pieces, what: str, machine: Machine, phase: _Phase) -> None:
    """Refuse addresses in a reservation."""
    for taken in machine.reservations:
        bad = (pieces.address < taken.end) & (pieces.end > taken.start)
        if bad.any():
            i = int(np.argmax(bad))
            size, address = int(pieces.size[i]), int(pieces.address[i])
            before = max(0, (taken.start - address) // size)
            raise phase.refuse(
                "reserved memory",
                f"a {what} of {pieces.items[i]} x {size} bytes at {address:#x} touches the {taken.name}",
                tile=pieces.tile[i],
                cycle=pieces.start[i] + before,
                address=max(address, taken.start),
            )


@dataclass(eq=False)
class _Listening:
    """
    Intervals [first, until) of landing cycles in which a tile listens to a tile, in 8-byte items if `wide`.
    """

    tile: Ints
    source: Ints
    first: Ints
    until: Ints
    wide: Ints


def _listening(events: Events, machine: Machine, span: int, phase: _Phase) -> _Listening:
    """What the source selections mean; a restated selection does not cut an interval."""
    i = np.flatnonzero(events.select >= 0)
    tile = events.tile[i]
    wide, value = np.divmod(events.select[i], PAIR_SOURCE)
    effective = events.control[i] + np.asarray(machine.select_lead(tile), np.int64)
    until = np.full(len(i), span, np.int64)
    same = np.flatnonzero(tile[1:] == tile[:-1])
    until[same] = effective[same + 1]
    heard = value != machine.neutral_source
    endless = heard & (until == span)
    if endless.any():
        j = int(np.argmax(endless))
        raise phase.refuse(
            "never neutral",
            f"the row returns while it listens to source {value[j]:#x}",
            tile=tile[j],
            cycle=events.control[i[j]],
        )
    tile, value, effective, until, wide = (x[heard] for x in (tile, value, effective, until, wide))
    # Each tile of a pair of receivers names the one of the sender's two buses that is on its side.
    number = np.where(wide, value ^ (machine.physical(tile) & 2), value)
    source = np.asarray(machine.logical(number), np.int64)
    if (source < 0).any():
        j = int(np.argmax(source < 0))
        raise phase.refuse(
            "listening to silence", f"no tile is source {value[j]:#x}", tile=tile[j], cycle=effective[j]
        )
    if not len(tile):
        return _Listening(tile, source, effective, until, wide)
    joins = np.zeros(len(tile), bool)
    joins[1:] = (
        (tile[1:] == tile[:-1])
        & (source[1:] == source[:-1])
        & (wide[1:] == wide[:-1])
        & (effective[1:] == until[:-1])
    )
    head = np.flatnonzero(~joins)
    last = np.append(head[1:], len(tile)) - 1
    return _Listening(tile[head], source[head], effective[head], until[last], wide[head])


def _whole_pairs(heard: _Listening, machine: Machine, phase: _Phase) -> None:
    """Refuse 8-byte items that only one tile of a pair hears, or that a tile's own pair sends."""
    i = np.flatnonzero(heard.wide)
    if not len(i):
        return
    partner = np.asarray(machine.partner(heard.tile[i]), np.int64)
    own = (heard.source[i] == heard.tile[i]) | (heard.source[i] == partner)
    if own.any():
        j = i[int(np.argmax(own))]
        raise phase.refuse(
            "own pair",
            f"8-byte items of tile {heard.source[j]} cannot be heard by its own pair",
            tile=heard.tile[j],
            cycle=heard.first[j],
        )
    size = machine.tiles
    mine = np.stack([heard.first[i], heard.until[i], heard.tile[i] * size + heard.source[i]])
    theirs = np.stack([heard.first[i], heard.until[i], partner * size + heard.source[i]])
    mine, order = mine[:, np.lexsort(mine)], np.lexsort(theirs)
    bad = (mine != theirs[:, order]).any(axis=0)
    if bad.any():
        j = i[order[int(np.argmax(bad))]]
        raise phase.refuse(
            "half a pair",
            f"tile {heard.tile[j]} hears 8-byte items of {heard.source[j]} that its partner does not hear",
            tile=heard.tile[j],
            cycle=heard.first[j],
        )


def deliver(
    words: npt.NDArray[np.uint32], machine: Machine, *, address: int | None = None, phase: str = ""
) -> Delivery:
    """
    Who hears what, for the rows (tiles, width) of one phase. `address` is where the rows lie in SRAM
    (equal on all tiles): with it, alignment is checked as placed and the elements that hold rows are
    protected. Raises IllegalProgram.
    """
    here = _Phase(phase)
    words = np.ascontiguousarray(words, np.uint32)
    events = decode(words)
    _check_words(events, words, address, here)
    streams = _streams(events, here)
    _inside(streams, "send", machine, here)
    _reserved(streams, "send", machine, here)
    _lent_buses(streams, machine, here)
    sent_items = np.bincount(streams.tile, streams.items, machine.tiles).astype(np.int64)

    reach = int(events.ends.max(initial=0)) + 4096  # later than any landing or effective selection
    heard = _listening(events, machine, reach, here)
    _whole_pairs(heard, machine, here)
    travel = np.asarray(machine.latency(heard.source, heard.tile), np.int64)
    if heard.wide.any():
        # an 8-byte item lands on both tiles of a pair when the later one has it
        other = np.asarray(machine.latency(heard.source, machine.partner(heard.tile)), np.int64)
        travel = np.where(heard.wide, np.maximum(travel, other), travel)

    # Pieces of the source's streams inside each interval of listening.
    stream_key = streams.tile * reach + streams.start
    stream_end = stream_key + streams.items
    begin = heard.source * reach + np.maximum(heard.first - travel, 0)
    end = heard.source * reach + np.maximum(heard.until - travel, 0)
    lo = np.searchsorted(stream_end, begin, "right")
    hi = np.searchsorted(stream_key, end, "left")
    owner, member = _expand(lo, np.maximum(hi - lo, 0))
    left = np.maximum(stream_key[member], begin[owner])
    right = np.minimum(stream_end[member], end[owner])
    items = np.bincount(owner, right - left, len(heard.tile)).astype(np.int64)
    short = items != heard.until - heard.first
    if short.any():
        i = int(np.argmax(short))
        source = int(heard.source[i])
        mine = owner == i
        cursor = int(heard.first[i] - travel[i])
        for a, b in zip(left[mine].tolist(), right[mine].tolist(), strict=True):
            if a - source * reach > cursor:
                break
            cursor = b - source * reach
        raise here.refuse(
            "listening to silence",
            f"tile {source} sends nothing that lands then (selected for cycles {heard.first[i]}.."
            f"{heard.until[i]})",
            tile=heard.tile[i],
            cycle=cursor + int(travel[i]),
        )
    sent = left - heard.source[owner] * reach
    got_source, got_wide = heard.source[owner], heard.wide[owner]
    got = _Pieces(
        heard.tile[owner],
        sent + travel[owner],
        right - left,
        streams.address[member] + streams.size[member] * (left - stream_key[member]),
        streams.size[member],
    )
    other = (got.size == 8) != (got_wide != 0)
    if other.any():
        i = int(np.argmax(other))
        raise here.refuse(
            "item size",
            f"tile {got_source[i]} sends {got.size[i]}-byte items, the receiver expects others",
            tile=got.tile[i],
            cycle=got.start[i],
        )

    late = got.start + got.items > events.ends[got.tile]
    if late.any():
        i = int(np.argmax(late))
        cycle = max(int(got.start[i]), int(events.ends[got.tile[i]]))
        raise here.refuse(
            "return too early", "a word lands after the row has returned", tile=got.tile[i], cycle=cycle
        )

    # Cut at pointer controls, and follow the pointer.
    p = np.flatnonzero(events.point >= 0)
    point_key = events.tile[p] * reach + events.control[p]
    key = got.tile * reach + got.start
    lo = np.searchsorted(point_key, key, "right")
    hi = np.searchsorted(point_key, key + got.items, "left")
    cuts = np.maximum(hi - lo, 0)
    owner, member = _expand(lo - 1, cuts + 1)
    # The first member is the pointer that holds at the start of the piece; it cuts nothing.
    opening = np.ones(len(owner), bool)
    opening[1:] = owner[1:] != owner[:-1]
    cut_key = np.where(opening, key[owner], point_key[np.maximum(member, 0)] if len(p) else 0)
    stop_key = np.append(cut_key[1:], 0)
    closing = np.append(opening[1:], True) if len(owner) else opening
    stop_key = np.where(closing, (key + got.items)[owner], stop_key)
    shift = cut_key - key[owner]
    unset = (
        (member < 0) | (events.tile[p][np.maximum(member, 0)] != got.tile[owner]) if len(p) else member < 0
    )
    if len(owner) and unset.any():
        i = int(np.argmax(unset))
        raise here.refuse(
            "receive without a pointer",
            "a word lands before any pointer is set",
            tile=got.tile[owner[i]],
            cycle=got.start[owner[i]],
        )
    item = got.size[owner]
    pieces = _Pieces(
        got.tile[owner], got.start[owner] + shift, stop_key - cut_key, got.address[owner] + item * shift, item
    )
    src_tile, sent = got_source[owner], sent[owner] + shift
    total = np.cumsum(pieces.items * item)
    before = total - pieces.items * item
    # Bytes written on the tile since the pointer was set: pieces never straddle a pointer.
    piece_key = pieces.tile * reach + pieces.start
    at_pointer = np.append(before, total[-1] if len(total) else 0)[
        np.searchsorted(piece_key, point_key[member] if len(p) else key[:0], "left")
    ]
    dst_address = (events.point[p][member] if len(p) else member) + before - at_pointer
    writes = _Pieces(pieces.tile, pieces.start, pieces.items, dst_address, item)
    _inside(writes, "receive", machine, here)
    _reserved(writes, "receive", machine, here)
    odd = dst_address % item != 0
    if odd.any():
        i = int(np.argmax(odd))
        raise here.refuse(
            "misaligned item",
            f"8-byte items are received at {int(dst_address[i]):#x}",
            tile=pieces.tile[i],
            cycle=pieces.start[i],
            address=dst_address[i],
        )

    ordered = _check_memory(streams, writes, events, machine, address, here)
    return Delivery(
        src_tile=src_tile,
        src_address=pieces.address,
        dst_tile=pieces.tile,
        dst_address=dst_address,
        nwords=pieces.items * item // 4,
        rate=item // 4,
        sent=sent,
        landed=pieces.start,
        end_cycle=events.ends,
        sent_items=sent_items,
        ordered=ordered,
        sram_base=machine.sram_base,
        sram_bytes=machine.sram_bytes,
    )


def _by_element(pieces: _Pieces, machine: Machine) -> tuple[_Pieces, Ints]:
    """The pieces cut at borders of memory elements, and the element of each part."""
    edges = np.sort(np.array([machine.element_range(i)[0] for i in range(machine.elements)], np.int64))
    numbers = np.asarray(machine.element_index(edges), np.int64)
    lo = np.searchsorted(edges, pieces.address, "right") - 1
    hi = np.searchsorted(edges, pieces.end, "left")
    if (hi - lo == 1).all():
        return pieces, numbers[lo]
    owner, member = _expand(lo, hi - lo)
    size = pieces.size[owner]
    begin = np.maximum(pieces.address[owner], edges[member])
    end = np.minimum(pieces.end[owner], np.append(edges[1:], machine.sram_base + machine.sram_bytes)[member])
    shift = (begin - pieces.address[owner]) // size
    parts = _Pieces(pieces.tile[owner], pieces.start[owner] + shift, (end - begin) // size, begin, size)
    return parts, numbers[member]


def _check_memory(
    sends: _Pieces, writes: _Pieces, events: Events, machine: Machine, address: int | None, phase: _Phase
) -> bool:
    """Refusals that come from where things lie. Returns whether reads must be kept before writes."""
    reads, read_element = _by_element(sends, machine)
    stores, store_element = _by_element(writes, machine)
    if address is not None:
        last = address + 4 * events.length - 1
        low = int(np.asarray(machine.element_index(address)))
        high = np.asarray(machine.element_index(last), np.int64)
        for parts, element, what in (
            (reads, read_element, "send reads"),
            (stores, store_element, "receive writes"),
        ):
            bad = (element >= low) & (element <= high[parts.tile])
            if bad.any():
                i = int(np.argmax(bad))
                raise phase.refuse(
                    "row element in use",
                    f"a {what} the memory element that holds the row",
                    tile=parts.tile[i],
                    cycle=parts.start[i],
                    address=parts.address[i],
                )
    # Reads and writes of one element at the same cycle.
    if len(reads.tile) and len(stores.tile):
        reach = int(max((reads.start + reads.items).max(), (stores.start + stores.items).max())) + 1
        elements = machine.elements
        read_key = (reads.tile * elements + read_element) * reach + reads.start
        order = np.argsort(read_key, kind="stable")
        read_key = read_key[order]
        read_end = read_key + reads.items[order]
        key = (stores.tile * elements + store_element) * reach + stores.start
        lo = np.searchsorted(read_end, key, "right")
        hi = np.searchsorted(read_key, key + stores.items, "left")
        bad = hi > lo
        if bad.any():
            i = int(np.argmax(bad))
            j = order[lo[i]]
            cycle = max(int(reads.start[j]), int(stores.start[i]))
            read = int(reads.address[j]) + int(reads.size[j]) * (cycle - int(reads.start[j]))
            raise phase.refuse(
                "element conflict",
                f"a send reads {read:#x} while a receive writes the same memory element",
                tile=stores.tile[i],
                cycle=cycle,
                address=int(stores.address[i]) + int(stores.size[i]) * (cycle - int(stores.start[i])),
            )
    # Two writers of one word.
    size = machine.sram_base + machine.sram_bytes
    order = np.argsort(writes.tile * size + writes.address, kind="stable")
    begin = (writes.tile * size + writes.address)[order]
    stop = begin + (writes.end - writes.address)[order]
    if len(begin) > 1:
        bad = stop[:-1] > begin[1:]
        if bad.any():
            i = int(np.argmax(bad))
            j = order[i + 1]
            late = max(int(writes.start[j]), int(writes.start[order[i]]))
            raise phase.refuse(
                "two writers",
                "two receives of the phase write the same word",
                tile=writes.tile[j],
                cycle=late,
                address=writes.address[j],
            )
    # A word that is both sent and received: the send has to come first.
    if not len(begin) or not len(sends.tile):
        return False
    key = sends.tile * size + sends.address
    lo = np.searchsorted(stop, key, "right")
    hi = np.searchsorted(begin, key + sends.end - sends.address, "left")
    owner, member = _expand(lo, np.maximum(hi - lo, 0))
    if not len(owner):
        return False
    w = order[member]
    # Reads and writes of the overlap are linear in time: its ends decide.
    low = np.maximum(sends.address[owner], writes.address[w])
    high = np.minimum(sends.end[owner], writes.end[w]) - 4

    def cycle_of(pieces: _Pieces, which: Ints, address: Ints) -> Ints:
        return pieces.start[which] + (address - pieces.address[which]) // pieces.size[which]

    early = cycle_of(sends, owner, low) >= cycle_of(writes, w, low)
    bad = early | (cycle_of(sends, owner, high) >= cycle_of(writes, w, high))
    if bad.any():
        i = int(np.argmax(bad))
        where = low[i] if early[i] else high[i]
        raise phase.refuse(
            "send after receive",
            "a word received in this phase is sent in the same phase",
            tile=sends.tile[owner[i]],
            cycle=cycle_of(sends, owner[i : i + 1], where)[0],
            address=where,
        )
    return True


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


def _windows(flat: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """All runs of `size` neighbours, as a writable view."""
    return np.lib.stride_tricks.as_strided(flat, (len(flat) - size + 1, size), (flat.itemsize, flat.itemsize))


_BLOCK_WORDS = 1 << 21
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
    for size, source, destination in groups:
        window = _windows(flat, size)
        step = max(1, _BLOCK_WORDS // size)
        for a in range(0, len(source), step):
            window[destination[a : a + step]] = window[source[a : a + step]]


def require_written(
    delivery: Delivery, valid: npt.NDArray[Any], full: int | bool = True, phase: str = ""
) -> None:
    """
    Refuse a phase that sends words never written. `valid` has one entry per word, (tiles, sram_bytes //
    4); a word is defined where it equals `full`. Every word that any tile hears is checked.
    """
    flat = valid.reshape(-1)
    for size, source, _ in by_length(delivery):
        window = _windows(flat, size)
        unique = np.unique(source)  # a multicast is read once
        step = max(1, 4 * _BLOCK_WORDS // size)
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
