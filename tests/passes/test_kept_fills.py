# SPDX-License-Identifier: Apache-2.0
"""Padding is filled once before a repeat, where there is room to keep its buffer over the iterations."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

import tilewright
from tilewright import settings
from tilewright.passes import tile_allocate_memory
from tilewright.passes.ir.hoisting import Kept
from tilewright.planning.memory.problem import Problem, Solution
from tilewright.planning.steps import KEPT_TRIES
from tilewright.tools import tile_opt

STEPS = """
func.func @main(%x: tensor<21x40xf16> {tile_tensor.input = "x"},
  %w: tensor<40x40xf16> {tile_tensor.parameter = "w"})
  -> (tensor<21x40xf16> {tile_tensor.output = "out"}) {
  %out = tile_repeat.repeat "steps" count 4 carried(%h = %x : tensor<21x40xf16>)
    invariant(%m = %w : tensor<40x40xf16>) -> (tensor<21x40xf16>) {
    %p = tile_tensor.matmul %h, %m accumulate f16 :
      (tensor<21x40xf16>, tensor<40x40xf16>) -> tensor<21x40xf16>
    %next = tile_tensor.tanh %p : (tensor<21x40xf16>) -> tensor<21x40xf16>
    tile_repeat.yield %next : tensor<21x40xf16>
  }
  func.return %out : tensor<21x40xf16>
}
"""


def ran() -> tuple[tilewright.Program, tilewright.Result]:
    rng = np.random.default_rng(4)
    program = tilewright.compile(STEPS, "t16")
    inputs = {"x": rng.standard_normal((21, 40)).astype(np.float16)}
    return program, tilewright.run(program, inputs, {"w": rng.standard_normal((40, 40)).astype(np.float16)})


def in_repeat(program: tilewright.Program) -> int:
    """Fills in the body of the repeat."""
    body = program.text().partition("tile_asm.repeat")[2]
    assert body
    return body.count('tile_asm.call "fill"')


@pytest.mark.parametrize("search", ["off", "fast"])
def test_fills_before_a_repeat_give_the_same_bits(
    search: Literal["off", "fast"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan that a search tries is placed as the default rule's: its fills are done before the repeat."""
    with settings.use(settings.Settings(search=search)):
        program, kept = ran()
        assert in_repeat(program) == 0
        monkeypatch.setattr(tile_allocate_memory, "kept_buffers", lambda function: [])
        program, filled = ran()
    assert in_repeat(program) > 0
    assert kept.outputs["out"].tobytes() == filled.outputs["out"].tobytes()
    assert kept.cycles["total"] < filled.cycles["total"]


def test_without_room_they_stay_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit is given back: the function is as it was."""
    plain, find = tile_allocate_memory.allocate, tile_allocate_memory.kept_buffers
    found: list[int] = []

    def kept(function: FuncOp) -> list[Kept]:
        buffers = find(function)
        found.append(2 * min(len(buffers), KEPT_TRIES))  # under the strict rules, and under the machine's
        return buffers

    def full(problem: Problem, *rest: int, **options: float) -> Solution:
        solution = plain(problem, *rest, **options)
        found[0] -= 1
        if found[0] >= 0:
            raise tile_allocate_memory.Unplaced(solution, problem)
        return solution

    monkeypatch.setattr(tile_allocate_memory, "kept_buffers", kept)
    monkeypatch.setattr(tile_allocate_memory, "allocate", full)
    with settings.use(settings.Settings(search="off")):
        program, result = ran()
        assert found[0] < 0 and in_repeat(program) > 0
        monkeypatch.undo()
        assert ran()[1].outputs["out"].tobytes() == result.outputs["out"].tobytes()


def test_a_placement_with_kept_buffers_is_dumped_and_told(tmp_path: Path) -> None:
    (tmp_path / "steps.mlir").write_text(STEPS, encoding="utf-8")
    remarks, problems = tmp_path / "remarks.jsonl", tmp_path / "problems"
    options = (f"--remarks-file={remarks}", f"--dump-allocation-problems={problems}", "--machine=t16")
    assert (
        tile_opt.main([str(tmp_path / "steps.mlir"), "-p", "tile-compile", *options, "-o", os.devnull]) == 0
    )
    assert "is done once, before the repeat" in remarks.read_text(encoding="utf-8")
    (path,) = problems.glob("*.memory.strict.json")
    Problem.read(path)
