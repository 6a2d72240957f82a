# SPDX-License-Identifier: Apache-2.0
"""
Matrix passes: the product as the matrix unit forms it, pass by pass, exactly defined and fast.

The model and its oracle share these functions. A result element depends on its own row, column, partial and
pass width alone; see `_PassSums` for why neither blocks, threads, BLAS nor CPU can change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

import numpy as np

from tilewright.machine import dtypes
from tilewright.machine.numerics import workers
from tilewright.machine.numerics.rounding import EXPONENT_MASK, Array, decoder, largest, round_to


class _Buffers:
    """What one worker computes in, kept from block to block: fresh memory costs more than arithmetic."""

    def __init__(self) -> None:
        self._kept: dict[str, Array] = {}

    def take(self, name: str, shape: tuple[int, ...]) -> Array:
        """An f64 array with whatever it held before; the one of that name is given away anew."""
        size = prod(shape)
        kept = self._kept.get(name)
        if kept is None or kept.size < size:
            kept = self._kept[name] = np.empty(size)
        return kept[:size].reshape(shape)


_Item = Callable[[_Buffers], None]


def _run(items: Iterator[_Item]) -> None:
    buffers = _Buffers()
    for item in items:
        item(buffers)


def _quantum_log2(a_name: str, w_name: str) -> int | None:
    """log2 of the number that every product is a multiple of; None for formats of too wide a range."""
    if {a_name, w_name} & {"f32", "bf16"}:
        return None
    return dtypes.float_format(a_name).quantum_log2 + dtypes.float_format(w_name).quantum_log2


def _cut(x: Array, log2: int) -> tuple[Array, Array]:
    """x = high + low exactly: high is x rounded to a multiple of 2^log2. Needs |x| < 2^(log2 + 51)."""
    magic = 1.5 * 2.0 ** (52 + log2)
    high = (x + magic) - magic
    return high, x - high


class _PassSums:
    """
    The sums of products of one block, pass by pass.

    f64 addition of multiples of 2^q is exact, in any order, while all magnitudes together are within
    2^(q + 53). On that rest four ways to form a sum, of which the data choose the cheapest that is safe:

    - "blas": the whole sum is exact. Always so for E4M3 by E4M3: q = -20 and 32 * 240^2 < 2^21 (the OCP twin
      is a factor of 4 in both). f16 and E5M2 operands qualify by the largest magnitudes in the block.
    - "two": a is cut at 2^-10 into two parts with exact sums; adding those gives the exact sum rounded once.
    - "four": both operands are cut at 2^-4; four exact sums are added elementwise in one fixed order. Where
      "two" or "blas" would be safe, the first of these additions is exact and the result is again the exact
      sum rounded once, so it never matters which way the rest of a block forced.
    - "ordered" (f32 and bf16): elementwise multiply and add, ascending k.

    Operands are decoded a pass at a time: what a pass works on stays in the cache.
    """

    def __init__(
        self, a: Array, w: Array, width: int, scale: int, largest: tuple[float, float], buffers: _Buffers
    ) -> None:
        # a (c, m, K), w (c, n, K) typed; `largest`: magnitudes of a and of w
        self.width, self.factor = width, 2.0**scale
        self.mode = self._choose((dtypes.name_of(a.dtype), dtypes.name_of(w.dtype)), largest)
        self.finite = bool(np.isfinite(largest).all())
        self.a = _Decoded(a, width, 1.0, "a", buffers)
        # where sums are exact so are scaled operands
        self.w = _Decoded(w, width, self.factor if self.mode == "blas" else 1.0, "w", buffers)

    def _choose(self, names: tuple[str, str], largest: tuple[float, float]) -> str:
        quantum = _quantum_log2(*names)
        if quantum is None:
            return "ordered"
        width = self.width
        exact = 2.0 ** (53 + quantum)
        a_max, w_max = (dtypes.float_format(name).max_value for name in names)
        if width * a_max * w_max <= exact and width <= 32:
            return "blas"  # NaN needs no care: it spreads whatever the order
        a_max, w_max = largest
        # NaN and infinity fail every comparison and end in "four", which sets them apart.
        if width * a_max * w_max <= exact:
            return "blas"
        w_quantum = dtypes.float_format(names[1]).quantum_log2
        if width * a_max * w_max <= 2.0 ** min(24, 53 - 10 + w_quantum) and width * 2.0**-11 * w_max <= exact:
            return "two"
        if width > 64:
            raise ValueError(f"a pass of {width} inputs is too wide for exact sums")
        return "four"

    def __call__(self, number: int, out: Array, spare: Array) -> None:
        """out (c, m, n) = 2^scale * sum over the inputs of pass `number`."""
        a, w = self.a(number), self.w(number)
        if self.mode == "blas":
            np.matmul(a, w.swapaxes(1, 2), out=out)
            return
        if self.mode == "ordered":
            w = np.ascontiguousarray(w.swapaxes(1, 2))  # (c, P, n)
            out.fill(0.0)
            for k in range(self.width):
                np.multiply(a[:, :, k, None], w[:, None, k, :], out=spare)
                out += spare
        else:
            self._sum_of_cuts(a, w.swapaxes(1, 2), out, spare)
        if self.factor != 1.0:
            out *= self.factor

    def _sum_of_cuts(self, a: Array, w: Array, out: Array, spare: Array) -> None:
        """As "two" or "four"; what is not finite is multiplied apart."""
        given = a, w
        if not self.finite:
            a, w = (np.where(np.isfinite(x), x, 0.0) for x in given)
        high, low = _cut(a, -10 if self.mode == "two" else -4)
        if self.mode == "two":
            np.matmul(high, w, out=out)
            out += np.matmul(low, w, out=spare)
        else:
            w_high, w_low = _cut(w, -4)
            np.matmul(high, w_high, out=out)
            middle = np.matmul(high, w_low)
            middle += np.matmul(low, w_high, out=spare)
            out += middle
            out += np.matmul(low, w_low, out=spare)
        if not self.finite:
            plain = np.matmul(*given, out=spare)
            np.copyto(out, plain, where=~np.isfinite(plain))


class _Decoded:
    """
    The passes of typed x (c, rows, K) times `factor`, f64 (c, rows, width), each in the place of the one
    before.
    """

    def __init__(self, x: Array, width: int, factor: float, name: str, buffers: _Buffers) -> None:
        self.decode = decoder(dtypes.name_of(x.dtype), factor)
        self.x, self.width = x, width
        self.out = buffers.take(name, (*x.shape[:2], width))

    def __call__(self, number: int) -> Array:
        self.decode(self.x[:, :, number * self.width : (number + 1) * self.width], self.out)
        return self.out


_F16_TINY = np.float64(2.0**-14).view(np.int64)
_F16_MAGIC = np.float64(1.5 * 2.0**42)


class _F16Partials:
    """
    Partials in f16, kept in f64: `partial` = f16 rounding of (`total` + `partial`), `total` left with the f64
    sum. Arrays of one shape, `magic` to work in.

    The rounding of `rounding.round_to_grid`, spelled out on buffers because it is the hot loop of the model.
    `subnormals`: sums may lie between the multiples of 2^-24. `bounded`: no partial is beyond f16, or NaN.
    """

    def __init__(
        self, total: Array, partial: Array, magic: Array, *, subnormals: bool, bounded: bool
    ) -> None:
        self.total, self.partial, self.magic = total, partial, magic
        self.total_bits, self.magic_bits = total.view(np.int64), magic.view(np.int64)
        self.subnormals, self.bounded = subnormals, bounded

    def accumulate(self) -> None:
        total, partial, magic = self.total, self.partial, self.magic
        np.add(total, partial, out=total)
        np.bitwise_and(self.total_bits, EXPONENT_MASK, out=self.magic_bits)
        if self.subnormals:
            np.maximum(self.magic_bits, _F16_TINY, out=self.magic_bits)
        np.multiply(magic, _F16_MAGIC, out=magic)
        np.add(total, magic, out=partial)
        np.subtract(partial, magic, out=partial)
        if self.bounded or (partial.max() < 65536.0 and partial.min() > -65536.0):
            return
        bad = ~(np.abs(partial) < 65536.0)  # overflow, infinity or NaN: rare
        value = total[bad]
        partial[bad] = np.where(np.isnan(value), np.nan, np.copysign(np.inf, value))


_MOST_BOUNDED_PASSES = 1024


def _stays_in_f16(start: float, largest: tuple[float, float], passes: int, width: int, scale: int) -> bool:
    """
    Whether no partial can leave f16 that starts within `start`, for operands within `largest`.

    A rounding adds at most a part of 2^-11 (below 2^-14 it adds less than 2^-24): over 1024 passes less than
    a factor of 2, so twice the sum of all magnitudes is a bound. NaN and infinity fail the comparison.
    """
    reach = start + passes * width * largest[0] * largest[1] * 2.0**scale
    return passes <= _MOST_BOUNDED_PASSES and 2.0 * reach + 1.0 < 65504.0


def _block_gemm(
    a: Array,
    w: Array,
    acc: str,
    width: int,
    scale: int,
    initial: Array | None,
    out: Array,
    buffers: _Buffers,
) -> None:
    """One block: a (c, m, K), w (c, n, K) typed; out (c, m, n) of the accumulation type."""
    shape = out.shape
    names = (dtypes.name_of(a.dtype), dtypes.name_of(w.dtype))
    passes = range(a.shape[-1] // width)
    magnitudes = largest(a), largest(w)
    with np.errstate(all="ignore"):
        sums = _PassSums(a, w, width, scale, magnitudes, buffers)
        partial = buffers.take("partial", shape)
        partial[...] = 0.0 if initial is None else initial
        total, spare = buffers.take("total", shape), buffers.take("spare", shape)
        if acc == "f16":
            # Multiples of 2^-24 need no clamp of the exponent: below 2^-14 they are on f16's grid already.
            quantum = _quantum_log2(*names)
            subnormals = quantum is None or quantum + scale < -24
            start = 0.0 if initial is None else largest(initial)
            bounded = _stays_in_f16(start, magnitudes, len(passes), width, scale)
            partials = _F16Partials(total, partial, spare, subnormals=subnormals, bounded=bounded)
            for number in passes:
                sums(number, total, spare)
                partials.accumulate()
            if passes:
                np.copysign(partial, total, out=partial)  # the grid rounding loses the sign of a zero
            if bounded:  # on f16's grid, and no NaN
                np.copyto(out, partial, casting="same_kind")
                return
        else:
            narrow = np.empty(shape, np.float32)
            for number in passes:
                sums(number, total, spare)
                total += partial
                np.copyto(narrow, total, casting="same_kind")
                np.copyto(partial, narrow)
        out[...] = round_to(partial, acc)


def _block_gemm_i8(
    a: Array, w: Array, width: int, initial: Array | None, out: Array, buffers: _Buffers
) -> None:
    total, spare = buffers.take("total", out.shape), buffers.take("spare", out.shape)
    total[...] = 0.0 if initial is None else initial
    a_pass, w_pass = _Decoded(a, width, 1.0, "a", buffers), _Decoded(w, width, 1.0, "w", buffers)
    for number in range(a.shape[-1] // width):
        total += np.matmul(a_pass(number), w_pass(number).swapaxes(1, 2), out=spare)  # exact up to 2^53
    out[...] = total.astype(np.int64).astype(np.int32)  # wraps


# f64 results per block: three buffers of a block stay in a cache of 1 MiB, and a call of numpy on a block
# takes much longer than to make it.
_BLOCK_RESULTS = 32 * 1024
# OpenBLAS starts its own threads for larger products than this; on top of ours they spin against each other.
_BLAS_PRODUCTS = 1 << 18


def _even(extent: int, most: int) -> int:
    """Block size of the fewest even blocks of at most `most`."""
    return -(-extent // -(-extent // max(1, most)))


def _gemm3(
    a: Array, w: Array, acc_dtype: str, width: int, scale: int, initial: Array | None, out: Array
) -> None:
    """a (B, m, K), w (B, n, K), initial and out (B, m, n): cut in blocks and run."""
    batch, m, n = out.shape
    depth = a.shape[-1]
    if not out.size:
        return
    results = min(_BLOCK_RESULTS, _BLAS_PRODUCTS // width)
    step_n = n if n <= 256 else _even(n, 128)
    step_m = _even(m, results // step_n)
    step_b = _even(batch, min(_BLOCK_RESULTS // (step_n * step_m), -(-batch // workers.count())))

    def item(b: slice, i: slice, j: slice) -> _Item:
        start = None if initial is None else initial[b, i, j]
        if acc_dtype == "i32":
            return lambda buffers: _block_gemm_i8(a[b, i], w[b, j], width, start, out[b, i, j], buffers)
        return lambda buffers: _block_gemm(
            a[b, i], w[b, j], acc_dtype, width, scale, start, out[b, i, j], buffers
        )

    items = [
        item(slice(b, b + step_b), slice(i, i + step_m), slice(j, j + step_n))
        for b in range(0, batch, step_b)
        for i in range(0, m, step_m)
        for j in range(0, n, step_n)
    ]
    workers.share(items, _run, workers.count() if out.size * max(depth, 1) > 1 << 21 else 1)


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

    Passes ascend over K, `inputs_per_pass` at a time (K must be whole passes), and start from `initial` (of
    the accumulation type) or zero. Each adds 2^scale * (sum of its products) to the partial in f64 and rounds
    once to the accumulation type.
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
