# SPDX-License-Identifier: Apache-2.0
"""
What an exchange phase has to deliver, and its normal form: as few sends as possible, each to a set of
tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewright.diagnostics import TileError
from tilewright.planning.exchange.ordering import ordered_by

if TYPE_CHECKING:
    from tilewright.machine import Machine

Ints = npt.NDArray[np.int64]


class ExchangeError(TileError):
    """Messages that cannot be exchanged as given: sizes, alignment, tiles or addresses."""


@dataclass(frozen=True, eq=False)
class Messages:
    """
    Spans of bytes from buffers of source tiles to buffers of destination tiles; all arrays int64 (messages,).

    Offsets and sizes are in bytes and multiples of 4. Messages of equal source tile, buffer, offset and size
    are one multicast. Buffers are numbers; their addresses, equal on all tiles, come later.
    """

    src_tile: Ints
    src_buffer: Ints
    src_offset: Ints
    dst_tile: Ints
    dst_buffer: Ints
    dst_offset: Ints
    nbytes: Ints

    def __post_init__(self) -> None:
        size = len(self.src_tile)
        for field in fields(self):
            array = np.ascontiguousarray(getattr(self, field.name), np.int64)
            if array.shape != (size,):
                raise ExchangeError(f"messages: {field.name} has shape {array.shape}, expected ({size},)")
            object.__setattr__(self, field.name, array)

    def __len__(self) -> int:
        return len(self.src_tile)

    @staticmethod
    def concatenate(parts: Sequence[Messages]) -> Messages:
        """All messages of several sets in one phase."""
        empty = np.empty(0, np.int64)
        return Messages(
            *(
                np.concatenate([empty, *(getattr(part, field.name) for part in parts)])
                for field in fields(Messages)
            )
        )

    def validate(self, tiles: int) -> None:
        """
        Raise ExchangeError for the first message that is not whole words or names a tile the machine has
        not.
        """
        bad = (self.src_offset | self.dst_offset | self.nbytes) & 3 != 0
        bad |= (self.src_offset < 0) | (self.dst_offset < 0) | (self.nbytes < 0)
        if bad.any():
            i = int(np.argmax(bad))
            raise ExchangeError(
                f"message {i} is not whole words: {self.nbytes[i]} bytes from offset {self.src_offset[i]} "
                f"on tile {self.src_tile[i]} to offset {self.dst_offset[i]} on tile {self.dst_tile[i]}",
                hint="the exchange moves 4-byte words at 4-byte addresses; rearrange finer pieces locally",
            )
        bad = (self.src_buffer < 0) | (self.dst_buffer < 0)
        if bad.any():
            raise ExchangeError(f"message {int(np.argmax(bad))} names a negative buffer")
        bad = (self.src_tile < 0) | (self.src_tile >= tiles) | (self.dst_tile < 0) | (self.dst_tile >= tiles)
        if bad.any():
            i = int(np.argmax(bad))
            raise ExchangeError(
                f"message {i} goes from tile {self.src_tile[i]} to tile {self.dst_tile[i]}; "
                f"the machine has {tiles}"
            )


@dataclass(frozen=True, eq=False)
class Sends:
    """
    Multicasts: arrays over sends, and in CSR form (`first`, `count`) over their destinations (dst_*).

    `cls` numbers the receiver set: the tile itself for a single receiver, from `tiles` on for larger sets.
    Destinations of a send are in ascending tile order, each tile once. `paired` sends go in items of 8 bytes,
    the others in words.
    """

    tile: Ints
    buffer: Ints
    offset: Ints
    words: Ints
    cls: Ints
    first: Ints
    count: Ints
    dst_tile: Ints
    dst_buffer: Ints
    dst_offset: Ints
    paired: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.tile)

    @property
    def items(self) -> Ints:
        """Cycles that each send takes on the fabric."""
        return self.words >> self.paired

    @property
    def owner(self) -> Ints:
        """The send of each destination."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.count)

    def take(self, index: Ints) -> Sends:
        """Some of the sends, in the given order."""
        return self.pick(index, np.ones(len(self.dst_tile), bool))

    def pick(self, index: Ints, keep: npt.NDArray[np.bool_]) -> Sends:
        """Some of the sends, with those destinations that `keep` marks; each has one at least."""
        members = _members(self.first[index], self.count[index])
        kept = keep[members]
        count = np.bincount(np.repeat(np.arange(len(index)), self.count[index])[kept], minlength=len(index))
        members = members[kept]
        return Sends(
            *(getattr(self, name)[index] for name in ("tile", "buffer", "offset", "words", "cls")),
            first=np.cumsum(count) - count,
            count=count.astype(np.int64),
            **{name: getattr(self, name)[members] for name in ("dst_tile", "dst_buffer", "dst_offset")},
            paired=self.paired[index],
        )

    @staticmethod
    def join(parts: Sequence[Sends]) -> Sends:
        """All sends of several sets; their classes are numbered together already."""
        whole = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Sends)
        }
        whole["first"] = np.cumsum(whole["count"]) - whole["count"]
        return Sends(**whole)


