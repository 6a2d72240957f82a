# SPDX-License-Identifier: Apache-2.0
"""
Which kernel calls are made as one, without IR: what the passes behind the merging of phases ask, and what the
price of a plan asks.

A `Call` is a kernel call on buffers, of which nothing is known but that they are hashable. Whether a call may
be made where a later one is depends on what happens in between; each form of a program says so itself
(`passes/ir/neighbours.py` for operations, `planning/fused_steps.py` for steps).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from tilewright.machine.dtypes import is_fp8
from tilewright.machine.kernels import kernel
from tilewright.machine.kernels.chains import CHAINS, COMMUTE, Chain, Expression
from tilewright.machine.kernels.scalars import STORES
from tilewright.planning.layout import Layout
from tilewright.planning.layout.padding import panel_padding

Map = Mapping[str, int]
"""Kernel axis -> storage axis of one operand."""


@dataclass(frozen=True)
class Operand:
    """A buffer with its type (`count` members, 1 for a tensor) and its axes in a call."""

    buffer: Hashable
    dtype: str
    layout: Layout
    count: int
    axes: Map

    @property
    def kind(self) -> tuple[str, Layout, int]:
        """The type of the buffer."""
        return self.dtype, self.layout, self.count


@dataclass(frozen=True)
class Call:
    """A kernel call; `origin` is what stands for it in its program."""

    kernel: str
    axes: tuple[str, ...]
    ins: tuple[Operand, ...]
    outs: tuple[Operand, ...]
    scalars: Mapping[str, int | float]
    origin: Any = None


Before = Callable[[Operand, Call], Call | None]
"""The call that makes an operand for a call alone, if it may as well be made where that call is."""


def whole_copy(call: Call) -> bool:
    """Whether a call copies all of one full buffer (without padding) to another one like it."""
    if call.kernel != "copy":
        return False
    (source,), (target,) = call.ins, call.outs
    return (
        source.buffer is not target.buffer
        and source.kind == target.kind
        and source.count == 1
        and source.axes == target.axes
        and sorted(source.axes.values()) == list(range(len(source.layout.axes)))
        and not panel_padding(source.layout)
    )


def same_elements(one: Layout, axis: int, other: Layout, along: int) -> bool:
    """Whether two storage axes are divided over the tiles alike."""
    return (one.base, one.tiles, one.axes[axis].extent, one.axes[axis].splits) == (
        other.base,
        other.tiles,
        other.axes[along].extent,
        other.axes[along].splits,
    )


# -- casts that become stores


def stored_cast(cast: Call, made_for: Before) -> tuple[Call, Call] | None:
    """
    The call that stores what a cast from f16 to an 8-bit float would make of its result, and the one whose
    result the cast reads; None where there is none.
    """
    if cast.kernel != "cast":
        return None
    (source,), (target,) = cast.ins, cast.outs
    if source.dtype != "f16" or not is_fp8(target.dtype) or source.count != 1:
        return None
    before = made_for(source, cast)
    if before is None or len(before.outs) != 1:
        return None
    if STORES[0] not in kernel(before.kernel).scalars or STORES[0] in before.scalars:
        return None
    place = _behind(before.outs[0].axes, source.axes, target.axes)
    one, other = source.layout, target.layout
    if (
        place is None
        or one.replicas != other.replicas
        or not all(same_elements(one, source.axes[x], other, target.axes[x]) for x in source.axes)
    ):
        return None
    values = (cast.scalars.get("scale", 0), cast.scalars.get("saturate", 1))
    scalars = {**before.scalars, **dict(zip(STORES, values, strict=True))}
    out = Operand(target.buffer, target.dtype, target.layout, target.count, place)
    return Call(before.kernel, before.axes, before.ins, (out,), scalars), before


def _behind(made: Map, read: Map, written: Map) -> Map | None:
    """
    The storage axes of a cast's result for the axes of the call that makes its operand; None where one call
    does not go through all that the other does.
    """
    forward = {storage: written.get(axis, -1) for axis, storage in read.items()}
    used = [storage for storage in made.values() if storage >= 0]
    if set(used) != set(forward) or len(used) != len(made) or -1 in forward or -1 in forward.values():
        return None
    return {axis: forward[storage] for axis, storage in made.items()}


# -- chains of functions of single elements


def chained(last: Call, made_for: Before) -> tuple[Call, Sequence[Call]] | None:
    """
    The call of the machine's kernel for a chain of functions that ends in a call, and the calls before it
    that it replaces with that; None where there is no such chain.
    """
    if not last.kernel.startswith("pointwise."):
        return None
    for chain in CHAINS:
        found = _match(chain.expression, last, made_for)
        if found is not None and _takes(chain, found[0], last):
            ins, calls = found
            return Call(chain.kernel, last.axes, tuple(ins), last.outs[-1:], last.scalars), calls
    return None


def _match(expression: Expression, call: Call, made_for: Before) -> tuple[list[Operand], list[Call]] | None:
    """The operands of a chain that ends in a call, and the calls before it; None if it is no such chain."""
    function, *inner = expression
    if call.kernel != f"pointwise.{function}":
        return None
    for order in permutations(call.ins) if function in COMMUTE else (call.ins,):
        operands: list[Operand] = []
        calls: list[Call] = []
        for part, operand in zip(inner, order, strict=True):
            if isinstance(part, str):
                operands.append(operand)
                continue
            before = _alone_before(operand, call, made_for)
            found = None if before is None else _match(part, before, made_for)
            if before is None or found is None:
                break
            operands += found[0]
            calls += [*found[1], before]
        else:
            return operands, calls
    return None


def _alone_before(operand: Operand, call: Call, made_for: Before) -> Call | None:
    """The call that computes an operand for this one alone, if it may as well be computed with it."""
    before = made_for(operand, call)
    if before is None or before.outs[-1].buffer is not operand.buffer:
        return None
    out = call.outs[-1]
    alike = (
        (operand.kind, operand.axes) == (out.kind, out.axes)
        and before.outs[-1].axes == out.axes
        and (before.axes, before.scalars) == (call.axes, call.scalars)
    )
    return before if alike else None


def _takes(chain: Chain, operands: Sequence[Operand], last: Call) -> bool:
    """Whether the chain's kernel works on the types of these operands."""
    rules = kernel(chain.kernel)
    dtypes = [operand.dtype for operand in (*operands, last.outs[-1])]
    named = dict(zip((rule.name for rule in rules.ins), dtypes, strict=False))
    return all(
        rule.takes(dtype, named) for rule, dtype in zip((*rules.ins, *rules.outs), dtypes, strict=True)
    )
