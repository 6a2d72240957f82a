# SPDX-License-Identifier: Apache-2.0
"""The `tile_tensor` dialect: what is computed.

Named operations with value semantics on builtin tensor types of static shape. One syntax serves all of them:

    %c = tile_tensor.matmul %a, %b transpose_b accumulate f16 scale -3 : (tensor<4x8xf16>, tensor<6x8xf16>) -> tensor<4x6xf16>

operands, clauses (a keyword and a value, left out at its default), attributes, then the types. A tensor type may carry an
encoding (a layout); shapes and element types are checked without it. `docs/spec/tensor.md` defines every operation's value,
`tilewright.dialects.reference` evaluates it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from enum import auto
from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    TensorType,
    UnitAttr,
    f16,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Dialect, Operation, SpacedOpaqueSyntaxAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects import tensor_shapes as shapes
from tilewright.dialects.tensor_shapes import Shape, ShapeError, show

PLAN_ATTRIBUTE = "plan"
"""Discardable dictionary attribute that forces an operation's plan."""

_FLOAT8 = (Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E4M3FNType, Float8E5M2Type)
_FLOATS = (*_FLOAT8, Float16Type, BFloat16Type, Float32Type)
_INTEGER_WIDTHS = (8, 32)


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """The tensor type of a value of this dialect."""
    return cast("TensorType[Attribute]", value.type)


def shape_of(value: SSAValue) -> Shape:
    """The shape of a value of this dialect."""
    return tensor_type(value).get_shape()


def element_of(value: SSAValue) -> Attribute:
    """The element type of a value of this dialect."""
    return tensor_type(value).element_type


def is_float8(element: Attribute) -> bool:
    """One of the four 8-bit float formats."""
    return isinstance(element, _FLOAT8)


def is_float(element: Attribute) -> bool:
    """A float format that the dialect computes with."""
    return isinstance(element, _FLOATS)


def is_integer(element: Attribute) -> bool:
    """i8 or i32."""
    return isinstance(element, IntegerType) and element.width.data in _INTEGER_WIDTHS


def _ints(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i64, [int(value) for value in values])


def _float(value: float) -> FloatAttr[Float32Type]:
    return FloatAttr(float(value), f32)


@irdl_custom_directive
class Float32(CustomDirective):
    """A 32-bit float without its type: `1.0e-06`, `-4`, or the bits of one that has no decimal form: `0xFF800000`."""

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        start = parser.pos
        number = parser.parse_number()
        if parser.lexer.input.slice(start, start + 2) in ("0x", "0X"):
            number = f32.unpack(int(number).to_bytes(4, "little"), 1)[0]
        self.value.set(state, _float(number))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attribute = cast("FloatAttr[Float32Type]", self.value.get(op))
        state.print_whitespace(printer)
        printer.print_float(attribute.value.data, f32)

    def is_present(self, op: IRDLOperation) -> bool:
        return self.value.is_present(op)

    def is_anchorable(self) -> bool:
        return True


class TensorOperation(IRDLOperation):
    """What all operations share: one tensor result, no effects, shapes inferred and compared with the declared ones."""

    result = result_def(TensorType)

    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)

    @abstractmethod
    def infer_shape(self) -> Shape:
        """The result's shape, from the operands and the properties. Raises `ShapeError`."""

    def verify_elements(self) -> None:
        """Checks element types. By default: floats of any width in and out."""
        for value in (*self.operands, self.result):
            _require(is_float(element_of(value)), f"works on floats, found {element_of(value)}")

    def verify_(self) -> None:
        for value in (*self.operands, self.result):
            extents = shape_of(value)
            _require(min(extents, default=0) >= 0, f"needs static shapes, found {value.type}")
            element = element_of(value)
            _require(
                is_float(element) or is_integer(element),
                f"elements must be f8, f16, bf16, f32, i8 or i32, found {element}",
            )
        try:
            expected = self.infer_shape()
        except ShapeError as error:
            raise VerifyException(str(error)) from error
        found = shape_of(self.result)
        _require(expected == found, f"expects a result of shape {show(expected)}, found {show(found)}")
        self.verify_elements()
        plan = self.attributes.get(PLAN_ATTRIBUTE)
        _require(plan is None or isinstance(plan, DictionaryAttr), f"`plan` must be a dictionary, found {plan}")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise VerifyException(message)


