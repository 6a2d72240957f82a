# SPDX-License-Identifier: Apache-2.0
"""
Strategies: the ways in which an operator can be carried out.

A strategy knows the records that make sense for an operator, the layouts it wants its operands in, and the
expansion to stages, from which cost, memory and lowering are all read. A kind of operator has a list of
strategies; the first is its favourite. A plan names the strategy of every operator and its record, so a
further way to do the same work is one more object in the list:

    register(Strategy("stationary", ("matmul",), MyRecord, default=..., candidates=..., ...))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tilewright.machine import Machine
from tilewright.planning.operators.base import Operator, Record, Surroundings
from tilewright.planning.operators.targets import Target
from tilewright.planning.stages import PlanError, Stages, Value
from tilewright.suggestions import near

Operands = tuple[Value | None, ...]
"""Operands as they are stored; those that nobody has placed yet (parameters, inputs) are None."""

STRATEGY = "strategy"
"""Key of a written plan record that names its strategy."""


def always(operator: Operator) -> bool:
    """Most strategies serve every operator of their kind."""
    return True


def never(operator: Operator, operands: Operands, machine: Machine, near: Surroundings) -> bool:
    """Most strategies are chosen because they are the first of their kind, wherever the operator stands."""
    return False


@dataclass(frozen=True)
class Strategy:
    """
    One way to carry out operators of some kinds.

    `default` is the one sensible record, in closed form; `candidates` yields a bounded number of records, the
    best first by the strategy's own estimate; `targets` says where each operand is wanted (None: anywhere);
    `expand` makes the stages. All raise `PlanError` for what operator, record or machine do not allow.
    `applies`: whether it serves an operator at all; `suits`: whether it is to be preferred at this place.
    """

    name: str
    operators: tuple[str, ...]
    record: type[Record]
    default: Callable[[Operator, Operands, Machine, Surroundings], Any]
    candidates: Callable[[Operator, Operands, Machine, Surroundings], Iterable[Any]]
    targets: Callable[[Operator, Any, Operands, Machine], tuple[Target | None, ...]]
    expand: Callable[[Operator, Any, tuple[Value, ...], Machine], Stages]
    applies: Callable[[Operator], bool] = always
    suits: Callable[[Operator, Operands, Machine, Surroundings], bool] = never


@dataclass(frozen=True)
class Choice:
    """How one operator is carried out: a strategy and its record."""

    strategy: Strategy
    record: Record

    def targets(self, operator: Operator, operands: Operands, machine: Machine) -> tuple[Target | None, ...]:
        """Where the operands are wanted."""
        return self.strategy.targets(operator, self.record, operands, machine)

    def expand(self, operator: Operator, operands: tuple[Value, ...], machine: Machine) -> Stages:
        """What will be done."""
        return self.strategy.expand(operator, self.record, operands, machine)

    def to_json(self) -> dict[str, Any]:
        """The choice as a plan writes it."""
        return {STRATEGY: self.strategy.name, **self.record.to_json()}


_strategies: dict[str, list[Strategy]] = {}


def register(strategy: Strategy) -> Strategy:
    """Offer a strategy for the kinds of operators it names, after those that are offered already."""
    for kind in strategy.operators:
        offered = _strategies.setdefault(kind, [])
        if any(other.name == strategy.name for other in offered):
            raise ValueError(f"{kind} has a strategy {strategy.name!r} already")
        offered.append(strategy)
    return strategy


def unregister(strategy: Strategy) -> None:
    """Withdraw a strategy."""
    for kind in strategy.operators:
        _strategies[kind].remove(strategy)


def is_planned(kind: str) -> bool:
    """Whether operators of this kind have strategies: they need storage of their own."""
    return bool(_strategies.get(kind))


def offered() -> dict[str, tuple[str, ...]]:
    """The names of all strategies by kind of operator, in order."""
    return {kind: tuple(s.name for s in found) for kind, found in sorted(_strategies.items())}


def strategies(operator: Operator) -> tuple[Strategy, ...]:
    """The strategies that serve an operator, its favourite first."""
    return tuple(s for s in _strategies.get(operator.name, ()) if s.applies(operator))


def favourite(operator: Operator) -> Strategy:
    """The strategy an operator gets unless another is asked for. Raises PlanError if it has none."""
    found = strategies(operator)
    if not found:
        raise PlanError(f"tile_tensor.{operator.name} has no planner yet", location=operator.where or None)
    return found[0]


def preferred(operator: Operator, operands: Operands, machine: Machine, near: Surroundings) -> Strategy:
    """
    The strategy that the default rule takes: the first that suits what is around the operator, or its
    favourite. Raises PlanError if it has none.
    """
    for strategy in strategies(operator):
        if strategy.suits(operator, operands, machine, near):
            return strategy
    return favourite(operator)


def read_choice(operator: Operator, data: Mapping[str, Any], where: Any = None) -> Choice:
    """A choice as a plan writes it; without a name of a strategy it is the favourite. Raises PlanError."""
    fields = dict(data)
    name = fields.pop(STRATEGY, None)
    if name is None:
        strategy = favourite(operator)
    else:
        known = {s.name: s for s in strategies(operator)}
        if name not in known:
            raise PlanError(
                f"{operator.name} has no strategy {name!r}",
                location=where or operator.where or None,
                notes=(f"strategies of this operator: {', '.join(known) or 'none'}",),
                hint=near(str(name), known, limit=1),
            )
        strategy = known[name]
    return Choice(strategy, strategy.record.from_json(fields, where or operator.where))
