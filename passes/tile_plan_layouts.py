# SPDX-License-Identifier: Apache-2.0
"""
Chooses a plan for every tensor operation and writes it down: a `plan` attribute on each operation, a
layout as encoding of each value, a home for each parameter.

The program is read into a graph, the graph is planned (`planning/search`), and the plan is written back. An
operation's own `plan` attribute comes first, then the plan file, then the default rule. What has a layout
keeps it. Foreign operations are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr

from tilewright import settings
from tilewright.dialects.entry import entry_function
from tilewright.dialects.program_check import check_placed, check_types
from tilewright.options import MACHINE_OPTION, option
from tilewright.passes.ir.graph import GraphOfModule
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.tensors import MACHINE, machine_of
from tilewright.planning.memory.capacity import check_capacity
from tilewright.planning.plan import Plan
from tilewright.planning.search.favourites import choose


@dataclass(frozen=True)
class TilePlanLayoutsPass(ProgramPass):
    """Choose plans and layouts."""

    name = "tile-plan-layouts"
    machine: str | None = option(None, MACHINE_OPTION)
    plan: str | None = option(None, "plan file that forces choices; without it `--plan`")
    homes: Literal["compact", "ready"] = option(
        "compact", "parameters stored compactly, or as their first operation reads them"
    )

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        path = self.plan or settings.current().plan_path
        plan_layouts(op, Plan.read(path) if path is not None else Plan(), self.machine, self.homes)


def plan_layouts(
    module: ModuleOp, demanded: Plan, option: str | None, homes: Literal["compact", "ready"]
) -> None:
    """Plan a module for its machine, or that of `option`; what `demanded` names is as it says."""
    machine = machine_of(module, option)
    demanded.check_machine(machine)
    function = entry_function(module)
    check_types(function, machine.reference)
    module.attributes[MACHINE] = StringAttr(machine.reference)
    program = GraphOfModule(module)
    check_capacity(program.graph, machine, program.function.location)
    program.write(choose(program.graph, machine, demanded, ready=homes == "ready"))
    check_placed(function)
