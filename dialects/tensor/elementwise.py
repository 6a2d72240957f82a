# SPDX-License-Identifier: Apache-2.0
"""Operations of `tile_tensor` on each element by itself: arithmetic with broadcasting, functions, cast."""

from __future__ import annotations

from enum import auto

from xdsl.dialects.builtin import (
    BoolAttr,
    IntegerAttr,
    TensorType,
    i32,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
)
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.tensor import shapes as shapes
from tilewright.dialects.tensor.base import (
    RoundingOperation,
    TensorOperation,
    element_of,
    is_float,
    is_integer,
    require,
    shape_of,
    verify_scale,
)
from tilewright.dialects.tensor.shapes import Shape
from tilewright.machine.numerics.pointwise import Kind, functions_of

KINDS: dict[Kind, str] = {"floats": "floats", "integers": "integers", "booleans": "i1"}
"""How messages call the kinds of elements."""


def kind_of(element: Attribute) -> Kind:
    """Which functions of single elements a type has."""
    return "floats" if is_float(element) else "integers" if is_integer(element) else "booleans"


class ElementwiseOperation(RoundingOperation):
    """
    Floats of any width are taken as they are and rounded once; integers stay in their type and wrap.

    On which types an operation is defined stands in `tilewright.machine.numerics.pointwise`.
    """

    def verify_elements(self) -> None:
        found = functions_of(self.name.partition(".")[2])
        allowed = {kind for function in found for kind in function.kinds}
        elements = [element_of(value) for value in self.operands]
        result = element_of(self.result)
        gives_i1 = bool(found) and found[0].gives == "i1"
        for element in elements if gives_i1 else (*elements, result):
            require(
                kind_of(element) in allowed,
                f"works on {' and '.join(KINDS[kind] for kind in KINDS if kind in allowed)}, found {element}",
            )
        if gives_i1:
            require(kind_of(result) == "booleans", f"gives i1, found {result}")
        others = elements if gives_i1 else (*elements, result)
        if all(is_float(element) for element in others):
            return
        for element in others:
            require(
                element == elements[0],
                "needs floats or integers of one type, "
                f"found {' and '.join(map(str, elements))} with result {result}",
            )


class UnaryOperation(ElementwiseOperation):
    """One operand; the result has its shape."""

    operand = operand_def(TensorType)
    assembly_format = "$operand attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        operand: SSAValue | Operation,
        result_type: TensorType[Attribute] | None = None,
        *,
        saturate: bool = True,
    ) -> None:
        operand = SSAValue.get(operand)
        if result_type is None:
            result_type = TensorType(element_of(operand), shape_of(operand))
        super().__init__(
            operands=[operand],
            result_types=[result_type],
            properties={"saturate": BoolAttr.from_bool(saturate)},
        )

    def infer_shape(self) -> Shape:
        return shape_of(self.operand)


class BinaryOperation(ElementwiseOperation):
    """Two operands, broadcast as numpy does."""

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    assembly_format = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        result_type: TensorType[Attribute] | None = None,
        *,
        saturate: bool = True,
    ) -> None:
        lhs, rhs = SSAValue.get(lhs), SSAValue.get(rhs)
        if result_type is None:
            result_type = TensorType(element_of(lhs), shapes.broadcast_pair(shape_of(lhs), shape_of(rhs)))
        super().__init__(
            operands=[lhs, rhs],
            result_types=[result_type],
            properties={"saturate": BoolAttr.from_bool(saturate)},
        )

    def infer_shape(self) -> Shape:
        return shapes.broadcast_pair(shape_of(self.lhs), shape_of(self.rhs))


@irdl_op_definition
class AddOp(BinaryOperation):
    """`lhs + rhs`."""

    name = "tile_tensor.add"


@irdl_op_definition
class SubOp(BinaryOperation):
    """`lhs - rhs`."""

    name = "tile_tensor.sub"


@irdl_op_definition
class MulOp(BinaryOperation):
    """`lhs * rhs`."""

    name = "tile_tensor.mul"


@irdl_op_definition
class DivOp(BinaryOperation):
    """`lhs / rhs`; integers round toward zero; by zero they give -1, and the lowest one by -1 itself."""

    name = "tile_tensor.div"


@irdl_op_definition
class MaximumOp(BinaryOperation):
    """The larger one; NaN if either is."""

    name = "tile_tensor.maximum"


@irdl_op_definition
class MinimumOp(BinaryOperation):
    """The smaller one; NaN if either is."""

    name = "tile_tensor.minimum"


@irdl_op_definition
class NegOp(UnaryOperation):
    """`-x`."""

    name = "tile_tensor.neg"


@irdl_op_definition
class AbsOp(UnaryOperation):
    """`|x|`."""

    name = "tile_tensor.abs"


@irdl_op_definition
class ReluOp(UnaryOperation):
    """`max(x, 0)`."""

    name = "tile_tensor.relu"


@irdl_op_definition
class SquareOp(UnaryOperation):
    """`x * x`."""

    name = "tile_tensor.square"


