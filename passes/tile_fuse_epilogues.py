# SPDX-License-Identifier: Apache-2.0
"""
Fuses a sum with a vector and the gelu (tanh form) that alone reads it into one operation, for which the
machine has a kernel, and a product with the vector and the tensor that are added to it: the reduction of its
partial products takes them as further terms.

The fused operation keeps the sum in f32, so nothing is fused where the type of the sum shows in more than its
last place: an 8-bit sum saturates, a sum in another type than its operands is narrower or overflows earlier,
and a gelu in a wider type than f16 would show what a sum in f16 had lost. A product keeps its addends apart
where they are in another type than its result, or where that type saturates.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, f16, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.reference import value_names
from tilewright.dialects.tensor.base import is_float, shape_of
from tilewright.dialects.tile_tensor import (
    AddOp,
    Approximation,
    BiasGeluOp,
    CastOp,
    GeluOp,
    LayerNormOp,
    MatmulOp,
    element_of,
    is_float8,
)
from tilewright.instrumentation import remark
from tilewright.passes.ir.programs import ProgramPass
from tilewright.passes.ir.tensors import VALUE_NAME


@dataclass(frozen=True)
class TileFuseEpiloguesPass(ProgramPass):
    """Fuse bias and gelu, products and what is added to them."""

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
        for product in [o for o in function.walk() if isinstance(o, MatmulOp)]:
            self.fuse_addends(product, names)
        for cast in [o for o in function.walk() if isinstance(o, CastOp)]:
            self.fuse_cast(cast, names)
        for value, name in value_names(function).items():
            if name != names[value] and isinstance(value.owner, Operation):
                value.owner.attributes[VALUE_NAME] = StringAttr(names[value])

    def fuse_addends(self, product: MatmulOp, names: dict[SSAValue, str]) -> None:
        """Take what is added to a product into it, a vector and a tensor at most, in either order."""
        while (found := addition(product)) is not None:
            add, addend = found
            fused = MatmulOp.create(
                operands=[*product.operands, addend],
                result_types=[add.result.type],
                properties=dict(product.properties),
                attributes=dict(product.attributes),
            )
            assert isinstance(fused, MatmulOp)
            fused.location = add.location
            fused.result.name_hint = add.result.name_hint
            names[fused.result] = names[add.result]
            text = f"`{names[add.result]}` is part of the product's reduction"
            remark("fusion", text, add.location)
            Rewriter.insert_op(fused, InsertPoint.before(add))
            add.result.replace_all_uses_with(fused.result)
            for op in (add, product):
                op.detach()
                op.erase()
            product = fused

    def fuse_cast(self, cast: CastOp, names: dict[SSAValue, str]) -> None:
        """A norm stores its result in FP8 by itself."""
        norm = cast.operand.owner
        if (
            not isinstance(norm, LayerNormOp)
            or norm.parent is not cast.parent
            or not norm.result.has_one_use()
            or "plan" in norm.attributes
            or "plan" in cast.attributes
            or is_float8(element_of(norm.result))
            or not is_float8(element_of(cast.result))
            or norm.scale.value.data
        ):
            return
        fused = LayerNormOp(
            norm.operand,
            *norm.vectors,
            epsilon=norm.epsilon.value.data,
            axis=None if norm.axis is None else norm.axis.value.data,
            scale=cast.scale.value.data,
            element_type=element_of(cast.result),
            saturate=bool(cast.saturate.value.data),
        )
        fused.location = cast.location
        fused.result.name_hint = cast.result.name_hint
        names[fused.result] = names[cast.result]
        remark("fusion", f"norm and cast are one operation, `{names[cast.result]}`", cast.location)
        Rewriter.insert_op(fused, InsertPoint.before(cast))
        cast.result.replace_all_uses_with(fused.result)
        for op in (cast, norm):
            op.detach()
            op.erase()


def addition(product: MatmulOp) -> tuple[AddOp, SSAValue] | None:
    """The sum that alone reads a product, and its other operand; None where they are not one operation."""
    use = product.result.get_user_of_unique_use()
    if not isinstance(use, AddOp) or use.parent is not product.parent:
        return None
    if "plan" in product.attributes or "plan" in use.attributes:
        return None  # somebody planned them apart
    (other,) = [v for v in (use.lhs, use.rhs) if v is not product.result] or [product.result]
    element, shape = element_of(product.result), shape_of(product.result)
    kinds = [shape_of(v) == shape for v in (*product.addends, other)]
    if (
        other is product.result
        or len(set(kinds)) < len(kinds)
        or shape_of(other) not in (shape, shape[-1:])
        or shape_of(use.result) != shape
        or element_of(other) != element
        or element_of(use.result) != element
        or not is_float(element)
        or is_float8(element)
        or (product.accumulate_type == f16 and element != f16)
    ):
        return None
    return use, other


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
