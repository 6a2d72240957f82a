# SPDX-License-Identifier: Apache-2.0
"""
Raises what models spell out to the operations that the machine has: softmax, layer and rms norms, gelu, silu
and attention, in the middle form of the front ends.

A pattern is raised where its exact conditions hold and nowhere else. A softmax that stands alone gives NaN in
rows of minus infinities, as its spelled form does.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from tilewright.passes.hlo.attention import raise_attention
from tilewright.passes.hlo.missed import remark_missed
from tilewright.passes.hlo.normal import normalize
from tilewright.passes.hlo.raising import raise_rows
from tilewright.passes.hlo.rewriting import middle_functions
from tilewright.passes.hlo.splitting import split_products


@dataclass(frozen=True)
class TileRaisePatternsPass(ModulePass):
    """Raise composite operations."""

    name = "tile-raise-patterns"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in middle_functions(op):
            raise_patterns(function)


def raise_patterns(function: FuncOp) -> None:
    """Normalise one function and raise all that it spells out."""
    normalize(function)
    if split_products(function):
        normalize(function)
    for _ in range(4):
        if not raise_rows(function):
            break
        normalize(function)
    if raise_attention(function):
        normalize(function)
    remark_missed(function)
