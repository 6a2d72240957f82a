# SPDX-License-Identifier: Apache-2.0
"""Where every byte of a tile goes, read from the final allocation."""

from __future__ import annotations

import numpy as np

from tilewright.backends.program import Program
from tilewright.machine import Machine
from tilewright.machine.description import CATEGORIES

_PAINT = ("staging", "partials", "activations", "code", "patch tables", "rows", "parameters")
"""Order of painting: where buffers share bytes at different times, the later of these names the byte."""


def memory_by_category(program: Program, machine: Machine) -> dict[str, np.ndarray]:
    """
    Bytes of each category on every tile, int64 (tiles,); they sum to the tile's SRAM.

    Every byte counts once, also where buffers use it one after another. Bytes between allocations are "free";
    bytes that an exchange row of the longest tile reserves on all others are "padding".
    """
    paint = np.full(machine.sram_bytes, CATEGORIES.index("free"), np.uint8)
    for category in _PAINT:
        for item in program.placed:
            if item.category == category and item.nbytes:
                at = item.address - machine.sram_base
                paint[at : at + item.nbytes] = CATEGORIES.index(category)
    for reservation in machine.reservations:
        paint[reservation.start - machine.sram_base : reservation.end - machine.sram_base] = CATEGORIES.index(
            reservation.category
        )
    counts = np.bincount(paint, minlength=len(CATEGORIES))
    result = {name: np.full(machine.tiles, counts[i], np.int64) for i, name in enumerate(CATEGORIES)}
    used = row_bytes(program, machine)
    result["padding"] += result["rows"] - used
    result["rows"] = used
    return result


def row_bytes(program: Program, machine: Machine) -> np.ndarray:
    """
    Bytes of encoded exchange rows on every tile, int64 (tiles,), the reserved tail of shorter rows left out.
    """
    total = np.zeros(machine.tiles, np.int64)
    for table in program.tables:
        if table.category == "rows":
            written = table.words != 0
            lengths = np.where(
                written.any(axis=1), table.words.shape[1] - np.argmax(written[:, ::-1], axis=1), 0
            )
            total += 4 * lengths
    return total
