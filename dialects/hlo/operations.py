# SPDX-License-Identifier: Apache-2.0
"""
The operations of `tile_hlo`, from one table: name, operands, attributes, the rule of the result's type.

One form of text serves all of them: `%r = tile_hlo.NAME %a, %b {attributes} : (types) -> types`, with regions
behind. Operand and result types may be any ranked static tensor of floats and integers, i1, i64 and f64
included: what the machine lacks is refused by the lowering, all at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    StringAttr,
    TensorType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.hlo import shapes
from tilewright.dialects.tensor.shapes import Shape, ShapeError, show
from tilewright.dialects.text.operands import parse_operands, print_operands
from tilewright.suggestions import near

PREFIX = "tile_hlo."


@dataclass(frozen=True)
class Spec:
    """What there is to know of one operation. `operands` None: any number."""

    name: str
    operands: int | None
    meaning: str
    attributes: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    shape: shapes.Rule | None = shapes.same
    """None: the result's shape is written, not inferred."""
    element: str = "first"
    """The result's element type: that of the first operand, `i1`, that of operand 1 (`second`), or `free`."""
    regions: int = 0


_UNARY = {
    "abs": "|x|",
    "negate": "-x",
    "sign": "-1, 0 or 1; NaN of NaN",
    "exponential": "e^x",
    "exponential_minus_one": "e^x - 1",
    "log": "the natural logarithm",
    "log_plus_one": "log(1 + x)",
    "logistic": "1 / (1 + e^-x)",
    "sqrt": "the square root",
    "rsqrt": "1 / sqrt(x)",
    "cbrt": "the cube root",
    "tanh": "the hyperbolic tangent",
    "sine": "sin x",
    "cosine": "cos x",
    "tan": "tan x",
    "floor": "the largest integer not above",
    "ceil": "the smallest integer not below",
    "round_nearest_even": "the nearest integer, ties to even",
    "round_nearest_afz": "the nearest integer, ties away from zero",
    "erf": "the error function",
    "erfc": "1 - erf(x)",
    "not": "of i1: logical; of integers: of every bit",
}
_BINARY = {
    "add": "a + b; of i1: or",
    "subtract": "a - b",
    "multiply": "a b; of i1: and",
    "divide": "a / b; of integers truncated",
    "remainder": "of the truncated division",
    "maximum": "the larger one, NaN if either is",
    "minimum": "the smaller one, NaN if either is",
    "power": "a^b",
    "atan2": "the angle of (b, a)",
    "and": "logical or bitwise",
    "or": "logical or bitwise",
    "xor": "logical or bitwise",
    "shift_left": "a 2^b",
    "shift_right_logical": "zeros come in",
    "shift_right_arithmetic": "the sign comes in",
}
_CONVOLUTION = (
    "strides",
    "padding",
    "input_dilation",
    "kernel_dilation",
    "input_layout",
    "kernel_layout",
    "output_layout",
    "feature_groups",
    "batch_groups",
)

SPECS: Mapping[str, Spec] = {
    spec.name: spec
    for spec in (
        *(Spec(name, 1, meaning) for name, meaning in _UNARY.items()),
        *(Spec(name, 2, meaning) for name, meaning in _BINARY.items()),
        Spec("is_finite", 1, "neither infinite nor NaN", element="i1"),
        Spec("compare", 2, "EQ, NE, LT, LE, GT or GE", ("direction",), ("order",), element="i1"),
        Spec("select", 3, "b where a, else c", shape=shapes.select, element="second"),
        Spec("clamp", 3, "min(max(a, b), c)", shape=shapes.clamp, element="second"),
        Spec("convert", 1, "another element type; never saturates", element="free"),
        Spec("constant", 0, "a value", ("value",), shape=None, element="free"),
        Spec("iota", 0, "the position along `dimension`", ("dimension",), shape=None, element="free"),
        Spec(
            "broadcast_in_dim",
            1,
            "operand axis i is result axis `dimensions[i]`",
            ("dimensions",),
            shape=None,
        ),
        Spec("reshape", 1, "the same elements in row-major order", shape=None),
        Spec(
            "transpose",
            1,
            "result axis i is operand axis `permutation[i]`",
            ("permutation",),
            shape=shapes.transpose,
        ),
        Spec("slice", 1, "[start, limit) by strides", ("start", "limit", "strides"), shape=shapes.slice_),
        Spec("concatenate", None, "one after the other", ("dimension",), shape=shapes.concatenate),
        Spec(
            "pad", 2, "b around and between the elements of a", ("low", "high", "interior"), shape=shapes.pad
        ),
        Spec("reverse", 1, "backwards along `dimensions`", ("dimensions",), shape=shapes.reverse),
        Spec("reduce", 1, "sum, product, max, min, and, or", ("kind", "dimensions"), shape=shapes.reduce),
        Spec(
            "arg_reduce",
            1,
            "the first place of the max or min",
            ("kind", "dimension"),
            shape=shapes.arg_reduce,
            element="free",
        ),
        Spec(
            "cumulative",
            1,
            "running sum, product, max, min",
            ("kind", "dimension"),
            ("reverse",),
            shape=shapes.along,
        ),
        Spec(
            "sort",
            1,
            "in order; with `places` where they come from",
            ("dimension", "descending"),
            ("places",),
            shape=shapes.along,
            element="free",
        ),
        Spec(
            "top_k",
            1,
            "the largest of the last axis; with `places` where they are",
            ("count",),
            ("places",),
            shape=shapes.top_k,
            element="free",
        ),
        Spec(
            "reduce_window",
            1,
            "sum, max or min of windows; outside of the operand is the neutral element",
            ("kind", "window", "strides", "dilation", "padding"),
            shape=shapes.reduce_window,
        ),
        Spec(
            "take",
            2,
            "rows of a by number; out of range: clamp, zero or nan",
            ("axis", "out_of_range"),
            shape=shapes.take,
        ),
        Spec(
            "dynamic_slice",
            None,
            "the box of `sizes` at clamped starts",
            ("sizes",),
            shape=shapes.dynamic_slice,
        ),
        Spec(
            "dynamic_update_slice",
            None,
            "a with b written at clamped starts",
            shape=shapes.dynamic_update_slice,
        ),
        Spec(
            "dot_general",
            2,
            "products summed over the contracting axes; result axes: batching, left, right",
            ("lhs_batching", "rhs_batching", "lhs_contracting", "rhs_contracting"),
            ("accumulate",),
            shape=shapes.dot_general,
            element="free",
        ),
        Spec(
            "convolution", 2, "windows times kernel", _CONVOLUTION, shape=shapes.convolution, element="free"
        ),
        Spec(
            "while",
            None,
            "as long as the first region holds, the second",
            shape=None,
            element="free",
            regions=2,
        ),
        Spec("return", None, "ends a region", shape=None),
        Spec(
            "unsupported",
            None,
            "stands for an operation of the source that has no meaning here; the lowering reports it",
            ("source",),
            ("reason",),
            shape=None,
            element="free",
        ),
    )
}
"""Every operation by name without its prefix."""

