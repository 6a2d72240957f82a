# SPDX-License-Identifier: Apache-2.0
"""Decoding, rounding and casts against published vectors and an enumeration of each format's values."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tilewright.machine import dtypes
from tilewright.machine.numerics import operations as numerics
from tilewright.machine.numerics.rounding import fp8_values, round_to_grid

pytestmark = pytest.mark.filterwarnings("error")
VECTORS = json.loads((Path(__file__).parents[1] / "data" / "fp8_vectors.json").read_text())
TWIN = {"f8E4M3FN": "f8E4M3FNUZ", "f8E5M2": "f8E5M2FNUZ"}


def codes(x: np.ndarray) -> np.ndarray:
    return x.view(np.dtype(f"u{x.itemsize}"))


def nearest(x: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Index of the nearest of the ascending non-negative `grid` (ties to even); len(grid) is overflow."""
    step = grid[-1] - grid[-2]
    middle = (grid + np.append(grid[1:], grid[-1] + step)) / 2  # exact: grids have at most 12 bits
    index = np.searchsorted(middle, x, "left")
    tie = (index < len(grid)) & (x == middle[np.minimum(index, len(grid) - 1)])
    return np.where(tie & (index % 2 == 1), index + 1, index)


def hard_values(grid: np.ndarray) -> np.ndarray:
    """Every value, every midpoint, and their f64 neighbours, in both signs."""
    points = np.concatenate([grid, (grid[:-1] + grid[1:]) / 2, [grid[-1] * 1.5 - grid[-2] / 2, grid[1] / 2]])
    near = np.concatenate([points, np.nextafter(points, np.inf), np.nextafter(points, -np.inf)])
    return np.concatenate([near, -near])


@pytest.mark.parametrize("name", VECTORS)
def test_every_code_of_the_ocp_formats_decodes_as_published(name: str) -> None:
    expected = np.array(VECTORS[name]["decode_f32_bits"], np.uint32).view(np.float32)
    got = numerics.decode(np.arange(256, dtype=np.uint8).view(dtypes.numpy_dtype(name)))
    np.testing.assert_array_equal(got, expected.astype(np.float64))
    finite = ~np.isnan(got)
    np.testing.assert_array_equal(np.signbit(got)[finite], np.signbit(expected)[finite])
    assert dtypes.float_format(name).max_value == VECTORS[name]["max"]


@pytest.mark.parametrize("name", dtypes.FP8)
def test_every_code_decodes_as_in_ml_dtypes(name: str) -> None:
    typed = np.arange(256, dtype=np.uint8).view(dtypes.numpy_dtype(name))
    with np.errstate(invalid="ignore"):
        expected = typed.astype(np.float64)
    np.testing.assert_array_equal(numerics.decode(typed), expected)
    np.testing.assert_array_equal(numerics.decode(typed, -5), typed.astype(np.float64) / 32)


@pytest.mark.parametrize("saturate", (False, True))
@pytest.mark.parametrize("name", VECTORS)
def test_the_published_encodes_with_and_without_saturation(name: str, saturate: bool) -> None:
    table = np.array(VECTORS[name]["encode"], np.int64)
    x = table[:, 0].astype(np.uint32).view(np.float32)
    got = codes(numerics.cast_array(x, name, 0, saturate))
    np.testing.assert_array_equal(got, table[:, 1 + saturate])


@pytest.mark.parametrize("name", VECTORS)
def test_the_machine_formats_are_half_the_ocp_value_of_the_same_code(name: str) -> None:
    """Encoding x / 2, or x with scale 1, gives the OCP code of x where both have it."""
    twin = TWIN[name]
    ocp, fnuz = fp8_values(name), fp8_values(twin)
    same = np.isfinite(ocp) & (np.arange(256) != 0x80)
    np.testing.assert_array_equal(ocp[same], 2 * fnuz[same])
    table = np.array(VECTORS[name]["encode"], np.int64)
    x = table[:, 0].astype(np.uint32).view(np.float32)
    inside = np.isfinite(x) & (np.abs(x) <= VECTORS[name]["max"])
    expected = np.where(table[inside, 1] == 0x80, 0, table[inside, 1])  # negatives that vanish: 0x00
    np.testing.assert_array_equal(codes(numerics.cast_array(x[inside] / 2, twin)), expected)
    np.testing.assert_array_equal(codes(numerics.cast_array(x[inside], twin, 1)), expected)


@pytest.mark.parametrize("name", dtypes.FP8)
def test_fp8_rounding_at_every_value_and_midpoint(name: str) -> None:
    fmt = dtypes.float_format(name)
    grid = fp8_values(name)[:128]
    grid = grid[np.isfinite(grid)]
    x = hard_values(grid)
    index = nearest(np.abs(x), grid)
    nan = 0x7F if name == "f8E4M3FN" else 0x80
    for saturate in (False, True):
        over = len(grid) - 1 if saturate else (0x7C if fmt.has_inf else nan)
        code = np.where(index == len(grid), over, index)
        negative = np.signbit(x) & (fmt.negative_zero | ((code != 0) & (code != 0x80)))
        got = codes(numerics.cast_array(x, name, 0, saturate))
        np.testing.assert_array_equal(got, np.where(negative, code | 0x80, code))


@pytest.mark.parametrize("name", ("f8E4M3FNUZ", "f8E5M2FNUZ"))
def test_what_the_machine_formats_lack(name: str) -> None:
    x = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, -1e-30, 1e-30, -1e300, 1e300])
    largest = 0x7F
    expected = [0x80, 0x80, 0x80, 0x80, 0, 0, 0]
    np.testing.assert_array_equal(
        codes(numerics.cast_array(x, name, 0, True)), [*expected, largest | 0x80, largest]
    )
    np.testing.assert_array_equal(codes(numerics.cast_array(x, name, 0, False)), [*expected, 0x80, 0x80])


