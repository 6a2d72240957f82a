# SPDX-License-Identifier: Apache-2.0
"""Operations of `tile_tensor` on each element by itself: arithmetic with broadcasting, functions, cast."""

from __future__ import annotations

from enum import auto

from xdsl.dialects.builtin import (
    BoolAttr,
    IntegerAttr,
    TensorType,
    i1,
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
    is_boolean,
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


def verify_pointwise(op: TensorOperation) -> None:
    """
    Checks element types by `tilewright.machine.numerics.pointwise`, which says where a function is defined:
    floats of any width in and out, integers or i1 of one type.
    """
    found = functions_of(op.name.partition(".")[2])
    allowed = {kind for function in found for kind in function.kinds}
    elements = [element_of(value) for value in op.operands]
    result = element_of(op.result)
    gives_i1 = bool(found) and found[0].gives == "i1"
    given = elements if gives_i1 else [*elements, result]
    for element in given:
        require(
            kind_of(element) in allowed,
            f"works on {' and '.join(KINDS[kind] for kind in KINDS if kind in allowed)}, found {element}",
        )
    if gives_i1:
        require(is_boolean(result), f"gives i1, found {result}")
    if all(is_float(element) for element in given):
        return
    for element in given:
        require(
            element == elements[0],
            "needs floats or integers of one type, "
            f"found {' and '.join(map(str, elements))} with result {result}",
        )


class UnaryOperation(RoundingOperation):
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

    def verify_elements(self) -> None:
        verify_pointwise(self)


class BinaryOperation(RoundingOperation):
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

    def verify_elements(self) -> None:
        verify_pointwise(self)


class ExactUnaryOperation(TensorOperation):
    """One operand; nothing is rounded. The result has the operand's type, or i1."""

    operand = operand_def(TensorType)
    assembly_format = "$operand attr-dict `:` functional-type(operands, results)"

    def __init__(self, operand: SSAValue | Operation) -> None:
        operand = SSAValue.get(operand)
        element = i1 if functions_of(self.name.partition(".")[2])[0].gives == "i1" else element_of(operand)
        super().__init__(operands=[operand], result_types=[TensorType(element, shape_of(operand))])

    def infer_shape(self) -> Shape:
        return shape_of(self.operand)

    def verify_elements(self) -> None:
        verify_pointwise(self)


class ExactBinaryOperation(TensorOperation):
    """Two operands of one type, broadcast as numpy does; nothing is rounded."""

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    assembly_format = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)"

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation) -> None:
        lhs, rhs = SSAValue.get(lhs), SSAValue.get(rhs)
        shape = shapes.broadcast_pair(shape_of(lhs), shape_of(rhs))
        super().__init__(operands=[lhs, rhs], result_types=[TensorType(element_of(lhs), shape)])

    def infer_shape(self) -> Shape:
        return shapes.broadcast_pair(shape_of(self.lhs), shape_of(self.rhs))

    def verify_elements(self) -> None:
        verify_pointwise(self)


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


@irdl_op_definition
class SinOp(UnaryOperation):
    """The sine of an angle in radians."""

    name = "tile_tensor.sin"


@irdl_op_definition
class CosOp(UnaryOperation):
    """The cosine of an angle in radians."""

    name = "tile_tensor.cos"


@irdl_op_definition
class Log1pOp(UnaryOperation):
    """`log(1 + x)`."""

    name = "tile_tensor.log1p"


@irdl_op_definition
class Expm1Op(UnaryOperation):
    """`e^x - 1`."""

    name = "tile_tensor.expm1"


@irdl_op_definition
class FloorOp(UnaryOperation):
    """The largest whole number that is not above."""

    name = "tile_tensor.floor"


@irdl_op_definition
class CeilOp(UnaryOperation):
    """The least whole number that is not below."""

    name = "tile_tensor.ceil"


@irdl_op_definition
class RoundOp(UnaryOperation):
    """The nearest whole number, ties to even."""

    name = "tile_tensor.round"


@irdl_op_definition
class SignOp(UnaryOperation):
    """-1, 0 or 1; a zero keeps its sign, NaN is NaN."""

    name = "tile_tensor.sign"


@irdl_op_definition
class PowOp(BinaryOperation):
    """`lhs` to the power of `rhs`; of integers a negative power is 0, but for 1 and -1."""

    name = "tile_tensor.pow"


@irdl_op_definition
class Atan2Op(BinaryOperation):
    """The angle of the point (rhs, lhs), in radians."""

    name = "tile_tensor.atan2"


@irdl_op_definition
class RemainderOp(BinaryOperation):
    """What is left of `lhs` after division by `rhs` toward zero; of integers by zero `lhs`."""

    name = "tile_tensor.remainder"


