# SPDX-License-Identifier: Apache-2.0
"""
One planner per tensor operator: the default plan record, the layouts it wants, and its expansion to
stages.

`PLANNERS` maps an operator name of the tile_tensor dialect to its planner. A search calls `operand_targets`
and `expand` with its own records; `default_record` is the one fixed, sensible choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tilewright.machine import Machine
from tilewright.planning.operators import attention, empty, gather, matmul, movement, pointwise, rowwise
from tilewright.planning.operators.base import Operator, Record, Target
from tilewright.planning.operators.empty import is_empty
from tilewright.planning.stages import Stages, Value

Operands = tuple[Value | None, ...]


@dataclass(frozen=True)
class Planner:
    """How one operator is planned; operands that are not placed yet (parameters, inputs) are None."""

    record: type[Record]
    default_record: Callable[[Operator, Operands, Machine], Any]
    operand_targets: Callable[[Operator, Any, Operands, Machine], tuple[Target | None, ...]]
    expand: Callable[[Operator, Any, tuple[Value, ...], Machine], Stages]


def _unless_empty(planner: Planner) -> Planner:
    """The planner, but for operators with a tensor of no elements."""

    def default_record(operator: Operator, operands: Operands, machine: Machine) -> Any:
        return planner.record() if is_empty(operator) else planner.default_record(operator, operands, machine)

    def operand_targets(
        operator: Operator, record: Any, operands: Operands, machine: Machine
    ) -> tuple[Target | None, ...]:
        if is_empty(operator):
            return (None,) * len(operands)
        return planner.operand_targets(operator, record, operands, machine)

    def expand(operator: Operator, record: Any, operands: tuple[Value, ...], machine: Machine) -> Stages:
        if is_empty(operator):
            return empty.expand(operator, operands, machine)
        return planner.expand(operator, record, operands, machine)

    return Planner(planner.record, default_record, operand_targets, expand)


_pointwise = Planner(
    pointwise.PointwiseRecord, pointwise.default_record, pointwise.operand_targets, pointwise.expand
)
_rows = Planner(rowwise.RowRecord, rowwise.default_record, rowwise.operand_targets, rowwise.expand)

PLANNERS: dict[str, Planner] = {
    "matmul": Planner(matmul.MatmulRecord, matmul.default_record, matmul.operand_targets, matmul.expand),
    "attention": Planner(
        attention.AttentionRecord, attention.default_record, attention.operand_targets, attention.expand
    ),
    "gather": Planner(gather.GatherRecord, gather.default_record, gather.operand_targets, gather.expand),
    **{name: _rows for name in ("layer_norm", "rms_norm", "softmax", "reduce")},
    **{name: _pointwise for name in (*pointwise.FUNCTIONS, "gelu", "bias_gelu", "cast")},
    "concat": Planner(
        movement.FlatRecord, movement.default_record, movement.operand_targets, movement.expand_concat
    ),
    "pad": Planner(
        movement.FlatRecord, movement.default_record, movement.operand_targets, movement.expand_pad
    ),
}
PLANNERS = {name: _unless_empty(planner) for name, planner in PLANNERS.items()}
"""Planner of each operator that needs storage of its own."""

VIEWS = ("transpose", "reshape", "slice", "broadcast")
"""Operators that only change the view of their operand, where it can be expressed."""

__all__ = ["PLANNERS", "VIEWS", "Operator", "Planner", "Record", "Target"]