ELEMENTWISE = frozenset((*_UNARY, *_BINARY, "is_finite", "compare", "select", "clamp", "convert"))
"""Operations on each element by itself (select and clamp may have scalar operands)."""

DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
KINDS = ("sum", "product", "max", "min", "and", "or")


def encode(value: Any) -> Attribute:
    """The attribute of a Python value."""
    match value:
        case Attribute():
            return value
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case _:
            return DenseArrayBase.from_list(i64, [int(entry) for entry in value])


def decode(attribute: Attribute) -> Any:
    """The Python value of an attribute of this dialect; constants stay attributes."""
    match attribute:
        case DenseArrayBase():
            return list(cast("Any", attribute).get_values())
        case IntegerAttr():
            value = attribute.value.data
            return bool(value) if attribute.type == i1 else value
        case FloatAttr():
            return attribute.value.data
        case StringAttr():
            return attribute.data
        case ArrayAttr():
            return [decode(entry) for entry in attribute.data]
        case _:
            return attribute


def tensor_of(value: SSAValue) -> TensorType[Attribute]:
    """The tensor type of a value of this dialect."""
    return cast("TensorType[Attribute]", value.type)


class HloOperation(IRDLOperation):
    """Any operation of the middle form; `spec` says which."""

    arguments = var_operand_def()
    results_ = var_result_def()
    regions_ = var_region_def()

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute as plain data."""
        attribute = self.attributes.get(name)
        return default if attribute is None else decode(attribute)

    @property
    def spec(self) -> Spec:
        """The line of the table."""
        return SPECS[self.name.removeprefix(PREFIX)]

    @property
    def kind(self) -> str:
        """The name without the dialect."""
        return self.spec.name

    def verify_(self) -> None:
        spec = self.spec
        if spec.operands is not None and len(self.operands) != spec.operands:
            raise VerifyException(f"takes {spec.operands} operands, found {len(self.operands)}")
        for name in spec.attributes:
            if name not in self.attributes:
                raise VerifyException(f"needs the attribute `{name}`")
        known = (*spec.attributes, *spec.optional)
        for name in self.attributes:
            if name not in known and "." not in name:
                meant = near(name, known)
                raise VerifyException(f"has no attribute `{name}`" + (f"; {meant}" if meant else ""))
        if len(self.regions) != spec.regions:
            raise VerifyException(f"has {spec.regions} regions, found {len(self.regions)}")
        if spec.name in ("return", "unsupported"):
            return
        if spec.name == "while":
            if [v.type for v in self.results] != [v.type for v in self.operands]:
                raise VerifyException("a while gives what it takes: results and operands have other types")
            return
        if len(self.results) != 1:
            raise VerifyException(f"has one result, found {len(self.results)}")
        for value in (*self.operands, *self.results):
            if not isinstance(value.type, TensorType) or min(value.type.get_shape(), default=0) < 0:
                raise VerifyException(f"works on tensors of static shape, found {value.type}")
        try:
            self._verify_shape()
        except ShapeError as error:
            raise VerifyException(str(error)) from error
        self._verify_words()
        expected = _element(spec, list(self.operands), None)
        found = tensor_of(self.results[0]).element_type
        if expected is not None and expected != found:
            raise VerifyException(f"gives elements of {expected}, found {found}")

    def _verify_shape(self) -> None:
        found = tensor_of(self.results[0]).get_shape()
        operands = [tensor_of(value).get_shape() for value in self.operands]
        spec = self.spec
        if spec.name == "broadcast_in_dim":
            shapes.check_broadcast(operands[0], self.get("dimensions"), found)
        elif spec.name == "reshape":
            shapes.check_reshape(operands[0], found)
        elif spec.name == "constant":
            value = self.attributes["value"]
            if not isinstance(value, DenseIntOrFPElementsAttr) or value.type != self.results[0].type:
                raise ShapeError(f"`value` is no constant of {self.results[0].type}")
        if spec.shape is not None:
            expected = spec.shape(operands, {name: decode(a) for name, a in self.attributes.items()})
            if expected != found:
                raise ShapeError(f"expects a result of shape {show(expected)}, found {show(found)}")

    def _verify_words(self) -> None:
        direction, kind = self.get("direction"), self.get("kind")
        if direction is not None and direction not in DIRECTIONS:
            raise VerifyException(f"direction is one of {', '.join(DIRECTIONS)}, found {direction}")
        if kind is not None and kind not in KINDS:
            raise VerifyException(f"kind is one of {', '.join(KINDS)}, found {kind}")

    @classmethod
    def parse(cls, parser: Parser) -> HloOperation:
        unresolved, attributes = parse_operands(parser)
        place = parser.pos
        type_ = parser.parse_function_type()
        operands = parser.resolve_operands(unresolved, type_.inputs.data, place)
        regions: list[Region] = []
        for _ in range(SPECS[cls.name.removeprefix(PREFIX)].regions):
            regions.append(parser.parse_region())
        return cls.create(
            operands=operands, result_types=list(type_.outputs.data), attributes=attributes, regions=regions
        )

    def print(self, printer: Printer) -> None:
        print_operands(printer, self.operands, self.attributes)
        printer.print_operation_type(self)
        for region in self.regions:
            printer.print_string(" ")
            printer.print_region(region)


def _element(spec: Spec, operands: Sequence[SSAValue], element: Attribute | None) -> Attribute | None:
    match spec.element:
        case "first":
            return tensor_of(operands[0]).element_type if operands else element
        case "second":
            return tensor_of(operands[1]).element_type
        case "i1":
            return i1
        case _:
            return element


def _define(spec: Spec) -> type[HloOperation]:
    traits = (IsTerminator(), Pure()) if spec.name == "return" else (Pure(),)
    name = "".join(part.capitalize() for part in spec.name.split("_")) + "Op"
    members = {
        "name": f"{PREFIX}{spec.name}",
        "traits": traits_def(*traits),
        "__doc__": f"{spec.meaning[:1].upper()}{spec.meaning[1:]}.",
        "__module__": __name__,
    }
    return cast("type[HloOperation]", irdl_op_definition(type(name, (HloOperation,), members)))


OPERATIONS: Mapping[str, type[HloOperation]] = {name: _define(spec) for name, spec in SPECS.items()}


def make(
    name: str,
    operands: Sequence[SSAValue | Operation] = (),
    *,
    shape: Shape | Sequence[int] | None = None,
    element: Attribute | None = None,
    location: LocationAttr | None = None,
    **attributes: Any,
) -> HloOperation:
    """
    The operation `name`, its result type inferred from operands and attributes; `shape` where that is written
    and not inferred (reshape, broadcast_in_dim, iota), `element` where it is free (convert, compare aside).

    Raises `ShapeError` where they do not fit together.
    """
    spec = SPECS[name]
    values = [SSAValue.get(operand) for operand in operands]
    if name == "constant":
        value = cast("DenseIntOrFPElementsAttr", attributes["value"])
        result: Attribute = cast("Attribute", value.type)
    else:
        found = tuple(shape) if shape is not None else None
        if spec.shape is not None:
            found = spec.shape([tensor_of(value).get_shape() for value in values], attributes)
        kind = _element(spec, values, element)
        if found is None or kind is None:
            kind = kind or (tensor_of(values[0]).element_type if values else None)
        assert found is not None and kind is not None, f"{name} needs its shape or element type"
        result = TensorType(kind, list(found))
    op = OPERATIONS[name].create(
        operands=values,
        result_types=[result],
        attributes={key: encode(value) for key, value in attributes.items() if value is not None},
    )
    if location is not None:
        op.location = location
    return op


def is_hlo(op: object, *names: str) -> bool:
    """Whether an object is an operation of the middle form, one of `names` if there are any."""
    return isinstance(op, HloOperation) and (not names or op.spec.name in names)


__all__ = ["ELEMENTWISE", "OPERATIONS", "SPECS", "HloOperation", "Spec", "decode", "encode", "is_hlo", "make"]
