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
from itertools import permutations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.buffers.types import Map
from tilewright.dialects.tile import BufferType, ComputeOp
from tilewright.instrumentation import remark
from tilewright.machine.kernels import kernel
from tilewright.machine.kernels.chains import CHAINS, COMMUTE, Chain, Expression
from tilewright.passes.ir.neighbours import erase_calls, made_for
from tilewright.passes.ir.programs import ProgramPass

Operands = list[tuple[SSAValue, Map]]


@dataclass(frozen=True)
class TileFuseChainsPass(ProgramPass):
    """Fuse chains of functions of single elements into one call."""

    name = "tile-fuse-chains"

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        for last in [o for o in op.walk() if isinstance(o, ComputeOp)]:
            for chain in CHAINS:
                found = _match(chain.expression, last)
                if found is not None and _takes(chain, found[0], last):
                    _fuse(chain, *found, last)
                    break


def _match(expression: Expression, call: ComputeOp) -> tuple[Operands, list[ComputeOp]] | None:
    """The operands of a chain that ends in a call, and the calls before it; None if it is no such chain."""
    function, *inner = expression
    if call.kernel.data != f"pointwise.{function}":
        return None
    ins = call.operand_maps()[: call.n_ins]
    for order in permutations(ins) if function in COMMUTE else (ins,):
        operands: Operands = []
        calls: list[ComputeOp] = []
        for part, (value, axes) in zip(inner, order, strict=True):
            if isinstance(part, str):
                operands.append((value, axes))
                continue
            before = _alone_before(value, axes, call)
            found = None if before is None else _match(part, before)
            if before is None or found is None:
                break
            operands += found[0]
            calls += [*found[1], before]
        else:
            return operands, calls
    return None


def _alone_before(value: SSAValue, axes: Map, call: ComputeOp) -> ComputeOp | None:
    """The call that computes an operand for this one alone, if it may as well be computed with it."""
    before = made_for(value, call)
    if (
        before is None
        or before.buffers[-1] is not value
        or (value.type, axes) != (call.buffers[-1].type, call.operand_maps()[-1][1])
        or before.operand_maps()[-1][1] != axes
        or (before.axes, before.scalars) != (call.axes, call.scalars)
    ):
        return None
    return before


def _takes(chain: Chain, operands: Operands, last: ComputeOp) -> bool:
    """Whether the chain's kernel works on the types of these operands."""
    rules = kernel(chain.kernel)
    dtypes = [_dtype(value) for value in (*(value for value, _ in operands), last.buffers[-1])]
    named = dict(zip((rule.name for rule in rules.ins), dtypes, strict=False))
    return all(
        rule.takes(dtype, named) for rule, dtype in zip((*rules.ins, *rules.outs), dtypes, strict=True)
    )


def _dtype(value: SSAValue) -> str:
    assert isinstance(value.type, BufferType)
    return value.type.dtype


def _fuse(chain: Chain, operands: Operands, calls: list[ComputeOp], last: ComputeOp) -> None:
    """One call in the place of the last one of a chain."""
    names = ", ".join(f"`{call.reason.data}`" for call in calls)
    remark("fusion", f"`{last.reason.data}` is one call with {names}", last.location)
    fused = ComputeOp(
        chain.kernel,
        last.axes.data.split(),
        operands,
        last.operand_maps()[-1:],
        last.scalar_values(),
        last.reason.data,
    )
    fused.location = last.location
    Rewriter.insert_op(fused, InsertPoint.before(last))
    erase_calls(last, *calls, values=tuple(call.buffers[-1] for call in calls))
