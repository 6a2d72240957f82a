# SPDX-License-Identifier: Apache-2.0
"""Changes of the operands and scalars of a call."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from mutants.bases import Base, Mutant
from mutants.choosing import flip, kind, pick, same_places, walk, with_instruction
from mutants.supervisor import scalar_reason
from mutants.tables import anywhere
from tilewright.backends.program import (
    Call,
    Operand,
    Repeat,
)
from tilewright.machine.dtypes import DTYPES


def _operand(one: Base, r: random.Random, change: Callable[[Operand], Operand]) -> Mutant | None:
    found = pick(one, r, Call, lambda c: c.ins or c.outs)
    if found is None:
        return None
    path, call = found
    operands = [*call.ins, *call.outs]
    at = r.randrange(len(operands))
    before = operands[at]
    operands[at] = change(before)
    after = operands[at]
    if after == before:
        return None
    changed = replace(call, ins=tuple(operands[: len(call.ins)]), outs=tuple(operands[len(call.ins) :]))

    def why() -> str | None:
        if replace(after, steps=()) == replace(before, steps=()):
            counts = [
                i.count for p, i in walk(one.program.body) if isinstance(i, Repeat) and path[: len(p)] == p
            ]
            taken = [a != b and n > 1 for a, b, n in zip(after.steps, before.steps, counts, strict=False)]
            return None if any(taken) else "a step that no iteration takes"
        if call.kernel in ("fill", "copy") and replace(after, dtype=before.dtype) == before:
            return "another type of the same size, for bits that are moved and not computed with"
        if call.kernel == "fill" and "padding" in call.provenance:
            return "padding that zeros are multiplied with: what lies there shows where it is not finite"
        if call.kernel == "softmax.part" and at == len(call.ins) + 1 and _is_one_part(one):
            return "the extreme of a part that is all: its weight is 1, whatever it is"
        return same_places(one, call, at, before, after)

    what = f"operand {at} of {call.kernel} is {after.text} for {before.text}"
    return Mutant(what, with_instruction(one, path, lambda _: (changed,)), why)


def _is_one_part(one: Base) -> bool:
    """Whether nothing is merged but single parts of a softmax."""
    merges = [
        i.extents for _, i in walk(one.program.body) if isinstance(i, Call) and i.kernel == "softmax.merge"
    ]
    tables = {table.name: table for table in one.program.tables}
    return all(int(tables[name].words[:, 0].max()) == 1 for name in merges)


@kind
def address_of_an_operand(one: Base, r: random.Random) -> Mutant | None:
    return _operand(one, r, lambda o: replace(o, address=anywhere(one, r, o.address)))


@kind
def reserved_operand(one: Base, r: random.Random) -> Mutant | None:
    taken = r.choice(one.machine.reservations)
    return _operand(one, r, lambda o: replace(o, address=r.randrange(taken.start, taken.end, 16)))


@kind
def type_of_an_operand(one: Base, r: random.Random) -> Mutant | None:
    return _operand(one, r, lambda o: replace(o, dtype=r.choice([d for d in DTYPES if d != o.dtype])))


@kind
def digit_of_an_operand(one: Base, r: random.Random) -> Mutant | None:
    def change(operand: Operand) -> Operand:
        if not operand.axes:
            return operand
        axes = [list(axis) for axis in operand.axes]
        axis = r.choice(axes)
        at = r.randrange(len(axis))
        size, stride = axis[at]
        if r.random() < 0.4:
            axis[at] = r.choice([-1, 0, 1, size + 1, 2 * size, 2**31 - 1]), stride
        else:
            axis[at] = (
                size,
                r.choice([0, 1, -stride, stride + 1, 2 * stride, flip(r, stride, 20), 2**31 - 1]),
            )
        return replace(operand, axes=tuple(tuple(axis) for axis in axes))

    return _operand(one, r, change)


@kind
def axes_of_an_operand(one: Base, r: random.Random) -> Mutant | None:
    def change(operand: Operand) -> Operand:
        axes = list(operand.axes)
        match r.randrange(4):
            case 0 if axes:
                del axes[r.randrange(len(axes))]
            case 1:
                axes.insert(r.randint(0, len(axes)), ((0, r.choice([0, 1, 16])),))
            case 2 if len(axes) > 1:
                axes.reverse()
            case _ if axes:
                axes[r.randrange(len(axes))] = r.choice([(), ((0, 0),), ((0, 16), (16, 1))])
        return replace(operand, axes=tuple(axes))

    return _operand(one, r, change)


@kind
def steps_of_an_operand(one: Base, r: random.Random) -> Mutant | None:
    def change(operand: Operand) -> Operand:
        steps = list(operand.steps)
        if not steps or r.random() < 0.2:
            steps.append(r.choice([4, 64, -64]))
        else:
            at = r.randrange(len(steps))
            steps[at] = r.choice([0, steps[at] + 4, -steps[at], steps[at] + 1, 2**31 - 1, 2 * steps[at]])
        return replace(operand, steps=tuple(steps))

    return _operand(one, r, change)


@kind
def order_of_operands(one: Base, r: random.Random) -> Mutant | None:
    found = pick(one, r, Call, lambda c: len(c.ins) + len(c.outs) > 1)
    if found is None:
        return None
    path, call = found
    operands = [*call.ins, *call.outs]
    a, b = r.sample(range(len(operands)), 2)
    operands[a], operands[b] = operands[b], operands[a]
    n = len(call.ins) + r.choice([0, 0, 0, 1, -1])
    changed = replace(call, ins=tuple(operands[:n]), outs=tuple(operands[n:]))

    def why() -> str | None:
        if call.kernel in ("pointwise.add", "pointwise.mul", "pointwise.max", "pointwise.min") and n == 2:
            return "the operands of a kernel that does not mind their order"
        return "the operands are the same" if operands[a] == operands[b] else None

    what = f"operands {a} and {b} of {call.kernel} swapped, {n} read"
    return Mutant(what, with_instruction(one, path, lambda _: (changed,)), why)


@kind
def scalar(one: Base, r: random.Random) -> Mutant | None:
    found = pick(one, r, Call, lambda c: c.scalars) if r.random() < 0.9 else pick(one, r, Call)
    if found is None:
        return None
    path, call = found
    scalars = list(call.scalars)
    name = ""
    if not scalars or r.random() < 0.15:
        scalars.append((r.choice(["epsilon", "count", "scale", "mine"]), r.choice([1, 2.0])))
        name = scalars[-1][0]
    else:
        at = r.randrange(len(scalars))
        name, value = scalars[at]
        if r.random() < 0.15:
            del scalars[at]
        else:
            wrong: list[int | float] = [
                0,
                1,
                -1,
                2**40,
                -(2**62),
                1.5,
                float("nan"),
                float("inf"),
                1e300,
                1e-300,
            ]
            scalars[at] = name, r.choice([w for w in wrong if w != value])
    changed = replace(call, scalars=tuple(scalars))

    def why() -> str | None:
        return scalar_reason(name, call)

    what = f"scalars of {call.kernel} are {scalars}"
    return Mutant(what, with_instruction(one, path, lambda _: (changed,)), why)


@kind
def kernel_of_a_call(one: Base, r: random.Random) -> Mutant | None:
    found = pick(one, r, Call)
    if found is None:
        return None
    path, call = found
    others = [c.kernel for c in one.program.code if c.kernel != call.kernel]
    changed = replace(call, kernel=r.choice(others))

    what = f"{changed.kernel} called for {call.kernel}"
    return Mutant(what, with_instruction(one, path, lambda _: (changed,)))
