# SPDX-License-Identifier: Apache-2.0
"""
What no plan can make fit: a lower bound on the memory of a program, from shapes, parameters and repeats.

Counted is only what every plan has to hold at one time, over all tiles together and without padding, copies,
partial results or exchange rows: all parameters that are read, and for one operator its result and the
operands that are live while the result is written. A repeat adds the sequences that it goes through and those
that it collects. The bound is held against all memory that no reservation takes. A program that is refused
here cannot fit; one that is not may still fail to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tilewright.diagnostics import TileError
from tilewright.machine import Machine
from tilewright.machine.dtypes import is_fp8, itemsize
from tilewright.planning.graph import Graph, Node, OperatorNode, RepeatNode
from tilewright.planning.operators.matmul.shape import canonical

VIEWS = ("transpose", "reshape", "slice", "broadcast")
"""Operators whose result may be storage of their operand."""
RESULT_ONLY = ("concat", "pad", "reduce")
"""Operators that may let go of operands before the result is complete."""
CASTS_APART = ("bias_gelu",)
"""Operators whose one kernel stores no casts (`machine.kernels.scalars.STORES`): they store their result."""


class TooLarge(TileError):
    """A program that no plan can make fit."""


@dataclass(frozen=True)
class Need:
    """
    Bytes of the parameters, and of what is live beside them at the operator that needs most (`operator` is
    None where there is none).
    """

    parameters: int
    live: int = 0
    operator: OperatorNode | None = None

    @property
    def total(self) -> int:
        return self.parameters + self.live


def capacity(machine: Machine) -> int:
    """Bytes of all tiles that no reservation takes."""
    return machine.tiles * (machine.sram_bytes - machine.reserved_bytes())


def lower_bound(graph: Graph) -> Need:
    """What every plan of the program holds at one time, in bytes over all tiles."""
    parameters = sum(_bytes(graph, value) for value in _parameters(graph))
    best = Need(parameters)
    sources = {
        node.results[0]: node.operands[0]
        for node in graph.nodes()
        if isinstance(node, OperatorNode) and node.operator.name in VIEWS and node.operands
    }
    stored = _stored_casts(graph)
    for node, repeats in _operators(graph.body):
        name = node.operator.name
        if name in VIEWS or not node.results or node.results[0] not in graph.uses:
            continue
        held: dict[int, int] = {}
        for repeat in repeats:
            for passed in repeat.iterated:
                _hold(held, graph, _root(graph, sources, passed.outer)[0])
            for collected in repeat.collected:
                if collected.result in graph.uses:
                    _hold(held, graph, collected.result)
        result = sum(_bytes(graph, value) for value in node.results)
        if node.results[0] in stored:
            result //= itemsize("f16")
        operands: list[dict[int, int]] = []
        for value in node.operands:
            root, nbytes = _root(graph, sources, value)
            counts = graph.values[root].origin != "parameter" and (name != "cast" or root not in stored)
            operands.append({root: nbytes} if counts else {})
        if name in RESULT_ONLY:
            moments = [(result, operands[:0])]
        elif name == "attention":  # queries are read before the result is made, values after
            moments = [(0, operands[:3]), (result, operands[2:3])]
        else:
            moments = [(result, operands)]
        for made, read in moments:
            together = dict(held)
            for one in read:
                for root, nbytes in one.items():
                    together[root] = max(together.get(root, 0), nbytes)
            live = made + sum(together.values())
            if live > best.live:
                best = Need(parameters, live, node)
    return best


def _stored_casts(graph: Graph) -> set[int]:
    """Results in f16 that are never there if the call that makes them stores what a cast makes of them."""
    found: set[int] = set()
    for value, node in graph.makers.items():
        if graph.values[value].dtype != "f16" or node.operator.name in (*VIEWS, *CASTS_APART):
            continue
        uses = graph.uses.get(value, ())
        while len(uses) == 1 and isinstance(reader := uses[0].node, OperatorNode):
            if reader.operator.name == "cast" and is_fp8(graph.values[reader.results[0]].dtype):
                found.add(value)
            if reader.operator.name not in VIEWS:
                break
            uses = graph.uses.get(reader.results[0], ())
    return found


def product_code(graph: Graph, machine: Machine) -> dict[str, int]:
    """Bytes of code, on every tile, of the matrix kernels that the products of a program need, by kernel."""
    found: dict[str, int] = {}
    for node, _ in _operators(graph.body):
        if node.operator.name == "matmul" and node.results[0] in graph.uses:
            shape = canonical(node.operator)
            if shape.b * shape.m * shape.n * shape.k:
                found[shape.kernel] = machine.family.kernel(shape.kernel).code_bytes
    return dict(sorted(found.items()))


def check_capacity(graph: Graph, machine: Machine, where: Any = None) -> None:
    """Raise TooLarge for a program that no plan can make fit; `where` is the place of the whole program."""
    need, code = lower_bound(graph), product_code(graph, machine)
    room = max(0, capacity(machine) - machine.tiles * sum(code.values()))
    if need.total <= room:
        return
    beside = f" and the code of {', '.join(code)}" if code else ""
    have = f"{machine.name} has {room:,} bytes in {machine.tiles:,} tiles, without its reservations{beside}"
    much = f"{need.total:,} bytes are live at once, {need.total - room:,} too many"
    if need.parameters > room:
        notes = [have, *_layers(graph, room)]
        small = sum(_in_f8(graph, value) for value in _parameters(graph))
        hint = "use a larger machine, or fewer layers"
        if small < need.parameters:
            fits = "which fits" if small <= room else "which does not fit either"
            notes.append(f"with the weights of products in FP8 they take {small:,} bytes, {fits}")
            if small <= room:
                hint = "cast the weights to f8E4M3FNUZ (tile-run --calibrate does), or use a larger machine"
        raise TooLarge(
            f"the parameters do not fit: they take {need.parameters:,} bytes,"
            f" {need.parameters - room:,} too many",
            location=where,
            notes=notes,
            hint=hint,
        )
    assert need.operator is not None
    raise TooLarge(
        f"{need.operator.name} does not fit: {much}",
        location=need.operator.where or where,
        notes=(
            f"its operands and result, and the sequences around it, take {need.live:,} bytes,"
            f" the parameters {need.parameters:,}",
            have,
        ),
        hint="use smaller tensors or a larger machine",
    )


def _operators(
    body: tuple[Node, ...], around: tuple[RepeatNode, ...] = ()
) -> Iterator[tuple[OperatorNode, tuple[RepeatNode, ...]]]:
    """Every operator that is executed, with the repeats around it."""
    for node in body:
        if isinstance(node, OperatorNode):
            yield node, around
        elif isinstance(node, RepeatNode) and node.count > 0:
            yield from _operators(node.body, (*around, node))


def _bytes(graph: Graph, value: int) -> int:
    described = graph.values[value]
    if described.origin == "foreign":
        return 0
    return math.prod(described.shape) * described.members * itemsize(described.dtype)


def _hold(held: dict[int, int], graph: Graph, root: int) -> None:
    if graph.values[root].origin not in ("parameter", "constant"):
        held[root] = _bytes(graph, root)


def _root(graph: Graph, sources: dict[int, int], value: int) -> tuple[int, int]:
    """
    The value whose storage a value may be, through views and into repeats, and the fewest bytes that any of
    them on the way has: what must exist of it.
    """
    least = _bytes(graph, value)
    while True:
        if value in sources:
            value = sources[value]
        elif value in graph.outer:
            value = graph.outer[value]
        else:
            return value, 0 if graph.values[value].origin == "constant" else least
        least = min(least, _bytes(graph, value))


def _parameters(graph: Graph) -> list[int]:
    """Parameters that anything reads."""
    return [v for v in graph.arguments if graph.values[v].origin == "parameter" and v in graph.uses]


def _in_f8(graph: Graph, value: int) -> int:
    """Bytes of a parameter if weights of products were FP8."""
    described = graph.values[value]
    matrix = len(described.shape) >= 2 and described.dtype in ("f16", "f32", "bf16")
    return _bytes(graph, value) // (itemsize(described.dtype) if matrix and _multiplied(graph, value) else 1)


def _multiplied(graph: Graph, value: int) -> bool:
    """Whether a product reads a parameter, directly or as the member of a repeat."""
    names = [value, *(inner for inner, outer in graph.outer.items() if outer == value)]
    return any(
        isinstance(use.node, OperatorNode) and use.node.operator.name == "matmul"
        for name in names
        for use in graph.uses.get(name, ())
    )


def _layers(graph: Graph, room: int) -> Iterator[str]:
    """How many iterations' worth of parameters fit, for each repeat that goes through parameters."""
    total = sum(_bytes(graph, value) for value in _parameters(graph))
    for node in graph.body:
        if not isinstance(node, RepeatNode) or node.count < 1:
            continue
        layered = sum(
            _bytes(graph, p.outer) for p in node.iterated if graph.values[p.outer].origin == "parameter"
        )
        if layered:
            each = layered // node.count
            most = max(0, (room - (total - layered)) // each)
            yield (
                f"{node.name} reads {each:,} bytes of parameters in each of {node.count} iterations;"
                f" those of {most} would fit"
            )
