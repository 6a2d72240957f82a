# SPDX-License-Identifier: Apache-2.0
"""Suggestions: near names are found, strangers are not."""

from __future__ import annotations

import pytest

from tilewright.suggestions import near, nearest


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("paramter", ["parameter", "input", "output", "scale"], ["parameter"]),
        ("inptu", ["parameter", "input", "output", "scale"], ["input"]),
        ("tolerence", ["tolerance", "precision", "runs"], ["tolerance"]),
        ("zebra", ["parameter", "input", "output", "scale"], []),
        # a common prefix makes nothing near
        ("encoder.layers.attended", ["encoder.layers.q", "encoder.layers.hidden"], []),
        ("tile_tensor.frobnicate", ["tile_tensor.matmul", "tile_tensor.transpose"], []),
        ("tile_tensor.matmull", ["tile_tensor.matmul", "tile_tensor.transpose"], ["tile_tensor.matmul"]),
        ("layers.2.weight", ["layers.0.weight", "layers.0.bias"], ["layers.0.weight"]),
        # short names share letters by chance
        ("ab", ["ba", "abc"], ["abc"]),
        ("q", ["k", "v"], []),
        ("", ["x"], []),
    ],
)
def test_nearest(name: str, candidates: list[str], expected: list[str]) -> None:
    assert nearest(name, candidates) == expected


def test_the_question() -> None:
    assert near("inptu", ["input"]) == "did you mean `input`?"
    assert near("adf", ["addf", "addi"]) == "did you mean `addf`?"
    assert near("far", ["input"]) is None
