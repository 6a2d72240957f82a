# SPDX-License-Identifier: Apache-2.0
"""
Remarks of what looks like an operation of the machine and was not raised to it. It is computed as it is
written, rightly and in more steps: whoever wonders why a model is slow finds the place here.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.hlo.operations import HloOperation
from tilewright.instrumentation import remark, remarks_wanted
from tilewright.passes.hlo.rewriting import owner

_SHAPES = ("broadcast_in_dim", "reshape", "transpose", "convert", "slice")
"""What lies between the parts of a pattern and changes no value."""
_NEAR = 8
"""Operations that are followed."""


def remark_missed(function: FuncOp) -> None:
    """Say what is almost a softmax, attention, norm or activation in a function that has been raised."""
    if not remarks_wanted():
        return
    for op in function.walk():
        what = _almost(op)
        if what is not None:
            remark("missed", f"this is almost {what}, and is computed as it is written", op)


def _almost(op: Operation) -> str | None:
    if isinstance(op, tt.SoftmaxOp):
        before = any(made.kind == "dot_general" for made in _made_by(op.operands[0]))
        return "an attention" if before and _is_multiplied(op.results[0]) else None
    if not isinstance(op, HloOperation):
        return None
    if op.kind == "divide":
        top = owner(_behind(op.operands[0]), "exponential")
        total = owner(_behind(op.operands[1]), "reduce")
        if top is not None and total is not None and _behind(total.operands[0]) is top.results[0]:
            return "a softmax"
    if op.kind == "rsqrt" and any(made.kind == "reduce" for made in _made_by(op.operands[0])):
        return "a norm"
    if op.kind in ("erf", "erfc"):
        return "a gelu"
    return None


def _behind(value: SSAValue) -> SSAValue:
    """The value behind what only changes shapes and types."""
    while (made := owner(value, *_SHAPES)) is not None:
        value = made.operands[0]
    return value


def _made_by(value: SSAValue) -> Iterator[HloOperation]:
    """The operations of the middle form that a value is made of, nearest first, as far as `_NEAR`."""
    waiting, seen = [value], 0
    while waiting and seen < _NEAR:
        made = owner(waiting.pop(0))
        if made is not None:
            seen += 1
            yield made
            waiting += made.operands


def _is_multiplied(value: SSAValue) -> bool:
    """Whether a product of matrices reads a value, behind shapes and types."""
    waiting = [value]
    while waiting:
        for use in waiting.pop().uses:
            reader = use.operation
            if isinstance(reader, HloOperation) and reader.kind == "dot_general":
                return True
            if isinstance(reader, HloOperation) and reader.kind in _SHAPES:
                waiting += reader.results
    return False