def _require_same_element(op: TensorOperation) -> None:
    elements = [element_of(value) for value in (*op.operands, op.result)]
    for element in elements:
        _require(element == elements[0], f"moves elements unchanged: {elements[0]} in, {element} out")


# Elementwise -----------------------------------------------------------------------------------------------------------


class _Elementwise(TensorOperation):
    """Floats of any width are computed in f32 and rounded once; integers stay in their type and wrap.

    `saturate` is about results in an 8-bit float format: the largest finite value for what lies beyond it, or, if false,
    what the format has for overflow (infinity or NaN).
    """

    saturate = prop_def(IntegerAttr.constr(type=eq(i1)), default_value=BoolAttr.from_bool(True))

    def verify_elements(self) -> None:
        elements = [element_of(value) for value in (*self.operands, self.result)]
        if all(is_float(element) for element in elements):
            return
        for element in elements:
            _require(
                element == elements[0],
                f"needs float operands or integers of one type, found {' and '.join(map(str, elements[:-1]))} "
                f"with result {elements[-1]}",
            )


class UnaryOperation(_Elementwise):
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
            operands=[operand], result_types=[result_type], properties={"saturate": BoolAttr.from_bool(saturate)}
        )

    def infer_shape(self) -> Shape:
        return shape_of(self.operand)


class FloatUnaryOperation(UnaryOperation):
    """A unary operation that integers do not have."""

    def verify_elements(self) -> None:
        TensorOperation.verify_elements(self)


class BinaryOperation(_Elementwise):
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
            operands=[lhs, rhs], result_types=[result_type], properties={"saturate": BoolAttr.from_bool(saturate)}
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
    """`lhs / rhs`; integers round toward zero."""

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
class ExpOp(FloatUnaryOperation):
    """`e^x`."""

    name = "tile_tensor.exp"


@irdl_op_definition
class LogOp(FloatUnaryOperation):
    """The natural logarithm."""

    name = "tile_tensor.log"


@irdl_op_definition
class SqrtOp(FloatUnaryOperation):
    """The square root."""

    name = "tile_tensor.sqrt"


@irdl_op_definition
class RsqrtOp(FloatUnaryOperation):
    """`1 / sqrt(x)`."""

    name = "tile_tensor.rsqrt"


@irdl_op_definition
class ReciprocalOp(FloatUnaryOperation):
    """`1 / x`."""

    name = "tile_tensor.reciprocal"


@irdl_op_definition
class TanhOp(FloatUnaryOperation):
    """The hyperbolic tangent."""

    name = "tile_tensor.tanh"


@irdl_op_definition
class ErfOp(FloatUnaryOperation):
    """The error function."""

    name = "tile_tensor.erf"


@irdl_op_definition
class SigmoidOp(FloatUnaryOperation):
    """`1 / (1 + e^-x)`."""

    name = "tile_tensor.sigmoid"


class Approximation(StrEnum):
    """How gelu is computed."""

    NONE = auto()
    TANH = auto()


@irdl_attr_definition
class ApproximationAttr(EnumAttribute[Approximation], SpacedOpaqueSyntaxAttribute):
    """`#tile_tensor<approximation tanh>`."""

    name = "tile_tensor.approximation"


@irdl_op_definition
class GeluOp(FloatUnaryOperation):
    """`x/2 (1 + erf(x / sqrt 2))`, or with `approximate tanh` `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`."""

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
class CastOp(TensorOperation):
    """`x * 2^-scale` in another element type, rounded once, to nearest even.

    `saturate` as for elementwise operations; to an integer the value is rounded and, with `saturate`, clamped.
    """

    name = "tile_tensor.cast"
    operand = operand_def(TensorType)
    scale = prop_def(IntegerAttr.constr(type=eq(i32)), default_value=IntegerAttr(0, i32))
    saturate = prop_def(IntegerAttr.constr(type=eq(i1)), default_value=BoolAttr.from_bool(True))
    assembly_format = "$operand (`scale` $scale^)? attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        operand: SSAValue | Operation,
        element_type: Attribute,
        *,
        scale: int = 0,
        saturate: bool = True,
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element_type, shape_of(operand))],
            properties={"scale": IntegerAttr(scale, i32), "saturate": BoolAttr.from_bool(saturate)},
        )

    def infer_shape(self) -> Shape:
        return shape_of(self.operand)

    def verify_elements(self) -> None:
        _verify_scale(self.scale.value.data)
        if is_integer(element_of(self.operand)) and is_integer(element_of(self.result)):
            _require(self.scale.value.data == 0, "between integer types there is no scale")


