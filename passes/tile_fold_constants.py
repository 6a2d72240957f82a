# SPDX-License-Identifier: Apache-2.0
"""
Folds what depends on no input and no parameter, and brings the middle form into its normal form: views sunk
towards the results, chains of views joined, equal operations shared. All values stay exactly what they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.passes.hlo.normal import normalize
from tilewright.passes.hlo.rewriting import middle_functions


@dataclass(frozen=True)
class TileFoldConstantsPass(ModulePass):
    """Fold constants of the middle form and normalise it."""

    name = "tile-fold-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in middle_functions(op):
            normalize(function)
