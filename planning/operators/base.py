# SPDX-License-Identifier: Apache-2.0
"""
An operator as plain data, the record of a plan for it, and what a default rule may know around it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilewright.planning.stages import (
    PlanError,
)


@dataclass(frozen=True)
class Operator:
    """
    A tensor operator without its IR: name ("matmul"), attributes as Python values, result shapes and element
    types.
    """

    name: str
    attributes: Mapping[str, Any]
    operand_types: tuple[tuple[tuple[int, ...], str], ...]
    result_types: tuple[tuple[tuple[int, ...], str], ...]
    where: str = ""

    @property
    def result_shape(self) -> tuple[int, ...]:
        return self.result_types[0][0]

    @property
    def result_dtype(self) -> str:
        return self.result_types[0][1]

    @property
    def saturation(self) -> dict[str, int]:
        """What the kernel that rounds the result is told: nothing where it saturates, its default."""
        return {} if self.attributes.get("saturate", True) else {"saturate": 0}

    def error(self, message: str, **kwargs: Any) -> PlanError:
        return PlanError(f"{self.name}: {message}", location=self.where or None, **kwargs)


@dataclass(frozen=True)
class Surroundings:
    """
    What a default rule may know of the program around an operator.

    `scarce`: memory is missing, so that candidates which take less of it are wanted though they are slower.
    `divided`: nothing fits with whole operands, so that candidates with theirs in pieces are wanted.
    `transposed`: whoever reads the result wants its rows innermost. `tiles`: the first tile and the number of
    tiles that are this operator's share while others run beside it; (0, 0): all. `head`: columns of the heads
    by which attention reads the result as queries or keys, of a product only if they cut words; 0 if it does
    not. `batch`: equal parts of the rows that a reader of the transposed result keeps apart, `word`: elements
    in a word of the type that a reader has the result in, where that is known. `panels`: columns of the
    groups that a cast of a product's result completes to whole panels; 0 if none does. `pieces`: those that
    the streamed operand of a product is to arrive in, if its blocks have as many rows.
    """

    transposed: bool = False
    tiles: tuple[int, int] = (0, 0)
    head: int = 0
    batch: int = 1
    word: int = 0
    panels: int = 0
    scarce: bool = False
    divided: bool = False
    pieces: int = 1


PIECES = 4
"""
Pieces of a streamed operand that are looked at where nothing fits without: each further one takes a phase and
saves less. Of the default record of a product, half and twice as many too.
"""

_FIELD_TYPES = {bool: "true or false", int: "an integer", str: "text", tuple: "a list of integers"}


@dataclass(frozen=True)
class Record:
    """
    The parameters of one candidate plan; subclasses add fields of ints, bools, strings and tuples of ints,
    each with a default.
    """

    def to_json(self) -> dict[str, Any]:
        return {
            f.name: list(v) if isinstance(v := getattr(self, f.name), tuple) else v
            for f in dataclasses.fields(self)
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], where: str = "") -> Record:
        """Read a record; unknown or missing fields and wrong types are a `PlanError`."""
        fields = {f.name: f for f in dataclasses.fields(cls)}
        unknown = [name for name in data if name not in fields]
        if unknown:
            raise PlanError(
                f"plan has no field {unknown[0]!r}",
                location=where or None,
                notes=(f"fields of this operator's plan: {', '.join(fields) or 'none'}",),
            )
        values: dict[str, Any] = {}
        for name, value in data.items():
            kind = type(fields[name].default)
            found = tuple(value) if isinstance(value, list) else value
            whole = kind is not tuple or (type(found) is tuple and all(type(v) is int for v in found))
            if type(found) is not kind or not whole:
                raise PlanError(
                    f"plan field {name!r} is {_FIELD_TYPES[kind]}, not {value!r}", location=where or None
                )
            values[name] = found
        return cls(**values)


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def round_up(a: int, b: int) -> int:
    return -(-a // b) * b
