# SPDX-License-Identifier: Apache-2.0
"""Rows that a repeat patches between iterations: which words, what is added to them, and what they were."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.backends.program import ADDRESS_BITS, NO_POSITION
from tilewright.sim.illegal import IllegalProgram
from tilewright.sim.memory import Memory
from tilewright.sim.phase import Phase, read_table
from tilewright.sim.supervisor import DecodedPatch

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Patched:
    """A patch, the (tile, word number in SRAM) that it changes, and their contents before the repeat."""

    patch: DecodedPatch
    tile: Ints
    word: Ints
    original: npt.NDArray[np.uint32]


class RowPatches:
    """The patches of one execution of a repeat; raises IllegalProgram for those that are none."""

    def __init__(self, memory: Memory, patches: tuple[DecodedPatch, ...], phase: Phase) -> None:
        self.memory = memory
        self.phase = phase
        self._patched = [self._read(patch) for patch in patches]
        self._refuse_patched_twice()

    def __bool__(self) -> bool:
        return bool(self._patched)

    @property
    def counts(self) -> Ints:
        """Words that each tile patches, int64 (tiles,)."""
        tile = [patched.tile for patched in self._patched]
        return np.bincount(np.concatenate(tile), minlength=self.memory.tiles)

    def apply(self) -> None:
        """What happens between two iterations."""
        for patched in self._patched:
            self._apply(patched)

    def restore(self) -> None:
        """The words as they were before the repeat."""
        for patched in self._patched:
            self.memory.words[patched.tile, patched.word] = patched.original

    def _read(self, patch: DecodedPatch) -> _Patched:
        positions = read_table(self.memory, patch.positions, patch.count, self.phase)
        read_table(self.memory, patch.rows, patch.width, self.phase)
        tile, entry = np.nonzero(positions != NO_POSITION)
        word = positions[tile, entry].astype(np.int64)
        outside = np.flatnonzero(word >= patch.width)
        if outside.size:
            raise IllegalProgram(
                f"a patch names word {int(word[outside[0]])} of a row of {patch.width}",
                rule="address out of range",
                tile=int(tile[outside[0]]),
                phase=str(self.phase),
                address=patch.positions,
            )
        word += (patch.rows - self.memory.base) // 4
        return _Patched(patch, tile, word, self.memory.words[tile, word].copy())

    def _refuse_patched_twice(self) -> None:
        if not self._patched:
            return
        words = self.memory.words.shape[1]
        places = np.sort(np.concatenate([p.tile * words + p.word for p in self._patched]))
        twice = np.flatnonzero(places[1:] == places[:-1])
        if twice.size:
            tile, word = divmod(int(places[twice[0]]), words)
            raise IllegalProgram(
                "a word of a row is patched twice between two iterations",
                rule="bad patch",
                tile=tile,
                phase=str(self.phase),
                address=self.memory.base + 4 * word,
            )

    def _apply(self, patched: _Patched) -> None:
        patch, tile, word = patched.patch, patched.tile, patched.word
        words = self.memory.words[tile, word].astype(np.int64)
        limit = 1 << ADDRESS_BITS
        value = (words >> patch.shift) % limit + patch.delta_words
        outside = np.flatnonzero((value < 0) | (value >= limit))
        if outside.size:
            at = int(outside[0])
            raise IllegalProgram(
                f"a patch moves an address field to {int(value[at])} words",
                rule="address out of range",
                tile=int(tile[at]),
                phase=str(self.phase),
                address=self.memory.base + int(word[at]) * 4,
            )
        mask = (limit - 1) << patch.shift
        self.memory.words[tile, word] = (words & ~mask & 0xFFFFFFFF | value << patch.shift).astype(np.uint32)
