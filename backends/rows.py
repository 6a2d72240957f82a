# SPDX-License-Identifier: Apache-2.0
"""
Exchange rows as 32-bit words: from a schedule to words, and from words to timed instructions.

A row is what one tile executes in one exchange phase: instructions that last one event (cycle) or more, and a
return. Layouts of the words and the model of time are in docs/spec/rows.md; the field positions are facts of
the Mk2 fabric published in osmarks/ipu-stack (docs/EXCHANGE_INSTRUCTION_REFERENCE.md).

`assemble` chooses the instructions of a schedule without knowing addresses, so lengths of rows never depend
on them; `encode` adds the addresses. Both are array programs over all tiles.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tilewright.planning.exchange.messages import ExchangeError, Ints

if TYPE_CHECKING:
    from tilewright.machine import Machine
    from tilewright.planning.exchange.schedule import Schedule

DELAY = 0x40A00000
DELAYPIC = 0x60000000
DELAYXPIC = 0x64000000
SEND = 0x78000000
SENDOFF = 0x70000000
SENDPIC = 0x70100000
SENDPICP = 0xF0000000
RETURN = 0x43A00000
"""Ends a row. Assumed: the public reference does not give the encoding of a row's return."""

BOTH_DIRECTIONS = 3
"""Send control: a word leaves in both directions of the fabric."""
PAIRED = 4
"""Send control: 8-byte items, over both buses of a tile pair. Addresses of such a send count items."""
PAIR_SOURCE = 1 << 13
"""Selector of a source from which 8-byte items come, above the 13 bits of the source."""
PIC_PAIR_SOURCE = 1 << 18
"""The same selector in `sendpic`."""
SEND_FIELD = 3
"""Bit of the 18-bit word address of a send."""
POINTER_FIELD = 0
"""Bit of the 18-bit word address of a receive pointer."""
ADDRESS_MASK = 0x3FFFF
PIC_POINTER = 2 << 18
"""Selector of a pointer in `sendpic`; a source has selector 0."""

# Kinds of instructions, in the order of `NAMES`.
K_DELAY, K_DELAYPIC, K_DELAYXPIC, K_SEND, K_SENDOFF, K_SENDPIC, K_SENDPICP, K_RETURN, K_INLINE, K_BAD = range(
    10
)
NAMES = (
    "delay",
    "delaypic",
    "delayxpic",
    "send",
    "sendoff",
    "sendpic",
    "sendpicp",
    "return",
    "inline",
    "bad",
)

Words = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Template:
    """
    Rows without addresses: words of all rows one after another, and where addresses go.

    `first`, `lengths`, `controls` (tiles,): first word, words and control events of each row. The fix-ups add
    the address of (buffer, offset) in words, or in 8-byte items where `fix_paired`, to the 18-bit field at
    bit `shift` of word `position`.
    """

    words: Words
    first: Ints
    lengths: Ints
    controls: Ints
    fix_position: Ints
    fix_tile: Ints
    fix_buffer: Ints
    fix_offset: Ints
    fix_shift: Ints
    fix_paired: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Rows:
    """
    Encoded rows of all tiles, each starting at an 8-byte boundary.

    `words` uint32 (tiles, width), width even, zero after the `lengths` words of a row. `restarts` names the
    words that hold the address of a send in words, `paired_restarts` those that hold it in 8-byte items,
    `pointers` those that hold a receive pointer: three arrays each, (tile, word index in the row, buffer). To
    move a buffer, add the difference in words (in items) at bit SEND_FIELD or POINTER_FIELD.
    """

    words: Words
    lengths: Ints
    restarts: tuple[Ints, Ints, Ints] = field(repr=False)
    paired_restarts: tuple[Ints, Ints, Ints] = field(repr=False)
    pointers: tuple[Ints, Ints, Ints] = field(repr=False)

    def positions(
        self, buffer: int, what: Literal["restarts", "paired_restarts", "pointers"] = "restarts"
    ) -> Words:
        """Word indices of a buffer's addresses: uint32 (tiles, n), filled up with 0xffffffff."""
        tile, word, owner = getattr(self, what)
        chosen = owner == buffer
        tile, word = tile[chosen], word[chosen]
        tiles = len(self.lengths)
        count = np.bincount(tile, minlength=tiles)
        table = np.full((tiles, int(count.max(initial=0))), 0xFFFFFFFF, np.uint32)
        order = np.argsort(tile, kind="stable")
        column = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        table[tile[order], column] = word[order]
        return table


