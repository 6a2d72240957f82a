# SPDX-License-Identifier: Apache-2.0
"""The memory test of candidates: two checks, two messages, support included."""

from __future__ import annotations

from tilewright.machine import load
from tilewright.planning.memory.problem import Buffer
from tilewright.planning.memory.screen import screen, support

C600 = load("c600")
LARGEST = max(b - -(-a // 8) * 8 for a, b in C600.available("interleaved"))


def test_a_sequence_larger_than_any_range_is_refused_with_its_own_message() -> None:
    """All members count, and the largest range is that of the memory class, not the capacity."""
    stride = LARGEST // 27 // 8 * 8 + 8
    verdict = screen(C600, [Buffer("w", stride, 0, 9, count=27, stride=stride)])
    assert [b.name for b, _ in verdict.refused] == ["w"] and not verdict.short
    assert f"exceed the largest contiguous range, {LARGEST} bytes" in verdict.refused[0][1]
    assert screen(C600, [Buffer("w", stride - 8, 0, 9, count=27, stride=stride - 8)]).fits
    standard = screen(C600, [Buffer("w", 180_000, 0, 9, memory="standard")])
    assert "of standard memory" in standard.refused[0][1]


def test_capacity_is_another_check() -> None:
    verdict = screen(C600, [Buffer(f"x{i}", 200_000, 0, 9) for i in range(3)])
    assert not verdict.refused
    assert verdict.short[0].memory == "any" and verdict.short[0].live == 600_000


def test_support_is_part_of_the_test() -> None:
    """What fits an empty tile does not fit beside code and rows."""
    capacity = sum(b - a for a, b in C600.available())
    tensors = [Buffer("a", LARGEST, 0, 9), Buffer("b", capacity - LARGEST - 60_000, 0, 9)]
    assert screen(C600, tensors).fits
    beside = screen(C600, [*tensors, *support(C600, 9, 18_000, 70_000)])
    assert [p.short for p in beside.short if p.memory == "any"] == [28_000]


def test_rows_that_the_executable_region_cannot_hold() -> None:
    verdict = screen(C600, support(C600, 9, 120_000, 70_000))
    assert {p.memory for p in verdict.short} == {"standard", "executable"}
