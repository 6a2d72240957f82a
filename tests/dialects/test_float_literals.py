# SPDX-License-Identifier: Apache-2.0
"""Decimal literals against numpy and ml_dtypes, and against the nearest value where those round twice."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from xdsl.dialects import builtin

from tilewright.dialects.text.float_literals import float_of_bits, round_literal
from tilewright.machine.dtypes import DTYPES

TYPES = {
    "f32": builtin.f32,
    "f16": builtin.f16,
    "bf16": builtin.bf16,
    "f8E4M3FNUZ": builtin.f8E4M3FNUZ,
    "f8E5M2FNUZ": builtin.f8E5M2FNUZ,
    "f8E4M3FN": builtin.f8E4M3FN,
    "f8E5M2": builtin.f8E5M2,
}


@pytest.mark.parametrize("name", TYPES)
@given(value=st.floats(width=32))
@example(value=-0.0)
@example(value=1.0e9)
def test_of_f32_values_as_numpy_converts(name: str, value: float) -> None:
    with np.errstate(all="ignore"):
        expected = float(np.float32(value).astype(DTYPES[name].numpy))
    found = round_literal(value, TYPES[name])
    assert found == expected or (math.isnan(found) and math.isnan(expected))
    if not math.isnan(found):
        assert math.copysign(1, found) == math.copysign(1, expected)


@pytest.mark.parametrize("name", ["f16", "bf16", "f8E4M3FN"])
@given(value=st.floats(-200, 200))
@example(value=1.0 + 2.0**-11 + 2.0**-30)  # beside a tie of f16: twice rounded through f32 it would go down
@example(value=1.0 + 2.0**-8 + 2.0**-40)
def test_nearest_of_all_values(name: str, value: float) -> None:
    dtype = DTYPES[name].numpy
    codes = np.arange(2 ** (8 * dtype.itemsize)).astype(f"u{dtype.itemsize}")
    values = codes.view(dtype).astype(np.float64)
    values = values[np.isfinite(values)]
    found = round_literal(value, TYPES[name])
    assert abs(found - value) == np.abs(values - value).min()


def test_integers_and_infinities() -> None:
    assert round_literal(10**400, builtin.f32) == math.inf
    assert round_literal(-(10**400), builtin.f16) == -math.inf
    assert math.isnan(round_literal(1e300, builtin.f8E4M3FNUZ))
    assert round_literal(1.7e308, builtin.f32) == math.inf
    assert math.copysign(1, round_literal(-1e-30, builtin.f8E4M3FNUZ)) == 1  # no -0 there


def test_bits() -> None:
    assert float_of_bits("0xFC00", builtin.f16) == -math.inf
    assert float_of_bits("0x7E", builtin.f8E4M3FN) == 448.0
    with pytest.raises(ValueError, match="0xFF800000 has more bits than f16: 16"):
        float_of_bits("0xFF800000", builtin.f16)
