# SPDX-License-Identifier: Apache-2.0
"""
When each word leaves and lands: the schedule of one exchange phase.

A word that tile s sends at cycle t lands on tile r at cycle t + latency(s, r), a function of the two
positions alone. A tile sends one word a cycle and receives one word a cycle, from one source at a time; both
at once is allowed. Receives may abut, so a phase can come close to its bound, the largest number of words
that one tile sends or receives. The first source is selected `lead_in` cycles after the phase has begun.

The control events of a tile (source selections, pointers) take slots of the same instruction stream as its
sends, but never force a later start: two controls at one cycle share a `sendpicp`, a control inside a send
cuts it, and a control at the first word of a send is a `sendpicp` that states both. What they cost is row
words, which `backends/rows.py` counts.

The times come from list scheduling (`list_schedule`) in a few variants (`variants`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
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
from tilewright.planning.exchange.ordering import ordered_by
from tilewright.planning.exchange.trains import travel
from tilewright.planning.exchange.variants import best_variant, busiest, loads

if TYPE_CHECKING:
    from tilewright.backends.rows import Template
    from tilewright.machine import Machine


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
        # Buffers are few: pairs are marked, not sorted.
        marked = np.zeros((int(self.send_buffer.max()) + 1, int(self.recv_buffer.max()) + 1), np.bool_)
        marked[self.send_buffer[send], self.recv_buffer[recv]] = True
        return np.argwhere(marked).astype(np.int64)


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
        sent, received = loads(words, machine)
        if sent.max(initial=0) <= received.max(initial=0):
            break  # one multicast for several operands saves sends only
    found = None
    for sends in sorted(candidates, key=lambda c: busiest(c, machine)):
        if found is None or busiest(sends, machine) + int(earliest.min()) < found[2]:
            attempt = best_variant(sends, machine, earliest, source)
            if found is None or attempt[2] < found[2]:
                found = attempt
    assert found is not None
    sends, start, _ = found
    owner = sends.owner
    landing = start[owner] + travel(sends, machine)

    by_time = ordered_by(sends.tile, start)
    place = np.empty_like(by_time)
    place[by_time] = np.arange(len(by_time))
    arrival = ordered_by(sends.dst_tile, landing)
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
