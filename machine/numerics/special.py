# SPDX-License-Identifier: Apache-2.0
"""
What elementwise functions (`tilewright.machine.numerics.pointwise`) compute that numpy does not have, on
contiguous f64 arrays, and exactly on int64.

numpy's vector loops serve contiguous arrays only, and its strided loops may differ in the last place: every
function here is given contiguous arrays, so an element's result depends on the element alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray

# fdlibm's s_erf.c (Sun Microsystems, 1993): rational approximations, error below one unit in the last place.
_ERX = 8.45062911510467529297e-01
_EFX = 1.28379167095512586316e-01
_PP = (1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
       -5.77027029648944159157e-03, -2.37630166566501626084e-05)  # fmt: skip
_QQ = (1.0, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
       1.32494738004321644526e-04, -3.96022827877536812320e-06)  # fmt: skip
_PA = (-2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01,
       3.18346619901161753674e-01, -1.10894694282396677476e-01, 3.54783043256182359371e-02,
       -2.16637559486879084300e-03)  # fmt: skip
_QA = (1.0, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02,
       1.26171219808761642112e-01, 1.36370839120290507362e-02, 1.19844998467991074170e-02)  # fmt: skip
_RA = (-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e01,
       -6.23753324503260060396e01, -1.62396669462573470355e02, -1.84605092906711035994e02,
       -8.12874355063065934246e01, -9.81432934416914548592e00)  # fmt: skip
_SA = (1.0, 1.96512716674392571292e01, 1.37657754143519042600e02, 4.34565877475229228821e02,
       6.45387271733267880336e02, 4.29008140027567833386e02, 1.08635005541779435134e02,
       6.57024977031928170135e00, -6.04244152148580987438e-02)  # fmt: skip
_RB = (-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e01,
       -1.60636384855821916062e02, -6.37566443368389627722e02, -1.02509513161107724954e03,
       -4.83519191608651397019e02)  # fmt: skip
_SB = (1.0, 3.03380607434824582924e01, 3.25792512996573918826e02, 1.53672958608443695994e03,
       3.19985821950859553908e03, 2.55305040643316442583e03, 4.74528541206955367215e02,
       -2.24409524465858183362e01)  # fmt: skip


def _horner(x: Array, coefficients: Sequence[float]) -> Array:
    out = np.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        out *= x
        out += c
    return out


def erf_parts(x: Array) -> tuple[Array, Array]:
    """erf(x) and erfc(x), x f64."""
    flat = np.ascontiguousarray(x).reshape(-1)
    size = np.abs(flat)
    erf = np.where(np.isnan(flat), np.nan, np.copysign(1.0, flat))
    erfc = np.where(np.isnan(flat), np.nan, np.where(flat < 0, 2.0, 0.0))
    small = np.flatnonzero(size < 0.84375)
    if small.size:
        v = flat[small]
        z = v * v
        y = _horner(z, _PP) / _horner(z, _QQ)
        erf[small] = v + v * y
        erfc[small] = np.where(v < 0.25, 1.0 - (v + v * y), 0.5 - (v - 0.5 + v * y))
    middle = np.flatnonzero((size >= 0.84375) & (size < 1.25))
    if middle.size:
        v, negative = size[middle] - 1.0, flat[middle] < 0
        q = _horner(v, _PA) / _horner(v, _QA)
        erf[middle] = np.where(negative, -_ERX - q, _ERX + q)
        erfc[middle] = np.where(negative, 1.0 + (_ERX + q), 1.0 - _ERX - q)
    for low, high, top, bottom in ((1.25, 1 / 0.35, _RA, _SA), (1 / 0.35, 28.0, _RB, _SB)):
        part = np.flatnonzero((size >= low) & (size < high))
        if not part.size:
            continue
        v, negative = size[part], flat[part] < 0
        s = 1.0 / (v * v)
        ratio = _horner(s, top) / _horner(s, bottom)
        # The leading half of v squares exactly, which keeps exp(-v*v) accurate.
        z = (v.view(np.int64) & np.int64(-(1 << 32))).view(np.float64)
        tail = np.exp(-z * z - 0.5625) * np.exp((z - v) * (z + v) + ratio) / v
        erf[part] = np.where(negative, tail - 1.0, 1.0 - tail)
        erfc[part] = np.where(negative, 2.0 - tail, tail)
    return erf.reshape(x.shape), erfc.reshape(x.shape)


def gelu_tanh(x: Array) -> Array:
    # 0.5 * x * (1 + tanh u) = x / (1 + exp(-2u)), which does not cancel for negative x.
    u = np.sqrt(2.0 / np.pi) * (x + 0.044715 * (x * x * x))
    return np.where(x == -np.inf, -0.0, x / (1.0 + np.exp(-2.0 * u)))


def gelu_erf(x: Array) -> Array:
    return np.where(x == -np.inf, -0.0, 0.5 * x * erf_parts(x * -np.sqrt(0.5))[1])


def maximum(x: Array, y: Array) -> Array:
    out = np.maximum(x, y)
    if (out == 0).any():  # which zero numpy returns depends on the code path; +0 is above -0
        out = np.where((x == 0) & (y == 0), x + y, out)
    return out


def exp(x: Array) -> Array:
    # The exponential of a finite number is finite, however large: an 8-bit result saturates, wider ones
    # become infinite when they are rounded.
    out = np.exp(x)
    beyond = np.isinf(out)
    return np.where(beyond & (x != np.inf), np.finfo(np.float64).max, out) if beyond.any() else out


def sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def silu(x: Array) -> Array:
    return np.where(x == -np.inf, -0.0, x / (1.0 + np.exp(-x)))


def integer_divide(x: Array, y: Array) -> Array:
    """Toward zero; by zero -1."""
    quotient = np.abs(x) // np.where(y == 0, 1, np.abs(y))
    return np.where(y == 0, -1, np.where((x < 0) != (y < 0), -quotient, quotient))


def integer_remainder(x: Array, y: Array) -> Array:
    """With the sign of x; by zero x."""
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, 1, y)))


def integer_power(x: Array, y: Array) -> Array:
    """Wraps at 64 bits, so at fewer as well; a negative power is 0 but for 1 and -1."""
    result, base = np.ones(np.broadcast_shapes(x.shape, y.shape), np.int64), x
    for bit in range(31):
        result = np.where((y >> bit) & 1 == 1, result * base, result)
        base = base * base
    inverse = np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (y & 1), 0))
    return np.where(y < 0, inverse, result)


def power(x: Array, y: Array) -> Array:
    """As IEEE 754's pow; what overflows is finite, as `exp` is."""
    out = np.power(x, y)
    beyond = np.isinf(out) & np.isfinite(x) & np.isfinite(y) & (x != 0)
    return np.where(beyond, np.copysign(np.finfo(np.float64).max, out), out) if beyond.any() else out


def expm1(x: Array) -> Array:
    out = np.expm1(x)
    beyond = np.isinf(out)
    return np.where(beyond & (x != np.inf), np.finfo(np.float64).max, out) if beyond.any() else out


def shift_left(x: Array, y: Array, bits: int) -> Array:
    """0 for distances outside of the type."""
    inside = (y >= 0) & (y < bits)
    return np.where(inside, x << np.where(inside, y, 0), 0)


def shift_right_arithmetic(x: Array, y: Array, bits: int) -> Array:
    """Copies of the sign come in; nothing else is left for distances outside of the type."""
    return x >> np.where((y >= 0) & (y < bits), y, bits - 1)


def shift_right_logical(x: Array, y: Array, bits: int) -> Array:
    """Zeros come in; 0 for distances outside of the type."""
    inside = (y >= 0) & (y < bits)
    return np.where(inside, (x & ((1 << bits) - 1)) >> np.where(inside, y, 0), 0)
