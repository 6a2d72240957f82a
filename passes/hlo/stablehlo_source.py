# SPDX-License-Identifier: Apache-2.0
"""Operations of StableHLO and CHLO as plain data, whatever parser has made them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    StringAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.hlo.values import array_of
from tilewright.passes.hlo.rewriting import Emitter, name_of

PREFIXES = ("stablehlo.", "chlo.", "mhlo.")


def is_source(op: Operation) -> bool:
    """Whether an operation is one of StableHLO or CHLO."""
    return name_of(op).startswith(PREFIXES)


@dataclass
class Source:
    """An operation of the source as plain data."""

    op: Operation

    @property
    def name(self) -> str:
        return name_of(self.op).partition(".")[2]

    def attribute(self, *names: str) -> Attribute | None:
        for name in names:
            for table in (self.op.properties, self.op.attributes):
                if name in table:
                    return table[name]
            if isinstance(self.op, UnregisteredOp) and name in self.op.attributes:
                return self.op.attributes[name]
        return None

    def ints(self, *names: str, default: Sequence[int] | None = None) -> list[int]:
        """A list of integers, in whatever form it is written. Raises `Unsupported`."""
        attribute = self.attribute(*names)
        if attribute is None:
            if default is None:
                raise Unsupported(f"it has no attribute {names[0]}")
            return list(default)
        return _ints(attribute)

    def integer(self, *names: str, default: int | None = None) -> int:
        attribute = self.attribute(*names)
        if attribute is None and default is not None:
            return default
        if not isinstance(attribute, IntegerAttr):
            raise Unsupported(f"its attribute {names[0]} is no integer")
        return attribute.value.data

    def text(self, *names: str) -> str:
        attribute = self.attribute(*names)
        return (
            ""
            if attribute is None
            else attribute.data
            if isinstance(attribute, StringAttr)
            else str(attribute)
        )


class Unsupported(Exception):
    """Why an operation of the source has no meaning here."""


def _ints(attribute: Attribute) -> list[int]:
    match attribute:
        case DenseArrayBase():
            return [int(v) for v in cast("Any", attribute).get_values()]
        case DenseIntOrFPElementsAttr():
            return [int(v) for v in array_of(attribute).ravel()]
        case ArrayAttr():
            found: list[int] = []
            for entry in attribute.data:
                found += _ints(entry)
            return found
        case IntegerAttr():
            return [attribute.value.data]
        case _:
            return [int(v) for v in re.findall(r"-?\d+", str(attribute).partition("<")[2] or str(attribute))]


def numbers(text: str, key: str) -> list[int]:
    """The integers of `key = [1, 2]` or `key = 3` in the text of an attribute; none where it is absent."""
    found = re.search(rf"\b{key}\s*=\s*(\[[^\]]*\]|-?\d+)", text)
    return [int(v) for v in re.findall(r"-?\d+", found[1])] if found else []


def finish(op: Operation, values: Sequence[SSAValue]) -> None:
    """Put values in place of the results. Raises `Unsupported` where their types differ."""
    for old, new in zip(op.results, values, strict=True):
        if old.type != new.type:
            raise Unsupported(f"its result should be {new.type}, not {old.type}")
    Emitter(op).replace(*values)


def one(make_it: Callable[[Source, Emitter], SSAValue]) -> Callable[[Source, Emitter], None]:
    """The handler of an operation with one result."""

    def handler(source: Source, emit: Emitter) -> None:
        finish(source.op, [make_it(source, emit)])

    return handler


def result_of(source: Source) -> SSAValue:
    """The first result."""
    return source.op.results[0]


Handler = Callable[[Source, Emitter], None]
"""Puts operations of the middle form in place of one of the source. Raises `Unsupported`."""
