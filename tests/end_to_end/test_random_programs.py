# SPDX-License-Identifier: Apache-2.0
"""
Random programs on small machines, under plans that the test forces: every value equals the oracle's, bit for
bit, and lies within its bounds of the reference of the program as given, whatever lies in memory that nobody
has written.
"""

import random
from collections.abc import Callable

import coverage_of_programs as covered
import harness
import numpy as np
import pytest
import random_programs as programs
import reduction

from tilewright.diagnostics import TileError
from tilewright.machine.numerics import pointwise

FAST, SLOW = 300, 5000
CHUNK = 15


def fitting(make: Callable[[int], programs.Program], seed: int) -> tuple[harness.Compiled, programs.Program]:
    """
    The program of a seed, compiled, under a plan that is forced or, every fourth, searched; one that does not
    fit its machine is replaced by another.
    """
    for attempt in range(10):
        candidate = make(seed + attempt * 100_000)
        rng = random.Random(seed + attempt)
        try:
            forced = seed % 4
            compiled = harness.compile_text(
                candidate.text, machine(seed), rng if forced else None, "off" if forced else "fast"
            )
        except TileError as error:
            if not harness.too_big(error):
                error.notes = (*error.notes, f"seed {seed}\n{candidate.text}")
                raise
            continue
        return compiled, candidate
    raise AssertionError(f"no program of seed {seed} fits")


def machine(seed: int) -> str:
    return ("t4", "t16")[seed % 2]


def run(make: Callable[[int], programs.Program], seed: int, poisons: tuple[float, ...]) -> None:
    compiled, candidate = fitting(make, seed)
    try:
        harness.check(compiled, candidate.inputs, candidate.parameters, poisons)
    except Exception as error:
        error.add_note(f"seed {seed}\n{candidate.text}")
        error.add_note(reduction.note(candidate, machine(seed), error))
        raise


def straight(seed: int) -> programs.Program:
    return programs.program(seed, programs.OPERATIONS[seed % len(programs.OPERATIONS)])


def any_program(seed: int) -> programs.Program:
    """Every fifth has repeats."""
    return programs.repeated(seed) if seed % 5 == 3 else straight(seed)


def two(seed: int) -> tuple[float, ...]:
    """Two of the poisons, in turn."""
    return harness.POISONS[seed % 5], harness.POISONS[(seed + 2) % 5]


@pytest.mark.parametrize("first", range(0, FAST, CHUNK))
def test_programs(first: int) -> None:
    for seed in range(first, first + CHUNK):
        run(any_program, seed, two(seed))


def test_the_programs_cover_the_language() -> None:
    """Every operation, attribute value and element type occurs often enough in the fast set."""
    assert covered.missing(any_program(seed).text for seed in range(FAST)) == []


@pytest.mark.parametrize("first", (10_000, 10_010))
def test_no_result_depends_on_what_memory_held_before(first: int) -> None:
    for seed in range(first, first + 10):
        run(any_program, seed, harness.POISONS)


def test_a_parameter_that_is_returned_lives_from_the_start() -> None:
    """Its second binding, as an output, must not shorten its life: an unused input was placed over it."""
    text = """
func.func @main(%a: tensor<33xf16> {tile_tensor.input = "a"},
    %b: tensor<11x13x2xi32> {tile_tensor.parameter = "b"}) -> (tensor<4x8x2xi32> {tile_tensor.output = "s"}) {
  %x = tile_tensor.slice %a offsets [11] sizes [13] : (tensor<33xf16>) -> tensor<13xf16>
  %t = tile_tensor.transpose %b permutation [0, 1, 2] : (tensor<11x13x2xi32>) -> tensor<11x13x2xi32>
  %s = tile_tensor.slice %t offsets [5, 5, 0] sizes [4, 8, 2] : (tensor<11x13x2xi32>) -> tensor<4x8x2xi32>
  return %s : tensor<4x8x2xi32>
}"""
    b = np.arange(11 * 13 * 2, dtype=np.int32).reshape(11, 13, 2)
    inputs, parameters = {"a": np.ones(33, np.float16)}, {"b": b}
    found = harness.check(harness.compile_text(text, "t16"), inputs, parameters, two(2027))
    np.testing.assert_array_equal(found["s"], b[5:9, 5:13, :])


def test_a_sequence_that_a_plan_pads_64_times_fits() -> None:
    """Its members are kept unpadded: 8 x 264 bytes were 8 x 16,896 on one tile."""
    candidate = straight(2910) if 2910 % 3 else programs.repeated(2910)
    compiled = harness.compile_text(candidate.text, "t4", random.Random(2910))
    harness.check(compiled, candidate.inputs, candidate.parameters, two(2910))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(20_000, 20_000 + SLOW, 100))
def test_many_programs(first: int) -> None:
    for seed in range(first, first + 100):
        run(any_program, seed, two(seed))


def test_values_keep_their_names_when_others_are_fused() -> None:
    """A machine's values are compared with those of the program as given by name, unnamed ones included."""
    text = """
func.func @main(%x: tensor<4x8xf16> {tile_tensor.input = "x"}, %b: tensor<8xf16> {tile_tensor.input = "b"})
    -> (tensor<4x8xf16> {tile_tensor.output = "y"}) {
  %0 = tile_tensor.add %x, %b : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  %1 = tile_tensor.gelu %0 approximate tanh : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %2 = tile_tensor.add %1, %x : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %3 = tile_tensor.gelu %2 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %4 = tile_tensor.add %3, %2 : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %5 = tile_tensor.neg %4 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  return %5 : tensor<4x8xf16>
}"""
    compiled = harness.compile_text(text, "t4")
    seen = {tap.value for tap in compiled.image.taps}
    assert seen >= {"gelu", "add_2", "gelu_2", "add_3"}
    rng = np.random.default_rng(0)
    values = {"x": rng.normal(size=(4, 8)), "b": rng.normal(size=8)}
    harness.check(compiled, values, {}, two(0))


def test_a_failing_program_is_reduced(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is the operation at fault, on given operands."""
    arguments = '%x: tensor<8x8xf16> {tile_tensor.input = "x"}'
    results = 'tensor<8x8xf16> {tile_tensor.output = "z"}'
    text = (
        f"func.func @main({arguments}) -> ({results}) "
        + """{
  %a = tile_tensor.transpose %x permutation [1, 0] : (tensor<8x8xf16>) -> tensor<8x8xf16>
  %b = tile_tensor.add %a, %x : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
  %y = tile_tensor.tanh %b : (tensor<8x8xf16>) -> tensor<8x8xf16>
  %z = tile_tensor.neg %y : (tensor<8x8xf16>) -> tensor<8x8xf16>
  return %z : tensor<8x8xf16>
}"""
    )
    true = pointwise.FLOATS["tanh"]
    monkeypatch.setitem(pointwise.FLOATS, "tanh", lambda x: true(x) + 0.25)
    program = programs.Program(text, {"x": np.ones((8, 8), np.float16)}, {})
    small, message = reduction.reduced(program, "t4")
    assert "'y'" in message
    assert [line.split()[2] for line in small.text.splitlines()[1:] if " = " in line] == ["tile_tensor.tanh"]
