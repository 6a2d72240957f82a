# SPDX-License-Identifier: Apache-2.0
"""
Turns operations of StableHLO and CHLO into the middle form of the front ends, `tile_hlo`, by their names:
those of our reader, unregistered ones, or another compiler's classes.

What has no meaning here becomes `tile_hlo.unsupported`, which `tile-convert-hlo` reports with its place.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.passes.hlo.from_stablehlo import convert_module


@dataclass(frozen=True)
class TileConvertStablehloPass(ModulePass):
    """Convert StableHLO to the middle form."""

    name = "tile-convert-stablehlo"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        convert_module(op)
