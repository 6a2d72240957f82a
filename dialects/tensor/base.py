# SPDX-License-Identifier: Apache-2.0
"""What all operations of `tile_tensor` share: the base class, its checks, and their small vocabulary."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    BoolAttr,
    DenseArrayBase,
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
    Signedness,
    TensorType,
    f32,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    eq,
    prop_def,
    result_def,
    traits_def,
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

from tilewright import limits
from tilewright.dialects.tensor.shapes import Shape, ShapeError, show
from tilewright.dialects.text.float_literals import float_of_bits, round_literal

PLAN_ATTRIBUTE = "plan"
"""Discardable dictionary attribute that forces an operation's plan."""

_FLOAT8 = (Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E4M3FNType, Float8E5M2Type)
_FLOATS = (*_FLOAT8, Float16Type, BFloat16Type, Float32Type)
_INTEGER_WIDTHS = (8, 32)
_ADVICE: dict[Attribute, str] = {
    f64: ": no kernel computes in 64 bits; write f32",
    i64: ": write i32; numbers of 64 bits in files are narrowed where they fit",
}

ELEMENT_TYPES = ("f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3FN", "f8E5M2", "f16", "bf16", "f32", "i8", "i32", "i1")
"""
The element types of tensors in a program. i8 and i32 are signless and compute as signed numbers; i1 is a
truth value, a byte of 0 or 1 in memory.
"""


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
    """i8 or i32, signless."""
    return (
        isinstance(element, IntegerType)
        and element.signedness.data is Signedness.SIGNLESS
        and element.width.data in _INTEGER_WIDTHS
    )


def is_boolean(element: Attribute) -> bool:
    """i1."""
    return element == i1


def tensor_type_fault(type_: Attribute) -> str | None:
    """Why no value of a program has this type: shape, size, elements; None for those that compile."""
    if not isinstance(type_, TensorType):
        return f"values are ranked tensors, found {type_}"
    tensor = cast("TensorType[Attribute]", type_)
    shape = tensor.get_shape()
    if min(shape, default=0) < 0:
        return f"needs static shapes, found {type_}"
    element = tensor.element_type
    if not (is_float(element) or is_integer(element) or is_boolean(element)):
        advice = _ADVICE.get(element, "")
        return f"elements must be f8, f16, bf16, f32, i8, i32 or i1, found {element}{advice}"
    return limits.tensor_fault(shape)


def ints_attribute(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i64, [int(value) for value in values])


def float_attribute(value: float) -> FloatAttr[Float32Type]:
    return FloatAttr(round_literal(value, f32), f32)


@irdl_custom_directive
class Float32(CustomDirective):
    """
    A 32-bit float without its type: `1.0e-06`, `-4`, or the bits of one that has no decimal form:
    `0xFF800000`.
    """

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        start = parser.pos
        number = parser.parse_number()
        text = parser.lexer.input.slice(start, parser.pos) or ""
        if text.lstrip("-")[:2].lower() == "0x":
            if text.startswith("-"):
                parser.raise_error("the bits of a float have no sign before them", start, parser.pos)
            try:
                number = float_of_bits(text.strip(), f32)
            except ValueError as error:
                parser.raise_error(str(error), start, parser.pos)
        self.value.set(state, float_attribute(number))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attribute = cast("FloatAttr[Float32Type]", self.value.get(op))
        state.print_whitespace(printer)
        printer.print_float(attribute.value.data, f32)

    def is_present(self, op: IRDLOperation) -> bool:
        return self.value.is_present(op)

    def is_anchorable(self) -> bool:
        return True


@irdl_custom_directive
class ElementType(CustomDirective):
    """A type that has to be there: an optional property behind its keyword could be left out silently."""

    value: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.value.set(state, parser.parse_type())

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attribute = self.value.get(op)
        assert attribute is not None
        state.print_whitespace(printer)
        printer.print_attribute(attribute)

    def is_present(self, op: IRDLOperation) -> bool:
        return self.value.is_present(op)

    def is_anchorable(self) -> bool:
        return True


class TensorOperation(IRDLOperation):
    """
    What all operations share: one tensor result, no effects, shapes inferred and compared with the declared
    ones.
    """

    result = result_def(TensorType)

    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)

    @abstractmethod
    def infer_shape(self) -> Shape:
        """The result's shape, from the operands and the properties. Raises `ShapeError`."""

    def verify_elements(self) -> None:
        """Checks element types. By default: floats of any width in and out."""
        for value in (*self.operands, self.result):
            require(is_float(element_of(value)), f"works on floats, found {element_of(value)}")

    def verify_(self) -> None:
        for value in (*self.operands, self.result):
            fault = tensor_type_fault(value.type)
            if fault is not None:
                raise VerifyException(fault)
        try:
            expected = self.infer_shape()
        except ShapeError as error:
            raise VerifyException(str(error)) from error
        found = shape_of(self.result)
        require(expected == found, f"expects a result of shape {show(expected)}, found {show(found)}")
        self.verify_elements()
        plan = self.attributes.get(PLAN_ATTRIBUTE)
        require(
            plan is None or isinstance(plan, DictionaryAttr), f"`plan` must be a dictionary, found {plan}"
        )


class RoundingOperation(TensorOperation):
    """
    An operation that rounds its result.

    `saturate` is about results in an 8-bit float format: the largest finite value for what lies beyond it,
    or, if false, what the format has for overflow (infinity or NaN).
    """

    saturate = prop_def(IntegerAttr.constr(type=eq(i1)), default_value=BoolAttr.from_bool(True))


def require(condition: bool, message: str) -> None:
    if not condition:
        raise VerifyException(message)


def require_same_element(op: TensorOperation) -> None:
    elements = [element_of(value) for value in (*op.operands, op.result)]
    for element in elements:
        require(element == elements[0], f"moves elements unchanged: {elements[0]} in, {element} out")


def verify_scale(scale: int) -> None:
    require(-64 <= scale <= 64, f"scale is a power of two between 2^-64 and 2^64, found 2^{scale}")
