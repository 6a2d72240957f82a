# SPDX-License-Identifier: Apache-2.0
"""ONNX's operators on each element by itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.hlo.values import element_type
from tilewright.dialects.tensor.base import ELEMENT_TYPES
from tilewright.frontends.onnx.emit import axis_of, element_of, shape_of
from tilewright.frontends.onnx.node import Known, Node, Rule, Unsupported, element_named

_UNARY = {
    "Abs": "abs",
    "Neg": "negate",
    "Exp": "exponential",
    "Log": "log",
    "Sqrt": "sqrt",
    "Tanh": "tanh",
    "Sigmoid": "logistic",
    "Erf": "erf",
    "Sin": "sine",
    "Cos": "cosine",
    "Floor": "floor",
    "Ceil": "ceil",
    "Round": "round_nearest_even",
    "Sign": "sign",
    "Not": "not",
    "BitwiseNot": "not",
}
_BINARY = {
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "Div": "divide",
    "And": "and",
    "Or": "or",
    "Xor": "xor",
    "BitwiseAnd": "and",
    "BitwiseOr": "or",
    "BitwiseXor": "xor",
}
_COMPARE = {"Equal": "EQ", "Less": "LT", "LessOrEqual": "LE", "Greater": "GT", "GreaterOrEqual": "GE"}
_MANY = {"Sum": "add", "Mean": "add", "Max": "maximum", "Min": "minimum"}


def _unary(node: Node) -> SSAValue:
    return node.op(_UNARY[node.kind], node.value(0))


def _binary(node: Node) -> SSAValue:
    return node.binary(_BINARY[node.kind], node.value(0), node.value(1))


def _compare(node: Node) -> SSAValue:
    return node.binary("compare", node.value(0), node.value(1), direction=_COMPARE[node.kind])


def _many(node: Node) -> SSAValue:
    values = node.values()
    total = reduce(lambda a, b: node.binary(_MANY[node.kind], a, b), values)
    return node.with_number("divide", total, len(values)) if node.kind == "Mean" else total


def _reciprocal(node: Node) -> SSAValue:
    x = node.value(0)
    return node.op("divide", node.number(1, x), x)


def _tan(node: Node) -> SSAValue:
    x = node.value(0)
    return node.op("divide", node.op("sine", x), node.op("cosine", x))


def _arc(node: Node) -> SSAValue:
    """Arcus functions as the angle of a point, exact also near the ends."""
    x = node.value(0)
    one = node.number(1, x)
    if node.kind == "Atan":
        return node.op("atan2", x, one)
    other = node.op("multiply", node.op("subtract", one, x), node.op("add", one, x))
    root = node.op("sqrt", other)
    return node.op("atan2", x, root) if node.kind == "Asin" else node.op("atan2", root, x)


def _hyperbolic(node: Node) -> SSAValue:
    x = node.value(0)
    if node.kind == "Cosh":
        both = node.op("add", node.op("exponential", x), node.op("exponential", node.op("negate", x)))
        return node.with_number("multiply", both, 0.5)
    grown = node.op("exponential_minus_one", x)
    other = node.op("exponential_minus_one", node.op("negate", x))
    return node.with_number("multiply", node.op("subtract", grown, other), 0.5)


def _atanh(node: Node) -> SSAValue:
    x = node.value(0)
    up, down = node.op("log_plus_one", x), node.op("log_plus_one", node.op("negate", x))
    return node.with_number("multiply", node.op("subtract", up, down), 0.5)


def _power(node: Node) -> SSAValue:
    base, exponent = node.value(0), node.value(1)
    if element_of(base) != element_of(exponent):
        if node.floating(exponent) and not node.floating(base):
            wide = node.binary("power", node.convert(base, f32), node.convert(exponent, f32))
            return node.convert(wide, element_of(base))
        exponent = node.convert(exponent, element_of(base))
    given = node.inputs[1]
    number = given.array.reshape(-1)[0] if isinstance(given, Known) and given.array.size == 1 else None
    if number == 2:
        return node.op(
            "multiply", *[node.broadcast(base, np.broadcast_shapes(shape_of(base), node.shape(1)))] * 2
        )
    if number == 0.5 and node.floating(base):
        return node.op("sqrt", base)
    return node.binary("power", base, exponent)


def _mod(node: Node) -> SSAValue:
    a, b = node.together(node.value(0), node.value(1))
    rest = node.op("remainder", a, b)
    if node.get("fmod", 0):
        return rest
    if node.floating(a):
        raise Unsupported("it takes the remainder of floats with fmod = 0")
    zero = node.number(0, a)
    other = node.op("compare", rest, zero, direction="NE")
    signs = node.op(
        "xor", node.op("compare", rest, zero, direction="LT"), node.op("compare", b, zero, direction="LT")
    )
    return node.op("select", node.op("and", other, signs), node.op("add", rest, b), rest)


def _shift(node: Node) -> SSAValue:
    signed = not str(node.element(0)).startswith("ui")
    right = "shift_right_arithmetic" if signed else "shift_right_logical"
    name = "shift_left" if node.get("direction") == "LEFT" else right
    return node.binary(name, node.value(0), node.value(1))


def _is_nan(node: Node) -> SSAValue:
    x = node.value(0)
    return node.op("compare", x, x, direction="NE")


def _is_inf(node: Node) -> SSAValue:
    x = node.value(0)
    up, down = node.get("detect_positive", 1), node.get("detect_negative", 1)
    if not up and not down:
        return node.build.constant(np.zeros(shape_of(x), np.bool_))
    if up and down:
        x = node.op("abs", x)
    return node.op("compare", x, node.number(np.inf if up else -np.inf, x), direction="EQ")


def _where(node: Node) -> SSAValue:
    return node.op("select", *node.together(node.value(0), node.value(1), node.value(2)))


def _relu(node: Node) -> SSAValue:
    if node.floating(node.value(0)):
        return node.composite(tt.ReluOp, node.value(0))
    return node.with_number("maximum", node.value(0), 0)


def _clip(node: Node) -> SSAValue:
    x = node.value(0)
    for i, name in ((1, "maximum"), (2, "minimum")):
        if node.has(i):
            x = node.binary(name, x, node.value(i))
    return x


def _positive(node: Node, x: SSAValue) -> SSAValue:
    return node.op("compare", x, node.number(0, x), direction="GT")


def _leaky(node: Node) -> SSAValue:
    x = node.value(0)
    slope = node.value(1) if node.kind == "PRelu" else node.number(node.get("alpha", 0.01), x)
    return node.op(
        "select",
        node.op("compare", x, node.number(0, x), direction="LT"),
        node.binary("multiply", x, slope),
        x,
    )


def _exponential_unit(node: Node) -> SSAValue:
    """Elu, Selu and Celu: `gamma x` above zero, below `gamma alpha (e^(x / c) - 1)`."""
    x = node.value(0)
    alpha, gamma, inner = node.get("alpha", 1.0), 1.0, 1.0
    if node.kind == "Selu":
        alpha = node.get("alpha", 1.6732632423543772)
        gamma = node.get("gamma", 1.0507009873554805)
    elif node.kind == "Celu":
        inner = alpha
    below = node.op("minimum", x, node.number(0, x))
    scaled = below if inner == 1.0 else node.with_number("divide", below, inner)
    low = node.with_number("multiply", node.op("exponential_minus_one", scaled), alpha * gamma)
    return node.op("select", _positive(node, x), node.with_number("multiply", x, gamma), low)


def _hard_sigmoid(node: Node) -> SSAValue:
    x = node.value(0)
    swish = node.kind == "HardSwish"
    alpha, beta = (1 / 6, 0.5) if swish else (node.get("alpha", 0.2), node.get("beta", 0.5))
    line = node.with_number("add", node.with_number("multiply", x, alpha), beta)
    clipped = node.with_number("minimum", node.with_number("maximum", line, 0), 1)
    return node.op("multiply", x, clipped) if swish else clipped


def _thresholded(node: Node) -> SSAValue:
    x = node.value(0)
    above = node.op("compare", x, node.number(node.get("alpha", 1.0), x), direction="GT")
    return node.op("select", above, x, node.number(0, x))


def _softplus_of(node: Node, x: SSAValue) -> SSAValue:
    """max(x, 0) + log(1 + e^-|x|), which does not overflow."""
    rest = node.op("log_plus_one", node.op("exponential", node.op("negate", node.op("abs", x))))
    return node.op("add", node.with_number("maximum", x, 0), rest)


def _softplus(node: Node) -> SSAValue:
    x = node.value(0)
    plus = _softplus_of(node, x)
    return node.op("multiply", x, node.op("tanh", plus)) if node.kind == "Mish" else plus


def _softsign(node: Node) -> SSAValue:
    x = node.value(0)
    return node.op("divide", x, node.with_number("add", node.op("abs", x), 1))


def _shrink(node: Node) -> SSAValue:
    x = node.value(0)
    lambd, bias = node.get("lambd", 0.5), node.get("bias", 0.0)
    low = node.op("compare", x, node.number(-lambd, x), direction="LT")
    high = node.op("compare", x, node.number(lambd, x), direction="GT")
    up, down = node.with_number("subtract", x, bias), node.with_number("add", x, bias)
    return node.op("select", low, down, node.op("select", high, up, node.number(0, x)))


def _swish(node: Node) -> SSAValue:
    x = node.value(0)
    alpha = node.get("alpha", 1.0)
    return node.op(
        "multiply", x, node.op("logistic", x if alpha == 1.0 else node.with_number("multiply", x, alpha))
    )


def _gelu(node: Node) -> SSAValue:
    return node.composite(tt.GeluOp, node.value(0), node.get("approximate", "none"))


def _identity(node: Node) -> Any:
    return node.inputs[0] if node.inputs[0] is not None else node.value(0)


def _dropout(node: Node) -> Any:
    training = node.known(2, "training mode")
    if training is not None and bool(training):
        raise Unsupported("it draws random numbers: export the model in inference mode")
    outputs: list[Any] = [node.inputs[0]]
    if node.wanted(1):
        outputs.append(np.ones(node.shape(0), np.bool_))
    return outputs


def cast(node: Node, x: SSAValue, number: int, saturate: bool) -> SSAValue:
    """A value in the element type of a number of onnx's; 8-bit floats saturate if the node says so."""
    element = element_named(number)
    if not (tt.is_float8(element) and saturate):
        return node.convert(x, element)
    if str(element_of(x)) not in ELEMENT_TYPES:
        x = node.convert(x, f32)
    return node.composite(tt.CastOp, x, element, saturate=True)


