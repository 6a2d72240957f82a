# SPDX-License-Identifier: Apache-2.0
"""What the model's libraries say to a caller that asks for something that does not exist."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from xdsl.dialects import test

from tilewright.backends.image import to_image
from tilewright.backends.program import Binding, Code, Program, Table
from tilewright.machine import load
from tilewright.machine.numerics.operations import pointwise
from tilewright.machine.numerics.passes import gemm
from tilewright.sim.executor import ExecutionError, Executor
from tilewright.sim.illegal import IllegalProgram
from tilewright.sim.oracle import OracleError, evaluate_operation

T4 = load("t4")


def program(**changes: object) -> Program:
    made = Program("t4", "nothing", (Code("fill", 0x70000, 128),), 0x71000, (), (), (), ())
    return replace(made, **changes)  # type: ignore[arg-type]


def test_a_program_for_another_machine() -> None:
    with pytest.raises(ExecutionError, match="the program is for machine 't4', not 't16'"):
        Executor(to_image(program()), load("t16"))


def test_a_table_for_another_number_of_tiles() -> None:
    table = Table("extents", 0x72000, np.arange(6, dtype=np.uint32).reshape(3, 2), "arguments")
    with pytest.raises(IllegalProgram, match="table 'extents' is for 3 tiles, the machine has 4"):
        Executor(to_image(program(tables=(table,))), T4).load({})


def test_a_sequence_with_too_few_names() -> None:
    binding = Binding("w", "parameter", 0x80000, "f32", "[4]", "[4a]", (4,), ("a", "b"), 3, 64)
    with pytest.raises(IllegalProgram, match="it has 3 members but names 2 tensors"):
        Executor(to_image(program(bindings=(binding,))), T4).load({})


def test_a_function_that_the_model_does_not_have() -> None:
    x = np.ones(2, np.float32)
    with pytest.raises(ValueError, match="no pointwise function 'cosh' of 1 operands"):
        pointwise("cosh", x, dtype="f32")
    with pytest.raises(ValueError, match="no pointwise function 'add' of 1 operands"):
        pointwise("add", x, dtype="f32")


def test_an_operation_without_an_oracle() -> None:
    with pytest.raises(OracleError, match=r"test\.op has no oracle"):
        evaluate_operation(test.TestOp(), [])


def test_products_of_integers_are_i8_by_i8() -> None:
    i8, i32 = np.ones((1, 2, 16), np.int8), np.ones((1, 2, 16), np.int32)
    for a, w, accumulate in ((i32, i8, "i32"), (i8, i8, "f32")):
        with pytest.raises(ValueError, match="integer matmul is i8 by i8 with i32 result and scale 0, not "):
            gemm(a, w, accumulate, 16)


def test_a_pass_that_is_too_wide_for_exact_sums() -> None:
    wide = np.full((1, 2, 128), 60000, np.float16)
    with pytest.raises(ValueError, match="a pass of 128 inputs is too wide for exact sums"):
        gemm(wide, wide, "f32", 128)