def _verify_scale(scale: int) -> None:
    _require(-64 <= scale <= 64, f"scale is a power of two between 2^-64 and 2^64, found 2^{scale}")


# Products --------------------------------------------------------------------------------------------------------------


def _verify_accumulate(accumulate: Attribute | None) -> None:
    _require(accumulate in (None, f16, f32), f"accumulates in f16 or f32, found {accumulate}")


@irdl_op_definition
class MatmulOp(TensorOperation):
    """`[.., m, k] x [.., k, n] -> [.., m, n]`, times `2^scale`; leading dimensions are equal.

    `accumulate` is the type of the running sum: see `accumulate_type` for what holds without it.
    """

    name = "tile_tensor.matmul"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    transpose_a = opt_prop_def(UnitAttr)
    transpose_b = opt_prop_def(UnitAttr)
    accumulate = opt_prop_def(TypeAttribute)
    scale = prop_def(IntegerAttr.constr(type=eq(i32)), default_value=IntegerAttr(0, i32))
    assembly_format = (
        "$lhs `,` $rhs (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? (`accumulate` $accumulate^)? "
        "(`scale` $scale^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        element_type: Attribute,
        *,
        transpose_a: bool = False,
        transpose_b: bool = False,
        accumulate: TypeAttribute | None = None,
        scale: int = 0,
    ) -> None:
        lhs, rhs = SSAValue.get(lhs), SSAValue.get(rhs)
        super().__init__(
            operands=[lhs, rhs],
            result_types=[
                TensorType(element_type, shapes.matmul(shape_of(lhs), shape_of(rhs), transpose_a, transpose_b))
            ],
            properties={
                "transpose_a": UnitAttr() if transpose_a else None,
                "transpose_b": UnitAttr() if transpose_b else None,
                "accumulate": accumulate,
                "scale": IntegerAttr(scale, i32),
            },
        )

    @property
    def accumulate_type(self) -> Attribute:
        """The type of the running sum: as given; else i32 for integers, f16 for f8 operands with a result narrower than
        f32, f32 for everything else."""
        if self.accumulate is not None:
            return self.accumulate
        if is_integer(element_of(self.lhs)):
            return i32
        narrow = is_float8(element_of(self.lhs)) and not isinstance(element_of(self.result), Float32Type)
        return f16 if narrow else f32

    def infer_shape(self) -> Shape:
        return shapes.matmul(
            shape_of(self.lhs), shape_of(self.rhs), self.transpose_a is not None, self.transpose_b is not None
        )

    def verify_elements(self) -> None:
        lhs, rhs, result = element_of(self.lhs), element_of(self.rhs), element_of(self.result)
        _require(
            lhs == rhs or (is_float8(lhs) and is_float8(rhs)),
            f"operands must have one element type, or two 8-bit float types, found {lhs} and {rhs}; use tile_tensor.cast",
        )
        scale = self.scale.value.data
        _verify_scale(scale)
        if is_float(lhs):
            _require(is_float(result), f"the product of {lhs} and {rhs} is a float, found {result}")
            _verify_accumulate(self.accumulate)
            return
        _require(lhs == IntegerType(8) and result == i32, f"integer matmul is i8 by i8 to i32, found {lhs} to {result}")
        _require(self.accumulate in (None, i32), f"i8 accumulates in i32, found {self.accumulate}")
        _require(scale == 0, f"integer matmul has no scale, found {scale}")


@irdl_op_definition
class AttentionOp(TensorOperation):
    """`softmax(scale * q k^T) v` on `q[.., tq, d]`, `k[.., tk, d]`, `v[.., tk, dv]`."""

    name = "tile_tensor.attention"
    query = operand_def(TensorType)
    key = operand_def(TensorType)
    value = operand_def(TensorType)
    scale = prop_def(FloatAttr[Float32Type], default_value=_float(1.0))
    accumulate = opt_prop_def(TypeAttribute)
    custom_directives = (Float32,)
    assembly_format = (
        "$query `,` $key `,` $value (`accumulate` $accumulate^)? (`scale` custom<Float32>($scale)^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        query: SSAValue | Operation,
        key: SSAValue | Operation,
        value: SSAValue | Operation,
        *,
        scale: float = 1.0,
        accumulate: TypeAttribute | None = None,
        element_type: Attribute | None = None,
    ) -> None:
        query, key, value = SSAValue.get(query), SSAValue.get(key), SSAValue.get(value)
        result_shape = shapes.attention(shape_of(query), shape_of(key), shape_of(value))
        super().__init__(
            operands=[query, key, value],
            result_types=[TensorType(element_type or element_of(query), result_shape)],
            properties={"scale": _float(scale), "accumulate": accumulate},
        )

    def infer_shape(self) -> Shape:
        return shapes.attention(shape_of(self.query), shape_of(self.key), shape_of(self.value))

    def verify_elements(self) -> None:
        super().verify_elements()
        _verify_accumulate(self.accumulate)


