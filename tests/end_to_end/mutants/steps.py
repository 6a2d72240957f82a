# SPDX-License-Identifier: Apache-2.0
"""Changes of the order and number of steps."""

from __future__ import annotations

import random
from dataclasses import replace

from mutants.bases import Base, Mutant
from mutants.choosing import kind, pick, walk, with_instruction, with_program
from tilewright.backends.program import (
    Call,
    Exchange,
    Instruction,
    Repeat,
    Tap,
)


@kind
def step_missing(one: Base, r: random.Random) -> Mutant | None:
    path, instruction = pick(one, r, (Call, Exchange, Repeat))
    return Mutant(f"{_label(instruction)} left out", with_instruction(one, path, lambda _: ()))


def _label(instruction: Instruction) -> str:
    match instruction:
        case Call():
            return f"call of {instruction.kernel}"
        case Exchange():
            return f"exchange {instruction.name}"
        case Repeat():
            return f"repeat {instruction.name}"
        case Tap():
            return f"tap of {instruction.value}"


@kind
def step_twice(one: Base, r: random.Random) -> Mutant | None:
    path, instruction = pick(one, r, (Call, Exchange, Repeat, Tap))
    return Mutant(f"{_label(instruction)} twice", with_instruction(one, path, lambda i: (i, i)))


@kind
def steps_swapped(one: Base, r: random.Random) -> Mutant | None:
    """A step after the one that follows it."""
    bodies = [(), *(p for p, i in walk(one.program.body) if isinstance(i, Repeat))]
    where = r.choice(bodies)

    def swapped(body: tuple[Instruction, ...]) -> tuple[tuple[Instruction, ...], str, bool]:
        at = r.randrange(len(body) - 1)
        a, b = body[at], body[at + 1]
        segment = not isinstance(a, Exchange | Repeat) and not isinstance(b, Exchange | Repeat)
        return (*body[:at], b, a, *body[at + 2 :]), f"{_label(b)} before {_label(a)}", segment

    if where:
        inner = next(i for p, i in walk(one.program.body) if p == where)
        body, what, segment = swapped(inner.body)
        make = with_instruction(one, where, lambda i: (replace(i, body=body),))
    else:
        body, what, segment = swapped(one.program.body)
        make = with_program(one, body=body)
    reason = (
        "two steps of one segment that do not touch each other's operands"
        if segment
        else "two steps that do not touch each other's operands"
    )
    return Mutant(what, make, lambda: reason)


@kind
def count_of_a_repeat(one: Base, r: random.Random) -> Mutant | None:
    found = pick(one, r, Repeat)
    if found is None:
        return None
    path, repeat = found
    count = r.choice([0, 1, repeat.count + 1, repeat.count - 1, 1000, 2**31, 2**32 - 1, -1])
    if count == repeat.count:
        return None
    return Mutant(
        f"repeat {repeat.name} {count} times",
        with_instruction(one, path, lambda i: (replace(i, count=count),)),
    )


@kind
def patch(one: Base, r: random.Random) -> Mutant | None:
    found = pick(one, r, Repeat, lambda i: i.patches)
    if found is None:
        return None
    path, repeat = found
    patches = list(repeat.patches)
    at = r.randrange(len(patches))
    old = patches[at]
    rows = [t.name for t in one.program.tables if t.category == "rows"]
    match r.randrange(6):
        case 0:
            patches[at] = replace(
                old, delta_words=r.choice([0, 1, -1, 2 * old.delta_words, 2**17, 2**31 - 1])
            )
        case 1:
            patches[at] = replace(old, shift=r.choice([0, 1, 2, 4, 31, 32, 2**31]))
        case 2:
            patches[at] = replace(old, rows=r.choice(rows))
        case 3:
            patches[at] = replace(old, positions=r.choice([t.name for t in one.program.tables]))
        case 4:
            del patches[at]
        case _:
            patches.append(old)
    changed = tuple(patches)
    if changed == repeat.patches:
        return None

    def why() -> str | None:
        empty = one.program.table(old.positions).words
        return "a patch of no word" if not empty.size or (empty == 0xFFFFFFFF).all() else None

    what = f"patches of {repeat.name}: {at} of {len(patches)} changed"
    return Mutant(what, with_instruction(one, path, lambda i: (replace(i, patches=changed),)), why)


@kind
def barrier(one: Base, r: random.Random) -> Mutant | None:
    """An exchange phase that is not there, or executes the rows of another."""
    found = pick(one, r, Exchange)
    if found is None:
        return None
    path, exchange = found
    rows = [t.name for t in one.program.tables if t.name != exchange.rows]
    if r.random() < 0.4:
        make = with_instruction(one, path, lambda _: ())
        what = "left out"
    else:
        to = r.choice(rows)
        make = with_instruction(one, path, lambda i: (replace(i, rows=to),))
        what = f"executes '{to}'"
    return Mutant(f"exchange {exchange.name} {what}", make)
