# SPDX-License-Identifier: Apache-2.0
"""When each word leaves and lands: a list schedule of one exchange phase.

A word that tile s sends at cycle t lands on tile r at cycle t + latency(s, r), a function of the two positions alone. A tile sends one
word a cycle and receives one word a cycle, from one source at a time; both at once is allowed. Receives may abut, so a phase can come close
to its bound, the largest number of words that one tile sends or receives.

The control events of a tile (source selections, pointers) take slots of the same instruction stream as its sends, but never
force a later start: two controls at one cycle share a `sendpicp`, a control inside a send cuts it, and a control at the first word of a
send is a `sendpicp` that states both. What they cost is row words, which `backends/rows.py` counts.

The method is list scheduling seen from the receivers. Messages with the same set of receivers form a queue; the queue that
can go on earliest commits one message, chosen among its next few for the least idle time at the receivers. Times only go forward:
a tile's free time is one number. Queues are ordered so that

- a receiver starts with the sender after itself (all-to-all becomes a rotation),
- of multicasts to one set, sources in the same fabric column and lane follow each other: their latencies differ by a constant,
  so their words abut on every receiver at once; a change of column costs the spread of the latency differences,
- operands (destination buffers) come one after another when sets of receivers overlap: rows and columns of a grid mixed
  would wait for each other.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.planning.exchange.messages import ExchangeError, Ints, Messages, Sends, gather_sends

if TYPE_CHECKING:
    from tilewright.backends.rows import Template
    from tilewright.machine import Machine

ITEM_BYTES = 4
"""Bytes of one item. The paired mode (8-byte items over both buses of a tile pair) would be a second value per message."""

CANDIDATES = 12
"""Messages of a queue that are looked at for one commit, when none of them can go without idle time."""

WIDE = 8
"""Mean number of receivers from which multicasts are evaluated with arrays."""


@dataclass(frozen=True, eq=False)
class Summary:
    """What a schedule costs: arrays over tiles, and the bound it is measured against."""

    sent: Ints  # items sent
    received: Ints  # items received
    controls: Ints  # control events: selections, neutral selections, pointers
    horizon: int
    bound: int  # max over tiles of items sent or received

    @property
    def over_bound(self) -> float:
        """Horizon over bound; 1.0 for an empty phase."""
        return self.horizon / self.bound if self.bound else 1.0


@dataclass(frozen=True, eq=False)
class Schedule:
    """One exchange phase, timed but without addresses. Cycles count from the start of the phase.

    Sends are sorted by (tile, start), receives by (tile, start); `recv_send` is the send that a receive listens to. Offsets are bytes
    inside buffers. `lead` and `source` are machine facts per tile: lead of a source selection, number that selects the tile.
    """

    tiles: int
    send_tile: Ints
    send_start: Ints
    send_words: Ints
    send_buffer: Ints
    send_offset: Ints
    recv_tile: Ints
    recv_start: Ints
    recv_send: Ints
    recv_buffer: Ints
    recv_offset: Ints
    lead: Ints = field(repr=False)
    source: Ints = field(repr=False)
    machine: Machine = field(repr=False)

    @property
    def recv_words(self) -> Ints:
        """Words of each receive."""
        return self.send_words[self.recv_send]

    @functools.cached_property
    def end(self) -> Ints:
        """(tiles,) cycle after the last event of each tile."""
        end = np.zeros(self.tiles, np.int64)
        np.maximum.at(end, self.send_tile, self.send_start + self.send_words)
        np.maximum.at(end, self.recv_tile, self.recv_start + self.recv_words)
        return end

    @functools.cached_property
    def horizon(self) -> int:
        """Cycles of the phase, without the machine's overhead for a phase."""
        return int(self.end.max(initial=0))

    @functools.cached_property
    def template(self) -> Template:
        """The encoded rows without addresses."""
        from tilewright.backends.rows import assemble

        return assemble(self)

    @property
    def row_words(self) -> Ints:
        """(tiles,) 32-bit words of each row with its return, alignment included; independent of addresses."""
        return self.template.lengths

    @functools.cached_property
    def summary(self) -> Summary:
        """Items, controls and bound."""
        words = self.recv_words
        sent = np.zeros(self.tiles, np.int64)
        received = np.zeros(self.tiles, np.int64)
        np.add.at(sent, self.send_tile, self.send_words)
        np.add.at(received, self.recv_tile, words)
        return Summary(
            sent=sent,
            received=received,
            controls=self.template.controls,
            horizon=self.horizon,
            bound=int(max(sent.max(initial=0), received.max(initial=0))),
        )

    def conflicts(self) -> Ints:
        """Buffers that must not share a memory element: int64 (pairs, 2) of (sent, received) buffers that some tile reads and writes
        at the same cycle, in ascending order. What an allocator has to keep apart."""
        if not len(self.send_tile) or not len(self.recv_tile):
            return np.empty((0, 2), np.int64)
        span = self.horizon + 1
        send_key = self.send_tile * span + self.send_start
        recv_key = self.recv_tile * span + self.recv_start
        send_end = send_key + self.send_words
        first = np.searchsorted(send_end, recv_key, "right")
        last = np.searchsorted(send_key, recv_key + self.recv_words, "left")
        count = np.maximum(last - first, 0)
        recv = np.repeat(np.arange(len(recv_key)), count)
        send = np.arange(len(recv)) - np.repeat(np.cumsum(count) - count - first, count)
        pairs = np.stack([self.send_buffer[send], self.recv_buffer[recv]], axis=1)
        return np.unique(pairs, axis=0).astype(np.int64)


