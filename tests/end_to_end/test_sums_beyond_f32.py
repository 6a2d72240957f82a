# SPDX-License-Identifier: Apache-2.0
"""Where sums come near the end of f32: the reference's bounds accept what a machine may give, and no more."""

import harness
import numpy as np
import pytest

FAR = 3.4e38


def judged(text: str, inputs: dict[str, np.ndarray]) -> None:
    harness.check(harness.compile_text(text, "t4"), inputs, {}, [float("nan")])


def test_a_sum_by_index_between_two_overflows() -> None:
    text = """
func.func @main(%x: tensor<2xf32> {tile_tensor.input = "x"}, %i: tensor<1xi32> {tile_tensor.input = "i"},
    %u: tensor<1xf32> {tile_tensor.input = "u"}) -> (tensor<2xf8E4M3FN> {tile_tensor.output = "y"}) {
  %y = tile_tensor.scatter_add %x, %i, %u {saturate = false}
      : (tensor<2xf32>, tensor<1xi32>, tensor<1xf32>) -> tensor<2xf8E4M3FN>
  return %y : tensor<2xf8E4M3FN>
}"""
    judged(text, {"x": np.float32([FAR, 1.0]), "i": np.int32([0]), "u": np.float32([-FAR])})


@pytest.mark.parametrize("fused", [False, True], ids=["apart", "plus"])
def test_an_addend_that_parts_of_a_product_do_not_leave_room_for(fused: bool) -> None:
    """The product is 1.6e38, a part of it 2e38: with 1.7e38 on top of that f32 overflows on the way."""
    types = "tensor<1x96xbf16>, tensor<96x2xbf16>"
    body = (
        f"%y = tile_tensor.matmul %x, %w plus %b : ({types}, tensor<2xbf16>) -> tensor<1x2xbf16>"
        if fused
        else f"""%p = tile_tensor.matmul %x, %w : ({types}) -> tensor<1x2xbf16>
  %y = tile_tensor.add %p, %b : (tensor<1x2xbf16>, tensor<2xbf16>) -> tensor<1x2xbf16>"""
    )
    text = f"""
func.func @main(%x: tensor<1x96xbf16> {{tile_tensor.input = "x"}},
    %w: tensor<96x2xbf16> {{tile_tensor.input = "w"}}, %b: tensor<2xbf16> {{tile_tensor.input = "b"}})
    -> (tensor<1x2xbf16> {{tile_tensor.output = "y"}}) {{
  {body}
  return %y : tensor<1x2xbf16>
}}"""
    for order in (1, -1):
        w = np.zeros((96, 2), np.float32)
        w[0], w[95] = 2.0e19, -0.4e19
        x = np.full((1, 96), 1e19, np.float32)
        judged(text, {"x": x, "w": w[::order].copy(), "b": np.full(2, 1.7e38, np.float32)})
