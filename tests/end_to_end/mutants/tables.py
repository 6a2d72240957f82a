# SPDX-License-Identifier: Apache-2.0
"""Changes of tables: extents, places, lengths, code."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mutants.bases import Base, Mutant, same_memory
from mutants.choosing import flip, kind, pick, walk, with_program, with_segment
from mutants.rows import changed_rows
from tilewright.backends.program import (
    Call,
    Code,
    Repeat,
    Table,
)
from tilewright.machine.kernels import kernel, kernel_names

SAME_MEMORY = "what is not written was there already: memory ends the same but for the table"
"""A reason: checked on all of memory, on every tile."""


def _extents(one: Base, r: random.Random, change: Callable[[int], int]) -> Mutant | None:
    found = pick(one, r, Call, lambda c: one.program.table(c.extents).words.size > 0)
    if found is None:
        return None
    table = one.program.table(found[1].extents)
    words = table.words.copy()
    tile, column = r.randrange(words.shape[0]), r.randrange(words.shape[1])
    before = int(words[tile, column])
    words[tile, column] = change(before) & 0xFFFFFFFF
    if int(words[tile, column]) == before:
        words[tile, column] ^= 1
    tables = tuple(replace_words(t, words) if t.name == table.name else t for t in one.program.tables)

    def why() -> str | None:
        others = np.delete(words[tile], column)
        if (others == 0).any() or (
            before and not words[tile].all() and (np.delete(table.words[tile], column) == 0).any()
        ):
            return "an extent of a tile that takes no part, since another extent is 0"
        if words[tile, column] > before and words[tile].all() and table.words[tile].all():
            return "more than the part of a tile, where nobody reads, on a tile that is not the slowest"
        if _padded(one, found[1], column, before) == _padded(one, found[1], column, int(words[tile, column])):
            return "an extent that is rounded up to the same number"
        mutated = with_program(one, tables=tables)()
        if same_memory(one, mutated, table.address, words[tile].nbytes):
            return SAME_MEMORY
        return None

    what = f"extent {column} of tile {tile} of {found[1].kernel} is {words[tile, column]} for {before}"
    return Mutant(what, with_program(one, tables=tables), why)


def _padded(one: Base, call: Call, column: int, extent: int) -> int:
    granule = kernel(call.kernel).granule
    return -(-extent // granule[column]) * granule[column] if granule else extent


def replace_words(table: Table, words: np.ndarray) -> Table:
    return Table(table.name, table.address, words, table.category)


@kind
def bit_of_an_extent(one: Base, r: random.Random) -> Mutant | None:
    return _extents(one, r, lambda value: flip(r, value))


@kind
def extent(one: Base, r: random.Random) -> Mutant | None:
    return _extents(
        one, r, lambda value: r.choice([0, 1, value + 1, value - 1, -1, 2 * value, 10**6, 2**31 - 1])
    )


@kind
def positions_of_patches(one: Base, r: random.Random) -> Mutant | None:
    found = pick(one, r, Repeat, lambda i: i.patches)
    if found is None:
        return None
    patch = r.choice(found[1].patches)
    table = one.program.table(patch.positions)
    words = table.words.copy()
    tile, column = r.randrange(words.shape[0]), r.randrange(words.shape[1])
    words[tile, column] = r.choice(
        [0, 1, 0xFFFFFFFF, r.randrange(1, 200), 10**6, flip(r, int(words[tile, column])), words[tile, 0]]
    )
    tables = tuple(replace_words(t, words) if t.name == table.name else t for t in one.program.tables)

    if np.array_equal(words, table.words):
        return None
    what = f"position {column} of tile {tile} of '{table.name}' is {words[tile, column]:#x}"
    return Mutant(what, with_program(one, tables=tables))


@kind
def length_of_a_table(one: Base, r: random.Random) -> Mutant:
    table = r.choice([t for t in one.program.tables if t.words.size])
    if r.random() < 0.5:
        words = table.words[:, :-1]
    else:
        words = np.concatenate([table.words, table.words[:, :1]], axis=1)
    tables = tuple(replace_words(t, words) if t.name == table.name else t for t in one.program.tables)

    def why() -> str | None:
        return (
            "words behind the return of every row"
            if table.category == "rows"
            else ("the words behind a table, which nobody reads")
        )

    return Mutant(f"table '{table.name}' has {words.shape[1]} words", with_program(one, tables=tables), why)


@kind
def tiles_of_a_table(one: Base, r: random.Random) -> Mutant | None:
    segment = r.choice([s for s in one.image.segments if s.words.size])
    full = np.repeat(segment.words, one.machine.tiles, axis=0) if len(segment.words) == 1 else segment.words
    words = r.choice([full[:-1], np.concatenate([full, full[:1]]), np.roll(full, 1, axis=0), full[::-1]])

    make = with_segment(one, segment.name, words=words)

    def why() -> str | None:
        if (full == full[0]).all():
            return "all tiles hold the same words"
        part = full.all(axis=1)  # others write where nobody reads
        return SAME_MEMORY if same_memory(one, make(), segment.address, full[0].nbytes, part) else None

    if segment.category == "rows" and words.shape == full.shape:
        return changed_rows(one, segment, words, "given to other tiles")
    return Mutant(
        f"'{segment.name}' is for {len(words)} tiles, in another order",
        make,
        why,
    )


def anywhere(one: Base, r: random.Random, address: int) -> int:
    """Another address: near, in a reservation, half a word away, at the edges, or anywhere."""
    m = one.machine
    taken = r.choice(m.reservations)
    return r.choice(
        [
            address + 2,
            address + 4,
            address - 8,
            taken.start,
            taken.end - 4,
            m.sram_end - 8,
            m.sram_base - 4,
            m.regions[0].end - 16,
            r.randrange(m.sram_base, m.sram_end, 4),
            flip(r, address),
        ]
    )


@kind
def place_of_a_table(one: Base, r: random.Random) -> Mutant:
    """Everything that names the table follows: legal wherever there is room."""
    table = r.choice([t for t in one.program.tables if t.words.size])
    to = anywhere(one, r, table.address)
    tables = tuple(replace(t, address=to) if t.name == table.name else t for t in one.program.tables)
    return Mutant(
        f"table '{table.name}' at {to:#x}",
        with_program(one, tables=tables),
        lambda: "the place of a table, which whoever reads it names",
    )


@kind
def place_of_a_segment(one: Base, r: random.Random) -> Mutant:
    """Whoever reads it looks where it was."""
    segment = r.choice([s for s in one.image.segments if s.words.size])
    to = anywhere(one, r, segment.address)
    return Mutant(f"'{segment.name}' loaded at {to:#x}", with_segment(one, segment.name, address=to))


@kind
def place_of_the_supervisor(one: Base, r: random.Random) -> Mutant:
    to = anywhere(one, r, one.program.supervisor_address)
    return Mutant(
        f"supervisor at {to:#x}",
        with_program(one, supervisor_address=to),
        lambda: "the place of the supervisor program, which the manifest names",
    )


@kind
def place_of_code(one: Base, r: random.Random) -> Mutant:
    at = r.randrange(len(one.program.code))
    code = one.program.code[at]
    stacks = next(x for x in one.machine.reservations if x.category == "stacks")
    end = one.machine.regions[0].end
    to = r.choice([anywhere(one, r, code.address), stacks.start, end - code.nbytes, end - code.nbytes - 32])
    codes = (*one.program.code[:at], replace(code, address=to), *one.program.code[at + 1 :])
    return Mutant(
        f"code of {code.kernel} at {to:#x}",
        with_program(one, code=codes),
        lambda: "the place of code, which its calls name",
    )


@kind
def list_of_code(one: Base, r: random.Random) -> Mutant | None:
    codes = list(one.image.code)
    at = r.randrange(len(codes))
    code = codes[at]
    match r.randrange(5):
        case 0:
            del codes[at]
        case 1:
            codes.append(code)
        case 2:
            codes[at] = replace(code, nbytes=r.choice([0, -8, 4, code.nbytes - 4, code.nbytes + 64, 2**40]))
        case 3:
            codes[at] = replace(code, kernel=r.choice([*kernel_names(), "no.such.kernel"]))
        case _:
            codes.append(Code("fill", code.address + 4, 128))
    used = {i.kernel for _, i in walk(one.program.body) if isinstance(i, Call)}

    if tuple(codes) == one.image.code:
        return None

    def why() -> str | None:
        return "code that no call names" if code.kernel not in used else None

    return Mutant(f"code of {code.kernel}: list changed", lambda: replace(one.image, code=tuple(codes)), why)