@irdl_op_definition
class IsFiniteOp(ExactUnaryOperation):
    """Whether x is neither infinite nor NaN, as i1."""

    name = "tile_tensor.is_finite"


@irdl_op_definition
class NotOp(ExactUnaryOperation):
    """The other truth value of i1; all bits of an integer turned over."""

    name = "tile_tensor.not"


@irdl_op_definition
class AndOp(ExactBinaryOperation):
    """Both, of i1; of integers bit by bit."""

    name = "tile_tensor.and"


@irdl_op_definition
class OrOp(ExactBinaryOperation):
    """At least one, of i1; of integers bit by bit."""

    name = "tile_tensor.or"


@irdl_op_definition
class XorOp(ExactBinaryOperation):
    """Exactly one, of i1; of integers bit by bit."""

    name = "tile_tensor.xor"


@irdl_op_definition
class ShiftLeftOp(ExactBinaryOperation):
    """`lhs` moved by `rhs` bits; 0 for distances outside of the type."""

    name = "tile_tensor.shift_left"


@irdl_op_definition
class ShiftRightArithmeticOp(ExactBinaryOperation):
    """`lhs` moved by `rhs` bits, copies of the sign come in."""

    name = "tile_tensor.shift_right_arithmetic"


@irdl_op_definition
class ShiftRightLogicalOp(ExactBinaryOperation):
    """`lhs` moved by `rhs` bits, zeros come in; 0 for distances outside of the type."""

    name = "tile_tensor.shift_right_logical"


class Direction(StrEnum):
    """What is compared."""

    EQ = auto()
    NE = auto()
    LT = auto()
    LE = auto()
    GT = auto()
    GE = auto()


@irdl_attr_definition
class DirectionAttr(EnumAttribute[Direction], SpacedOpaqueSyntaxAttribute):
    """`#tile_tensor<direction lt>`."""

    name = "tile_tensor.direction"


@irdl_op_definition
class CompareOp(TensorOperation):
    """
    `compare lt %a, %b`: i1 by IEEE 754's rules, with numpy broadcasting. NaN is equal to nothing and neither
    above nor below; the two zeros are equal. Integers are signed, of i1 false is below true.
    """

    name = "tile_tensor.compare"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    direction = prop_def(DirectionAttr)
    assembly_format = "$direction $lhs `,` $rhs attr-dict `:` functional-type(operands, results)"

    def __init__(self, direction: str, lhs: SSAValue | Operation, rhs: SSAValue | Operation) -> None:
        lhs, rhs = SSAValue.get(lhs), SSAValue.get(rhs)
        super().__init__(
            operands=[lhs, rhs],
            result_types=[TensorType(i1, shapes.broadcast_pair(shape_of(lhs), shape_of(rhs)))],
            properties={"direction": DirectionAttr(Direction(direction))},
        )

    def infer_shape(self) -> Shape:
        return shapes.broadcast_pair(shape_of(self.lhs), shape_of(self.rhs))

    def verify_elements(self) -> None:
        verify_pointwise(self)


@irdl_op_definition
class SelectOp(TensorOperation):
    """`select %p, %a, %b`: the element of `%a` where `%p` (i1) holds, else that of `%b`; all broadcast."""

    name = "tile_tensor.select"
    predicate = operand_def(TensorType)
    on_true = operand_def(TensorType)
    on_false = operand_def(TensorType)
    assembly_format = "$predicate `,` $on_true `,` $on_false attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        predicate: SSAValue | Operation,
        on_true: SSAValue | Operation,
        on_false: SSAValue | Operation,
    ) -> None:
        operands = [SSAValue.get(value) for value in (predicate, on_true, on_false)]
        shape = shapes.broadcast_all([shape_of(value) for value in operands])
        super().__init__(operands=operands, result_types=[TensorType(element_of(operands[1]), shape)])

    def infer_shape(self) -> Shape:
        return shapes.broadcast_all([shape_of(value) for value in self.operands])

    def verify_elements(self) -> None:
        predicate = element_of(self.predicate)
        require(is_boolean(predicate), f"selects by i1, found {predicate}")
        a, b, result = (element_of(v) for v in (self.on_true, self.on_false, self.result))
        require(a == b == result, f"selects elements unchanged: {a} and {b} in, {result} out")


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
    hold. i1 becomes 0 or 1; whatever is not zero, NaN included, becomes true.
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
        if is_boolean(source) or is_boolean(result):
            require(self.scale.value.data == 0, "a cast from or to i1 has no scale")
        if is_integer(source) and is_integer(result):
            require(self.scale.value.data == 0, "between integer types there is no scale")
        if self.rounding.data != Rounding.NEAREST:
            require(
                is_float(source) and is_integer(result),
                f"`rounding {self.rounding.data}` is for casts of a float to an integer, "
                f"found {source} to {result}",
            )
