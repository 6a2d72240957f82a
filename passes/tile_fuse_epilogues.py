# SPDX-License-Identifier: Apache-2.0
"""
Fuses a sum with a vector and the gelu (tanh form) that alone reads it into one operation, for which the
machine has a kernel.

The fused operation keeps the sum in f32, so nothing is fused where the type of the sum shows in more than its
last place: an 8-bit sum saturates, a sum in another type than its operands is narrower or overflows earlier,
and a gelu in a wider type than f16 would show what a sum in f16 had lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.reference import value_names
from tilewright.dialects.tile_tensor import (
    AddOp,
    Approximation,
    BiasGeluOp,
    GeluOp,
    element_of,
    is_float8,
)
from tilewright.instrumentation import remark
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.tensors import VALUE_NAME


@dataclass(frozen=True)
class TileFuseEpiloguesPass(ProgramPass):
    """Fuse bias and gelu."""

    name = "tile-fuse-epilogues"

    def apply_to_program(self, ctx: Context, op: ModuleOp) -> None:
        for function in [o for o in op.walk() if isinstance(o, FuncOp)]:
            self.fuse(function)

    def fuse(self, function: FuncOp) -> None:
        """Fuse in one function; every value keeps the name that it has in the program as given."""
        names = value_names(function)
        for gelu in [o for o in function.walk() if isinstance(o, GeluOp)]:
            operands = fusable(gelu)
            if operands is None:
                if isinstance(gelu.operand.owner, AddOp):
                    remark("missed", "no kernel computes the sum before this gelu as well", gelu)
                continue
            add = gelu.operand.owner
            assert isinstance(add, AddOp)
            fused = BiasGeluOp(*operands, gelu.result.type, saturate=bool(gelu.saturate.value.data))
            fused.location = gelu.location
            fused.result.name_hint = gelu.result.name_hint
            names[fused.result] = names[gelu.result]
            remark("fusion", f"bias and gelu are one operation, `{names[gelu.result]}`", gelu.location)
            Rewriter.insert_op(fused, InsertPoint.before(gelu))
            gelu.result.replace_all_uses_with(fused.result)
            gelu.detach()
            gelu.erase()
            add.detach()
            add.erase()
        for value, name in value_names(function).items():
            if name != names[value] and isinstance(value.owner, Operation):
                value.owner.attributes[VALUE_NAME] = StringAttr(names[value])


def fusable(gelu: GeluOp) -> tuple[SSAValue, SSAValue] | None:
    """The tensor and the vector of the sum that only this gelu reads; None if it is not of that form."""
    add = gelu.operand.owner
    if (
        gelu.approximate.data != Approximation.TANH
        or not isinstance(add, AddOp)
        or not add.result.has_one_use()
    ):
        return None
    if "plan" in gelu.attributes or "plan" in add.attributes:
        return None  # somebody planned them apart
    for x, bias in ((add.lhs, add.rhs), (add.rhs, add.lhs)):
        full, vector, result = x.type, bias.type, add.result.type
        assert (
            isinstance(full, TensorType) and isinstance(vector, TensorType) and isinstance(result, TensorType)
        )
        shape = result.get_shape()
        if (
            len(shape) > 1
            and full.get_shape() == shape
            and vector.get_shape() == shape[-1:]
            and full.element_type == vector.element_type == result.element_type
            and not is_float8(result.element_type)
            and (result.element_type == f32 or element_of(gelu.result) == result.element_type)
        ):
            return x, bias
    return None
