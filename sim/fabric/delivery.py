# SPDX-License-Identifier: Apache-2.0
"""What the parts of the fabric hand to each other: pieces of streams, refusals, and what a phase delivers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.sim.illegal import IllegalProgram

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Delivery:
    """
    What one phase moves. Pieces (arrays (pieces,)): `nwords` words from `src_address` of `src_tile`, read
    from cycle `sent` on, to `dst_address` of `dst_tile`, written from cycle `landed` on; byte addresses.
    `rate` is the words that move in a cycle: 2 for 8-byte items. Pieces are sorted by (dst_tile, landed).

    `end_cycle` (tiles,): cycle of the return of each row. `ordered`: some words are read and later
    overwritten, so all reads of the phase come before its writes.
    """

    src_tile: Ints
    src_address: Ints
    dst_tile: Ints
    dst_address: Ints
    nwords: Ints
    rate: Ints
    sent: Ints
    landed: Ints
    end_cycle: Ints
    sent_items: Ints
    ordered: bool
    sram_base: int
    sram_bytes: int
    cache: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def cycles(self) -> int:
        """Cycle at which the last row returns."""
        return int(self.end_cycle.max(initial=0))

    @property
    def source(self) -> Ints:
        """Index of the first source word of each piece in the flat memory of all tiles."""
        return (self.src_tile * self.sram_bytes + self.src_address - self.sram_base) // 4

    @property
    def destination(self) -> Ints:
        """Index of the first destination word of each piece in the flat memory of all tiles."""
        return (self.dst_tile * self.sram_bytes + self.dst_address - self.sram_base) // 4


@dataclass(frozen=True, eq=False)
class Pieces:
    """
    Intervals of one tile in time that walk linearly through memory, `size` bytes (4 or 8) a cycle; arrays
    (pieces,).
    """

    tile: Ints
    start: Ints
    items: Ints
    address: Ints
    size: Ints

    def __len__(self) -> int:
        return len(self.tile)

    @property
    def stop(self) -> Ints:
        """Cycle after the last item."""
        return self.start + self.items

    @property
    def end(self) -> Ints:
        """Address after the last item."""
        return self.address + self.size * self.items

    def address_at(self, which: Any, cycle: Any) -> Any:
        """Address of the item that pieces `which` move at `cycle`."""
        return self.address[which] + self.size[which] * (cycle - self.start[which])

    def cycle_of(self, which: Any, address: Any) -> Any:
        """Cycle at which pieces `which` move the item at `address`."""
        return self.start[which] + (address - self.address[which]) // self.size[which]


class PhaseErrors:
    """Makes the refusals of one phase."""

    def __init__(self, phase: str) -> None:
        self.phase = phase or None

    def refuse(
        self, rule: str, message: str, *, tile: Any, cycle: Any = None, address: Any = None
    ) -> IllegalProgram:
        """What to raise."""
        return IllegalProgram(
            message,
            rule=rule,
            tile=int(tile),
            phase=self.phase,
            cycle=None if cycle is None else int(cycle),
            address=None if address is None else int(address),
        )


def first(bad: npt.NDArray[np.bool_]) -> int | None:
    """Index of the first entry that is true; None if none is."""
    return int(np.argmax(bad)) if bad.any() else None


def members(begin: Ints, count: Ints) -> tuple[Ints, Ints]:
    """For ranges [begin, begin + count): owner of each member, and the member."""
    owner = np.repeat(np.arange(len(begin)), count)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(count) - count - begin, count)
