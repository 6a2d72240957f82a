# SPDX-License-Identifier: Apache-2.0
"""
The default rule: every operator, in program order, gets the record that is best for itself.

An operator's record comes from the program's text, or from the plan that is given, or else is its favourite
strategy's default. Views stay views where they can be expressed. Parameters, constants and inputs are placed
by their first consumer: in the compact form of what it wants, parameters (`ready`) just as it wants them.
What has a placement keeps it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.diagnostics import TileError
from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.graph import Graph, Node, OperatorNode, Placement, ReadNode, RepeatNode, SequenceNode
from tilewright.planning.homes import home_place
from tilewright.planning.operators import VIEWS, cast_panels, matmul, preferred, read_choice
from tilewright.planning.operators.base import Surroundings
from tilewright.planning.operators.blocks import block_layout
from tilewright.planning.operators.pointwise import fills_storage
from tilewright.planning.operators.strategy import Choice
from tilewright.planning.operators.targets import WORD, Target, flat_layout
from tilewright.planning.operators.views import apply_view
from tilewright.planning.plan import Plan, placement_texts
from tilewright.planning.search.wanted import is_updated, wanted
from tilewright.planning.stages import PlanError, Stages, Value
from tilewright.planning.unfold import Expander, informed, places_of

Expand = Callable[[OperatorNode, Choice, tuple[Value, ...]], Stages]

SIDE_BY_SIDE = 1 << 18
"""Multiplications per tile of the machine from which products are worth running side by side."""


LANES_STAY = ("cast", "add", "gelu", "relu", "silu", "bias_gelu")
"""Operators between a product and a cast to 8 bits that keep the lanes behind its rows."""


@dataclass(frozen=True)
class Planned:
    """What was decided about a graph: a choice for every operator by name, a placement for every value."""

    choices: Mapping[str, Choice]
    placements: Mapping[int, Placement]

    def plan(self, graph: Graph, machine: str) -> Plan:
        """The whole plan, to be written to a file or given to another compilation."""
        homes = {
            graph.values[value].name: placement_texts(*self.placements[value])
            for value in graph.arguments
            if value in self.placements
        }
        layouts = {
            graph.values[c.argument].name: placement_texts(*self.placements[c.argument])
            for node in graph.nodes()
            if isinstance(node, RepeatNode)
            for c in node.carried
        }
        operators = {name: choice.to_json() for name, choice in self.choices.items()}
        return Plan(operators, homes, layouts, machine)


@dataclass(frozen=True)
class Decisions:
    """
    What a search has decided about a graph: choices by operator and layouts of carried arguments by name. A
    choice that the operands do not allow gives way to the default rule.
    """

    choices: Mapping[str, Choice] = field(default_factory=dict)
    layouts: Mapping[str, Placement] = field(default_factory=dict)


def choose(
    graph: Graph,
    machine: Machine,
    demanded: Plan,
    *,
    ready: bool = False,
    decisions: Decisions | None = None,
    expander: Expander | None = None,
) -> Planned:
    """
    Plan a graph by the default rule; what `demanded` names is as it says. `ready`: parameters lie as their
    first reader wants them, not in compact homes. `decisions` come before the default rule, `expander` is
    asked for expansions. Raises PlanError with the place in the program.
    """
    walk = _Walk(graph, machine, demanded, ready, decisions or Decisions(), expander or Expander(machine))
    walk.block(graph.body)
    for value in graph.arguments:
        walk.settle(value)
    homes = [graph.values[v].name for v in graph.arguments]
    carried = [
        graph.values[c.argument].name
        for node in graph.nodes()
        if isinstance(node, RepeatNode)
        for c in node.carried
    ]
    demanded.check_used(graph.names, homes, carried)
    return Planned(walk.choices, walk.placed)


class _Walk:
    """One walk over a graph; `placed` and `choices` grow."""

    def __init__(
        self,
        graph: Graph,
        machine: Machine,
        demanded: Plan,
        ready: bool,
        decisions: Decisions,
        expander: Expander,
    ) -> None:
        self.decisions = decisions
        self.expander = expander
        self.graph = graph
        self.machine = machine
        self.demanded = demanded
        self.ready = ready
        self.choices: dict[str, Choice] = {}
        self.placed: dict[int, Placement] = {
            i: value.placement for i, value in enumerate(graph.values) if value.placement is not None
        }
        for value in graph.arguments:
            self.demand(value, home=True)

    def demand(self, value: int, *, home: bool) -> bool:
        """Place a value as the plan demands; whether it does."""
        described = self.graph.values[value]
        where = self.demanded.placement(described.name, described.shape, home=home)
        if where is not None:
            self.placed[value] = where
        return where is not None

    def block(self, nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            try:
                match node:
                    case RepeatNode():
                        self.repeat(node)
                    case SequenceNode():
                        self.sequence(node)
                    case ReadNode():
                        for operand in node.operands:
                            self.settle(operand)
                    case OperatorNode() if node.operator.name in VIEWS:
                        self.view(node)
                    case OperatorNode():
                        self.operator(node, nodes)
            except TileError as error:
                if error.location is None:
                    error.location = node.where
                raise

    def value(self, index: int) -> Value | None:
        where = self.placed.get(index)
        return None if where is None else self.graph.stored(index, where)

    def operator(self, node: OperatorNode, block: tuple[Node, ...]) -> None:
        operator = node.operator
        if node.given is not None:
            choice = read_choice(operator, node.given, node.where)
        elif (demanded := self.demanded.choice(node.name, operator)) is not None:
            choice = demanded
        elif self.decided(node):
            return
        else:
            values = tuple(self.value(v) for v in node.operands)
            choice = self.expander.once(
                ("default", node.name, places_of(values)), lambda: self.default(node, values, block)
            )
        self.place(node, choice)

    def default(
        self, node: OperatorNode, values: tuple[Value | None, ...], block: tuple[Node, ...]
    ) -> Choice:
        """What the default rule takes where the operands lie so."""
        near = surroundings(self.graph, node, block, self.machine)
        strategy = preferred(node.operator, values, self.machine, near)
        return Choice(strategy, strategy.default(node.operator, values, self.machine, near))

    def decided(self, node: OperatorNode) -> bool:
        """
        Take what the search has decided; whether it has, and the choice still serves where the operands now
        lie.
        """
        choice = self.decisions.choices.get(node.name)
        if choice is None:
            return False
        before = dict(self.placed)
        try:
            self.place(node, choice, self.expander.candidate)
        except TileError:
            self.placed = before
            return False
        return True

    def place(self, node: OperatorNode, choice: Choice, expand: Expand | None = None) -> None:
        """Take a choice: place what it reads and nobody has placed, and what it makes."""
        operator = node.operator
        if operator.name in ("dynamic_slice", "dynamic_update_slice"):
            self.place_where_read(node.operands[0])
        values = tuple(self.value(v) for v in node.operands)
        targets = self.expander.once(
            ("targets", node.name, choice.strategy.name, choice.record, places_of(values)),
            lambda: choice.targets(operator, values, self.machine),
        )
        for operand, target in zip(node.operands, targets, strict=True):
            if operand not in self.placed:
                self.place_home(operand, target)
        stored = tuple(value for v in node.operands if (value := self.value(v)) is not None)
        assert len(stored) == len(node.operands)
        expand = expand or self.expander.operator
        stages = expand(informed(self.graph, node, self.choices), choice, stored)
        self.choices[node.name] = choice
        for result, (name, view) in zip(node.results, stages.results, strict=True):
            self.placed[result] = (stages.buffer(name).layout, view)

    def place_where_read(self, value: int) -> None:
        """Place a value that nobody has placed and that is updated as its reader wants it."""
        chain = self.graph.chain(value)
        if value in self.placed or not is_updated(self.graph, chain[-1]):
            return
        target = wanted(self.graph, value, self.machine)
        if target is not None and not target[0].replicas:
            for v in chain:
                self.placed.setdefault(v, target)

    def view(self, node: OperatorNode) -> None:
        (operand,), (result,) = node.operands, node.results
        if operand not in self.placed:
            described = self.graph.values[operand]
            self.place_home(operand, flat_layout(described.shape, described.dtype, self.machine))
        layout, seen = self.placed[operand]
        view = apply_view(node.operator, seen)
        if view is None:
            # not expressible on this layout: lowering makes the operand a row-major sequence first
            described = self.graph.values[operand]
            layout, flat = flat_layout(described.shape, described.dtype, self.machine)
            view = apply_view(node.operator, flat)
            assert view is not None
        self.placed[result] = (layout, view)

    def repeat(self, node: RepeatNode) -> None:
        for carried in node.carried:
            if self.graph.values[carried.initial].is_sequence:
                raise PlanError(
                    "a carried value that is a sequence has no plan",
                    location=node.where,
                    hint="carry its members",
                )
            self.place_where_read(carried.initial)
            self.settle(carried.initial)
            value = self.value(carried.initial)
            assert value is not None
            if not self.demand(carried.argument, home=False) and carried.argument not in self.placed:
                decided = self.decisions.layouts.get(self.graph.values[carried.argument].name)
                if decided is None and is_updated(self.graph, carried.argument):
                    decided = wanted(self.graph, carried.argument, self.machine)
                self.placed[carried.argument] = decided or carriable(value, self.machine)
        for passed in node.invariant:
            self.settle(passed.outer)
            self.placed[passed.argument] = self.placed[passed.outer]
        for passed in node.iterated:
            if passed.outer in self.placed:
                self.placed[passed.argument] = self.placed[passed.outer]
        self.block(node.body)
        for passed in (*node.invariant, *node.iterated):
            self.settle(passed.argument)
        for carried in node.carried:
            self.placed[carried.result] = self.placed[carried.argument]
        for collected in node.collected:
            self.settle(collected.member)
            self.placed[collected.result] = self.member_place(collected.member)

    def sequence(self, node: SequenceNode) -> None:
        for operand in node.operands:
            self.settle(operand)
        (result,) = node.results
        if not node.operands:
            self.settle(result)
            return
        first = node.operands[0]
        packed = len(self.graph.values[result].counts) > len(self.graph.values[first].counts)
        self.placed[result] = self.member_place(first) if packed else self.placed[first]

    def member_place(self, member: int) -> Placement:
        """
        Where the members of a new sequence lie: as this one does, or as row-major sequences if it is a part
        of something larger, or repeats elements (nothing can be written through such a view).
        """
        value = self.value(member)
        assert value is not None
        lanes = WORD // itemsize(value.dtype)
        if value.view.is_injective() and fills_storage(value, lanes):
            return value.layout, value.view
        return flat_layout(value.shape, value.dtype, self.machine)

    def settle(self, value: int) -> None:
        """Place a value that nobody has placed: a row-major sequence over the tiles."""
        if value not in self.placed:
            described = self.graph.values[value]
            self.place_home(value, flat_layout(described.shape, described.dtype, self.machine))

    def place_home(self, value: int, target: Target | None) -> None:
        """
        Place an argument or constant in the compact form of `target`, through the arguments of enclosing
        repeats.
        """
        described = self.graph.values[value]
        if target is None:
            target = flat_layout(described.shape, described.dtype, self.machine)
        layout, view = target
        chain = self.graph.chain(value)
        members = max(max(1, self.graph.values[v].members) for v in chain)
        as_wanted = self.ready and self.graph.values[chain[-1]].origin == "parameter"
        home = (
            (layout, view)
            if as_wanted
            else self.expander.once(
                ("home", layout, view, described.dtype, members),
                lambda: home_place(layout, view, described.dtype, members, self.machine.tiles),
            )
        )
        for v in chain:
            self.placed.setdefault(v, home)


def carriable(value: Value, machine: Machine) -> Placement:
    """
    The layout of a carried value: small blocks of rows, else that of its initial value if it fills its
    storage but for lanes that complete its last word, else a row-major sequence.
    """
    blocks = block_layout(value.shape, machine)
    if blocks is not None:
        return blocks
    lanes = WORD // itemsize(value.dtype)
    if value.layout.chunk is None and not value.layout.replicas and fills_storage(value, lanes):
        return dataclasses.replace(value.layout, memory="any"), value.view
    return flat_layout(value.shape, value.dtype, machine)


# -- what an operator's neighbours mean for it


def surroundings(graph: Graph, node: OperatorNode, block: tuple[Node, ...], machine: Machine) -> Surroundings:
    """What the default rule of an operator's strategy may know of the program around it."""
    if node.operator.name == "cast":
        return Surroundings(head=feeds_heads(graph, node))
    if node.operator.name != "matmul":
        return Surroundings()
    tiles = sibling_tiles(graph, node, block, machine)
    return dataclasses.replace(product_surroundings(graph, node), tiles=tiles)


