# SPDX-License-Identifier: Apache-2.0
"""ONNX's node tests, as the installed package makes them: none wrong, what is refused known by its reason."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("onnx", reason="pip install onnx")
sys.path.insert(0, str(Path(__file__).parent))
import onnx_node_cases as nodes

pytestmark = pytest.mark.slow  # making all cases alone takes several seconds

PARTS = 16
REASONS = {name: reason for reason, names in nodes.UNSUPPORTED.items() for name in names}


@cache
def cases() -> tuple[Any, ...]:
    return tuple(case for case in nodes.cases() if nodes.is_ours(case))


def test_at_most_a_twentieth_is_refused() -> None:
    names = {case.name for case in cases()}
    assert len(names) > 600 and set(REASONS) <= names
    assert len(REASONS) <= 0.05 * len(names)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_case_is_wrong(part: int) -> None:
    found = {case.name: nodes.verdict(case, "t16") for case in cases()[part::PARTS]}
    wrong = {
        name: (verdict, why)
        for name, (verdict, why) in found.items()
        if verdict != ("unsupported" if name in REASONS else "right") or REASONS.get(name, "") not in why
    }
    assert not wrong
