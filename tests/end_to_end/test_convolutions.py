# SPDX-License-Identifier: Apache-2.0
"""
Convolutions, pooling and the blocks made of them, from text to bytes, against loops of numpy: every element
of a result by itself, from the definition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import harness
import numpy as np
import pytest

Array = np.ndarray


def seen(x: Array, size: Sequence[int], strides: Sequence[int], low: Sequence[int], high: Sequence[int],
         dilation: Sequence[int], rest: float) -> Array:  # fmt: skip
    """[n, s.., c] -> [n, s'.., c, taps]: what lies under each window."""
    n = len(size)
    padded = np.pad(x, [(0, 0), *zip(low, high, strict=True), (0, 0)], constant_values=rest)
    view = np.lib.stride_tricks.sliding_window_view(
        padded, [(k - 1) * d + 1 for k, d in zip(size, dilation, strict=True)], tuple(range(1, n + 1))
    )
    view = view[(slice(None), *(slice(None, None, s) for s in strides))]
    view = view[(..., *(slice(None, None, d) for d in dilation))]
    return view.reshape(*view.shape[: n + 2], -1)


def convolved(x: Array, w: Array, clauses: dict[str, Sequence[int]], groups: int = 1) -> Array:
    n = x.ndim - 2
    taps = seen(
        x.astype(np.float64),
        w.shape[:n],
        clauses.get("strides", (1,) * n),
        clauses.get("low", (0,) * n),
        clauses.get("high", (0,) * n),
        clauses.get("dilation", (1,) * n),
        0.0,
    )
    parts = np.split(taps, groups, axis=-2)
    weights = w.astype(np.float64).reshape(-1, *w.shape[n:])  # [taps, c / groups, o]
    return np.concatenate(
        [
            np.einsum("...ct,tco->...o", a, b)
            for a, b in zip(parts, np.split(weights, groups, -1), strict=True)
        ],
        axis=-1,
    )


def tensor(shape: Sequence[int], dtype: str = "f16") -> str:
    return "tensor<" + "".join(f"{n}x" for n in shape) + f"{dtype}>"


def clause_text(clauses: dict[str, Sequence[int]]) -> str:
    return " ".join(f"{name} {list(values)}" for name, values in clauses.items())


def values(*shape: int, seed: int, scale: float = 1.0) -> Array:
    drawn = np.random.default_rng(seed).normal(size=shape) * scale
    return drawn.astype(np.float16).astype(np.float32)


CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, Sequence[int]], int, str], ...] = (
    ((2, 6, 5, 8), (3, 3, 1, 8), {"low": (1, 1), "high": (1, 1)}, 8, "t4"),
    (
        (1, 7, 9, 6),
        (3, 2, 1, 6),
        {"strides": (2, 1), "low": (0, 1), "high": (1, 0), "dilation": (1, 2)},
        6,
        "t16",
    ),
    ((1, 5, 5, 4), (3, 3, 1, 8), {"low": (1, 1), "high": (1, 1)}, 4, "t16"),  # two outputs of each channel
    ((2, 6, 5, 4), (3, 3, 4, 5), {"low": (1, 1), "high": (1, 1)}, 1, "t4"),
    ((2, 9, 8, 3), (4, 4, 3, 5), {"strides": (4, 4)}, 1, "t16"),  # patches; a row is left over
    ((2, 5, 5, 4), (1, 1, 4, 6), {"strides": (2, 2)}, 1, "t4"),
    ((2, 3, 3, 4), (1, 1, 4, 6), {}, 1, "t4"),
    (
        (1, 5, 5, 4),
        (3, 3, 2, 6),
        {"strides": (2, 1), "low": (1, 0), "high": (0, 1), "dilation": (1, 2)},
        2,
        "t4",
    ),
    ((1, 9, 4), (3, 1, 4), {"low": (2,)}, 4, "t4"),
    ((1, 9, 4), (3, 4, 3), {"low": (2,)}, 1, "t4"),
    ((1, 3, 4, 3, 2), (2, 2, 2, 1, 2), {"low": (1, 0, 0)}, 2, "t4"),
)


@pytest.mark.parametrize(("operand", "weights", "clauses", "groups", "machine"), CASES)
def test_convolutions(operand, weights, clauses, groups, machine) -> None:
    x, w = values(*operand, seed=1), values(*weights, seed=2, scale=0.25)
    expected = convolved(x, w, clauses, groups)
    result = tensor(expected.shape, "f32")
    text = (
        f'func.func @main(%x: {tensor(operand)} {{tile_tensor.input = "x"}}, '
        f'%w: {tensor(weights)} {{tile_tensor.parameter = "w"}}) -> {result} {{\n'
        f"  %y = tile_tensor.convolution %x, %w {clause_text(clauses)} groups {groups} : "
        f"({tensor(operand)}, {tensor(weights)}) -> {result}\n  func.return %y : {result}\n}}"
    )
    found = harness.check(harness.compile_text(text, machine), {"x": x}, {"w": w}, (np.nan, 7.0))
    np.testing.assert_allclose(found["out0"], expected, rtol=1e-5, atol=1e-5)


