# SPDX-License-Identifier: Apache-2.0
"""
Lets a call store what a cast from f16 to an 8-bit float would make of its result, on the same tiles.

No value changes: the one call rounds where the two did. What is not stored cannot be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.tile import ComputeOp
from tilewright.instrumentation import remark
from tilewright.passes.ir.neighbours import call_before, call_of, put_call
from tilewright.passes.ir.programs import ProgramPass
from tilewright.planning.fusing import stored_cast


@dataclass(frozen=True)
class TileFuseStoresPass(ProgramPass):
    """Fuse casts into the calls before them."""

    name = "tile-fuse-stores"

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        for call in [o for o in op.walk() if isinstance(o, ComputeOp)]:
            if call.kernel.data == "cast":
                _store(call)


def _store(cast: ComputeOp) -> None:
    """Let the call that makes the operand of a cast store what the cast would."""
    found = stored_cast(call_of(cast), call_before)
    if found is None:
        return
    before: ComputeOp = found[1].origin
    remark("fusion", f"`{before.reason.data}` stores what `{cast.reason.data}` makes of it", cast.location)
    put_call(cast, found[0], (before,), before)
