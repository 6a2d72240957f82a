# SPDX-License-Identifier: Apache-2.0
"""The whole way from tensor operations to the machine program, as one pass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.dialects.entry import read_entry
from tilewright.machine import Machine
from tilewright.passes.tensor_ir import dtype_of, machine_of, tensor_of
from tilewright.passes.tile_allocate_memory import TileAllocateMemoryPass
from tilewright.passes.tile_convert_compact_micro_panels import TileConvertCompactMicroPanelsPass
from tilewright.passes.tile_fuse_epilogues import TileFuseEpiloguesPass
from tilewright.passes.tile_lower_to_asm import TileLowerToAsmPass
from tilewright.passes.tile_lower_to_buffers import TileLowerToBuffersPass
from tilewright.passes.tile_merge_phases import TileMergePhasesPass
from tilewright.passes.tile_plan_layouts import TilePlanLayoutsPass
from tilewright.passes.tile_schedule_exchange import TileScheduleExchangePass
from tilewright.passes.tile_select_homes import TileSelectHomesPass
from tilewright.planning.dtypes import itemsize
from tilewright.steps import current_steps

Homes = Literal["planned", "selected", "auto"]


def stages(
    machine: str | None = None, plan: str | None = None, homes: Literal["planned", "selected"] = "planned"
) -> tuple[ModulePass, ...]:
    """
    The passes of a whole compilation, in order; `homes` "selected" stores parameters compactly where they
    balance.
    """
    selection: tuple[ModulePass, ...] = (
        TileConvertCompactMicroPanelsPass(machine=machine),
        TileSelectHomesPass(machine=machine),
    )
    return (
        TileFuseEpiloguesPass(),
        TilePlanLayoutsPass(machine=machine, plan=plan, homes="ready" if homes == "selected" else "compact"),
        *(selection if homes == "selected" else ()),
        TileLowerToBuffersPass(machine=machine),
        TileMergePhasesPass(),
        TileScheduleExchangePass(machine=machine),
        TileAllocateMemoryPass(machine=machine),
        TileLowerToAsmPass(machine=machine),
    )


RESIDENT_SHARE = 8
"""Parameters that take more than one part in so many of a tile's memory get selected homes."""


def choose_homes(module: ModuleOp, machine: Machine) -> Literal["planned", "selected"]:
    """
    Homes as planned, one operator at a time, or selected for balance: where parameters fill much of the
    memory, an uneven spread decides whether the program fits, else it is not worth the time.
    """
    total = 0
    for argument in read_entry(module).parameters:
        tensor = tensor_of(argument.value)
        elements = math.prod(tensor.get_shape()) * max(1, len(argument.names))
        total += elements * itemsize(dtype_of(tensor.element_type))
    return "selected" if total * RESIDENT_SHARE > machine.sram_bytes * machine.tiles else "planned"


@dataclass(frozen=True)
class TileCompilePass(ModulePass):
    """Compile tensor operations to the machine program."""

    name = "tile-compile"
    machine: str | None = None
    plan: str | None = None
    homes: Homes = "auto"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        homes = choose_homes(op, machine_of(op, self.machine)) if self.homes == "auto" else self.homes
        for stage in stages(self.machine, self.plan, homes):
            with current_steps().step(stage.name):
                stage.apply(ctx, op)
                op.verify()
