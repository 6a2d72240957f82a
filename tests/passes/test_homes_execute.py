# SPDX-License-Identifier: Apache-2.0
"""
Random homes, counts, rotations and precisions on the machine model: every value equals the oracle's bytes.
"""

import random

import home_programs as h
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.diagnostics import TileError
from tilewright.machine import load


def run(seed: int) -> None:
    rng = random.Random(seed)
    machine = rng.choice(("t4", "t16"))
    case = h.program(seed)
    module, oracle = h.planned(case.text, machine, rng.choice(("ready", "compact")))
    if rng.random() < 0.6:
        h.random_homes(module, load(machine), rng)
        module.verify()
    h.apply(module, *h.passes(rng))
    try:
        h.check(module, oracle, machine, case)
    except TileError as error:
        error.notes = (*error.notes, f"seed {seed} on {machine}", case.text)
        raise


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 30))
def test_programs_with_random_homes(seed: int) -> None:
    run(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 600, 50))
def test_many_programs_with_random_homes(first: int) -> None:
    for seed in range(first, first + 50):
        run(seed)


@pytest.mark.parametrize("machine", ["t4", "t16"])
@pytest.mark.parametrize("distribution", ["linear", "grid"])
def test_a_home_of_seven_members_is_relocated(machine: str, distribution: str) -> None:
    """The sends of an iteration start one uniform stride further on, from chunks as from grids."""
    rng = random.Random(27)
    while True:
        case = h.program(rng.randrange(1 << 20))
        if " count 7 " in case.text:
            break
    module, oracle = h.planned(case.text, machine)
    h.apply(
        module,
        h.TileConvertCompactMicroPanelsPass(panels="fine"),
        h.TileSelectHomesPass(distribution=distribution),  # type: ignore[arg-type]
    )
    h.check(module, oracle, machine, case)
