# SPDX-License-Identifier: Apache-2.0
"""A kernel is added by one entry, and one function that says what it computes: nothing else knows of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tilewright
from tilewright.machine.kernels import Kernel, kernel_names, register, unregister
from tilewright.machine.kernels import formulas as f
from tilewright.machine.kernels.operands import operands
from tilewright.sim import kernels
from tilewright.sim.illegal import IllegalProgram

ENTRY = Kernel(
    "turn_rows",
    "assumed",
    "a worker a row: 2 bundles an element, a load and a store",
    f.whole_rows(2, False),
    ins=operands("x", "r", "c", types="f16|i32"),
    outs=operands("y", "r", "c", types="as x"),
    axes=("r", "c"),
    scalars=("by",),
    required=("by",),
    code_bytes=256,
)


def turn_rows(ins, outs, scalars, extents):  # type: ignore[no-untyped-def]
    """Each row turned to the right by `by` elements."""
    return [np.ascontiguousarray(np.roll(ins[0], int(scalars["by"]), axis=-1))]


@pytest.fixture(autouse=True)
def turning(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    register(ENTRY)
    monkeypatch.setitem(kernels.SEMANTICS, ENTRY.name, turn_rows)
    yield
    unregister(ENTRY)


def program(source: str = "f16", target: str = "f16", scalars: str = "scalars {by = 3 : i64} ") -> str:
    x, y = (f'!tile.buffer<{dtype}, "[8/2@1, 16] %4">' for dtype in (source, target))
    return f"""
      builtin.module attributes {{tile.machine = "t4"}} {{
        func.func @main() {{
          %x = tile.alloc "x" activations : {x}
          tile.bind input %x view "[8a, 16b]" tensors ["x"] : {x}
          %y = tile.alloc "y" activations : {y}
          tile.compute "turn_rows" (%x "r=0 c=1") -> (%y "r=0 c=1") axes "r c" {scalars}for "turn" : {x}, {y}
          tile.bind output %y view "[8a, 16b]" tensors ["y"] : {y}
          func.return
        }}
      }}"""


@pytest.mark.parametrize(("dtype", "kind"), [("f16", np.float16), ("i32", np.int32)])
def test_it_runs(dtype: str, kind: type[np.generic]) -> None:
    x = np.arange(128).reshape(8, 16).astype(kind)
    result = tilewright.run(tilewright.compile(program(dtype, dtype)), {"x": x})
    expected = np.concatenate([x[:, 13:], x[:, :13]], axis=1)
    np.testing.assert_array_equal(result.outputs["y"], expected)
    # two rows by two workers: 330 to call, and 6 x (10 + 2 x 16)
    assert result.cycles["compute"] == 330 + 6 * (10 + 2 * 16)
    assert result.evidence["assumed"] == result.cycles["compute"]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (program("i8", "i8"), "turn_rows does not work on i8"),
        (program("f16", "i32"), "turn_rows does not work on i32"),
        (program(scalars=""), "turn_rows needs the scalar 'by'"),
        (
            program(scalars="scalars {by = 3 : i64, saturate = 1 : i64} "),
            "turn_rows takes no scalar 'saturate'",
        ),
    ],
)
def test_calls_that_its_entry_does_not_allow_are_refused(written: str, message: str) -> None:
    with pytest.raises(IllegalProgram, match=message):
        tilewright.run(tilewright.compile(written), {"x": np.zeros((8, 16))})


def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match="kernel turn_rows registered twice"):
        register(ENTRY)
    assert kernel_names()[-1] == ENTRY.name
