# SPDX-License-Identifier: Apache-2.0
"""Operations of `tile_tensor` on windows that move over a tensor: convolutions and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from enum import auto

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, IntegerType, TensorType, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import eq, irdl_attr_definition, irdl_op_definition, operand_def, opt_prop_def, prop_def
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.tensor import shapes as shapes
from tilewright.dialects.tensor.base import (
    RoundingOperation,
    element_of,
    ints_attribute,
    is_float,
    is_float8,
    is_integer,
    require,
    shape_of,
)
from tilewright.dialects.tensor.shapes import Shape

Counts = Sequence[int] | None


def _counts(values: Counts) -> DenseArrayBase[IntegerType] | None:
    return None if values is None else ints_attribute(values)


def counts_of(attribute: DenseArrayBase[IntegerType] | None, number: int, default: int) -> tuple[int, ...]:
    """The counts of a clause, one for each axis; all `default` without it."""
    return (default,) * number if attribute is None else tuple(int(n) for n in attribute.get_values())


class WindowOperation(RoundingOperation):
    """Windows of `size` elements, `dilation` apart, that move by `strides` over the operand padded around."""

    strides = opt_prop_def(DenseArrayBase.constr(i64))
    low = opt_prop_def(DenseArrayBase.constr(i64))
    high = opt_prop_def(DenseArrayBase.constr(i64))
    dilation = opt_prop_def(DenseArrayBase.constr(i64))

    def window(self, size: Shape) -> shapes.Window:
        """The window of this operation, for axes on which it has `size`."""
        n = len(size)
        return shapes.Window(
            size,
            counts_of(self.strides, n, 1),
            counts_of(self.low, n, 0),
            counts_of(self.high, n, 0),
            counts_of(self.dilation, n, 1),
        )


_CLAUSES = "(`strides` $strides^)? (`low` $low^)? (`high` $high^)? (`dilation` $dilation^)? "


@irdl_op_definition
class ConvolutionOp(WindowOperation):
    """
    `[n, s.., c] * [k.., c / groups, o] -> [n, s'.., o]`: sums over windows and the channels of a group.

    Batch first, channels last, the weights' spatial axes first; clauses are for the spatial axes. Output
    channels are divided over the groups in order. What lies around the operand is 0. Sums are of the type
    that a matmul has without `accumulate`.
    """

    name = "tile_tensor.convolution"
    operand = operand_def(TensorType)
    weights = operand_def(TensorType)
    groups = prop_def(IntegerAttr.constr(type=eq(i64)), default_value=IntegerAttr(1, i64))
    assembly_format = (
        "$operand `,` $weights " + _CLAUSES + "(`groups` $groups^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        weights: SSAValue | Operation,
        *,
        strides: Counts = None,
        low: Counts = None,
        high: Counts = None,
        dilation: Counts = None,
        groups: int = 1,
        element_type: Attribute | None = None,
        saturate: bool = True,
    ) -> None:
        operand, weights = SSAValue.get(operand), SSAValue.get(weights)
        n = max(len(shape_of(operand)) - 2, 0)
        window = shapes.Window(
            shape_of(weights)[:n],
            tuple(strides or (1,) * n),
            tuple(low or (0,) * n),
            tuple(high or (0,) * n),
            tuple(dilation or (1,) * n),
        )
        shape = shapes.convolution(shape_of(operand), shape_of(weights), window, groups)
        super().__init__(
            operands=[operand, weights],
            result_types=[TensorType(element_type or element_of(operand), shape)],
            properties={
                "strides": _counts(strides),
                "low": _counts(low),
                "high": _counts(high),
                "dilation": _counts(dilation),
                "groups": IntegerAttr(groups, i64),
                "saturate": BoolAttr.from_bool(saturate),
            },
        )

    def infer_shape(self) -> Shape:
        operand, weights = shape_of(self.operand), shape_of(self.weights)
        window = self.window(weights[: max(len(operand) - 2, 0)])
        return shapes.convolution(operand, weights, window, self.groups.value.data)

    @property
    def depthwise(self) -> bool:
        """Whether every channel is by itself."""
        return self.groups.value.data == shape_of(self.operand)[-1] == shape_of(self.weights)[-1]

    def verify_elements(self) -> None:
        operand, weights = element_of(self.operand), element_of(self.weights)
        super().verify_elements()
        require(
            operand == weights or (is_float8(operand) and is_float8(weights)),
            "operands must have one element type, or two 8-bit float types, found "
            f"{operand} and {weights}; use tile_tensor.cast",
        )


class WindowReduction(StrEnum):
    """What a window is reduced to."""

    SUM = auto()
    MAX = auto()
    MIN = auto()
    MEAN = auto()


@irdl_attr_definition
class WindowReductionAttr(EnumAttribute[WindowReduction], SpacedOpaqueSyntaxAttribute):
    """`#tile_tensor<window_reduction max>`."""

    name = "tile_tensor.window_reduction"


@irdl_op_definition
class ReduceWindowOp(WindowOperation):
    """
    `reduce_window max %x size [1, 3, 3, 1] strides [1, 2, 2, 1]`: one value for every window.

    Clauses have a count for every axis. What lies around the operand counts for nothing: 0 in a sum, and in
    a mean, which divides by the elements of a whole window; the lowest or highest value of the type.
    """

    name = "tile_tensor.reduce_window"
    operand = operand_def(TensorType)
    kind = prop_def(WindowReductionAttr)
    size = prop_def(DenseArrayBase.constr(i64))
    assembly_format = (
        "$kind $operand `size` $size " + _CLAUSES + "attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        kind: str,
        size: Sequence[int],
        *,
        strides: Counts = None,
        low: Counts = None,
        high: Counts = None,
        dilation: Counts = None,
        element_type: Attribute | None = None,
        saturate: bool = True,
    ) -> None:
        operand = SSAValue.get(operand)
        n = len(size)
        window = shapes.Window(
            tuple(size),
            tuple(strides or (1,) * n),
            tuple(low or (0,) * n),
            tuple(high or (0,) * n),
            tuple(dilation or (1,) * n),
        )
        shape = shapes.windows(shape_of(operand), window)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element_type or element_of(operand), shape)],
            properties={
                "kind": WindowReductionAttr(WindowReduction(kind)),
                "size": ints_attribute(size),
                "strides": _counts(strides),
                "low": _counts(low),
                "high": _counts(high),
                "dilation": _counts(dilation),
                "saturate": BoolAttr.from_bool(saturate),
            },
        )

    def infer_shape(self) -> Shape:
        window = self.window(tuple(int(n) for n in self.size.get_values()))
        shape = shapes.windows(shape_of(self.operand), window)
        moving = sum((n, k, a, b) != (1, 1, 0, 0) for n, k, a, b in zip(*window[:4], strict=True))
        if moving > 2:
            raise shapes.ShapeError(
                f"windows move over {moving} axes, 2 is the most; reduce one axis after the other"
            )
        return shape

    def verify_elements(self) -> None:
        operand, result = element_of(self.operand), element_of(self.result)
        if is_float(operand) and is_float(result):
            return
        require(
            is_integer(operand) and operand == result,
            f"reduces floats to floats or an integer type to itself, found {operand} and {result}",
        )
        require(self.kind.data != WindowReduction.MEAN, "the mean of integers is not an integer; cast first")
