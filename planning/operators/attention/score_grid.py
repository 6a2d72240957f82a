# SPDX-License-Identifier: Apache-2.0
"""
Attention on a two-dimensional score grid per head: query parts by key parts, with a distributed softmax.

A tile holds the scores of one block of queries against one block of keys. Row maxima of the key parts are
exchanged, every tile exponentiates its block and sums it, multiplies by its block of V, and the partial
outputs and sums are reduced by their owners, which divide. Complete rows of K and V never exist on one tile.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.machine import Machine
from tilewright.planning.operators.attention.expansion import Expansion
from tilewright.planning.operators.attention.grids import choose_grid, ranked_grids
from tilewright.planning.operators.attention.places import grid_of_keys, shape_targets
from tilewright.planning.operators.attention.shape import AttentionRecord, canonical, used_grid
from tilewright.planning.operators.base import Operator, Surroundings
from tilewright.planning.operators.grids import check_fits, check_parts
from tilewright.planning.operators.strategy import Strategy
from tilewright.planning.operators.targets import Target
from tilewright.planning.stages import Stages, Value

CANDIDATES = 24
"""Score grids that are worth a closer look."""


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> AttentionRecord:
    """The grid of keys that stay where they lie, else the cheapest one."""
    shape = canonical(operator)
    return AttentionRecord(grid_of_keys(shape, operands[1], machine) or choose_grid(shape, machine))


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> Iterator[AttentionRecord]:
    """The cheapest score grids by the closed form."""
    for grid in ranked_grids(canonical(operator), machine)[:CANDIDATES]:
        yield AttentionRecord(grid)


def check_record(operator: Operator, record: AttentionRecord, machine: Machine) -> None:
    """Raises PlanError for a grid that the operator or the machine does not allow."""
    check_parts(operator, record.grid, ("batch", "queries", "keys"))
    check_fits(operator, record.grid, used_grid(canonical(operator), record.grid), machine)


def operand_targets(
    operator: Operator, record: AttentionRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    """Where queries, keys and values are wanted; a mask is taken as it is."""
    check_record(operator, record, machine)
    return shape_targets(canonical(operator), record, machine)


def expand(
    operator: Operator, record: AttentionRecord, operands: tuple[Value, ...], machine: Machine
) -> Stages:
    """Scores, probabilities and outputs of every block; partial results of key parts are added up."""
    check_record(operator, record, machine)
    return Expansion(operator, record, operands, machine).stages()


SCORE_GRID = Strategy(
    "score_grid",
    ("attention",),
    AttentionRecord,
    default=default_record,
    candidates=candidates,
    targets=operand_targets,
    expand=expand,
)
