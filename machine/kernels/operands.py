# SPDX-License-Identifier: Apache-2.0
"""What a kernel demands of its operands: axes, element types, where and how they lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from tilewright.machine.dtypes import FP8, is_float, itemsize

CLASSES: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "any": lambda dtype: True,
        "floats": is_float,
        "f8": lambda dtype: dtype in FP8,
        "integers": lambda dtype: dtype != "i1" and not is_float(dtype),
        "booleans": lambda dtype: dtype == "i1",
        "numbers": lambda dtype: dtype != "i1",
        "words": lambda dtype: itemsize(dtype) == 4,
    }
)
"""Classes of element types that an operand's types may name."""

RELATIONS: Mapping[str, Callable[[str, str], bool]] = MappingProxyType(
    {
        "as": lambda dtype, other: dtype == other,
        "float as": lambda dtype, other: is_float(dtype) == is_float(other),
        "boolean as": lambda dtype, other: (dtype == "i1") == (other == "i1"),
    }
)
"""What an operand's type may have in common with that of another one."""


@dataclass(frozen=True)
class Digit:
    """
    One digit of a fixed element order: `size` consecutive elements of `axis` are one unit of it.

    kind "whole": the axis as it is (size 1); "blocks": counts blocks of `size`; "inside": counts the elements
    of one block of `size`. `free`: the blocks may lie in any order, each contiguous with the digits further
    in.
    """

    axis: str
    kind: str
    size: int
    free: bool


@dataclass(frozen=True)
class OperandRule:
    """
    What a kernel demands of one operand.

    `axes` names kernel axes, outermost first ("..." stands for any rank). `memory` is "any", "standard" or
    "interleaved", `alignment` in bytes, `tail` the bytes beyond the operand that the kernel touches, `step`
    what the distance in bytes between two indices of the first axis is a multiple of.

    `order` is "any" (each axis has its own strides) or the digits from outermost to innermost: `k/32` counts
    blocks of 32 of axis k, `k%32` counts inside a block, a bare name is the whole axis, a `*` before blocks
    lets them lie in any order. An axis that is not named (the batch) loops outside with a stride of its own.

    `types` are the element types it may have: names of types and of `CLASSES` with "|" between them, or one
    of `RELATIONS` and the name of an operand ("as x": the same as x; "float as x": a float if x is one).
    """

    name: str
    axes: tuple[str, ...]
    memory: Literal["any", "standard", "interleaved"] = "any"
    alignment: int = 8
    tail: int = 0
    order: str = "any"
    step: int = 1
    types: str = "any"

    def takes(self, dtype: str, others: Mapping[str, str]) -> bool:
        """Whether the operand may be of this type, those of the call's operands being `others`, by name."""
        relation, _, other = self.types.rpartition(" ")
        if relation:
            return RELATIONS[relation](dtype, others[other])
        return any(
            CLASSES[name](dtype) if name in CLASSES else name == dtype for name in self.types.split("|")
        )

    def digits(self) -> tuple[Digit, ...]:
        """`order` taken apart, outermost first; empty for "any"."""
        if self.order == "any":
            return ()
        found: list[Digit] = []
        for text in self.order.split():
            free, text = text.startswith("*"), text.removeprefix("*")
            for sign, kind in (("/", "blocks"), ("%", "inside")):
                axis, cut, size = text.partition(sign)
                if cut:
                    found.append(Digit(axis, kind, int(size), free))
                    break
            else:
                found.append(Digit(text, "whole", 1, free))
        return tuple(found)


def operands(text: str, *axes: str, alignment: int = 8, types: str = "any") -> tuple[OperandRule, ...]:
    """Rules from "x gamma:c": a name alone has the given axes (any rank when none are given)."""
    rules: list[OperandRule] = []
    for part in text.split():
        name, own, letters = part.partition(":")
        own_axes = tuple(letters.split(",")) if own else (axes or ("...",))
        rules.append(OperandRule(name, own_axes, alignment=alignment, types=types))
    return tuple(rules)
