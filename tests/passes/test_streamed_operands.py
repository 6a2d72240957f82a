# SPDX-License-Identifier: Apache-2.0
"""A program that fits only with an operand in pieces: the search finds that, and it is executed right."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import tilewright.api as api
from tilewright.diagnostics import TileError

PRODUCT = """
builtin.module {
  func.func @main(%x: tensor<272x272xf16> {tile_tensor.input = "x"},
                  %w: tensor<272x272xf16> {tile_tensor.parameter = "w"})
      -> (tensor<272x272xf16> {tile_tensor.output = "y"}) {
    %y = tile_tensor.matmul %x, %w accumulate f16
      : (tensor<272x272xf16>, tensor<272x272xf16>) -> tensor<272x272xf16>
    func.return %y : tensor<272x272xf16>
  }
}
"""


def test_what_fits_in_pieces_only_is_found_and_right() -> None:
    """Four tiles of 216 KiB: 108 KiB of each are operands and result, a block of an operand is 72."""
    with pytest.raises(TileError, match=r"tile memory is .* bytes short"):
        api.compile(PRODUCT, "t4", search="off")
    program = api.compile(PRODUCT, "t4", search="fast")
    assert program.plan is not None
    record = dict(program.plan.operators["y"])
    assert record["pieces"] > 1
    whole = dataclasses.replace(program.plan, operators={"y": {**record, "pieces": 1}})
    with pytest.raises(TileError, match=r"tile memory is .* bytes short"):
        api.compile(PRODUCT, "t4", plan=whole)
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-4, 5, (272, 272)).astype(np.float16) for _ in range(2))
    found = api.run(program, {"x": x}, {"w": w})
    assert np.array_equal(
        found.outputs["y"], (x.astype(np.float32) @ w.astype(np.float32)).astype(np.float16)
    )
