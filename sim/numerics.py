# SPDX-License-Identifier: Apache-2.0
"""
The arithmetic that the machine model and its oracle share: rounding, casts, matrix passes, sums.

Every function is a pure function of the values of one result element: no result depends on the shape of the
array it is computed in, on how work is cut into blocks, on threads, or (but for transcendental functions) on
the CPU. docs/spec/numerics.md states the rules; the comments here say how each is kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from tilewright.planning import dtypes

Array = np.ndarray

_EXPONENT_MASK = np.int64(0x7FF0000000000000)


# ---------------------------------------------------------------------------------------------------- threads


def _workers() -> int:
    try:
        return max(1, min(4, len(os.sched_getaffinity(0))))
    except AttributeError:  # pragma: no cover - platforms without affinity
        return max(1, min(4, os.cpu_count() or 1))


def _run(items: Sequence[Callable[[], None]], parallel: bool) -> None:
    """Run independent work items; each writes its own part of the result, so their order cannot matter."""
    workers = _workers() if parallel else 1
    if workers == 1 or len(items) < 2:
        for item in items:
            item()
        return
    # A pool per call: a pool kept for good would hang in a forked child.
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(item) for item in items]:
            done.result()


# --------------------------------------------------------------------------------------------------- decoding


@cache
def _fp8_values(name: str) -> Array:
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


def decode(x: Array, scale: int = 0) -> Array:
    """x's exact values times 2^scale as a contiguous f64 array of the same shape."""
    name = dtypes.name_of(x.dtype)
    if dtypes.is_fp8(name):
        values = _fp8_values(name)
        if scale:
            values = np.ldexp(values, scale)
        codes = np.ascontiguousarray(x).view(np.uint8)
        return np.take(values, codes, mode="clip")
    if name == "bf16":
        wide = np.ascontiguousarray(x).view(np.uint16).astype(np.uint32)
        wide <<= 16
        out = wide.view(np.float32).astype(np.float64)
    else:
        out = np.ascontiguousarray(x).astype(np.float64)
    if scale:
        with np.errstate(all="ignore"):
            out *= 2.0**scale
    return out


# --------------------------------------------------------------------------------------------------- rounding


def _round_to_grid(x: Array, mantissa_bits: int, emin: int) -> Array:
    """
    f64 x rounded, nearest even, to a multiple of the format's quantum at |x|; the exponent is unbounded above.

    Adding and subtracting 1.5 * 2^(52 - mantissa_bits) * 2^floor(log2|x|) lets the f64 adder round: the sum's
    last place is the format's last place at x, and the constant is an even multiple of it. Zeros come out as +0
    and non-finite values as they are.
    """
    with np.errstate(all="ignore"):
        magic = np.bitwise_and(x.view(np.int64), _EXPONENT_MASK)
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
    """Code for the top 12 bits (sign, exponent, three mantissa bits) of an f32 that lies on the format's grid."""
    fmt = dtypes.float_format(name)
    top = np.arange(4096, dtype=np.uint32)
    with np.errstate(all="ignore"):
        values = (top << np.uint32(20)).view(np.float32).astype(np.float64)
    negative = top >= 2048
    finite = _fp8_values(name)[:128]
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
    grid = _round_to_grid(x, fmt.mantissa_bits, fmt.emin)
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


def _to_integer(x: Array, name: str) -> Array:
    kind = dtypes.numpy_dtype(name)
    if kind == np.bool_:
        return x != 0
    info = np.iinfo(kind)
    with np.errstate(all="ignore"):
        bounded = np.clip(np.rint(x), info.min, info.max)
        return np.where(np.isnan(bounded), 0.0, bounded).astype(kind)