def require_relocatable(rows: Rows, buffer: int, step: int, iterations: int, machine: Machine) -> None:
    """
    Whether rows can serve every iteration of a repeat in which a buffer moves by `step` bytes: only addresses
    of its sends change. Raises ExchangeError that names the check which failed, the tile and the word.
    """

    def fail(check: str, text: str, tile: int, word: int) -> ExchangeError:
        return ExchangeError(
            f"rows cannot be relocated ({check}): {text}",
            notes=[f"tile {tile}, word {word} of its row, buffer {buffer}, {iterations} x {step} bytes"],
        )

    _, point, owner = rows.pointers
    received = np.flatnonzero(owner == buffer)
    if len(received):
        i = received[0]
        raise fail(
            "only sends move", "the phase receives into the buffer", int(rows.pointers[0][i]), int(point[i])
        )
    kind = kinds(rows.words)
    for (tile, word, owner), size in ((rows.restarts, 4), (rows.paired_restarts, 8)):
        chosen = owner == buffer
        tile, word = tile[chosen], word[chosen]
        if not len(tile):
            continue
        if step % size:
            raise fail("whole items", f"steps are no multiple of {size} bytes", int(tile[0]), int(word[0]))
        found = kind[tile, word]
        other = np.flatnonzero((found != K_SEND) & (found != K_SENDPICP))
        if len(other):
            i = other[0]
            text = f"the word named for a send is a {NAMES[found[i]]}"
            raise fail("restart field", text, int(tile[i]), int(word[i]))
        words = rows.words[tile, word].astype(np.int64)
        wide = np.flatnonzero((words & PAIRED != 0) != (size == 8))
        if len(wide):
            i = wide[0]
            raise fail("item size", f"the send does not count {size}-byte items", int(tile[i]), int(word[i]))
        first = (words >> SEND_FIELD & ADDRESS_MASK) * size
        last = first + step * (iterations - 1)
        outside = np.flatnonzero(
            (last < machine.sram_base) | (last >= machine.sram_base + machine.sram_bytes)
        )
        if len(outside):
            i = outside[0]
            text = f"the last iteration sends from {int(last[i]):#x}, outside of SRAM"
            raise fail("address range", text, int(tile[i]), int(word[i]))


