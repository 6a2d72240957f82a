# SPDX-License-Identifier: Apache-2.0
"""Changes of bindings and taps."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mutants.bases import Base, Mutant
from mutants.choosing import flip, kind, walk, with_program
from mutants.tables import anywhere
from tilewright.backends.program import (
    Tap,
)
from tilewright.machine.dtypes import DTYPES


def _bound(one: Base, r: random.Random, **changes: Callable[[Any], Any]) -> Mutant | None:
    at = r.randrange(len(one.program.bindings))
    before = one.program.bindings[at]
    after = replace(before, **{name: change(before) for name, change in changes.items()})
    bindings = (*one.program.bindings[:at], after, *one.program.bindings[at + 1 :])
    tapped = [i.binding for _, i in walk(one.program.body) if isinstance(i, Tap)]
    if after == before:
        return None

    def why() -> str | None:
        if before.kind == "value" and before.name not in tapped:
            return "a binding that no tap names"
        if replace(after, scale=before.scale) == before and before.dtype in ("i8", "i32", "u32", "i1"):
            return "the scale of integers, which are read as they are"
        if replace(after, stride=before.stride) == before and before.count < 2:
            return "the stride of a single member"
        if replace(after, name=before.name) == before and before.name not in tapped:
            return "the name of a binding that no tap names"
        if replace(after, tensors=before.tensors) == before:
            return "further names of an input or a value, of which the first counts"
        if (
            places(after, one) == places(before, one)
            and replace(after, layout=before.layout, view=before.view) == before
        ):
            return "a text that puts every element where it was"
        return None

    fields = ", ".join(f"{name} {getattr(after, name)!r}" for name in changes)
    return Mutant(f"binding '{before.name}' has {fields}", with_program(one, bindings=bindings), why)


def places(binding: Any, one: Base) -> tuple[Any, ...]:
    from tilewright.backends.host import packing
    from tilewright.machine.dtypes import itemsize
    from tilewright.planning.layout import Layout
    from tilewright.planning.layout.view import View

    plan = packing(
        Layout.parse(binding.layout), View.parse(binding.view), itemsize(binding.dtype), one.machine.tiles
    )
    return plan.positions.tobytes(), plan.rows[plan.held].tobytes(), plan.shard


@kind
def address_of_a_binding(one: Base, r: random.Random) -> Mutant | None:
    return _bound(one, r, address=lambda b: anywhere(one, r, b.address))


@kind
def numbers_of_a_binding(one: Base, r: random.Random) -> Mutant | None:
    name = r.choice(["count", "stride", "scale"])
    return _bound(
        one,
        r,
        **{
            name: lambda b: r.choice(
                [0, 1, 2, -1, getattr(b, name) + 1, 64, 2**40, flip(r, getattr(b, name), 40)]
            )
        },
    )


def garble(text: str, r: random.Random, letters: str) -> str:
    if not text:
        return r.choice(letters)
    at = r.randrange(len(text))
    match r.randrange(3):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + r.choice(letters) + text[at:]
        case _:
            return text[:at] + r.choice(letters) + text[at + 1 :]


@kind
def layout_of_a_binding(one: Base, r: random.Random) -> Mutant | None:
    name = r.choice(["layout", "view"])
    return _bound(one, r, **{name: lambda b: garble(getattr(b, name), r, "0123456789ab/@|.+%*, ")})


@kind
def shape_of_a_binding(one: Base, r: random.Random) -> Mutant | None:
    def shape(binding: Any) -> tuple[int, ...]:
        numbers = list(binding.shape) or [1]
        at = r.randrange(len(numbers))
        numbers[at] = r.choice([0, 1, -1, numbers[at] + 1, 2**40, numbers[at] * 2])
        return tuple(r.choice([numbers, numbers[::-1], [*numbers, 1]]))

    return _bound(one, r, shape=shape)


@kind
def names_of_a_binding(one: Base, r: random.Random) -> Mutant | None:
    name = r.choice(["dtype", "kind", "tensors", "name"])
    return _bound(
        one,
        r,
        **{
            name: lambda b: {
                "dtype": r.choice([*DTYPES, "f64", ""]),
                "kind": r.choice(["parameter", "input", "output", "constant", "value", "other"]),
                "tensors": r.choice([(), ("nobody",), (*b.tensors, "more"), b.tensors[:-1], b.tensors[::-1]]),
                "name": r.choice([b.name + "x", one.program.bindings[0].name, ""]),
            }[name]
        },
    )


@kind
def tap(one: Base, r: random.Random) -> Mutant | None:
    image = one.image
    taps = list(image.taps)
    at = r.randrange(len(taps))
    match r.randrange(5):
        case 0:
            del taps[at]
        case 1:
            taps[at] = replace(taps[at], value=r.choice([taps[at - 1].value, "nothing"]))
        case 2:
            taps[at] = replace(taps[at], binding=r.choice([taps[at - 1].binding, "nothing"]))
        case 3:
            taps[at], taps[at - 1] = taps[at - 1], taps[at]
        case _:
            taps.append(Tap("x", "nothing"))

    if tuple(taps) == image.taps:
        return None
    return Mutant(f"tap {at} changed", lambda: replace(image, taps=tuple(taps)))


HEX = re.compile(r"#[0-9a-f_]{9,}")
