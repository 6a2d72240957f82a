# SPDX-License-Identifier: Apache-2.0
"""
The strategies of the tensor operators, and the operators that are views.

Importing this package offers what the project has; `strategy.register` offers more. `strategies(operator)`
lists the ways to carry an operator out, `read_choice` reads one from a plan.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from tilewright.machine import Machine
from tilewright.planning.operators import (
    attention,
    cast_panels,
    dynamic,
    empty,
    gather,
    matmul,
    movement,
    pointwise,
    rowwise,
    scatter,
    windows,
)
from tilewright.planning.operators.base import Operator, Record, Surroundings
from tilewright.planning.operators.empty import is_empty
from tilewright.planning.operators.standard import with_weights_anywhere
from tilewright.planning.operators.strategy import (
    Choice,
    Operands,
    Strategy,
    favourite,
    is_planned,
    preferred,
    read_choice,
    register,
    strategies,
    unregister,
)
from tilewright.planning.operators.targets import Target
from tilewright.planning.stages import Stages, Value


def _unless_empty(strategy: Strategy) -> Strategy:
    """The strategy, but for operators with a tensor of no elements: those have no choices."""

    def default(operator: Operator, operands: Operands, machine: Machine, near: Surroundings) -> Any:
        return (
            strategy.record() if is_empty(operator) else strategy.default(operator, operands, machine, near)
        )

    def candidates(
        operator: Operator, operands: Operands, machine: Machine, near: Surroundings
    ) -> Iterable[Any]:
        if is_empty(operator):
            return (strategy.record(),)
        return strategy.candidates(operator, operands, machine, near)

    def targets(
        operator: Operator, record: Any, operands: Operands, machine: Machine
    ) -> tuple[Target | None, ...]:
        if is_empty(operator):
            return (None,) * len(operands)
        return strategy.targets(operator, record, operands, machine)

    def expand(operator: Operator, record: Any, operands: tuple[Value, ...], machine: Machine) -> Stages:
        if is_empty(operator):
            return empty.expand(operator, operands, machine)
        return strategy.expand(operator, record, operands, machine)

    return dataclasses.replace(
        strategy, default=default, candidates=candidates, targets=targets, expand=expand
    )


for _strategy in (
    *matmul.STRATEGIES,
    *attention.STRATEGIES,
    *dynamic.STRATEGIES,
    *gather.STRATEGIES,
    *rowwise.STRATEGIES,
    *pointwise.STRATEGIES,
    *cast_panels.STRATEGIES,
    *movement.STRATEGIES,
    *windows.STRATEGIES,
    *scatter.STRATEGIES,
    *(with_weights_anywhere(s) for s in (matmul.GRID, attention.SCORE_GRID)),
):
    register(_unless_empty(_strategy))

VIEWS = ("transpose", "reshape", "slice", "broadcast")
"""Operators that only change the view of their operand, where it can be expressed."""

__all__ = [
    "VIEWS",
    "Choice",
    "Operands",
    "Operator",
    "Record",
    "Strategy",
    "Surroundings",
    "Target",
    "favourite",
    "is_planned",
    "preferred",
    "read_choice",
    "register",
    "strategies",
    "unregister",
]
