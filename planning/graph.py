# SPDX-License-Identifier: Apache-2.0
"""
A program as plain data: its values and, in execution order, what makes and reads them. Nothing here knows
about IR, and nothing here changes: what planning decides about a graph is a `Plan` beside it.

A value is known by its number, `graph.values[i]`. A value that is a sequence (of parameters, of collected
results) is described by its member and the counts of members, outer to inner. What a value is to a repeat is
said by the four classes of the repeat: carried, invariant, iterated, collected.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from tilewright.planning.layout import Layout, View
from tilewright.planning.operators.base import Operator
from tilewright.planning.stages import Buffer, Value

Placement = tuple[Layout, View]
"""Where a tensor is: a layout, and the view from its logical shape to the storage axes."""

Origin = Literal["parameter", "input", "constant", "result", "argument", "foreign"]
"""
Who makes a value: the host, before the first run or before each (`parameter`, `input`), the program's text
(`constant`), an operation of ours (`result`), a repeat, for its body (`argument`), or somebody else.
"""


@dataclass(frozen=True)
class GraphValue:
    """
    A tensor, or a sequence of tensors of one kind: shape and element type of a member, counts of members
    (none for a tensor). `placement` is what the program says already.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    counts: tuple[int, ...] = ()
    origin: Origin = "result"
    placement: Placement | None = None

    @property
    def is_sequence(self) -> bool:
        return bool(self.counts)

    @property
    def members(self) -> int:
        """Tensors in it: 1, or all members of a sequence."""
        return math.prod(self.counts)


@dataclass(frozen=True)
class OperatorNode:
    """
    A tensor operator, views included. `name` is unique in the program and is what plan files call it; `given`
    is the plan record that the program's text forces, as it is written there.
    """

    name: str
    operator: Operator
    operands: tuple[int, ...]
    results: tuple[int, ...]
    given: dict[str, Any] | None = field(default=None, compare=False)
    where: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class SequenceNode:
    """Packs values into a sequence, or takes a member of one."""

    operands: tuple[int, ...]
    results: tuple[int, ...]
    where: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class ReadNode:
    """Something that needs values stored and makes no choice: a conversion of layouts, the program's end."""

    operands: tuple[int, ...]
    where: Any = field(default=None, compare=False)

    @property
    def results(self) -> tuple[int, ...]:
        return ()


@dataclass(frozen=True)
class Carried:
    """
    State of a repeat: what it is before, in the body, after an iteration, and after the repeat. `in_place` if
    an iteration changes nothing of it but in place and nobody else reads what it begins as afterwards.
    """

    initial: int
    argument: int
    following: int
    result: int
    in_place: bool = False


@dataclass(frozen=True)
class Passed:
    """A value of the surroundings and what the body sees: the same (invariant), or a member (iterated)."""

    outer: int
    argument: int


@dataclass(frozen=True)
class Collected:
    """
    What the body yields in every iteration, and the sequence of all. `sequence` is the number of the iterated
    sequence whose member it is, updated in place; None of what is made anew.
    """

    member: int
    result: int
    sequence: int | None = None


@dataclass(frozen=True)
class RepeatNode:
    """A counted loop."""

    name: str
    count: int
    carried: tuple[Carried, ...]
    invariant: tuple[Passed, ...]
    iterated: tuple[Passed, ...]
    collected: tuple[Collected, ...]
    body: tuple[Node, ...]
    where: Any = field(default=None, compare=False)

    @property
    def operands(self) -> tuple[int, ...]:
        return (*(c.initial for c in self.carried), *(p.outer for p in (*self.invariant, *self.iterated)))

    @property
    def results(self) -> tuple[int, ...]:
        return (*(c.result for c in self.carried), *(c.result for c in self.collected))


Node = OperatorNode | SequenceNode | ReadNode | RepeatNode


@dataclass(frozen=True)
class Use:
    """One read of a value: operand `index` of `node`, which is in `block`."""

    node: Node
    index: int
    block: tuple[Node, ...]


@dataclass(frozen=True)
class Graph:
    """A program: all values, those that come in, and what happens, in order."""

    values: tuple[GraphValue, ...]
    arguments: tuple[int, ...]
    body: tuple[Node, ...]

    def nodes(self, body: Sequence[Node] | None = None) -> Iterator[Node]:
        """Every node, a repeat before its body."""
        for node in self.body if body is None else body:
            yield node
            if isinstance(node, RepeatNode):
                yield from self.nodes(node.body)

    @property
    def names(self) -> list[str]:
        """Names of the operators, in program order."""
        return [node.name for node in self.nodes() if isinstance(node, OperatorNode)]

    @cached_property
    def uses(self) -> dict[int, tuple[Use, ...]]:
        """The reads of every value that has any, in program order."""
        found: dict[int, list[Use]] = {}

        def walk(block: tuple[Node, ...]) -> None:
            for node in block:
                for index, operand in enumerate(node.operands):
                    found.setdefault(operand, []).append(Use(node, index, block))
                if isinstance(node, RepeatNode):
                    walk(node.body)

        walk(self.body)
        return {value: tuple(uses) for value, uses in found.items()}

    @cached_property
    def needed(self) -> frozenset[int]:
        """Values that a node reads or the body of a repeat yields."""
        found = set(self.uses)
        for node in self.nodes():
            if isinstance(node, RepeatNode):
                found.update(c.following for c in node.carried)
                found.update(c.member for c in node.collected)
        return frozenset(found)

    @cached_property
    def makers(self) -> dict[int, OperatorNode]:
        """The operator that makes each value that one makes."""
        return {v: node for node in self.nodes() if isinstance(node, OperatorNode) for v in node.results}

    @cached_property
    def outer(self) -> dict[int, int]:
        """For every argument of a repeat's body what it is outside: the initial value, the sequence."""
        found: dict[int, int] = {}
        for node in self.nodes():
            if isinstance(node, RepeatNode):
                found |= {c.argument: c.initial for c in node.carried}
                found |= {p.argument: p.outer for p in (*node.invariant, *node.iterated)}
        return found

    def chain(self, value: int) -> list[int]:
        """The value and what it is outside of the repeats that pass it in, the outermost last."""
        chain = [value]
        while chain[-1] in self.outer:
            chain.append(self.outer[chain[-1]])
        return chain

    def stored(self, value: int, placement: Placement) -> Value:
        """The value as planners see it, at a placement."""
        layout, view = placement
        return Value(Buffer(layout, self.values[value].dtype, "activations"), view)
