# SPDX-License-Identifier: Apache-2.0
"""Two calls in one: the bits of the calls one by one, in fewer cycles."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tilewright
from tilewright.passes.tile_fuse_stores import TileFuseStoresPass

F8 = ml_dtypes.float8_e4m3fnuz


def program(body: str, operands: dict[str, str], result: str, machine: str = "t4") -> tilewright.Program:
    arguments = ", ".join(f'%{n}: tensor<{t}> {{tile_tensor.input = "{n}"}}' for n, t in operands.items())
    return tilewright.compile(
        f"func.func @main({arguments}) -> (tensor<{result}> {{"
        f'tile_tensor.output = "out"}}) {{{body}\nfunc.return %out : tensor<{result}>\n}}',
        machine,
    )


def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls one by one from here on."""
    monkeypatch.setattr(TileFuseStoresPass, "apply_to_program", lambda self, ctx, op: None)


def values(*shape: int) -> np.ndarray:
    """Of both signs and all magnitudes, between two 8-bit floats, and special ones."""
    rng = np.random.default_rng(1)
    found = (rng.standard_normal(shape) * 2.0 ** rng.integers(-14, 12, shape)).astype(np.float16)
    found.flat[:5] = [np.inf, -np.inf, np.nan, -0.0, 65504]
    return found


GELU = """
%a = tile_tensor.gelu %x approximate tanh : (tensor<6x40xf16>) -> tensor<6x40xf16>
%out = tile_tensor.cast %a scale -3 {options}: (tensor<6x40xf16>) -> tensor<6x40xf8E4M3FNUZ>
"""


@pytest.mark.parametrize("options", ["", "{saturate = false} "])
def test_a_cast_is_the_store_of_the_call_before(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"x": values(6, 40)}
    body = GELU.replace("{options}", options)
    fused = program(body, {"x": "6x40xf16"}, "6x40xf8E4M3FNUZ")
    apart(monkeypatch)
    one_by_one = program(body, {"x": "6x40xf16"}, "6x40xf8E4M3FNUZ")
    assert '"cast"' not in fused.text() and '"cast"' in one_by_one.text()
    found, expected = tilewright.run(fused, given), tilewright.run(one_by_one, given)
    assert found.outputs["out"].tobytes() == expected.outputs["out"].tobytes()
    # 60 elements a tile: 330 + 77 * 6 and 330 + 24 * 2; the loop of the cast stays
    assert (expected.cycles["compute"], found.cycles["compute"]) == (792 + 378, 792 + 48)


def test_the_result_is_rounded_to_halves_before_it_is_cast() -> None:
    """1 + 2^-4 + 2^-11 is above the middle of two 8-bit floats, and at it in f16: to even."""
    x = np.full((6, 40), 1 + 2.0**-4, np.float16)
    y = np.full((6, 40), 2.0**-12, np.float16)
    body = """
    %a = tile_tensor.add %x, %y : (tensor<6x40xf16>, tensor<6x40xf16>) -> tensor<6x40xf16>
    %out = tile_tensor.cast %a : (tensor<6x40xf16>) -> tensor<6x40xf8E4M3FNUZ>
    """
    compiled = program(body, {"x": "6x40xf16", "y": "6x40xf16"}, "6x40xf8E4M3FNUZ")
    assert "cast_scale" in compiled.text()
    found = tilewright.run(compiled, {"x": x, "y": y}).outputs["out"].astype(np.float32)
    assert (found == 1).all() and float(F8(float(x[0, 0]) + float(y[0, 0]))) == 1.125


@pytest.mark.parametrize(
    ("types", "why"),
    [(("f32", "f8E4M3FNUZ"), "a cast from f32 is emulated"), (("f16", "f32"), "no 8-bit store")],
)
def test_other_casts_stay(types: tuple[str, str], why: str) -> None:
    source, target = types
    body = f"""
    %a = tile_tensor.exp %x : (tensor<6x40x{source}>) -> tensor<6x40x{source}>
    %out = tile_tensor.cast %a : (tensor<6x40x{source}>) -> tensor<6x40x{target}>
    """
    assert '"cast"' in program(body, {"x": f"6x40x{source}"}, f"6x40x{target}").text(), why


def test_a_value_that_is_read_twice_is_stored() -> None:
    body = """
    %a = tile_tensor.exp %x : (tensor<6x40xf16>) -> tensor<6x40xf16>
    %b = tile_tensor.cast %a : (tensor<6x40xf16>) -> tensor<6x40xf8E4M3FNUZ>
    %c = tile_tensor.cast %b : (tensor<6x40xf8E4M3FNUZ>) -> tensor<6x40xf16>
    %out = tile_tensor.add %a, %c : (tensor<6x40xf16>, tensor<6x40xf16>) -> tensor<6x40xf16>
    """
    assert "cast_scale" not in program(body, {"x": "6x40xf16"}, "6x40xf16").text()
