# SPDX-License-Identifier: Apache-2.0
"""
Lowers the middle form of the front ends to `tile_tensor`.

What has no meaning on tiles is refused in one error that names each kind of operation with its first place
and how often it stands there.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.passes.hlo.lowering import Lowering


@dataclass(frozen=True)
class TileConvertHloPass(ModulePass):
    """Lower the middle form to tile_tensor."""

    name = "tile-convert-hlo"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Lowering().run(op)
