# SPDX-License-Identifier: Apache-2.0
"""
What a phase will take, without scheduling it: what planning compares layouts by.

The bound of a phase is the most items that one tile receives or sends, in words or in 8-byte items, whichever
is less. A schedule adds three things to it, which are estimated from the positions of the tiles and from how
messages are spread: the time until the first word lands, the shifts when a set of receivers goes from one
fabric column of sources to another, and whole messages of waiting where senders are as busy as receivers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tilewright.planning.exchange.messages import Messages

if TYPE_CHECKING:
    from tilewright.machine import Machine

Floats = npt.NDArray[np.float64]

COLUMN_SHIFT = 7.0
"""Cycles that a set of receivers loses when its sources change to another column of the fabric."""

WAITING = 0.06
"""Share of its time that a busy receiver waits for senders that are as busy."""

MATCHING = 15.0
"""Cycles that it waits at least, since latencies differ."""

PAIRED_LOSS = 0.05
"""Share of a phase lost in 8-byte mode: buses are lent, and the sender's own pair is served in words."""

PAIRED_GAIN = 0.97
"""8-byte mode is assumed where its bound is lower by this factor."""


@dataclass(frozen=True)
class Estimate:
    """
    Cycles of a phase without the machine's overhead, its bound in items, and the share of bytes in 8-byte
    items.
    """

    cycles: int
    bound: int
    paired: float


def estimate(messages: Messages, machine: Machine, *, paired: bool = True) -> Estimate:
    """Estimate one phase, with 8-byte items where they pay if `paired`; all zero if nothing is moved."""
    size = len(messages)
    if not size:
        return Estimate(0, 0, 0.0)
    tiles = machine.tiles
    src, dst, words = messages.src_tile, messages.dst_tile, messages.nbytes >> 2

    # Multicasts: the same words to several tiles, for one operand.
    buffers = 1 + int(max(messages.src_buffer.max(), messages.dst_buffer.max()))
    key = (src * buffers + messages.src_buffer) * buffers + messages.dst_buffer
    key = (key << 21) + messages.src_offset
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    heads = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    count = np.diff(np.append(heads, size))
    send = np.empty(size, np.int64)
    send[order] = np.repeat(np.arange(len(heads)), count)
    head = order[heads]

    latency = np.asarray(machine.latency(src, dst), np.int64)
    lead = np.asarray(machine.select_lead(dst), np.int64) + machine.exchange.lead_in
    earliest = np.maximum(np.maximum.reduceat((lead - latency)[order], heads), 0)
    landing = earliest[send] + latency
    spans = np.bincount(dst, minlength=tiles)
    first = np.bincount(dst, landing, tiles) / np.maximum(spans, 1)

    received = np.bincount(dst, words, tiles)
    sent = np.bincount(src[head], words[head], tiles)
    share = 0.0
    wide = _pairable(messages, machine) if paired else np.zeros(size, bool)
    if wide.any():
        items = np.where(wide, words / 2, words)
        # a multicast goes in words too where not all of its receivers are pairs
        both = np.bincount(send, wide, len(heads)) > 0
        part = np.bincount(send, ~wide, len(heads)) > 0
        sent_items = words[head] * (both / 2 + part)
        lent = np.bincount(np.asarray(machine.partner(src[head])), words[head] / 2 * both, tiles)
        fast = np.bincount(dst, items, tiles)
        busy = np.bincount(src[head], sent_items, tiles) + lent
        if max(fast.max(), busy.max()) < PAIRED_GAIN * max(received.max(), sent.max()):
            received, sent = fast, busy
            share = float(words[wide].sum() / words.sum())

    bound = float(max(received.max(), sent.max()))
    several = count[send] > 1
    columns = np.count_nonzero(
        np.bincount(dst[several] * 64 + machine.physical(src[several]) % 64, minlength=64 * tiles).reshape(
            -1, 64
        ),
        axis=1,
    )
    sources = np.bincount(
        np.flatnonzero(np.bincount(dst * tiles + src, minlength=tiles * tiles)) // tiles, minlength=tiles
    )
    pressure = np.clip(2 * sent.max() / bound - 1, 0, 1)
    loss = COLUMN_SHIFT * np.maximum(columns - 1, 0) + (WAITING * received + MATCHING) * pressure * (
        sources > 1
    )
    ends = np.where(spans > 0, first + received * (1 + PAIRED_LOSS * (share > 0)) + loss, 0)
    leaves = np.where(sent > 0, sent + float(latency.mean()), 0)
    return Estimate(int(max(ends.max(), leaves.max())), int(bound), share)


# Closed forms: what ranks the grids of an operator before there are messages. A phase is as long as what the
# fullest tile receives, without latencies and without the machine's overhead.