@irdl_op_definition
class ExpOp(UnaryOperation):
    """`e^x`."""

    name = "tile_tensor.exp"


@irdl_op_definition
class LogOp(UnaryOperation):
    """The natural logarithm."""

    name = "tile_tensor.log"


@irdl_op_definition
class SqrtOp(UnaryOperation):
    """The square root."""

    name = "tile_tensor.sqrt"


@irdl_op_definition
class RsqrtOp(UnaryOperation):
    """`1 / sqrt(x)`."""

    name = "tile_tensor.rsqrt"


@irdl_op_definition
class ReciprocalOp(UnaryOperation):
    """`1 / x`."""

    name = "tile_tensor.reciprocal"


@irdl_op_definition
class TanhOp(UnaryOperation):
    """The hyperbolic tangent."""

    name = "tile_tensor.tanh"


@irdl_op_definition
class ErfOp(UnaryOperation):
    """The error function."""

    name = "tile_tensor.erf"


@irdl_op_definition
class SigmoidOp(UnaryOperation):
    """`1 / (1 + e^-x)`."""

    name = "tile_tensor.sigmoid"


@irdl_op_definition
class SiluOp(UnaryOperation):
    """`x / (1 + e^-x)`."""

    name = "tile_tensor.silu"


class Approximation(StrEnum):
    """How gelu is computed."""

    NONE = auto()
    TANH = auto()


@irdl_attr_definition
class ApproximationAttr(EnumAttribute[Approximation], SpacedOpaqueSyntaxAttribute):
    """`#tile_tensor<approximation tanh>`."""

    name = "tile_tensor.approximation"


@irdl_op_definition
class GeluOp(UnaryOperation):
    """
    `x/2 (1 + erf(x / sqrt 2))`, or with `approximate tanh` `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`.
    """

    name = "tile_tensor.gelu"
    approximate = prop_def(ApproximationAttr, default_value=ApproximationAttr(Approximation.NONE))
    assembly_format = (
        "$operand (`approximate` $approximate^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        approximate: str = "none",
        result_type: TensorType[Attribute] | None = None,
        *,
        saturate: bool = True,
    ) -> None:
        super().__init__(operand, result_type, saturate=saturate)
        self.approximate = ApproximationAttr(Approximation(approximate))


@irdl_op_definition
class BiasGeluOp(BinaryOperation):
    """
    gelu (tanh form) of `lhs + rhs`, rounded once; `rhs` is a vector along the last axis. What
    `tile-fuse-epilogues` makes of a sum and its gelu.
    """

    name = "tile_tensor.bias_gelu"

    def verify_elements(self) -> None:
        TensorOperation.verify_elements(self)

    def infer_shape(self) -> Shape:
        full, bias = shape_of(self.lhs), shape_of(self.rhs)
        if not full or bias != full[-1:]:
            raise shapes.ShapeError(f"bias has shape {shapes.show(bias)}, expected {shapes.show(full[-1:])}")
        return full


class Rounding(StrEnum):
    """How a cast makes an integer of a float."""

    NEAREST = auto()
    TRUNCATE = auto()


@irdl_attr_definition
class RoundingAttr(EnumAttribute[Rounding], SpacedOpaqueSyntaxAttribute):
    """`#tile_tensor<rounding truncate>`."""

    name = "tile_tensor.rounding"


@irdl_op_definition
class CastOp(RoundingOperation):
    """
    `x * 2^-scale` in another element type, rounded once, to nearest even.

    A float becomes the nearest integer of the type's range (ties to even), with `rounding truncate` the one
    toward zero; NaN becomes 0. To an integer `saturate = false` keeps the low bits of what the type does not
    hold.
    """

    name = "tile_tensor.cast"
    operand = operand_def(TensorType)
    scale = prop_def(IntegerAttr.constr(type=eq(i32)), default_value=IntegerAttr(0, i32))
    rounding = prop_def(RoundingAttr, default_value=RoundingAttr(Rounding.NEAREST))
    assembly_format = (
        "$operand (`scale` $scale^)? (`rounding` $rounding^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        element_type: Attribute,
        *,
        scale: int = 0,
        rounding: str = "nearest",
        saturate: bool = True,
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element_type, shape_of(operand))],
            properties={
                "scale": IntegerAttr(scale, i32),
                "rounding": RoundingAttr(Rounding(rounding)),
                "saturate": BoolAttr.from_bool(saturate),
            },
        )

    def infer_shape(self) -> Shape:
        return shape_of(self.operand)

    def verify_elements(self) -> None:
        verify_scale(self.scale.value.data)
        source, result = element_of(self.operand), element_of(self.result)
        if is_integer(source) and is_integer(result):
            require(self.scale.value.data == 0, "between integer types there is no scale")
        if self.rounding.data != Rounding.NEAREST:
            require(
                is_float(source) and is_integer(result),
                f"`rounding {self.rounding.data}` is for casts of a float to an integer, "
                f"found {source} to {result}",
            )
