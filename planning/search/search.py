# SPDX-License-Identifier: Apache-2.0
"""
Search: plans of whole programs, priced in cycles, memory and rows together.

The search walks the program and decides at every *point*: an operator, the products of one operand together
(side by side or one after another), the layout of a carried value. A state is what was decided so far; the
rest of the program follows by the default rule, so every state has the price of a whole program, conversions,
merged phases and memory included. States whose live values lie alike are one: the cheaper stays, and the best
`width` of them go on. The body of a repeat is walked once. Passes over the program are made until one finds
nothing, or the budget is spent; it is counted in nodes of work, so the same program gives the same plan on
every computer.

Bytes that are missing are priced by multipliers. When the real allocator, or the cap on rows, refuses a plan
that should have fit, the memory that it lacked is counted as smaller by as much and the multiplier rises: a
*round*. Candidates come from the strategies' own `candidates`; the search knows none of them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Any, Literal

from tilewright import instrumentation
from tilewright.diagnostics import TileError
from tilewright.machine import Machine
from tilewright.planning.graph import Carried, Graph, Node, OperatorNode, Placement, RepeatNode
from tilewright.planning.homes import home_place
from tilewright.planning.operators import VIEWS, preferred, strategies
from tilewright.planning.operators.base import PIECES, Surroundings
from tilewright.planning.operators.strategy import Choice
from tilewright.planning.operators.targets import flat_layout
from tilewright.planning.plan import Plan
from tilewright.planning.search.favourites import (
    Decisions,
    Planned,
    choose,
    sibling_products,
    side_by_side,
    surroundings,
)
from tilewright.planning.search.price import SPANS_PER_NODE, Price
from tilewright.planning.search.workers import BATCH, Answer, Evaluator, Program, SharedEvaluator
from tilewright.planning.stages import Value
from tilewright.planning.unfold import unfold

Effort = Literal["off", "fast", "full"]


@dataclass(frozen=True)
class Budget:
    """
    How much is searched. nodes: prices of whole programs and of single operators, by `Search.weights`. width:
    states that go on behind a point. records: candidates of each strategy of an operator. passes: over the
    program. rounds: plans that the allocator may refuse; patience: those that may come no nearer to fitting
    than one before them. Of an operator's candidates the `keep` that are cheapest by themselves are priced
    with the whole program, those only that take no more than `slack` times what the choice in force takes
    (and a phase).
    """

    nodes: int
    width: int
    records: int
    passes: int
    rounds: int
    patience: int
    keep: int
    slack: float


BUDGETS: Mapping[str, Budget] = {
    "fast": Budget(nodes=5_000, width=1, records=8, passes=2, rounds=8, patience=3, keep=4, slack=1.05),
    "full": Budget(nodes=80_000, width=4, records=32, passes=4, rounds=16, patience=8, keep=16, slack=1.3),
}

DEFAULT_EFFORT: Effort = "fast"
"""How much is searched where nobody says, and no plan is given."""

WORTH = 0.998
"""
A plan replaces the default rule's if its price is below this share of it: estimates are no better. A pass
over the program that finds less is the last.
"""

MULTIPLIER = 16.0
"""Cycles that a missing byte costs at first, for each cycle that the program takes a byte of memory."""

CROWDED = 6
"""Where memory is missing, so many times as many candidates are looked at: the lean ones are not the fast."""

RISE = 4.0
"""Factor by which the multipliers rise in every round."""

FURTHER = 2
"""Plans that are still tried where another was refused and the default rule's is known to fit."""


@dataclass(frozen=True)
class State:
    """What was decided, the plan of the whole program that follows, its price and value."""

    decisions: Decisions
    planned: Planned
    price: Price
    value: float


@dataclass
class Tried:
    """
    What was found about one option of a point: its price, or why it was dropped (`reason`); `difference` is
    against the state it was tried on, in cycles.
    """

    point: str
    option: str
    cycles: int | None
    short: int
    reason: str