def schedule(messages: Messages, machine: Machine) -> Schedule:
    """Schedule one phase. Raises ExchangeError for messages that are not whole words or name tiles that do not exist."""
    tiles = machine.tiles
    sends = gather_sends(messages, tiles, machine.message_max_words)
    every = np.arange(tiles, dtype=np.int64)
    lead = np.asarray(machine.select_lead(every), np.int64)
    source = np.asarray(machine.physical(every), np.int64)
    owner = np.repeat(np.arange(len(sends), dtype=np.int64), sends.count)
    latency = np.asarray(machine.latency(sends.tile[owner], sends.dst_tile), np.int64)
    if not len(sends):
        start = np.empty(0, np.int64)
    elif int(sends.count.max()) == 1:
        start = _single(sends, latency, lead, tiles)
    else:
        start = _multicast(sends, latency, lead, source, tiles)

    by_time = np.lexsort((start, sends.tile))
    place = np.empty_like(by_time)
    place[by_time] = np.arange(len(by_time))
    landing = start[owner] + latency
    arrival = np.lexsort((landing, sends.dst_tile))
    result = Schedule(
        tiles=tiles,
        send_tile=sends.tile[by_time],
        send_start=start[by_time],
        send_words=sends.words[by_time],
        send_buffer=sends.buffer[by_time],
        send_offset=sends.offset[by_time],
        recv_tile=sends.dst_tile[arrival],
        recv_start=landing[arrival],
        recv_send=place[owner[arrival]],
        recv_buffer=sends.dst_buffer[arrival],
        recv_offset=sends.dst_offset[arrival],
        lead=lead,
        source=source,
        machine=machine,
    )
    if result.horizon >= 1 << 31:
        raise ExchangeError(f"an exchange of {result.horizon} cycles is longer than the model counts")
    return result