def product_surroundings(graph: Graph, node: OperatorNode) -> Surroundings:
    """What a product may know of its readers alone."""
    found = feeds_attention_values(graph, node)
    if found is None:
        word = WORD if feeds_bytes(graph, node) else 0
        head, panels = cut_heads(graph, node), completed_groups(graph, node) if word else 0
        return Surroundings(head=head, word=word, panels=0 if head else panels)
    batch, word = found
    return Surroundings(transposed=True, batch=batch, word=word)


def sibling_products(graph: Graph, node: OperatorNode, block: tuple[Node, ...]) -> list[OperatorNode]:
    """The products of a product's left operand in its block, itself among them; none for other operators."""
    if node.operator.name != "matmul":
        return []
    return [
        other
        for other in block
        if isinstance(other, OperatorNode)
        and other.operator.name == node.operator.name
        and other.operands[0] == node.operands[0]
    ]


def side_by_side(
    graph: Graph, siblings: Sequence[OperatorNode], machine: Machine
) -> list[tuple[int, int]] | None:
    """First tile and number of tiles of every product, so that all run at one time; None if they cannot."""
    near = [product_surroundings(graph, other) for other in siblings]
    shapes = [
        matmul.shape_of(other.operator, matmul.wanted(found, found.transposed))
        for other, found in zip(siblings, near, strict=True)
    ]
    return matmul.side_by_side(shapes, machine)