def round_to(x: Array, dtype: str, saturate: bool = False) -> Array:
    """
    f64 (or f32, integer) values rounded once, nearest even, to `dtype`; same shape, contiguous.

    Overflow gives infinity, or NaN in formats without one, or the largest value with `saturate` (FP8 only).
    f16, bf16 and f32 NaNs come out as the one positive quiet NaN. Integer targets round to nearest even,
    saturate, and take NaN to 0.
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    if dtypes.is_integer(dtype):
        return _to_integer(x, dtype)
    if dtypes.is_fp8(dtype):
        return _to_fp8(x, dtype, saturate)
    target = dtypes.numpy_dtype(dtype)
    with np.errstate(all="ignore"):
        nan = np.isnan(x)
        if dtype == "bf16":
            grid = np.copysign(_round_to_grid(x, 7, -126), x)
            bits = grid.astype(np.float32).view(np.uint32)
            bits >>= np.uint32(16)
            out = bits.astype(np.uint16).view(target)
        else:
            out = x.astype(target)
        if nan.any():  # one NaN: payload and sign would depend on operand order
            out[nan] = np.nan
    return out


def cast_array(x: Array, dtype: str, scale: int = 0, saturate: bool = True) -> Array:
    """
    The stored form of x: value * 2^-scale rounded once to `dtype`, never through a narrower type.

    `saturate` matters for FP8 (largest value instead of NaN or infinity) and from integer to integer (else the
    low bits are kept).
    """
    source = dtypes.name_of(x.dtype) if x.dtype != np.float64 else "f64"
    if source not in ("f64",) and dtypes.is_integer(source) and dtypes.is_integer(dtype) and scale == 0:
        target = dtypes.numpy_dtype(dtype)
        if target == np.bool_:
            return x != 0
        if saturate:
            info = np.iinfo(target)
            return np.clip(x.astype(np.int64), info.min, info.max).astype(target)
        return x.astype(np.int64).astype(target)
    if source == dtype and scale == 0:
        return np.ascontiguousarray(x).copy()
    if source == "f64":
        with np.errstate(all="ignore"):
            wide = np.ldexp(x, -scale) if scale else x
    else:
        wide = decode(x, -scale)
    return round_to(wide, dtype, saturate)


def ocp_as_fnuz(x: Array) -> Array | None:
    """OCP FP8 codes read as the machine's twin format, to be used with scale +1; None if NaN, infinity or -0 occurs."""
    twin = dtypes.FNUZ_TWIN[dtypes.name_of(x.dtype)]
    codes = np.ascontiguousarray(x).view(np.uint8)
    values = _fp8_values(dtypes.name_of(x.dtype))
    allowed = np.isfinite(values)
    allowed[0x80] = False
    return codes.view(dtypes.numpy_dtype(twin)) if bool(allowed[codes].all()) else None


# --------------------------------------------------------------------------------------------- matrix passes


def _exact_bits(a_name: str, w_name: str) -> tuple[int, float] | None:
    """log2 of the quantum of a product, and the largest product; None for formats too wide to bound."""
    wide = ("f32", "bf16")
    if a_name in wide or w_name in wide:
        return None
    a, w = dtypes.float_format(a_name), dtypes.float_format(w_name)
    return a.quantum_log2 + w.quantum_log2, a.max_value * w.max_value


