# SPDX-License-Identifier: Apache-2.0
"""
Random programs on small machines, under plans that the test forces: every value equals the oracle's, bit for
bit, whatever lies in memory that nobody has written.
"""

import random
from collections.abc import Callable

import harness
import pytest
import random_programs as programs

from tilewright.diagnostics import TileError

CHUNK = 20


def fitting(make: Callable[[int], programs.Program], seed: int) -> tuple[harness.Compiled, programs.Program]:
    """The program of a seed, compiled; one that does not fit its machine is replaced by another."""
    for attempt in range(10):
        candidate = make(seed + attempt * 100_000)
        rng = random.Random(seed + attempt)
        try:
            compiled = harness.compile_text(
                candidate.text, ("t4", "t16")[seed % 2], rng if seed % 4 else None
            )
        except TileError as error:
            if not harness.too_big(error):
                raise
            continue
        return compiled, candidate
    raise AssertionError(f"no program of seed {seed} fits")


def run(make: Callable[[int], programs.Program], seed: int, poisons: tuple[float, ...]) -> None:
    compiled, candidate = fitting(make, seed)
    try:
        harness.check(compiled, candidate.inputs, candidate.parameters, poisons)
    except Exception as error:
        error.add_note(f"seed {seed}\n{candidate.text}")
        raise


def straight(seed: int) -> programs.Program:
    return programs.program(seed, programs.OPERATIONS[seed % len(programs.OPERATIONS)])


def two(seed: int) -> tuple[float, ...]:
    """Two of the poisons, in turn."""
    return harness.POISONS[seed % 5], harness.POISONS[(seed + 2) % 5]


@pytest.mark.parametrize("first", range(0, 240, CHUNK))
def test_programs(first: int) -> None:
    for seed in range(first, first + CHUNK):
        run(straight, seed, two(seed))


@pytest.mark.parametrize("first", range(0, 80, CHUNK))
def test_programs_with_repeats(first: int) -> None:
    for seed in range(first, first + CHUNK):
        run(programs.repeated, seed, two(seed))


@pytest.mark.parametrize("first", (1000, 1010))
def test_no_result_depends_on_what_memory_held_before(first: int) -> None:
    for seed in range(first, first + 10):
        run(straight if seed % 2 else programs.repeated, seed, harness.POISONS)


def test_a_parameter_that_is_returned_lives_from_the_start() -> None:
    """Its second binding, as an output, must not shorten its life: an unused input was placed over it."""
    run(straight, 2027, two(2027))


def test_a_sequence_that_a_plan_pads_64_times_fits() -> None:
    """Its members are kept unpadded: 8 x 264 bytes were 8 x 16,896 on one tile."""
    candidate = straight(2910) if 2910 % 3 else programs.repeated(2910)
    compiled = harness.compile_text(candidate.text, "t4", random.Random(2910))
    harness.check(compiled, candidate.inputs, candidate.parameters, two(2910))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(2000, 6000, 200))
def test_many_programs(first: int) -> None:
    for seed in range(first, first + 200):
        run(programs.repeated if seed % 3 == 0 else straight, seed, two(seed))
