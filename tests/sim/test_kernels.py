# SPDX-License-Identifier: Apache-2.0
"""Kernel semantics: shapes, broadcasting, special values, rounding, and independence of tiling."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from tilewright.machine import dtypes
from tilewright.machine.numerics import operations as numerics
from tilewright.machine.numerics import pointwise
from tilewright.sim.kernels import SEMANTICS, UnknownSemantics, semantics

pytestmark = pytest.mark.filterwarnings("error")
RNG_SHAPE = (3, 4, 5)
UNARY = [
    n
    for n, facts in pointwise.FUNCTIONS.items()
    if facts.operands == 1 and facts.floats and facts.gives != "i1"
]


def run(
    name: str, ins: list[np.ndarray], outs: tuple[str, ...], extents: tuple[int, ...], **scalars: float
) -> list[np.ndarray]:
    before = [x.copy() for x in ins]
    results = semantics(name)(ins, outs, scalars, extents)
    for x, kept in zip(ins, before, strict=True):
        assert x.tobytes() == kept.tobytes()  # operands are read only
    for result, kind in zip(results, outs, strict=True):
        assert result.dtype == dtypes.numpy_dtype(kind)
        assert result.flags.c_contiguous
    return results


def ulps(got: float, expected: float) -> float:
    return abs(got - expected) / math.ulp(expected)


def test_every_registered_kernel_has_semantics() -> None:
    from tilewright.machine.kernels import kernel_names

    supervisor_side = {name for name in kernel_names() if name.startswith("patch_rows")}
    assert set(kernel_names()) - supervisor_side == set(SEMANTICS)
    with pytest.raises(UnknownSemantics):
        semantics("gemm")


# ------------------------------------------------------------------------------------------------ pointwise

REFERENCE = {
    "exp": math.exp, "log": math.log, "sqrt": math.sqrt, "rsqrt": lambda x: 1 / math.sqrt(x),
    "tanh": math.tanh, "erf": math.erf, "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "silu": lambda x: x / (1 + math.exp(-x)), "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x, "neg": lambda x: -x, "abs": abs, "relu": lambda x: max(x, 0.0),
    "sin": math.sin, "cos": math.cos, "log1p": math.log1p, "expm1": math.expm1, "floor": math.floor,
    "ceil": math.ceil, "round": round, "sign": lambda x: math.copysign(1.0, x),
    "gelu_erf": lambda x: 0.5 * x * math.erfc(-x / math.sqrt(2)),
    "gelu_tanh": lambda x: x / (1 + math.exp(-2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_unary_functions_on_f32(name: str) -> None:
    x = np.linspace(0.01, 6, 300, dtype=np.float32)
    if name == "log1p":
        x = np.concatenate([x, -x / 7])
    elif name not in ("log", "sqrt", "rsqrt"):
        x = np.concatenate([x, -x])
    (got,) = run(f"pointwise.{name}", [x[None]], ("f32",), x.shape)
    expected = np.array([REFERENCE[name](float(v)) for v in x])
    # f64 results within a few units in the last place may round to the other f32 neighbour, rarely.
    np.testing.assert_allclose(got[0], expected, rtol=2.0**-23)
    assert (got[0] == expected.astype(np.float32)).mean() > 0.98


@pytest.mark.parametrize("name", UNARY)
def test_looking_up_16_bit_inputs_changes_nothing(name: str) -> None:
    codes = np.arange(65536, dtype=np.uint16)
    for kind in (np.float16, ml_dtypes.bfloat16):
        x = np.concatenate([codes, codes[:1]]).view(kind)
        (table,) = run(f"pointwise.{name}", [x[None]], ("f16",), x.shape)
        (direct,) = run(f"pointwise.{name}", [x[None, :65536]], ("f16",), (65536,))
        np.testing.assert_array_equal(table[:, :-1].view(np.uint16), direct.view(np.uint16))


def test_erf_and_erfc_to_the_last_places() -> None:
    from tilewright.machine.numerics.special import erf_parts

    x = np.concatenate(
        [np.linspace(-6, 6, 4001), np.linspace(-27, 27, 1001), [0.84375, 1.25, 1 / 0.35, 28.0]]
    )
    erf, erfc = erf_parts(x)
    for value, low, high in zip(x, erf, erfc, strict=True):
        assert ulps(low, math.erf(value)) <= 2
        if math.erfc(value) > 1e-300:
            assert ulps(high, math.erfc(value)) <= 4


def test_saturated_ends() -> None:
    x = np.array([[-1500.0, -100.0, -20.0, 20.0, 100.0, np.inf, -np.inf, np.nan]], np.float16)
    for name in ("gelu_tanh", "gelu_erf"):
        (got,) = run(f"pointwise.{name}", [x], ("f16",), (8,))
        np.testing.assert_array_equal(got[0], [-0.0, -0.0, -0.0, 20, 100, np.inf, -0.0, np.nan])
        assert np.signbit(got[0, :3]).all()
    (got,) = run("pointwise.tanh", [x], ("f16",), (8,))
    np.testing.assert_array_equal(got[0], [-1, -1, -1, 1, 1, 1, -1, np.nan])
    every = np.arange(65536, dtype=np.uint16).view(np.float16)[None]
    (got,) = run("pointwise.tanh", [every], ("f16",), (65536,))
    assert np.nanmax(np.abs(got)) == 1.0
    (got,) = run("pointwise.sigmoid", [x], ("f16",), (8,))
    np.testing.assert_array_equal(got[0, [0, 1, 4, 5, 6, 7]], [0, 0, 1, 1, 0, np.nan])


def test_special_values_raise_no_warning_and_follow_ieee() -> None:
    x = np.array([[0.0, -0.0, -1.0, np.inf, np.nan]], np.float32)
    for name, expected in (
        ("log", [-np.inf, -np.inf, np.nan, np.inf, np.nan]),
        ("rsqrt", [np.inf, -np.inf, np.nan, 0.0, np.nan]),
        ("reciprocal", [np.inf, -np.inf, -1.0, 0.0, np.nan]),
        ("sqrt", [0.0, -0.0, np.nan, np.inf, np.nan]),
        ("exp", [1.0, 1.0, np.float32(math.exp(-1)), np.inf, np.nan]),
        ("relu", [0.0, 0.0, 0.0, np.inf, np.nan]),
    ):
        np.testing.assert_array_equal(run(f"pointwise.{name}", [x], ("f32",), (5,))[0][0], expected)


@pytest.mark.parametrize(("name", "order"), (("max", (0.0, -0.0)), ("min", (-0.0, 0.0))))
def test_max_and_min_propagate_nan_and_order_zeros(name: str, order: tuple[float, float]) -> None:
    first, second = order
    x = np.tile(np.array([np.nan, 1.0, first, second, 3.0], np.float16), (1, 9))
    y = np.tile(np.array([1.0, np.nan, second, first, -3.0], np.float16), (1, 9))
    (got,) = run(f"pointwise.{name}", [x, y], ("f16",), (45,))
    assert np.isnan(got[0, [0, 1]]).all()
    assert (np.signbit(got[0, 2::5]) == np.signbit(first)).all()
    assert (np.signbit(got[0, 3::5]) == np.signbit(first)).all()
    assert got[0, 4] == (3 if name == "max" else -3)


def test_one_rounding_to_the_output_type() -> None:
    x = np.array([[1.0, 2048.0]], np.float16)
    y = np.array([[2.0**-11, 1.0]], np.float16)
    (got,) = run("pointwise.add", [x, y], ("f16",), (2,))  # two ties
    np.testing.assert_array_equal(got[0], [1.0, 2048.0])
    x32 = np.array([[1.0]], np.float32)
    y32 = np.array([[2.0**-11 + 2.0**-25]], np.float32)  # f32 first would make a tie of it
    (got,) = run("pointwise.add", [x32, y32], ("f16",), (1,))
    assert got[0, 0] == np.float16(1 + 2.0**-10)
    wide = np.array([[60000.0]], np.float32)
    (got,) = run("pointwise.add", [wide, wide], ("f16",), (1,))
    assert np.isposinf(got[0, 0])
    for saturate, code in ((1, 0x7F), (0, 0x80)):
        (got,) = run("pointwise.add", [wide, wide], ("f8E4M3FNUZ",), (1,), saturate=saturate)
        assert got.view(np.uint8)[0, 0] == code


@pytest.mark.parametrize("name", ("add", "sub", "mul", "div"))
def test_f32_arithmetic_is_the_correctly_rounded_operation(name: str) -> None:
    rng = np.random.default_rng(11)
    x, y = (rng.normal(size=(2, 5000)).astype(np.float32) for _ in range(2))
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[name]
    np.testing.assert_array_equal(run(f"pointwise.{name}", [x, y], ("f32",), (5000,))[0], function(x, y))


def test_broadcast_axes_and_tiles() -> None:
    x = np.arange(6, dtype=np.float16).reshape(1, 1, 6)
    y = np.arange(8, dtype=np.float16).reshape(2, 4, 1)
    (got,) = run("pointwise.mul", [x, y], ("f32",), (4, 6))
    np.testing.assert_array_equal(got, (x * y).astype(np.float32))
    (got,) = run("pointwise.neg", [x], ("f16",), (4, 6))
    assert got.shape == (1, 4, 6)
    (got,) = run("pointwise.neg", [np.ones((2,), np.float16)], ("f16",), ())
    assert got.shape == (2,)


def test_integers_stay_integers() -> None:
    x = np.array([[7, -7, 7, -(2**31), 100]], np.int32)
    y = np.array([[2, 2, 0, -1, 100]], np.int32)
    np.testing.assert_array_equal(
        run("pointwise.div", [x, y], ("i32",), (5,))[0][0], [3, -3, -1, -(2**31), 1]
    )
    np.testing.assert_array_equal(
        run("pointwise.mul", [x[:, 3:], y[:, 3:]], ("i32",), (2,))[0][0], [-(2**31), 10000]
    )
    small = np.array([[127, -128]], np.int8)
    np.testing.assert_array_equal(run("pointwise.add", [small, small], ("i8",), (2,))[0][0], [-2, 0])
    np.testing.assert_array_equal(run("pointwise.add", [small, small], ("i32",), (2,))[0][0], [254, -256])
    with pytest.raises(ValueError, match="integers"):
        run("pointwise.exp", [small], ("f32",), (2,))


@pytest.mark.parametrize("name", UNARY)
def test_an_element_does_not_see_its_neighbours(name: str) -> None:
    rng = np.random.default_rng(12)
    x = (rng.normal(size=(1, 203)) * 3).astype(np.float32)
    whole = run(f"pointwise.{name}", [x], ("f32",), (203,))[0]
    for start, stop in ((0, 1), (5, 8), (100, 203), (202, 203)):
        part = run(f"pointwise.{name}", [x[:, start:stop]], ("f32",), (stop - start,))[0]
        np.testing.assert_array_equal(part.view(np.uint32), whole[:, start:stop].view(np.uint32))


# -------------------------------------------------------------------------------- conversions and movement


def test_cast_copy_widen_narrow_fill() -> None:
    x = np.array([[1.0, -3.0, 1e4, 0.001]], np.float16)
    (got,) = run("cast", [x], ("f8E4M3FNUZ",), (4,), scale=2, saturate=1)
    np.testing.assert_array_equal(numerics.decode(got)[0], [0.25, -0.75, 240, 0])
    (back,) = run("cast", [got], ("f16",), (4,), scale=-2)
    np.testing.assert_array_equal(back[0], [1, -3, 960, 0])
    (got,) = run("copy", [np.full((2, 1, 3), np.nan, np.float16)], ("f16",), (4, 3))
    assert got.shape == (2, 4, 3)
    for kind in ("f8E5M2FNUZ", "f16", "bf16", "i8", "f32"):
        typed = numerics.cast_array(np.array([[1.5, -2.0, np.nan]]), kind)
        (words,) = run("widen", [typed], ("u32",), (3,))
        (again,) = run("narrow", [words], (kind,), (3,))
        assert again.tobytes() == typed.tobytes()
    (got,) = run("fill", [], ("u32",), (3,), value=0xFFFFFFFF)
    np.testing.assert_array_equal(got, np.full((1, 3), 0xFFFFFFFF, np.uint32))
    (got,) = run("fill", [], ("f16",), (3,), value=0x3C003C00)
    np.testing.assert_array_equal(got, np.ones((1, 6)))


# ------------------------------------------------------------------------------------------------ reductions


def test_partials_are_summed_in_f32_in_ascending_order() -> None:
    parts = np.array([2.0**24, 1.0, 1.0, -(2.0**24)], np.float32).reshape(1, 4, 1)
    (got,) = run("reduce_partials", [parts], ("f32",), (4, 1))
    assert got[0, 0] == 0.0  # each 1 is lost in turn
    half = np.array([2048.0, 1.0, 1.0, 1.0], np.float16).reshape(1, 4, 1)
    (got,) = run("reduce_partials", [half], ("f16",), (4, 1))
    assert got[0, 0] == 2052.0  # 2051 is a tie, rounded once
    whole = np.array([2**31 - 1, 1], np.int32).reshape(1, 2, 1)
    assert run("reduce_partials", [whole], ("i32",), (2, 1))[0][0, 0] == -(2**31)


def test_a_first_term_apart_comes_before_the_partials() -> None:
    parts = np.array([1.0, -(2.0**24)], np.float32).reshape(1, 2, 1)
    first = np.array([[2.0**24]], np.float32)
    for kernel in ("reduce_partials.onto", "reduce_partials.wide_onto"):
        (got,) = run(kernel, [first, parts], ("f32",), (2, 1))
        assert got[0, 0] == 0.0  # the 1 is lost behind 2^24
    vector, rows = np.array([[[1.0], [2.0]]], np.float16), np.ones((1, 3, 2, 4), np.float16)
    (got,) = run("reduce_partials.onto", [vector, rows], ("f16",), (3, 2, 4))
    np.testing.assert_array_equal(got[0], [[4.0] * 4, [5.0] * 4])


def test_bias_and_gelu_round_once() -> None:
    rng = np.random.default_rng(13)
    x, bias = (rng.normal(size=shape).astype(np.float16) for shape in ((2, 4, 16), (2, 16)))
    (got,) = run("bias_gelu", [x, bias], ("f16",), (4, 16))
    total = x.astype(np.float32) + bias[:, None].astype(np.float32)
    np.testing.assert_array_equal(got, run("pointwise.gelu_tanh", [total], ("f16",), (4, 16))[0])


def test_reductions_of_trailing_axes() -> None:
    rng = np.random.default_rng(14)
    x = rng.normal(size=(2, 3, 4, 5)).astype(np.float16)
    for kind, function in (("sum", np.sum), ("prod", np.prod), ("max", np.max), ("min", np.min)):
        (got,) = run(f"reduce.{kind}", [x], ("f32",), (3, 4, 5), reduced=2)
        np.testing.assert_allclose(got, function(x.astype(np.float64), axis=(2, 3)), rtol=2.0**-23)
    (got,) = run("reduce.sum", [x], ("f32",), (3, 4, 5), reduced=3)
    assert got.shape == (2,)
    (got,) = run("reduce.sum", [np.ones((1, 1), np.float16)], ("f32",), (49,), reduced=1)
    assert got[0] == 49.0
    (got,) = run("reduce.max", [np.full((1, 3), -1.0, np.float32)], ("f32",), (3,), reduced=0)
    assert got.shape == (1, 3)


def test_reductions_of_special_values_and_integers() -> None:
    x = np.array([[1.0, np.nan, -5.0], [-0.0, 0.0, -1.0], [-np.inf, -np.inf, -np.inf]], np.float32)[None]
    (got,) = run("reduce.max", [x], ("f32",), (3, 3), reduced=1)
    np.testing.assert_array_equal(got[0], [np.nan, 0.0, -np.inf])
    assert not np.signbit(got[0, 1])
    (got,) = run("reduce.min", [-x], ("f32",), (3, 3), reduced=1)
    assert np.signbit(got[0, 1])
    i = np.array([[-3, -7]], np.int32)
    for kind, expected in (("sum", -10), ("prod", 21), ("max", -3), ("min", -7)):
        assert run(f"reduce.{kind}", [i], ("i32",), (2,), reduced=1)[0][0] == expected
    empty = np.zeros((1, 2, 0), np.float32)
    for kind, neutral in (("sum", 0), ("prod", 1), ("max", -np.inf), ("min", np.inf)):
        np.testing.assert_array_equal(
            run(f"reduce.{kind}", [empty], ("f32",), (2, 0), reduced=1)[0], np.full((1, 2), neutral)
        )


def test_a_sum_does_not_see_the_shape_around_it() -> None:
    rng = np.random.default_rng(15)
    x = rng.normal(size=(7, 11, 729))
    whole = numerics.tree_sum(x)
    np.testing.assert_array_equal(numerics.tree_sum(x[3:4, 5:6])[0, 0], whole[3, 5])
    np.testing.assert_array_equal(numerics.tree_sum(x[3, 5]), whole[3, 5])
    np.testing.assert_array_equal(numerics.tree_sum(np.asfortranarray(x)), whole)
    np.testing.assert_allclose(whole, x.sum(axis=-1), rtol=1e-9)


# ----------------------------------------------------------------------------------------------------- rows


def test_layer_norm_and_its_two_halves() -> None:
    rng = np.random.default_rng(16)
    x = (rng.normal(size=RNG_SHAPE) * 4 + 9).astype(np.float16)
    gamma, beta = (rng.normal(size=(3, 5)).astype(np.float16) for _ in range(2))
    (got,) = run("layer_norm", [x, gamma, beta], ("f32",), (4, 5), epsilon=1e-6)
    wide = x.astype(np.float64)
    mean, variance = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
    expected = (wide - mean) / np.sqrt(variance + 1e-6) * gamma[:, None] + beta[:, None]
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    means, variances = run("norm.statistics", [x], ("f32", "f32"), (4, 5))
    (again,) = run("norm.apply", [x, means, variances, gamma, beta], ("f32",), (4, 5), epsilon=1e-6)
    np.testing.assert_array_equal(again, got)


@pytest.mark.parametrize("parts", (1, 3, 4, 7))
def test_merged_statistics_are_those_of_the_row(parts: int) -> None:
    """What is normalised with them is what the whole row makes of itself."""
    rng = np.random.default_rng(17)
    x = rng.normal(size=(2, 4, 25)).astype(np.float32) + 3
    block = -(-25 // parts)
    pieces = [
        run("norm.statistics", [x[..., c : c + block]], ("f32", "f32"), (4, min(block, 25 - c)))
        for c in range(0, 25, block)
    ]
    while len(pieces) < parts:  # ceil blocks may leave the last parts empty
        pieces.append([np.full((2, 4), np.nan, np.float32)] * 2)
    stacked = [np.stack([piece[i] for piece in pieces], axis=1) for i in (0, 1)]
    (found,) = run("norm.merge_mix", [x, *stacked], ("f32",), (parts, 4, 25), count=25, epsilon=1e-6)
    wide = x.astype(np.float64)
    expected = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_rms_norm() -> None:
    rng = np.random.default_rng(18)
    x, gamma = rng.normal(size=RNG_SHAPE).astype(np.float16), rng.normal(size=(3, 5)).astype(np.float16)
    (got,) = run("rms_norm", [x, gamma], ("f32",), (4, 5), epsilon=1e-5)
    wide = x.astype(np.float64)
    expected = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-5) * gamma[:, None]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_norms_of_constant_rows_and_without_columns() -> None:
    x = np.full((1, 2, 5), 7.0, np.float16)
    one, zero = np.ones((1, 5), np.float16), np.zeros((1, 5), np.float16)
    (got,) = run("layer_norm", [x, one, zero], ("f16",), (2, 5), epsilon=1e-6)
    assert not got.any()
    (got,) = run("layer_norm", [x[:, :0], one, zero], ("f16",), (0, 5), epsilon=1e-6)
    assert got.shape == (1, 0, 5)


def test_softmax_rows() -> None:
    x = np.full((1, 3, 7), -3.39e38, np.float32)
    x[0, 1] = [0, 1, 2, 3, -np.inf, -np.inf, -np.inf]
    x[0, 2] = -np.inf
    (got,) = run("softmax", [x], ("f32",), (3, 7), scale=1.0)
    np.testing.assert_array_equal(got[0, 0], np.full(7, np.float32(1 / 7)))
    np.testing.assert_allclose(
        got[0, 1, :4], np.exp(np.arange(4.0)) / np.exp(np.arange(4.0)).sum(), rtol=1e-6
    )
    assert not got[0, 1, 4:].any()
    assert np.isnan(got[0, 2]).all()
    (got,) = run("softmax", [np.full((1, 1, 2), np.nan, np.float16)], ("f16",), (1, 2))
    assert np.isnan(got).all()


def test_softmax_exponentials_and_their_sum() -> None:
    rng = np.random.default_rng(19)
    scores = rng.normal(size=(2, 1, 3, 40)).astype(np.float16)
    maximum = scores.max(-1).astype(np.float32)
    p, total = run("softmax.exp", [scores, maximum], ("f16", "f32"), (1, 3, 40), scale=0.125)
    expected = np.exp(np.float32(0.125) * (scores.astype(np.float64) - maximum[..., None]))
    np.testing.assert_array_equal(p, expected.astype(np.float16))
    np.testing.assert_array_equal(total, p.astype(np.float64).sum(-1).astype(np.float32))


@pytest.mark.parametrize(
    ("name", "vectors", "scalars"),
    [
        ("layer_norm", 2, {"epsilon": 1e-5}),
        ("rms_norm", 1, {"epsilon": 1e-5}),
        ("softmax", 0, {"scale": 0.5}),
    ],
)
def test_lanes_of_rows_are_not_read_and_are_zero(name: str, vectors: int, scalars: dict[str, float]) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(2, 3, 12)).astype(np.float16)
    x[..., 9:] = np.nan
    ins = [x, *(rng.normal(size=(2, 12)).astype(np.float16) for _ in range(vectors))]
    (found,) = run(name, ins, ("f16",), (3, 12), columns=9, **scalars)
    (alone,) = run(name, [np.ascontiguousarray(v[..., :9]) for v in ins], ("f16",), (3, 9), **scalars)
    np.testing.assert_array_equal(found[..., :9], alone)
    assert not found[..., 9:].any()
    with pytest.raises(ValueError, match="rows of 12 columns do not have 13"):
        run(name, ins, ("f16",), (3, 12), columns=13, **scalars)


def test_a_cast_that_completes_groups_to_panels() -> None:
    x = np.random.default_rng(31).normal(size=(2, 1, 3, 48)).astype(np.float16)
    (found,) = run("cast.panels", [x], ("f8E4M3FNUZ",), (1, 3, 48, 64), group=24, scale=-1)
    (flat,) = run("cast", [x], ("f8E4M3FNUZ",), (1, 3, 48), scale=-1)
    parts = found.reshape(2, 1, 3, 2, 32)
    np.testing.assert_array_equal(parts[..., :24].reshape(x.shape).view(np.uint8), flat.view(np.uint8))
    assert not parts[..., 24:].view(np.uint8).any()
    (apart,) = run("cast.panels", [x], ("f8E4M3FNUZ",), (1, 3, 48, 64), group=21, pitch=24, scale=-1)
    lanes = apart.reshape(2, 1, 3, 2, 32)
    np.testing.assert_array_equal(lanes[..., :21].view(np.uint8), parts[..., :21].view(np.uint8))
    assert not lanes[..., 21:].view(np.uint8).any()
    with pytest.raises(ValueError, match="48 columns in groups of 20 take"):
        run("cast.panels", [x], ("f8E4M3FNUZ",), (1, 3, 48, 64), group=20)


def _part_scores(scale: float) -> np.ndarray:
    """Rows of scores, one with a part masked, one masked whole, turned around for a negative `scale`."""
    rng = np.random.default_rng(29)
    scores = rng.normal(size=(4, 24)) * 4
    scores[1, 8:16] = scores[2] = -np.inf
    return (np.sign(scale) * scores).astype(np.float16)


@pytest.mark.parametrize("scale", (0.5, -0.5))
@pytest.mark.parametrize("number", (0, 1, 2))
def test_softmax_of_parts_and_their_merge(scale: float, number: int) -> None:
    """Parts of 8 keys, each with its own maximum, merge to the quotient of the whole rows."""
    scores, values = _part_scores(scale), np.random.default_rng(30).normal(size=(24, 5)).astype(np.float32)
    outputs, extremes, sums, raised = [], [], [], []
    for part in range(3):
        keys = slice(8 * part, 8 * part + 8)
        p, extreme, total = run(
            "softmax.part",
            [scores[None, None, :, keys]],
            ("f16", "f32", "f32"),
            (1, 4, 8),
            scale=scale,
            empty_rows=number,
        )
        np.testing.assert_array_equal(
            extreme[0, 0], (np.max if scale > 0 else np.min)(scores[:, keys], axis=-1).astype(np.float32)
        )
        plain = np.isfinite(extreme[0, 0])
        shifted = scale * (scores[plain, keys].astype(np.float64) - extreme[0, 0, plain][:, None])
        np.testing.assert_array_equal(p[0, 0][plain], np.exp(shifted).astype(np.float16))
        plainly = run(
            "softmax.raise",
            [scores[None, None, :, keys]],
            ("f16", "f32"),
            (1, 4, 8),
            scale=scale,
            empty_rows=number,
        )
        np.testing.assert_array_equal(plainly[0], p)
        np.testing.assert_array_equal(plainly[1], extreme)
        outputs.append(p[0, 0].astype(np.float32) @ values[keys])
        raised.append(p[0, 0].astype(np.float32).sum(axis=-1))
        extremes.append(extreme[0, 0])
        sums.append(total[0, 0])
    stacked = [np.stack(x)[None, :, None] for x in (outputs, extremes, sums)]
    (found,) = run("softmax.merge", stacked, ("f32",), (3, 1, 4, 5), scale=scale)
    # the sums as one more column, taken of the exponentials as they are
    columns = np.concatenate([stacked[0], np.stack(raised)[None, :, None, :, None]], axis=-1)
    (same,) = run(
        "softmax.merge_columns",
        [columns, stacked[1]],
        ("f32",),
        (3, 1, 4, 5, 6),
        scale=scale,
        empty_rows=number,
    )
    np.testing.assert_array_equal(same, found)
    with pytest.raises(ValueError, match="5 columns hold no sums behind 5 of outputs"):
        run("softmax.merge_columns", [stacked[0], stacked[1]], ("f32",), (3, 1, 4, 5, 5), scale=scale)
    exact = scale * scores.astype(np.float64)
    p = np.exp(exact - np.where(np.arange(4) == 2, 0.0, exact.max(axis=-1))[:, None])
    p[2] = 1
    expected = (p @ values) / p.sum(axis=-1, keepdims=True)
    expected[2] = (np.zeros(5), values.mean(axis=0), np.full(5, np.nan))[number]
    np.testing.assert_allclose(found[0, 0], expected, rtol=2e-3, atol=2e-3)


def test_rows_that_are_masked_whole() -> None:
    """p and the sum that it is divided by: 0 / 1, 1 / n, or 0 / 0; other rows do not change."""
    other = np.array([0.0, -np.inf, -1.0, -2.0], np.float16)
    for scale in (1.0, -1.0):
        scores = np.sign(scale) * np.stack([np.full(4, -np.inf, np.float16), other])[None, None]
        extreme = np.array([[[-np.inf, 0.0]]], np.float32) * np.sign(scale)
        softmax = np.exp(other.astype(np.float64))
        for number, (value, total) in enumerate(((0.0, 1.0), (1.0, 4.0), (0.0, 0.0))):
            p, sums = run(
                "softmax.exp",
                [scores.astype(np.float16), extreme.astype(np.float32)],
                ("f16", "f32"),
                (1, 2, 4),
                scale=scale,
                empty_rows=number,
            )
            np.testing.assert_array_equal(p[0, 0], [[value] * 4, softmax.astype(np.float16)])
            assert sums[0, 0, 0] == total
            (rows,) = run(
                "softmax", [scores[0].astype(np.float16)], ("f16",), (2, 4), scale=scale, empty_rows=number
            )
            np.testing.assert_array_equal(rows[0, 0], [(0.0, 0.25, np.nan)[number]] * 4)
            np.testing.assert_allclose(rows[0, 1], softmax / softmax.sum(), rtol=1e-3)
    with pytest.raises(ValueError, match="empty_rows is 0 to 2, found 3"):
        run("softmax", [np.zeros((1, 1, 4), np.float16)], ("f16",), (1, 4), empty_rows=3)


def test_rows_that_see_a_band_of_the_keys() -> None:
    """Query 5 of heads of 4 is the second of its head; what it does not see is as if it were not there."""
    rng = np.random.default_rng(20)
    scores = rng.normal(size=(2, 1, 3, 6)).astype(np.float16)
    scores[0, 0, 0, 0] = np.nan  # not seen
    first_query, first_key = np.int32([[5], [0]]), np.int32([[2], [0]])
    seen = np.zeros((2, 3, 6), bool)
    seen[0] = [[0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]]  # rows 1 to 3, keys 2 to 7
    seen[1] = [[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0]]
    band = {"rows": 4, "offset": 0, "before": 1, "after": 0}
    ins = [scores, first_query, first_key]
    (highest,) = run("band.max", ins, ("f32",), (1, 3, 6, 1, 1), **band)
    expected = np.where(seen, scores[:, 0].astype(np.float32), -np.inf).max(-1)
    np.testing.assert_array_equal(highest[:, 0], expected)
    (lowest,) = run("band.min", ins, ("f32",), (1, 3, 6, 1, 1), **band)
    np.testing.assert_array_equal(
        lowest[:, 0], np.where(seen, scores[:, 0].astype(np.float32), np.inf).min(-1)
    )
    p, total = run(
        "band.exp",
        [scores, highest, first_query, first_key],
        ("f16", "f32"),
        (1, 3, 6, 1, 1),
        scale=0.5,
        **band,
    )
    with np.errstate(invalid="ignore"):
        raised = np.exp(0.5 * (scores[:, 0].astype(np.float64) - highest[:, 0, :, None]))
    np.testing.assert_array_equal(p[:, 0], np.where(seen, raised, 0).astype(np.float16))
    rows = p[:, 0].astype(np.float64).sum(-1)
    np.testing.assert_array_equal(total[:, 0], np.where(seen.any(-1), rows, 1).astype(np.float32))


def test_a_part_of_the_keys_is_taken_as_if_there_were_no_others() -> None:
    """`band.part` and `band.raise` on causal rows: as the kernels without a band on hidden scores."""
    rng = np.random.default_rng(21)
    scores = rng.normal(size=(1, 1, 4, 6)).astype(np.float16)
    band = {"rows": 4, "offset": 0, "before": 1 << 30, "after": 0}
    ins, extents = [scores, np.int32([[0]]), np.int32([[0]])], (1, 4, 6, 1, 1)
    hidden = np.where(np.tri(4, 6, dtype=bool), scores, np.float16(-np.inf))
    for name, outs in (("part", ("f16", "f32", "f32")), ("raise", ("f16", "f32"))):
        found = run(f"band.{name}", ins, outs, extents, scale=0.5, **band)
        expected = run(f"softmax.{name}", [hidden], outs, extents[:3], scale=0.5)
        for got, want in zip(found, expected, strict=True):
            np.testing.assert_array_equal(got, want)


def test_scores_and_a_mask_of_truths() -> None:
    scores, mask = np.float32([[1.0, -2.0]]), np.array([[True, False]])
    for scale, hidden in ((0.5, -np.inf), (-0.5, np.inf)):
        (got,) = run("mask_scores", [scores, mask], ("f32",), (2,), scale=scale)
        np.testing.assert_array_equal(got, np.float32([[1.0, hidden]]))


def test_a_sum_with_a_factor() -> None:
    x, y = np.float16([[1.0, -2.0, np.inf]]), np.float32([[0.5, 3.0, -np.inf]])
    (got,) = run("scaled_add", [x, y], ("f32",), (3,), scale=0.25)
    np.testing.assert_array_equal(got, np.float32([[0.75, 2.5, np.nan]]))


# ---------------------------------------------------------------------------------------------------- matmul


@pytest.mark.parametrize(
    ("name", "kind", "acc", "width"),
    (
        ("gemm.f8", "f8E4M3FNUZ", "f16", 32), ("gemm.f16.f16", "f16", "f16", 16),
        ("gemm.f16.f32", "f16", "f32", 16),
        ("gemm.f32", "f32", "f32", 8), ("gemm.bf16", "bf16", "f32", 16), ("gemm.i8", "i8", "i32", 32),
    ),
)  # fmt: skip
def test_gemm_kernels_are_the_shared_function(name: str, kind: str, acc: str, width: int) -> None:
    rng = np.random.default_rng(20)
    a = numerics.cast_array(rng.normal(size=(3, 2, 5, 2 * width)) * 3, kind)
    w = numerics.cast_array(rng.normal(size=(3, 2, 16, 2 * width)) * 3, kind)
    scale = 0 if kind == "i8" else -2
    (got,) = run(name, [a, w], (acc,), (2, 5, 16, 2 * width), scale=scale)
    for t in range(3):
        np.testing.assert_array_equal(got[t], numerics.gemm_logical(a[t], w[t], acc, width, scale))
    (shared,) = run(name, [a, w[:1, :1]], (acc,), (2, 5, 16, 2 * width), scale=scale)
    np.testing.assert_array_equal(shared[2, 1], numerics.gemm_logical(a[2, 1], w[0, 0], acc, width, scale))


# -------------------------------------------------------------------------------------------------- windows


def test_windows_that_do_not_fit_are_refused() -> None:
    x, w = np.zeros((1, 1, 3, 3, 2), np.float32), np.zeros((1, 4, 2), np.float32)
    with pytest.raises(ValueError, match="windows reach beyond 3 rows of 3"):
        run("window.max", [x], ("f32",), (1, 3, 3, 2, 3, 3), size_y=2)
    with pytest.raises(ValueError, match="windows of 1 elements, 4 weights"):
        run("window.products", [x, w], ("f32",), (1, 3, 3, 2, 3, 3, 4))
