# SPDX-License-Identifier: Apache-2.0
"""
Turns loops of the middle form whose count is known (scan, fori_loop) into `tile_repeat.repeat`: slices at
known places become iterated members, what each iteration writes at a place of its own is collected, stacked
weights that are arguments become sequences.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.passes.hlo.loops import raise_loops
from tilewright.passes.hlo.normal import normalize
from tilewright.passes.hlo.rewriting import middle_functions


@dataclass(frozen=True)
class TileRaiseLoopsPass(ModulePass):
    """Raise counter loops to repeats."""

    name = "tile-raise-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in middle_functions(op):
            normalize(function)
            if raise_loops(function):
                normalize(function)