def _cast(node: Node) -> SSAValue:
    return cast(node, node.value(0), node.get("to"), bool(node.get("saturate", 1)))


def _cast_like(node: Node) -> SSAValue:
    element = node.element(1)
    x = node.value(0)
    if tt.is_float8(element) and node.get("saturate", 1):
        return node.composite(tt.CastOp, x, element, saturate=True)
    return node.convert(x, element)


def _along(node: Node, i: int, shape: tuple[int, ...], axis: int) -> SSAValue:
    """A scale or zero point: a number, or a vector along an axis of `shape`."""
    x = node.value(i)
    if len(shape_of(x)) > 1 or node.get("block_size", 0):
        raise Unsupported("it scales by blocks")
    if not shape_of(x) or shape_of(x) == (1,):
        return node.broadcast(node.reshape(x, ()), shape)
    return node.op("broadcast_in_dim", x, shape=list(shape), dimensions=[axis])


def _dequantize(node: Node) -> SSAValue:
    x, shape = node.value(0), node.shape(0)
    axis = axis_of(node.get("axis", 1), max(len(shape), 2)) if len(shape) > 1 else 0
    scale = _along(node, 1, shape, axis)
    if node.has(2) and not tt.is_float8(element_of(x)):
        x = node.op("subtract", node.convert(x, i32), node.convert(_along(node, 2, shape, axis), i32))
    return node.op("multiply", node.convert(x, element_of(scale)), scale)


