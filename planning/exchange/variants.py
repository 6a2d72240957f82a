# SPDX-License-Identifier: Apache-2.0
"""
Which list schedule of a phase: the variants that are tried, and the bound that ends the search.

No single order is best for every pattern, so a few variants are tried, in a fixed order and a number that
depends on the number of messages only, until one is close to the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.planning.exchange.list_schedule import Variant, multicasts, single_receivers
from tilewright.planning.exchange.messages import Ints, Sends
from tilewright.planning.exchange.trains import Trains, travel

if TYPE_CHECKING:
    from tilewright.machine import Machine

CLOSE = 1.015
"""A schedule within this factor of its bound (and the latency of a word) is not improved further."""

EFFORT = 240_000
"""Messages scheduled in all variants together, roughly; the first variant is always complete."""

FAR, FAR_EFFORT = 1.2, 720_000
"""Where a schedule is that many times as long as hoped for, other variants are tried for so many messages."""

PATIENCE = 3
"""Variants in a row that may fail to shorten a schedule by `WORTH` before no more are tried."""

WORTH = 0.998
"""See `PATIENCE`."""

TRAIN = 256
"""Words that are sent to one set of receivers without a gap, at most (in 8-byte items: whole messages)."""

TRAIN_SINGLE, TRAIN_MANY = 1, 96
"""The same for single receivers, and where there are too many of those for two variants within `EFFORT`."""

FEW = 1.5
"""Mean number of receivers below which multicasts may be sent one by one."""


RARE = 0.2
"""Share of sends with several receivers up to which they may go before all others."""

ROTATION = 1 << 20
"""A tolerance that never leaves the order: senders as busy as their receivers stay in step."""

IN_STEP = 0.8
"""Share of the receivers' load from which senders are as busy as they: order is kept before all else."""

_FIRST = Variant(order="position")
_URGENT = Variant(tolerance=0, order="position", urgent=4)
_IN_STEP = Variant(tolerance=ROTATION, order="position")
_OTHERS = (
    Variant(),
    Variant(tolerance=0, candidates=400, order="position"),
    Variant(tolerance=16),
    Variant(tolerance=4, order="position"),
    Variant(tolerance=2, candidates=400),
)
SINGLE_VARIANTS = (_URGENT, _FIRST, _IN_STEP, *_OTHERS)
BUSY_VARIANTS = (_IN_STEP, _FIRST, _URGENT, *_OTHERS)
"""The same where senders are as busy as receivers (`IN_STEP`)."""

SHORT_VARIANTS = (_FIRST, _OTHERS[1], _URGENT, _OTHERS[0], _IN_STEP, *_OTHERS[2:])
"""The same for short messages: idle cycles weigh more beside them."""

MULTICAST_VARIANTS = (
    Variant(),
    Variant(descending=False),
    Variant(opening=1.0),
    Variant(order="position"),
    Variant(tolerance=0),
    Variant(tolerance=20, patience=3),
    Variant(tolerance=0, order="position", descending=False, patience=3),
)


def loads(sends: Sends, machine: Machine) -> tuple[Ints, Ints]:
    """(tiles,) cycles in which each tile sends (or lends its bus), and in which it receives."""
    tiles, items = machine.tiles, sends.items
    sent = np.bincount(sends.tile, items, tiles)
    lent = np.bincount(machine.partner(sends.tile), items * sends.paired, tiles)
    received = np.bincount(sends.dst_tile, items[sends.owner], tiles)
    return (sent + lent).astype(np.int64), received.astype(np.int64)


def busiest(sends: Sends, machine: Machine) -> int:
    """The most cycles that one tile sends or receives."""
    sent, received = loads(sends, machine)
    return int(max(sent.max(initial=0), received.max(initial=0)))