# Reductions and row-wise operations ------------------------------------------------------------------------------------


class Reduction(StrEnum):
    """What a reduction computes."""

    SUM = auto()
    MAX = auto()
    MIN = auto()
    PROD = auto()
    MEAN = auto()


@irdl_attr_definition
class ReductionAttr(EnumAttribute[Reduction], SpacedOpaqueSyntaxAttribute):
    """`#tile_tensor<reduction sum>`."""

    name = "tile_tensor.reduction"


@irdl_op_definition
class ReduceOp(TensorOperation):
    """`reduce max %x axes [1] keep_dims`: float sums and products are rounded once, max and min propagate NaN.

    Over no elements: sum 0, prod 1, max and min the lowest and highest value of the type, mean NaN.
    """

    name = "tile_tensor.reduce"
    operand = operand_def(TensorType)
    kind = prop_def(ReductionAttr)
    axes = prop_def(DenseArrayBase.constr(i64))
    keep_dims = opt_prop_def(UnitAttr)
    assembly_format = (
        "$kind $operand `axes` $axes (`keep_dims` $keep_dims^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        kind: str,
        axes: Sequence[int],
        *,
        keep_dims: bool = False,
        element_type: Attribute | None = None,
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand],
            result_types=[
                TensorType(element_type or element_of(operand), shapes.reduce(shape_of(operand), axes, keep_dims))
            ],
            properties={
                "kind": ReductionAttr(Reduction(kind)),
                "axes": _ints(axes),
                "keep_dims": UnitAttr() if keep_dims else None,
            },
        )

    def infer_shape(self) -> Shape:
        return shapes.reduce(shape_of(self.operand), self.axes.get_values(), self.keep_dims is not None)

    def verify_elements(self) -> None:
        operand, result = element_of(self.operand), element_of(self.result)
        if is_float(operand) and is_float(result):
            return
        _require(
            operand == result or (is_integer(operand) and result == i32),
            f"a reduction of {operand} gives the same type{', or i32' if is_integer(operand) else ''}, found {result}",
        )
        _require(self.kind.data != Reduction.MEAN, "the mean of integers is not an integer; cast first")


@irdl_op_definition
class SoftmaxOp(TensorOperation):
    """`softmax(scale * x)` over the last axis."""

    name = "tile_tensor.softmax"
    operand = operand_def(TensorType)
    scale = prop_def(FloatAttr[Float32Type], default_value=_float(1.0))
    custom_directives = (Float32,)
    assembly_format = (
        "$operand (`scale` custom<Float32>($scale)^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        *,
        scale: float = 1.0,
        element_type: Attribute | None = None,
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element_type or element_of(operand), shape_of(operand))],
            properties={"scale": _float(scale)},
        )

    def infer_shape(self) -> Shape:
        return shapes.normalized(shape_of(self.operand))


@irdl_op_definition
class LayerNormOp(TensorOperation):
    """`(x - mean) / sqrt(variance + epsilon) * gamma + beta` over the last axis."""

    name = "tile_tensor.layer_norm"
    operand = operand_def(TensorType)
    gamma = operand_def(TensorType)
    beta = operand_def(TensorType)
    epsilon = prop_def(FloatAttr[Float32Type])
    custom_directives = (Float32,)
    assembly_format = (
        "$operand `,` $gamma `,` $beta `epsilon` custom<Float32>($epsilon) attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        gamma: SSAValue | Operation,
        beta: SSAValue | Operation,
        *,
        epsilon: float,
        element_type: Attribute | None = None,
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand, gamma, beta],
            result_types=[TensorType(element_type or element_of(operand), shape_of(operand))],
            properties={"epsilon": _float(epsilon)},
        )

    def infer_shape(self) -> Shape:
        return shapes.normalized(
            shape_of(self.operand), (("gamma", shape_of(self.gamma)), ("beta", shape_of(self.beta)))
        )