def receive_cycles(nbytes: Any, messages: Any = 0) -> Any:
    """Cycles in which a tile receives `nbytes` in at least `messages` messages: a cycle a word or control."""
    return np.maximum(nbytes // 4, messages)


def pair_receive_cycles(
    first: Any, second: Any, *, same_first: Any, same_second: Any, nbytes: Any, messages: Any = 0
) -> Any:
    """
    The same for two operands of `first` and `second` units of `nbytes` bytes, of which one may be the `same`
    for the two tiles that share a bus: they get the larger such operand in 8-byte items, at twice the rate.
    Numbers or arrays.
    """
    shared = np.maximum(np.where(same_first, first, 0), np.where(same_second, second, 0))
    return receive_cycles((first + second - shared // 2) * nbytes, messages)


ROW_WORDS = 8
"""Words of a row beside its messages: entry, the first delays, return, alignment."""

BREAK_WORDS = 0.5
"""
Words of a message that does not go on where the one before it ended, beside its source selection: its pointer
is often set in the instruction that selects the source. Fitted to scheduled rows, as `ROW_WORDS` is.
"""


def estimated_row_bytes(messages: Messages, machine: Machine) -> npt.NDArray[np.int64]:
    """
    Estimated bytes of a phase's row on every tile, int64 (tiles,); 0 on tiles that take no part. A receiver
    has an instruction for each message; sends mostly find a place in them.
    """
    return estimated_rows(messages, machine, np.zeros(0, bool))[0]


def estimated_rows(
    messages: Messages, machine: Machine, counted: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """
    `estimated_row_bytes`, and the sends of every tile from the source buffers that `counted` (buffers,)
    names, int64 (tiles,): those whose addresses follow a sequence.
    """
    tiles = machine.tiles
    nothing = np.zeros(tiles, np.int64)
    if not len(messages):
        return nothing, nothing
    dst, src, buffer, offset = (
        messages.dst_tile,
        messages.src_tile,
        messages.dst_buffer,
        messages.dst_offset,
    )
    buffers = 1 + int(max(messages.src_buffer.max(), buffer.max()))
    order = np.argsort((((dst * tiles + src) * buffers + buffer) << 21) + offset)
    before, after = order[:-1], order[1:]
    goes_on = (dst[before] == dst[after]) & (src[before] == src[after]) & (buffer[before] == buffer[after])
    goes_on &= offset[before] + messages.nbytes[before] == offset[after]
    breaks = np.bincount(dst[order[np.concatenate([[True], ~goes_on])]], minlength=tiles)
    received = np.bincount(dst, minlength=tiles)
    key = ((src * buffers + messages.src_buffer) * buffers + buffer << 21) + messages.src_offset
    key.sort()
    sends = key[np.concatenate([[True], key[1:] != key[:-1]])] >> 21
    tile = sends // (buffers * buffers)
    controls = np.maximum(received + BREAK_WORDS * breaks, np.bincount(tile, minlength=tiles))
    rows = np.where(controls > 0, 4 * np.ceil(controls + ROW_WORDS), 0).astype(np.int64)
    if not counted.any():
        return rows, nothing
    follows = np.zeros(buffers, bool)
    follows[: len(counted)] = counted[:buffers]
    return rows, np.bincount(tile[follows[sends // buffers % buffers]], minlength=tiles)


def _pairable(messages: Messages, machine: Machine) -> npt.NDArray[np.bool_]:
    """
    Which messages could go in 8-byte items: both tiles of a pair get the same from the same sources, aligned
    and in streams that are long enough, and not from their own pair.
    """
    tiles = machine.tiles
    src, dst = messages.src_tile, messages.dst_tile
    partner = np.asarray(machine.partner(np.arange(tiles)), np.int64)
    # Sums of hashes are equal where the sets of messages are; 2^22 of 30 bits stay exact in a float.
    buffers, operand = np.unique(messages.dst_buffer, return_inverse=True)
    place = dst * len(buffers) + operand
    same = np.ones(tiles * len(buffers), bool)
    for factor in (0x9E3779B1, 0x85EBCA77):
        mixed = ((src << 12) + messages.src_buffer) * factor + (
            messages.src_offset + 7 * messages.nbytes
        ) * 0xC2B2AE3D
        mixed = (mixed ^ (mixed >> 17)) * 0x27D4EB2F + (messages.dst_offset + messages.dst_buffer) * factor
        mixed = ((mixed ^ (mixed >> 21)) & 0x3FFFFFFF).astype(np.float64)
        total = np.bincount(place, mixed, tiles * len(buffers)).reshape(tiles, -1)
        same &= (total == total[partner]).ravel()
    fine = (messages.src_offset | messages.dst_offset | messages.nbytes) & 7 == 0
    fine &= same[place] & (src != dst) & (src != partner[dst])
    stream = np.bincount(src * tiles + dst, np.where(fine, messages.nbytes >> 3, 0), tiles * tiles)
    return fine & (stream[src * tiles + dst] >= machine.exchange.paired_min_items)
