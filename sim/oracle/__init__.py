# SPDX-License-Identifier: Apache-2.0
"""
What a planned program gives, bit for bit: plain numpy on logical shapes, in the order of passes that the plan
implies.

The oracle reads a module after `tile-plan-layouts`: every operation has its `plan` record and its name. It
knows nothing of tiles, buffers, layouts, exchanges or addresses; it shares with the machine model only the
functions that define arithmetic (`tilewright.machine.numerics`) and with the planner only where a plan cuts
a contraction (`blocks`, `used_grid`). So a result of the model that differs from it in one bit is a fault of
lowering, placement, exchange or encoding, and `compare_each` names the first value that departs.

`operations` evaluates one operation, `program` walks all of them, `comparison` runs the machine beside them.
"""

from tilewright.sim.oracle.comparison import (
    AsPlanned,
    Departure,
    compare_each,
    departure,
    differing,
    first_departure,
    locate,
)
from tilewright.sim.oracle.operations import OracleError, evaluate_operation
from tilewright.sim.oracle.program import Oracle

__all__ = [
    "AsPlanned",
    "Departure",
    "Oracle",
    "OracleError",
    "compare_each",
    "departure",
    "differing",
    "evaluate_operation",
    "first_departure",
    "locate",
]
