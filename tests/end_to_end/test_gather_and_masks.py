# SPDX-License-Identifier: Apache-2.0
"""Gathers and masked attention on small machines, under several plans: bit for bit what the oracle gives."""

import random

import harness
import numpy as np
import pytest

from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.reference import evaluate
from tilewright.machine.dtypes import numpy_dtype

POISONS = (float("nan"), 7.0)


def tensor(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


@pytest.mark.parametrize(
    ("table", "indices", "axis", "element"),
    [
        ((100, 12), (7,), 0, "f16"),
        ((100, 13), (3, 5), 0, "f16"),  # rows that cut words
        ((4, 30, 6), (5,), 1, "f32"),
        ((7, 3), (2, 2), 0, "i8"),
        ((50,), (9,), 0, "f16"),
        ((9, 40), (3,), 1, "f8E4M3FNUZ"),
        ((33, 5), (), 0, "f16"),
        ((5, 8), (4,), 0, "i32"),
        ((300, 96), (48,), 0, "f16"),  # more indices than a part has rows
    ],
)
def test_gather(table: tuple[int, ...], indices: tuple[int, ...], axis: int, element: str) -> None:
    rng = np.random.default_rng(0)
    result = table[:axis] + indices + table[axis + 1 :]
    types = tensor(table, element), tensor(indices, "i32"), tensor(result, element)
    if element.startswith("i"):
        values = rng.integers(-50, 50, table).astype(numpy_dtype(element))
    else:
        values = rng.standard_normal(table).astype(numpy_dtype(element))
        values.reshape(-1)[::3] = -0.0
    rows = rng.integers(0, table[axis], indices).astype(np.int32)
    for grid in (None, (1, 1), (3, 2), (16, 1), (5, 3)):
        plan = "" if grid is None else f" {{plan = {{grid = array<i64: {grid[0]}, {grid[1]}>}}}}"
        text = f"""
func.func @main(%t: {types[0]} {{tile_tensor.parameter = "t"}}, %i: {types[1]}) -> {types[2]} {{
  %0 = tile_tensor.gather %t, %i axis {axis}{plan} : ({types[0]}, {types[1]}) -> {types[2]}
  func.return %0 : {types[2]}
}}"""
        found = harness.check(harness.compile_text(text, "t16"), {"arg1": rows}, {"t": values}, POISONS)
        expected = np.take(values, rows, axis=axis)
        np.testing.assert_array_equal(found["out0"].astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize(
    ("batch", "heads", "queries", "keys", "depth", "mask"),
    [
        (2, 3, 5, 16, 8, (2, 1, 1, 16)),
        (2, 3, 7, 13, 8, (2, 1, 7, 13)),
        (1, 4, 33, 33, 16, (33, 33)),
        (3, 2, 9, 9, 8, (3, 1, 1, 9)),
        (1, 2, 1, 20, 8, (1, 1, 1, 20)),
    ],
)
@pytest.mark.parametrize("accumulate", ["f16", "f32"])
def test_masked_attention(
    batch: int, heads: int, queries: int, keys: int, depth: int, mask: tuple[int, ...], accumulate: str
) -> None:
    rng = np.random.default_rng(1)
    q, k = (tensor((batch, heads, n, depth), "f16") for n in (queries, keys))
    m = tensor(mask, "f16")
    text = f"""
func.func @main(%q: {q}, %k: {k}, %v: {k}, %m: {m}) -> {q} {{
  %0 = tile_tensor.attention %q, %k, %v, %m accumulate {accumulate} scale 0.35 : ({q}, {k}, {k}, {m}) -> {q}
  func.return %0 : {q}
}}"""
    hidden = np.where(rng.random(mask) < 0.3, -30000, 0).astype(np.float16)
    hidden[..., 0] = 0
    shapes = [(batch, heads, n, depth) for n in (queries, keys, keys)]
    inputs = {f"arg{i}": rng.standard_normal(shape).astype(np.float16) for i, shape in enumerate(shapes)}
    inputs["arg3"] = hidden
    expected = evaluate(parse_module(text, ctx=context()), inputs)["out0"]
    for seed in (None, 1, 2):
        compiled = harness.compile_text(text, "t16", None if seed is None else random.Random(seed))
        found = harness.check(compiled, inputs, {}, POISONS)["out0"]
        np.testing.assert_allclose(found.astype(np.float32), expected.astype(np.float32), atol=4e-3)
