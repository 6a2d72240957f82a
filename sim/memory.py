# SPDX-License-Identifier: Apache-2.0
"""
The SRAM of all tiles, with what has been written.

`data` holds the bytes, `valid` one byte for each 32-bit word: bits 0 to 3 say which bytes of the word hold
defined contents, bits 4 to 7 which bytes a sub-word store has destroyed (the machine stores whole words only,
so a kernel that ends inside a word takes the rest of the word with it). A word of which every byte is defined
is 0x0f, one never written is 0.

Both arrays are mapped lazily (pages of zeros), so a machine of 1472 tiles costs only what a program touches,
unless poison fills it.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tilewright.machine import Machine

FULL = 0x0F
"""Value of `valid` for a word whose four bytes are all defined."""


def poison_word(value: float) -> int:
    """
    The 32-bit pattern of a poison value: an integer is the pattern itself, a float its f32 pattern; NaN is
    all ones, which is a NaN in f32, f16 and bf16 alike.
    """
    if isinstance(value, int):
        return value & 0xFFFFFFFF
    if value != value:
        return 0xFFFFFFFF
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


class Memory:
    """
    Bytes of every tile from `base` on: `data` (tiles, nbytes) uint8, `words` the same as (tiles, nbytes // 4)
    uint32, `valid` (tiles, nbytes // 4) uint8.
    """

    def __init__(self, tiles: int, base: int, nbytes: int, poison: float | None = None) -> None:
        self.tiles = tiles
        self.base = base
        self.nbytes = nbytes
        self.words = np.zeros((tiles, nbytes // 4), np.uint32)
        if poison is not None:
            self.words[...] = poison_word(poison)
        self.data = self.words.view(np.uint8)
        self.valid = np.zeros((tiles, nbytes // 4), np.uint8)
        self.persistent = np.zeros((tiles, nbytes // 4), np.bool_)

    @classmethod
    def of(cls, machine: Machine, poison: float | None = None) -> Memory:
        """The memory of a machine."""
        return cls(machine.tiles, machine.sram_base, machine.sram_bytes, poison)

    @property
    def end(self) -> int:
        """First address after the SRAM."""
        return self.base + self.nbytes

    def inside(self, address: int, nbytes: int) -> bool:
        """Whether the range lies in the SRAM."""
        return self.base <= address and address + nbytes <= self.end

    def store(
        self, tiles: slice | npt.NDArray[np.int64], address: int, contents: npt.NDArray[np.uint8]
    ) -> None:
        """
        Write whole words from outside (loader, host): contents (tiles, nbytes), address and size multiples of
        4.
        """
        start = address - self.base
        size = contents.shape[-1]
        if start % 4 or size % 4:
            raise ValueError(f"store of {size} bytes at {address:#x} is not whole words")
        self.data[tiles, start : start + size] = contents
        self.valid[tiles, start // 4 : (start + size) // 4] = FULL

    def invalid(
        self, tiles: slice | npt.NDArray[np.int64], address: int, nbytes: int
    ) -> tuple[int, int, bool] | None:
        """
        The first byte of the range (over tiles, then addresses) that is not defined: (position in `tiles`,
        address, destroyed by a sub-word store), or None. The range may start and end inside a word.
        """
        first, last = (address - self.base) // 4, (address + nbytes - 1 - self.base) // 4
        window = self.valid[tiles, first : last + 1]
        need = np.full(last + 1 - first, FULL, np.uint8)
        need[0] &= (FULL << ((address - self.base) % 4)) & FULL
        need[-1] &= FULL >> (3 - (address + nbytes - 1 - self.base) % 4)
        missing = need & ~window
        if not missing.any():
            return None
        row, word = (int(index[0]) for index in np.nonzero(missing))
        bits = int(missing[row, word])
        byte = (bits & -bits).bit_length() - 1
        return row, self.base + (first + word) * 4 + byte, bool(int(window[row, word]) >> (4 + byte) & 1)
