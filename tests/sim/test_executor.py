# SPDX-License-Identifier: Apache-2.0
"""The executor on programs written by hand: what they compute, what they cost."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.backends.image import to_image
from tilewright.backends.program import Binding, Call, Code, Operand, Program, Table
from tilewright.machine import load
from tilewright.planning.dtypes import numpy_dtype
from tilewright.planning.layout import Axis, Layout, Split
from tilewright.planning.view import View
from tilewright.sim.executor import Executor

MACHINE = load("t4")
F8 = "f8E4M3FNUZ"
CODE, SUPERVISOR, ARGUMENTS, ROWS = 0x70000, 0x71000, 0x72000, 0x74000
A, W, C = 0x78000, 0x88000, 0x90000


def words(*row: int, tiles: int = 4) -> np.ndarray:
    """The same words on every tile."""
    return np.tile(np.array(row, np.int64), (tiles, 1))


def gemm_program() -> Program:
    """c[40, 16] = a[40, 64] . w[64, 16]: rows of a divided over the four tiles, w on all of them."""
    a = Layout((Axis(40, (Split(10, 1),)), Axis(64, (), (32,))), ((1, 0), (0, 0), (1, 1)))
    w = Layout((Axis(16, (), (16,)), Axis(64, (), (32,))), ((0, 0), (1, 0), (0, 1), (1, 1)), replicas=((4, 1),))
    c = Layout((Axis(40, (Split(10, 1),)), Axis(16, (), (16,))), ((1, 0), (0, 0), (1, 1)), memory="interleaved")
    call = Call(
        "gemm.f8",
        (
            Operand(A, F8, (((0, 0),), a.strides(0), a.strides(1))),
            Operand(W, F8, (((0, 0),), w.strides(0), w.strides(1))),
        ),
        (Operand(C, "f16", (((0, 0),), c.strides(0), c.strides(1))),),
        (("scale", -2),),
        "extents",
        "model.mlir:3",
    )
    return Program(
        machine="t4",
        name="gemm",
        code=(Code("gemm.f8", CODE, 1536),),
        supervisor_address=SUPERVISOR,
        tables=(Table("extents", ARGUMENTS, words(1, 10, 16, 64), "arguments"),),
        bindings=(
            Binding("a", "input", A, F8, str(a), str(View.identity((40, 64))), (40, 64)),
            Binding("w", "parameter", W, F8, str(w), str(View.identity((16, 64))), (16, 64)),
            Binding("c", "output", C, "f16", str(c), str(View.identity((40, 16))), (40, 16)),
        ),
        placed=(),
        body=(call,),
    )


def test_a_matrix_product_on_four_tiles() -> None:
    program = gemm_program()
    rng = np.random.default_rng(0)
    a = rng.integers(-8, 8, (40, 64)).astype(np.float32)
    w = rng.integers(-8, 8, (16, 64)).astype(np.float32)
    executor = Executor(to_image(program), MACHINE)
    executor.load({"w": w})
    result = executor.run({"a": a})
    exact = a.astype(numpy_dtype(F8)).astype(np.float64) @ w.astype(np.float64).T
    assert np.allclose(result.outputs["c"], exact / 4, rtol=2e-3, atol=0.5)
    assert result.cycles["total"] == 294 + 2 * (4 * 10 + 160)
    assert result.cycles["compute"] == result.cycles["total"]
