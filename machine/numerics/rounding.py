# SPDX-License-Identifier: Apache-2.0
"""
Exact decoding, correct rounding and casts between element types.

Every value goes through f64, which holds each format exactly, and is rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from tilewright.machine import dtypes

Array = np.ndarray

EXPONENT_MASK = np.int64(0x7FF0000000000000)


# --------------------------------------------------------------------------------------------------- decoding


@cache
def fp8_values(name: str) -> Array:
    """f64 value of every code, (256,). Built from the format's fields, independent of ml_dtypes."""
    fmt = dtypes.float_format(name)
    codes = np.arange(256)
    bits = fmt.mantissa_bits
    exponent = (codes & 0x7F) >> bits
    mantissa = (codes & ((1 << bits) - 1)).astype(np.float64)
    fraction = np.where(exponent == 0, mantissa, mantissa + (1 << bits))
    values = np.ldexp(fraction, np.maximum(exponent, 1) - 1 + fmt.emin - bits)
    values = np.where(codes & 0x80, -values, values)
    if not fmt.negative_zero:
        values[0x80] = np.nan
    elif not fmt.has_inf:  # E4M3FN
        values[[0x7F, 0xFF]] = np.nan
    else:  # E5M2
        values[[0x7C, 0xFC]] = (np.inf, -np.inf)
        values[[0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]] = np.nan
    values.flags.writeable = False
    return values


def decoder(name: str, factor: float = 1.0) -> Callable[[Array, Array], object]:
    """
    What stores the exact values of arrays of a type, times `factor` (a power of two), in contiguous f64
    arrays of the same shape.
    """
    if dtypes.is_fp8(name):
        table = fp8_values(name) * factor
        return lambda x, out: table.take(x.view(np.uint8), None, out, "clip")

    def run(x: Array, out: Array) -> None:
        np.copyto(out, decode(x) if name == "bf16" else x)
        if factor != 1.0:
            np.multiply(out, factor, out=out)

    return run


def decode(x: Array, scale: int = 0) -> Array:
    """x's exact values times 2^scale as a contiguous f64 array of the same shape."""
    name = dtypes.name_of(x.dtype)
    if x.ndim == 0:
        return decode(x.reshape(1), scale).reshape(())
    if dtypes.is_fp8(name):
        values = fp8_values(name)
        if scale:
            values = np.ldexp(values, scale)
        codes = np.ascontiguousarray(x).view(np.uint8)
        return np.take(values, codes, mode="clip")
    with np.errstate(all="ignore"):  # signalling NaNs, and scales out of range
        if name == "bf16":
            wide = np.ascontiguousarray(x).view(np.uint16).astype(np.uint32)
            wide <<= np.uint32(16)
            out = wide.view(np.float32).astype(np.float64)
        else:
            out = np.ascontiguousarray(x).astype(np.float64)
        if scale:
            out *= 2.0**scale
    return out


def largest(x: Array) -> float:
    """The largest magnitude of typed floats, 0 of none; NaN or infinity where there is one."""
    if not x.size:
        return 0.0
    # Codes without their sign are in the order of the magnitudes; infinity and NaN come behind them.
    signed, unsigned = x.view(f"i{x.dtype.itemsize}"), x.view(f"u{x.dtype.itemsize}")
    sign = 1 << (8 * x.dtype.itemsize - 1)
    fmt = dtypes.float_format(dtypes.name_of(x.dtype))
    if not fmt.negative_zero and int(signed.min()) == -sign:  # the code of -0 is their only NaN
        return np.nan
    negative = int(unsigned.max()) - sign
    top = max(int(signed.max()), negative)
    return float(decode(np.array([top], unsigned.dtype).view(x.dtype))[0])


# --------------------------------------------------------------------------------------------------- rounding


def round_to_grid(x: Array, mantissa_bits: int, emin: int) -> Array:
    """
    f64 x rounded, nearest even, to the format's precision at |x|; the exponent is unbounded above.

    Adding and subtracting 1.5 * 2^(52 - mantissa_bits) * 2^floor(log2|x|) lets the f64 adder round: the sum's
    last place is the format's last place at x, and the constant is an even multiple of it. Zeros come out as
    +0 and non-finite values as they are.
    """
    with np.errstate(all="ignore"):
        magic = np.bitwise_and(x.view(np.int64), EXPONENT_MASK)
        # Positive f64 compare like their bit patterns, and the integer maximum is the faster of the two.
        np.maximum(magic, np.float64(2.0**emin).view(np.int64), out=magic)
        factor = magic.view(np.float64)
        factor *= 1.5 * 2.0 ** (52 - mantissa_bits)
        out = x + factor
        out -= factor
        good = np.isfinite(out)
        if not good.all():  # infinities, NaN, and finite values so large that the constant overflowed
            out = np.where(good, out, x)
    return out


