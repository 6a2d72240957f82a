# SPDX-License-Identifier: Apache-2.0
"""The whole way from tensor operations to the machine program, as one pass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.passes.tile_allocate_memory import TileAllocateMemoryPass
from tilewright.passes.tile_fuse_epilogues import TileFuseEpiloguesPass
from tilewright.passes.tile_lower_to_asm import TileLowerToAsmPass
from tilewright.passes.tile_lower_to_buffers import TileLowerToBuffersPass
from tilewright.passes.tile_merge_phases import TileMergePhasesPass
from tilewright.passes.tile_plan_layouts import TilePlanLayoutsPass
from tilewright.passes.tile_schedule_exchange import TileScheduleExchangePass
from tilewright.steps import current_steps


def stages(machine: str | None = None, plan: str | None = None) -> tuple[ModulePass, ...]:
    """The passes of a whole compilation, in order."""
    return (
        TileFuseEpiloguesPass(),
        TilePlanLayoutsPass(machine=machine, plan=plan),
        TileLowerToBuffersPass(machine=machine),
        TileMergePhasesPass(),
        TileScheduleExchangePass(machine=machine),
        TileAllocateMemoryPass(machine=machine),
        TileLowerToAsmPass(machine=machine),
    )


@dataclass(frozen=True)
class TileCompilePass(ModulePass):
    """Compile tensor operations to the machine program."""

    name = "tile-compile"
    machine: str | None = None
    plan: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for stage in stages(self.machine, self.plan):
            with current_steps().step(stage.name):
                stage.apply(ctx, op)
                op.verify()
