# SPDX-License-Identifier: Apache-2.0
"""
Fuses calls of functions of single elements that follow one another on the same tiles into one call, where the
machine has a kernel for the chain (`tilewright.machine.kernels.chains`): products that are added up, a gated
activation. Set-up of a call is most of its cost where a tile has few elements.

No value changes: the kernel rounds where the calls did. Calls are fused within a phase, where only the next
one reads what one computes, where both work on the same axes and give the same type of buffer. What is not
stored cannot be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.tile import ComputeOp
from tilewright.instrumentation import remark
from tilewright.passes.ir.neighbours import call_before, call_of, put_call
from tilewright.passes.ir.programs import ProgramPass
from tilewright.planning.fusing import chained


@dataclass(frozen=True)
class TileFuseChainsPass(ProgramPass):
    """Fuse chains of functions of single elements into one call."""

    name = "tile-fuse-chains"

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        for last in [o for o in op.walk() if isinstance(o, ComputeOp)]:
            if last.kernel.data.startswith("pointwise."):
                _fuse(last)


def _fuse(last: ComputeOp) -> None:
    """One call of the chain that ends in a call, if the machine has a kernel for it."""
    found = chained(call_of(last), call_before)
    if found is None:
        return
    calls: list[ComputeOp] = [call.origin for call in found[1]]
    names = ", ".join(f"`{call.reason.data}`" for call in calls)
    remark("fusion", f"`{last.reason.data}` is one call with {names}", last.location)
    put_call(last, found[0], calls, last)
