# SPDX-License-Identifier: Apache-2.0
"""
Lets a call store what a cast from f16 to an 8-bit float would make of its result, on the same tiles.

No value changes: the one call rounds where the two did. What is not stored cannot be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.buffers.types import Map, buffer_type
from tilewright.dialects.tile import ComputeOp
from tilewright.instrumentation import remark
from tilewright.machine.dtypes import is_fp8
from tilewright.machine.kernels import kernel
from tilewright.machine.kernels.scalars import STORES
from tilewright.passes.ir.neighbours import erase_calls, made_for, same_elements
from tilewright.passes.ir.programs import ProgramPass


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
    (source, read), (target, written) = cast.operand_maps()
    if buffer_type(source).dtype != "f16" or not is_fp8(buffer_type(target).dtype):
        return
    before = made_for(source, cast)
    if before is None or len(before.buffers) != before.n_ins + 1 or buffer_type(source).count != 1:
        return
    rules = kernel(before.kernel.data)
    if STORES[0] not in rules.scalars or STORES[0] in before.scalars.data:
        return
    axes = before.operand_maps()[-1][1]
    place = _behind(axes, read, written)
    one, other = buffer_type(source).layout, buffer_type(target).layout
    if (
        place is None
        or one.replicas != other.replicas
        or not all(same_elements(one, read[x], other, written[x]) for x in read)
    ):
        return
    given = dict(cast.scalar_values())
    scalars = dict(before.scalar_values())
    scalars |= dict(zip(STORES, (given.get("scale", 0), given.get("saturate", 1)), strict=True))
    remark("fusion", f"`{before.reason.data}` stores what `{cast.reason.data}` makes of it", cast.location)
    fused = ComputeOp(
        before.kernel.data,
        before.axes.data.split(),
        before.operand_maps()[: before.n_ins],
        [(target, place)],
        tuple(scalars.items()),
        before.reason.data,
    )
    fused.location = before.location
    Rewriter.insert_op(fused, InsertPoint.before(cast))
    erase_calls(cast, before, values=(source,))


def _behind(made: Map, read: Map, written: Map) -> Map | None:
    """
    The storage axes of a cast's result for the axes of the call that makes its operand; None where one call
    does not go through all that the other does.
    """
    forward = {storage: written.get(axis, -1) for axis, storage in read.items()}
    used = [storage for storage in made.values() if storage >= 0]
    if set(used) != set(forward) or len(used) != len(made) or -1 in forward or -1 in forward.values():
        return None
    return {axis: forward[storage] for axis, storage in made.items()}
