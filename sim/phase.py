# SPDX-License-Identifier: Apache-2.0
"""Where execution is, for records and refusals, and tables as every step reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.sim.illegal import IllegalProgram
from tilewright.sim.memory import FULL, Memory


@dataclass(eq=False)
class Phase:
    """Where execution is, for records and refusals."""

    name: str
    provenance: str
    word: int
    iteration: tuple[int, ...]

    def __str__(self) -> str:
        text = self.name
        if self.iteration:
            text += "[" + ",".join(map(str, self.iteration)) + "]"
        if self.provenance and self.provenance != self.name:
            text += f" ({self.provenance})"
        return text


def read_table(memory: Memory, address: int, width: int, phase: Phase) -> npt.NDArray[np.uint32]:
    """Words of a table on all tiles, (tiles, width), checked to be written."""
    if address % 4:
        raise IllegalProgram(
            f"a table of {width} words is not at a word",
            rule="misaligned access",
            phase=str(phase),
            address=address,
        )
    if not memory.inside(address, width * 4):
        raise IllegalProgram(
            f"a table of {width} words does not fit here",
            rule="address out of range",
            phase=str(phase),
            address=address,
        )
    first = (address - memory.base) // 4
    if width and not (memory.valid[:, first : first + width] & FULL == FULL).all():
        row, at, _ = memory.invalid(slice(None), address, width * 4) or (0, address, False)
        raise IllegalProgram(
            "a table is not there",
            rule="read of unwritten memory",
            tile=row,
            phase=str(phase),
            address=at,
        )
    return memory.words[:, first : first + width]