class _PassSums:
    """
    Sums of products of one block, pass by pass.

    The sum of a pass is the exact sum, rounded once to f64 wherever it fits 53 bits. Three ways, chosen so that
    the choice cannot change a bit:
    - BLAS when every partial sum is provably exact, whatever its order: all products are multiples of 2^q and
      the sum of their magnitudes is at most 2^(q + 53). Always so for E4M3 by E4M3 (2^-20, 32 * 240^2);
      for f16 and E5M2 decided by the largest magnitudes of the block.
    - otherwise, for those formats, each operand is cut at 2^-4 into a high and a low half; the four products'
      sums are exact, and are added elementwise in one fixed order. Where the true sum fits 53 bits this gives it.
    - f32 and bf16: elementwise multiply and add, ascending k.
    """

    def __init__(self, a: Array, w: Array, a_name: str, w_name: str, width: int, scale: int) -> None:
        # a (c, m, K), w (c, n, K): f64, unscaled
        self.a, self.w, self.width = a, w, width
        self.factor = 2.0**scale
        bound = _exact_bits(a_name, w_name)
        self.mode = "ordered"
        if bound is not None:
            quantum, largest = bound
            limit = 2.0 ** (53 + quantum)
            if width * largest > limit:
                with np.errstate(all="ignore"):
                    largest = _largest(a) * _largest(w)
            self.mode = "blas" if width * largest <= limit else "split"  # NaN and infinity compare false
        if self.mode == "split":
            self.high_a, self.low_a = _halves(a)
            self.high_w, self.low_w = _halves(w)
            self.finite = bool(np.isfinite(a).all() and np.isfinite(w).all())
        if self.mode == "blas" and scale:
            self.w = w * self.factor  # exact, and so are all sums

    def __call__(self, begin: int, out: Array, spare: Array) -> None:
        """out (c, m, n) = 2^scale * sum over k in [begin, begin + width) of a[..., k] * w[..., k]."""
        cut = slice(begin, begin + self.width)
        a, w = self.a[:, :, cut], self.w[:, :, cut].swapaxes(1, 2)
        if self.mode == "blas":
            np.matmul(a, w, out=out)
            return
        if self.mode == "ordered":
            wt = np.ascontiguousarray(w)  # (c, P, n)
            out.fill(0.0)
            for k in range(self.width):
                np.multiply(a[:, :, k, None], wt[:, None, k, :], out=spare)
                out += spare
        else:
            ah, al = self.high_a[:, :, cut], self.low_a[:, :, cut]
            wh, wl = self.high_w[:, :, cut].swapaxes(1, 2), self.low_w[:, :, cut].swapaxes(1, 2)
            middle = np.matmul(ah, wl)
            middle += np.matmul(al, wh, out=spare)
            np.matmul(ah, wh, out=out)
            out += middle
            out += np.matmul(al, wl, out=spare)
            if not self.finite:
                plain = np.matmul(a, w, out=spare)
                np.copyto(out, plain, where=~np.isfinite(plain))
        if self.factor != 1.0:
            out *= self.factor


def _largest(x: Array) -> float:
    return max(float(x.max()), -float(x.min())) if x.size else 0.0


def _halves(x: Array) -> tuple[Array, Array]:
    magic = 1.5 * 2.0**48  # last place 2^-4
    finite = np.where(np.isfinite(x), x, 0.0)
    high = (finite + magic) - magic
    return high, finite - high


_F16_TINY = np.float64(2.0**-14).view(np.int64)


def _accumulate_f16(total: Array, partial: Array, magic: Array, subnormals: bool) -> None:
    """
    partial = f16 rounding of (total + partial), kept in f64; total is left holding the f64 sum.

    The same rounding as `_round_to_grid`, spelled out on buffers because it is the hot loop of the model.
    """
    total += partial
    np.bitwise_and(total.view(np.int64), _EXPONENT_MASK, out=magic.view(np.int64))
    if subnormals:
        np.maximum(magic.view(np.int64), _F16_TINY, out=magic.view(np.int64))
    magic *= 1.5 * 2.0**42
    np.add(total, magic, out=partial)
    partial -= magic
    if not (partial.max() < 65536.0 and partial.min() > -65536.0):  # overflow, infinity or NaN: rare
        bad = ~(np.abs(partial) < 65536.0)
        value = total[bad]
        partial[bad] = np.where(np.isnan(value), np.nan, np.copysign(np.inf, value))


def _block_gemm(
    a: Array,
    w: Array,
    names: tuple[str, str],
    acc: str,
    width: int,
    scale: int,
    initial: Array | None,
    out: Array,
) -> None:
    """One block: a (c, m, K), w (c, n, K) typed; out (c, m, n) of the accumulation type."""
    shape = out.shape
    depth = a.shape[-1]
    with np.errstate(all="ignore"):
        sums = _PassSums(decode(a), decode(w), *names, width, scale)
        partial = np.zeros(shape) if initial is None else initial.astype(np.float64)
        total, spare = np.zeros(shape), np.empty(shape)
        if acc == "f16":
            bound = _exact_bits(*names)
            # Sums that are multiples of 2^-24 need no clamp of the exponent: below 2^-14 they are on the grid.
            subnormals = bound is None or bound[0] + scale < -24 or sums.mode == "ordered"
            for begin in range(0, depth, width):
                sums(begin, total, spare)
                _accumulate_f16(total, partial, spare, subnormals)
            if depth:
                np.copysign(partial, total, out=partial)  # the grid rounding loses the sign of a zero
            out[...] = round_to(partial, "f16")
        else:
            narrow = np.empty(shape, np.float32)
            for begin in range(0, depth, width):
                sums(begin, total, spare)
                total += partial
                np.copyto(narrow, total, casting="same_kind")
                np.copyto(partial, narrow)
            out[...] = round_to(partial, "f32")


