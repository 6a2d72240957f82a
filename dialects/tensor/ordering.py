# SPDX-License-Identifier: Apache-2.0
"""Operations of `tile_tensor` on the order of elements along an axis, running sums, and sums by index."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, TensorType, UnitAttr, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import eq, irdl_op_definition, operand_def, opt_prop_def, prop_def

from tilewright.dialects.tensor import shapes as shapes
from tilewright.dialects.tensor.base import (
    RoundingOperation,
    TensorOperation,
    element_of,
    is_boolean,
    is_float,
    require,
    shape_of,
)
from tilewright.dialects.tensor.rows import axis_attribute, axis_of
from tilewright.dialects.tensor.shapes import Shape


def _along(shape: Shape, axis: int | None) -> int:
    shapes.normalized(shape, axis=axis)
    return len(shape) - 1 if axis is None else axis


class ExtremeIndexOperation(TensorOperation):
    """Where along `axis` (default: the last one) an extreme lies, as i32; that axis is gone then."""

    operand = operand_def(TensorType)
    axis = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    assembly_format = "$operand (`axis` $axis^)? attr-dict `:` functional-type(operands, results)"

    def __init__(self, operand: SSAValue | Operation, *, axis: int | None = None) -> None:
        operand = SSAValue.get(operand)
        at = _along(shape_of(operand), axis)
        shape = [n for i, n in enumerate(shape_of(operand)) if i != at]
        super().__init__(
            operands=[operand],
            result_types=[TensorType(i32, shape)],
            properties={"axis": axis_attribute(axis)},
        )

    def infer_shape(self) -> Shape:
        shape = shape_of(self.operand)
        at = _along(shape, axis_of(self.axis))
        if not shape[at]:
            raise shapes.ShapeError(f"axis {at} of {shapes.show(shape)} has no elements to choose from")
        return (*shape[:at], *shape[at + 1 :])

    def verify_elements(self) -> None:
        operand, result = element_of(self.operand), element_of(self.result)
        require(not is_boolean(operand), "i1 has no order here; cast first")
        require(result == i32, f"gives i32, found {result}")


@irdl_op_definition
class ArgmaxOp(ExtremeIndexOperation):
    """Where the maximum is; the first of several, the first NaN if there is one."""

    name = "tile_tensor.argmax"


@irdl_op_definition
class ArgminOp(ExtremeIndexOperation):
    """Where the minimum is; the first of several, the first NaN if there is one."""

    name = "tile_tensor.argmin"


@irdl_op_definition
class CumsumOp(RoundingOperation):
    """The sum of an element and all before it along `axis` (default: the last one)."""

    name = "tile_tensor.cumsum"
    operand = operand_def(TensorType)
    axis = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    assembly_format = "$operand (`axis` $axis^)? attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        operand: SSAValue | Operation,
        *,
        axis: int | None = None,
        element_type: Attribute | None = None,
        saturate: bool = True,
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element_type or element_of(operand), shape_of(operand))],
            properties={"axis": axis_attribute(axis), "saturate": BoolAttr.from_bool(saturate)},
        )

    def infer_shape(self) -> Shape:
        return shapes.normalized(shape_of(self.operand), axis=axis_of(self.axis))

    def verify_elements(self) -> None:
        operand, result = element_of(self.operand), element_of(self.result)
        require(not is_boolean(operand), "sums of i1 are of numbers; cast first")
        require(
            operand == result or (is_float(operand) and is_float(result)),
            f"running sums of {operand} are {operand}, found {result}",
        )


class SortOperation(TensorOperation):
    """Along `axis` (default: the last one), ascending, or `descending`; what is equal keeps its order."""

    operand = operand_def(TensorType)
    axis = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    descending = opt_prop_def(UnitAttr)
    assembly_format = (
        "$operand (`axis` $axis^)? (`descending` $descending^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self, operand: SSAValue | Operation, *, axis: int | None = None, descending: bool = False
    ) -> None:
        operand = SSAValue.get(operand)
        element = i32 if isinstance(self, ArgsortOp) else element_of(operand)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element, shape_of(operand))],
            properties={"axis": axis_attribute(axis), "descending": UnitAttr() if descending else None},
        )

    def infer_shape(self) -> Shape:
        return shapes.normalized(shape_of(self.operand), axis=axis_of(self.axis))

    def verify_elements(self) -> None:
        verify_sorted(self, isinstance(self, ArgsortOp))


def verify_sorted(op: TensorOperation, indices: bool) -> None:
    operand, result = element_of(op.operands[0]), element_of(op.result)
    require(not is_boolean(operand), "i1 has no order here; cast first")
    require(
        result == (i32 if indices else operand),
        f"gives {i32 if indices else operand}, found {result}",
    )


@irdl_op_definition
class SortOp(SortOperation):
    """The elements in order, unchanged: zeros are equal, NaN is above everything."""

    name = "tile_tensor.sort"


@irdl_op_definition
class ArgsortOp(SortOperation):
    """Where the elements come from that `sort` gives, as i32."""

    name = "tile_tensor.argsort"


class TopOperation(TensorOperation):
    """The first `count` of a descending sort along `axis` (default: the last one)."""

    operand = operand_def(TensorType)
    count = prop_def(IntegerAttr.constr(type=eq(i64)))
    axis = opt_prop_def(IntegerAttr.constr(type=eq(i64)))
    assembly_format = (
        "$operand `count` $count (`axis` $axis^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(self, operand: SSAValue | Operation, count: int, *, axis: int | None = None) -> None:
        operand = SSAValue.get(operand)
        shape = shapes.top(shape_of(operand), count, _along(shape_of(operand), axis))
        element = i32 if isinstance(self, TopKIndicesOp) else element_of(operand)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element, shape)],
            properties={"axis": axis_attribute(axis), "count": IntegerAttr(count, i64)},
        )

    def infer_shape(self) -> Shape:
        shape = shape_of(self.operand)
        return shapes.top(shape, self.count.value.data, _along(shape, axis_of(self.axis)))

    def verify_elements(self) -> None:
        verify_sorted(self, isinstance(self, TopKIndicesOp))


@irdl_op_definition
class TopKOp(TopOperation):
    """The largest elements, the largest first; NaN is above everything."""

    name = "tile_tensor.top_k"


@irdl_op_definition
class TopKIndicesOp(TopOperation):
    """Where the largest elements are, as i32; of equal ones the first comes first."""

    name = "tile_tensor.top_k_indices"


@irdl_op_definition
class ScatterAddOp(RoundingOperation):
    """
    `scatter_add %base, %indices, %updates`: row i of the updates is added to row `indices[i]` of the base.

    An index (i32) outside of the base adds nothing. Sums are of all rows that name one, rounded once.
    """

    name = "tile_tensor.scatter_add"
    base = operand_def(TensorType)
    indices = operand_def(TensorType)
    updates = operand_def(TensorType)
    assembly_format = "$base `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        base: SSAValue | Operation,
        indices: SSAValue | Operation,
        updates: SSAValue | Operation,
        result_type: TensorType[Attribute] | None = None,
        *,
        saturate: bool = True,
    ) -> None:
        operands = [SSAValue.get(value) for value in (base, indices, updates)]
        if result_type is None:
            result_type = TensorType(element_of(operands[0]), shape_of(operands[0]))
        super().__init__(
            operands=operands,
            result_types=[result_type],
            properties={"saturate": BoolAttr.from_bool(saturate)},
        )

    def infer_shape(self) -> Shape:
        return shapes.scatter(shape_of(self.base), shape_of(self.indices), shape_of(self.updates))

    def verify_elements(self) -> None:
        require(element_of(self.indices) == i32, f"indices must be i32, found {element_of(self.indices)}")
        base, updates, result = (element_of(v) for v in (self.base, self.updates, self.result))
        require(not is_boolean(base), "sums of i1 are of numbers; cast first")
        require(base == updates, f"adds rows of the base's type {base}, found {updates}")
        require(
            base == result or (is_float(base) and is_float(result)),
            f"sums of {base} are {base}, found {result}",
        )