def _last_at_or_before(keys: Ints, at: Ints, span: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """
    Index of the last of the sorted keys (tile * span + cycle) at or before each `at` on the same tile, and
    whether there is one.
    """
    if not len(keys):
        return np.zeros(len(at), np.int64), np.zeros(len(at), bool)
    index = np.searchsorted(keys, at, "right") - 1
    known = index >= 0
    index = np.maximum(index, 0)
    return index, known & (keys[index] // span == at // span)


class _Assembly:
    """The control events and send streams of a schedule, keyed by tile * span + cycle."""

    def __init__(self, schedule: Schedule) -> None:
        s = schedule
        items = s.recv_items
        self.neutral = s.machine.neutral_source
        self.tiles = s.tiles
        # Ends of rows: the last send, landing or control.
        end = np.zeros(s.tiles, np.int64)
        np.maximum.at(end, s.send_tile, s.send_start + s.send_items)
        np.maximum.at(end, s.recv_tile, s.recv_start + items)
        self.end = end
        self.span = span = int(end.max(initial=0)) + 2

        # Sends that continue each other in time and in memory are one stream.
        t = s.send_tile
        joins = np.zeros(len(t), bool)
        joins[1:] = (
            (t[1:] == t[:-1])
            & (s.send_start[1:] == s.send_start[:-1] + s.send_items[:-1])
            & (s.send_paired[1:] == s.send_paired[:-1])
            & (s.send_buffer[1:] == s.send_buffer[:-1])
            & (s.send_offset[1:] == s.send_offset[:-1] + 4 * s.send_words[:-1])
        )
        head = np.flatnonzero(~joins)
        self.stream_key = t[head] * span + s.send_start[head]
        length = np.add.reduceat(s.send_items, head) if len(head) else np.empty(0, np.int64)
        self.stream_end = self.stream_key + length
        self.stream_buffer, self.stream_offset = s.send_buffer[head], s.send_offset[head]
        self.stream_paired = s.send_paired[head].astype(np.int64)

        # Receives, sorted by landing.
        r = s.recv_tile
        recv_key = r * span + s.recv_start
        source = s.send_tile[s.recv_send]
        same = np.zeros(len(r), bool)
        same[1:] = r[1:] == r[:-1]
        abuts = same.copy()
        abuts[1:] &= s.recv_start[1:] == s.recv_start[:-1] + items[:-1]
        # Of a pair's two buses each tile of a pair of receivers takes its own.
        paired = s.send_paired[s.recv_send].astype(np.int64)
        heard = s.source[source]
        heard = np.where(paired, heard ^ (s.source[r] & 2) | PAIR_SOURCE, heard)
        keeps = abuts.copy()
        keeps[1:] &= heard[1:] == heard[:-1]
        continues = same.copy()
        continues[1:] &= (s.recv_buffer[1:] == s.recv_buffer[:-1]) & (
            s.recv_offset[1:] == s.recv_offset[:-1] + 4 * s.recv_words[:-1]
        )
        lead = s.lead[r]
        last = np.append(~abuts[1:], True) if len(r) else np.empty(0, bool)
        key = np.concatenate([(recv_key - lead)[~keeps], (recv_key + items - lead)[last]])
        value = np.concatenate([heard[~keeps], self.neutral | paired[last] * PAIR_SOURCE])
        order = np.argsort(key, kind="stable")
        self.select_key, self.select_value = key[order], value[order]

        pointed = np.flatnonzero(~continues)
        self.pointer_key = recv_key[pointed]
        self.pointer_buffer, self.pointer_offset = s.recv_buffer[pointed], s.recv_offset[pointed]
        self.recv_key, self.recv_items, self.recv_paired = recv_key, items, paired
        self.recv_buffer, self.recv_offset = s.recv_buffer, s.recv_offset

    def stated_source(self, at: Ints) -> Ints:
        """
        The source (and selector) last selected at or before each event, neutral if none: what a sendpicp
        repeats.
        """
        index, known = _last_at_or_before(self.select_key, at, self.span)
        if not len(self.select_value):
            return np.full(len(at), self.neutral, np.int64)
        return np.where(known, self.select_value[index], self.neutral)

    def stated_pointer(self, at: Ints) -> tuple[Ints, Ints]:
        """
        Buffer and offset at which the next word from each event on is written; buffer -1 if nothing was
        received yet.
        """
        index, known = _last_at_or_before(self.recv_key, at, self.span)
        if not len(self.recv_key):
            return np.full(len(at), -1, np.int64), np.zeros(len(at), np.int64)
        written = np.minimum(at - self.recv_key[index], self.recv_items[index]) << 2 + self.recv_paired[index]
        buffer = np.where(known, self.recv_buffer[index], -1)
        return buffer, np.where(known, self.recv_offset[index] + written, 0)

    def stream_at(self, at: Ints) -> tuple[Ints, Ints, Ints]:
        """
        Buffer and offset of the item sent at each event, which must lie inside a stream, and whether it has 8
        bytes.
        """
        index = np.searchsorted(self.stream_key, at, "right") - 1
        paired = self.stream_paired[index]
        sent = (at - self.stream_key[index]) << 2 + paired
        return self.stream_buffer[index], self.stream_offset[index] + sent, paired


@dataclass(eq=False)
class _Instructions:
    """
    Instructions of all tiles: kind, key of the first event, events; whether words leave (`sends`), which
    controls are applied (`select`, `point`) and the key of the event at which they are (`at`).
    """

    kind: Ints
    key: Ints
    events: Ints
    sends: npt.NDArray[np.bool_]
    select: npt.NDArray[np.bool_]
    point: npt.NDArray[np.bool_]
    at: Ints

    def take(self, index: Ints) -> _Instructions:
        return _Instructions(*(getattr(self, name)[index] for name in self.__dataclass_fields__))

    @staticmethod
    def join(parts: list[_Instructions]) -> _Instructions:
        return _Instructions(
            *(
                np.concatenate([getattr(p, name) for p in parts])
                for name in _Instructions.__dataclass_fields__
            )
        )


def _plain(kind: int, key: Ints, events: Ints) -> _Instructions:
    size = len(key)
    off = np.zeros(size, bool)
    return _Instructions(
        np.full(size, kind, np.int64), key, events, np.full(size, kind == K_SENDOFF), off, off, key
    )


def _long(kind: int, key: Ints, events: Ints, most: int) -> _Instructions:
    """Delays or sendoffs for stretches of any length, cut to `most` events each; nothing for length 0."""
    pieces = -(-events // most)
    owner = np.repeat(np.arange(len(key)), pieces)
    part = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return _plain(kind, key[owner] + part * most, np.minimum(events[owner] - part * most, most))


def _distinct(values: Ints) -> Ints:
    """
    Sorted distinct values; sorting beats numpy's hashing `unique` a hundredfold on millions of distinct
    keys.
    """
    ordered = np.sort(values)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


def _instructions(a: _Assembly, machine: Machine) -> _Instructions:
    """Cut the time of every tile at the starts and ends of streams and at controls, and cover the pieces."""
    limits = machine.exchange
    short, span = limits.send_words_max, a.span
    breaks = _distinct(np.concatenate([a.stream_key, a.stream_end, a.select_key, a.pointer_key]))
    tile = breaks // span
    select, point = np.zeros(len(breaks), bool), np.zeros(len(breaks), bool)
    select[np.searchsorted(breaks, a.select_key)] = True
    point[np.searchsorted(breaks, a.pointer_key)] = True
    row_end = tile * span + a.end[tile]
    following = row_end.copy()
    same = tile[1:] == tile[:-1]
    following[:-1][same] = breaks[1:][same]
    stream, inside = _last_at_or_before(a.stream_key, breaks, span)
    if len(a.stream_end):
        inside &= breaks < a.stream_end[stream]
        starts = inside & (breaks == a.stream_key[stream])
    else:
        starts = inside
    both = (select & point) | (starts & (select | point))
    single = (select | point) & ~both
    length = following - breaks

    # The event up to which the row is covered after each break.
    covered = np.where(
        inside,
        following,
        np.where(both, breaks + np.minimum(length, short), np.where(single, breaks + 1, breaks)),
    )
    before = tile * span
    before[1:][same] = covered[:-1][same]

    head = np.minimum(length, short)
    kind = np.where(both, K_SENDPICP, np.where(single, K_SENDPIC, K_SEND))
    i = np.flatnonzero(inside)
    parts = [_Instructions(kind[i], breaks[i], head[i], inside[i], select[i], point[i], breaks[i])]
    i = i[length[i] > short]
    parts.append(_long(K_SENDOFF, breaks[i] + short, length[i] - short, limits.sendoff_max))
    # Receive controls while nothing is sent. A single one is the last event of a delay that starts where the
    # row is covered.
    i = np.flatnonzero(~inside & both)
    parts.append(_Instructions(kind[i], breaks[i], head[i], inside[i], select[i], point[i], breaks[i]))
    idle = ~inside & single
    wait = breaks - before + 1
    most = np.where(select, limits.select_delay_max, limits.control_delay_max)
    i = np.flatnonzero(idle)
    own = np.minimum(wait[i], most[i])
    parts.append(
        _Instructions(
            np.where(select[i], K_DELAYXPIC, K_DELAYPIC),
            breaks[i] - own + 1,
            own,
            inside[i],
            select[i],
            point[i],
            breaks[i],
        )
    )
    gap = np.where(idle, np.maximum(wait - most, 0), np.where(inside | both, breaks - before, 0))
    i = np.flatnonzero(gap)
    parts.append(_long(K_DELAY, before[i], gap[i], limits.delay_max))

    # What is left after the last break, and the return.
    tiles = np.arange(a.tiles, dtype=np.int64)
    done = tiles * span
    if len(tile):
        lasts = np.flatnonzero(np.append(~same, True))
        done[tile[lasts]] = covered[lasts]
    rest = tiles * span + a.end - done
    i = np.flatnonzero(rest)
    parts.append(_long(K_DELAY, done[i], rest[i], limits.delay_max))
    parts.append(_plain(K_RETURN, tiles * span + a.end, np.zeros(a.tiles, np.int64)))
    every = _Instructions.join(parts)
    return every.take(np.argsort(every.key, kind="stable"))


def _align(ins: _Instructions, span: int) -> _Instructions:
    """
    Put every sendpicp at an even word of its row, by cutting an instruction between it and the sendpicp
    before in two. If all of them last one event, the first one becomes a sendpicp itself, restating what
    holds.
    """
    tile = ins.key // span
    wide = ins.kind == K_SENDPICP
    opens = wide.copy()
    opens[0] = True
    opens[1:] |= tile[1:] != tile[:-1]
    first = np.flatnonzero(opens)
    ones = np.add.reduceat((~wide).astype(np.int64), first)
    closes = np.zeros(len(first), bool)
    closes[:-1] = wide[first[1:]] & (tile[first[1:]] == tile[first[:-1]])
    odd = closes & (ones % 2 == 1)
    if not odd.any():
        return ins
    position = np.arange(len(ins.key))
    long_ones = np.minimum.reduceat(np.where(ins.events > 1, position, len(position)), first)
    single_ones = np.minimum.reduceat(np.where(~wide, position, len(position)), first)
    cut = long_ones[odd & (long_ones < len(position))]
    convert = single_ones[odd & (long_ones == len(position))]

    kind, key, events = ins.kind.copy(), ins.key.copy(), ins.events.copy()
    terminal = (kind[cut] == K_DELAYPIC) | (kind[cut] == K_DELAYXPIC)
    waits = terminal | ~ins.sends[cut]
    extra = _plain(K_DELAY, np.where(terminal, key[cut], key[cut] + 1), events[cut] - 1)
    extra.kind = np.where(waits, K_DELAY, K_SENDOFF)
    extra.sends = ~waits
    key[cut] += np.where(terminal, events[cut] - 1, 0)
    events[cut] = 1
    kind[convert] = K_SENDPICP
    whole = _Instructions.join(
        [_Instructions(kind, key, events, ins.sends, ins.select, ins.point, ins.at), extra]
    )
    return whole.take(np.argsort(whole.key, kind="stable"))


def assemble(schedule: Schedule) -> Template:
    """Choose the instructions of every row. The same schedule gives the same words."""
    a = _Assembly(schedule)
    # A return may share its key with the next tile's first event only if spans touched; `span` leaves a cycle
    # between.
    ins = _align(_instructions(a, schedule.machine), a.span)
    tile = ins.key // a.span
    wide = ins.kind == K_SENDPICP
    size = 1 + wide.astype(np.int64)
    place = np.cumsum(size) - size
    lengths = np.bincount(tile, size, a.tiles).astype(np.int64)
    first = np.cumsum(lengths) - lengths
    words = np.zeros(int(size.sum()), np.int64)

    kind = ins.kind
    count = ins.events - 1
    base = np.array([DELAY, DELAYPIC, DELAYXPIC, SEND, SENDOFF, SENDPIC, SENDPICP, RETURN], np.int64)[kind]
    value = base.copy()
    value += np.select(
        [kind == K_DELAY, kind == K_DELAYPIC, kind == K_DELAYXPIC, kind == K_SENDOFF, kind == K_RETURN],
        [count, count << 19, count << 14, ((count & 63) << 21) | ((count >> 6) << 14), 0],
        count << 21,
    )
    stated = np.flatnonzero(ins.sends & (kind != K_SENDPIC))
    send_buffer, send_offset, send_paired = a.stream_at(ins.key[stated])
    value[stated] += BOTH_DIRECTIONS + PAIRED * send_paired
    value += np.where((kind == K_SENDPIC) & ins.point, PIC_POINTER, 0)
    chosen = np.flatnonzero(((kind == K_DELAYXPIC) | (kind == K_SENDPIC)) & ins.select)
    selected = a.stated_source(ins.at[chosen])
    inside = kind[chosen] == K_SENDPIC
    value[chosen] += np.where(
        inside, selected % PAIR_SOURCE + selected // PAIR_SOURCE * PIC_PAIR_SOURCE, selected
    )
    words[place] = value
    # Inline words: both controls, whether they change or are restated.
    picp = np.flatnonzero(wide)
    words[place[picp] + 1] = a.stated_source(ins.key[picp]) << 18

    opens = kind[stated] != K_SENDOFF
    sends, send_buffer, send_offset, send_paired = (
        x[opens] for x in (stated, send_buffer, send_offset, send_paired)
    )
    points = np.flatnonzero(((kind == K_DELAYPIC) | (kind == K_SENDPIC)) & ins.point)
    point_at = np.concatenate([ins.at[points], ins.key[picp]])
    point_place = np.concatenate([place[points], place[picp] + 1])
    point_tile = np.concatenate([tile[points], tile[picp]])
    buffer, offset = a.stated_pointer(point_at)
    known = buffer >= 0
    controls = np.bincount(np.concatenate([a.select_key, a.pointer_key]) // a.span, minlength=a.tiles)
    return Template(
        words=words.astype(np.uint32),
        first=first,
        lengths=lengths,
        controls=controls.astype(np.int64),
        fix_position=np.concatenate([place[sends], point_place[known]]),
        fix_tile=np.concatenate([tile[sends], point_tile[known]]),
        fix_buffer=np.concatenate([send_buffer, buffer[known]]),
        fix_offset=np.concatenate([send_offset, offset[known]]),
        fix_shift=np.concatenate(
            [np.full(len(sends), SEND_FIELD), np.full(int(known.sum()), POINTER_FIELD)]
        ).astype(np.int64),
        fix_paired=np.concatenate([send_paired, np.zeros(int(known.sum()), np.int64)]) == 1,
    )


def encode(schedule: Schedule, addresses: npt.ArrayLike, machine: Machine) -> Rows:
    """
    The words of every row, given the byte address of each buffer (buffers,), equal on all tiles.

    Raises ExchangeError for an address that is not a multiple of 4 (of 8, where 8-byte items are sent from or
    received into), or that with its offset does not fit 18 bits.
    """
    template = schedule.template
    place = np.ascontiguousarray(addresses, np.int64)
    if len(template.fix_buffer) and int(template.fix_buffer.max()) >= len(place):
        raise ExchangeError(
            f"buffer {int(template.fix_buffer.max())} has no address; {len(place)} were given"
        )
    target = place[template.fix_buffer] + template.fix_offset
    bad = (target & 3 != 0) | (target < 0) | (target >> 2 > ADDRESS_MASK)
    if bad.any():
        i = int(np.argmax(bad))
        raise ExchangeError(
            f"buffer {template.fix_buffer[i]} at {int(place[template.fix_buffer[i]]):#x} cannot be "
            f"exchanged: address {int(target[i]):#x} is not an 18-bit word address"
        )
    paired = np.unique(
        np.concatenate(
            [schedule.send_buffer[schedule.send_paired], schedule.recv_buffer[schedule.recv_paired]]
        )
    )
    odd = paired[place[paired] & 7 != 0]
    if len(odd):
        raise ExchangeError(
            f"buffer {odd[0]} at {int(place[odd[0]]):#x} cannot be exchanged in 8-byte items",
            hint="place it at a multiple of 8, or schedule the phase in words",
        )
    words = template.words.astype(np.int64)
    words[template.fix_position] += (target >> 2 + template.fix_paired) << template.fix_shift
    width = int(template.lengths.max(initial=0))
    width += width & 1
    table = np.zeros((schedule.tiles, width), np.uint32)
    row = np.repeat(np.arange(schedule.tiles), template.lengths)
    column = np.arange(len(words)) - np.repeat(template.first, template.lengths)
    table[row, column] = words.astype(np.uint32)
    index = template.fix_position - template.first[template.fix_tile]
    sends = template.fix_shift == SEND_FIELD

    def where(chosen: npt.NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
        return template.fix_tile[chosen], index[chosen], template.fix_buffer[chosen]

    return Rows(
        words=table,
        lengths=template.lengths,
        restarts=where(sends & ~template.fix_paired),
        paired_restarts=where(sends & template.fix_paired),
        pointers=where(~sends),
    )


@dataclass(frozen=True, eq=False)
class Events:
    """
    Decoded rows: one entry per instruction, in order of tile and position; all arrays (instructions,).

    `start` is the cycle of the first event, `events` how many. `items`: events that put a word on the fabric
    (all of a send with a direction, else 0). `address` is the byte address field of send and sendpicp
    (`absolute`); `delta` the bytes a sendoff skips. `select` and `point` are the stated values (source
    number, plus PAIR_SOURCE for 8-byte items; byte address) or -1, applied at cycle `control`. `word` is the
    position in the row. `bad` marks
    undecodable words; `ends` (tiles,) is the cycle of the return, `length` (tiles,) the words with the
    return, 0 without one.
    """

    tile: Ints
    word: Ints
    kind: Ints
    start: Ints
    events: Ints
    items: Ints
    absolute: npt.NDArray[np.bool_]
    address: Ints
    delta: Ints
    direction: Ints
    select: Ints
    point: Ints
    control: Ints
    ends: Ints
    length: Ints


def kinds(words: Words) -> npt.NDArray[np.uint8]:
    """Kind of each word by its opcode alone (inline words excepted, see `decode`)."""
    kind = np.full(words.shape, K_BAD, np.uint8)
    kind[(words & np.uint32(0xFFF80000)) == DELAY] = K_DELAY
    top6 = words & np.uint32(0xFC000000)
    kind[top6 == DELAYPIC] = K_DELAYPIC
    kind[top6 == DELAYXPIC] = K_DELAYXPIC
    top5 = words & np.uint32(0xF8000000)
    kind[top5 == SEND] = K_SEND
    middle = (words & np.uint32(0x00100000)) != 0
    kind[(top5 == SENDOFF) & ~middle] = K_SENDOFF
    kind[(top5 == SENDOFF) & middle] = K_SENDPIC
    kind[(words & np.uint32(0xF0000000)) == SENDPICP] = K_SENDPICP
    kind[words == RETURN] = K_RETURN
    return kind


def decode(words: Words) -> Events:
    """
    Instructions of the rows (tiles, width), up to the return of each or its end. Nothing is refused here:
    `kind` tells.
    """
    tiles, width = words.shape
    kind = kinds(words)
    # The word after a sendpicp is data; only a walk along the row tells which is which.
    inline = np.zeros((tiles, width), bool)
    live = np.ones((tiles, width), bool)
    after = np.zeros(tiles, bool)
    alive = np.ones(tiles, bool)
    columns = np.ascontiguousarray(kind.T)
    for p in range(width):
        inline[:, p] = after
        live[:, p] = alive
        here = columns[p]
        alive = alive & ((here != K_RETURN) | after)
        if not alive.any():
            live[:, p + 1 :] = False
            break
        after = (here == K_SENDPICP) & ~after
    kind[inline] = K_INLINE
    length = (
        np.where((kind == K_RETURN) & live, np.arange(1, width + 1), 0)
        .max(axis=1, initial=0)
        .astype(np.int64)
    )
    tile, word = np.nonzero(live & ~inline)
    flat = words[tile, word].astype(np.int64)
    k = kind[tile, word].astype(np.int64)
    following = words[tile, np.minimum(word + 1, width - 1)].astype(np.int64)
    six = (flat >> 21) & 63
    events = (
        np.select(
            [k == K_DELAY, k == K_DELAYPIC, k == K_DELAYXPIC, k == K_SENDOFF, (k == K_RETURN) | (k == K_BAD)],
            [flat & 0x7FFFF, (flat >> 19) & 127, (flat >> 14) & 0xFFF, six | ((flat >> 8) & 0xFC0), -1],
            six,
        )
        + 1
    )
    total = np.cumsum(events)
    start = total - events
    opens = np.searchsorted(tile, np.arange(tiles))
    start_of_row = start[np.minimum(opens, len(start) - 1)] if len(start) else np.zeros(tiles, np.int64)
    start = start - start_of_row[tile]
    terminal = (k == K_DELAYPIC) | (k == K_DELAYXPIC)
    picp = k == K_SENDPICP
    pic = k == K_SENDPIC
    points = (k == K_DELAYPIC) | (pic & ((flat >> 19) & 1 == 1)) | picp
    selects = (k == K_DELAYXPIC) | (pic & ((flat >> 19) & 1 == 0)) | picp
    # The selector bit above the value is kept in the value, so that any but 0 is seen.
    point = np.where(picp, (following & 0x3FFFF) | ((flat >> 9) & 0x40000), flat & 0x7FFFF) << 2
    point = np.where(pic, (flat & 0x3FFFF) << 2 | ((flat >> 18) & 1) << 20, point)
    select = np.where(picp, (following >> 18) & 0x3FFF, flat & 0x3FFF)
    # In sendpic the selector lies above 18 bits of value, of which a source takes 13.
    select = np.where(pic, flat & 0x1FFF | (flat >> 5) & PAIR_SOURCE | ((flat >> 13) & 31) << 14, select)
    restart = (k == K_SEND) | picp
    moves = restart | (k == K_SENDOFF)
    direction = np.where(moves, flat & 7, 0)
    ends = np.zeros(tiles, np.int64)
    np.maximum.at(ends, tile, start + events)
    return Events(
        tile=tile,
        word=word,
        kind=k,
        start=start,
        events=events,
        items=np.where(moves | pic, events, 0),
        absolute=restart,
        address=np.where(restart, ((flat >> 3) & 0x3FFFF) << 2 + (direction >> 2), 0),
        delta=np.where(k == K_SENDOFF, ((flat >> 3) & 0x7FF) << 2 + (direction >> 2), 0),
        direction=direction,
        select=np.where(selects, select, -1),
        point=np.where(points, point, -1),
        control=np.where(terminal, start + events - 1, start),
        ends=ends,
        length=length,
    )
