# SPDX-License-Identifier: Apache-2.0
"""Operations of `tile_tensor` along axes: reductions, softmax, norms."""

from __future__ import annotations

from collections.abc import Sequence
from enum import auto

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    TensorType,
    UnitAttr,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.tensor import shapes as shapes
from tilewright.dialects.tensor.base import (
    Float32,
    RoundingOperation,
    element_of,
    float_attribute,
    ints_attribute,
    is_boolean,
    is_float,
    is_integer,
    require,
    shape_of,
    verify_scale,
)
from tilewright.dialects.tensor.products import EmptyRows, EmptyRowsAttr, verify_softmax_scale
from tilewright.dialects.tensor.shapes import Shape


class Reduction(StrEnum):
    """What a reduction computes."""

    SUM = auto()
    MAX = auto()
    MIN = auto()
    PROD = auto()
    MEAN = auto()
    ANY = auto()
    ALL = auto()


@irdl_attr_definition
class ReductionAttr(EnumAttribute[Reduction], SpacedOpaqueSyntaxAttribute):
    """`#tile_tensor<reduction sum>`."""

    name = "tile_tensor.reduction"


@irdl_op_definition
class ReduceOp(RoundingOperation):
    """
    `reduce max %x axes [1] keep_dims`: float sums and products are rounded once, max and min propagate NaN.

    `any` and `all` are of i1. Over no elements: sum 0, prod 1, max and min the lowest and highest value of
    the type, mean NaN, any false, all true.
    """

    name = "tile_tensor.reduce"
    operand = operand_def(TensorType)
    kind = prop_def(ReductionAttr)
    axes = prop_def(DenseArrayBase.constr(i64))
    keep_dims = opt_prop_def(UnitAttr)
    assembly_format = (
        "$kind $operand `axes` $axes (`keep_dims` $keep_dims^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        kind: str,
        axes: Sequence[int],
        *,
        keep_dims: bool = False,
        element_type: Attribute | None = None,
        saturate: bool = True,
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand],
            result_types=[
                TensorType(
                    element_type or element_of(operand), shapes.reduce(shape_of(operand), axes, keep_dims)
                )
            ],
            properties={
                "kind": ReductionAttr(Reduction(kind)),
                "axes": ints_attribute(axes),
                "keep_dims": UnitAttr() if keep_dims else None,
                "saturate": BoolAttr.from_bool(saturate),
            },
        )

    def infer_shape(self) -> Shape:
        return shapes.reduce(shape_of(self.operand), self.axes.get_values(), self.keep_dims is not None)

    def verify_elements(self) -> None:
        operand, result = element_of(self.operand), element_of(self.result)
        logical = self.kind.data in (Reduction.ANY, Reduction.ALL)
        if logical or is_boolean(operand) or is_boolean(result):
            require(logical, f"i1 is reduced by any and all, found {self.kind.data}")
            require(
                is_boolean(operand) and is_boolean(result),
                f"{self.kind.data} reduces i1 to i1, found {operand} and {result}",
            )
            return
        if is_float(operand) and is_float(result):
            return
        require(
            operand == result or (is_integer(operand) and result == i32),
            f"a reduction of {operand} gives {operand}{' or i32' if is_integer(operand) else ''}, "
            f"found {result}",
        )
        require(self.kind.data != Reduction.MEAN, "the mean of integers is not an integer; cast first")


def axis_attribute(axis: int | None) -> IntegerAttr | None:
    return None if axis is None else IntegerAttr(axis, i64)


def axis_of(attribute: IntegerAttr | None) -> int | None:
    """The axis of rows; None: the last one."""
    return None if attribute is None else attribute.value.data


