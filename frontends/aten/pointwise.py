# SPDX-License-Identifier: Apache-2.0
"""ATen's operators on each element, and its activations."""

from __future__ import annotations

import math
from typing import Any

from xdsl.dialects.builtin import bf16, f16, i1
from xdsl.ir import SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.frontends.aten.graph import (
    OPERATORS,
    Translation,
    Unsupported,
    element_of,
    is_float,
    operator,
    shape_of,
)

_UNARY = {
    "abs": "abs", "neg": "negate", "sign": "sign", "exp": "exponential", "expm1": "exponential_minus_one",
    "log": "log", "log1p": "log_plus_one", "sigmoid": "logistic", "sqrt": "sqrt", "rsqrt": "rsqrt",
    "tanh": "tanh", "sin": "sine", "cos": "cosine", "tan": "tan", "floor": "floor", "ceil": "ceil",
    "erf": "erf", "erfc": "erfc", "isfinite": "is_finite", "bitwise_not": "not",
}  # fmt: skip
_BINARY = {
    "maximum": "maximum", "minimum": "minimum", "atan2": "atan2", "fmod": "remainder", "bitwise_and": "and",
    "bitwise_or": "or", "bitwise_xor": "xor", "bitwise_left_shift": "shift_left",
    "bitwise_right_shift": "shift_right_arithmetic",
}  # fmt: skip
_EXACT = frozenset(("floor", "ceil", "is_finite"))
"""What integers have without a computation."""


def _unary(name: str) -> Any:
    def lower(t: Translation, x: SSAValue) -> SSAValue:
        if name in _EXACT and not is_float(element_of(x)):
            return x if name != "is_finite" else t.full(True, shape_of(x), i1)
        kind = element_of(x) if name == "is_finite" else t.element
        return t.op(name, t.value(x, kind))

    return lower


def _binary(name: str) -> Any:
    def lower(t: Translation, a: Any, b: Any) -> SSAValue:
        return t.op(name, *t.together(a, b, element=t.element))

    return lower


def _comparison(direction: str) -> Any:
    def lower(t: Translation, a: Any, b: Any) -> SSAValue:
        return t.op("compare", *t.together(a, b, element=t.common(a, b)), direction=direction)

    return lower


def _logical(name: str) -> Any:
    def lower(t: Translation, a: Any, b: Any) -> SSAValue:
        return t.op(name, *(t.broadcast(truth(t, entry), t.shape) for entry in (a, b)))

    return lower


OPERATORS.update({name: _unary(kind) for name, kind in _UNARY.items()})
OPERATORS.update({name: _binary(kind) for name, kind in _BINARY.items()})
OPERATORS.update({name: _comparison(name.upper()) for name in ("eq", "ne", "lt", "le", "gt", "ge")})
OPERATORS.update({f"logical_{kind}": _logical(kind) for kind in ("and", "or", "xor")})


def truth(t: Translation, given: Any) -> SSAValue:
    """Whether each element is not zero."""
    value = t.value(given)
    return value if element_of(value) == i1 else t.op("compare", value, t.like(0, value), direction="NE")


# ------------------------------------------------------------------------------------------------- arithmetic


@operator("add")
def add(t: Translation, a: Any, b: Any, *, alpha: Any = 1) -> SSAValue:
    a, b = t.together(a, b, element=t.element)
    return t.op("add", a, t.times(b, alpha))


@operator("sub")
def subtract(t: Translation, a: Any, b: Any, *, alpha: Any = 1) -> SSAValue:
    a, b = t.together(a, b, element=t.element)
    return t.op("subtract", a, t.times(b, alpha))


@operator("rsub")
def subtract_from(t: Translation, a: Any, b: Any, *, alpha: Any = 1) -> SSAValue:
    return subtract(t, b, a, alpha=alpha)


@operator("mul")
def multiply(t: Translation, a: Any, b: Any) -> SSAValue:
    if a is b:
        value = t.value(a, t.element)
        return t.op("multiply", value, value)
    return t.op("multiply", *t.together(a, b, element=t.element))


@operator("div")
def divide(t: Translation, a: Any, b: Any, *, rounding_mode: str | None = None) -> SSAValue:
    a, b = t.together(a, b, element=t.element)
    quotient = t.op("divide", a, b)
    if is_float(t.element):
        if rounding_mode == "floor":
            return t.op("floor", quotient)
        if rounding_mode == "trunc":
            return t.op("multiply", t.op("sign", quotient), t.op("floor", t.op("abs", quotient)))
        return quotient
    if rounding_mode != "floor":
        return quotient
    # truncated, and one less where there is a rest of the other sign
    rest = t.op("subtract", a, t.op("multiply", quotient, b))
    other = t.op("compare", t.op("multiply", rest, b), t.like(0, b), direction="LT")
    return t.op("subtract", quotient, t.convert(other, t.element))


