# SPDX-License-Identifier: Apache-2.0
"""Chains of functions of single elements in one call: the bits of the calls one by one, in fewer cycles."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright

ROTARY = """
%a = tile_tensor.mul %x, %y : (tensor<6x40xT>, tensor<6x40xT>) -> tensor<6x40xT>
%b = tile_tensor.mul %z, %y : (tensor<6x40xT>, tensor<6x40xT>) -> tensor<6x40xT>
%out = tile_tensor.add %a, %b : (tensor<6x40xT>, tensor<6x40xT>) -> tensor<6x40xT>
"""
SCALED = """
%a = tile_tensor.mul %x, %v : (tensor<6x40xT>, tensor<40xT>) -> tensor<6x40xT>
%out = tile_tensor.add %z, %a : (tensor<6x40xT>, tensor<6x40xT>) -> tensor<6x40xT>
"""
GATED = """
%a = tile_tensor.silu %x : (tensor<6x40xT>) -> tensor<6x40xT>
%out = tile_tensor.mul %a, %y : (tensor<6x40xT>, tensor<6x40xT>) -> tensor<6x40xT>
"""


def compiled(body: str, dtype: str) -> tilewright.Program:
    matrix, vector = f"tensor<6x40x{dtype}>", f"tensor<40x{dtype}>"
    arguments = ", ".join(f'%{name}: {matrix} {{tile_tensor.input = "{name}"}}' for name in "xyz")
    return tilewright.compile(
        f'func.func @main({arguments}, %v: {vector} {{tile_tensor.input = "v"}}) '
        f'-> ({matrix} {{tile_tensor.output = "out"}}) {{{body.replace("xT>", f"x{dtype}>")}'
        f"func.return %out : {matrix}\n}}",
        "t4",
    )


def values(kind: type[np.floating]) -> dict[str, np.ndarray]:
    """Of both signs and all magnitudes, products that overflow and vanish among them, and special ones."""
    rng = np.random.default_rng(0)
    found = {
        name: (rng.standard_normal(shape) * 2.0 ** rng.integers(-14, 13, shape)).astype(kind)
        for name, shape in {"x": (6, 40), "y": (6, 40), "z": (6, 40), "v": (40,)}.items()
    }
    for name in "xyz":
        found[name].flat[:5] = [np.inf, -np.inf, np.nan, -0.0, 0.0]
        rng.shuffle(found[name].reshape(-1)[:40])
    return found


@pytest.mark.parametrize("kind", [np.float16, np.float32])
@pytest.mark.parametrize("chain", ["mul_mul_add", "mul_add"])
def test_products_are_rounded_before_they_are_added(chain: str, kind: type[np.floating]) -> None:
    program = compiled(ROTARY if chain == "mul_mul_add" else SCALED, {2: "f16", 4: "f32"}[kind(0).itemsize])
    assert f'"chain.{chain}"' in program.text() and "pointwise" not in program.text()
    given = values(kind)
    found = tilewright.run(program, given).outputs["out"]
    with np.errstate(all="ignore"):
        if chain == "mul_mul_add":
            expected = given["x"] * given["y"] + given["z"] * given["y"]
        else:
            expected = given["z"] + given["x"] * given["v"]
        at_once = (given["x"].astype(np.float64) * given["v"] + given["z"].astype(np.float64)).astype(kind)
    np.testing.assert_array_equal(found, expected)
    if chain == "mul_add":  # the values tell the two apart
        assert (at_once != expected)[np.isfinite(expected)].any()


def test_chains_and_calls_one_by_one_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    given = values(np.float16)
    chain = compiled(GATED, "f16")
    monkeypatch.setattr("tilewright.planning.fusing.CHAINS", ())
    calls = compiled(GATED, "f16")
    assert "chain.silu_mul" in chain.text() and "chain" not in calls.text()
    fused, apart = tilewright.run(chain, given), tilewright.run(calls, given)
    assert fused.outputs["out"].tobytes() == apart.outputs["out"].tobytes()
    # 60 elements: 330 + 3 * 6 * 7 and 504 + 3 * 6 * 3, or 504 + 3 * 6 * 9
    assert (apart.cycles["compute"], fused.cycles["compute"]) == (456 + 558, 666)