@irdl_op_definition
class RmsNormOp(TensorOperation):
    """`x / sqrt(mean(x^2) + epsilon) * gamma` over the last axis."""

    name = "tile_tensor.rms_norm"
    operand = operand_def(TensorType)
    gamma = operand_def(TensorType)
    epsilon = prop_def(FloatAttr[Float32Type])
    custom_directives = (Float32,)
    assembly_format = (
        "$operand `,` $gamma `epsilon` custom<Float32>($epsilon) attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        gamma: SSAValue | Operation,
        *,
        epsilon: float,
        element_type: Attribute | None = None,
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand, gamma],
            result_types=[TensorType(element_type or element_of(operand), shape_of(operand))],
            properties={"epsilon": _float(epsilon)},
        )

    def infer_shape(self) -> Shape:
        return shapes.normalized(shape_of(self.operand), (("gamma", shape_of(self.gamma)),))


# Movement --------------------------------------------------------------------------------------------------------------


class _Movement(TensorOperation):
    """Elements move or repeat; none is computed."""

    def verify_elements(self) -> None:
        _require_same_element(self)


@irdl_op_definition
class TransposeOp(_Movement):
    """Result axis i is operand axis `permutation[i]`."""

    name = "tile_tensor.transpose"
    operand = operand_def(TensorType)
    permutation = prop_def(DenseArrayBase.constr(i64))
    assembly_format = "$operand `permutation` $permutation attr-dict `:` functional-type(operands, results)"

    def __init__(self, operand: SSAValue | Operation, permutation: Sequence[int]) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element_of(operand), shapes.transpose(shape_of(operand), permutation))],
            properties={"permutation": _ints(permutation)},
        )

    def infer_shape(self) -> Shape:
        return shapes.transpose(shape_of(self.operand), self.permutation.get_values())


@irdl_op_definition
class ReshapeOp(_Movement):
    """The same elements in row-major order under another shape."""

    name = "tile_tensor.reshape"
    operand = operand_def(TensorType)
    assembly_format = "$operand attr-dict `:` functional-type(operands, results)"

    def __init__(self, operand: SSAValue | Operation, shape: Sequence[int]) -> None:
        operand = SSAValue.get(operand)
        super().__init__(operands=[operand], result_types=[TensorType(element_of(operand), list(shape))])

    def infer_shape(self) -> Shape:
        return shapes.reshape(shape_of(self.operand), shape_of(self.result))


@irdl_op_definition
class SliceOp(_Movement):
    """The box of `sizes` at `offsets`."""

    name = "tile_tensor.slice"
    operand = operand_def(TensorType)
    offsets = prop_def(DenseArrayBase.constr(i64))
    sizes = prop_def(DenseArrayBase.constr(i64))
    assembly_format = (
        "$operand `offsets` $offsets `sizes` $sizes attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, operand: SSAValue | Operation, offsets: Sequence[int], sizes: Sequence[int]) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element_of(operand), shapes.slice_(shape_of(operand), offsets, sizes))],
            properties={"offsets": _ints(offsets), "sizes": _ints(sizes)},
        )

    def infer_shape(self) -> Shape:
        return shapes.slice_(shape_of(self.operand), self.offsets.get_values(), self.sizes.get_values())


@irdl_op_definition
class ConcatOp(_Movement):
    """The operands one after the other along `axis`."""

    name = "tile_tensor.concat"
    inputs = var_operand_def(TensorType)
    axis = prop_def(IntegerAttr.constr(type=eq(i64)))
    assembly_format = "$inputs `axis` $axis attr-dict `:` functional-type(operands, results)"

    def __init__(self, inputs: Sequence[SSAValue | Operation], axis: int) -> None:
        values = [SSAValue.get(value) for value in inputs]
        result_shape = shapes.concat([shape_of(value) for value in values], axis)
        super().__init__(
            operands=[values],
            result_types=[TensorType(element_of(values[0]), result_shape)],
            properties={"axis": IntegerAttr(axis, i64)},
        )

    def infer_shape(self) -> Shape:
        return shapes.concat([shape_of(value) for value in self.inputs], self.axis.value.data)


