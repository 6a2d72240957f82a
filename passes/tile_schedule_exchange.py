# SPDX-License-Identifier: Apache-2.0
"""
Schedules every exchange phase and notes the bytes of its longest row, which memory allocation reserves on
every tile. The module gets the figures of all phases: bounds, schedules, and what planning estimates.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation

from tilewright.diagnostics import TileError
from tilewright.dialects.tile import ExchangeOp
from tilewright.instrumentation import advance
from tilewright.machine import Machine
from tilewright.options import MACHINE_OPTION, option
from tilewright.passes.ir.exchange import (
    PhaseFigures,
    phase_figures,
    plan_together,
    record_figures,
    set_items,
)
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.tensors import machine_of
from tilewright.settings import current


@dataclass(frozen=True)
class TileScheduleExchangePass(ProgramPass):
    """Schedule the exchange phases."""

    name = "tile-schedule-exchange"
    machine: str | None = option(None, MACHINE_OPTION)
    items: str | None = option(
        None,
        "auto: 8-byte items where they make a phase shorter; words: nowhere; without it `--exchange-items`",
    )

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        record_figures(op, schedule_phases(op, machine_of(op, self.machine), self.items))


def schedule_phases(within: Operation, machine: Machine, items: str | None = None) -> list[PhaseFigures]:
    """Schedule the phases inside of an operation, note the bytes of their rows, and return their figures."""
    items = items or current().exchange_items or "auto"
    if items not in ("auto", "words"):
        raise TileError(f"tile-schedule-exchange: items is 'auto' or 'words', not '{items}'")
    figures: list[PhaseFigures] = []
    phases = [op for op in within.walk() if isinstance(op, ExchangeOp)]
    for phase in phases:
        set_items(phase, items)
    plan_together(phases, machine, advance)
    for phase in phases:
        try:
            figures.append(phase_figures(phase, machine))
        except TileError as error:
            error.location = error.location or phase.location
            raise
        phase.properties["row_bytes"] = IntegerAttr(figures[-1].row_bytes, i64)
    return figures
