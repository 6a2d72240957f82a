# SPDX-License-Identifier: Apache-2.0
"""
When each word leaves and lands: a list schedule of one exchange phase.

A word that tile s sends at cycle t lands on tile r at cycle t + latency(s, r), a function of the two
positions alone. A tile sends one word a cycle and receives one word a cycle, from one source at a time; both
at once is allowed. Receives may abut, so a phase can come close to its bound, the largest number of words
that one tile sends or receives. The first source is selected `lead_in` cycles after the phase has begun.

The control events of a tile (source selections, pointers) take slots of the same instruction stream as its
sends, but never force a later start: two controls at one cycle share a `sendpicp`, a control inside a send
cuts it, and a control at the first word of a send is a `sendpicp` that states both. What they cost is row
words, which `backends/rows.py` counts.

The method is list scheduling seen from the receivers. Messages with the same set of receivers form a queue.
The queue whose first receiver is free earliest commits one message: the first whose words can land within a
few idle cycles, else, among the next few, a compromise between a short wait and a sender that has much left
to send. Times only go forward: a tile's free time is one number.

Accepting a few idle cycles keeps the order of a queue, and the order is what makes receivers fit together:
each starts with the sender after itself, so that an all-to-all is a rotation, in which all senders stay busy.
Sources ordered by fabric column and lane differ in latency by a constant inside a column; a change of column
costs a multicast the spread of the latency differences. Operands (destination buffers) come one after another
when sets of receivers overlap: rows and columns of a grid mixed would wait for each other.

No single order is best for every pattern, so a few variants are tried, in a fixed order and a number that
depends on the number of messages only, until one is close to the bound.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from heapq import heapify, heappop, heapreplace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewright.planning.exchange.messages import (
    ExchangeError,
    Ints,
    Messages,
    Sends,
    gather_sends,
    pair_up,
)

if TYPE_CHECKING:
    from tilewright.backends.rows import Template
    from tilewright.machine import Machine

WIDE = 8
"""Mean number of receivers from which multicasts are evaluated with arrays."""

CLOSE = 1.015
"""A schedule within this factor of its bound (and the latency of a word) is not improved further."""

EFFORT = 240_000
"""Messages scheduled in all variants together, roughly; the first variant is always complete."""

PATIENCE = 2
"""Variants in a row that may fail to shorten a schedule by `WORTH` before no more are tried."""

WORTH = 0.998
"""See `PATIENCE`."""

TRAIN = 256
"""Words that are sent to one set of receivers without a gap, at most (in 8-byte items: whole messages)."""

TRAIN_SINGLE = 1
"""The same for single receivers."""

FEW = 1.5
"""Mean number of receivers below which multicasts may be sent one by one."""

URGENCY = 8
"""Words that a sender has left to send which outweigh one cycle of waiting for it."""


@dataclass(frozen=True)
class Variant:
    """
    One way to run the list schedule.

    `tolerance`: idle cycles of a receiver that are accepted to keep the order. `candidates`: messages of a
    queue that are looked at. `order` of the sources in a queue: "logical" or "position" rotation.
    `descending`: later operands first. `patience`: how often a queue that has to wait lets others go first.
    """

    tolerance: int = 8
    candidates: int = 64
    order: str = "logical"
    descending: bool = True
    patience: int = 20


SINGLE_VARIANTS = (
    Variant(order="position"),
    Variant(),
    Variant(tolerance=0, candidates=400, order="position"),
    Variant(tolerance=16),
    Variant(tolerance=4, order="position"),
    Variant(tolerance=2, candidates=400),
)
MULTICAST_VARIANTS = (
    Variant(),
    Variant(descending=False),
    Variant(order="position"),
    Variant(tolerance=0),
    Variant(tolerance=20, patience=3),
    Variant(tolerance=0, order="position", descending=False, patience=3),
)


@dataclass(frozen=True, eq=False)
class Summary:
    """What a schedule costs: arrays over tiles, and the bound it is measured against."""

    sent: Ints  # items sent by the tile, or by its partner over the tile's bus
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
    """
    One exchange phase, timed but without addresses. Cycles count from the start of the phase.

    Sends are sorted by (tile, start), receives by (tile, start); `recv_send` is the send that a receive
    listens to. Offsets are bytes inside buffers. `lead` and `source` are machine facts per tile: lead of a
    source selection, number that selects the tile.
    """

    tiles: int
    send_tile: Ints
    send_start: Ints
    send_words: Ints
    send_buffer: Ints
    send_offset: Ints
    send_paired: npt.NDArray[np.bool_]
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
    def send_items(self) -> Ints:
        """Cycles that each send lasts: its words, or its 8-byte items."""
        return self.send_words >> self.send_paired

    @property
    def recv_items(self) -> Ints:
        """Cycles that each receive lasts."""
        return self.send_items[self.recv_send]

    @property
    def recv_paired(self) -> npt.NDArray[np.bool_]:
        """Whether each receive takes 8-byte items."""
        return self.send_paired[self.recv_send]

    @property
    def paired_share(self) -> float:
        """Share of the received bytes that come in 8-byte items."""
        words = self.recv_words
        return float(words[self.recv_paired].sum() / max(int(words.sum()), 1))

    @functools.cached_property
    def end(self) -> Ints:
        """(tiles,) cycle after the last event of each tile."""
        end = np.zeros(self.tiles, np.int64)
        np.maximum.at(end, self.send_tile, self.send_start + self.send_items)
        np.maximum.at(end, self.recv_tile, self.recv_start + self.recv_items)
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
        sent = np.bincount(self.send_tile, self.send_items, self.tiles).astype(np.int64)
        lender = self.machine.partner(self.send_tile)
        sent += np.bincount(lender, self.send_items * self.send_paired, self.tiles).astype(np.int64)
        received = np.bincount(self.recv_tile, self.recv_items, self.tiles).astype(np.int64)
        return Summary(
            sent=sent,
            received=received,
            controls=self.template.controls,
            horizon=self.horizon,
            bound=int(max(sent.max(initial=0), received.max(initial=0))),
        )

    def conflicts(self) -> Ints:
        """
        Buffers that must not share a memory element: int64 (pairs, 2) of (sent, received) buffers that
        some tile reads and writes at the same cycle, in ascending order. What an allocator has to keep
        apart.
        """
        return self._conflicts

    @functools.cached_property
    def _conflicts(self) -> Ints:
        if not len(self.send_tile) or not len(self.recv_tile):
            return np.empty((0, 2), np.int64)
        span = self.horizon + 1
        send_key = self.send_tile * span + self.send_start
        recv_key = self.recv_tile * span + self.recv_start
        send_end = send_key + self.send_items
        first = np.searchsorted(send_end, recv_key, "right")
        last = np.searchsorted(send_key, recv_key + self.recv_items, "left")
        count = np.maximum(last - first, 0)
        recv = np.repeat(np.arange(len(recv_key)), count)
        send = np.arange(len(recv)) - np.repeat(np.cumsum(count) - count - first, count)
        pairs = np.stack([self.send_buffer[send], self.recv_buffer[recv]], axis=1)
        return np.unique(pairs, axis=0).astype(np.int64)


def schedule(messages: Messages, machine: Machine, *, paired: bool | None = None) -> Schedule:
    """
    Schedule one phase. `paired`: False for words only, True for 8-byte items wherever they are possible; by
    default whichever is shorter. Raises ExchangeError for messages that are not whole words or name tiles
    that do not exist.
    """
    tiles = machine.tiles
    every = np.arange(tiles, dtype=np.int64)
    lead = np.asarray(machine.select_lead(every), np.int64)
    earliest = lead + machine.exchange.lead_in
    source = np.asarray(machine.physical(every), np.int64)
    candidates: list[Sends] = []
    for by_buffer in (True, False):
        words = gather_sends(messages, tiles, machine.message_max_words, by_buffer=by_buffer)
        wide = None if paired is False else pair_up(words, machine)
        candidates += [wide] if wide is not None else []
        candidates += [words] if wide is None or not paired else []
        sent, received = _loads(words, machine)
        if sent.max(initial=0) <= received.max(initial=0):
            break  # one multicast for several operands saves sends only
    found = None
    for sends in sorted(candidates, key=lambda c: _bound(c, machine)):
        if found is None or _bound(sends, machine) + int(earliest.min()) < found[2]:
            attempt = _best(sends, machine, earliest, source)
            if found is None or attempt[2] < found[2]:
                found = attempt
    assert found is not None
    sends, start, _ = found
    owner = sends.owner
    landing = start[owner] + travel(sends, machine)

    by_time = np.lexsort((start, sends.tile))
    place = np.empty_like(by_time)
    place[by_time] = np.arange(len(by_time))
    arrival = np.lexsort((landing, sends.dst_tile))
    result = Schedule(
        tiles=tiles,
        send_tile=sends.tile[by_time],
        send_start=start[by_time],
        send_words=sends.words[by_time],
        send_buffer=sends.buffer[by_time],
        send_offset=sends.offset[by_time],
        send_paired=sends.paired[by_time],
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


def travel(sends: Sends, machine: Machine) -> Ints:
    """Latency of each destination; 8-byte items land on both tiles of a pair when the later one has them."""
    owner = sends.owner
    latency = np.asarray(machine.latency(sends.tile[owner], sends.dst_tile), np.int64)
    if not sends.paired.any():
        return latency
    other = np.asarray(machine.latency(sends.tile[owner], machine.partner(sends.dst_tile)), np.int64)
    return np.where(sends.paired[owner], np.maximum(latency, other), latency)


def _loads(sends: Sends, machine: Machine) -> tuple[Ints, Ints]:
    """(tiles,) cycles in which each tile sends (or lends its bus), and in which it receives."""
    tiles, items = machine.tiles, sends.items
    sent = np.bincount(sends.tile, items, tiles)
    lent = np.bincount(machine.partner(sends.tile), items * sends.paired, tiles)
    received = np.bincount(sends.dst_tile, items[sends.owner], tiles)
    return (sent + lent).astype(np.int64), received.astype(np.int64)


def _bound(sends: Sends, machine: Machine) -> int:
    """The most cycles that one tile sends or receives."""
    sent, received = _loads(sends, machine)
    return int(max(sent.max(initial=0), received.max(initial=0)))


def _best(sends: Sends, machine: Machine, earliest: Ints, source: Ints) -> tuple[Sends, Ints, int]:
    """
    The sends, start cycles and horizon of the best of a few variants; no word lands on a tile before its
    `earliest` cycle (tiles,).
    """
    tiles = machine.tiles
    if not len(sends):
        return sends, np.empty(0, np.int64), 0
    # Column and lane first, then row: neighbours in this order have latencies that differ by a constant.
    position = np.argsort(np.argsort(source % 64 * 64 + source // 64))
    bound = _bound(sends, machine)
    sent_alone = np.bincount(sends.tile, sends.words * sends.count, tiles).max()
    first_landing = int(np.maximum(earliest[sends.dst_tile], travel(sends, machine)).min())
    goal = int(CLOSE * bound) + first_landing

    # A few multicasts among many single messages bind receivers to each other for little: send them one by
    # one, where the senders have the time.
    narrow = int(sends.count.max()) == 1
    plans = [(sends, SINGLE_VARIANTS if narrow else MULTICAST_VARIANTS)]
    few = len(sends.dst_tile) < FEW * len(sends) and not sends.paired.any()
    if not narrow and few and sent_alone <= 1.2 * bound:
        plans.insert(0, (_one_by_one(sends), SINGLE_VARIANTS))
    if narrow and sends.words.mean() < 8:
        # Idle cycles weigh more beside short messages.
        plans = [(sends, (SINGLE_VARIANTS[0], SINGLE_VARIANTS[2], SINGLE_VARIANTS[1], *SINGLE_VARIANTS[3:]))]
    best, best_start, best_end = sends, np.empty(0, np.int64), 1 << 62
    effort = 0
    for plan, variants in plans:
        single = int(plan.count.max()) == 1
        trains = _Trains.of(plan, machine, TRAIN_SINGLE if single else TRAIN)
        cost = len(trains.tile) * (1 if single else 3)
        idle = 0
        for variant in variants:
            if effort and (best_end <= goal or effort + cost > EFFORT or idle == PATIENCE):
                break
            run = _single if single else _multicast
            begin = run(trains, earliest, position, machine, variant)
            end = int((begin[trains.owner] + trains.latency + trains.items[trains.owner]).max())
            idle = 0 if end < WORTH * best_end else idle + 1
            if end < best_end:
                best, best_start, best_end = plan, trains.starts(begin), end
            effort += cost
    return best, best_start, best_end


@dataclass(frozen=True, eq=False)
class _Trains:
    """
    Sends that leave one after another without a gap: same tile, receivers, operand and item size. Arrays over
    trains, CSR (`first`, `count`) over their receivers; `member` is the train of each send and `shift` the
    cycles it starts after the train.
    """

    tile: Ints
    items: Ints
    cls: Ints
    operand: Ints
    buffer: Ints
    offset: Ints
    paired: Ints
    first: Ints
    count: Ints
    dst_tile: Ints
    latency: Ints
    owner: Ints
    member: Ints
    shift: Ints

    @staticmethod
    def of(sends: Sends, machine: Machine, limit: int) -> _Trains:
        """Couple sends to trains of about `limit` words at most."""
        operand = np.minimum.reduceat(sends.dst_buffer, sends.first)
        order = np.lexsort((sends.offset, sends.buffer, operand, sends.paired, sends.cls, sends.tile))
        opens = np.zeros(len(order), bool)
        opens[0] = True
        for key in (sends.tile, sends.cls, operand, sends.paired):
            opens[1:] |= key[order][1:] != key[order][:-1]
        items = sends.items[order]
        head = np.flatnonzero(opens)
        run = np.cumsum(opens) - 1
        total = np.add.reduceat(items, head)
        before = np.cumsum(items) - items
        inside = before - before[head][run]
        most = np.where(sends.paired[order][head], machine.message_max_words, limit)
        pieces = -(-total // most)
        piece = inside * pieces[run] // total[run]
        opens[1:] |= piece[1:] != piece[:-1]
        head = np.flatnonzero(opens)
        train = np.cumsum(opens) - 1
        member, shift = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        member[order] = train
        shift[order] = before - before[head][train]
        heads = sends.take(order[head])
        return _Trains(
            tile=heads.tile,
            items=np.add.reduceat(items, head),
            cls=heads.cls,
            operand=operand[order[head]],
            buffer=heads.buffer,
            offset=heads.offset,
            paired=heads.paired.astype(np.int64),
            first=heads.first,
            count=heads.count,
            dst_tile=heads.dst_tile,
            latency=travel(heads, machine),
            owner=heads.owner,
            member=member,
            shift=shift,
        )

    def starts(self, begin: Ints) -> Ints:
        """Start cycle of every send, given those of the trains."""
        return begin[self.member] + self.shift


def _one_by_one(sends: Sends) -> Sends:
    """Every destination with a send of its own."""
    owner = sends.owner
    ones = np.ones(len(owner), np.int64)
    return Sends(
        tile=sends.tile[owner],
        buffer=sends.buffer[owner],
        offset=sends.offset[owner],
        words=sends.words[owner],
        cls=sends.dst_tile,
        first=np.arange(len(owner), dtype=np.int64),
        count=ones,
        dst_tile=sends.dst_tile,
        dst_buffer=sends.dst_buffer,
        dst_offset=sends.dst_offset,
        paired=sends.paired[owner],
    )


def _rotation(sends: _Trains, position: Ints, tiles: int, variant: Variant) -> Ints:
    """How far after (the first of) its receivers a source comes."""
    origin = sends.dst_tile[sends.first]
    if variant.order == "logical":
        return (sends.tile - origin - 1) % tiles
    return (position[sends.tile] - position[origin] - 1) % tiles


def _queues(order: Ints, cls: Ints) -> tuple[list[int], list[list[int]]]:
    """Distinct classes and their messages, in the given order of messages."""
    order = order[np.argsort(cls[order], kind="stable")]
    classes, first = np.unique(cls[order], return_index=True)
    bounds = np.append(first, len(order)).tolist()
    flat = order.tolist()
    return classes.tolist(), [flat[a:b] for a, b in pairwise(bounds)]


def _single(sends: _Trains, earliest: Ints, position: Ints, machine: Machine, variant: Variant) -> Ints:
    """Start cycles when every train has one receiver: plain integers, since each decision is tiny."""
    tiles, latency = machine.tiles, sends.latency
    order = np.lexsort((sends.offset, sends.buffer, _rotation(sends, position, tiles, variant)))
    receivers, queues = _queues(order, sends.dst_tile)
    source = sends.tile.tolist()
    words = sends.items.tolist()
    travel = latency.tolist()
    start = [0] * len(source)
    sender_free = [0] * tiles
    left = np.bincount(sends.tile, sends.items, tiles).astype(np.int64).tolist()
    # Most loaded receivers first among equals.
    load = np.bincount(sends.dst_tile, sends.items, tiles)[receivers]
    rank = np.argsort(np.argsort(-load, kind="stable"), kind="stable").tolist()
    heap = [(now, rank[i], i) for i, now in enumerate(earliest[receivers].tolist())]
    heapify(heap)
    tolerance, candidates = variant.tolerance, variant.candidates
    while heap:
        now, tie, i = heap[0]
        queue = queues[i]
        best, best_landing, best_cost = 0, 0, 1 << 62
        limit = now + tolerance
        looked = 0
        for place, m in enumerate(queue):
            s = source[m]
            landing = sender_free[s] + travel[m]
            if landing <= limit:
                best, best_landing = place, landing
                break
            cost = (landing - now) * URGENCY - left[s]
            if cost < best_cost:
                best, best_landing, best_cost = place, landing, cost
            looked += 1
            if looked >= candidates:
                break
        m = queue[best]
        del queue[best]
        if best_landing < now:
            best_landing = now
        begin = best_landing - travel[m]
        start[m] = begin
        s = source[m]
        size = words[m]
        sender_free[s] = begin + size
        left[s] -= size
        if queue:
            heapreplace(heap, (best_landing + size, tie, i))
        else:
            heappop(heap)
    return np.asarray(start, np.int64)


def _multicast(sends: _Trains, earliest: Ints, position: Ints, machine: Machine, variant: Variant) -> Ints:
    """Start cycles when trains have several receivers."""
    tiles, latency, size = machine.tiles, sends.latency, len(sends.tile)
    partner = machine.partner(np.arange(tiles)).tolist()
    paired = sends.paired.tolist()
    group = sends.operand
    if variant.descending:
        group = -group
    order = np.lexsort((sends.offset, sends.buffer, _rotation(sends, position, tiles, variant), group))
    numbers, groups = np.unique(group, return_inverse=True)
    # An operand's messages are not committed before the operands before it could be through.
    weight = np.zeros((len(numbers), tiles), np.int64)
    owner_words = np.repeat(sends.items, sends.count)
    np.add.at(weight, (np.repeat(groups, sends.count), sends.dst_tile), owner_words)
    # Counted on each tile alone: operands of operators on other tiles do not wait for each other.
    before = np.cumsum(weight, axis=0) - weight
    nominal = np.maximum.reduceat(before[np.repeat(groups, sends.count), sends.dst_tile], sends.first)
    _, queues = _queues(order, sends.cls * len(numbers) + groups)
    heads = [queue[0] for queue in queues]
    opening = nominal[heads].tolist()
    origin = sends.dst_tile[sends.first[heads]].tolist()

    senders = sends.tile.tolist()
    words = sends.items.tolist()
    first_travel = latency[sends.first].tolist()
    left = np.bincount(sends.tile, sends.items, tiles).astype(np.int64).tolist()
    start = [0] * size
    sender_free = [0] * tiles
    bounds = np.append(sends.first, len(sends.dst_tile)).tolist()
    spans = list(pairwise(bounds))
    wide = len(sends.dst_tile) >= WIDE * size
    free_array = earliest.copy()
    free = earliest.tolist()
    wide_receivers: list[Ints] = []
    wide_travel: list[Ints] = []
    receivers: list[list[int]] = []
    travel: list[list[int]] = []
    if wide:
        wide_receivers = [sends.dst_tile[a:b] for a, b in spans]
        wide_travel = [latency[a:b] for a, b in spans]
    else:
        flat, flat_latency = sends.dst_tile.tolist(), latency.tolist()
        receivers = [flat[a:b] for a, b in spans]
        travel = [flat_latency[a:b] for a, b in spans]

    # Keys are landing cycles on the first receiver of a queue.
    heap = [(max(earliest[origin[i]].item(), opening[i]), i, 0) for i in range(len(queues))]
    heapify(heap)
    tolerance, candidates, patience = variant.tolerance, variant.candidates, variant.patience
    while heap:
        key, i, tries = heap[0]
        queue = queues[i]
        now = int(free_array[origin[i]]) if wide else free[origin[i]]
        if tries and key > now:
            now = key
        best, best_begin, best_cost = 0, 0, 1 << 62
        limit = now + tolerance
        looked = 0
        for place, m in enumerate(queue):
            s = senders[m]
            begin = sender_free[s]
            if paired[m] and sender_free[partner[s]] > begin:
                begin = sender_free[partner[s]]
            if wide:
                t = int((free_array[wide_receivers[m]] - wide_travel[m]).max())
                if t > begin:
                    begin = t
            else:
                for r, d in zip(receivers[m], travel[m]):  # noqa: B905 (hot)
                    t = free[r] - d
                    if t > begin:
                        begin = t
            landing = begin + first_travel[m]
            if landing <= limit:
                best, best_begin = place, begin
                break
            cost = (landing - now) * URGENCY - left[s]
            if cost < best_cost:
                best, best_begin, best_cost = place, begin, cost
            looked += 1
            if looked >= candidates:
                break
        m = queue[best]
        landing = best_begin + first_travel[m]
        if landing > key + tolerance and tries < patience and len(heap) > 1:
            other = heap[1][0] if len(heap) == 2 or heap[1] < heap[2] else heap[2][0]
            if other < landing - tolerance:
                # Others can go earlier than this queue: let them, and look again.
                heapreplace(heap, (max(landing, opening[i]), i, tries + 1))
                continue
        del queue[best]
        start[m] = best_begin
        end = best_begin + words[m]
        s = senders[m]
        sender_free[s] = end
        if paired[m]:
            sender_free[partner[s]] = end
        left[s] -= words[m]
        if wide:
            free_array[wide_receivers[m]] = wide_travel[m] + end
        else:
            for r, d in zip(receivers[m], travel[m]):  # noqa: B905 (hot)
                free[r] = end + d
        if queue:
            heapreplace(heap, (max(end + first_travel[m], opening[i]), i, 0))
        else:
            heappop(heap)
    return np.asarray(start, np.int64)
