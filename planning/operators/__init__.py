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
from tilewright.planning.operators import attention, gather, matmul, movement, pointwise, rowwise
from tilewright.planning.operators.base import Operator, Record, Target
from tilewright.planning.stages import Stages, Value

Operands = tuple[Value | None, ...]


@dataclass(frozen=True)
class Planner:
    """How one operator is planned; operands that are not placed yet (parameters, inputs) are None."""

    record: type[Record]
    default_record: Callable[[Operator, Operands, Machine], Any]
    operand_targets: Callable[[Operator, Any, Operands, Machine], tuple[Target | None, ...]]
    expand: Callable[[Operator, Any, tuple[Value, ...], Machine], Stages]


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
"""Planner of each operator that needs storage of its own."""

VIEWS = ("transpose", "reshape", "slice", "broadcast")
"""Operators that only change the view of their operand, where it can be expressed."""

__all__ = ["PLANNERS", "VIEWS", "Operator", "Planner", "Record", "Target"]