def _queues(order: Ints, cls: Ints) -> tuple[list[int], list[list[int]]]:
    """Distinct classes and their messages, in the given order of messages."""
    order = order[np.argsort(cls[order], kind="stable")]
    classes, first = np.unique(cls[order], return_index=True)
    bounds = np.append(first, len(order)).tolist()
    flat = order.tolist()
    return classes.tolist(), [flat[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]


def _single(sends: Sends, latency: Ints, lead: Ints, tiles: int) -> Ints:
    """Start cycles when every message has one receiver: plain integers, since each decision is tiny."""
    group = sends.dst_buffer
    rotation = (sends.tile - sends.dst_tile - 1) % tiles
    order = np.lexsort((sends.offset, sends.buffer, rotation, group))
    receivers, queues = _queues(order, sends.dst_tile)
    source = sends.tile.tolist()
    words = sends.words.tolist()
    travel = latency.tolist()
    start = [0] * len(source)
    sender_free = [0] * tiles
    # Most loaded receivers first among equals.
    load = np.zeros(tiles, np.int64)
    np.add.at(load, sends.dst_tile, sends.words)
    free = lead[receivers].tolist()
    rank = np.argsort(np.argsort(-load[receivers], kind="stable"), kind="stable").tolist()
    heap = [(free[i], rank[i], i) for i in range(len(receivers))]
    heapify(heap)
    while heap:
        now, tie, i = heap[0]
        queue = queues[i]
        best = -1
        best_landing = 1 << 62
        looked = 0
        for place, m in enumerate(queue):
            landing = sender_free[source[m]] + travel[m]
            if landing < best_landing:
                best, best_landing = place, landing
                if landing <= now:
                    break
            looked += 1
            if looked >= CANDIDATES:
                break
        m = queue[best]
        if best_landing < now:
            best_landing = now
        del queue[best]
        begin = best_landing - travel[m]
        start[m] = begin
        sender_free[source[m]] = begin + words[m]
        if queue:
            heapreplace(heap, (best_landing + words[m], tie, i))
        else:
            heappop(heap)
    return np.asarray(start, np.int64)


def _multicast(sends: Sends, latency: Ints, lead: Ints, source: Ints, tiles: int) -> Ints:
    """Start cycles when messages have several receivers."""
    size = len(sends)
    group = np.minimum.reduceat(sends.dst_buffer, sends.first)
    position = source % 64 * 64 + source // 64  # column and lane, then row
    origin = position[sends.dst_tile[sends.first]]
    turn = (position[sends.tile] - origin - 1) % (64 * 64)
    order = np.lexsort((sends.offset, sends.buffer, turn, group))
    numbers, groups = np.unique(group, return_inverse=True)
    # An operand's messages are not committed before the operands before it could be through.
    weight = np.zeros((len(numbers), tiles), np.int64)
    np.add.at(weight, (np.repeat(groups, sends.count), sends.dst_tile), np.repeat(sends.words, sends.count))
    nominal = np.concatenate([[0], np.cumsum(weight.max(axis=1))[:-1]])
    key = sends.cls * len(numbers) + groups
    _, queues = _queues(order, key)
    opening = nominal[groups[[queue[0] for queue in queues]]].tolist()

    senders = sends.tile.tolist()
    words = sends.words.tolist()
    start = [0] * size
    sender_free = [0] * tiles
    bounds = np.append(sends.first, len(sends.dst_tile)).tolist()
    wide = len(sends.dst_tile) >= WIDE * size
    receivers: list[Ints] | list[list[int]]
    travel: list[Ints] | list[list[int]]
    if wide:
        receivers = [sends.dst_tile[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
        travel = [latency[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
        free_array = lead.copy()

        def earliest(m: int) -> int:
            return max(sender_free[senders[m]], int((free_array[receivers[m]] - travel[m]).max()))

        def commit(m: int, begin: int) -> None:
            free_array[receivers[m]] = travel[m] + (begin + words[m])

    else:
        flat, flat_latency = sends.dst_tile.tolist(), latency.tolist()
        receivers = [flat[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
        travel = [flat_latency[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
        free = lead.tolist()

        def earliest(m: int) -> int:
            begin = sender_free[senders[m]]
            for r, d in zip(receivers[m], travel[m], strict=True):
                t = free[r] - d
                if t > begin:
                    begin = t
            return begin

        def commit(m: int, begin: int) -> None:
            end = begin + words[m]
            for r, d in zip(receivers[m], travel[m], strict=True):
                free[r] = end + d

    heap = [(opening[i], i, 0) for i in range(len(queues))]
    heapify(heap)
    while heap:
        now, i, tries = heap[0]
        queue = queues[i]
        best, best_begin = -1, 1 << 62
        for place, m in enumerate(queue[:CANDIDATES]):
            begin = earliest(m)
            if begin < best_begin:
                best, best_begin = place, begin
                if begin <= now:
                    break
        if best_begin > now and tries < 4 and len(heap) > 1 and min(heap[1], heap[2] if len(heap) > 2 else heap[1])[0] < best_begin:
            # Others can go earlier than this queue: let them, and look again.
            heapreplace(heap, (max(best_begin, opening[i]), i, tries + 1))
            continue
        m = queue[best]
        del queue[best]
        start[m] = best_begin
        sender_free[senders[m]] = best_begin + words[m]
        commit(m, best_begin)
        if queue:
            heapreplace(heap, (max(best_begin + words[m], opening[i]), i, 0))
        else:
            heappop(heap)
    return np.asarray(start, np.int64)
