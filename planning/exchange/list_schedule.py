# SPDX-License-Identifier: Apache-2.0
"""
List scheduling of trains, seen from the receivers.

Messages with the same set of receivers form a queue. The queue whose first receiver is free earliest commits
one message: the first whose words can land within a few idle cycles, else, among the next few, a compromise
between a short wait and a sender that has much left to send. Times only go forward: a tile's free time is one
number.

Accepting a few idle cycles keeps the order of a queue, and the order is what makes receivers fit together:
each starts with the sender after itself, so that an all-to-all is a rotation, in which all senders stay busy.
Sources ordered by fabric column and lane differ in latency by a constant inside a column; a change of column
costs a multicast the spread of the latency differences. Operands (destination buffers) come one after another
when sets of receivers overlap: rows and columns of a grid mixed would wait for each other.

The loops below are the hottest of a compilation: each decision is tiny, so they work on plain integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from tilewright.planning.exchange.messages import Ints
from tilewright.planning.exchange.ordering import ordered_by
from tilewright.planning.exchange.trains import Trains

if TYPE_CHECKING:
    from tilewright.machine import Machine

WIDE = 8
"""Mean number of receivers from which multicasts are evaluated with arrays."""

URGENCY = 8
"""Words that a sender has left to send which outweigh one cycle of waiting for it."""


@dataclass(frozen=True)
class Variant:
    """
    One way to run the list schedule.

    `tolerance`: idle cycles of a receiver that are accepted to keep the order. `candidates`: messages of a
    queue that are looked at. `order` of the sources in a queue: "logical" or "position" rotation.
    `descending`: later operands first. `patience`: how often a queue that has to wait lets others go first.
    `urgent`: commits of a queue after which the senders that have most left come first in it (0: never).
    `opening`: cycles that the operands before one get for each of their words: sets of receivers lose time
    where their sources change, and an operand that begins too early holds up those before it.
    """

    tolerance: int = 8
    candidates: int = 64
    order: str = "logical"
    descending: bool = True
    patience: int = 20
    urgent: int = 0
    opening: float = 1.25


def _rotation(sends: Trains, position: Ints, tiles: int, variant: Variant) -> Ints:
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


def single_receivers(
    sends: Trains,
    earliest: Ints,
    position: Ints,
    machine: Machine,
    variant: Variant,
    busy: Ints | None = None,
) -> Ints:
    """
    Start cycles when every train has one receiver: plain integers, since each decision is tiny. `busy`
    (tiles,): until when each tile sends something else.
    """
    tiles, latency = machine.tiles, sends.latency
    order = ordered_by(_rotation(sends, position, tiles, variant), sends.buffer, sends.offset)
    receivers, queues = _queues(order, sends.dst_tile)
    source = sends.tile.tolist()
    words = sends.items.tolist()
    travel = latency.tolist()
    start = [0] * len(source)
    sender_free = [0] * tiles if busy is None else busy.tolist()
    left = np.bincount(sends.tile, sends.items, tiles).astype(np.int64).tolist()
    # Most loaded receivers first among equals.
    load = np.bincount(sends.dst_tile, sends.items, tiles)[receivers]
    rank = np.argsort(np.argsort(-load, kind="stable"), kind="stable").tolist()
    heap = [(now, rank[i], i) for i, now in enumerate(earliest[receivers].tolist())]
    heapify(heap)
    tolerance, candidates, urgent = variant.tolerance, variant.candidates, variant.urgent
    while heap:
        now, tie, i = heap[0]
        queue = queues[i]
        if urgent and len(queue) % urgent == 0:
            queue.sort(key=lambda m: -left[source[m]])
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


class _Receivers(Protocol):
    """Free times of the receivers of all trains."""

    @property
    def free(self) -> list[int] | Ints:
        """(tiles,) cycle from which each tile can take a word."""
        ...

    def ready(self, train: int, begin: int) -> int:
        """The first cycle, not before `begin`, at which the train finds all of its receivers free."""
        ...

    def take(self, train: int, end: int) -> None:
        """The train ends its sends at cycle `end`: its receivers are busy until the last one lands."""
        ...


class _FewReceivers:
    """Trains with few receivers each: plain integers."""

    def __init__(self, trains: Trains, earliest: Ints) -> None:
        tiles, travel = trains.dst_tile.tolist(), trains.latency.tolist()
        self.free: list[int] = earliest.tolist()
        self.ways = [
            list(zip(tiles[a:b], travel[a:b], strict=True)) for a, b in pairwise(trains.bounds.tolist())
        ]

    def ready(self, train: int, begin: int) -> int:
        free = self.free
        for tile, travel in self.ways[train]:
            at = free[tile] - travel
            if at > begin:
                begin = at
        return begin

    def take(self, train: int, end: int) -> None:
        free = self.free
        for tile, travel in self.ways[train]:
            free[tile] = end + travel


_largest = np.maximum.reduce
"""The maximum of an array, without the dispatch of its method, which takes as long on a few elements."""


class _ManyReceivers:
    """Trains with many receivers each: arrays."""

    def __init__(self, trains: Trains, earliest: Ints) -> None:
        spans = list(pairwise(trains.bounds.tolist()))
        self.free = earliest.copy()
        self.tiles = [trains.dst_tile[a:b] for a, b in spans]
        self.travel = [trains.latency[a:b] for a, b in spans]

    def ready(self, train: int, begin: int) -> int:
        at = int(_largest(self.free[self.tiles[train]] - self.travel[train]))
        return at if at > begin else begin

    def take(self, train: int, end: int) -> None:
        self.free[self.tiles[train]] = self.travel[train] + end


@dataclass(frozen=True, eq=False)
class _OperandQueues:
    """
    Trains with the same receivers and operand. `opening`: landing cycle before which a queue does not commit,
    `origin`: its first receiver.
    """

    queues: list[list[int]]
    opening: list[int]
    origin: list[int]

    @staticmethod
    def of(trains: Trains, position: Ints, tiles: int, variant: Variant) -> _OperandQueues:
        """
        The queues in the variant's order. An operand's messages are not committed before the operands before
        it could be through; counted on each tile alone: operands of operators on other tiles do not wait for
        each other.
        """
        group = -trains.operand if variant.descending else trains.operand
        order = ordered_by(group, _rotation(trains, position, tiles, variant), trains.buffer, trains.offset)
        numbers, groups = np.unique(group, return_inverse=True)
        owner_group = np.repeat(groups, trains.count)
        weight = np.zeros((len(numbers), tiles), np.int64)  # items, (operands, tiles)
        np.add.at(weight, (owner_group, trains.dst_tile), np.repeat(trains.items, trains.count))
        before = np.cumsum(weight, axis=0) - weight
        nominal = np.maximum.reduceat(before[owner_group, trains.dst_tile], trains.first)
        _, queues = _queues(order, trains.cls * len(numbers) + groups)
        heads = [queue[0] for queue in queues]
        opening = np.ceil(variant.opening * nominal[heads]).astype(np.int64).tolist()
        return _OperandQueues(queues, opening, trains.dst_tile[trains.first[heads]].tolist())


def multicasts(trains: Trains, earliest: Ints, position: Ints, machine: Machine, variant: Variant) -> Ints:
    """Start cycles when trains have several receivers; arguments as for `single_receivers`."""
    tiles, size = machine.tiles, len(trains.tile)
    by_operand = _OperandQueues.of(trains, position, tiles, variant)
    queues, opening, origin = by_operand.queues, by_operand.opening, by_operand.origin
    many = len(trains.dst_tile) >= WIDE * size
    receivers: _Receivers = (_ManyReceivers if many else _FewReceivers)(trains, earliest)
    free, ready = receivers.free, receivers.ready
    partner = np.asarray(machine.partner(np.arange(tiles)), np.int64)
    senders = trains.tile.tolist()
    # The tile whose bus a train takes beside its sender's: the partner's, or once more its own.
    lenders = np.where(trains.paired != 0, partner[trains.tile], trains.tile).tolist()
    items, first_travel = trains.items.tolist(), trains.latency[trains.first].tolist()
    left = np.bincount(trains.tile, trains.items, tiles).astype(np.int64).tolist()
    start, sender_free = [0] * size, [0] * tiles
    tolerance, candidates, patience = variant.tolerance, variant.candidates, variant.patience

    def choose(queue: list[int], now: int) -> tuple[int, int]:
        """Place in the queue, and start, of the message to commit."""
        best, best_begin, best_cost = 0, 0, 1 << 62
        limit = now + tolerance
        for place, train in enumerate(queue):
            if place == candidates:
                break
            sender = senders[train]
            begin = sender_free[sender]
            if sender_free[lenders[train]] > begin:
                begin = sender_free[lenders[train]]
            landing = begin + first_travel[train]
            if landing > limit and (landing - now) * URGENCY - left[sender] >= best_cost:
                continue  # and would land later still where a receiver is busy
            begin = ready(train, begin)
            landing = begin + first_travel[train]
            if landing <= limit:
                return place, begin
            cost = (landing - now) * URGENCY - left[sender]
            if cost < best_cost:
                best, best_begin, best_cost = place, begin, cost
        return best, best_begin

    # Keys are landing cycles on the first receiver of a queue.
    heap = [(max(int(earliest[origin[i]]), opening[i]), i, 0) for i in range(len(queues))]
    heapify(heap)
    while heap:
        key, i, tries = heap[0]
        queue = queues[i]
        now = int(free[origin[i]])
        place, begin = choose(queue, max(now, key) if tries else now)
        train = queue[place]
        landing = begin + first_travel[train]
        if landing > key + tolerance and tries < patience and len(heap) > 1:
            other = heap[1] if len(heap) == 2 or heap[1] < heap[2] else heap[2]
            if other[0] < landing - tolerance:
                # Others can go earlier than this queue: let them, and look again.
                heapreplace(heap, (max(landing, opening[i]), i, tries + 1))
                continue
        del queue[place]
        start[train] = begin
        end = begin + items[train]
        sender_free[senders[train]] = sender_free[lenders[train]] = end
        left[senders[train]] -= items[train]
        receivers.take(train, end)
        if queue:
            heapreplace(heap, (max(end + first_travel[train], opening[i]), i, 0))
        else:
            heappop(heap)
    return np.asarray(start, np.int64)
