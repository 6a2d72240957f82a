# SPDX-License-Identifier: Apache-2.0
"""Suggestions: near names are found, strangers are not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tilewright.dialects.known_attributes import KNOWN
from tilewright.suggestions import near, nearest

ROOT = Path(__file__).parents[1]


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


def test_every_attribute_of_ours_is_known() -> None:
    """What passes write is in the table of names, or the verifier refuses it."""
    named = re.compile(r'^[A-Z_]+ = "(tile(?:_[a-z]+)?\.[a-z_]+)"', re.M)
    found = {
        name
        for folder in ("dialects", "passes")
        for path in (ROOT / folder).rglob("*.py")
        for name in named.findall(path.read_text(encoding="utf-8"))
    }
    assert {"tile.machine", "tile_tensor.parameter", "tile.exchange_items"} <= found
    assert found <= set(KNOWN)