def sibling_tiles(
    graph: Graph, node: OperatorNode, block: tuple[Node, ...], machine: Machine
) -> tuple[int, int]:
    """
    First tile and number of tiles of a product: (0, 0) for all, or its range among the products of the same
    left operand in its block.

    Products that read one operand do not depend on each other; on tiles of their own they run side by side,
    each on larger blocks, which exchange and reduce less. Only for products that are large enough to fill
    their share.
    """
    siblings = sibling_products(graph, node, block)
    if len(siblings) < 2 or min(_multiplications(o) for o in siblings) < SIDE_BY_SIDE * machine.tiles:
        return 0, 0
    ranges = side_by_side(graph, siblings, machine)
    return (0, 0) if ranges is None else ranges[siblings.index(node)]


def _multiplications(node: OperatorNode) -> int:
    return math.prod(node.operator.result_shape) * node.operator.operand_types[0][0][-1]


def feeds_heads(graph: Graph, node: OperatorNode, *, cast: bool = False) -> int:
    """
    Columns of a head where attention reads a value as queries or keys, behind views, and casts if `cast`,
    only; else 0.
    """
    seen = [node.results[0]]
    for value in seen:
        for use in graph.uses.get(value, ()):
            reader = use.node
            if not isinstance(reader, OperatorNode):
                continue
            if reader.operator.name == "attention" and use.index < 2:
                return reader.operator.operand_types[0][0][-1]
            if reader.operator.name in (*VIEWS, *(("cast",) if cast else ())) and len(seen) < 16:
                seen.append(reader.results[0])
    return 0


