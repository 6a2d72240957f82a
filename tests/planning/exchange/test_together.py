# SPDX-License-Identifier: Apache-2.0
"""Phases that are scheduled by two processes: the same as by one, whatever happens to the second."""

from __future__ import annotations

import dataclasses
import sys
import threading
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from tilewright.machine import load
from tilewright.planning.exchange import Messages, Schedule, schedule, together
from tilewright.planning.exchange.estimate import estimate

_SPEC = spec_from_file_location(
    "exchange_messages", Path(__file__).parents[2] / "cases" / "exchange_messages.py"
)
assert _SPEC is not None and _SPEC.loader is not None
cases = module_from_spec(_SPEC)
_SPEC.loader.exec_module(cases)

T16 = load("t16")


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process from the second phase on."""
    monkeypatch.setattr(together, "WORTH", 0)
    monkeypatch.setattr(together, "processors", lambda: 2)


def assert_made(planned: together.Planned | None, wanted: Messages) -> None:
    """What scheduling the phase by itself gives, field by field."""
    assert planned is not None
    made, alone = planned[0], schedule(wanted, T16)
    for field in dataclasses.fields(Schedule):
        assert np.array_equal(getattr(made, field.name), getattr(alone, field.name)), field.name
    assert np.array_equal(made.template.words, alone.template.words)
    assert np.array_equal(made.conflicts(), alone.conflicts())
    assert made.summary.bound == alone.summary.bound
    assert planned[1] == estimate(wanted, T16).cycles


def test_two_processes_make_what_one_makes() -> None:
    wanted = [cases.random_messages(T16, seed) for seed in range(6)]
    taken, by = threading.Event(), {}

    def task(number: int) -> tuple[Messages, bool]:
        by[number] = threading.current_thread()
        if number == 5:
            taken.set()
        elif number == 1:
            assert taken.wait(60)  # the last one is not left to this process
        return wanted[number], True

    told: list[tuple[int, int]] = []
    made = together.plan_phases(
        [lambda n=n: task(n) for n in range(6)], T16, lambda done, total: told.append((done, total))
    )
    for planned, messages in zip(made, wanted, strict=True):
        assert_made(planned, messages)
    assert by[0] is by[1] is threading.main_thread() is not by[5]
    assert told[:2] == [(0, 6), (1, 6)]
    assert made[5] is not None and made[5][0].machine is T16


@pytest.mark.parametrize("program", ["/nothing/here", "/bin/false"])
def test_what_a_second_process_does_not_answer_is_made_here(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    wanted = [cases.random_messages(T16, seed) for seed in range(4)]
    made = together.plan_phases([lambda m=m: (m, True) for m in wanted], T16)
    for planned, messages in zip(made, wanted, strict=True):
        assert_made(planned, messages)


@pytest.mark.parametrize("bad", [0, 1, 3])
def test_a_phase_that_cannot_be_scheduled_is_left_out(bad: int) -> None:
    wanted = [cases.random_messages(T16, seed) for seed in range(4)]
    wanted[bad] = cases.messages((0, 0, 0, 1, 1, 0, 6))  # not whole words
    made = together.plan_phases([lambda m=m: (m, True) for m in wanted], T16)
    assert made[bad] is None
    if bad:
        assert_made(made[0], wanted[0])
