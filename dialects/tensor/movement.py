# SPDX-License-Identifier: Apache-2.0
"""Operations of `tile_tensor` that move elements and compute none, and constants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import auto
from typing import cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
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
from xdsl.utils.str_enum import StrEnum

from tilewright import limits
from tilewright.dialects.tensor import shapes as shapes
from tilewright.dialects.tensor.base import (
    TensorOperation,
    element_of,
    ints_attribute,
    require,
    require_same_element,
    shape_of,
)
from tilewright.dialects.tensor.shapes import Shape
from tilewright.machine.dtypes import literal_problem


class MovementOperation(TensorOperation):
    """Elements move or repeat; none is computed."""

    def verify_elements(self) -> None:
        require_same_element(self)


@irdl_op_definition
class TransposeOp(MovementOperation):
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
            properties={"permutation": ints_attribute(permutation)},
        )

    def infer_shape(self) -> Shape:
        return shapes.transpose(shape_of(self.operand), self.permutation.get_values())


@irdl_op_definition
class ReshapeOp(MovementOperation):
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
class SliceOp(MovementOperation):
    """The box of `sizes` at `offsets`, with `strides` every so many elements."""

    name = "tile_tensor.slice"
    operand = operand_def(TensorType)
    offsets = prop_def(DenseArrayBase.constr(i64))
    sizes = prop_def(DenseArrayBase.constr(i64))
    strides = opt_prop_def(DenseArrayBase.constr(i64))
    assembly_format = (
        "$operand `offsets` $offsets `sizes` $sizes (`strides` $strides^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        offsets: Sequence[int],
        sizes: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> None:
        operand = SSAValue.get(operand)
        shape = shapes.slice_(shape_of(operand), offsets, sizes, strides)
        super().__init__(
            operands=[operand],
            result_types=[TensorType(element_of(operand), shape)],
            properties={
                "offsets": ints_attribute(offsets),
                "sizes": ints_attribute(sizes),
                "strides": None if strides is None else ints_attribute(strides),
            },
        )

    def infer_shape(self) -> Shape:
        return shapes.slice_(
            shape_of(self.operand),
            self.offsets.get_values(),
            self.sizes.get_values(),
            None if self.strides is None else self.strides.get_values(),
        )


@irdl_op_definition
class ConcatOp(MovementOperation):
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


def number_attribute(value: float) -> FloatAttr[Float64Type] | IntegerAttr[IntegerType]:
    """A number as it was written: an integer exactly, anything else in 64 bits."""
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    return FloatAttr(float(value), Float64Type())


@irdl_custom_directive
class Number(CustomDirective):
    """
    A number without its type: `-4`, `2147483647`, `1.0e-06`, or the bits of an f32 (`0xFF800000`) or of an
    f64 (`0xFFF0000000000000`).
    """

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        start = parser.pos
        number = parser.parse_number()
        text = parser.lexer.input.slice(start, parser.pos) or ""
        if text[:2] in ("0x", "0X"):
            wide = len(text.strip()) > 10
            number = (f64 if wide else f32).unpack(int(number).to_bytes(8 if wide else 4, "little"), 1)[0]
        elif isinstance(number, int) and not -(1 << 63) <= number < 1 << 63:
            parser.raise_error("expected a number of 64 bits", start, parser.pos)
        self.value.set(state, number_attribute(number))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attribute = self.value.get(op)
        state.print_whitespace(printer)
        if isinstance(attribute, IntegerAttr):
            printer.print_string(str(attribute.value.data))
            return
        number = cast("FloatAttr", attribute).value.data
        printer.print_float(number, f64 if math.isfinite(number) else f32)

    def is_present(self, op: IRDLOperation) -> bool:
        return self.value.is_present(op)

    def is_anchorable(self) -> bool:
        return True


class OutOfRange(StrEnum):
    """What a gather gives for an index outside of the table."""

    CLAMP = auto()
    ZERO = auto()


@irdl_attr_definition
class OutOfRangeAttr(EnumAttribute[OutOfRange], SpacedOpaqueSyntaxAttribute):
    """`#tile_tensor<out_of_range zero>`."""

    name = "tile_tensor.out_of_range"


@irdl_op_definition
class PadOp(MovementOperation):
    """
    `interior` copies of `value` between neighbours (none by default), then `low` and `high` around, per axis;
    a negative count takes elements away.

    `value` is a number of the element type: an integer of its range, exactly; or a float, rounded once as a
    literal of a constant is, but not one beyond the range of an 8-bit float.
    """

    name = "tile_tensor.pad"
    operand = operand_def(TensorType)
    low = prop_def(DenseArrayBase.constr(i64))
    high = prop_def(DenseArrayBase.constr(i64))
    interior = opt_prop_def(DenseArrayBase.constr(i64))
    value = prop_def(BaseAttr(FloatAttr) | BaseAttr(IntegerAttr), default_value=FloatAttr(0.0, Float64Type()))
    custom_directives = (Number,)
    assembly_format = (
        "$operand `low` $low `high` $high (`interior` $interior^)? "
        "(`value` custom<Number>($value)^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self,
        operand: SSAValue | Operation,
        low: Sequence[int],
        high: Sequence[int],
        value: float = 0.0,
        interior: Sequence[int] | None = None,
    ) -> None:
        operand = SSAValue.get(operand)
        super().__init__(
            operands=[operand],
            result_types=[
                TensorType(element_of(operand), shapes.pad(shape_of(operand), low, high, interior))
            ],
            properties={
                "interior": None if interior is None else ints_attribute(interior),
                "low": ints_attribute(low),
                "high": ints_attribute(high),
                "value": number_attribute(value),
            },
        )

    def infer_shape(self) -> Shape:
        interior = None if self.interior is None else self.interior.get_values()
        return shapes.pad(shape_of(self.operand), self.low.get_values(), self.high.get_values(), interior)

    def verify_elements(self) -> None:
        super().verify_elements()
        problem = literal_problem(self.value.value.data, str(element_of(self.result)))
        require(problem is None, f"pads with {problem}")


@irdl_op_definition
class BroadcastOp(MovementOperation):
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
            properties={"dimensions": ints_attribute(dimensions)},
        )

    def infer_shape(self) -> Shape:
        return shapes.broadcast(shape_of(self.operand), self.dimensions.get_values(), shape_of(self.result))


@irdl_op_definition
class GatherOp(TensorOperation):
    """
    Rows of a table: `axis` of `table` is replaced by the axes of `indices` (i32).

    An index outside of the table names its first or last row (`out_of_range clamp`), or a row of zeros.
    """

    name = "tile_tensor.gather"
    table = operand_def(TensorType)
    indices = operand_def(TensorType)
    axis = prop_def(IntegerAttr.constr(type=eq(i64)), default_value=IntegerAttr(0, i64))
    out_of_range = prop_def(OutOfRangeAttr, default_value=OutOfRangeAttr(OutOfRange.CLAMP))
    assembly_format = (
        "$table `,` $indices (`axis` $axis^)? (`out_of_range` $out_of_range^)? attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        table: SSAValue | Operation,
        indices: SSAValue | Operation,
        axis: int = 0,
        out_of_range: str = "clamp",
    ) -> None:
        table, indices = SSAValue.get(table), SSAValue.get(indices)
        super().__init__(
            operands=[table, indices],
            result_types=[
                TensorType(element_of(table), shapes.gather(shape_of(table), shape_of(indices), axis))
            ],
            properties={
                "axis": IntegerAttr(axis, i64),
                "out_of_range": OutOfRangeAttr(OutOfRange(out_of_range)),
            },
        )

    def infer_shape(self) -> Shape:
        return shapes.gather(shape_of(self.table), shape_of(self.indices), self.axis.value.data)

    def verify_elements(self) -> None:
        require(element_of(self.indices) == i32, f"indices must be i32, found {element_of(self.indices)}")
        table, result = element_of(self.table), element_of(self.result)
        require(table == result, f"moves elements unchanged: {table} in, {result} out")


@irdl_op_definition
class OneHotOp(TensorOperation):
    """
    1 where the number of the last axis is the index, 0 elsewhere: `[..] -> [.., d]` of any element type.

    An index outside of the axis gives zeros. What `tile-decompose` makes a comparison of.
    """

    name = "tile_tensor.one_hot"
    indices = operand_def(TensorType)
    assembly_format = "$indices attr-dict `:` functional-type(operands, results)"

    def __init__(self, indices: SSAValue | Operation, depth: int, element_type: Attribute) -> None:
        indices = SSAValue.get(indices)
        super().__init__(
            operands=[indices], result_types=[TensorType(element_type, [*shape_of(indices), depth])]
        )

    def infer_shape(self) -> Shape:
        depth = shape_of(self.result)[-1:]
        if depth and depth[0] > limits.CONSTANT_ELEMENTS:
            raise shapes.ShapeError(
                f"one_hot counts at most {limits.CONSTANT_ELEMENTS} numbers, found {depth[0]}"
            )
        return (*shape_of(self.indices), *depth)

    def verify_elements(self) -> None:
        require(element_of(self.indices) == i32, f"indices must be i32, found {element_of(self.indices)}")


@irdl_op_definition
class ConstantOp(TensorOperation):
    """
    `tile_tensor.constant dense<1.0> : tensor<4xf32>`: for small values; weights are parameters.

    A result type that differs by its encoding follows: `dense<1.0> : tensor<4xf32> -> tensor<4xf32, #at>`.
    """

    name = "tile_tensor.constant"
    value = prop_def(DenseIntOrFPElementsAttr)

    def __init__(self, value: DenseIntOrFPElementsAttr, result_type: Attribute | None = None) -> None:
        super().__init__(result_types=[result_type or value.type], properties={"value": value})

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr) or not isinstance(value.type, TensorType):
            parser.raise_error("a constant is `dense<...> : tensor<...>`", position, parser.pos)
        result_type = parser.parse_type() if parser.parse_optional_punctuation("->") else None
        constant = cls(value, result_type)
        constant.attributes |= attributes
        return constant

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)
        if self.result.type != self.value.type:
            printer.print_string(" -> ")
            printer.print_attribute(self.result.type)

    def infer_shape(self) -> Shape:
        return self.value.get_shape()

    def verify_elements(self) -> None:
        value, result = self.value.get_element_type(), element_of(self.result)
        require(value == result, f"the value holds {value}, the result {result}")