def _quantize(node: Node) -> SSAValue:
    x, shape = node.value(0), node.shape(0)
    axis = axis_of(node.get("axis", 1), max(len(shape), 2)) if len(shape) > 1 else 0
    scaled = node.op("divide", x, node.convert(_along(node, 1, shape, axis), element_of(x)))
    number = node.get("output_dtype", 0)
    element = node.element(2) if node.has(2) else element_named(number) if number else element_type("ui8")
    if tt.is_float8(element):
        return node.composite(tt.CastOp, scaled, element, saturate=bool(node.get("saturate", 1)))
    near = node.convert(node.op("round_nearest_even", scaled), f32)
    if node.has(2):
        near = node.op("add", near, node.convert(_along(node, 2, shape, axis), f32))
    width, signed = {"i8": (8, True), "ui8": (8, False), "i16": (16, True), "ui16": (16, False)}[str(element)]
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    held = node.with_number("minimum", node.with_number("maximum", near, low), high)
    return node.convert(held, element)


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys(_COMPARE, _compare),
    **dict.fromkeys(_MANY, _many),
    **dict.fromkeys(("Atan", "Asin", "Acos"), _arc),
    **dict.fromkeys(("Sinh", "Cosh"), _hyperbolic),
    **dict.fromkeys(("LeakyRelu", "PRelu"), _leaky),
    **dict.fromkeys(("Elu", "Selu", "Celu"), _exponential_unit),
    **dict.fromkeys(("HardSigmoid", "HardSwish"), _hard_sigmoid),
    **dict.fromkeys(("Softplus", "Mish"), _softplus),
    "Atanh": _atanh,
    "BitShift": _shift,
    "Cast": _cast,
    "CastLike": _cast_like,
    "Clip": _clip,
    "DequantizeLinear": _dequantize,
    "Dropout": _dropout,
    "Gelu": _gelu,
    "Identity": _identity,
    "IsInf": _is_inf,
    "IsNaN": _is_nan,
    "Mod": _mod,
    "Pow": _power,
    "QuantizeLinear": _quantize,
    "Reciprocal": _reciprocal,
    "Relu": _relu,
    "Shrink": _shrink,
    "Softsign": _softsign,
    "Swish": _swish,
    "Tan": _tan,
    "ThresholdedRelu": _thresholded,
    "Where": _where,
}
