# SPDX-License-Identifier: Apache-2.0
"""
Chooses the tiles on which parameters live: every automatic home gets a rotation or a run of chunks that evens
out the load.

The storage groups of the program (parameters and sequences of them; buffers derived from them are none) are
assigned largest first. All members of a sequence share one rotation, written on the argument and on the
arguments of the repeats that it passes through. A choice is accepted only if the whole program, its exchanges
scheduled and its memory allocated again, still fits; else fewer groups move, and in the end none. Pinned
homes, homes that are read in place and homes with copies stay. `automatic-homes=false` switches the choice
off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright import settings
from tilewright.diagnostics import TileError
from tilewright.dialects.entry import entry_function
from tilewright.dialects.tile_layout import MaterializeOp
from tilewright.machine import Machine
from tilewright.passes.home_ir import Home, check_pinned, find_homes, materialise, unencodable, wanted
from tilewright.passes.tensor_ir import LoweringError, machine_of
from tilewright.planning.homes import HomePlan, StorageGroup, select_homes
from tilewright.planning.homes_report import HomeReport
from tilewright.planning.layout import Layout


@dataclass(frozen=True)
class TileSelectHomesPass(ModulePass):
    """Choose where parameters live."""

    name = "tile-select-homes"
    machine: str | None = None
    automatic_homes: bool = True
    distribution: Literal["auto", "linear", "grid"] = "auto"
    objective: Literal["addresses", "load"] = "addresses"
    rotations: int = 512
    check: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_of(op, self.machine)
        homes = find_homes(op)
        check_pinned(homes, machine)
        before = [home.group for home in homes]
        notes: list[str] = []
        if self.automatic_homes and homes:
            notes = self.select(ctx, op, homes, machine)
        after = [home.group for home in homes]
        entry_function(op).update_function_type()
        path = settings.current().home_report
        if path is not None:
            HomeReport.of(machine, before, after, notes).write(path)

    def select(self, ctx: Context, module: ModuleOp, homes: list[Home], machine: Machine) -> list[str]:
        """Place the homes that are worth moving; returns what was refused and why."""
        groups = [self.candidate(home, machine) for home in homes]
        plan = select_homes(
            groups,
            machine.tiles,
            distribution=self.distribution,
            objective=self.objective,
            rotations=self.rotations,
        )
        layouts: list[Layout | None] = []
        notes: list[str] = []
        for home, group, old, moved in zip(homes, plan.after, plan.before, plan.moved, strict=True):
            layouts.append(group.layout if moved and old.pinned is None else None)
            if moved and (reason := unencodable(home, group.layout, home.view, machine)) is not None:
                layouts[-1] = None
                notes.append(f"{home.name} stays: {reason}")
        if self.check and any(layout is not None for layout in layouts):
            layouts, refused = accepted(ctx, module, homes, layouts, plan)
            notes += refused
        for home, layout in zip(homes, layouts, strict=True):
            if layout is not None:
                move(home, layout)
        return notes

    def candidate(self, home: Home, machine: Machine) -> StorageGroup:
        """The storage group, with the reasons of this pass to leave it where it is."""
        group = home.group
        if group.pinned is None and not home.uses:
            return StorageGroup(group.name, group.layout, group.size, group.members, "nobody reads it")
        if group.pinned is None and read_in_place(home, machine):
            return StorageGroup(group.name, group.layout, group.size, group.members, "it is read in place")
        return group


def read_in_place(home: Home, machine: Machine) -> bool:
    """
    Whether some reader takes the parameter from its home as it is: moving it would cost a buffer and an
    exchange.
    """
    for use in home.uses:
        if isinstance(use.operation, MaterializeOp):
            continue
        wish = wanted(use.operation, use.index, machine)
        if wish is not None and wish[:2] == (home.layout, home.view):
            return True
    return False


def move(home: Home, layout: Layout) -> None:
    """Another home for a parameter; its readers keep seeing the layout that they were planned with."""
    materialise(home)
    home.place(layout, home.view)


def accepted(
    ctx: Context, module: ModuleOp, homes: list[Home], layouts: list[Layout | None], plan: HomePlan
) -> tuple[list[Layout | None], list[str]]:
    """
    The largest prefix (largest groups first) of the moves with which the program still fits, by bisection.

    Moves that do not turn a fitting program into one that does not are kept, also where the program did not
    fit before.
    """
    failure = misfit(ctx, module, homes, layouts)
    if failure is None or misfit(ctx, module, homes, [None] * len(homes)) is not None:
        return layouts, []
    order = sorted(
        (i for i, layout in enumerate(layouts) if layout is not None),
        key=lambda i: (-plan.before[i].address_bytes, i),
    )
    kept, limit = 0, len(order)
    while limit - kept > 1:
        middle = (kept + limit) // 2
        trial = [layout if i in order[:middle] else None for i, layout in enumerate(layouts)]
        if misfit(ctx, module, homes, trial) is None:
            kept = middle
        else:
            limit = middle
    notes = [f"{homes[i].name} stays: the program would not fit any more: {failure}" for i in order[kept:]]
    return [layout if i in order[:kept] else None for i, layout in enumerate(layouts)], notes


def misfit(ctx: Context, module: ModuleOp, homes: list[Home], layouts: list[Layout | None]) -> str | None:
    """Lower, schedule and allocate a copy of the program with these homes; why it does not fit, or None."""
    from tilewright.passes.tile_allocate_memory import TileAllocateMemoryPass
    from tilewright.passes.tile_lower_to_buffers import TileLowerToBuffersPass
    from tilewright.passes.tile_merge_phases import TileMergePhasesPass
    from tilewright.passes.tile_schedule_exchange import TileScheduleExchangePass

    copy = module.clone()
    wanted_layouts = {home.argument.index: layout for home, layout in zip(homes, layouts, strict=True)}
    for home in find_homes(copy):
        layout = wanted_layouts.get(home.argument.index)
        if layout is not None:
            move(home, layout)
    entry_function(copy).update_function_type()
    try:
        for step in (
            TileLowerToBuffersPass(),
            TileMergePhasesPass(),
            TileScheduleExchangePass(),
            TileAllocateMemoryPass(),
        ):
            step.apply(ctx, copy)
    except LoweringError:
        return None  # foreign operations: nobody can say yet
    except TileError as error:
        return error.message
    return None