@cache
def _fp8_codes(name: str, saturate: bool) -> Array:
    """Code for the top 12 bits (sign, exponent, three mantissa bits) of an f32 on the format's grid."""
    fmt = dtypes.float_format(name)
    top = np.arange(4096, dtype=np.uint32)
    with np.errstate(all="ignore"):
        values = (top << np.uint32(20)).view(np.float32).astype(np.float64)
    negative = top >= 2048
    finite = fp8_values(name)[:128]
    order = np.flatnonzero(np.isfinite(finite))  # ascending values, codes ascending
    magnitude = np.abs(values)
    code = order[np.searchsorted(finite[order], np.nan_to_num(magnitude, nan=0.0, posinf=0.0), "right") - 1]
    largest = int(order[-1])
    nan = 0x80 if not fmt.negative_zero else (0x7F if not fmt.has_inf else 0x7E)
    overflow = 0x7C if fmt.has_inf else nan
    infinity = overflow
    if saturate:
        overflow = largest
        # The machine turns an infinity into NaN in both modes; OCP saturation takes it to the largest value.
        infinity = largest if fmt.negative_zero else nan
    code = np.where(magnitude > fmt.max_value, overflow, code)
    code = np.where(np.isinf(magnitude), infinity, code)
    code = np.where(np.isnan(values), nan, code)
    if fmt.negative_zero:
        code = np.where(negative, code | 0x80, code)
    else:
        code = np.where(negative & (code != 0), code | 0x80, code)
    code = code.astype(np.uint8)
    code.flags.writeable = False
    return code


def _to_fp8(x: Array, name: str, saturate: bool) -> Array:
    fmt = dtypes.float_format(name)
    grid = round_to_grid(x, fmt.mantissa_bits, fmt.emin)
    with np.errstate(all="ignore"):
        if fmt.negative_zero:
            np.copysign(grid, x, out=grid)
        if not (np.abs(x) < 2.0**100).all():
            # Finite values beyond f32 must not turn into infinities, which saturate differently.
            huge = np.isfinite(grid) & (np.abs(grid) >= 2.0**100)
            grid = np.where(huge, np.copysign(2.0**100, grid), grid)
        bits = grid.astype(np.float32).view(np.uint32)
    bits >>= np.uint32(20)
    return np.take(_fp8_codes(name, saturate), bits, mode="clip").view(dtypes.numpy_dtype(name))


def _to_integer(x: Array, name: str, saturate: bool, truncate: bool = False) -> Array:
    kind = dtypes.numpy_dtype(name)
    if kind == np.bool_:
        return x != 0
    info = np.iinfo(kind)
    low, high = (info.min, info.max) if saturate else (-(2.0**62), 2.0**62)
    with np.errstate(all="ignore"):
        bounded = np.clip(np.trunc(x) if truncate else np.rint(x), low, high)
        return np.where(np.isnan(bounded), 0.0, bounded).astype(np.int64).astype(kind)


def round_to(x: Array, dtype: str, saturate: bool = False) -> Array:
    """
    f64 (or f32, integer) values rounded once, nearest even, to `dtype`; same shape, contiguous.

    Overflow gives infinity, or NaN in formats without one, or the largest value with `saturate` (FP8 only).
    NaNs come out as the format's one positive quiet NaN. Integers: nearest even, NaN to 0, then clamped with
    `saturate`, else the low bits.
    """
    if np.ndim(x) == 0:
        return round_to(np.reshape(x, 1), dtype, saturate).reshape(())
    x = np.ascontiguousarray(x, dtype=np.float64)
    if dtypes.is_integer(dtype):
        return _to_integer(x, dtype, saturate)
    nan = np.isnan(x)
    if dtypes.is_fp8(dtype):
        return _to_fp8(np.where(nan, np.nan, x) if nan.any() else x, dtype, saturate)
    target = dtypes.numpy_dtype(dtype)
    with np.errstate(all="ignore"):
        if dtype == "bf16":
            grid = np.copysign(round_to_grid(x, 7, -126), x)
            bits = grid.astype(np.float32).view(np.uint32)
            bits >>= np.uint32(16)
            out = bits.astype(np.uint16).view(target)
        else:
            out = x.astype(target)
        if nan.any():  # one NaN: payload and sign would depend on operand order
            out[nan] = np.nan
    return out


def cast_array(x: Array, dtype: str, scale: int = 0, saturate: bool = True, truncate: bool = False) -> Array:
    """
    The stored form of x: value * 2^-scale rounded once to `dtype`, never through a narrower type.

    `saturate` is for FP8 (largest value instead of NaN or infinity) and integers (clamp instead of low bits),
    `truncate` for floats that become integers: toward zero, not to the nearest. A NaN keeps its sign where
    the target is an OCP FP8 format.
    """
    source = dtypes.name_of(x.dtype) if x.dtype != np.float64 else "f64"
    if source != "f64" and dtypes.is_integer(source) and dtypes.is_integer(dtype) and scale == 0:
        target = dtypes.numpy_dtype(dtype)
        if target == np.bool_:
            return x != 0
        if saturate:
            info = np.iinfo(target)
            return np.clip(x.astype(np.int64), info.min, info.max).astype(target)
        return x.astype(np.int64).astype(target)
    if source == dtype and scale == 0:
        return np.array(x, order="C")
    if source == "f64":
        with np.errstate(all="ignore"):
            wide = np.ldexp(x, -scale) if scale else x
    else:
        wide = decode(x, -scale)
    if dtypes.is_integer(dtype):
        return _to_integer(np.asarray(wide), dtype, saturate, truncate)
    if dtypes.is_fp8(dtype) and wide.ndim:
        return _to_fp8(np.ascontiguousarray(wide), dtype, saturate)
    return round_to(wide, dtype, saturate)


def ocp_as_fnuz(x: Array) -> Array | None:
    """OCP FP8 codes read as their FNUZ twin, to be used with scale +1; None if NaN, infinity or -0 occurs."""
    twin = dtypes.FNUZ_TWIN[dtypes.name_of(x.dtype)]
    codes = np.ascontiguousarray(x).view(np.uint8)
    values = fp8_values(dtypes.name_of(x.dtype))
    allowed = np.isfinite(values)
    allowed[0x80] = False
    return codes.view(dtypes.numpy_dtype(twin)) if bool(allowed[codes].all()) else None