@pytest.mark.parametrize("name", dtypes.FP8)
def test_scales_divide_before_the_one_rounding(name: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=4000).astype(np.float32)
    for scale in (-32, -7, 3, 31):
        direct = numerics.cast_array(np.ldexp(x.astype(np.float64), -scale), name)
        np.testing.assert_array_equal(codes(numerics.cast_array(x, name, scale)), codes(direct))


def test_no_rounding_through_f16() -> None:
    x = np.array([1.0625001, 1.0624999], np.float32)  # f16 would make ties of them
    np.testing.assert_array_equal(
        numerics.cast_array(x, "f8E4M3FN").astype(np.float32), np.array([1.125, 1.0], np.float32)
    )
    x64 = np.array([1.0625 + 2.0**-40])  # f32 would make a tie of it
    assert float(numerics.cast_array(x64, "f8E4M3FN").astype(np.float32)[0]) == 1.125


def f16_grid() -> np.ndarray:
    return np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)


def test_f16_rounding_at_every_value_and_midpoint() -> None:
    grid = f16_grid()
    x = hard_values(grid)
    index = nearest(np.abs(x), grid)  # 0x7C00, the code past the last, is infinity
    expected = np.where(np.signbit(x), index | 0x8000, index)
    np.testing.assert_array_equal(codes(numerics.round_to(x, "f16")), expected)
    rounded = round_to_grid(x, 10, -14)
    bounded = np.append(grid, 65536.0)[index]
    np.testing.assert_array_equal(np.abs(rounded), bounded)


def test_bf16_rounding_at_random_and_at_ties() -> None:
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 0x7F7F, 20000, dtype=np.uint16)
    low = (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    high = ((bits.astype(np.uint32) + 1) << 16).view(np.float32).astype(np.float64)
    middle = (low + high) / 2
    even = np.where(bits % 2 == 0, bits, bits + 1)
    for sign, flag in ((1.0, 0), (-1.0, 0x8000)):
        for x, expected in (
            (middle, even),
            (np.nextafter(middle, np.inf), bits + 1),
            (np.nextafter(middle, 0), bits),
            (low, bits),
        ):
            np.testing.assert_array_equal(codes(numerics.round_to(sign * x, "bf16")), expected | flag)
    top = np.array([3.4e38, 1e39, np.inf, np.nan])
    np.testing.assert_array_equal(codes(numerics.round_to(top, "bf16")), [0x7F80, 0x7F80, 0x7F80, 0x7FC0])
    typed = np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16)
    with np.errstate(invalid="ignore"):
        expected = typed.astype(np.float64)
    np.testing.assert_array_equal(numerics.decode(typed), expected)


def test_one_nan() -> None:
    x = np.array([0x7FF8000000000001, 0xFFF8000000000000, 0xFFFFFFFFFFFFFFFF], np.uint64).view(np.float64)
    assert set(codes(numerics.round_to(x, "f16"))) == {0x7E00}
    assert set(codes(numerics.round_to(x, "f32"))) == {0x7FC00000}
    assert set(codes(numerics.round_to(x, "f8E4M3FN"))) == {0x7F}


def test_integers_round_to_even_and_clamp_or_wrap() -> None:
    x = np.array([0.5, 1.5, -2.5, 127.6, -1000.0, np.nan, np.inf])
    np.testing.assert_array_equal(numerics.cast_array(x, "i8"), [0, 2, -2, 127, -128, 0, 127])
    np.testing.assert_array_equal(numerics.cast_array(x[:6], "i8", 0, False), [0, 2, -2, -128, 24, 0])
    wide = np.array([300, -5], np.int32)
    np.testing.assert_array_equal(numerics.cast_array(wide, "i8"), [127, -5])
    np.testing.assert_array_equal(numerics.cast_array(wide, "i8", 0, False), [44, -5])
    np.testing.assert_array_equal(numerics.cast_array(np.array([3], np.int8), "f16", -1), [6.0])


def test_ocp_operands_read_as_the_machine_format() -> None:
    x = numerics.cast_array(np.array([1.0, -0.75, 448.0]), "f8E4M3FN")
    twin = numerics.ocp_as_fnuz(x)
    assert twin is not None
    np.testing.assert_array_equal(numerics.decode(twin, 1), numerics.decode(x))
    for bad in (-0.0, np.nan):
        assert numerics.ocp_as_fnuz(numerics.cast_array(np.array([1.0, bad]), "f8E4M3FN")) is None


def test_scalars_and_empty_arrays_keep_their_shape() -> None:
    for name in dtypes.DTYPES:
        assert numerics.round_to(np.array(1.0), name).shape == ()
        assert numerics.cast_array(np.zeros((0, 3)), name).shape == (0, 3)
        assert numerics.decode(np.zeros((), dtypes.numpy_dtype(name))).shape == ()


def test_the_dtype_table() -> None:
    for name, entry in dtypes.DTYPES.items():
        assert dtypes.name_of(dtypes.numpy_dtype(name)) == name
        assert dtypes.itemsize(name) == entry.itemsize
        if entry.format is not None:
            top = dtypes.numpy_dtype(name).type(entry.format.max_value)
            assert Fraction(float(top)) == Fraction(entry.format.max_value)
    with pytest.raises(dtypes.UnknownDtype, match="f8E4M3FNUZ"):
        dtypes.itemsize("f8")
    with pytest.raises(dtypes.UnknownDtype):
        dtypes.name_of(np.dtype(np.complex64))
