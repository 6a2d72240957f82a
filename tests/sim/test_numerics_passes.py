# SPDX-License-Identifier: Apache-2.0
"""Matrix passes against exact rational arithmetic, and a result's independence of how it was computed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tilewright.machine import dtypes
from tilewright.machine.kernels.matrix_unit import pass_inputs
from tilewright.machine.numerics import operations as numerics
from tilewright.machine.numerics import passes, rounding, workers

pytestmark = pytest.mark.filterwarnings("error")

CASES = (
    ("f8E4M3FNUZ", "f8E4M3FNUZ", "f16"),
    ("f8E4M3FN", "f8E4M3FN", "f16"),
    ("f8E5M2FNUZ", "f8E5M2FNUZ", "f16"),
    ("f8E4M3FNUZ", "f8E5M2FNUZ", "f16"),
    ("f8E5M2", "f8E4M3FN", "f16"),
    ("f16", "f16", "f16"),
    ("f16", "f16", "f32"),
    ("bf16", "bf16", "f32"),
    ("f32", "f32", "f32"),
)


def operand(rng: np.random.Generator, shape: tuple[int, ...], name: str, spread: float) -> np.ndarray:
    """Random values of magnitudes 2^-spread .. 2^spread."""
    x = rng.normal(size=shape) * 2.0 ** rng.uniform(-spread, spread, shape)
    return numerics.cast_array(x, name)


def by_definition(a: np.ndarray, w: np.ndarray, acc: str, width: int, scale: int) -> np.ndarray:
    """a (m, K), w (n, K): the exact sum of each pass rounded to f64, added in f64, rounded once."""
    kind = dtypes.numpy_dtype(acc)
    out = np.zeros((a.shape[0], w.shape[0]), kind)
    left = [[Fraction(float(v)) for v in row] for row in a.astype(np.float64)]
    right = [[Fraction(float(v)) for v in row] for row in w.astype(np.float64)]
    for i, row in enumerate(left):
        for j, column in enumerate(right):
            partial = 0.0
            for k in range(0, len(row), width):
                total = sum(
                    (x * y for x, y in zip(row[k : k + width], column[k : k + width], strict=True)),
                    Fraction(0),
                )
                with np.errstate(over="ignore"):
                    partial = float(kind.type(partial + float(total * Fraction(2) ** scale)))
            out[i, j] = partial
    return out


@pytest.mark.parametrize(("a_name", "w_name", "acc"), CASES)
@pytest.mark.parametrize("scale", (0, -9, 3))
def test_against_rational_arithmetic(a_name: str, w_name: str, acc: str, scale: int) -> None:
    rng = np.random.default_rng(3)
    width = pass_inputs(a_name)
    for spread in (1, 7):
        a, w = operand(rng, (5, 3 * width), a_name, spread), operand(rng, (4, 3 * width), w_name, spread)
        got = numerics.gemm_logical(a, w, acc, width, scale)
        np.testing.assert_array_equal(got, by_definition(a, w, acc, width, scale))


def pass_sums(a: np.ndarray, w: np.ndarray) -> passes._PassSums:
    """The sums of one pass: a (1, m, P), w (1, n, P)."""
    magnitudes = rounding.largest(a), rounding.largest(w)
    return passes._PassSums(a, w, a.shape[-1], 0, magnitudes, passes._Buffers())


@pytest.mark.parametrize("name", ("f8E5M2FNUZ", "f16"))
def test_every_way_of_summing_gives_the_exact_sum_rounded_once(name: str) -> None:
    rng = np.random.default_rng(4)
    width = pass_inputs(name)
    seen = set()
    for top in (0.125, 2.0, 64.0, 256.0, 4096.0, 40000.0):
        a = numerics.cast_array(
            rng.uniform(-top, top, (1, 9, width)) * 2.0 ** rng.integers(-20, 1, (1, 9, width)), name
        )
        w = numerics.cast_array(
            rng.uniform(-top, top, (1, 7, width)) * 2.0 ** rng.integers(-20, 1, (1, 7, width)), name
        )
        a64, w64 = numerics.decode(a), numerics.decode(w)
        sums = pass_sums(a, w)
        seen.add(sums.mode)
        out, spare = np.empty((1, 9, 7)), np.empty((1, 9, 7))
        sums(0, out, spare)
        exact = [
            [
                float(sum((Fraction(x) * Fraction(y) for x, y in zip(r, c, strict=True)), Fraction(0)))
                for c in w64[0]
            ]
            for r in a64[0]
        ]
        if sums.mode == "four":
            np.testing.assert_allclose(out[0], exact, rtol=2.0**-51)
        else:
            np.testing.assert_array_equal(out[0], exact)
        if sums.mode == "two":  # what a louder neighbour in the block would force gives the same bits
            loud = numerics.cast_array(np.full((1, 1, width), 57344.0), name)
            sums = pass_sums(np.append(a, loud, axis=1), w)
            if sums.mode == "four":
                wider, spare = np.empty((1, 10, 7)), np.empty((1, 10, 7))
                sums(0, wider, spare)
                np.testing.assert_array_equal(wider[:, :9], out)
    assert seen >= {"blas", "two", "four"}


@pytest.mark.parametrize(("a_name", "w_name", "acc"), (*CASES, ("i8", "i8", "i32")))
def test_a_result_depends_on_its_own_row_and_column_alone(
    a_name: str, w_name: str, acc: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    width = pass_inputs(a_name)
    a, w = (operand(rng, (6, 1, rows, 2 * width), n, 6) for rows, n in ((33, a_name), (48, w_name)))
    whole = numerics.gemm(a, w, acc, width)
    one = numerics.gemm(a[2:3, :, 7:8], w[2:3, :, 40:41], acc, width)
    np.testing.assert_array_equal(whole[2:3, :, 7:8, 40:41], one)
    if a_name != "i8":  # with infinities, NaN and huge values elsewhere in the block
        loud = a.copy()
        loud[:, :, 0] = dtypes.numpy_dtype(a_name).type(np.nan)
        loud[:, :, 1] = dtypes.numpy_dtype(a_name).type(dtypes.float_format(a_name).max_value)
        np.testing.assert_array_equal(numerics.gemm(loud, w, acc, width)[:, :, 2:], whole[:, :, 2:])
    monkeypatch.setattr(passes, "_BLOCK_RESULTS", 100)
    np.testing.assert_array_equal(numerics.gemm(a, w, acc, width), whole)
    monkeypatch.setattr(workers, "count", lambda: 1)
    np.testing.assert_array_equal(numerics.gemm(a, w, acc, width), whole)


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    a, w = operand(rng, (1, 300, 320), "f8E4M3FNUZ", 3), operand(rng, (1, 300, 320), "f8E4M3FNUZ", 3)
    whole = numerics.gemm_logical(a, w, "f16", 32, -4)
    monkeypatch.setattr(workers, "count", lambda: 3)
    np.testing.assert_array_equal(numerics.gemm_logical(a, w, "f16", 32, -4), whole)


def test_one_pass_is_amp_and_a_product_is_its_passes_in_order() -> None:
    rng = np.random.default_rng(7)
    a, w = operand(rng, (2, 3, 96), "f8E4M3FNUZ", 4), operand(rng, (2, 5, 96), "f8E4M3FNUZ", 4)
    partial = np.zeros((2, 3, 5), np.float16)
    for k in (0, 32, 64):
        partial = numerics.amp(partial, a[..., k : k + 32], w[..., k : k + 32], -3)
    np.testing.assert_array_equal(numerics.gemm(a, w, "f16", 32, -3), partial)


def test_f16_partials_overflow_stick_at_infinity_and_turn_to_nan() -> None:
    a = numerics.cast_array(np.full((1, 3, 96), 240.0), "f8E4M3FNUZ")
    w = numerics.cast_array(np.repeat([[1.0, 1.0, -1.0]], 32, axis=1).reshape(1, 1, 96), "f8E4M3FNUZ")
    w = numerics.cast_array(w.astype(np.float64) * 240, "f8E4M3FNUZ")
    w[:, :, :64] = numerics.cast_array(np.array(240.0), "f8E4M3FNUZ")
    w[:, :, 64:] = numerics.cast_array(np.array(-240.0), "f8E4M3FNUZ")
    out = numerics.gemm(a, w, "f16", 32)
    assert np.isposinf(out).all()  # infinity minus a finite sum
    start = np.full((1, 3, 1), -np.inf, np.float16)
    assert np.isneginf(numerics.gemm(a, w, "f16", 32, 0, start)).all()
    b = np.array([[np.inf, 0.0, -np.inf]], np.float16)  # inf * 0, and inf - inf
    ones = np.zeros((1, 48), np.float16)
    ones[0, 0] = 1
    x = np.zeros((3, 48), np.float16)
    x[:, 0] = b[0]
    np.testing.assert_array_equal(numerics.gemm_logical(x, ones, "f16", 16)[:, 0], [np.inf, 0, -np.inf])
    x[:, 20] = np.inf
    assert np.isnan(numerics.gemm_logical(x, ones, "f16", 16)).all()


def test_subnormal_partials_and_the_sign_of_what_vanishes() -> None:
    tiny = np.zeros((1, 16), np.float16)
    tiny[0, 0] = 2.0**-12
    for top, expected in (
        (2.0**-12, 2.0**-24),
        (2.0**-13, 0.0),
        (1.5 * 2.0**-13, 2.0**-24),
        (-(2.0**-14), -0.0),
    ):
        w = np.zeros((1, 16), np.float16)
        w[0, 0] = top
        got = numerics.gemm_logical(tiny, w, "f16", 16)
        assert float(got[0, 0]) == expected
        assert np.signbit(got[0, 0]) == np.signbit(expected)


def test_f16_accumulation_of_ones_does_not_stick() -> None:
    ones = np.ones((1, 4096), np.float16)
    assert float(numerics.gemm_logical(ones, ones, "f16", 16)[0, 0]) == 4096.0  # 2048 + 16 is exact


def test_i8_is_exact_and_wraps() -> None:
    a, w = np.full((1, 128), -128, np.int8), np.full((1, 128), 127, np.int8)
    assert numerics.gemm_logical(a, w, "i32", 32)[0, 0] == -128 * 127 * 128
    start = np.full((1, 1), -(2**31), np.int32)
    assert numerics.gemm(a, w, "i32", 32, 0, start)[0, 0] == 2**31 - 128 * 127 * 128


def test_a_part_of_k_is_padded_to_whole_passes() -> None:
    rng = np.random.default_rng(8)
    a, w = operand(rng, (3, 4, 100), "f16", 2), operand(rng, (1, 6, 100), "f16", 2)
    got = numerics.gemm_logical(a, w, "f32", 16, 0, 40, 25)
    cut = (np.zeros((3, 4, 32), np.float16), np.zeros((3, 6, 32), np.float16))
    cut[0][..., :25], cut[1][..., :25] = a[..., 40:65], w[..., 40:65]
    np.testing.assert_array_equal(got, numerics.gemm(*cut, "f32", 16))
    np.testing.assert_array_equal(
        numerics.gemm_logical(a, w, "f32", 16, 0, 90, 25),
        numerics.gemm_logical(a[..., 90:], w[..., 90:], "f32", 16),
    )


@pytest.mark.parametrize("shape", ((0, 4, 5, 32), (2, 0, 5, 32), (2, 4, 0, 32), (2, 4, 5, 0)))
def test_empty_products(shape: tuple[int, int, int, int]) -> None:
    b, m, n, k = shape
    out = numerics.gemm(np.zeros((b, m, k), np.float16), np.zeros((b, n, k), np.float16), "f16", 16)
    assert out.shape == (b, m, n)
    assert not out.any()


def test_refusals() -> None:
    half = np.zeros((1, 2, 24), np.float16)
    with pytest.raises(ValueError, match="whole passes"):
        numerics.gemm(half, half, "f16", 16)
    with pytest.raises(ValueError, match="do not match"):
        numerics.gemm(half, half[..., :8], "f16", 8)
    with pytest.raises(ValueError, match="accumulation type"):
        numerics.gemm(half, half, "bf16", 8)
    with pytest.raises(ValueError, match="integer"):
        numerics.gemm(half.astype(np.int8), half.astype(np.int8), "f32", 8)


def accumulate(points: np.ndarray, start: np.ndarray, *, subnormals: bool, bounded: bool = False) -> None:
    """One pass whose sums are `points`, onto `start` in place."""
    spare = np.empty_like(points)
    passes._F16Partials(points.copy(), start, spare, subnormals=subnormals, bounded=bounded).accumulate()


def test_the_accumulating_rounding_at_every_f16_value_and_midpoint() -> None:
    grid = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    points = np.concatenate([grid, (grid[:-1] + grid[1:]) / 2, [65519.99, 65520.0, 1e9]])
    points = np.concatenate([points, np.nextafter(points, np.inf), np.nextafter(points, -np.inf)])
    points = np.concatenate([points, -points])
    with np.errstate(over="ignore"):
        expected = points.astype(np.float16).astype(np.float64)  # numpy's own conversion, checked elsewhere
    start = np.zeros_like(points)
    accumulate(points, start, subnormals=True)
    np.testing.assert_array_equal(start, expected)
    on_grid = points[points * 2.0**24 == np.rint(points * 2.0**24)]  # what needs no clamp of the exponent
    start = np.zeros_like(on_grid)
    accumulate(on_grid, start, subnormals=False)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(start, on_grid.astype(np.float16).astype(np.float64))
    inside = points[np.abs(points) < 65504.0]
    start = np.zeros_like(inside)
    accumulate(inside, start, subnormals=True, bounded=True)
    np.testing.assert_array_equal(start, inside.astype(np.float16).astype(np.float64))


@pytest.mark.parametrize("scale", (0, -4, -10))
def test_partials_that_may_leave_f16_and_those_that_cannot(scale: int) -> None:
    """Sums of 20 passes, +-36,864,000 x 2^scale: beyond f16 but for the last scale."""
    a = numerics.cast_array(np.full((1, 1, 640), 240.0), "f8E5M2FNUZ")
    w = numerics.cast_array(
        np.array([240.0, -240.0, 1.0])[None, :, None] * np.ones((1, 3, 640)), "f8E5M2FNUZ"
    )
    got = numerics.gemm(a, w, "f16", 32, scale)[0, 0]
    assert np.isinf(got[:2]).all() == (scale > -10)
    assert got[0] == -got[1]
    assert got[0] > 0
    expected = by_definition(a[0], w[0, 2:], "f16", 32, scale)[0]
    np.testing.assert_array_equal(got[2:], expected)


def test_magnitudes_of_typed_values() -> None:
    for name in (*dtypes.FP8, "f16", "bf16", "f32"):
        kind = dtypes.numpy_dtype(name)
        fmt = dtypes.float_format(name)
        x = np.array([0.5, -2.0, 1.0, 0.0]).astype(kind)
        assert rounding.largest(x) == 2.0
        assert rounding.largest(-x) == 2.0
        assert rounding.largest(x[2:]) == 1.0
        assert rounding.largest(x[:0]) == 0.0
        assert rounding.largest(np.array([1.0, -fmt.max_value]).astype(kind)) == fmt.max_value
        for nan in (np.nan, -np.nan):
            assert np.isnan(rounding.largest(np.array([3.0, nan, -1.0]).astype(kind)))
        if fmt.has_inf:
            assert rounding.largest(np.array([1.0, -np.inf]).astype(kind)) == np.inf
        codes = np.arange(256 if kind.itemsize == 1 else 65536, dtype=f"u{min(kind.itemsize, 2)}")
        if kind.itemsize <= 2:
            every = codes.view(kind)
            values = np.abs(numerics.decode(every))
            for start in range(0, len(every), 97):
                part = slice(start, start + 5)
                np.testing.assert_equal(rounding.largest(every[part]), values[part].max())
