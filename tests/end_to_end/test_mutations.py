# SPDX-License-Identifier: Apache-2.0
"""
Each rule of docs/spec/tensor.md and numerics.md broken in the model (or in a pass): the random programs must
see it, by the reference. The oracle shares the rule and agrees.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

import harness
import pytest
import random_programs as programs
from meaning import BY_NAME
from mutations import MUTATIONS
from test_random_programs import FAST, any_program, fitting

from tilewright.diagnostics import TileError
from tilewright.sim.as_given import compare_run
from tilewright.sim.executor import Executor

NOT_BY_BOUNDS: dict[str, tuple[str, str]] = {
    "what is told to add up in f16 adds up in f32": (
        "an error that a sum in f16 may have is an error that it need not have",
        "what f16 products told to add up in f16 lose",
    ),
    "FP8 products add up in f32 without being told": (
        "the same, and where a sum in f16 may overflow nothing is bounded",
        "FP8 products add up in f16",
    ),
    "FP8 attention adds up in f32 without being told": ("the same", "FP8 attention adds up in f16"),
    "attention without keys gives anything but 0": (
        "no random tensor is empty: there is nothing to run",
        "tests/end_to_end/test_empty_tensors.py",
    ),
    "reductions of nothing give another limit": (
        "no random tensor is empty: there is nothing to run",
        "the maximum of nothing is finite",
    ),
    "squares of norms do not overflow f32": (
        "shows only where one square is beyond f32 and the mean of a row's is not",
        "one square beyond f32",
    ),
    "the zero of a gather keeps its sign": (
        "parts of a table are added up: both zeros are right",
        "rows outside are zero",
    ),
}
"""
Rules that bounds, or random programs, cannot hold a machine to: why, and the case of `meaning` (or the file)
that does.
"""

COMPILED = ("fused", "pads", "added up", "adds up")
"""Words of mutations that change what is compiled."""


def test_what_bounds_cannot_see_has_a_test_of_its_own() -> None:
    for name, (reason, where) in NOT_BY_BOUNDS.items():
        assert reason and name not in MUTATIONS
        assert where in BY_NAME or (Path(__file__).parents[2] / where).exists(), where


def test_a_sum_of_another_type_is_judged_as_it_is_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """It saturates before its gelu, though the machine shows the gelu alone."""
    case, calls = BY_NAME["a sum in 8 bits saturates before its gelu"], Counter[str]()
    found = []
    for broken in (False, True):
        with monkeypatch.context() as patch:
            if broken:
                MUTATIONS["a sum is fused whatever its type"][1].apply(patch, calls)
            program = harness.compile_text(case.text, "t4")
        executor = Executor(program.image, program.machine, float("nan"))
        executor.load({})
        run = compare_run(executor, program.oracle, program.given, case.values())
        found.append((run.planned.found is None, bool(run.given.departures)))
    assert found == [(True, False), (True, True)] and calls["fusable"]


@lru_cache(maxsize=1)
def texts() -> tuple[str, ...]:
    return tuple(any_program(seed).text for seed in range(FAST))


@lru_cache(maxsize=FAST)
def compiled(seed: int) -> tuple[harness.Compiled, programs.Program]:
    return fitting(any_program, seed)


def departs(seed: int, afresh: bool) -> bool:
    """Whether the program of a seed departs from the reference."""
    program, values = fitting(any_program, seed) if afresh else compiled(seed)
    executor = Executor(program.image, program.machine, float("nan"))
    executor.load(values.parameters)
    found = compare_run(executor, program.oracle, program.given, values.inputs, values.parameters)
    return bool(found.given.departures)


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_rule_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that no program calls is an error of the table: what it names has moved."""
    pattern, mutation = MUTATIONS[name]
    seeds = [seed for seed, text in enumerate(texts()) if re.search(pattern, text, re.MULTILINE)]
    afresh = any(word in name for word in COMPILED)
    assert seeds
    if not afresh:
        for seed in seeds[:3]:
            compiled(seed)
    calls: Counter[str] = Counter()
    with monkeypatch.context() as patch:
        mutation.apply(patch, calls)
        tried = 0
        for seed in seeds:
            tried += 1
            try:
                if departs(seed, afresh):
                    return
            except TileError as error:
                if not harness.too_big(error):
                    raise
    assert calls, f"{mutation.name} is called by none of {tried} programs: it has moved"
    raise AssertionError(f"none of {tried} programs sees it")
