# SPDX-License-Identifier: Apache-2.0
"""
What the registry holds, by kind: each module enters its kernels when it is imported, in this order.

A kernel is one entry here (operands with their types, scalars, cost, evidence) and one function in
`tilewright.sim.kernels` that says what it computes.
"""

# isort: off
from tilewright.machine.kernels.entries import products
from tilewright.machine.kernels.entries import pointwise
from tilewright.machine.kernels.entries import chains
from tilewright.machine.kernels.entries import movement
from tilewright.machine.kernels.entries import reductions
from tilewright.machine.kernels.entries import ordering
from tilewright.machine.kernels.entries import pictures
from tilewright.machine.kernels.entries import rows
from tilewright.machine.kernels.entries import attention

__all__ = [
    "attention",
    "chains",
    "movement",
    "ordering",
    "pictures",
    "pointwise",
    "products",
    "reductions",
    "rows",
]