@operator("floor_divide")
def floor_divide(t: Translation, a: Any, b: Any) -> SSAValue:
    return divide(t, a, b, rounding_mode="floor")


@operator("remainder")
def remainder(t: Translation, a: Any, b: Any) -> SSAValue:
    """With the sign of the divisor."""
    a, b = t.together(a, b, element=t.element)
    rest = t.op("remainder", a, b)
    other = t.op("compare", t.op("multiply", rest, b), t.like(0, b), direction="LT")
    return t.op("select", other, t.op("add", rest, b), rest)


@operator("reciprocal")
def reciprocal(t: Translation, x: SSAValue) -> SSAValue:
    x = t.value(x, t.element)
    return t.op("divide", t.like(1, x), x)


@operator("square")
def square(t: Translation, x: SSAValue) -> SSAValue:
    return t.op("multiply", x, x)


@operator("pow")
def power(t: Translation, base: Any, exponent: Any) -> SSAValue:
    if isinstance(exponent, int | float) and isinstance(base, SSAValue):
        x = t.value(base, t.element)
        narrow = t.element in (f16, bf16)  # one rounding, not two
        if exponent == 0:
            return t.like(1, x)
        if exponent == 1:
            return x
        if exponent == 2:
            return t.op("multiply", x, x)
        if exponent == 3 and not narrow:
            return t.op("multiply", t.op("multiply", x, x), x)
        if exponent == 4 and not narrow:
            twice = t.op("multiply", x, x)
            return t.op("multiply", twice, twice)
        if is_float(t.element) and exponent in (0.5, -0.5):
            return t.op("sqrt" if exponent > 0 else "rsqrt", x)
        if is_float(t.element) and exponent == -1:
            return reciprocal(t, x)
    return t.op("power", *t.together(base, exponent, element=t.element))


@operator("exp2")
def power_of_two(t: Translation, x: SSAValue) -> SSAValue:
    return t.op("exponential", t.times(t.value(x, t.element), math.log(2)))


def _logarithm(base: float) -> Any:
    def lower(t: Translation, x: SSAValue) -> SSAValue:
        return t.times(t.op("log", t.value(x, t.element)), 1 / math.log(base))

    return lower


OPERATORS.update({"log2": _logarithm(2), "log10": _logarithm(10)})


@operator("round.default", "round")
def round_(t: Translation, x: SSAValue) -> SSAValue:
    return t.op("round_nearest_even", x) if is_float(element_of(x)) else x


@operator("trunc")
def truncate(t: Translation, x: SSAValue) -> SSAValue:
    if not is_float(element_of(x)):
        return x
    return t.op("multiply", t.op("sign", x), t.op("floor", t.op("abs", x)))


# ---------------------------------------------------------------------------------------------- truth, choice


@operator("logical_not")
def logical_not(t: Translation, x: SSAValue) -> SSAValue:
    return t.op("not", truth(t, x))


@operator("isnan")
def is_nan(t: Translation, x: SSAValue) -> SSAValue:
    return t.op("compare", x, x, direction="NE") if is_float(element_of(x)) else t.full(False, t.shape, i1)


@operator("isinf")
def is_infinite(t: Translation, x: SSAValue) -> SSAValue:
    if not is_float(element_of(x)):
        return t.full(False, t.shape, i1)
    size = t.op("abs", x)
    return t.op("compare", size, t.like(math.inf, size), direction="EQ")


