# SPDX-License-Identifier: Apache-2.0
"""What every planner demands of the grid in a record, and how the parts of an axis are dealt to tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tilewright.machine import Machine
from tilewright.planning.layout import Split
from tilewright.planning.operators.base import Operator

_COUNTS = ("no", "one", "two", "three", "four")


def check_parts(operator: Operator, grid: Sequence[int], names: Sequence[str]) -> None:
    """An error of the operator when `grid` is not a positive number of parts of each of `names`."""
    if len(grid) != len(names) or any(part < 1 for part in grid):
        raise operator.error(
            f"grid {list(grid)} is not {_COUNTS[len(names)]} positive parts ({', '.join(names)})"
        )


def check_fits(operator: Operator, grid: Sequence[int], used: Sequence[int], machine: Machine) -> None:
    """An error of the operator when the parts that are in use (`used`) are more than the machine's tiles."""
    tiles = math.prod(used)
    if tiles > machine.tiles:
        raise operator.error(
            f"grid {list(grid)} needs {tiles} tiles; machine {machine.name} has {machine.tiles}",
            hint="lower one of the parts",
        )


def splits(block: int, digits: Sequence[tuple[int, int]]) -> tuple[Split, ...]:
    """An axis cut in blocks that lie on the tiles by these (count, tile stride) digits, outer to inner."""
    inner = [math.prod(count for count, _ in digits[i + 1 :]) for i in range(len(digits))]
    return tuple(Split(block * size, stride) for size, (_, stride) in zip(inner, digits, strict=True))


def replicas(*pairs: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """The (count, tile stride) pairs along which there is more than one copy."""
    return tuple((count, stride) for count, stride in pairs if count > 1)
