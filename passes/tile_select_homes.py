# SPDX-License-Identifier: Apache-2.0
"""
Chooses the tiles on which parameters live: every automatic home gets a rotation or a run of chunks that evens
out the load.

The storage groups of the program (parameters and sequences of them; buffers derived from them are none) are
assigned largest first. All members of a sequence share one rotation, written on the argument and on the
arguments of the repeats that it passes through. A choice is accepted only if the whole program, scheduled and
placed again, still fits; else fewer groups move, and in the end none. Pinned homes, homes that are read in
place and homes with copies stay. `automatic-homes=false` switches the choice off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tilewright import settings
from tilewright.diagnostics import TileError
from tilewright.dialects.entry import entry_function, read_entry
from tilewright.dialects.program_check import check_types
from tilewright.instrumentation import remark
from tilewright.machine import Machine
from tilewright.options import MACHINE_OPTION, option
from tilewright.passes.ir.homes import Home, check_pinned, find_homes, movable, move, moved, unencodable
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.support import check_row_cap
from tilewright.passes.ir.tensors import LoweringError, machine_of
from tilewright.passes.tile_allocate_memory import place_plainly
from tilewright.passes.tile_lower_to_buffers import lower_entry
from tilewright.passes.tile_merge_phases import merge_function
from tilewright.passes.tile_schedule_exchange import schedule_phases
from tilewright.planning.homes import HomePlan, longest_prefix, select_homes
from tilewright.planning.homes.report import HomeReport
from tilewright.planning.layout import Layout


@dataclass(frozen=True)
class TileSelectHomesPass(ProgramPass):
    """Choose where parameters live."""

    name = "tile-select-homes"
    machine: str | None = option(None, MACHINE_OPTION)
    automatic_homes: bool = option(True, "move parameters; false leaves every home as it is planned")
    distribution: Literal["auto", "linear", "grid"] = option("auto", "how a parameter is divided over tiles")
    objective: Literal["addresses", "load"] = option("addresses", "what the fullest tile has least of")
    rotations: int = option(512, "most starting tiles that are tried for a parameter", least=1, most=65536)
    check: bool = option(True, "take back moves with which the program, exchanges and memory, no longer fits")

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op, self.machine)
        check_types(entry_function(op), machine.reference)
        homes = find_homes(op)
        check_pinned(homes, machine)
        before = [home.group for home in homes]
        notes: list[str] = []
        if self.automatic_homes and homes:
            notes = self.select(op, homes, machine)
        after = [home.group for home in homes]
        entry_function(op).update_function_type()
        if (path := settings.current().home_report) is not None:
            HomeReport.of(machine, before, after, notes).write(path)

    def select(self, module: ModuleOp, homes: list[Home], machine: Machine) -> list[str]:
        """Place the homes that are worth moving; returns what was refused and why."""
        groups = [movable(home, machine) for home in homes]
        plan = select_homes(
            groups,
            machine.tiles,
            distribution=self.distribution,
            objective=self.objective,
            rotations=self.rotations,
        )
        layouts: list[Layout | None] = []
        notes: list[str] = []
        for home, group, old, moves in zip(homes, plan.after, plan.before, plan.moved, strict=True):
            layouts.append(group.layout if moves and old.pinned is None else None)
            if moves and (reason := unencodable(home, group.layout, home.view, machine)) is not None:
                layouts[-1] = None
                notes.append(f"{home.name} stays: {reason}")
        if self.check and any(layout is not None for layout in layouts):
            layouts, refused = accepted(module, machine, homes, layouts, plan)
            notes += refused
        for home, layout in zip(homes, layouts, strict=True):
            if layout is not None:
                move(home, layout)
        for note in notes:
            remark("missed", note)
        return notes


def accepted(
    module: ModuleOp, machine: Machine, homes: list[Home], layouts: list[Layout | None], plan: HomePlan
) -> tuple[list[Layout | None], list[str]]:
    """
    The largest prefix (largest groups first) of the moves with which the program still fits.

    Moves that do not turn a fitting program into one that does not are kept, also where the program did not
    fit before.
    """
    failure = misfit(module, machine, homes, layouts)
    if failure is None or misfit(module, machine, homes, [None] * len(homes)) is not None:
        return layouts, []
    order = sorted(
        (i for i, layout in enumerate(layouts) if layout is not None),
        key=lambda i: (-plan.before[i].address_bytes, i),
    )

    def first(n: int) -> list[Layout | None]:
        return [layout if i in order[:n] else None for i, layout in enumerate(layouts)]

    kept = longest_prefix(len(order), lambda n: misfit(module, machine, homes, first(n)) is None)
    notes = [f"{homes[i].name} stays: the program would not fit any more: {failure}" for i in order[kept:]]
    return first(kept), notes


def misfit(module: ModuleOp, machine: Machine, homes: list[Home], layouts: list[Layout | None]) -> str | None:
    """
    Why the program with these homes does not fit, or None. It is lowered to a function of its own, which is
    scheduled and placed; nobody can say for a program with operations that are not ours.
    """
    with moved(homes, layouts):
        try:
            function = lower_entry(read_entry(module), machine)
        except LoweringError:
            return None
        except TileError as error:
            return error.message
    return too_large(function, machine)


def too_large(function: FuncOp, machine: Machine) -> str | None:
    """Why a function on buffers does not fit, or None; it is scheduled on the way."""
    try:
        with settings.use(replace(settings.current(), trial=True)):
            merge_function(function)
            schedule_phases(function, machine)
            check_row_cap(function, machine)
            place_plainly(function, machine)
    except TileError as error:
        return error.message
    return None