@irdl_op_definition
class PadOp(_Movement):
    """`low` and `high` copies of `value` around the operand, per axis."""

    name = "tile_tensor.pad"
    operand = operand_def(TensorType)
    low = prop_def(DenseArrayBase.constr(i64))
    high = prop_def(DenseArrayBase.constr(i64))
    value = prop_def(FloatAttr[Float32Type], default_value=_float(0.0))
    custom_directives = (Float32,)
    assembly_format = (
        "$operand `low` $low `high` $high (`value` custom<Float32>($value)^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self, operand: SSAValue | Operation, low: Sequence[int], high: Sequence[int], value: float = 0.0
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element_of(operand), shapes.pad(shape_of(operand), low, high))],
            properties={"low": _ints(low), "high": _ints(high), "value": _float(value)},
        )

    def infer_shape(self) -> Shape:
        return shapes.pad(shape_of(self.operand), self.low.get_values(), self.high.get_values())


@irdl_op_definition
class BroadcastOp(_Movement):
    """Operand axis i becomes result axis `dimensions[i]`; other result axes repeat the operand."""

    name = "tile_tensor.broadcast"
    operand = operand_def(TensorType)
    dimensions = prop_def(DenseArrayBase.constr(i64))
    assembly_format = "$operand `dimensions` $dimensions attr-dict `:` functional-type(operands, results)"

    def __init__(
        self, operand: SSAValue | Operation, shape: Sequence[int], dimensions: Sequence[int]
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element_of(operand), list(shape))],
            properties={"dimensions": _ints(dimensions)},
        )

    def infer_shape(self) -> Shape:
        return shapes.broadcast(shape_of(self.operand), self.dimensions.get_values(), shape_of(self.result))


@irdl_op_definition
class GatherOp(TensorOperation):
    """Rows of a table: `axis` of `table` is replaced by the axes of `indices` (i32, each in range)."""

    name = "tile_tensor.gather"
    table = operand_def(TensorType)
    indices = operand_def(TensorType)
    axis = prop_def(IntegerAttr.constr(type=eq(i64)), default_value=IntegerAttr(0, i64))
    assembly_format = "$table `,` $indices (`axis` $axis^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, table: SSAValue | Operation, indices: SSAValue | Operation, axis: int = 0) -> None:
        table, indices = SSAValue.get(table), SSAValue.get(indices)
        super().__init__(
            operands=[table, indices],
            result_types=[TensorType(element_of(table), shapes.gather(shape_of(table), shape_of(indices), axis))],
            properties={"axis": IntegerAttr(axis, i64)},
        )

    def infer_shape(self) -> Shape:
        return shapes.gather(shape_of(self.table), shape_of(self.indices), self.axis.value.data)

    def verify_elements(self) -> None:
        _require(element_of(self.indices) == i32, f"indices must be i32, found {element_of(self.indices)}")
        table, result = element_of(self.table), element_of(self.result)
        _require(table == result, f"moves elements unchanged: {table} in, {result} out")


@irdl_op_definition
class ConstantOp(TensorOperation):
    """`tile_tensor.constant dense<1.0> : tensor<4xf32>`: for small values; weights are parameters."""

    name = "tile_tensor.constant"
    value = prop_def(DenseIntOrFPElementsAttr)

    def __init__(self, value: DenseIntOrFPElementsAttr) -> None:
        super().__init__(result_types=[value.type], properties={"value": value})

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr) or not isinstance(value.type, TensorType):
            parser.raise_error("a constant is `dense<...> : tensor<...>`", position, parser.pos)
        constant = cls(value)
        constant.attributes |= attributes
        return constant

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)

    def infer_shape(self) -> Shape:
        return self.value.get_shape()

    def verify_elements(self) -> None:
        _require(
            self.value.type == self.result.type,
            f"the value has type {self.value.type}, the result {self.result.type}",
        )


TileTensor = Dialect(
    "tile_tensor",
    [
        AbsOp,
        AddOp,
        AttentionOp,
        BroadcastOp,
        CastOp,
        ConcatOp,
        ConstantOp,
        DivOp,
        ErfOp,
        ExpOp,
        GatherOp,
        GeluOp,
        LayerNormOp,
        LogOp,
        MatmulOp,
        MaximumOp,
        MinimumOp,
        MulOp,
        NegOp,
        PadOp,
        ReciprocalOp,
        ReduceOp,
        ReluOp,
        ReshapeOp,
        RmsNormOp,
        RsqrtOp,
        SigmoidOp,
        SliceOp,
        SoftmaxOp,
        SqrtOp,
        SquareOp,
        SubOp,
        TanhOp,
        TransposeOp,
    ],
    [ApproximationAttr, ReductionAttr],
)
