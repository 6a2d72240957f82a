# SPDX-License-Identifier: Apache-2.0
"""
Where every byte of every tile goes, read from the final allocation.

Each byte of a tile has one category at each instruction, so that the categories sum to the tile's SRAM there.
Over a whole program a byte counts for what holds it at any time; where buffers use it one after another, the
later of `_PAINT` names it. Tiles that hold the same buffers are counted once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tilewright.backends.program import Placed, Program, Repeat
from tilewright.machine import Machine
from tilewright.machine.description import CATEGORIES
from tilewright.planning.layout import Layout

Ints = npt.NDArray[np.int64]

_PAINT = ("staging", "partials", "activations", "code", "patch tables", "rows", "parameters")
"""Order of painting: where buffers share bytes at different times, the later of these names the byte."""


def memory_by_category(program: Program, machine: Machine) -> dict[str, Ints]:
    """
    Bytes of each category on every tile, int64 (tiles,); they sum to the tile's SRAM.

    Every byte counts once, also where buffers use it one after another. Bytes between allocations are "free";
    bytes that an exchange row of the longest tile reserves on all others are "padding".
    """
    return _with_row_padding(_counts(program, machine, program.placed), row_bytes(program, machine))


def memory_at(program: Program, machine: Machine, instruction: int) -> dict[str, Ints]:
    """
    As `memory_by_category`, of what is live at one instruction (-1: after loading); reserved rows count as
    rows or padding.
    """
    live = [p for p in program.placed if always(p) or p.first <= instruction <= p.last]
    return _with_row_padding(_counts(program, machine, live), row_bytes(program, machine))


def always(placed: Placed) -> bool:
    """Whether a range is held by something that is no buffer: code and tables are there all the time."""
    return placed.category in ("code", "rows", "patch tables")


def row_bytes(program: Program, machine: Machine) -> Ints:
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


@dataclass(frozen=True)
class Peak:
    """
    Most bytes in use at one instruction: `when` is load, steady or iteration (with the repeat's name), `tile`
    the fullest tile.
    """

    when: str
    repeat: str
    instruction: int
    tile: int
    nbytes: int


def peaks(program: Program, machine: Machine) -> list[Peak]:
    """
    The fullest moments, everything that holds bytes counted: after loading; outside of repeats; in one
    iteration of each repeat.

    Reservations of the machine count, free and unusable bytes do not.
    """
    base = sum(r.bytes for r in machine.reservations if r.category != "unusable")
    base += sum(p.nbytes for p in program.placed if always(p))
    buffers = [p for p in program.placed if not always(p)]
    classes, held = _classes(buffers, machine)  # held (buffers, classes)
    sizes = np.array([p.nbytes for p in buffers], np.int64)[:, None] * held
    groups: dict[tuple[str, str], list[int]] = {("load", ""): [-1]}
    for number, (instruction, around) in enumerate(program.instructions()):
        if not isinstance(instruction, Repeat):
            key = ("iteration", around[0].name) if around else ("steady", "")
            groups.setdefault(key, []).append(number)
    found: list[Peak] = []
    for (when, name), numbers in groups.items():
        best = Peak(when, name, numbers[0], 0, base)
        for number in numbers:
            live = np.array([p.first <= number <= p.last for p in buffers], np.bool_)
            totals = sizes[live].sum(axis=0) if len(buffers) else np.zeros(1, np.int64)
            at = int(np.argmax(totals))
            if base + int(totals[at]) > best.nbytes:
                best = Peak(when, name, number, int(classes[at]), base + int(totals[at]))
        found.append(best)
    return found


def parameter_copies(program: Program) -> dict[str, int]:
    """How many bindings hold each parameter: more than one is memory that was paid twice."""
    copies: dict[str, int] = {}
    for binding in program.bindings:
        if binding.kind == "parameter":
            for name in binding.tensors:
                copies[name] = copies.get(name, 0) + 1
    return copies


# ------------------------------------------------------------------------------------------------ inside


@lru_cache(maxsize=512)
def _owners(layout: str, tiles: int) -> npt.NDArray[np.bool_]:
    return Layout.parse(layout).owners(tiles)


def _classes(placed: list[Placed], machine: Machine) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """
    The first tile of each class of tiles that hold the same ranges, and which class holds which, (ranges,
    classes).
    """
    held = np.ones((len(placed) + 1, machine.tiles), np.bool_)
    for i, p in enumerate(placed):
        if p.layout:
            held[i] = _owners(p.layout, machine.tiles)
    _, first = np.unique(np.packbits(held, axis=0), axis=1, return_index=True)
    return first.astype(np.int64), held[: len(placed), first]


def _counts(program: Program, machine: Machine, placed: tuple[Placed, ...] | list[Placed]) -> dict[str, Ints]:
    ordered = [p for category in _PAINT for p in placed if p.category == category and p.nbytes]
    result = {name: np.zeros(machine.tiles, np.int64) for name in CATEGORIES}
    for tiles, members in _groups(ordered, machine):
        paint = np.full(machine.sram_bytes, CATEGORIES.index("free"), np.uint8)
        for p in members:
            at = p.address - machine.sram_base
            paint[at : at + p.nbytes] = CATEGORIES.index(p.category)
        for reservation in machine.reservations:
            start, end = reservation.start - machine.sram_base, reservation.end - machine.sram_base
            paint[start:end] = CATEGORIES.index(reservation.category)
        counts = np.bincount(paint, minlength=len(CATEGORIES))
        for i, name in enumerate(CATEGORIES):
            result[name][tiles] = counts[i]
    return result


def _groups(placed: list[Placed], machine: Machine) -> Iterator[tuple[Ints, list[Placed]]]:
    """Tiles that hold the same ranges, with those ranges in the given order."""
    held = np.ones((len(placed) + 1, machine.tiles), np.bool_)
    for i, p in enumerate(placed):
        if p.layout:
            held[i] = _owners(p.layout, machine.tiles)
    _, first, inverse = np.unique(np.packbits(held, axis=0), axis=1, return_index=True, return_inverse=True)
    for number, tile in enumerate(first.tolist()):
        tiles = np.flatnonzero(inverse.reshape(-1) == number)
        yield tiles, [p for i, p in enumerate(placed) if held[i, tile]]


def _with_row_padding(result: dict[str, Ints], used: Ints) -> dict[str, Ints]:
    result["padding"] = result["padding"] + result["rows"] - used
    result["rows"] = used
    return result