@dataclass
class Round:
    """A plan that was given to the allocator: what it was priced, and what came back ("" if it fits)."""

    number: int
    cycles: int
    short: int
    verdict: str
    memory: str = ""
    missing: int = 0
    homes: str = ""
    diagnosis: Mapping[str, Any] | None = None
    """What the allocator said of the plan, as JSON."""

    @property
    def distance(self) -> tuple[bool, int, int]:
        """
        How far a refused plan is from fitting: proofs after what only found no place, then by bytes. What
        found no place lacks none that can be counted, so of those the one that takes fewer is nearer.
        """
        return bool(self.diagnosis and self.diagnosis["proof"]), self.missing, self.short


@dataclass(frozen=True)
class Point:
    """A decision: its name, the operators it is about, and its options in a state."""

    name: str
    operators: tuple[str, ...]
    options: Callable[[State], Iterator[tuple[str, Decisions]]]
    values: frozenset[int]
    """Values whose layouts tell states apart behind it: made up to here and still read."""


@dataclass
class Search:
    """
    The search for one program's plan. `best` gives plans to try, the most promising first; `refuse` says what
    the allocator found, and `best` gives another.
    """

    graph: Graph
    machine: Machine
    demanded: Plan
    budget: Budget
    balanced: bool = True
    row_cap: int | None = None
    executor: Executor | None = None
    batch: int = BATCH
    tried: list[Tried] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    default_fits: int | None = None
    """The round in which the default rule's plan was found to fit, behind others that were refused."""

    def __post_init__(self) -> None:
        program = Program(self.graph, self.machine, self.demanded, self.balanced, self.row_cap)
        self.evaluator = (
            Evaluator(program)
            if self.executor is None
            else SharedEvaluator(program, self.executor, self.batch)
        )
        self.pricer = self.evaluator.pricer
        self.margins: dict[str, int] = {}
        self.multiplier = 0.0
        self.refused: dict[str, str] = {}
        self.favourite = self.state(Decisions())
        self.multiplier = MULTIPLIER * self.favourite.price.cycles / self.machine.sram_bytes
        self.favourite = self.valued(self.favourite)
        self.known: dict[str, State] = {}
        self.searched = False
        self.divided = False
        self.nodes = 0
        spans = self.pricer.spans // SPANS_PER_NODE
        self.weights = 1 + spans // 8, 2 + spans
        """Nodes that the price of one operator takes, and that of a whole program."""

    # -- answers

    def best(self) -> State:
        """
        The plan that looks best among those that were not refused. Behind the first that was, it is the
        default rule's: what it fits is not refused, and what is tried then has to be better.
        """
        if self.default_fits is not None:
            return self.better_than_default() or self.favourite
        if self.default_is_due:
            return self.favourite
        if not self.searched:
            self.run(self.favourite)
            if not self.divided and not any(self.promising()):
                self.divided = True
                self.run(self.favourite)
        states = [s for key, s in self.known.items() if key not in self.refused]
        favourite = None if self.key(self.favourite) in self.refused else self.favourite
        if not states:
            return self.favourite
        found = min(states, key=lambda s: (self.lacks(s), s.value))
        if favourite is not None and not self.lacks(favourite) and found.value > WORTH * favourite.value:
            return favourite
        return found

    def promising(self) -> Iterator[State]:
        """What is known, was not refused and seems to fit."""
        return (s for key, s in self.known.items() if key not in self.refused and not self.lacks(s))

    def is_default(self, state: State) -> bool:
        """Whether a plan is the default rule's."""
        return self.key(state) == self.key(self.favourite)

    @property
    def default_is_due(self) -> bool:
        """
        Whether the default rule's plan comes next: another was refused and it was not tried, though its price
        says that it fits, or nothing else may be tried behind it.
        """
        untried = self.key(self.favourite) not in self.refused
        last = len(self.rounds) + 1 >= self.budget.rounds or self.fruitless + 1 >= self.budget.patience
        return bool(self.rounds) and untried and (self.favourite.price.short <= 0 or last)

    def better_than_default(self) -> State | None:
        """What is worth a try though the default rule's plan fits: known, cheaper, and not refused."""
        assert self.default_fits is not None
        if self.exhausted or len(self.rounds) - self.default_fits >= FURTHER:
            return None
        limit = WORTH * self.favourite.price.cycles
        better = [
            s
            for key, s in self.known.items()
            if key not in self.refused and s.price.cycles <= limit and not self.lacks(s)
        ]
        return min(better, key=lambda s: s.price.cycles, default=None)

    def refuse(
        self,
        state: State,
        verdict: str,
        memory: str = "any",
        missing: int = 0,
        homes: str = "",
        diagnosis: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Record that a plan does not fit: `missing` bytes of `memory`. What is left of it is counted as smaller
        by that, and by what the plan was thought to leave free.
        """
        number = len(self.rounds) + 1
        self.rounds.append(
            Round(number, state.price.cycles, state.price.short, verdict, memory, missing, homes, diagnosis)
        )
        self.refused[self.key(state)] = verdict
        need = next((n for n in state.price.needs if n.memory == memory), state.price.needs[0])
        self.margins[memory] = max(self.margins.get(memory, 0), max(missing, 64) - need.short)
        self.multiplier *= RISE
        self.favourite = self.valued(self.favourite)
        self.known = {key: self.valued(s) for key, s in self.known.items()}
        self.searched = False

    def fall_back(self) -> None:
        """Forget what was found: the next plan is the default rule's, unless it was refused."""
        self.known = {}
        self.searched = True

    def accept(self, state: State, homes: str = "") -> bool:
        """
        Record that a plan fits; whether it is the one to take. The default rule's, tried because another was
        refused, is not while a better one is known; it is when it comes back.
        """
        is_default, number = self.is_default(state), len(self.rounds) + 1
        if is_default and self.default_fits is not None:
            return True
        self.rounds.append(Round(number, state.price.cycles, state.price.short, "", homes=homes))
        if number == 1 or not is_default:
            return True
        self.default_fits = number
        return self.better_than_default() is None

    def decisions(self, state: State) -> Decisions:
        """
        All that a state decides. What does not serve where homes lie otherwise gives way to the default rule.
        """
        return Decisions(state.planned.choices, state.decisions.layouts)

    @property
    def exhausted(self) -> bool:
        """Whether no more plans may be tried: enough were, or the last ones came no nearer to fitting."""
        return len(self.rounds) >= self.budget.rounds or self.fruitless >= self.budget.patience

    @property
    def nearest(self) -> Round | None:
        """The refused plan that came nearest to fitting, of equals the first; None where none was refused."""
        return min((r for r in self.rounds if r.verdict), key=lambda r: r.distance, default=None)

    @property
    def fruitless(self) -> int:
        """Plans refused behind the one that came nearest to fitting."""
        nearest = self.nearest
        return sum(1 for r in self.rounds[nearest.number :] if r.verdict) if nearest else 0

    # -- states

    def state(self, decisions: Decisions) -> State:
        """The whole program under some decisions. Raises TileError where it cannot be."""
        planned = choose(self.graph, self.machine, self.demanded, decisions=decisions, expander=self.pricer)
        program = unfold(self.graph, planned.choices, planned.placements, self.machine, self.pricer)
        return self.valued(State(decisions, planned, self.pricer.price(program), 0.0))

    def valued(self, state: State) -> State:
        """The state with its value: cycles, and what is missing at its multiplier."""
        price = state.price
        worst = self.short(state)
        return replace(state, value=price.cycles + self.multiplier * (worst + 0.25 * price.crowded))

    def short(self, state: State) -> int:
        """Bytes that are missing when what the allocator found is taken off; 0 where all fit."""
        return max(0, *(need.short + self.margins.get(need.memory, 0) for need in state.price.needs))

    def lacks(self, state: State) -> bool:
        """Whether memory is missing by what is known so far."""
        return self.short(state) > 0

    def divides(self, state: State) -> bool:
        """Whether operands in pieces are looked at: only where nothing fits without, since they are many."""
        return self.divided and self.lacks(state)

    def key(self, state: State) -> str:
        """What tells plans apart."""
        return state.planned.plan(self.graph, "").text()

    # -- the walk

    def run(self, start: State) -> None:
        """Search from a state on; every state that was on the way is known."""
        self.searched = True
        self.known.setdefault(self.key(start), start)
        budget = self.budget.nodes
        first = self.nodes
        points = list(self.points())
        if self.budget.width == 1:  # where one state goes on, what costs most comes first
            points.sort(key=self.urgency)
        beam = [min([start, *self.known.values()], key=lambda s: s.value)]
        for _ in range(self.budget.passes):
            before = beam[0].value
            for number, point in enumerate(points, 1):
                if self.nodes - first > budget:
                    break
                beam = self.step(point, beam)
                instrumentation.advance(number, len(points))
            if beam[0].value > WORTH * before or self.nodes - first > budget:
                break
        for state in beam:
            self.known.setdefault(self.key(state), state)

    def urgency(self, point: Point) -> int:
        """Points in the order of what their operators cost, layouts of carried values before all."""
        cost = self.favourite.price.cycles_of
        return -sum(cost.get(name, 0) for name in point.operators) if point.operators else -(1 << 62)

    def step(self, point: Point, beam: list[State]) -> list[State]:
        """The best states behind a point, those whose live values lie alike being one."""
        found: dict[Any, State] = {}

        def add(state: State) -> None:
            key = tuple(state.planned.placements.get(v) for v in sorted(point.values))
            if key not in found or state.value < found[key].value:
                found[key] = state

        for state in beam:
            add(state)
            options = list(point.options(state))
            self.nodes += self.weights[1] * len(options)
            answers = self.evaluator.many([decisions for _, decisions in options])
            for (option, decisions), answer in zip(options, answers, strict=True):
                new = self.noted(point.name, option, decisions, answer)
                if new is not None:
                    add(new)
        ranked = sorted(found.values(), key=lambda s: s.value)
        return ranked[: self.budget.width]

    def noted(self, point: str, option: str, decisions: Decisions, answer: Answer) -> State | None:
        """The state of an option, noted; None where it cannot be."""
        if answer.price is None or answer.planned is None:
            self.tried.append(Tried(point, option, None, 0, answer.refusal))
            return None
        state = self.valued(State(decisions, answer.planned, answer.price, 0.0))
        reason = "memory" if self.lacks(state) else ""
        self.tried.append(Tried(point, option, state.price.cycles, self.short(state), reason))
        if not self.lacks(state):
            self.remember(state)
        return state

    def remember(self, state: State) -> None:
        """Keep a state that fits for the case that better ones are refused: the best few."""
        key = self.key(state)
        self.known[key] = state
        if len(self.known) > 64:
            worst = max(self.known, key=lambda k: self.known[k].value)
            del self.known[worst]

    # -- points

    def points(self) -> Iterator[Point]:
        order = {id(node): i for i, node in enumerate(self.graph.nodes())}
        last: dict[int, int] = {}
        for value, uses in self.graph.uses.items():
            last[value] = max(order[id(use.node)] for use in uses)
        made: set[int] = set()
        seen: set[str] = set()

        def live(at: int) -> frozenset[int]:
            return frozenset(v for v in made if last.get(v, -1) > at)

        def walk(nodes: tuple[Node, ...]) -> Iterator[Point]:
            for node in nodes:
                at = order[id(node)]
                if isinstance(node, RepeatNode):
                    made.update(c.argument for c in node.carried)
                    for c in free_carried(self.graph, node, self.demanded):
                        name = self.graph.values[c.argument].name
                        yield Point(name, (), self.carried_options(node, c.argument), live(at))
                    yield from walk(node.body)
                    made.update(node.results)
                    continue
                made.update(node.results)
                if not isinstance(node, OperatorNode) or not is_free(node, self.demanded):
                    continue
                group = sibling_products(self.graph, node, nodes)
                all_free = all(is_free(n, self.demanded) for n in group)
                if len(group) > 1 and all_free and group[0].name not in seen:
                    seen.add(group[0].name)
                    names = tuple(n.name for n in group)
                    yield Point(" ".join(names), names, self.group_options(group, nodes), live(at))
                yield Point(node.name, (node.name,), self.operator_options(node, nodes), live(at))

        yield from walk(self.graph.body)

    def operator_options(
        self, node: OperatorNode, block: tuple[Node, ...]
    ) -> Callable[[State], Iterator[tuple[str, Decisions]]]:
        def options(state: State) -> Iterator[tuple[str, Decisions]]:
            near = surroundings(self.graph, node, block, self.machine)
            near = replace(near, scarce=self.lacks(state), divided=self.divides(state))
            values = tuple(self.as_met(v, state) for v in node.operands)
            current = state.planned.choices[node.name]
            seen = {str(current.to_json())}
            offers: list[tuple[str, Choice]] = []
            group = sibling_products(self.graph, node, block)
            if len(group) > 1 and getattr(current.record, "base", None) is not None:
                near = replace(near, tiles=self.own_tiles(node, group, state))
            for strategy in strategies(node.operator):
                try:
                    records = list(
                        islice(
                            strategy.candidates(node.operator, values, self.machine, near),
                            self.budget.records * (CROWDED if self.lacks(state) else 1),
                        )
                    )
                except TileError:
                    continue
                for record in records:
                    choice = Choice(strategy, record)
                    text = str(choice.to_json())
                    if text not in seen:
                        seen.add(text)
                        offers.append((text, choice))
            for text, choice in self.screened(node, state, current, offers):
                yield text, self.with_choices(state, {node.name: choice})

        return options

    def screened(
        self, node: OperatorNode, state: State, current: Choice, offers: list[tuple[str, Choice]]
    ) -> list[tuple[str, Choice]]:
        """The offers that are worth the price of a whole program: the cheapest by themselves."""
        if len(offers) <= 1:
            return offers
        values = tuple(self.placed(v, state) for v in node.operands)
        try:
            now = self.alone(node, current, values)
        except TileError:  # it goes by where others have placed a parameter or an input
            return offers[: self.budget.keep]
        crowded = self.lacks(state)
        found: list[tuple[int, int, str, Choice]] = []
        self.nodes += self.weights[0] * len(offers)
        for i, (text, choice) in enumerate(offers):
            try:
                cycles, nbytes = self.alone(node, choice, values)
            except TileError as error:
                self.tried.append(Tried(node.name, text, None, 0, error.message))
                continue
            limit = self.budget.slack * now[0] + self.machine.phase_overhead
            if cycles > limit and not (crowded and nbytes < now[1]):
                reason = f"{cycles:,} cycles by itself, {now[0]:,} now"
                self.tried.append(Tried(node.name, text, None, 0, reason))
                continue
            weight = cycles + int(self.multiplier * nbytes) if crowded else cycles
            found.append((weight, i, text, choice))
        found.sort(key=lambda offer: offer[:2])
        for _, _, text, _ in found[self.budget.keep :]:
            self.tried.append(Tried(node.name, text, None, 0, "others are cheaper by themselves"))
        return [(text, choice) for _, _, text, choice in found[: self.budget.keep]]

    def alone(self, node: OperatorNode, choice: Choice, values: tuple[Value | None, ...]) -> tuple[int, int]:
        """Cycles of an operator by itself, its parameters in homes that suit it, and the bytes it adds."""
        targets = choice.targets(node.operator, values, self.machine)
        stored: list[Value] = []
        for operand, value, target in zip(node.operands, values, targets, strict=True):
            if value is None:
                described = self.graph.values[operand]
                layout, view = target or flat_layout(described.shape, described.dtype, self.machine)
                chain = self.graph.chain(operand)
                members = max(max(1, self.graph.values[v].members) for v in chain)
                home = home_place(layout, view, described.dtype, members, self.machine.tiles)
                value = self.graph.stored(operand, home)
            stored.append(value)
        stages = self.pricer.candidate(node, choice, tuple(stored))
        sequences = [
            max(max(1, self.graph.values[v].members) for v in self.graph.chain(operand)) > 1
            for operand in node.operands
        ]
        return self.pricer.alone(stages, sequences), stages.peak_bytes()

    def placed(self, value: int, state: State) -> Value | None:
        """A value where it lies; None for what its first reader places."""
        if self.as_met(value, state) is None:
            return None
        return self.graph.stored(value, state.planned.placements[value])

    def group_options(
        self, group: list[OperatorNode], block: tuple[Node, ...]
    ) -> Callable[[State], Iterator[tuple[str, Decisions]]]:
        """
        Products of one operand side by side, each on tiles of its own, and one after another; where
        candidates have operands in pieces, with theirs so too, since those of all arrive in the same phases.
        """

        def options(state: State) -> Iterator[tuple[str, Decisions]]:
            ranges = side_by_side(self.graph, group, self.machine)
            modes: list[tuple[str, list[tuple[int, int]]]] = [("one after another", [(0, 0)] * len(group))]
            if ranges is not None:
                modes.append(("side by side", ranges))
            counts = (1, PIECES) if self.divides(state) else (1,)
            for (mode, tiles), pieces in product(modes, counts):
                label = mode if pieces == 1 else f"{mode}, in {pieces} pieces"
                choices: dict[str, Choice] = {}
                try:
                    for node, share in zip(group, tiles, strict=True):
                        near = surroundings(self.graph, node, block, self.machine)
                        near = replace(near, tiles=share, pieces=pieces)
                        choices[node.name] = self.default(node, near, state)
                except TileError:
                    continue
                if any(choices[n.name] != state.planned.choices[n.name] for n in group):
                    yield label, self.with_choices(state, choices)

        return options

    def default(self, node: OperatorNode, near: Surroundings, state: State) -> Choice:
        values = tuple(self.as_met(v, state) for v in node.operands)
        strategy = preferred(node.operator, values, self.machine, near)
        return Choice(strategy, strategy.default(node.operator, values, self.machine, near))

    def own_tiles(self, node: OperatorNode, group: list[OperatorNode], state: State) -> tuple[int, int]:
        """First tile and number of tiles of a product beside others of its operand; (0, 0): all of them."""
        ranges = side_by_side(self.graph, group, self.machine)
        bases = [getattr(state.planned.choices[n.name].record, "base", 0) for n in group]
        if ranges is None or bases != [first for first, _ in ranges]:
            return 0, 0
        return ranges[next(i for i, other in enumerate(group) if other is node)]

    def carried_options(
        self, node: RepeatNode, argument: int
    ) -> Callable[[State], Iterator[tuple[str, Decisions]]]:
        """Where a carried value may lie: as it is made before the repeat, or by an iteration."""

        def options(state: State) -> Iterator[tuple[str, Decisions]]:
            carried = next(c for c in node.carried if c.argument == argument)
            name = self.graph.values[argument].name
            now = state.planned.placements[argument]
            for label, value in (
                ("as an iteration makes it", carried.following),
                ("as it begins", carried.initial),
            ):
                where = state.planned.placements.get(value)
                if where is None or where == now or not carriable_place(where):
                    continue
                layouts = {**state.decisions.layouts, name: where}
                yield label, Decisions(state.decisions.choices, layouts)

        return options

    def with_choices(self, state: State, choices: Mapping[str, Choice]) -> Decisions:
        return Decisions({**state.decisions.choices, **choices}, state.decisions.layouts)

    def as_met(self, value: int, state: State) -> Value | None:
        """A value as an operator meets it: None for what its first reader places."""
        if self.graph.values[self.graph.chain(value)[-1]].origin in ("parameter", "input", "constant"):
            return None
        where = state.planned.placements.get(value)
        return None if where is None else self.graph.stored(value, where)


def is_free(node: OperatorNode, demanded: Plan) -> bool:
    """Whether an operator has a choice that neither the program's text nor the plan makes."""
    return node.operator.name not in VIEWS and node.given is None and node.name not in demanded.operators


def free_carried(graph: Graph, node: RepeatNode, demanded: Plan) -> list[Carried]:
    """The carried values of a repeat whose layout neither the program's text nor the plan names."""
    values = ((c, graph.values[c.argument]) for c in node.carried)
    return [c for c, value in values if value.placement is None and value.name not in demanded.layouts]


def effort_for(demanded: Plan) -> Effort:
    """How much is searched where nobody says: a plan that is given is replayed, and not searched."""
    return "off" if demanded.operators or demanded.homes or demanded.layouts else DEFAULT_EFFORT


def is_anything_free(graph: Graph, demanded: Plan) -> bool:
    """Whether a search for the program's plan has anything to decide."""
    return any(
        is_free(node, demanded)
        if isinstance(node, OperatorNode)
        else isinstance(node, RepeatNode) and bool(free_carried(graph, node, demanded))
        for node in graph.nodes()
    )


def carriable_place(where: Placement) -> bool:
    """Whether a repeat can carry a value there: it fills its storage, once."""
    layout, view = where
    storage = tuple(axis.extent for axis in layout.axes)
    return layout.chunk is None and not layout.replicas and view.is_bijection(storage)
