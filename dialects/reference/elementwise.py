# SPDX-License-Identifier: Apache-2.0
"""The semantics of operations on single elements."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.reference.arrays import Array, Table, finite


def _each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of Python's floats on f64 arrays."""
    each = np.frompyfunc(function, 1, 1)
    return lambda x: np.asarray(each(x), np.float64)


_erf, _erfc = _each(math.erf), _each(math.erfc)


def _sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def _silu(x: Array) -> Array:
    tail = np.exp(-np.abs(x))
    return np.where(x == -np.inf, -0.0, x * np.where(x < 0, tail, 1.0) / (1.0 + tail))


def _exp(x: Array) -> Array:
    """The exponential of a finite number is finite, however large."""
    return finite(np.exp(x), np.isfinite(x))


def _larger(a: Array, b: Array) -> Array:
    """NaN if either is; +0 is above -0."""
    larger = np.maximum(a, b)
    return larger if a.dtype.kind == "i" else np.where((a == 0) & (b == 0), a + b, larger)


def _smaller(a: Array, b: Array) -> Array:
    return np.minimum(a, b) if a.dtype.kind == "i" else -_larger(-a, -b)


def _gelu(op: tt.GeluOp, x: Array) -> Array:
    if op.approximate.data == tt.Approximation.TANH:
        return gelu_tanh(x)
    return np.where(x == -np.inf, -0.0, 0.5 * x * _erfc(-x / np.sqrt(2.0)))


def _bias_gelu(op: tt.BiasGeluOp, x: Array, bias: Array) -> Array:
    return gelu_tanh(x + bias)


def gelu_tanh(x: Array) -> Array:
    """gelu in its tanh form; below -4 as e / (1 + e), e = exp(2 u), which does not cancel."""
    u = np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)
    tail = np.exp(2.0 * np.minimum(u, 0.0))
    share = np.where(x < -4.0, tail / (1.0 + tail), 0.5 * (1.0 + np.tanh(u)))
    return np.where(x == -np.inf, -0.0, x * share)


def _divide(op: tt.DivOp, a: Array, b: Array) -> Array:
    """Integers: toward zero, by zero -1; the lowest one divided by -1 wraps to itself when it is stored."""
    if a.dtype.kind != "i":
        return a / b
    safe = np.where(b == 0, 1, b)  # exact in f64 for operands of 32 bits
    return np.where(b == 0, -1, np.trunc(a.astype(np.float64) / safe).astype(np.int64))


_COMPARISONS: dict[tt.Direction, Callable[[Array, Array], Array]] = {
    tt.Direction.EQ: lambda a, b: a == b,
    tt.Direction.NE: lambda a, b: ~(a == b),
    tt.Direction.LT: lambda a, b: a < b,
    tt.Direction.LE: lambda a, b: (a < b) | (a == b),
    tt.Direction.GT: lambda a, b: b < a,
    tt.Direction.GE: lambda a, b: (b < a) | (a == b),
}


def _compare(op: tt.CompareOp, a: Array, b: Array) -> Array:
    return _COMPARISONS[op.direction.data](a, b)