def _block_gemm_i8(a: Array, w: Array, initial: Array | None, out: Array) -> None:
    total = np.matmul(a.astype(np.float64), w.astype(np.float64).swapaxes(1, 2)).astype(np.int64)  # exact
    if initial is not None:
        total += initial
    out[...] = total.astype(np.int32)  # wraps


_BLOCK_ELEMENTS = 24 * 1024  # f64 results per block: three such buffers stay in a 1 MiB cache


def _gemm3(
    a: Array, w: Array, acc_dtype: str, width: int, scale: int, initial: Array | None, out: Array
) -> None:
    """a (B, m, K), w (B, n, K), initial and out (B, m, n): cut in blocks and run."""
    batch, m, n = out.shape
    depth = a.shape[-1]
    names = (dtypes.name_of(a.dtype), dtypes.name_of(w.dtype))
    if not out.size:
        return
    if n > 512:
        step_n = 256
    else:
        step_n = n
    step_m = min(m, max(1, _BLOCK_ELEMENTS // step_n))
    step_b = max(1, _BLOCK_ELEMENTS // (step_n * step_m)) if (step_m, step_n) == (m, n) else 1
    step_b = max(1, min(step_b, -(-batch // _workers())))

    def item(b: slice, i: slice, j: slice) -> Callable[[], None]:
        start = None if initial is None else initial[b, i, j]
        if acc_dtype == "i32":
            return lambda: _block_gemm_i8(a[b, i], w[b, j], start, out[b, i, j])
        return lambda: _block_gemm(a[b, i], w[b, j], names, acc_dtype, width, scale, start, out[b, i, j])

    items = [
        item(slice(b, b + step_b), slice(i, i + step_m), slice(j, j + step_n))
        for b in range(0, batch, step_b)
        for i in range(0, m, step_m)
        for j in range(0, n, step_n)
    ]
    _run(items, parallel=out.size * max(depth, 1) > 1 << 21)


def _check_gemm(a: Array, w: Array, acc_dtype: str, scale: int) -> None:
    names = (dtypes.name_of(a.dtype), dtypes.name_of(w.dtype))
    if acc_dtype not in ("f16", "f32", "i32"):
        raise ValueError(f"accumulation type '{acc_dtype}' is not one of f16, f32, i32")
    integer = [dtypes.is_integer(name) for name in names]
    if any(integer) or acc_dtype == "i32":
        if names != ("i8", "i8") or acc_dtype != "i32" or scale:
            raise ValueError(
                f"integer matmul is i8 by i8 with i32 result and scale 0, not {names} to {acc_dtype}"
            )


def gemm(
    a: Array, w: Array, acc_dtype: str, inputs_per_pass: int, scale: int = 0, initial: Array | None = None
) -> Array:
    """
    Matrix product in passes: a (T, b, m, K), w (T, b, n, K) -> (T, b, m, n) of `acc_dtype`.

    Passes ascend over K, `inputs_per_pass` at a time (K must be whole passes), and start from `initial` (of the
    accumulation type) or zero. Each adds 2^scale * (sum of its products) to the partial in f64, rounded once.
    i8 by i8 accumulates in i32 (wrapping). Leading axes may be any number, but must be equal.
    """
    _check_gemm(a, w, acc_dtype, scale)
    if a.shape[-1] != w.shape[-1] or a.shape[:-2] != w.shape[:-2]:
        raise ValueError(f"operands {a.shape} and {w.shape} do not match")
    if a.shape[-1] % inputs_per_pass:
        raise ValueError(f"{a.shape[-1]} inputs are not whole passes of {inputs_per_pass}")
    lead, m, n, depth = a.shape[:-2], a.shape[-2], w.shape[-2], a.shape[-1]
    out = np.empty((*lead, m, n), dtypes.numpy_dtype(acc_dtype))
    count = int(np.prod(lead, dtype=np.int64))
    start = None
    if initial is not None:
        start = np.broadcast_to(initial, out.shape).reshape(count, m, n)
    _gemm3(
        a.reshape(count, m, depth),
        w.reshape(count, n, depth),
        acc_dtype,
        inputs_per_pass,
        scale,
        start,
        out.reshape(count, m, n),
    )
    return out


def amp(partial: Array, a_pass: Array, w_pass: Array, scale: int = 0) -> Array:
    """
    One matrix pass: partial (..., m, n) + 2^scale * a_pass (..., m, P) . w_pass (..., n, P), rounded once.

    The defining function of a pass (an assumption about the hardware): products and their sum in f64, the
    partial added in f64, one rounding to the partial's type.
    """
    return gemm(a_pass, w_pass, dtypes.name_of(partial.dtype), max(1, a_pass.shape[-1]), scale, partial)


def gemm_logical(
    a: Array,
    w: Array,
    acc_dtype: str,
    inputs_per_pass: int,
    scale: int = 0,
    k_offset: int = 0,
    k_extent: int | None = None,
) -> Array:
    """
    The same product on logical shapes: a (..., M, K), w (..., N, K) -> (..., M, N); leading axes broadcast.

    Takes the inputs [k_offset, k_offset + k_extent) (to the end by default; one part of a split over K), pads
    them with zeros to whole passes and starts from zero.
    """
    end = a.shape[-1] if k_extent is None else min(a.shape[-1], k_offset + k_extent)
    a, w = a[..., k_offset:end], w[..., k_offset:end]
    pad = -a.shape[-1] % inputs_per_pass
    if pad:
        a = np.concatenate([a, np.zeros((*a.shape[:-1], pad), a.dtype)], axis=-1)
        w = np.concatenate([w, np.zeros((*w.shape[:-1], pad), w.dtype)], axis=-1)
    lead = np.broadcast_shapes(a.shape[:-2], w.shape[:-2])
    a = np.broadcast_to(a, (*lead, *a.shape[-2:]))
    w = np.broadcast_to(w, (*lead, *w.shape[-2:]))
    return gemm(a, w, acc_dtype, inputs_per_pass, scale)


# -------------------------------------------------------------------------------------------------- reductions


def tree_sum(x: Array) -> Array:
    """
    f64 sum over the last axis in a fixed order: the second half is added to the first until one is left.

    numpy's own sum picks its order by strides and shape; this one is elementwise, so it depends on the length alone.
    """
    return _tree(np.array(x, dtype=np.float64, order="C"), np.add, 0.0)


def _tree(work: Array, operation: np.ufunc, neutral: float) -> Array:
    count = work.shape[-1]
    if count == 0:
        return np.full(work.shape[:-1], neutral)
    with np.errstate(all="ignore"):
        while count > 1:
            half = (count + 1) // 2
            head = work[..., : count - half]
            operation(head, work[..., half:count], out=head)
            count = half
    return np.ascontiguousarray(work[..., 0])


def _max_rows(x: Array) -> Array:
    """Maximum over the last axis of f64; NaN propagates, +0 is above -0; -inf for an empty axis."""
    if x.shape[-1] == 0:
        return np.full(x.shape[:-1], -np.inf)
    with np.errstate(all="ignore"):
        out = x.max(axis=-1)
        zero = out == 0
        if zero.any():
            positive = ((x == 0) & ~np.signbit(x)).any(axis=-1)
            out = np.where(zero, np.where(positive, 0.0, -0.0), out)
    return out


def reduce_rows(kind: str, x: Array, dtype: str) -> Array:
    """
    x (..., r) typed -> (...) of `dtype`; kind sum, max, min or prod.

    Float sums and products are f64 trees rounded to f32 and then to the type; integers are exact (i32, wrapping).
    """
    source = dtypes.name_of(x.dtype)
    if dtypes.is_integer(source):
        wide = x.astype(np.int64)
        with np.errstate(all="ignore"):
            if kind == "sum":
                out = wide.sum(axis=-1)
            elif kind == "prod":
                out = wide.prod(axis=-1)
            elif kind == "max":
                out = wide.max(axis=-1, initial=np.iinfo(x.dtype).min if x.dtype != np.bool_ else 0)
            elif kind == "min":
                out = wide.min(axis=-1, initial=np.iinfo(x.dtype).max if x.dtype != np.bool_ else 1)
            else:
                raise ValueError(f"unknown reduction '{kind}'")
        if dtypes.is_integer(dtype):
            return out.astype(dtypes.numpy_dtype(dtype))
        return round_to(out, dtype)
    wide = decode(x)
    if kind == "max":
        return round_to(_max_rows(wide), dtype)
    if kind == "min":
        return round_to(-_max_rows(-wide), dtype)
    if kind == "sum":
        out = _tree(wide, np.add, 0.0)
    elif kind == "prod":
        out = _tree(wide, np.multiply, 1.0)
    else:
        raise ValueError(f"unknown reduction '{kind}'")
    return round_to(round_to(out, "f32"), dtype)


def reduce_partials(parts: Array | Sequence[Array], dtype: str, saturate: bool = False) -> Array:
    """
    parts (p, ...) or a sequence of arrays -> (...): f32 running sum in ascending order, rounded once to `dtype`.

    Integer partials are summed exactly (i32, wrapping).
    """
    first = parts[0]
    if dtypes.is_integer(dtypes.name_of(first.dtype)):
        total = first.astype(np.int64)
        for part in parts[1:]:
            total = total + part
        return total.astype(dtypes.numpy_dtype(dtype)) if dtypes.is_integer(dtype) else round_to(total, dtype)
    with np.errstate(all="ignore"):
        running = decode(first).astype(np.float32)
        for part in parts[1:]:
            running += decode(part).astype(np.float32)
    return round_to(running, dtype, saturate)


# ---------------------------------------------------------------------------------------------- row functions


def _f32(x: Array) -> Array:
    """f64 values of an f32 rounding: statistics are held in f32."""
    return round_to(x, "f32").astype(np.float64)


def layer_norm_rows(x: Array, gamma: Array, beta: Array, epsilon: float, dtype: str) -> Array:
    """
    x (..., c) typed, gamma and beta (..., c) broadcast -> (..., c) of `dtype`.

    mean = f32(sum / c); variance = f32(sum of (x - mean)^2 / c); 1/sqrt(variance + f32(epsilon)) in f32;
    the rest in f64, rounded once.
    """
    with np.errstate(all="ignore"):
        wide = decode(x)
        count = wide.shape[-1]
        mean = _f32(tree_sum(wide) / count)[..., None]
        centred = wide - mean
        variance = _f32(tree_sum(centred * centred) / count)
        inverse = _f32(1.0 / np.sqrt(variance + float(np.float32(epsilon))))[..., None]
        centred *= inverse
        return round_to(centred * decode(gamma) + decode(beta), dtype)


def rms_norm_rows(x: Array, gamma: Array, epsilon: float, dtype: str) -> Array:
    """x (..., c) typed, gamma (..., c) broadcast -> (..., c) of `dtype`; mean square and its inverse root in f32."""
    with np.errstate(all="ignore"):
        wide = decode(x)
        square = _f32(tree_sum(wide * wide) / wide.shape[-1])
        inverse = _f32(1.0 / np.sqrt(square + float(np.float32(epsilon))))[..., None]
        return round_to(wide * inverse * decode(gamma), dtype)


def _exponentials(x: Array, maximum: Array, scale: float) -> Array:
    """exp(scale * (x - maximum)) in f64; a row whose maximum is -inf (all masked) gives zeros, not NaN."""
    shift = np.where(maximum == -np.inf, 0.0, maximum)[..., None]
    return np.exp(np.ascontiguousarray((x - shift) * float(np.float32(scale))))


def softmax_exp(
    scores: Array, maximum: Array, scale: float, dtype: str, sum_dtype: str = "f32"
) -> tuple[Array, Array]:
    """
    scores (..., n), maximum (...) -> p = exp(scale * (s - max)) rounded to `dtype`, and the sum of the rounded p.

    The sum is taken in f64 and rounded once to `sum_dtype`. A row with maximum -inf gives p = 0 and sum = 0.
    """
    with np.errstate(all="ignore"):
        p = round_to(_exponentials(decode(scores), decode(maximum), scale), dtype)
        return p, round_to(tree_sum(decode(p)), sum_dtype)


def softmax_rows(x: Array, scale: float, dtype: str) -> Array:
    """
    x (..., c) -> softmax of scale * x over the last axis; the sum in f32, the quotient rounded once.

    A row that is -inf throughout gives NaN (0/0), as every framework does.
    """
    with np.errstate(all="ignore"):
        wide = decode(x)
        p = _exponentials(wide, _max_rows(wide), scale)
        total = _f32(tree_sum(p))[..., None]
        return round_to(p / total, dtype)


# -------------------------------------------------------------------------------------------------- pointwise

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


def _erf_parts(x: Array) -> tuple[Array, Array]:
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


def _gelu_tanh(x: Array) -> Array:
    # 0.5 * x * (1 + tanh u) = x / (1 + exp(-2u)), which does not cancel for negative x.
    u = np.sqrt(2.0 / np.pi) * (x + 0.044715 * (x * x * x))
    return np.where(x == -np.inf, -0.0, x / (1.0 + np.exp(-2.0 * u)))


def _gelu_erf(x: Array) -> Array:
    return np.where(x == -np.inf, -0.0, 0.5 * x * _erf_parts(x * -np.sqrt(0.5))[1])


def _maximum(x: Array, y: Array) -> Array:
    out = np.maximum(x, y)
    if (out == 0).any():  # which zero numpy returns depends on the code path; +0 is above -0
        out = np.where((x == 0) & (y == 0), x + y, out)
    return out


_UNARY: dict[str, Callable[[Array], Array]] = {
    "neg": np.negative,
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "tanh": np.tanh,
    "erf": lambda x: _erf_parts(x)[0],
    "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "relu": lambda x: np.where(x <= 0, 0.0, x),
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "gelu_tanh": _gelu_tanh,
    "gelu_erf": _gelu_erf,
}
_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": _maximum,
    "min": lambda x, y: -_maximum(-x, -y),
}


def _integer_divide(x: Array, y: Array) -> Array:
    quotient = np.abs(x) // np.where(y == 0, 1, np.abs(y))
    return np.where(y == 0, 0, np.where((x < 0) != (y < 0), -quotient, quotient))


_INTEGER: dict[str, Callable[..., Array]] = {
    "neg": np.negative,
    "abs": np.abs,
    "relu": lambda x: np.maximum(x, 0),
    "square": lambda x: x * x,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _integer_divide,
    "max": np.maximum,
    "min": np.minimum,
}
UNARY: tuple[str, ...] = tuple(_UNARY)
BINARY: tuple[str, ...] = tuple(_BINARY)


def pointwise(function: str, *operands: Array, dtype: str, saturate: bool = False) -> Array:
    """
    One elementwise operation on typed arrays that broadcast -> `dtype`, rounded once from f64.

    For add, sub, mul, div and sqrt on inputs up to f32 that equals the correctly rounded operation on them.
    Integer operands stay integers (wrapping; div truncates, by zero gives 0); mixed ones become floats.
    Raises ValueError for an unknown function or a transcendental of integers.
    """
    expected = 1 if function in _UNARY else 2 if function in _BINARY else 0
    if expected != len(operands):
        raise ValueError(f"no pointwise function '{function}' of {len(operands)} operands")
    shape = np.broadcast_shapes(*(x.shape for x in operands))
    integer = all(dtypes.is_integer(dtypes.name_of(x.dtype)) for x in operands)
    with np.errstate(all="ignore"):
        if integer:
            if function not in _INTEGER:
                raise ValueError(f"pointwise function '{function}' is not defined on integers")
            out = np.broadcast_to(_INTEGER[function](*(x.astype(np.int64) for x in operands)), shape)
            if dtypes.is_integer(dtype):
                return np.ascontiguousarray(out.astype(dtypes.numpy_dtype(dtype)))
            return round_to(out, dtype, saturate)
        # decode gives contiguous arrays: numpy's vector and strided loops may differ in the last place.
        wide = [decode(x) for x in operands]
        out = _UNARY[function](wide[0]) if expected == 1 else _BINARY[function](wide[0], wide[1])
        return round_to(out, dtype, saturate)
