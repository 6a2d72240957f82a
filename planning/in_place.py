# SPDX-License-Identifier: Apache-2.0
"""
Which results of a repeat are found where they were before it: state that is updated in place, and sequences
whose members are. What the program allows is read from it once (`Carried.in_place`, `Collected.sequence`);
here is what placements add to it, for lowering and for the price of a plan.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.planning.graph import Placement


def stays(allowed: bool, initial: Placement, members: int, argument: Placement) -> bool:
    """Whether a carried value can be the buffer that it begins in, `initial`, with so many members."""
    return allowed and members == 1 and initial == argument


def kept_members(
    allowed: Sequence[int | None],
    results: Sequence[Placement | None],
    arguments: Sequence[Placement | None],
    outer: Sequence[Placement | None],
) -> dict[int, int]:
    """
    Collected values that stay the members of an iterated sequence: by the number of each the number of the
    sequence, in which the results are found then. `allowed` says that sequence for each, `results` where each
    is placed; `arguments` and `outer` are placements of the members in the body and of the sequences.
    """
    kept: dict[int, int] = {}
    for i, number in enumerate(allowed):
        if number is None or number in kept.values():
            continue
        if results[i] == arguments[number] == outer[number]:
            kept[i] = number
    return kept


__all__ = ["kept_members", "stays"]
