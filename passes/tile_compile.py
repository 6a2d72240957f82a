# SPDX-License-Identifier: Apache-2.0
"""The whole way from tensor operations to the machine program, as one pass."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright import instrumentation
from tilewright.options import MACHINE_OPTION, option
from tilewright.passes import pipeline


@dataclass(frozen=True)
class TileCompilePass(ModulePass):
    """Compile tensor operations to the machine program."""

    name = "tile-compile"
    machine: str | None = option(None, MACHINE_OPTION)
    plan: str | None = option(None, "plan file that forces choices; without it `--plan`")
    homes: pipeline.Homes = option(
        "auto", "where parameters live: as planned, selected for balance, or whichever their size asks for"
    )
    start_after: str | None = option(None, "the stage behind which to begin; without it the first")
    stop_after: str | None = option(None, "the stage with which to end; without it the last")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pipeline.compile(
            op,
            self.machine,
            self.plan,
            context=ctx,
            homes=self.homes,
            after=self.start_after,
            until=self.stop_after,
            observe=_noted,
        )


def _noted(stage: pipeline.Stage, module: ModuleOp) -> AbstractContextManager[object]:
    return instrumentation.step(stage.name, module)
