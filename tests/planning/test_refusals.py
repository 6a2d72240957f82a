# SPDX-License-Identifier: Apache-2.0
"""What the planning libraries say about layouts, views, messages, problems and plan files that cannot be."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.machine import load
from tilewright.planning.exchange import ExchangeError, Messages, schedule
from tilewright.planning.exchange.geometry import common_refinement
from tilewright.planning.layout import Axis, Layout, LayoutError, Split, View, linear_home, row_major
from tilewright.planning.memory.problem import (
    Alternative,
    Buffer,
    Option,
    Problem,
    ProblemError,
    TileClass,
    regions_of,
)
from tilewright.planning.plan import Plan
from tilewright.planning.stages import PlanError

T4 = load("t4")
VIEW = View.identity((4, 6))
WIDE = tuple(Axis(1) for _ in range(27))
INDEX = np.zeros(1, np.int64)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Axis(-1), "the extent of an axis is not negative: -1"),
        (lambda: Axis(4, (), (0,)), "a panel has at least one element: (0,)"),
        (lambda: Split(2, -1), "a tile stride is not negative: -1"),
        (lambda: Layout(WIDE, ()), "a layout may have at most 26 storage axes, not 27"),
        (
            lambda: Layout((Axis(4),), ((0, 0),), ((0, 1),)),
            "replicas are (count >= 1, tile stride >= 0): ((0, 1),)",
        ),
        (lambda: Layout((Axis(4),), ((0, 0),), (), -3), "base -3 and tile count 0 are not negative"),
        (lambda: Layout((Axis(4),), ((0, 0),), (), 1 << 40), "a layout names at most "),
        (
            lambda: row_major((4, 6)).positions(INDEX),
            "a layout of 2 axes takes 2 index arrays, not 1",
        ),
        (
            lambda: linear_home((64,), ((16,),), ((0, 0), (0, 1)), tiles=4).local_extents(0, 1),
            "a linear home has no extent per axis: its tiles follow from the panel number",
        ),
        (lambda: View((4, 6), VIEW.digits[:1], (0, 0)), "a view of rank 2 needs digits for 2 axes, not 1"),
        (
            lambda: View((), (), (0,) * 27),
            "a view may have at most 26 storage axes, not 27",
        ),
        (lambda: View((4, 6), VIEW.digits, (0, -2)), "view offsets are not negative: (0, -2)"),
        (lambda: VIEW.slice((0,), (1,)), "a slice of a view of rank 2 needs 2 offsets and sizes"),
        (
            lambda: VIEW.broadcast((3, 4, 6), (2, 1)),
            "broadcast dimensions (2, 1) do not place 2 axes in 3",
        ),
        (
            lambda: VIEW.then(View.identity((4,))),
            "a view onto 2 axes cannot be followed by one of rank 1",
        ),
        (lambda: VIEW.storage(INDEX), "a view of rank 2 takes 2 index arrays, not 1"),
        (
            lambda: common_refinement(row_major((4, 6)), VIEW, row_major((4,)), View.identity((4,))),
            "values of shape (4, 6) and (4,) have no common rectangles",
        ),
    ],
)
def test_layouts_and_views_that_cannot_be(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(LayoutError) as caught:
        build()
    assert message in str(caught.value)


def test_a_message_of_no_buffer() -> None:
    one = np.array
    messages = Messages(one([0]), one([-1]), one([0]), one([1]), one([1]), one([0]), one([8]))
    with pytest.raises(ExchangeError, match="message 0 names a negative buffer"):
        schedule(messages, T4)


def test_a_phase_that_is_too_long() -> None:
    one = np.array
    messages = Messages(one([0]), one([0]), one([0]), one([1]), one([1]), one([0]), one([1 << 33]))
    with pytest.raises(ExchangeError, match=r"an exchange of \d+ cycles is longer than the model counts"):
        schedule(messages, T4)


REGIONS = regions_of(T4)
A, B = Buffer("a", 64, 0, 1), Buffer("b", 64, 0, 1)
START = REGIONS[0].start


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"regions": (replace(REGIONS[0], end=0),)},
            f"region '{REGIONS[0].name}' is empty, or not below ",
        ),
        ({"buffers": (A, A)}, "two buffers are named 'a'"),
        ({"buffers": (replace(A, nbytes=-4),)}, "'a' has a negative size"),
        ({"buffers": (replace(A, first=2),)}, "'a' is live from 2 to 1"),
        ({"buffers": (replace(A, alignment=0),)}, "'a' has alignment 0"),
        (
            {"buffers": (replace(A, count=3, stride=32),)},
            "'a': a stride of 32 for members of 64 bytes aligned to 8",
        ),
        ({"buffers": (replace(A, memory="flash"),)}, "'a': memory is one of any, executable, "),
        ({"buffers": (replace(A, kind="toys"),)}, "'a': kind is one of "),
        ({"buffers": (replace(A, classes=(5,)),)}, "'a' names a class that is not there"),
        ({"buffers": (A, replace(B, alias="c"))}, "'b' is an alias of 'c', which is no buffer of its own"),
        ({"separate": (("a", "z"),)}, "'z' is no buffer"),
        ({"alternatives": (Alternative("way", ()),)}, "alternative 'way' has no options"),
        (
            {"alternatives": (Alternative("way", (Option("left", ("z",)),)),)},
            "option 'left' names 'z', which is no buffer",
        ),
        (
            {
                "alternatives": (
                    Alternative("way", (Option("left", ("a",)),)),
                    Alternative("path", (Option("right", ("a",)),)),
                )
            },
            "'a' belongs to two alternatives",
        ),
        ({"ranges": ((START, START + 64), (START + 32, START + 96))}, "two ranges overlap"),
        ({"ranges": ((START - 64, START + 64),)}, "is not inside one region"),
    ],
)
def test_allocation_problems_that_cannot_be(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {
        "buffers": (A, B),
        "ranges": T4.available(),
        "regions": REGIONS,
        "classes": (TileClass(0, 4),),
        **change,
    }
    with pytest.raises(ProblemError) as caught:
        Problem(**given).check()
    assert message in str(caught.value)


def test_a_file_that_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "problem.json"
    path.write_text('{"format": "recipe"}')
    with pytest.raises(ProblemError, match='has no "format": "tilewright-allocation-problem"'):
        Problem.read(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("[1]", 'a plan file has "format": "tilewright-plan"'),
        ("{", "the plan is not JSON"),
        ({"format": "tilewright-plan", "version": 99}, "the plan has version 99; this program reads up to"),
        (
            {"format": "tilewright-plan", "version": 1, "operators": [1]},
            '"operators" maps operator names to records',
        ),
        ({"format": "tilewright-plan", "version": 2, "machine": 3}, '"machine" is the name of a machine'),
        (
            {"format": "tilewright-plan", "version": 2, "homes": {"w": "[4]"}},
            '"homes" maps names to a list of one or two texts',
        ),
    ],
)
def test_files_that_are_no_plan(tmp_path: Path, data: object, message: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    with pytest.raises(PlanError) as caught:
        Plan.read(path)
    assert message in str(caught.value) and caught.value.location == str(path)


def test_a_plan_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="cannot write the plan: Is a directory"):
        Plan().write(tmp_path)
