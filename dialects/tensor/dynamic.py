# SPDX-License-Identifier: Apache-2.0
"""Operations of `tile_tensor` on a window of a tensor whose place is known when the program runs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, TensorType, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, var_operand_def

from tilewright.dialects.tensor import shapes as shapes
from tilewright.dialects.tensor.base import (
    TensorOperation,
    element_of,
    ints_attribute,
    require,
    shape_of,
)
from tilewright.dialects.tensor.shapes import Shape


class DynamicOperation(TensorOperation):
    """An operation with a start index, a scalar of i32, for every axis of its first operand."""

    def _verify_starts(self, starts: Sequence[SSAValue]) -> None:
        for start in starts:
            require(
                element_of(start) == i32 and shape_of(start) == (),
                f"a start index is a tensor<i32>, found {start.type}",
            )


@irdl_op_definition
class DynamicSliceOp(DynamicOperation):
    """
    The box of `sizes` at the start indices, one for each axis. An index is drawn into the range in which the
    box lies inside: 0 to extent - size.
    """

    name = "tile_tensor.dynamic_slice"
    operand = operand_def(TensorType)
    starts = var_operand_def(TensorType)
    sizes = prop_def(DenseArrayBase.constr(i64))
    assembly_format = (
        "$operand (`,` $starts^)? `sizes` $sizes attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self, operand: SSAValue | Operation, starts: Sequence[SSAValue | Operation], sizes: Sequence[int]
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand, [SSAValue.get(start) for start in starts]],
            result_types=[
                TensorType(element_of(operand), shapes.dynamic_slice(shape_of(operand), len(starts), sizes))
            ],
            properties={"sizes": ints_attribute(sizes)},
        )

    def infer_shape(self) -> Shape:
        return shapes.dynamic_slice(shape_of(self.operand), len(self.starts), self.sizes.get_values())

    def verify_elements(self) -> None:
        self._verify_starts(self.starts)
        operand, result = element_of(self.operand), element_of(self.result)
        require(operand == result, f"moves elements unchanged: {operand} in, {result} out")


@irdl_op_definition
class DynamicUpdateSliceOp(DynamicOperation):
    """
    The operand with the box at the start indices replaced by `update`; indices are drawn into the range in
    which the box lies inside, as those of `dynamic_slice`.
    """

    name = "tile_tensor.dynamic_update_slice"
    operand = operand_def(TensorType)
    update = operand_def(TensorType)
    starts = var_operand_def(TensorType)
    assembly_format = "$operand `,` $update (`,` $starts^)? attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        operand: SSAValue | Operation,
        update: SSAValue | Operation,
        starts: Sequence[SSAValue | Operation],
    ) -> None:
        operand, update = SSAValue.get(operand), SSAValue.get(update)
        shape = shapes.dynamic_update_slice(shape_of(operand), shape_of(update), len(starts))
        super().__init__(
            operands=[operand, update, [SSAValue.get(start) for start in starts]],
            result_types=[TensorType(element_of(operand), shape)],
        )

    def infer_shape(self) -> Shape:
        return shapes.dynamic_update_slice(shape_of(self.operand), shape_of(self.update), len(self.starts))

    def verify_elements(self) -> None:
        self._verify_starts(self.starts)
        kinds = {element_of(value) for value in (self.operand, self.update, self.result)}
        require(
            len(kinds) == 1,
            f"moves elements unchanged: {element_of(self.operand)} and {element_of(self.update)} in, "
            f"{element_of(self.result)} out",
        )
