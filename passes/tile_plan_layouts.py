# SPDX-License-Identifier: Apache-2.0
"""
Chooses a plan for every tensor operation and writes it down: a `plan` attribute on each operation, a
layout as encoding of each value, a home for each parameter.

The program is read into a graph, the graph is planned (`planning/search`), and the plan is written back. An
operation's own `plan` attribute comes first, then the plan file, then the search, or the default rule where
nothing is searched. What has a layout keeps it. Foreign operations are left alone.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr

from tilewright import settings
from tilewright.diagnostics import TileError
from tilewright.dialects.entry import entry_function
from tilewright.dialects.program_check import check_placed, check_types
from tilewright.instrumentation import remark, remarks_wanted
from tilewright.machine import Machine
from tilewright.options import MACHINE_OPTION, option
from tilewright.passes.ir.graph import GraphOfModule
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.support import RowsTooLong
from tilewright.passes.ir.tensors import MACHINE, machine_of
from tilewright.planning.graph import OperatorNode
from tilewright.planning.memory.capacity import check_capacity
from tilewright.planning.memory.explain import AllocationError
from tilewright.planning.operators import Choice
from tilewright.planning.plan import Plan
from tilewright.planning.search.favourites import Decisions, choose
from tilewright.planning.search.report import write_report
from tilewright.planning.search.search import BUDGETS, Effort, Search, State, effort_for, is_anything_free


@dataclass(frozen=True)
class TilePlanLayoutsPass(ProgramPass):
    """Choose plans and layouts."""

    name = "tile-plan-layouts"
    machine: str | None = option(None, MACHINE_OPTION)
    plan: str | None = option(None, "plan file that forces choices; without it `--plan`")
    homes: Literal["compact", "ready"] = option(
        "compact", "parameters stored compactly, or as their first operation reads them"
    )

    search: Literal["off", "fast", "full"] | None = option(
        None, "how much is searched for plans; without it `--search`"
    )

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        plan_layouts(op, read_plan(self.plan), self.machine, self.homes, self.search)


def read_plan(given: Plan | str | os.PathLike[str] | None) -> Plan:
    """The plan that is given, or that of the command line, or one that demands nothing."""
    if isinstance(given, Plan):
        return given
    path = given or settings.current().plan_path
    return Plan.read(path) if path is not None else Plan()


def plan_layouts(
    module: ModuleOp,
    demanded: Plan,
    option: str | None,
    homes: Literal["compact", "ready"],
    effort: Effort | None = None,
    decisions: Decisions | None = None,
) -> None:
    """
    Plan a module for its machine, or that of `option`; what `demanded` names is as it says, the rest is as
    was decided (`decisions`), or searched (`effort`; None: what the command line says), or by the default
    rule.
    """
    if decisions is None and (search := searched(module, demanded, option, effort)) is not None:
        state = search.best()
        report(search, state)
        decisions = search.decisions(state)
    program, machine = _program(module, demanded, option)
    program.write(choose(program.graph, machine, demanded, ready=homes == "ready", decisions=decisions))
    check_placed(program.function)


def searched(
    module: ModuleOp, demanded: Plan, option: str | None, effort: Effort | None = None
) -> Search | None:
    """The search for a module's plan; None where it is off (`effort_for`), or nothing is left to decide."""
    effort = effort or settings.current().search or effort_for(demanded)
    if effort == "off":
        return None
    program, machine = _program(module, demanded, option)
    if not is_anything_free(program.graph, demanded):
        return None
    told = settings.current()
    return Search(
        program.graph,
        machine,
        demanded,
        BUDGETS[effort],
        row_cap=told.exchange_cap,
        executor=told.executor,
    )


def _program(module: ModuleOp, demanded: Plan, option: str | None) -> tuple[GraphOfModule, Machine]:
    """A module's graph, checked: types, machine, and that no plan at all is ruled out."""
    machine = machine_of(module, option)
    demanded.check_machine(machine)
    function = entry_function(module)
    check_types(function, machine.reference)
    module.attributes[MACHINE] = StringAttr(machine.reference)
    program = GraphOfModule(module)
    check_capacity(program.graph, machine, function.location)
    return program, machine


def what_is_missing(error: TileError) -> tuple[int, str]:
    """Bytes that an attempt to place a program lacked, and of which memory; (0, "any") where nobody knows."""
    if isinstance(error, AllocationError):
        return error.diagnosis.lacking, error.diagnosis.memory
    if isinstance(error, RowsTooLong):
        return error.missing, "rows"
    return 0, "any"


def report(search: Search, state: State) -> None:
    """Remark on what differs from the default rule, and write the report where one is asked for."""
    for node in search.graph.nodes() if remarks_wanted() else ():
        if not isinstance(node, OperatorNode) or node.name not in state.planned.choices:
            continue
        old, new = search.favourite.planned.choices[node.name], state.planned.choices[node.name]
        if old != new:
            saved = search.favourite.price.cycles - state.price.cycles
            text = f"`{node.name}`: {_shown(new)} instead of {_shown(old)}"
            remark("choice", f"{text} (all choices together save {saved:,} cycles)", node.where)
    path = settings.current().plan_report
    if path is not None:
        write_report(search, state, path)


def _shown(choice: Choice) -> str:
    return " ".join(f"{key}={value}" for key, value in choice.to_json().items())
