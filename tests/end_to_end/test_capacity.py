# SPDX-License-Identifier: Apache-2.0
"""The bound of `planning/memory/capacity.py` holds of every program that compiles: less than was placed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import random_programs as programs

from tilewright.backends.accounting import memory_by_category
from tilewright.diagnostics import TileError
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_asm import module_to_program
from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Shape
from tilewright.machine import load
from tilewright.machine.kernels import kernel
from tilewright.machine.kernels.scalars import STORES
from tilewright.passes import pipeline
from tilewright.passes.ir.graph import GraphOfModule
from tilewright.planning.memory.capacity import (
    CASTS_APART,
    TooLarge,
    capacity,
    check_capacity,
    lower_bound,
    product_code,
)

DATA = ("parameters", "activations", "staging", "partials")


def held_and_bound(text: str, name: str) -> tuple[int, int]:
    """Bytes of data that a compiled program touches, over all tiles, and the bound."""
    module = parse_module(text, ctx=(ctx := context()))
    pipeline.compile(module, name, context=ctx, until="tile-fuse-epilogues")
    found = GraphOfModule(module).graph
    bound, code = lower_bound(found), product_code(found, load(name))
    pipeline.compile(module, name, context=ctx)
    memory = memory_by_category(module_to_program(module), load(name))
    assert (memory["code"] >= sum(code.values())).all()
    return sum(int(memory[category].sum()) for category in DATA), bound.total


@pytest.mark.parametrize("first", [0, 20])
def test_the_bound_is_below_what_is_placed(first: int) -> None:
    found = 0
    for seed in range(first, first + 20):
        make = programs.repeated if seed % 3 == 0 else programs.program
        text = make(5_000 + seed).text
        try:
            held, bound = held_and_bound(text, ("t4", "t16")[seed % 2])
        except TileError as error:
            if "not fit" in error.message or "no place" in error.message or "short" in error.message:
                continue
            raise
        found += bound > 0  # a repeat that runs not once may need nothing
        assert 0 <= bound <= held, text
    assert found > 10


def graph(text: str):
    return GraphOfModule(parse_module(text, ctx=context())).graph


def test_what_is_counted() -> None:
    body = """func.func @main(%x: tensor<8x16xf16>, %w: tensor<16x32xf16> {tile_tensor.parameter = "w"},
                 %u: tensor<64x64xf32> {tile_tensor.parameter = "u"}) -> tensor<32x8xf16> {
  %p = tile_tensor.matmul %x, %w : (tensor<8x16xf16>, tensor<16x32xf16>) -> tensor<8x32xf16>
  %t = tile_tensor.transpose %p permutation [1, 0] : (tensor<8x32xf16>) -> tensor<32x8xf16>
  %y = tile_tensor.exp %t : (tensor<32x8xf16>) -> tensor<32x8xf16>
  func.return %y : tensor<32x8xf16>
}"""
    need = lower_bound(graph(body))
    assert need.parameters == 2 * 16 * 32  # nobody reads %u
    assert need.live == 2 * 2 * 8 * 32 and need.operator is not None and need.operator.name == "y"


def test_a_cast_that_is_stored_at_once_counts_alone() -> None:
    """Its operand in f16 is never there: the call before the cast stores 8-bit floats."""
    text = """func.func @main(%x: tensor<22400xf16>) -> tensor<22400xf8E4M3FNUZ> {
  %s = tile_tensor.tanh %x : (tensor<22400xf16>) -> tensor<22400xf16>
  %c = tile_tensor.cast %s : (tensor<22400xf16>) -> tensor<22400xf8E4M3FNUZ>
  func.return %c : tensor<22400xf8E4M3FNUZ>
}"""
    held, bound = held_and_bound(text, "t4")
    assert bound == 3 * 22_400 <= held < 4 * 22_400


def test_operators_whose_casts_stay_apart_store_none() -> None:
    assert all(STORES[0] not in kernel(name).scalars for name in CASTS_APART)


LAYERS = """func.func @main(%x: tensor<64x512xf16>,
    %w: !tile_repeat.sequence<12 x tensor<512x512xf16>> {{tile_tensor.parameter = [{names}]}})
    -> tensor<64x512xf16> {{
  %r = tile_repeat.repeat "layers" count 12 carried(%s = %x : tensor<64x512xf16>)
      iterated(%m = %w : !tile_repeat.sequence<12 x tensor<512x512xf16>>) -> (tensor<64x512xf16>) {{
    %p = tile_tensor.matmul %s, %m : (tensor<64x512xf16>, tensor<512x512xf16>) -> tensor<64x512xf16>
    tile_repeat.yield %p : tensor<64x512xf16>
  }}
  func.return %r : tensor<64x512xf16>
}}""".format(names=", ".join(f'"w{i}"' for i in range(12)))


def test_the_code_of_products_is_on_every_tile() -> None:
    """Weights that all of 16 tiles would hold, and two kernels of 1,536 bytes beside them."""
    machine = load("t16")
    rows = (capacity(machine) - 4096) // (2 * 4096)
    text = """func.func @main(%x: tensor<1x4096xf16>, %w: tensor<ROWSx4096xf16> {tile_tensor.parameter = "w"},
    %a: tensor<16x32xf8E4M3FNUZ>, %b: tensor<32x16xf8E4M3FNUZ>) -> (tensor<1xROWSxf16>, tensor<16x16xf16>) {
  %y = tile_tensor.matmul %x, %w transpose_b accumulate f32 : (tensor<1x4096xf16>, tensor<ROWSx4096xf16>)
    -> tensor<1xROWSxf16>
  %z = tile_tensor.matmul %a, %b accumulate f16 : (tensor<16x32xf8E4M3FNUZ>, tensor<32x16xf8E4M3FNUZ>)
    -> tensor<16x16xf16>
  func.return %y, %z : tensor<1xROWSxf16>, tensor<16x16xf16>
}"""
    found = graph(text.replace("ROWS", str(rows)))
    assert lower_bound(found).total <= capacity(machine)
    assert product_code(found, machine) == {"gemm.f16.f32": 1536, "gemm.f8": 1536}
    with pytest.raises(TooLarge, match="too many") as error:
        check_capacity(found, machine)
    assert any("and the code of gemm.f16.f32, gemm.f8" in note for note in error.value.notes)


FITS = Path(__file__).parents[1] / "data" / "fits"


@pytest.mark.parametrize(
    ("tokens", "width", "mlp", "layers", "machine"),
    [(64, 128, 256, 6, "t16q"), (64, 128, 256, 6, "t16qe"), (128, 256, 1024, 4, "t64qe")],
)
def test_vision_transformers_that_no_plan_can_place(
    tokens: int, width: int, mlp: int, layers: int, machine: str
) -> None:
    """Parameters in FP8, an activation with its result, and the code of two kernels are too much."""
    shape = Shape(tokens=tokens, width=width, heads=4, mlp=mlp, layers=layers, batch=1, patch=48)
    module = parse_module(vit.build(shape).program, ctx=(ctx := context()))
    with pytest.raises(TooLarge, match=r"does not fit|do not fit") as error:
        pipeline.compile(module, str(FITS / f"{machine}.toml"), context=ctx)
    assert any("without its reservations and the code of gemm" in note for note in error.value.notes)


def test_layers_that_fit_and_fp8_are_named() -> None:
    machine = load("t16")
    with pytest.raises(TooLarge) as error:
        check_capacity(graph(LAYERS), machine)
    assert "the parameters do not fit: they take 6,291,456 bytes" in error.value.message
    fit = capacity(machine) // (2 * 512 * 512)
    assert f"in each of 12 iterations; those of {fit} would fit" in error.value.notes[1]
    assert "in FP8 they take 3,145,728 bytes, which fits" in error.value.notes[2]
    check_capacity(graph(LAYERS), load("t64"))


def test_the_answer_comes_from_shapes_alone() -> None:
    text = """func.func @main(%x: tensor<40000x40000xf16>) -> tensor<40000x40000xf16> {
  %y = tile_tensor.exp %x : (tensor<40000x40000xf16>) -> tensor<40000x40000xf16>
  func.return %y : tensor<40000x40000xf16>
}"""
    module = parse_module(text, ctx=(ctx := context()))
    start = time.process_time()
    with pytest.raises(TooLarge, match="y does not fit: 6,400,000,000 bytes are live at once"):
        pipeline.compile(module, "c600", context=ctx)
    assert time.process_time() - start < 1
