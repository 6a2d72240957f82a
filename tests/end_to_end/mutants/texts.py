# SPDX-License-Identifier: Apache-2.0
"""Changes of listings and modules."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import numpy as np
from xdsl.printer import Printer

from mutants.bases import Base, Mutant, base
from mutants.bindings import HEX, garble, places
from mutants.choosing import kind, same_delivery, same_places, walk
from mutants.supervisor import scalar_reason
from tilewright.backends.image import Image, to_image
from tilewright.backends.program import (
    Call,
    Exchange,
    Instruction,
    Program,
    Tap,
)
from tilewright.backends.tasm import format_tasm, parse_tasm
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_asm import module_to_program, program_to_module


@kind
def hexadecimal_of_the_listing(one: Base, r: random.Random) -> Mutant:
    text = format_tasm(one.program)
    spans = [m.span() for m in HEX.finditer(text)]
    first, last = r.choice(spans)
    changed = text[:first] + "#" + garble(text[first + 1 : last], r, "0123456789abcdefg_") + text[last:]

    def why() -> str | None:
        return _listing_reason(one, changed)

    line = text.count("\n", 0, first) + 1
    return Mutant(f"line {line} of the listing", lambda: to_image(parse_tasm(changed)), why)


def _listing_reason(one: Base, text: str) -> str | None:
    again = parse_tasm(text)
    if again == one.program:
        return "the listing says the same"
    if replace(again, placed=one.program.placed) == one.program:
        return "what is placed where, for reports"
    for old, new in zip(one.program.tables, again.tables, strict=True):
        if old == new or old.name != new.name:
            continue
        if old.category == "rows":
            segment = next(s for s in one.image.segments if s.name == old.name)
            return same_delivery(one, segment, new.words)
        if old.category == "arguments":
            tile, column = (int(x[0]) for x in np.nonzero(old.words != new.words))
            if (np.delete(new.words[tile], column) == 0).any():
                return "an extent of a tile that takes no part, since another extent is 0"
    names = (again.name, _named(again.body)) != (one.program.name, _named(one.program.body))
    return "names for reports" if names else _text_reason(one, again)


def _named(body: tuple[Instruction, ...]) -> list[tuple[str, ...]]:
    return [
        (i.provenance, getattr(i, "name", ""))
        if isinstance(i, Call | Exchange)
        else (getattr(i, "name", ""),)
        for _, i in walk(body)
        if not isinstance(i, Tap)
    ]


def _text_reason(one: Base, again: Program) -> str | None:
    """Of a listing that says something else with the same effect: what it says else."""
    if len(again.code) == len(one.program.code) and again.code != one.program.code:
        return "the place of code, which its calls name"
    if again.supervisor_address != one.program.supervisor_address:
        return "the place of the supervisor program, which the manifest names"
    if [t.address for t in again.tables] != [t.address for t in one.program.tables]:
        return "the place of a table, which whoever reads it names"
    taps = [sum(isinstance(i, Tap) for _, i in walk(p.body)) for p in (one.program, again)]
    if taps[1] < taps[0]:
        return "a tap, which costs nothing: one value fewer is compared"
    old, new = ([i for _, i in walk(p.body) if isinstance(i, Call)] for p in (one.program, again))
    for a, b in zip(old, new, strict=False):
        if a.scalars != b.scalars:
            return scalar_reason(next(x for x, y in zip(a.scalars, b.scalars, strict=False) if x != y)[0], a)
        for number, (x, y) in enumerate(zip((*a.ins, *a.outs), (*b.ins, *b.outs), strict=False)):
            if x != y:
                return same_places(one, a, number, x, y)
    for a, b in zip(one.program.bindings, again.bindings, strict=False):
        if a != b and a.kind == "value":
            return "a binding of a value"
        if a != b and places(a, one) == places(b, one):
            return "a text that puts every element where it was"
    return None


@kind
def character_of_the_listing(one: Base, r: random.Random) -> Mutant:
    lines = format_tasm(one.program).split("\n")
    short = [i for i, line in enumerate(lines) if line and "#" not in line]
    at = r.choice(short)
    lines[at] = garble(lines[at], r, '0123456789abx"[]:,. -@=')
    text = "\n".join(lines)
    return Mutant(
        f"line {at + 1} of the listing is {lines[at]!r}",
        lambda: to_image(parse_tasm(text)),
        lambda: _listing_reason(one, text),
    )


@kind
def line_of_the_listing(one: Base, r: random.Random) -> Mutant:
    lines = format_tasm(one.program).split("\n")
    at = r.randrange(len(lines))
    what = lines.pop(at)
    if r.random() < 0.5:
        lines.insert(at, what)
        lines.insert(at, what)
    text = "\n".join(lines)
    return Mutant(
        f"line {at + 1} of the listing, {what[:60]!r}, is there {lines.count(what)} times",
        lambda: to_image(parse_tasm(text)),
        lambda: _listing_reason(one, text),
    )


@cache
def _module_text(name: str) -> str:
    from io import StringIO

    stream = StringIO()
    from tilewright.backends import sidecar

    before = sidecar.INLINE_LIMIT
    sidecar.INLINE_LIMIT = 1 << 30
    try:
        Printer(stream).print_op(program_to_module(base(name).program))
    finally:
        sidecar.INLINE_LIMIT = before
    return stream.getvalue()


@kind
def character_of_the_module(one: Base, r: random.Random) -> Mutant:
    lines = _module_text(one.name).split("\n")
    at = r.randrange(1, len(lines) - 1)
    lines[at] = garble(lines[at], r, '0123456789abcdefx"[]<>{}:,. -@=%')
    text = "\n".join(lines)

    def make() -> Image:
        return to_image(module_to_program(parse_module(text, ctx=context())))

    def why() -> str | None:
        return _listing_reason(one, format_tasm(module_to_program(parse_module(text, ctx=context()))))

    return Mutant(f"line {at + 1} of the module", make, why)
