# SPDX-License-Identifier: Apache-2.0
"""A rolled program equals its unrolled form, and one run of a loaded machine equals the next."""

import harness
import numpy as np
import pytest
import random_programs as programs

from tilewright.dialects.parsing import context, parse_module
from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.passes.tile_unroll_repeat import unroll_repeats
from tilewright.sim.executor import Executor
from tilewright.sim.oracle import differing

SMALL = Shape(tokens=13, width=64, heads=4, mlp=96, layers=4, batch=1, patch=48)


def compiled(text: str, machine: str, *, unroll: bool) -> harness.Compiled:
    module = parse_module(text, ctx=(ctx := context()))
    if unroll:
        unroll_repeats(module)
        module.verify()
    return harness.compile_module(module, ctx, machine)


def same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return sorted(a) == sorted(b) and not any(differing(a[name], b[name]).any() for name in a)


@pytest.mark.parametrize("mode", [Mode("f16", "f16"), Mode("f8", "f16"), Mode("f8", "f8")], ids=str)
def test_a_vision_transformer_rolled_and_unrolled(mode: Mode) -> None:
    folder = vit.build(SMALL, mode, seed=3, classes=5)
    results = []
    for unroll in (False, True):
        program = compiled(folder.program, "t64", unroll=unroll)
        harness.check(program, folder.inputs, folder.parameters, [float("nan")])
        executor = Executor(program.image, program.machine, 7.0)
        executor.load(folder.parameters)
        results.append(executor.run(folder.inputs).outputs)
    assert same(*results)
    for name, tolerance in folder.tolerance.items():
        error = np.abs(results[0][name] - folder.expected[name]).max()
        assert error <= tolerance.max_abs_error, f"{name}: {error}"


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_repeats_rolled_and_unrolled(first: int) -> None:
    """Under default plans, which depend on shapes alone wherever arithmetic does."""
    for seed in range(first, first + 10):
        program = programs.repeated(seed)
        results = []
        for unroll in (False, True):
            try:
                forms = compiled(program.text, "t16", unroll=unroll)
            except harness.TileError as error:
                if not harness.too_big(error):
                    raise
                break
            results.append(
                harness.check(forms, program.inputs, program.parameters, [harness.POISONS[seed % 5]])
            )
        assert len(results) < 2 or same(*results), f"seed {seed}\n{program.text}"


def test_three_runs_equal_three_machines() -> None:
    folder = vit.build(SMALL, Mode("f8", "f16"), seed=4)
    program = compiled(folder.program, "t64", unroll=False)
    rng = np.random.default_rng(5)
    runs = [
        {"patches": rng.standard_normal(folder.inputs["patches"].shape).astype(np.float32)} for _ in range(3)
    ]
    lasting = Executor(program.image, program.machine, float("nan"))
    lasting.load(folder.parameters)
    for inputs in runs:
        fresh = Executor(program.image, program.machine)
        fresh.load(folder.parameters)
        expected = fresh.run(inputs)
        found = lasting.run(inputs)
        assert same(expected.outputs, found.outputs)
        assert expected.cycles == found.cycles
