# SPDX-License-Identifier: Apache-2.0
"""
The rules of docs/spec/tensor.md, one small program each: right values from the machine, from the reference of
the program as given and bit for bit from the oracle, or a refusal that names what is wrong.

`test_broken_rules.py` breaks each rule in the machine model, and expects its programs to depart.
"""

from __future__ import annotations

import dataclasses
import math
import random

import harness
import numpy as np
import pytest
from meaning import CASES, Case
from meaning.machine import compiled, machine_output
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.parsing import parse_module
from tilewright.dialects.reference import evaluate
from tilewright.sim.executor import Executor
from tilewright.sim.oracle import compare_each


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_machine_gives_what_the_program_means(case: Case) -> None:
    assert (problem := case.wrong(machine_output(case))) is None, problem
    found = compiled(case.name)
    executor = Executor(found.image, found.machine, -42.0)
    executor.load({})
    departure, _ = compare_each(executor, found.oracle, case.values())
    assert departure is None, str(departure)


ADDS_IN_F16 = (
    "FP8 attention adds up in f16",
    "FP8 products add up in f16",
    "f16 products told to add up in f16",
    "what f16 products told to add up in f16 lose",
)
"""The reference does not model the type of running sums."""


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name not in ADDS_IN_F16], ids=lambda case: case.name
)
def test_the_reference_gives_what_the_program_means(case: Case) -> None:
    output = evaluate(parse_module(case.text), case.values())["out0"]
    assert (problem := case.wrong(output)) is None, problem
    shape = case.types.partition(" -> ")[2].split("x")[:-1]
    assert output.shape == tuple(int(extent) for extent in shape)


def test_the_reference_keeps_rank_0() -> None:
    text = (
        "func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {\n"
        "  func.return %a, %b : tensor<f32>, tensor<f32>\n}"
    )
    outputs = evaluate(parse_module(text), {"arg0": np.float32(5.0), "arg1": np.float32(5.0001)})
    assert [array.shape for array in outputs.values()] == [(), ()]


PAD = (
    "func.func @main(%a: tensor<2x{0}>) {{\n  %r = tile_tensor.pad %a low [1] high [1] value {1} : {2}\n"
    "  func.return\n}}"
)


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    (
        ("f8E4M3FNUZ", "1000.0", "pads with 1000.0, which is beyond f8E4M3FNUZ, -240 to 240"),
        ("f8E4M3FNUZ", "248.0", "beyond f8E4M3FNUZ"),
        ("f8E4M3FN", "465", "beyond f8E4M3FN, -448 to 448"),
        ("f8E5M2", "61440.0", "beyond f8E5M2, -57344 to 57344"),
        ("f8E5M2FNUZ", "0xFF800000", "pads with -inf: f8E5M2FNUZ has no infinity"),
        ("i8", "300.0", "pads with 300.0, which is beyond i8, -128 to 127"),
        ("i8", "-129", "beyond i8"),
        ("i8", "0x7F800000", "pads with inf, which is not a whole number: i8 has no such value"),
        ("i8", "0x7FC00000", "pads with nan, which is not a whole number"),
        ("i8", "1.5", "pads with 1.5, which is not a whole number"),
        ("i32", "3.0e9", "pads with 3000000000.0, which is beyond i32, -2147483648 to 2147483647"),
        ("i32", "2147483648", "beyond i32"),
    ),
)
def test_a_pad_value_that_the_type_does_not_have(dtype: str, value: str, message: str) -> None:
    type_ = f"(tensor<2x{dtype}>) -> tensor<4x{dtype}>"
    with pytest.raises(VerifyException, match=message):
        parse_module(PAD.format(dtype, value, type_))


def test_every_plan_gives_what_the_program_means() -> None:
    """The rules of rows hold however scores, rows and tables are divided."""
    for case in CASES:
        if not case.body.startswith(("attention", "gather", "softmax", "layer_norm", "reduce", "matmul")):
            continue
        if "plan = " in case.body:  # parts of a contraction are added up in f32
            continue
        for seed in range(3):
            found = harness.compile_text(case.text, "t16", random.Random(seed))
            executor = Executor(found.image, found.machine, math.nan)
            executor.load({})
            output = executor.run(case.values()).outputs["out0"]
            loose = dataclasses.replace(case, tolerance=max(case.tolerance, 1e-6))
            assert (problem := loose.wrong(output)) is None, f"seed {seed}: {problem}"
