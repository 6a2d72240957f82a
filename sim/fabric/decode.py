# SPDX-License-Identifier: Apache-2.0
"""
What rows say by themselves: the streams that every tile sends, and the intervals in which it listens.

Each function takes the decoded events of all tiles and refuses what their rows show without any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewright.backends.rows import K_BAD, K_SENDPIC, K_SENDPICP, NAMES, PAIR_SOURCE, PAIRED, Events
from tilewright.sim.fabric.delivery import Ints, PhaseErrors, Pieces, first

if TYPE_CHECKING:
    from tilewright.machine import Machine

ROW_ALIGNMENT = 8
"""Rows start at multiples of this many bytes, so that an even word of a row is what sendpicp needs."""


def check_words(
    events: Events, words: npt.NDArray[np.uint32], address: int | None, errors: PhaseErrors
) -> None:
    """Refusals that one row shows by itself; `address` is where the rows lie, None if nowhere yet."""

    def place(i: int) -> int | None:
        return None if address is None else address + 4 * int(events.word[i])

    if (i := first(events.kind == K_BAD)) is not None:
        raise errors.refuse(
            "bad opcode",
            f"word {events.word[i]} of the row is {int(words[events.tile[i], events.word[i]]):#010x}",
            tile=events.tile[i],
            cycle=events.start[i],
            address=place(i),
        )
    if (tile := first(events.length == 0)) is not None:
        raise errors.refuse(
            "missing return", f"the row of {words.shape[1]} words has none", tile=tile, address=address
        )
    if address is not None and address % 4:
        raise errors.refuse("misaligned row", "rows start at multiples of 4", tile=0, address=address)
    offset = 0 if address is None else address % ROW_ALIGNMENT // 4
    if (i := first((events.kind == K_SENDPICP) & ((events.word + offset) % 2 == 1))) is not None:
        raise errors.refuse(
            "misaligned sendpicp",
            f"word {events.word[i]} of the row is not at a multiple of 8 bytes",
            tile=events.tile[i],
            cycle=events.start[i],
            address=place(i),
        )
    if (i := first((events.select >= 2 * PAIR_SOURCE) | (events.point > 0xFFFFF))) is not None:
        raise errors.refuse(
            "unknown selector",
            f"{NAMES[events.kind[i]]} uses a control form that the model does not know",
            tile=events.tile[i],
            cycle=events.control[i],
            address=place(i),
        )


# -- sends ---------------------------------------------------------------------------------------------------


def streams(events: Events, errors: PhaseErrors) -> Pieces:
    """What every tile sends, by instruction, in order of time; merged where time and memory continue."""
    i = np.flatnonzero(events.items > 0)
    tile, start, items = events.tile[i], events.start[i], events.items[i]
    size = len(i)
    position = np.arange(size)
    restart = events.absolute[i]
    # A sendpic has no direction of its own: it continues the last one stated.
    stated = np.where(events.kind[i] == K_SENDPIC, -1, position)
    holder = np.maximum.accumulate(stated) if size else stated
    opener = np.maximum.accumulate(np.where(restart, position, -1)) if size else stated
    control = events.direction[i][np.maximum(holder, 0)]
    direction, item = control & 3, np.where(control & PAIRED, 8, 4)
    started_by = np.maximum(opener, 0)
    lost = ~restart & ((opener < 0) | (tile[started_by] != tile) | (events.direction[i][started_by] & 3 == 0))
    if (j := first(lost)) is not None:
        raise errors.refuse(
            "send without a stream",
            f"{NAMES[events.kind[i[j]]]} continues a stream that was not started",
            tile=tile[j],
            cycle=start[j],
        )
    # Address of the first item: that of the restart, plus what was sent and skipped since.
    sent = np.cumsum(items * item) - items * item + np.cumsum(events.delta[i])
    address = events.address[i][started_by] + sent - sent[started_by]
    live = direction != 0
    pieces = Pieces(tile[live], start[live], items[live], address[live], item[live])
    if (j := first(pieces.address % pieces.size != 0)) is not None:
        raise errors.refuse(
            "misaligned item",
            f"8-byte items are sent from {int(pieces.address[j]):#x}",
            tile=pieces.tile[j],
            cycle=pieces.start[j],
            address=pieces.address[j],
        )
    return _joined(pieces)


def _joined(pieces: Pieces) -> Pieces:
    """Pieces in order of time, each run that goes on in time and memory as one."""
    if not len(pieces):
        return pieces
    opens = np.ones(len(pieces), bool)
    opens[1:] = (
        (pieces.tile[1:] != pieces.tile[:-1])
        | (pieces.start[1:] != pieces.stop[:-1])
        | (pieces.address[1:] != pieces.end[:-1])
        | (pieces.size[1:] != pieces.size[:-1])
    )
    head = np.flatnonzero(opens)
    return Pieces(
        pieces.tile[head],
        pieces.start[head],
        np.add.reduceat(pieces.items, head),
        pieces.address[head],
        pieces.size[head],
    )


def check_buses(sends: Pieces, machine: Machine, errors: PhaseErrors) -> None:
    """Refuse sends of a tile whose bus its partner uses for 8-byte items."""
    wide = np.flatnonzero(sends.size == 8)
    if not len(wide):
        return
    reach = int(sends.stop.max()) + 1
    key = sends.tile * reach + sends.start
    borrowed = np.asarray(machine.partner(sends.tile[wide]), np.int64) * reach + sends.start[wide]
    lo = np.searchsorted(key + sends.items, borrowed, "right")
    hi = np.searchsorted(key, borrowed + sends.items[wide], "left")
    if (i := first(hi > lo)) is not None:
        j = lo[i]
        raise errors.refuse(
            "bus in use",
            f"a tile sends while its partner {sends.tile[wide[i]]} sends 8-byte items over both buses",
            tile=sends.tile[j],
            cycle=max(int(sends.start[j]), int(sends.start[wide[i]])),
            address=sends.address[j],
        )


# -- listening -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Listening:
    """
    Intervals [first, until) of landing cycles in which a tile listens to a tile, in 8-byte items if `wide`;
    arrays (intervals,).
    """

    tile: Ints
    source: Ints
    first: Ints
    until: Ints
    wide: Ints


def listening(events: Events, machine: Machine, span: int, errors: PhaseErrors) -> Listening:
    """
    What the source selections mean; a restated selection does not cut an interval. `span` is a cycle after
    every landing.
    """
    i = np.flatnonzero(events.select >= 0)
    tile = events.tile[i]
    wide, value = np.divmod(events.select[i], PAIR_SOURCE)
    effective = events.control[i] + np.asarray(machine.select_lead(tile), np.int64)
    until = np.full(len(i), span, np.int64)
    same = np.flatnonzero(tile[1:] == tile[:-1])
    until[same] = effective[same + 1]
    heard = value != machine.neutral_source
    if (j := first(heard & (until == span))) is not None:
        raise errors.refuse(
            "never neutral",
            f"the row returns while it listens to source {value[j]:#x}",
            tile=tile[j],
            cycle=events.control[i[j]],
        )
    tile, value, effective, until, wide = (x[heard] for x in (tile, value, effective, until, wide))
    # Each tile of a pair of receivers names the one of the sender's two buses that is on its side.
    number = np.where(wide, value ^ (machine.physical(tile) & 2), value)
    source = np.asarray(machine.logical(number), np.int64)
    if (j := first(source < 0)) is not None:
        raise errors.refuse(
            "listening to silence", f"no tile is source {value[j]:#x}", tile=tile[j], cycle=effective[j]
        )
    opens = np.ones(len(tile), bool)
    opens[1:] = (
        (tile[1:] != tile[:-1])
        | (source[1:] != source[:-1])
        | (wide[1:] != wide[:-1])
        | (effective[1:] != until[:-1])
    )
    head = np.flatnonzero(opens)
    last = np.append(head[1:], len(tile))[: len(head)] - 1
    return Listening(tile[head], source[head], effective[head], until[last], wide[head])


def check_pairs(heard: Listening, machine: Machine, errors: PhaseErrors) -> None:
    """Refuse 8-byte items that only one tile of a pair hears, or that a tile's own pair sends."""
    i = np.flatnonzero(heard.wide)
    if not len(i):
        return
    partner = np.asarray(machine.partner(heard.tile[i]), np.int64)
    own = (heard.source[i] == heard.tile[i]) | (heard.source[i] == partner)
    if (at := first(own)) is not None:
        j = i[at]
        raise errors.refuse(
            "own pair",
            f"8-byte items of tile {heard.source[j]} cannot be heard by its own pair",
            tile=heard.tile[j],
            cycle=heard.first[j],
        )
    size = machine.tiles
    mine = np.stack([heard.first[i], heard.until[i], heard.tile[i] * size + heard.source[i]])
    theirs = np.stack([heard.first[i], heard.until[i], partner * size + heard.source[i]])
    mine, order = mine[:, np.lexsort(mine)], np.lexsort(theirs)
    if (at := first((mine != theirs[:, order]).any(axis=0))) is not None:
        j = i[order[at]]
        raise errors.refuse(
            "half a pair",
            f"tile {heard.tile[j]} hears 8-byte items of {heard.source[j]} that its partner does not hear",
            tile=heard.tile[j],
            cycle=heard.first[j],
        )