@operator("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(t: Translation, condition: Any, a: Any, b: Any) -> SSAValue:
    chosen = t.broadcast(truth(t, condition), t.shape)
    return t.op("select", chosen, *t.together(a, b, element=t.element))


@operator("masked_fill")
def masked_fill(t: Translation, x: Any, mask: Any, value: Any) -> SSAValue:
    return where(t, mask, value, x)


@operator("clamp")
def clamp(t: Translation, x: Any, low: Any = None, high: Any = None) -> SSAValue:
    found = t.together(x, element=t.element)[0]
    if low is not None:
        found = t.op("maximum", found, t.together(low, element=t.element)[0])
    if high is not None:
        found = t.op("minimum", found, t.together(high, element=t.element)[0])
    return found


@operator("hardtanh")
def hardtanh(t: Translation, x: Any, low: Any = -1.0, high: Any = 1.0) -> SSAValue:
    return clamp(t, x, low, high)


@operator("clamp_min")
def clamp_min(t: Translation, x: Any, low: Any) -> SSAValue:
    return clamp(t, x, low)


@operator("clamp_max")
def clamp_max(t: Translation, x: Any, high: Any) -> SSAValue:
    return clamp(t, x, None, high)


# ------------------------------------------------------------------------------------------------ activations


@operator("relu")
def relu(t: Translation, x: SSAValue) -> SSAValue:
    return t.composite(tt.ReluOp, x) if is_float(element_of(x)) else t.op("maximum", x, t.like(0, x))


@operator("relu6")
def relu6(t: Translation, x: SSAValue) -> SSAValue:
    return clamp(t, x, 0, 6)


@operator("gelu")
def gelu(t: Translation, x: SSAValue, *, approximate: str = "none") -> SSAValue:
    return t.composite(tt.GeluOp, x, approximate)


@operator("silu")
def silu(t: Translation, x: SSAValue) -> SSAValue:
    return t.composite(tt.SiluOp, x)


@operator("leaky_relu")
def leaky_relu(t: Translation, x: SSAValue, slope: float = 0.01) -> SSAValue:
    positive = t.op("compare", x, t.like(0, x), direction="GT")
    return t.op("select", positive, x, t.times(x, slope))


@operator("elu")
def elu(t: Translation, x: SSAValue, alpha: float = 1.0, scale: float = 1.0, inner: float = 1.0) -> SSAValue:
    positive = t.op("compare", x, t.like(0, x), direction="GT")
    below = t.times(t.op("exponential_minus_one", t.times(x, inner)), alpha * scale)
    return t.op("select", positive, t.times(x, scale), below)


@operator("softplus")
def softplus(t: Translation, x: SSAValue, beta: float = 1.0, threshold: float = 20.0) -> SSAValue:
    scaled = t.times(x, beta)
    large = t.op("compare", scaled, t.like(threshold, x), direction="GT")
    # log1p(exp(x)) without an overflow: max(x, 0) + log1p(exp(-|x|))
    tail = t.op("log_plus_one", t.op("exponential", t.op("negate", t.op("abs", scaled))))
    smooth = t.op("add", t.op("maximum", scaled, t.like(0, x)), tail)
    return t.op("select", large, x, t.times(smooth, 1 / beta))


@operator("log_sigmoid")
def log_sigmoid(t: Translation, x: SSAValue) -> SSAValue:
    return t.op("negate", softplus(t, t.op("negate", x), threshold=math.inf))


@operator("mish")
def mish(t: Translation, x: SSAValue) -> SSAValue:
    return t.op("multiply", x, t.op("tanh", softplus(t, x)))


@operator("hardsigmoid")
def hardsigmoid(t: Translation, x: SSAValue) -> SSAValue:
    return clamp(t, t.times(t.op("add", x, t.like(3, x)), 1 / 6), 0, 1)


@operator("hardswish")
def hardswish(t: Translation, x: SSAValue) -> SSAValue:
    return t.op("multiply", x, hardsigmoid(t, x))


@operator("_prelu_kernel")
def prelu(t: Translation, x: SSAValue, slope: Any) -> SSAValue:
    positive = t.op("compare", x, t.like(0, x), direction="GT")
    return t.op("select", positive, x, t.op("multiply", *t.together(x, slope, element=t.element)))


# ------------------------------------------------------------------------------------------------------ types


@operator("_to_copy", "to.dtype", "to.dtype_layout", "to.device", "to.other", "type_as", "to")
def to(t: Translation, x: SSAValue, *_: Any, **__: Any) -> SSAValue:
    source, element = element_of(x), t.element
    if element == i1:
        return truth(t, x)
    if is_float(source) and not is_float(element) and str(element).startswith("u"):
        raise Unsupported("floats become signed integers alone")
    return t.convert(x, element)


@operator("clone", "alias", "detach", "lift_fresh_copy", "contiguous", "dropout", "positive")
def same(t: Translation, x: SSAValue, *arguments: Any, **__: Any) -> Any:
    """What changes no value; dropout while training is caught as a random operator."""
    name = str(t.node.target)
    if "dropout" in name and any(entry is True for entry in arguments):
        raise Unsupported("random numbers have no meaning here: export the module in eval()")
    return x


@operator("zeros_like", "new_zeros")
def zeros_like(t: Translation, *_: Any, **__: Any) -> SSAValue:
    return t.full(0, t.shape, t.element)


@operator("ones_like", "new_ones")
def ones_like(t: Translation, *_: Any, **__: Any) -> SSAValue:
    return t.full(1, t.shape, t.element)


@operator("full_like")
def full_like(t: Translation, _: Any, number: Any, **__: Any) -> SSAValue:
    return t.full(number, t.shape, t.element)


@operator("new_full")
def new_full(t: Translation, _: Any, __: Any, number: Any, **___: Any) -> SSAValue:
    return t.full(number, t.shape, t.element)


@operator("fill.Scalar", "fill.Tensor")
def fill(t: Translation, _: Any, number: Any) -> SSAValue:
    return t.broadcast(t.value(number, t.element), t.shape)


__all__ = ["truth"]
