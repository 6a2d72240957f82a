# SPDX-License-Identifier: Apache-2.0
"""Values are made where a copy would bring them, in repeats above all."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright
from tilewright.passes.tile_coalesce_copies import TileCoalesceCopiesPass

CARRIED = """
func.func @main(%x: tensor<32x96xf16> {tile_tensor.input = "x"},
  %w: tensor<96x96xf16> {tile_tensor.parameter = "w"})
  -> (tensor<32x96xf16> {tile_tensor.output = "out"}) {
  %first = tile_tensor.mul %x, %x : (tensor<32x96xf16>, tensor<32x96xf16>) -> tensor<32x96xf16>
  %out = tile_repeat.repeat "steps" count 3 carried(%h = %first : tensor<32x96xf16>)
    invariant(%m = %w : tensor<96x96xf16>) -> (tensor<32x96xf16>) {
    %p = tile_tensor.matmul %h, %m accumulate f16 :
      (tensor<32x96xf16>, tensor<96x96xf16>) -> tensor<32x96xf16>
    %sum = tile_tensor.add %h, %p : (tensor<32x96xf16>, tensor<32x96xf16>) -> tensor<32x96xf16>
    %q = tile_tensor.matmul %sum, %m accumulate f16 :
      (tensor<32x96xf16>, tensor<96x96xf16>) -> tensor<32x96xf16>
    %next = tile_tensor.add LATE, %q : (tensor<32x96xf16>, tensor<32x96xf16>) -> tensor<32x96xf16>
    tile_repeat.yield %next : tensor<32x96xf16>
  }
  func.return %out : tensor<32x96xf16>
}
"""


def given() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((32, 96)).astype(np.float16)
    w = (rng.standard_normal((96, 96)) / 16).astype(np.float16)
    return {"x": x}, {"w": w}


def ran(text: str) -> tuple[tilewright.Program, bytes, float]:
    program = tilewright.compile(text, "t16", search="off")
    inputs, parameters = given()
    result = tilewright.run(program, inputs, parameters)
    return program, result.outputs["out"].tobytes(), result.cycles["copy"]


def test_a_carried_value_is_made_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    text = CARRIED.replace("LATE", "%sum")
    program, found, cycles = ran(text)
    assert "next carried value" not in program.text()
    monkeypatch.setattr(TileCoalesceCopiesPass, "apply_to_program", lambda self, ctx, op: None)
    program, expected, before = ran(text)
    assert "next carried value" in program.text() and found == expected
    # a copy of two rows of 96 halves in each iteration: 288 + 48
    assert before - cycles == 3 * 336


def test_a_value_that_is_still_read_is_not_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """The old value is a term of the sum that makes the new one."""
    text = CARRIED.replace("LATE", "%h")
    program, found, _ = ran(text)
    assert "next carried value" in program.text()
    monkeypatch.setattr(TileCoalesceCopiesPass, "apply_to_program", lambda self, ctx, op: None)
    assert ran(text)[1] == found
