# SPDX-License-Identifier: Apache-2.0
"""What kinds of changes choose from, and why bytes may mean nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mutants.bases import Base, Mutant
from tilewright.backends.image import Image, Segment, to_image
from tilewright.backends.program import (
    Call,
    Instruction,
    Operand,
    Repeat,
)
from tilewright.backends.rows import decode
from tilewright.machine.kernels import kernel
from tilewright.sim import fabric
from tilewright.sim.access import offsets
from tilewright.sim.calls import operand_extents


def tables_of(one: Base, category: str) -> list[Segment]:
    return [s for s in one.image.segments if s.category == category and s.words.size]


def with_segment(one: Base, name: str, **changes: Any) -> Callable[[], Image]:
    def make() -> Image:
        image = one.image
        segments = tuple(replace(s, **changes) if s.name == name else s for s in image.segments)
        return replace(image, segments=segments)

    return make


def walk(body: tuple[Instruction, ...], path: tuple[int, ...] = ()) -> list[tuple[tuple[int, ...], Any]]:
    found: list[tuple[tuple[int, ...], Any]] = []
    for i, instruction in enumerate(body):
        found.append(((*path, i), instruction))
        if isinstance(instruction, Repeat):
            found += walk(instruction.body, (*path, i))
    return found


def _edited(
    body: tuple[Instruction, ...], path: tuple[int, ...], edit: Callable[[Any], tuple[Instruction, ...]]
) -> tuple[Instruction, ...]:
    i = path[0]
    if len(path) == 1:
        return (*body[:i], *edit(body[i]), *body[i + 1 :])
    inner = body[i]
    assert isinstance(inner, Repeat)
    changed = replace(inner, body=_edited(inner.body, path[1:], edit))
    return (*body[:i], changed, *body[i + 1 :])


def pick(one: Base, r: random.Random, kind: Any, where: Callable[[Any], bool] = lambda _: True) -> Any:
    found = [(path, i) for path, i in walk(one.program.body) if isinstance(i, kind) and where(i)]
    return r.choice(found) if found else None


def with_program(one: Base, **changes: Any) -> Callable[[], Image]:
    return lambda: to_image(replace(one.program, **changes))


def with_instruction(
    one: Base,
    path: tuple[int, ...],
    edit: Callable[[Any], tuple[Instruction, ...]],
) -> Callable[[], Image]:
    return with_program(one, body=_edited(one.program.body, path, edit))


def flip(r: random.Random, value: int, bits: int = 32) -> int:
    return value ^ 1 << r.randrange(bits)


def same_delivery(one: Base, segment: Segment, words: np.ndarray) -> str | None:
    """Whether rows deliver the same words at the same cycles, however they are written."""
    full = [
        np.ascontiguousarray(np.broadcast_to(w, (one.machine.tiles, w.shape[1])))
        for w in (segment.words, words)
    ]
    if full[0].shape == full[1].shape:
        length = decode(full[0]).length
        tile, word = np.nonzero(full[0] != full[1])
        if (word >= length[tile]).all():
            return "words behind the return of a row"
    first, second = (fabric.deliver(w, one.machine, address=segment.address) for w in full)
    for before, after in zip(received(first), received(second), strict=True):
        if not np.array_equal(before, after):
            return None
    if first.cycles != second.cycles:
        return None
    return "the rows deliver the same words at the same cycles"


def received(delivery: fabric.Delivery) -> tuple[np.ndarray, ...]:
    """Every received word: tile, address, source tile, source address, cycle, in order."""
    n = delivery.nwords
    owner = np.repeat(np.arange(len(n)), n)
    k = np.arange(len(owner)) - np.repeat(np.cumsum(n) - n, n)
    table = np.stack(
        (
            delivery.dst_tile[owner],
            delivery.dst_address[owner] + 4 * k,
            delivery.src_tile[owner],
            delivery.src_address[owner] + 4 * k,
            delivery.landed[owner] + k // delivery.rate[owner],
        )
    )
    return tuple(table[:, np.lexsort(table[::-1])])


def _shapes(one: Base, call: Call, number: int) -> set[tuple[int, ...]]:
    """Extents that operand `number` has on tiles that take part in a call."""
    words = one.program.table(call.extents).words
    active = {tuple(row) for row in words.tolist() if all(row)}
    return {operand_extents(kernel(call.kernel), row, dict(call.scalars))[number] for row in active}


def same_places(one: Base, call: Call, number: int, before: Operand, after: Operand) -> str | None:
    """
    Whether an operand's digits address the same bytes for every extent that its axes have, as the same
    numbers: none of those of the programs here is negative.
    """
    if {before.dtype, after.dtype} == {"i32", "u32"} and replace(before, dtype=after.dtype) == after:
        return "numbers that are not negative, with a sign or without"
    if replace(before, axes=()) != replace(after, axes=()) or len(before.axes) != len(after.axes):
        return None
    for shape in _shapes(one, call, number):
        for old, new, extent in zip(before.axes, after.axes, shape, strict=True):
            if not np.array_equal(offsets(old, extent), offsets(new, extent)):
                return None
    return "digits that address the same bytes"


Kind = Callable[[Base, random.Random], Mutant | None]
KINDS: dict[str, Kind] = {}


def kind(function: Kind) -> Kind:
    KINDS[function.__name__.strip("_")] = function
    return function