def cut_heads(graph: Graph, node: OperatorNode) -> int:
    """Columns of the heads of a product of two axes that is queries or keys, if heads cut words; else 0."""
    head, shape = feeds_heads(graph, node, cast=True), node.operator.result_shape
    cuts = head * itemsize(node.operator.result_dtype) % WORD
    return head if cuts and len(shape) == 2 and head < shape[1] and shape[1] % head == 0 else 0


def completed_groups(graph: Graph, node: OperatorNode) -> int:
    """Columns of the groups in which a cast of queries or keys completes their heads to panels; 0 if none."""
    head = feeds_heads(graph, node, cast=True)
    return cast_panels.groups(head)[0] if head % cast_panels.PANEL else 0


def feeds_bytes(graph: Graph, node: OperatorNode) -> bool:
    """Whether a value becomes one of 8 bits, behind functions of single elements and sums only."""
    seen = [node.results[0]]
    for value in seen:
        for use in graph.uses.get(value, ()):
            reader = use.node
            if not isinstance(reader, OperatorNode) or reader.operator.name not in LANES_STAY:
                continue
            if itemsize(reader.operator.result_dtype) == 1:
                return True
            if len(seen) < 16:
                seen.append(reader.results[0])
    return False


def feeds_attention_values(graph: Graph, node: OperatorNode) -> tuple[int, int] | None:
    """
    (batches that its rows are, elements of a word) of a product that reaches attention's third operand
    through casts, additions and views only; None for others.

    Its product is then better computed transposed: attention reads V with keys innermost. Rows of several
    batches may not share a word: where the keys of a batch do not fill panels, each is a product of its own.
    """
    rows = node.operator.result_shape[-2:]
    seen = [node.results[0]]
    for value in seen:
        for use in graph.uses.get(value, ()):
            reader = use.node
            if not isinstance(reader, OperatorNode):
                continue
            kind = reader.operator.name
            if kind == "attention":
                shape, dtype = reader.operator.operand_types[2]
                keys = shape[-2]
                apart = rows[0] // keys if keys and len(node.operator.result_shape) == 2 else 1
                if use.index != 2 or (keys % 16 and rows[0] != apart * keys):
                    return None
                return 1 if keys % 16 == 0 else apart, 4 // itemsize(dtype)
            if kind in ("add", "cast", *VIEWS) and len(seen) < 16:
                seen.append(reader.results[0])
    return None


__all__ = [
    "Decisions",
    "PlanError",
    "Planned",
    "carriable",
    "choose",
    "sibling_products",
    "side_by_side",
    "surroundings",
]
