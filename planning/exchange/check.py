# SPDX-License-Identifier: Apache-2.0
"""
An independent judge of exchange rows: do these words deliver these messages, and nothing else?

Shares no code with the scheduler, the encoder or the machine model's fabric. Where those reason about
intervals, this walks every row word by word and then every cycle: for each tile it writes down which word
leaves at each cycle, which source is heard at each cycle and where the landing word is stored, and compares
the stored words with what the messages ask for. Simple rather than fast: a few seconds for the largest phase
of a large model.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tilewright.planning.exchange.messages import ExchangeError, Messages

if TYPE_CHECKING:
    from tilewright.machine import Machine

LIMIT = 20
"""Findings that are collected before the check stops."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong. `cycle` and `address` (bytes) are -1 where they do not apply."""

    rule: str
    tile: int
    cycle: int
    address: int
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text} (tile {self.tile}, cycle {self.cycle}, address {self.address:#x})"


class _Row:
    """One row, executed on paper."""

    def __init__(self) -> None:
        self.sends: list[tuple[int, int, int, int]] = []  # first cycle, items, byte address, bytes of an item
        self.selects: list[tuple[int, int, int]] = []  # cycle of the control, source number, bytes of an item
        self.pointers: list[tuple[int, int]] = []  # cycle of the control, byte address
        self.end = 0
        self.length = 0


def _bits(word: int, low: int, count: int) -> int:
    return word >> low & ((1 << count) - 1)


def _walk(tile: int, words: list[int], odd: bool, found: list[Finding]) -> _Row:
    """Execute a row. `odd`: the row starts 4 bytes after an 8-byte boundary."""
    row = _Row()
    clock = 0
    where = 0  # byte address of the next item of the stream
    ways = 0  # directions of the stream
    at = 0
    while True:
        if at >= len(words):
            found.append(Finding("no return", tile, clock, -1, f"the row runs past its {len(words)} words"))
            break
        word = words[at]
        at += 1
        top = word >> 26
        if word == 0x43A00000:
            break
        if word >> 19 == 0x40A00000 >> 19:
            clock += _bits(word, 0, 19) + 1
        elif top == 0x60000000 >> 26:
            clock += _bits(word, 19, 7) + 1
            row.pointers.append((clock - 1, 4 * _bits(word, 0, 18)))
            if _bits(word, 18, 1):
                found.append(Finding("selector", tile, clock - 1, -1, "delaypic with selector 1"))
        elif top == 0x64000000 >> 26:
            clock += _bits(word, 14, 12) + 1
            row.selects.append((clock - 1, _bits(word, 0, 13), 8 if _bits(word, 13, 1) else 4))
        elif word >> 27 == 0x78000000 >> 27:
            count = _bits(word, 21, 6) + 1
            ways = word & 7
            size = 8 if ways & 4 else 4
            where = size * _bits(word, 3, 18)
            if ways & 3:
                row.sends.append((clock, count, where, size))
            where += size * count
            clock += count
        elif word >> 27 == 0x70000000 >> 27:
            if word >> 20 & 1:
                count = _bits(word, 21, 6) + 1
                form = _bits(word, 18, 2)
                if form < 2:
                    row.selects.append((clock, _bits(word, 0, 18), 8 if form else 4))
                elif form == 2:
                    row.pointers.append((clock, 4 * _bits(word, 0, 18)))
                else:
                    found.append(Finding("selector", tile, clock, -1, f"sendpic with selector {form}"))
            else:
                count = (_bits(word, 21, 6) | _bits(word, 14, 6) << 6) + 1
                ways = word & 7
                where += (8 if ways & 4 else 4) * _bits(word, 3, 11)
            size = 8 if ways & 4 else 4
            if ways & 3:
                row.sends.append((clock, count, where, size))
            where += size * count
            clock += count
        elif word >> 28 == 0xF:
            if (at - 1 + odd) % 2:
                found.append(Finding("alignment", tile, clock, -1, f"sendpicp at word {at - 1} of the row"))
            if at >= len(words):
                found.append(Finding("no return", tile, clock, -1, "the row ends inside a sendpicp"))
                break
            inline = words[at]
            at += 1
            count = _bits(word, 21, 6) + 1
            if word >> 27 & 1:
                found.append(Finding("selector", tile, clock, -1, "sendpicp with a selector bit"))
            row.pointers.append((clock, 4 * _bits(inline, 0, 18)))
            row.selects.append((clock, _bits(inline, 18, 13), 8 if inline >> 31 else 4))
            ways = word & 7
            size = 8 if ways & 4 else 4
            where = size * _bits(word, 3, 18)
            if ways & 3:
                row.sends.append((clock, count, where, size))
                where += size * count
            clock += count
        else:
            found.append(Finding("opcode", tile, clock, -1, f"word {at - 1} of the row is {word:#010x}"))
            break
    row.end = clock
    row.length = at
    return row


class _Wanted:
    """The words that the messages ask for, tile by tile."""

    ROOM = 1 << 21
    """Beyond any byte address: a source is one number, tile * ROOM + address."""

    def __init__(self, messages: Messages, addresses: npt.NDArray[np.int64]) -> None:
        order = np.argsort(messages.dst_tile, kind="stable")
        self.tile = messages.dst_tile[order]
        self.to = (addresses[messages.dst_buffer] + messages.dst_offset)[order] if len(order) else order
        come = addresses[messages.src_buffer] + messages.src_offset if len(order) else order
        self.source = self.key(messages.src_tile, come)[order]
        self.words = messages.nbytes[order] // 4

    @classmethod
    def key(cls, tile: npt.NDArray[np.int64], address: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Tiles and addresses as one number each."""
        return tile * cls.ROOM + address

    @classmethod
    def place(cls, key: int) -> str:
        """A key as a person reads it."""
        return f"tile {key // cls.ROOM}, {key % cls.ROOM:#x}"

    def of(self, tile: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """
        Destination addresses, ascending, and source keys of all words for a
        tile.
        """
        a, b = np.searchsorted(self.tile, [tile, tile + 1]).tolist()
        to = _ramps(self.to[a:b], self.words[a:b])
        source = _ramps(self.source[a:b], self.words[a:b])
        order = np.lexsort((source, to))
        return to[order], source[order]


def _ramps(first: npt.NDArray[np.int64], words: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Byte addresses first, first + 4, ... of `words` words, for all spans one after another."""
    begins = np.cumsum(words) - words
    return np.repeat(first - 4 * begins, words) + 4 * np.arange(int(words.sum()), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Line:
    """
    One tile, cycle by cycle, arrays (cycles,): the byte address that leaves it, or the tile that it hears;
    -1 where there is none. `size`: bytes of the item.
    """

    what: npt.NDArray[np.integer]
    size: npt.NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class _Landed:
    """
    What lands on a tile, arrays in order of time: cycle, sender, the address it left from, the address it is
    stored at, bytes.
    """

    cycle: npt.NDArray[np.int64]
    source: npt.NDArray[np.int64]
    origin: npt.NDArray[np.int64]
    stored: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]

    def by_word(self) -> _Landed:
        """The same by words: an 8-byte item is two that are stored in the same cycle."""
        cycle, source, origin, stored = (
            np.repeat(x, self.size // 4) for x in (self.cycle, self.source, self.origin, self.stored)
        )
        second = np.zeros(len(cycle), np.int64)
        second[1:] = 4 * (cycle[1:] == cycle[:-1])
        return _Landed(cycle, source, origin + second, stored + second, np.full(len(cycle), 4))


class _Judge:
    """
    The rows of a phase, cycle by cycle, and what is wrong with them. Methods that return a truth value say
    whether it makes sense to look on.
    """

    def __init__(self, rows: list[_Row], machine: Machine) -> None:
        every = np.arange(len(rows), dtype=np.int64)
        self.machine = machine
        self.rows = rows
        self.found: list[Finding] = []
        self.mates: list[int] = np.asarray(machine.partner(every), np.int64).tolist()
        self.numbers: list[int] = np.asarray(machine.physical(every), np.int64).tolist()
        self.tile_of = {number: tile for tile, number in enumerate(self.numbers)}
        # Nothing may land after the last row has returned; listening a little longer shows it.
        self.cycles = max((row.end for row in rows), default=0) + 257
        self.sends = [self._sends(row) for row in rows]
        self.ears: list[_Line] = []

    def report(self, rule: str, tile: int, cycle: Any, text: str, address: Any = -1) -> None:
        """Note a finding; cycle and address are numbers of any kind."""
        self.found.append(Finding(rule, tile, int(cycle), int(address), text))

    # -- all tiles

    @staticmethod
    def _sends(row: _Row) -> _Line:
        line, width = np.full(row.end + 1, -1, np.int64), np.zeros(row.end + 1, np.int8)
        for start, count, address, size in row.sends:
            line[start : start + count] = np.arange(address, address + size * count, size)
            width[start : start + count] = size
        return _Line(line, width)

    def check_sends(self) -> bool:
        """8-byte items take both buses of a pair, and even words."""
        for tile, line in enumerate(self.sends):
            mate = self.mates[tile]
            other = self.sends[mate]
            length = min(len(line.size), len(other.size))
            clash = np.flatnonzero((line.size[:length] == 8) & (other.size[:length] > 0))
            if len(clash):
                text = f"tile {tile} sends 8-byte items over its partner's bus, which sends too"
                self.report("bus", mate, clash[0], text, other.what[clash[0]])
            odd = np.flatnonzero((line.size == 8) & (line.what % 8 != 0))
            if len(odd):
                text = "an 8-byte item is sent from an odd word"
                self.report("item", tile, odd[0], text, line.what[odd[0]])
        return not self.found

    def listen(self) -> None:
        """Who hears whom at each landing cycle, and that 8-byte items are heard by both tiles of a pair."""
        lead = np.asarray(self.machine.select_lead(np.arange(len(self.rows))), np.int64).tolist()
        self.ears = [self._ears(tile, row, lead[tile]) for tile, row in enumerate(self.rows)]
        for tile, line in enumerate(self.ears):
            other = self.ears[self.mates[tile]]
            alone = np.flatnonzero(
                (line.what >= 0) & (line.size == 8) & ((other.what != line.what) | (other.size != 8))
            )
            if len(alone):
                text = f"tile {line.what[alone[0]]} sends 8-byte items that only one tile of a pair hears"
                self.report("pair", tile, alone[0], text)

    def _ears(self, tile: int, row: _Row, lead: int) -> _Line:
        # Small types: all tiles are held at once.
        heard, item = np.full(self.cycles, -1, np.int32), np.full(self.cycles, 4, np.int8)
        ends = [cycle for cycle, _, _ in row.selects[1:]]
        for k, (cycle, value, size) in enumerate(row.selects):
            if value == self.machine.neutral_source:
                continue
            last = k == len(ends)
            begin, end = cycle + lead, self.cycles if last else ends[k] + lead
            # Of the two buses of a pair of senders, each receiver of a pair takes the one on its side.
            sender = value ^ (self.numbers[tile] & 2) if size == 8 else value
            if sender not in self.tile_of:
                self.report("source", tile, begin, f"nobody is source {value:#x}")
                continue
            if last:
                self.report("neutral", tile, cycle, "the row ends while it listens")
            source = self.tile_of[sender]
            if size == 8 and source in (tile, self.mates[tile]):
                self.report("own pair", tile, begin, "8-byte items come from the tile's own pair")
            heard[begin:end] = source
            item[begin:end] = size
        return _Line(heard, item)

    # -- one tile

    def land(self, tile: int) -> _Landed | None:
        """What lands on a tile, followed back to where it left and on to where it is stored."""
        ears = self.ears[tile]
        cycle = np.flatnonzero(ears.what >= 0)
        source, size = ears.what[cycle].astype(np.int64), ears.size[cycle].astype(np.int64)
        origin, sent_size = self._origin(tile, cycle, source, size)
        silent = np.flatnonzero(origin < 0)
        if len(silent):
            i = silent[0]
            self.report("silence", tile, cycle[i], f"tile {source[i]} sends nothing that lands then")
            return None
        other = np.flatnonzero(sent_size != size)
        if len(other):
            i = other[0]
            text = f"tile {source[i]} sends items of {sent_size[i]} bytes, {size[i]} are expected"
            self.report("item", tile, cycle[i], text)
            return None
        row = self.rows[tile]
        if len(cycle) and cycle[-1] >= row.end:
            late = cycle[np.searchsorted(cycle, row.end)]
            self.report("early return", tile, late, "a word lands after the row has returned")
            return None
        if len(cycle) and (not row.pointers or row.pointers[0][0] > cycle[0]):
            self.report("pointer", tile, cycle[0], "a word lands before a pointer is set")
            return None
        stored = self._stored(row, cycle, size)
        odd = np.flatnonzero((size == 8) & (stored % 8 != 0))
        if len(odd):
            i = odd[0]
            self.report("item", tile, cycle[i], "an 8-byte item is received at an odd word", stored[i])
            return None
        return _Landed(cycle, source, origin, stored, size)

    def _origin(
        self,
        tile: int,
        cycle: npt.NDArray[np.int64],
        source: npt.NDArray[np.int64],
        size: npt.NDArray[np.int64],
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Address from which the item left that lands at each cycle, -1 where none did, and its bytes."""
        travel = np.asarray(self.machine.latency(source, np.full(len(source), tile)), np.int64)
        mate = np.full(len(source), self.mates[tile])
        slower = np.asarray(self.machine.latency(source, mate), np.int64)
        left = cycle - np.where(size == 8, np.maximum(travel, slower), travel)
        origin, sent_size = np.full(len(cycle), -1, np.int64), np.zeros(len(cycle), np.int64)
        runs = np.flatnonzero(np.diff(source, prepend=-1, append=-1)).tolist()
        for a, b in pairwise(runs):
            line = self.sends[int(source[a])]
            inside = (left[a:b] >= 0) & (left[a:b] < len(line.what))
            origin[a:b][inside] = line.what[left[a:b][inside]]
            sent_size[a:b][inside] = line.size[left[a:b][inside]]
        return origin, sent_size

    @staticmethod
    def _stored(
        row: _Row, cycle: npt.NDArray[np.int64], size: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Where each landing item is stored: at the pointer, and on from there."""
        control, pointer = np.array(row.pointers or [(0, 0)], np.int64).T
        holds = np.searchsorted(control, cycle, "right") - 1
        before = np.concatenate([[0], np.cumsum(size)])
        return pointer[holds] + before[:-1] - before[np.searchsorted(cycle, control)[holds]]

    def check_range(self, tile: int, landed: _Landed) -> bool:
        """Sends and receives stay inside of SRAM."""
        low, high = self.machine.sram_base, self.machine.sram_base + self.machine.sram_bytes
        outside = np.flatnonzero((landed.stored < low) | (landed.stored + landed.size > high))
        if len(outside):
            i = outside[0]
            self.report("range", tile, landed.cycle[i], "receive outside of SRAM", landed.stored[i])
            return False
        line = self.sends[tile]
        outside = np.flatnonzero((line.what >= 0) & ((line.what < low) | (line.what + line.size > high)))
        if len(outside):
            i = outside[0]
            self.report("range", tile, i, "send from outside of SRAM", line.what[i])
            return False
        return True

    def check_defined(self, tile: int, written: npt.NDArray[Any]) -> None:
        """Words that are sent were `written` (words,) before."""
        line, low = self.sends[tile], self.machine.sram_base
        sent = np.flatnonzero(line.what >= 0)
        address = line.what[sent]
        last = address + line.size[sent] - 4
        bad = np.flatnonzero((written[(address - low) // 4] & written[(last - low) // 4]) == 0)
        if len(bad):
            self.report(
                "undefined", tile, sent[bad[0]], "a word is sent that was never written", address[bad[0]]
            )

    def check_elements(self, tile: int, landed: _Landed, row_address: int | None) -> None:
        """Memory elements: reads against writes of the same cycle, and both against the row itself."""
        machine, line = self.machine, self.sends[tile]
        sent = np.flatnonzero(line.what >= 0)
        reading = np.full(self.cycles, -1, np.int64)
        reading[sent] = machine.element_index(line.what[sent])
        writing = np.asarray(machine.element_index(landed.stored), np.int64)
        clash = np.flatnonzero(reading[landed.cycle] == writing)
        if len(clash):
            i = clash[0]
            text = "send and receive in one memory element"
            self.report("element", tile, landed.cycle[i], text, landed.stored[i])
        if row_address is None:
            return
        end = row_address + 4 * self.rows[tile].length - 1
        first, last = int(machine.element_index(row_address)), int(machine.element_index(end))
        for element in range(first, last + 1):
            where = np.flatnonzero(reading == element)
            if len(where):
                text = "send from the element of the row"
                self.report("row element", tile, where[0], text, line.what[where[0]])
            where = np.flatnonzero(writing == element)
            if len(where):
                i = where[0]
                text = "receive into the element of the row"
                self.report("row element", tile, landed.cycle[i], text, landed.stored[i])

    def check_forwarding(self, tile: int, landed: _Landed) -> None:
        """A word that is received and sent in one phase must have left before it is overwritten."""
        line = self.sends[tile]
        sent = np.flatnonzero(line.what >= 0)
        wide = sent[line.size[sent] == 8]
        address = np.concatenate([line.what[sent], line.what[wide] + 4])
        cycle = np.concatenate([sent, wide])
        if not len(np.intersect1d(address, landed.stored)):
            return
        last_sent: dict[int, int] = {}
        for where, when in zip(address.tolist(), cycle.tolist(), strict=True):
            last_sent[where] = max(when, last_sent.get(where, -1))
        for where, when in zip(landed.stored.tolist(), landed.cycle.tolist(), strict=True):
            if last_sent.get(where, -1) >= when:
                self.report("forwarding", tile, when, "a received word is sent in the phase", where)
                return

    def check_contents(self, tile: int, landed: _Landed, wanted: _Wanted) -> None:
        """The stored words are those that were asked for."""
        order = np.argsort(landed.stored, kind="stable")
        got, got_source = landed.stored[order], wanted.key(landed.source, landed.origin)[order]
        twice = np.flatnonzero(got[1:] == got[:-1])
        if len(twice):
            i = order[twice[0] + 1]
            self.report("two writers", tile, landed.cycle[i], "a word is received twice", landed.stored[i])
            return
        want, want_source = wanted.of(tile)
        if np.array_equal(got, want) and np.array_equal(got_source, want_source):
            return
        missing, extra = np.setdiff1d(want, got), np.setdiff1d(got, want)
        if len(missing):
            text = f"{len(missing)} words are asked for and not received"
            self.report("missing", tile, -1, text, missing[0])
        elif len(extra):
            text = f"{len(extra)} words are received that nobody asked for"
            cycle = landed.cycle[order[np.searchsorted(got, extra[0])]]
            self.report("surplus", tile, cycle, text, extra[0])
        else:
            other = np.flatnonzero(got_source != want_source) if len(got) == len(want) else [0]
            i = int(other[0])
            text = f"comes from {wanted.place(got_source[i])} instead of {wanted.place(want_source[i])}"
            self.report("wrong word", tile, landed.cycle[order[i]], text, got[i])


def check(
    words: npt.NDArray[np.uint32],
    messages: Messages,
    addresses: npt.ArrayLike,
    machine: Machine,
    *,
    row_address: int | None = None,
    written: npt.NDArray[Any] | None = None,
) -> list[Finding]:
    """
    What is wrong with rows (tiles, width) that should deliver `messages`, with buffers at `addresses`; []
    if nothing is.

    `row_address`: where the rows lie, to protect their memory elements. `written` (tiles, sram_bytes // 4),
    true where a word is defined before the phase: then sends of undefined words are found.
    """
    found: list[Finding] = []
    odd = row_address is not None and row_address % 8 != 0
    rows = [_walk(tile, row.tolist(), odd, found) for tile, row in enumerate(words)]
    if found:
        return found[:LIMIT]
    judge = _Judge(rows, machine)
    if not judge.check_sends():
        return judge.found[:LIMIT]
    judge.listen()
    wanted = _Wanted(messages, np.asarray(addresses, np.int64))
    for tile in range(len(rows)):
        if len(judge.found) >= LIMIT:
            break
        landed = judge.land(tile)
        if landed is None or not judge.check_range(tile, landed):
            continue
        if written is not None:
            judge.check_defined(tile, written[tile])
        judge.check_elements(tile, landed, row_address)
        landed = landed.by_word()
        judge.check_forwarding(tile, landed)
        judge.check_contents(tile, landed, wanted)
    return judge.found[:LIMIT]


def require(
    words: npt.NDArray[np.uint32],
    messages: Messages,
    addresses: npt.ArrayLike,
    machine: Machine,
    *,
    row_address: int | None = None,
    written: npt.NDArray[Any] | None = None,
    phase: str = "",
) -> None:
    """`check`, raising ExchangeError with all findings."""
    found = check(words, messages, addresses, machine, row_address=row_address, written=written)
    if found:
        name = f" of phase {phase}" if phase else ""
        raise ExchangeError(
            f"the exchange rows{name} do not do what they should: {found[0]}",
            notes=[str(f) for f in found[1:]],
        )
