# SPDX-License-Identifier: Apache-2.0
"""
Makes one call of two that follow one another on the same tiles, where the machine has a kernel for both:

- a cast from f16 to an 8-bit float becomes the store of the call that makes its operand;
- the merge of a norm's statistics is done by the call that applies them.

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

APPLIED = {"norm.apply": "norm.merge_apply", "norm.mix": "norm.merge_mix"}
"""Kernels that apply statistics, and those that merge them first."""


@dataclass(frozen=True)
class TileFuseStoresPass(ProgramPass):
    """Fuse casts into the calls before them, and merges of statistics into those behind."""

    name = "tile-fuse-stores"

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        for call in [o for o in op.walk() if isinstance(o, ComputeOp)]:
            if call.kernel.data == "cast":
                _store(call)
            elif call.kernel.data in APPLIED:
                _merge(call)


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


def _merge(apply: ComputeOp) -> None:
    """Let the call that applies the statistics of rows merge those of their parts."""
    x, *statistics = apply.operand_maps()[: apply.n_ins]
    (mean, rows), (variance, _) = statistics[:2]
    merge = made_for(mean, apply)
    if merge is None or merge.kernel.data != "norm.merge" or made_for(variance, apply) is not merge:
        return
    parts = merge.operand_maps()
    if [value for value, _ in parts[2:]] != [mean, variance] or any(
        buffer_type(value).dtype != "f32" for value, _ in parts
    ):
        return
    out, places = apply.operand_maps()[-1]
    one, other = buffer_type(mean).layout, buffer_type(out).layout
    if not same_elements(one, rows["r"], other, places["r"]) or parts[2][1]["r"] != rows["r"]:
        return
    remark("fusion", f"`{apply.reason.data}` merges the statistics of the parts", apply.location)
    fused = ComputeOp(
        APPLIED[apply.kernel.data],
        ["p", "r", "c"],
        [x, *parts[:2], *statistics[2:]],
        [(out, places)],
        (*merge.scalar_values(), *apply.scalar_values()),
        apply.reason.data,
    )
    fused.location = apply.location
    Rewriter.insert_op(fused, InsertPoint.before(apply))
    erase_calls(apply, merge, values=(mean, variance))
