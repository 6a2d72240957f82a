# SPDX-License-Identifier: Apache-2.0
"""Sends that leave one after another, coupled to trains: what a list schedule decides about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.planning.exchange.messages import Ints, Sends
from tilewright.planning.exchange.ordering import ordered_by

if TYPE_CHECKING:
    from tilewright.machine import Machine


def travel(sends: Sends, machine: Machine) -> Ints:
    """Latency of each destination; 8-byte items land on both tiles of a pair when the later one has them."""
    owner = sends.owner
    latency = np.asarray(machine.latency(sends.tile[owner], sends.dst_tile), np.int64)
    if not sends.paired.any():
        return latency
    other = np.asarray(machine.latency(sends.tile[owner], machine.partner(sends.dst_tile)), np.int64)
    return np.where(sends.paired[owner], np.maximum(latency, other), latency)


@dataclass(frozen=True, eq=False)
class Trains:
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
    def of(sends: Sends, machine: Machine, limit: int) -> Trains:
        """Couple sends to trains of about `limit` words at most."""
        operand = np.minimum.reduceat(sends.dst_buffer, sends.first)
        order = ordered_by(sends.tile, sends.cls, sends.paired, operand, sends.buffer, sends.offset)
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
        return Trains(
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

    @property
    def bounds(self) -> Ints:
        """The receivers of train i are those from bounds[i] to bounds[i + 1]; (trains + 1,)."""
        return np.append(self.first, len(self.dst_tile))

    def starts(self, begin: Ints) -> Ints:
        """Start cycle of every send, given those of the trains."""
        return begin[self.member] + self.shift
