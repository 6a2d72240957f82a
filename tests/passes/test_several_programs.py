# SPDX-License-Identifier: Apache-2.0
"""Modules with more than one program: what cannot be meant is refused."""

from __future__ import annotations

import pytest

from tilewright.diagnostics import TileError
from tilewright.dialects.parsing import context, parse_module
from tilewright.passes import pipeline

FUNCTION = (
    "func.func @{}(%x: tensor<4xf16>) -> tensor<4xf16> {{\n"
    "  %y = tile_tensor.neg %x : (tensor<4xf16>) -> tensor<4xf16>\n"
    "  func.return %y : tensor<4xf16>\n}}\n"
)
TWO = "module {\n" + FUNCTION.format("a") + FUNCTION.format("b") + "}"


def test_a_plan_is_of_one_program() -> None:
    module = parse_module(TWO, ctx=(ctx := context()))
    with pytest.raises(TileError, match="a plan is of one program, the module has 2: @a, @b"):
        pipeline.compile(module, "t4", "plan.json", context=ctx)


def test_the_programs_there_are_are_named() -> None:
    module = parse_module(TWO, ctx=(ctx := context()))
    with pytest.raises(TileError, match="there is no program @c") as caught:
        pipeline.select_program(module, ctx, "c")
    assert caught.value.notes == ("programs: @a, @b",)