POOLS: tuple[tuple[str, tuple[int, ...], str, dict[str, Sequence[int]], str], ...] = (
    (
        "max", (2, 7, 6, 4), "f16",
        {"size": (1, 3, 3, 1), "strides": (1, 2, 2, 1), "low": (0, 1, 1, 0), "high": (0, 1, 0, 0)}, "t16",
    ),
    ("mean", (1, 6, 6, 5), "f32", {"size": (1, 2, 2, 1), "strides": (1, 2, 2, 1)}, "t4"),
    ("sum", (3, 11), "i8", {"size": (1, 3), "strides": (1, 2), "high": (0, 2)}, "t4"),
    ("min", (2, 3, 9), "f8E4M3FNUZ", {"size": (1, 1, 3), "low": (0, 0, 4), "dilation": (1, 1, 2)}, "t16"),
    ("max", (5, 6), "i32", {"size": (2, 2)}, "t4"),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "shape", "dtype", "clauses", "machine"), POOLS)
def test_windows_are_reduced(kind, shape, dtype, clauses, machine) -> None:
    rank = len(shape)
    rest = {"max": -240.0 if "f8" in dtype else -np.inf, "min": 240.0 if "f8" in dtype else np.inf}.get(
        kind, 0
    )
    if "i" in dtype:
        x = np.random.default_rng(0).integers(-100, 100, shape).astype(dtype.replace("i", "int"))
        rest = {"max": np.iinfo(x.dtype).min, "min": np.iinfo(x.dtype).max}.get(kind, 0)
    else:
        x = np.round(values(*shape, seed=3) * 4)
    taps = seen(
        x[None, ..., None].astype(np.float64),
        clauses["size"],
        clauses.get("strides", (1,) * rank),
        clauses.get("low", (0,) * rank),
        clauses.get("high", (0,) * rank),
        clauses.get("dilation", (1,) * rank),
        rest,
    )[0, ..., 0, :]
    expected = {"max": np.max, "min": np.min, "sum": np.sum, "mean": np.mean}[kind](taps, axis=-1)
    if dtype == "i8":
        expected = expected.astype(np.int64).astype(np.int8)
    text = (
        f'func.func @main(%x: {tensor(shape, dtype)} {{tile_tensor.input = "x"}}) '
        f"-> {tensor(expected.shape, dtype)} {{\n"
        f"  %y = tile_tensor.reduce_window {kind} %x {clause_text(clauses)} : "
        f"({tensor(shape, dtype)}) -> {tensor(expected.shape, dtype)}\n"
        f"  func.return %y : {tensor(expected.shape, dtype)}\n}}"
    )
    found = harness.check(harness.compile_text(text, machine), {"x": x}, {}, (np.nan, 7.0))
    np.testing.assert_allclose(found["out0"].astype(np.float64), expected, rtol=1e-6)


def test_a_mobilenet_block_on_64_tiles() -> None:
    """Expansion, depthwise 3x3 with stride 2, projection: relu between, as products and one window kernel."""
    n, high, channels, wide, out = 1, 16, 16, 48, 24
    half = high // 2
    a, b, c = tensor((n, high, high, channels)), tensor((n, high, high, wide)), tensor((n, half, half, wide))
    d = tensor((n, half, half, out))
    text = f"""func.func @main(%x: {a} {{tile_tensor.input = "x"}},
      %e: {tensor((1, 1, channels, wide))} {{tile_tensor.parameter = "e"}},
      %w: {tensor((3, 3, 1, wide))} {{tile_tensor.parameter = "w"}},
      %p: {tensor((1, 1, wide, out))} {{tile_tensor.parameter = "p"}}) -> {d} {{
    %0 = tile_tensor.convolution %x, %e : ({a}, {tensor((1, 1, channels, wide))}) -> {b}
    %1 = tile_tensor.relu %0 : ({b}) -> {b}
    %2 = tile_tensor.convolution %1, %w strides [2, 2] low [1, 1] high [1, 1] groups {wide}
        : ({b}, {tensor((3, 3, 1, wide))}) -> {c}
    %3 = tile_tensor.relu %2 : ({c}) -> {c}
    %4 = tile_tensor.convolution %3, %p : ({c}, {tensor((1, 1, wide, out))}) -> {d}
    func.return %4 : {d}
    }}"""
    x, e = values(n, high, high, channels, seed=1), values(1, 1, channels, wide, seed=2, scale=0.25)
    w, p = values(3, 3, 1, wide, seed=3, scale=0.3), values(1, 1, wide, out, seed=4, scale=0.15)
    found = harness.check(harness.compile_text(text, "t64"), {"x": x}, {"e": e, "w": w, "p": p}, (np.nan,))[
        "out0"
    ]
    y = np.maximum(convolved(x, e, {}), 0)
    y = np.maximum(convolved(y, w, {"strides": (2, 2), "low": (1, 1), "high": (1, 1)}, wide), 0)
    expected = convolved(y, p, {})
    np.testing.assert_allclose(found, expected, atol=4e-3 * np.abs(expected).max())


