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

    def __init__(self, messages: Messages, addresses: npt.NDArray[np.int64], room: int) -> None:
        order = np.argsort(messages.dst_tile, kind="stable")
        self.tile = messages.dst_tile[order]
        self.to = (addresses[messages.dst_buffer] + messages.dst_offset)[order] if len(order) else order
        come = addresses[messages.src_buffer] + messages.src_offset if len(order) else order
        self.source = (messages.src_tile * room + come)[order]
        self.words = messages.nbytes[order] // 4

    def of(self, tile: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """
        Destination addresses, ascending, and source keys (tile * room + address) of all words for a
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
    low, high = machine.sram_base, machine.sram_base + machine.sram_bytes
    room = 1 << 21
    tiles = words.shape[0]
    odd = row_address is not None and row_address % 8 != 0
    rows = [_walk(tile, words[tile].tolist(), odd, found) for tile in range(tiles)]
    if found:
        return found[:LIMIT]
    # Nothing may land after the last row has returned; listening a little longer shows it.
    busiest = max((row.end for row in rows), default=0) + 256

    # Byte address that leaves each tile at each cycle, -1 where none does; bytes of the item.
    leaving: list[npt.NDArray[np.int64]] = []
    widths: list[npt.NDArray[np.int64]] = []
    for row in rows:
        line, width = np.full(row.end + 1, -1, np.int64), np.zeros(row.end + 1, np.int64)
        for start, count, address, size in row.sends:
            line[start : start + count] = np.arange(address, address + size * count, size)
            width[start : start + count] = size
        leaving.append(line)
        widths.append(width)
    mates = np.asarray(machine.partner(np.arange(tiles, dtype=np.int64)), np.int64).tolist()
    for tile, (line, width) in enumerate(zip(leaving, widths, strict=True)):
        other = widths[mates[tile]]
        length = min(len(width), len(other))
        both = np.flatnonzero((width[:length] == 8) & (other[:length] > 0))
        if len(both):
            cycle = int(both[0])
            text = f"tile {tile} sends 8-byte items over its partner's bus, which sends too"
            found.append(Finding("bus", mates[tile], cycle, int(leaving[mates[tile]][cycle]), text))
        odd = np.flatnonzero((width == 8) & (line % 8 != 0))
        if len(odd):
            text = "an 8-byte item is sent from an odd word"
            found.append(Finding("item", tile, int(odd[0]), int(line[odd[0]]), text))
    if found:
        return found[:LIMIT]
    ears: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]] = []
    number = {
        int(value): tile for tile, value in enumerate(np.asarray(machine.physical(np.arange(tiles))).tolist())
    }
    place = {tile: value for value, tile in number.items()}

    wanted = _Wanted(messages, np.asarray(addresses, np.int64), room)
    every = np.arange(tiles, dtype=np.int64)
    lead = np.asarray(machine.select_lead(every), np.int64).tolist()
    for tile, row in enumerate(rows):
        # Who is heard at each landing cycle: -1 nobody; and in items of how many bytes.
        heard, item = np.full(busiest + 1, -1, np.int32), np.full(busiest + 1, 4, np.int8)
        for k, (cycle, value, size) in enumerate(row.selects):
            begin = cycle + lead[tile]
            end = row.selects[k + 1][0] + lead[tile] if k + 1 < len(row.selects) else busiest + 1
            if value == machine.neutral_source:
                continue
            # Of the two buses of a pair of senders, each receiver of a pair takes the one on its side.
            sender = value ^ (place[tile] & 2) if size == 8 else value
            if sender not in number:
                found.append(Finding("source", tile, begin, -1, f"nobody is source {value:#x}"))
                continue
            if k + 1 == len(row.selects):
                found.append(Finding("neutral", tile, cycle, -1, "the row ends while it listens"))
            if size == 8 and number[sender] in (tile, mates[tile]):
                found.append(
                    Finding("own pair", tile, begin, -1, "8-byte items come from the tile's own pair")
                )
            heard[begin:end] = number[sender]
            item[begin:end] = size
        ears.append((heard, item))
    for tile, (heard, item) in enumerate(ears):
        other, theirs = ears[mates[tile]]
        alone = np.flatnonzero((heard >= 0) & (item == 8) & ((other != heard) | (theirs != 8)))
        if len(alone):
            text = f"tile {heard[alone[0]]} sends 8-byte items that only one tile of a pair hears"
            found.append(Finding("pair", tile, int(alone[0]), -1, text))
    for tile, row in enumerate(rows):
        if len(found) >= LIMIT:
            break
        heard, item = ears[tile]
        cycles = np.flatnonzero(heard >= 0)
        source, item = heard[cycles].astype(np.int64), item[cycles].astype(np.int64)
        origin, width = np.full(len(cycles), -1, np.int64), np.zeros(len(cycles), np.int64)
        travel = np.asarray(machine.latency(source, np.full(len(source), tile)), np.int64)
        slower = np.asarray(machine.latency(source, np.full(len(source), mates[tile])), np.int64)
        left = cycles - np.where(item == 8, np.maximum(travel, slower), travel)
        runs = np.flatnonzero(np.diff(source, prepend=-1, append=-1)).tolist()
        for a, b in pairwise(runs):
            line = leaving[int(source[a])]
            inside = (left[a:b] >= 0) & (left[a:b] < len(line))
            origin[a:b][inside] = line[left[a:b][inside]]
            width[a:b][inside] = widths[int(source[a])][left[a:b][inside]]
        silent = np.flatnonzero(origin < 0)
        if len(silent):
            i = int(silent[0])
            found.append(
                Finding(
                    "silence", tile, int(cycles[i]), -1, f"tile {source[i]} sends nothing that lands then"
                )
            )
            continue
        other = np.flatnonzero(width != item)
        if len(other):
            i = int(other[0])
            text = f"tile {source[i]} sends items of {width[i]} bytes, {item[i]} are expected"
            found.append(Finding("item", tile, int(cycles[i]), -1, text))
            continue
        if len(cycles) and cycles[-1] >= row.end:
            late = int(cycles[np.searchsorted(cycles, row.end)])
            found.append(Finding("early return", tile, late, -1, "a word lands after the row has returned"))
            continue
        # Where each landing word is stored.
        control, pointer = np.array(row.pointers or [(0, 0)], np.int64).T
        holds = np.searchsorted(control, cycles, "right") - 1
        if len(cycles) and (not row.pointers or holds[0] < 0):
            found.append(Finding("pointer", tile, int(cycles[0]), -1, "a word lands before a pointer is set"))
            continue
        before = np.concatenate([[0], np.cumsum(item)])
        stored = pointer[holds] + before[:-1] - before[np.searchsorted(cycles, control)[holds]]
        odd = np.flatnonzero((item == 8) & (stored % 8 != 0))
        if len(odd):
            i = int(odd[0])
            text = "an 8-byte item is received at an odd word"
            found.append(Finding("item", tile, int(cycles[i]), int(stored[i]), text))
            continue
        outside = np.flatnonzero((stored < low) | (stored + item > high))
        if len(outside):
            i = int(outside[0])
            found.append(Finding("range", tile, int(cycles[i]), int(stored[i]), "receive outside of SRAM"))
            continue
        line = leaving[tile]
        outside = np.flatnonzero((line >= 0) & ((line < low) | (line + widths[tile] > high)))
        if len(outside):
            i = int(outside[0])
            found.append(Finding("range", tile, i, int(line[i]), "send from outside of SRAM"))
            continue
        if written is not None:
            sent = np.flatnonzero(line >= 0)
            last = line[sent] + widths[tile][sent] - 4
            bad = np.flatnonzero(
                (written[tile, (line[sent] - low) // 4] & written[tile, (last - low) // 4]) == 0
            )
            if len(bad):
                i = int(sent[bad[0]])
                found.append(
                    Finding("undefined", tile, i, int(line[i]), "a word is sent that was never written")
                )

        # Memory elements: reads against writes of the same cycle, and against the row itself.
        reading = np.full(busiest + 1, -1, np.int64)
        reading[: len(line)] = np.where(line >= 0, machine.element_index(np.where(line >= 0, line, low)), -1)
        writing = np.asarray(machine.element_index(stored), np.int64)
        clash = np.flatnonzero(reading[cycles] == writing)
        if len(clash):
            i = int(clash[0])
            found.append(
                Finding(
                    "element", tile, int(cycles[i]), int(stored[i]), "send and receive in one memory element"
                )
            )
        if row_address is not None:
            last = row_address + 4 * row.length - 1
            code = range(int(machine.element_index(row_address)), int(machine.element_index(last)) + 1)
            for element in code:
                where = np.flatnonzero(reading == element)
                if len(where):
                    i = int(where[0])
                    found.append(
                        Finding("row element", tile, i, int(line[i]), "send from the element of the row")
                    )
                where = np.flatnonzero(writing == element)
                if len(where):
                    i = int(where[0])
                    text = "receive into the element of the row"
                    found.append(Finding("row element", tile, int(cycles[i]), int(stored[i]), text))

        # From here on by word: an 8-byte item is two that are stored in the same cycle.
        cycles, stored, origin, source = (np.repeat(x, item // 4) for x in (cycles, stored, origin, source))
        second = np.zeros(len(cycles), np.int64)
        second[1:] = 4 * (cycles[1:] == cycles[:-1])
        stored, origin = stored + second, origin + second

        # A word that is received and sent in one phase must have left before it is overwritten.
        sent = np.flatnonzero(line >= 0)
        leaves = np.concatenate([line[sent], line[sent][widths[tile][sent] == 8] + 4])
        when = np.concatenate([sent, sent[widths[tile][sent] == 8]])
        both = np.intersect1d(leaves, stored)
        if len(both):
            last_sent: dict[int, int] = {}
            for address, cycle in zip(leaves.tolist(), when.tolist(), strict=True):
                last_sent[address] = max(cycle, last_sent.get(address, -1))
            for address, cycle in zip(stored.tolist(), cycles.tolist(), strict=True):
                if last_sent.get(address, -1) >= cycle:
                    found.append(
                        Finding("forwarding", tile, cycle, address, "a received word is sent in the phase")
                    )
                    break

        # The stored words are those that were asked for.
        order = np.argsort(stored, kind="stable")
        got, got_source = stored[order], (source * room + origin)[order]
        twice = np.flatnonzero(got[1:] == got[:-1])
        if len(twice):
            i = int(order[twice[0] + 1])
            found.append(
                Finding("two writers", tile, int(cycles[i]), int(stored[i]), "a word is received twice")
            )
            continue
        want, want_source = wanted.of(tile)
        if len(got) == len(want) and (got == want).all() and (got_source == want_source).all():
            continue
        missing = np.setdiff1d(want, got)
        extra = np.setdiff1d(got, want)
        if len(missing):
            text = f"{len(missing)} words are asked for and not received"
            found.append(Finding("missing", tile, -1, int(missing[0]), text))
        elif len(extra):
            i = int(order[np.searchsorted(got, extra[0])])
            text = f"{len(extra)} words are received that nobody asked for"
            found.append(Finding("surplus", tile, int(cycles[i]), int(extra[0]), text))
        else:
            place = np.flatnonzero(got_source != want_source[: len(got)]) if len(got) == len(want) else [0]
            i = int(place[0])
            text = (
                f"comes from tile {got_source[i] // room}, {got_source[i] % room:#x} instead of tile "
                f"{want_source[i] // room}, {want_source[i] % room:#x}"
            )
            found.append(Finding("wrong word", tile, int(cycles[order[i]]), int(got[i]), text))
    return found[:LIMIT]


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