def _angle(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of finite angles; NaN for the others."""
    return _each(lambda x: function(x) if math.isfinite(x) else math.nan)


_sin, _cos = _angle(math.sin), _angle(math.cos)


def _atan2(a: Array, b: Array) -> Array:
    return np.asarray(np.frompyfunc(math.atan2, 2, 1)(a, b), np.float64)


def _sign(x: Array) -> Array:
    """Zeros and NaN are as they are."""
    return np.where(x > 0, 1, np.where(x < 0, -1, x))


def _remainder(a: Array, b: Array) -> Array:
    """Of integers by zero: all is left."""
    if a.dtype.kind != "i":
        return np.fmod(a, b)
    wide, safe = a.astype(np.int64), np.where(b == 0, 1, b).astype(np.int64)
    return np.where(b == 0, wide, np.sign(wide) * (np.abs(wide) % np.abs(safe)))


def _power(a: Array, b: Array) -> Array:
    """Of integers by Python's, the low bits are kept; negative powers are 0, but for 1 and -1."""
    if a.dtype.kind != "i":
        return finite(np.power(a, b), np.isfinite(a) & np.isfinite(b) & (a != 0))

    def whole(x: int, n: int) -> int:
        power = pow(int(x), int(n), 1 << 32) if n >= 0 else {1: 1, -1: 1 - 2 * (int(n) & 1)}.get(int(x), 0)
        return power - (1 << 32) if power >= 1 << 31 else power

    return np.asarray(np.frompyfunc(whole, 2, 1)(a, b)).astype(np.int64)


def _shift(op: tt.TensorOperation, a: Array, b: Array) -> Array:
    """By Python's integers; a distance outside of the type leaves nothing, or copies of the sign."""
    bits = 8 * a.dtype.itemsize

    def whole(x: int, n: int) -> int:
        inside = 0 <= n < bits
        match op:
            case tt.ShiftLeftOp():
                return int(x) * 2 ** int(n) if inside else 0
            case tt.ShiftRightLogicalOp():
                return int(x) % 2**bits // 2 ** int(n) if inside else 0
            case _:
                return int(x) // 2 ** int(n) if inside else -int(x < 0)

    return np.asarray(np.frompyfunc(whole, 2, 1)(a, b)).astype(np.int64)


SEMANTICS: Table = {
    tt.AbsOp: lambda op, x: np.abs(x),
    tt.AddOp: lambda op, a, b: a + b,
    tt.AndOp: lambda op, a, b: a & b,
    tt.Atan2Op: lambda op, a, b: _atan2(a, b),
    tt.BiasGeluOp: _bias_gelu,
    tt.CeilOp: lambda op, x: np.ceil(x),
    tt.CompareOp: _compare,
    tt.CosOp: lambda op, x: _cos(x),
    tt.DivOp: _divide,
    tt.ErfOp: lambda op, x: _erf(x),
    tt.ExpOp: lambda op, x: _exp(x),
    tt.Expm1Op: lambda op, x: finite(np.expm1(x), np.isfinite(x)),
    tt.FloorOp: lambda op, x: np.floor(x),
    tt.GeluOp: _gelu,
    tt.IsFiniteOp: lambda op, x: np.abs(x) < np.inf,
    tt.LogOp: lambda op, x: np.log(x),
    tt.Log1pOp: lambda op, x: np.log1p(x),
    tt.MaximumOp: lambda op, a, b: _larger(a, b),
    tt.MinimumOp: lambda op, a, b: _smaller(a, b),
    tt.MulOp: lambda op, a, b: a * b,
    tt.NegOp: lambda op, x: -x,
    tt.NotOp: lambda op, x: ~x,
    tt.OrOp: lambda op, a, b: a | b,
    tt.PowOp: lambda op, a, b: _power(a, b),
    tt.ReciprocalOp: lambda op, x: 1 / x,
    tt.ReluOp: lambda op, x: np.where(x <= 0, 0, x),
    tt.RemainderOp: lambda op, a, b: _remainder(a, b),
    tt.RoundOp: lambda op, x: np.rint(x),
    tt.RsqrtOp: lambda op, x: 1 / np.sqrt(x),
    tt.ShiftLeftOp: _shift,
    tt.ShiftRightArithmeticOp: _shift,
    tt.ShiftRightLogicalOp: _shift,
    tt.SigmoidOp: lambda op, x: _sigmoid(x),
    tt.SignOp: lambda op, x: _sign(x),
    tt.SiluOp: lambda op, x: _silu(x),
    tt.SinOp: lambda op, x: _sin(x),
    tt.SqrtOp: lambda op, x: np.sqrt(x),
    tt.SquareOp: lambda op, x: x * x,
    tt.SubOp: lambda op, a, b: a - b,
    tt.TanhOp: lambda op, x: np.tanh(x),
    tt.XorOp: lambda op, a, b: a ^ b,
}