def test_a_convnext_block_on_64_tiles() -> None:
    """Depthwise 7x7, layer norm over channels, two products with gelu between, residual."""
    n, side, channels = 1, 14, 32
    a, wide = tensor((n, side, side, channels)), tensor((n, side, side, 4 * channels))
    up, down = tensor((1, 1, channels, 4 * channels)), tensor((1, 1, 4 * channels, channels))
    w, v = tensor((7, 7, 1, channels)), tensor((channels,))
    text = f"""func.func @main(%x: {a} {{tile_tensor.input = "x"}}, %w: {w} {{tile_tensor.parameter = "w"}},
      %g: {v} {{tile_tensor.parameter = "g"}}, %b: {v} {{tile_tensor.parameter = "b"}},
      %u: {up} {{tile_tensor.parameter = "u"}}, %d: {down} {{tile_tensor.parameter = "d"}}) -> {a} {{
    %0 = tile_tensor.convolution %x, %w low [3, 3] high [3, 3] groups {channels} : ({a}, {w}) -> {a}
    %1 = tile_tensor.layer_norm %0, %g, %b epsilon 1.0e-6 : ({a}, {v}, {v}) -> {a}
    %2 = tile_tensor.convolution %1, %u : ({a}, {up}) -> {wide}
    %3 = tile_tensor.gelu %2 : ({wide}) -> {wide}
    %4 = tile_tensor.convolution %3, %d : ({wide}, {down}) -> {a}
    %5 = tile_tensor.add %x, %4 : ({a}, {a}) -> {a}
    func.return %5 : {a}
    }}"""
    given = {"x": values(n, side, side, channels, seed=1)}
    parameters = {
        "w": values(7, 7, 1, channels, seed=2, scale=0.15),
        "g": 1 + values(channels, seed=3, scale=0.1),
        "b": values(channels, seed=4, scale=0.1),
        "u": values(1, 1, channels, 4 * channels, seed=5, scale=0.2),
        "d": values(1, 1, 4 * channels, channels, seed=6, scale=0.1),
    }
    found = harness.check(harness.compile_text(text, "t64"), given, parameters, (np.nan,))["out0"]
    y = convolved(given["x"], parameters["w"], {"low": (3, 3), "high": (3, 3)}, channels)
    mean, variance = y.mean(-1, keepdims=True), y.var(-1, keepdims=True)
    y = (y - mean) / np.sqrt(variance + 1e-6) * parameters["g"] + parameters["b"]
    y = convolved(y, parameters["u"], {})
    erf = np.vectorize(math.erf)
    y = convolved(0.5 * y * (1 + erf(y / np.sqrt(2))), parameters["d"], {})
    expected = given["x"] + y
    np.testing.assert_allclose(found, expected, atol=4e-3 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("grid", "message"),
    (
        ("4, 1", "grid [4, 1] does not divide 6 rows"),
        ("1, 0", "is not two positive parts (rows, channels)"),
        ("1, 8", "grid [1, 8] needs 8 tiles; machine t4 has 4"),
    ),
)
def test_grids_that_cannot_be(grid: str, message: str) -> None:
    x = tensor((8, 4, 16))
    text = (
        f"func.func @main(%x: {x}) -> {tensor((6, 4, 16))} {{\n"
        f"  %y = tile_tensor.reduce_window max %x size [3, 1, 1] {{plan = {{grid = array<i64: {grid}>}}}} : "
        f"({x}) -> {tensor((6, 4, 16))}\n  func.return %y : {tensor((6, 4, 16))}\n}}"
    )
    with pytest.raises(harness.TileError) as caught:
        harness.compile_text(text, "t4")
    assert message in caught.value.message