@irdl_op_definition
class SoftmaxOp(RoundingOperation):
    """`softmax(scale * x)` over `axis`, or the last one; `empty_rows`: what rows of minus infinities give."""

    name = "tile_tensor.softmax"
    operand = operand_def(TensorType)
    axis = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    scale = prop_def(FloatAttr[Float32Type], default_value=float_attribute(1.0))
    empty_rows = prop_def(EmptyRowsAttr, default_value=EmptyRowsAttr(EmptyRows.NAN))
    custom_directives = (Float32,)
    assembly_format = (
        "$operand (`axis` $axis^)? (`scale` custom<Float32>($scale)^)? "
        "(`empty_rows` $empty_rows^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        *,
        axis: int | None = None,
        scale: float = 1.0,
        empty_rows: str = "nan",
        element_type: Attribute | None = None,
        saturate: bool = True,
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element_type or element_of(operand), shape_of(operand))],
            properties={
                "axis": axis_attribute(axis),
                "scale": float_attribute(scale),
                "empty_rows": EmptyRowsAttr(EmptyRows(empty_rows)),
                "saturate": BoolAttr.from_bool(saturate),
            },
        )

    def infer_shape(self) -> Shape:
        return shapes.normalized(shape_of(self.operand), axis=axis_of(self.axis))

    def verify_elements(self) -> None:
        super().verify_elements()
        verify_softmax_scale(self.scale.value.data)


@irdl_op_definition
class LayerNormOp(RoundingOperation):
    """
    `((x - mean) / sqrt(variance + epsilon) * gamma + beta) * 2^-scale` over `axis`, or the last one;
    `vectors` are gamma and beta, or none: 1 and 0.
    """

    name = "tile_tensor.layer_norm"
    operand = operand_def(TensorType)
    vectors = var_operand_def(TensorType)
    axis = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    epsilon = prop_def(FloatAttr[Float32Type])
    scale = prop_def(IntegerAttr.constr(type=eq(i32)), default_value=IntegerAttr(0, i32))
    custom_directives = (Float32,)
    assembly_format = (
        "$operand (`,` $vectors^)? (`axis` $axis^)? `epsilon` custom<Float32>($epsilon) (`scale` $scale^)? "
        "attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        *vectors: SSAValue | Operation,
        epsilon: float,
        axis: int | None = None,
        scale: int = 0,
        element_type: Attribute | None = None,
        saturate: bool = True,
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand, [SSAValue.get(vector) for vector in vectors]],
            result_types=[TensorType(element_type or element_of(operand), shape_of(operand))],
            properties={
                "axis": axis_attribute(axis),
                "epsilon": float_attribute(epsilon),
                "scale": IntegerAttr(scale, i32),
                "saturate": BoolAttr.from_bool(saturate),
            },
        )

    def infer_shape(self) -> Shape:
        return shapes.normalized(
            shape_of(self.operand),
            tuple(zip(("gamma", "beta"), map(shape_of, self.vectors), strict=False)),
            axis_of(self.axis),
        )

    def verify_elements(self) -> None:
        super().verify_elements()
        require(len(self.vectors) in (0, 2), f"takes gamma and beta, or neither, found {len(self.vectors)}")
        verify_scale(self.scale.value.data)


@irdl_op_definition
class RmsNormOp(RoundingOperation):
    """`x / sqrt(mean(x^2) + epsilon) * gamma` over `axis`, or the last one."""

    name = "tile_tensor.rms_norm"
    operand = operand_def(TensorType)
    gamma = operand_def(TensorType)
    axis = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    epsilon = prop_def(FloatAttr[Float32Type])
    custom_directives = (Float32,)
    assembly_format = (
        "$operand `,` $gamma (`axis` $axis^)? `epsilon` custom<Float32>($epsilon) attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        gamma: SSAValue | Operation,
        *,
        epsilon: float,
        axis: int | None = None,
        element_type: Attribute | None = None,
        saturate: bool = True,
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand, gamma],
            result_types=[TensorType(element_type or element_of(operand), shape_of(operand))],
            properties={
                "axis": axis_attribute(axis),
                "epsilon": float_attribute(epsilon),
                "saturate": BoolAttr.from_bool(saturate),
            },
        )

    def infer_shape(self) -> Shape:
        return shapes.normalized(
            shape_of(self.operand), (("gamma", shape_of(self.gamma)),), axis_of(self.axis)
        )