def _starts(changed: npt.NDArray[np.bool_]) -> Ints:
    """Indices at which a run starts; `changed` (n - 1,) compares neighbours."""
    return np.flatnonzero(np.concatenate([[True], changed]))


def _members(first: Ints, count: Ints) -> Ints:
    """Concatenated index ranges [first, first + count)."""
    total = int(count.sum())
    shift = np.repeat(first - np.concatenate([[0], np.cumsum(count)[:-1]]), count)
    return np.arange(total, dtype=np.int64) + shift


def gather_sends(messages: Messages, tiles: int, max_words: int, *, by_buffer: bool = False) -> Sends:
    """
    Group messages to multicasts, merge those that continue each other at the source and at every
    destination, and cut what is longer than `max_words`. `by_buffer`: a multicast goes to one buffer, so that
    receivers of different operands are not bound to each other.
    """
    messages.validate(tiles)
    keep = np.flatnonzero(messages.nbytes)
    src_tile, src_buffer, src_offset, dst_tile, dst_buffer, dst_offset, nbytes = (
        getattr(messages, field.name)[keep] for field in fields(Messages)
    )
    size = len(keep)
    empty = np.empty(0, np.int64)
    if size == 0:
        return Sends(
            empty, empty, empty, empty, empty, empty, empty, empty, empty, empty, np.empty(0, bool)
        )  # fmt: skip

    def changes(*keys: Ints) -> npt.NDArray[np.bool_]:
        out = np.zeros(size - 1, bool)
        for key in keys:
            out |= key[1:] != key[:-1]
        return out

    # The same words wanted twice on one tile need two sends: a receiver writes a word once. `copy` counts the
    # copies.
    source = (src_tile, src_buffer, src_offset, nbytes)
    if by_buffer:
        source = (dst_buffer, *source)
    order = ordered_by(*source, dst_tile, dst_buffer, dst_offset)
    runs = _starts(changes(*(key[order] for key in (dst_tile, *source))))
    copy = np.arange(size, dtype=np.int64) - np.repeat(runs, np.diff(np.append(runs, size)))
    if copy.any():
        order = order[ordered_by(*(key[order] for key in source), copy, dst_tile[order])]
        # After the sort the copy number is recounted in the new order by the group boundaries below.
        runs = _starts(changes(*(key[order] for key in source)) | (np.diff(dst_tile[order]) <= 0))
    else:
        runs = _starts(changes(*(key[order] for key in source)))
    first, count = runs, np.diff(np.append(runs, size))
    dst = dst_tile[order]

    cls = _classes(dst, first, count, tiles)

    # Neighbours in this order continue each other when source and every destination do.
    head = order[first]
    again = ordered_by(src_tile[head], src_buffer[head], cls, src_offset[head])
    first, count, cls = first[again], count[again], cls[again]
    order = order[_members(first, count)]
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    head = order[first]
    joins = np.zeros(len(first), bool)
    joins[1:] = (
        (src_tile[head[1:]] == src_tile[head[:-1]])
        & (src_buffer[head[1:]] == src_buffer[head[:-1]])
        & (cls[1:] == cls[:-1])
        & (src_offset[head[:-1]] + nbytes[head[:-1]] == src_offset[head[1:]])
    )
    before = np.arange(size) - np.repeat(count, count)
    before[: count[0]] = 0
    previous = order[np.maximum(before, 0)]
    fits = (dst_buffer[order] == dst_buffer[previous]) & (
        dst_offset[order] == dst_offset[previous] + nbytes[previous]
    )
    joins &= np.logical_and.reduceat(fits, first)
    starts = np.flatnonzero(~joins)
    words = np.add.reduceat(nbytes[head], starts) // 4
    first, count, cls, head = first[starts], count[starts], cls[starts], head[starts]

    # Cut evenly, so that the last piece is not a stub.
    pieces = -(-words // max_words)
    owner = np.repeat(np.arange(len(words)), pieces)
    part = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    each = -(-words // pieces)
    begin = part * each[owner]
    words = np.minimum(words[owner] - begin, each[owner])
    first, count, cls, head = first[owner], count[owner], cls[owner], head[owner]
    members = order[_members(first, count)]
    return Sends(
        tile=src_tile[head],
        buffer=src_buffer[head],
        offset=src_offset[head] + 4 * begin,
        words=words,
        cls=cls,
        first=np.cumsum(count) - count,
        count=count,
        dst_tile=dst_tile[members],
        dst_buffer=dst_buffer[members],
        dst_offset=dst_offset[members] + np.repeat(4 * begin, count),
        paired=np.zeros(len(words), bool),
    )


def number_receivers(sends: Sends, tiles: int) -> Sends:
    """
    The sends with their receiver sets numbered: the tile for a single receiver, from `tiles` on for larger
    sets.
    """
    return replace(sends, cls=_classes(sends.dst_tile, sends.first, sends.count, tiles))


def _classes(dst_tile: Ints, first: Ints, count: Ints, tiles: int) -> Ints:
    cls = dst_tile[first].copy()
    many = np.flatnonzero(count > 1)
    numbers: dict[bytes, int] = {}
    narrow = dst_tile.astype(np.int32)
    cls[many] = [
        numbers.setdefault(narrow[a : a + n].tobytes(), tiles + len(numbers))
        for a, n in zip(first[many].tolist(), count[many].tolist(), strict=True)
    ]
    return cls


def pair_up(sends: Sends, machine: Machine) -> Sends | None:
    """
    The sends in items of 8 bytes wherever that is possible and worth while; None if it is nowhere.

    What one tile sends to one set of receivers, for one operand, goes in 8-byte items if both tiles of a pair
    are receivers, they are not the sender's own pair, addresses and sizes are multiples of 8 bytes, and there
    are at least `paired_min_items` of them. The receivers for which that does not hold get a send in words.
    """
    if not len(sends) or int(sends.count.max()) < 2:
        return None
    tiles, owner = machine.tiles, sends.owner
    key = owner * tiles + sends.dst_tile
    wanted = owner * tiles + machine.partner(sends.dst_tile)
    place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    full = (key[place] == wanted) & (sends.dst_tile != sends.tile[owner])
    full &= machine.partner(sends.dst_tile) != sends.tile[owner]
    whole = (sends.offset & 7 == 0) & (sends.words & 1 == 0)
    whole &= np.logical_and.reduceat(sends.dst_offset & 7 == 0, sends.first)
    whole &= np.bincount(owner, full, len(sends)) > 0
    operand = np.minimum.reduceat(sends.dst_buffer, sends.first)
    stream = (sends.tile * (int(sends.cls.max()) + 1) + sends.cls) * (int(operand.max()) + 1) + operand
    _, stream = np.unique(stream, return_inverse=True)
    items = np.bincount(stream, np.where(whole, sends.words // 2, 0))
    whole &= items[stream] >= machine.exchange.paired_min_items
    chosen, others = np.flatnonzero(whole), np.flatnonzero(~whole)
    if not len(chosen):
        return None
    first = sends.pick(chosen, full)
    parts = [replace(first, paired=np.ones(len(chosen), bool))]
    rest = chosen[np.bincount(owner, ~full, len(sends))[chosen] > 0]
    if len(rest):
        parts.append(sends.pick(rest, ~full))
    if len(others):
        parts.append(sends.take(others))
    return number_receivers(Sends.join(parts), tiles)