def best_variant(sends: Sends, machine: Machine, earliest: Ints, source: Ints) -> tuple[Sends, Ints, int]:
    """
    The sends, start cycles and horizon of the best of a few variants; no word lands on a tile before its
    `earliest` cycle (tiles,).
    """
    tiles = machine.tiles
    if not len(sends):
        return sends, np.empty(0, np.int64), 0
    # Column and lane first, then row: neighbours in this order have latencies that differ by a constant.
    position = np.argsort(np.argsort(source % 64 * 64 + source // 64))
    sent, received = loads(sends, machine)
    bound = int(max(sent.max(), received.max()))
    sent_alone = np.bincount(sends.tile, sends.words * sends.count, tiles).max()
    first_landing = int(np.maximum(earliest[sends.dst_tile], travel(sends, machine)).min())
    goal = int(CLOSE * bound) + first_landing

    # A few multicasts among many single messages bind receivers to each other for little: send them before
    # all others, or one by one, where the senders have the time.
    narrow = int(sends.count.max()) == 1
    singles = BUSY_VARIANTS if sent.max() >= IN_STEP * received.max() else SINGLE_VARIANTS
    plans = [(sends, singles if narrow else MULTICAST_VARIANTS, False)]
    few = len(sends.dst_tile) < FEW * len(sends) and not sends.paired.any()
    if not narrow and np.count_nonzero(sends.count > 1) <= RARE * len(sends):
        plans.insert(0, (sends, singles, True))
    elif not narrow and few and sent_alone <= 1.2 * bound:
        plans.insert(0, (_one_by_one(sends), singles, False))
    if narrow and sends.words.mean() < 8:
        plans = [(sends, SHORT_VARIANTS, False)]
    best, best_start, best_end = sends, np.empty(0, np.int64), 1 << 62
    effort = 0
    for plan, variants, apart in plans:
        cost, run = _runner(plan, machine, earliest, position, apart=apart)
        owner, way = plan.owner, travel(plan, machine)
        idle = 0
        several = bool((plan.dst_buffer != plan.dst_buffer[0]).any())
        tried: set[Variant] = set()
        for variant in variants:
            most = EFFORT if best_end <= FAR * goal else FAR_EFFORT
            if effort and (best_end <= goal or effort + cost > most or idle == PATIENCE):
                break
            effort += cost
            # One operand has no order.
            alike = variant if several else replace(variant, descending=True, opening=1.0)
            if alike in tried:
                idle += 1
                continue
            tried.add(alike)
            start = run(variant)
            end = int((start[owner] + way + plan.items[owner]).max())
            idle = 0 if end < WORTH * best_end else idle + 1
            if end < best_end:
                best, best_start, best_end = plan, start, end
    return best, best_start, best_end


def _runner(
    sends: Sends, machine: Machine, earliest: Ints, position: Ints, *, apart: bool
) -> tuple[int, Callable[[Variant], Ints]]:
    """
    What scheduling the sends once takes (in messages), and a function that does it: the start cycle of every
    send. `apart`: those with several receivers go first, the others follow. Of very many messages those of a
    sender to one receiver go in trains: there is effort for several variants then.
    """
    one = TRAIN_SINGLE if 2 * len(sends) <= EFFORT else TRAIN_MANY
    if not apart:
        single = int(sends.count.max()) == 1
        trains = Trains.of(sends, machine, one if single else TRAIN)
        run = single_receivers if single else multicasts
        cost = len(trains.tile) * (1 if single else 3)
        return cost, lambda variant: trains.starts(run(trains, earliest, position, machine, variant))
    several, alone = np.flatnonzero(sends.count > 1), np.flatnonzero(sends.count == 1)
    first = Trains.of(sends.take(several), machine, TRAIN)
    begin = multicasts(first, earliest, position, machine, MULTICAST_VARIANTS[0])
    end = begin + first.items
    free, busy = earliest.copy(), np.zeros(machine.tiles, np.int64)
    np.maximum.at(free, first.dst_tile, end[first.owner] + first.latency)
    np.maximum.at(busy, first.tile, end)
    lent = np.flatnonzero(first.paired)
    np.maximum.at(busy, np.asarray(machine.partner(first.tile[lent]), np.int64), end[lent])
    rest = Trains.of(sends.take(alone), machine, one)

    def run_apart(variant: Variant) -> Ints:
        start = np.empty(len(sends), np.int64)
        start[several] = first.starts(begin)
        start[alone] = rest.starts(single_receivers(rest, free, position, machine, variant, busy))
        return start

    return len(rest.tile), run_apart


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
