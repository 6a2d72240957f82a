# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/spec/tensor.md, one small program each, with its right values."""

from . import elements, limits, movement, rows, saturation, sums
from .case import Case

CASES = (
    *saturation.CASES,
    *sums.CASES,
    *elements.CASES,
    *movement.CASES,
    *rows.CASES,
    *limits.CASES,
)
BY_NAME = {case.name: case for case in CASES}
assert len(BY_NAME) == len(CASES)

__all__ = ["BY_NAME", "CASES", "Case"]
