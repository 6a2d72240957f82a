# SPDX-License-Identifier: Apache-2.0
"""What a machine may give, where the interval is wide: cases worked out by hand."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tilewright.dialects.bounds import bounds, slack_of
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.reference import Step, steps

LARGEST = np.finfo(np.float32).max


def steps_of(text: str, **inputs: np.ndarray) -> list[Step]:
    return list(steps(parse_module(text, ctx=context()), inputs))


@pytest.mark.parametrize(
    ("dtype", "kind", "zero", "one"),
    [
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn, -0.0, 0.8125),
        ("f8E5M2FNUZ", ml_dtypes.float8_e5m2fnuz, 0.0, 0.875),
    ],
)
def test_a_gelu_far_left_of_its_minimum_is_zero(dtype: str, kind: type, zero: float, one: float) -> None:
    """Though an error of its argument's last bit is beyond the type, and nothing in it is infinite."""
    result = f"tensor<1x2x{dtype}>"
    (step,) = steps_of(
        f"""func.func @main(%x: tensor<1x2xf32> {{tile_tensor.input = "x"}}, %b: tensor<2xf32> {{
                tile_tensor.input = "b"}}) -> ({result} {{tile_tensor.output = "y"}}) {{
          %y = tile_tensor.bias_gelu %x, %b {{saturate = false}}
            : (tensor<1x2xf32>, tensor<2xf32>) -> {result}
          return %y : {result}
        }}""",
        x=np.float32([[1.0, 0.5]]),
        b=np.float32([-LARGEST, 0.5]),
    )
    limits = bounds(step)
    assert not limits.free.any() and not limits.nan.any()
    assert limits.departing(np.array([[zero, one]], kind)).tolist() == [[False, False]]
    assert limits.departing(np.array([[np.nan, 0.625]], kind)).tolist() == [[True, True]]
    assert limits.departing(np.array([[-0.25, one]], kind)).tolist() == [[True, False]]


@pytest.mark.parametrize(("size", "free"), [(1e38, True), (1e37, False)])
def test_parts_of_a_fused_sum_may_overflow_where_all_of_it_does_not(size: float, free: bool) -> None:
    """A product of 2e38 - 2e38 whose parts lie on different tiles, and an addend of 2e38: 4e38 on the way."""
    product, total = steps_of(
        """func.func @main(%a: tensor<1x2xf32> {tile_tensor.input = "a"}, %b: tensor<2x1xf32> {
            tile_tensor.input = "b"}, %c: tensor<1x1xf32> {tile_tensor.input = "c"})
            -> (tensor<1x1xf32> {tile_tensor.output = "y"}) {
          %p = tile_tensor.matmul %a, %b : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
          %y = tile_tensor.add %p, %c : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
          return %y : tensor<1x1xf32>
        }""",
        a=np.float32([[2.0, -2.0]]),
        b=np.full((2, 1), size, np.float32),
        c=np.full((1, 1), 2 * size, np.float32),
    )
    limits = bounds(total, slack_of(product, None))
    assert limits.free.tolist() == [[free]]
    assert not limits.departing(np.full((1, 1), 2 * size, np.float32)).any()
