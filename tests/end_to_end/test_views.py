# SPDX-License-Identifier: Apache-2.0
"""
Views in front of and behind every consumer, executed and compared with what the program as given computes.
"""

import itertools
import random

import harness
import numpy as np
import pytest
import view_programs
from xdsl.dialects.builtin import StringAttr

from tilewright.backends.image import to_image
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.reference import evaluate
from tilewright.dialects.tile_asm import module_to_program
from tilewright.dialects.tile_repeat import RepeatOp
from tilewright.machine import load
from tilewright.passes.pipeline import Options, passes
from tilewright.passes.tile_plan_layouts import TilePlanLayoutsPass
from tilewright.passes.tile_select_homes import TileSelectHomesPass
from tilewright.passes.tile_unroll_repeat import TileUnrollRepeatPass
from tilewright.sim.executor import Executor

CHUNK = 20


def differs(
    text: str,
    inputs: harness.Arrays,
    machine: str,
    *,
    parameters: harness.Arrays | None = None,
    rng: random.Random | None = None,
    poison: float = np.nan,
    tolerance: float = 0.0,
) -> str:
    """How an output of the machine departs from the reference of the program as given; "" if none does."""
    expected = evaluate(parse_module(text, ctx=context()), inputs, parameters)
    compiled = harness.compile_text(text, machine, rng)
    executor = Executor(compiled.image, compiled.machine, poison)
    executor.load(parameters or {})
    found = executor.run(inputs).outputs
    assert sorted(found) == sorted(expected)
    for name, array in expected.items():
        if not np.allclose(found[name], array, rtol=tolerance, atol=tolerance, equal_nan=True):
            return f"{name}: expected\n{array}\nfound\n{found[name]}"
    return ""


def run(seed: int) -> None:
    chain = view_programs.program(seed)
    try:
        found = differs(
            chain.text,
            chain.inputs,
            ("t4", "t16")[seed // 8 % 2],
            parameters=chain.parameters,
            rng=random.Random(seed) if seed % 3 else None,
            poison=harness.POISONS[seed % 5],
            tolerance=0.0 if chain.exact else 0.02,
        )
    except harness.TileError as error:
        if harness.too_big(error):
            return  # a plan that the test forces
        error.add_note(f"seed {seed}\n{chain.text}")
        raise
    except Exception as error:
        error.add_note(f"seed {seed}\n{chain.text}")
        raise
    assert not found, f"seed {seed}\n{chain.text}\n{found}"


@pytest.mark.parametrize("first", range(0, 160, CHUNK))
def test_views_around_every_consumer(first: int) -> None:
    for seed in range(first, first + CHUNK):
        run(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10_000, 14_000, 200))
def test_many_views_around_every_consumer(first: int) -> None:
    for seed in range(first, first + 200):
        run(seed)


@pytest.mark.parametrize("after", [TilePlanLayoutsPass.name, TileSelectHomesPass.name])
@pytest.mark.parametrize("again", [False, True])
def test_planned_repeats_unroll(after: str, again: bool) -> None:
    """Unrolled behind planning or behind the choice of homes, and planned again or not: the values stay."""
    for seed in range(7, 63, 8):  # programs with a repeat
        chain = view_programs.program(seed)
        ctx = context()
        module = parse_module(chain.text, ctx=ctx)
        expected = evaluate(module, chain.inputs, chain.parameters)
        module.attributes["tile.machine"] = StringAttr("t4")
        options = Options(homes="selected" if after == TileSelectHomesPass.name else "planned")
        for step in passes(options):
            step.apply(ctx, module)
            if step.name != after:
                continue
            for extra in (TileUnrollRepeatPass(), *((TilePlanLayoutsPass(),) if again else ())):
                extra.apply(ctx, module)
                module.verify()
        assert not any(isinstance(op, RepeatOp) for op in module.walk())
        executor = Executor(to_image(module_to_program(module)), load("t4"), np.nan)
        executor.load(chain.parameters)
        found = executor.run(chain.inputs).outputs
        tolerance = 0.0 if chain.exact else 0.02
        for name, array in expected.items():
            same = np.allclose(found[name], array, rtol=tolerance, atol=tolerance, equal_nan=True)
            assert same, f"seed {seed}\n{chain.text}\n{name}: expected\n{array}\nfound\n{found[name]}"


# -- single cases --------------------------------------------------------------------------------------------


def test_the_last_column_is_padding() -> None:
    """A slice padded back is seen where its source is: no copy may take the storage whole."""
    text = """
    func.func @main(%x: tensor<4x8xf16> {tile_tensor.input = "x"})
        -> (tensor<4x8xf16> {tile_tensor.output = "y"}) {
      %s = tile_tensor.slice %x offsets [0, 0] sizes [4, 7] : (tensor<4x8xf16>) -> tensor<4x7xf16>
      %y = tile_tensor.pad %s low [0, 0] high [0, 1] : (tensor<4x7xf16>) -> tensor<4x8xf16>
      return %y : tensor<4x8xf16>
    }"""
    assert not differs(text, {"x": np.arange(1, 33, dtype=np.float32).reshape(4, 8)}, "t4")


def test_a_word_is_not_completed_over_padding() -> None:
    """A pointwise result keeps the lane that its slice left out: the pad may not bring it along."""
    text = """
    func.func @main(%x: tensor<2xf16> {tile_tensor.input = "x"})
        -> (tensor<2xf16> {tile_tensor.output = "y"}) {
      %s = tile_tensor.slice %x offsets [0] sizes [1] : (tensor<2xf16>) -> tensor<1xf16>
      %e = tile_tensor.add %s, %s : (tensor<1xf16>, tensor<1xf16>) -> tensor<1xf16>
      %y = tile_tensor.pad %e low [0] high [1] value 1.5 : (tensor<1xf16>) -> tensor<2xf16>
      return %y : tensor<2xf16>
    }"""
    assert not differs(text, {"x": np.array([3, 4], np.float32)}, "t4")


def test_a_sequence_that_begins_with_a_broadcast() -> None:
    """Its members have storage of their own: nothing can be written through the view of a broadcast."""
    text = """
    func.func @main(
        %x: tensor<4x6xf16> {tile_tensor.input = "x"}, %b: tensor<6xf16> {tile_tensor.input = "b"})
        -> (!tile_repeat.sequence<2 x tensor<4x6xf16>> {tile_tensor.output = "y"}) {
      %c = tile_tensor.broadcast %b dimensions [1] : (tensor<6xf16>) -> tensor<4x6xf16>
      %p = tile_repeat.pack %c, %x : !tile_repeat.sequence<2 x tensor<4x6xf16>>
      return %p : !tile_repeat.sequence<2 x tensor<4x6xf16>>
    }"""
    x, b = np.arange(24, dtype=np.float32).reshape(4, 6), np.arange(6, dtype=np.float32)
    assert not differs(text, {"x": x, "b": b}, "t4")


@pytest.mark.parametrize("dtype", ["i32", "f16", "f8E4M3FN"])
def test_a_sequence_that_begins_with_a_part_of_a_larger_value(dtype: str) -> None:
    """A part that leaves out whole words is not copied with what surrounds it, where nothing was written."""
    part = f"tensor<2x33x7x{dtype}>"
    text = f"""
    func.func @main(
        %x: tensor<3x33x7x{dtype}> {{tile_tensor.input = "x"}}, %z: {part} {{tile_tensor.input = "z"}})
        -> (!tile_repeat.sequence<2 x {part}> {{tile_tensor.output = "y"}}) {{
      %s = tile_tensor.sort %x axis 0 : (tensor<3x33x7x{dtype}>) -> tensor<3x33x7x{dtype}>
      %c = tile_tensor.slice %s offsets [0, 0, 0] sizes [2, 33, 7] : (tensor<3x33x7x{dtype}>) -> {part}
      %p = tile_repeat.pack %c, %z : !tile_repeat.sequence<2 x {part}>
      return %p : !tile_repeat.sequence<2 x {part}>
    }}"""
    draw = np.random.default_rng(0).integers
    kind = np.int32 if dtype == "i32" else np.float32
    inputs = {"x": draw(-8, 8, (3, 33, 7)).astype(kind), "z": draw(-8, 8, (2, 33, 7)).astype(kind)}
    assert not differs(text, inputs, "t4")


X, Q = "tensor<16x16xf16>", "tensor<15x16xf16>"
ATTENTION = f"""
    %y = tile_tensor.attention %q, %k, %v scale 0.25 : ({Q}, {Q}, {Q}) -> {Q}
    return %y : {Q}
  }}"""


@pytest.mark.parametrize(
    "values",
    [
        # the keys that a slice leaves out, and quotients of the lanes of a transposed product
        f"""%n = tile_tensor.rms_norm %x, %g epsilon 1.0e-06 : ({X}, tensor<16xf16>) -> {X}
    %t = tile_tensor.transpose %n permutation [1, 0] : ({X}) -> {X}
    %v = tile_tensor.slice %t offsets [0, 0] sizes [15, 16] : ({X}) -> {Q}""",
        f"""%s = tile_tensor.slice %x offsets [0, 0] sizes [15, 16] : ({X}) -> {Q}
    %m = tile_tensor.matmul %s, %x : ({Q}, {X}) -> {Q}
    %o = tile_tensor.attention %q, %k, %m scale 0.25 : ({Q}, {Q}, {Q}) -> {Q}
    %v = tile_tensor.div %m, %m : ({Q}, {Q}) -> {Q}""",
    ],
    ids=["slice", "quotient"],
)
def test_what_lies_beside_the_keys_of_attention_has_no_weight(values: str) -> None:
    """Keys end inside a word. Zero times what completes it would be NaN if that were not finite."""
    text = f"""
  func.func @main(%q: {Q} {{tile_tensor.input = "q"}}, %k: {Q} {{tile_tensor.input = "k"}},
      %x: tensor<16x16xf16> {{tile_tensor.input = "x"}}, %g: tensor<16xf16> {{tile_tensor.input = "g"}})
      -> ({Q} {{tile_tensor.output = "y"}}) {{
    {values}{ATTENTION}"""
    draw = np.random.default_rng(0).standard_normal
    inputs = {"q": draw((15, 16)), "k": draw((15, 16)), "x": draw((16, 16)), "g": np.ones(16)}
    inputs["g"][15] = np.inf
    inputs = {name: array.astype(np.float32) for name, array in inputs.items()}
    assert not differs(text, inputs, "t4", tolerance=0.02)


# -- pads of slices, all of them -----------------------------------------------------------------------------


def pads_of_slices(shape: tuple[int, ...], dtype: str, between: str, most: int = 100) -> list[str]:
    """
    Programs whose outputs are all slices of x of this shape, padded back to it everywhere they fit; `most`
    of them a program.
    """
    full = view_programs.Value("%x", shape, dtype)
    axes = [
        [
            (start, size, low)
            for size in range(1, n + 1)
            for start, low in np.ndindex(n - size + 1, n - size + 1)
        ]
        for n in shape
    ]
    cases = list(itertools.product(*axes))
    texts: list[str] = []
    for first in range(0, len(cases), most):
        lines: list[str] = []
        names: list[str] = []
        for number, case in enumerate(cases[first : first + most]):
            starts, sizes, low = ([part[i] for part in case] for i in range(3))
            high = [n - size - at for n, size, at in zip(shape, sizes, low, strict=True)]
            part = view_programs.Value(f"%s{number}", tuple(sizes), dtype)
            box = f"offsets {starts} sizes {sizes}"
            lines.append(f"  {part.name} = tile_tensor.slice %x {box} : ({full.type}) -> {part.type}")
            source = part.name
            if between:
                source = f"%t{number}"
                lines.append(f"  {source} = tile_tensor.{between} {part.name} : ({part.type}) -> {part.type}")
            names.append(f"%y{number}")
            around = f"low {low} high {high} value 9.0"
            lines.append(f"  {names[-1]} = tile_tensor.pad {source} {around} : ({part.type}) -> {full.type}")
        outputs = ", ".join(f'{full.type} {{tile_tensor.output = "{name[1:]}"}}' for name in names)
        header = f'func.func @main(%x: {full.type} {{tile_tensor.input = "x"}}) -> ({outputs}) {{'
        result = f"  return {', '.join(names)} : {', '.join([full.type] * len(names))}"
        texts.append("\n".join([header, *lines, result, "}"]))
    return texts


@pytest.mark.parametrize(
    ("shape", "dtype", "between", "machine"),
    [
        ((5,), "f16", "", "t4"),
        ((4,), "f16", "neg", "t16"),
        ((5,), "i8", "", "t16"),
        ((4,), "f32", "neg", "t4"),
        ((2, 3), "f16", "", "t16"),
        ((2, 2), "i8", "neg", "t4"),
        ((2, 2), "f32", "", "t4"),
    ],
)
def test_every_pad_of_a_slice_back_to_the_shape(
    shape: tuple[int, ...], dtype: str, between: str, machine: str
) -> None:
    x = np.arange(1, np.prod(shape) + 1).reshape(shape).astype(np.int8 if dtype == "i8" else np.float32)
    for text in pads_of_slices(shape, dtype, between):
        assert not differs(text, {"x": x}, machine)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f16", "i8", "f8E4M3FNUZ", "f32"])
@pytest.mark.parametrize("between", ["", "neg"])
@pytest.mark.parametrize("shape", [(8,), (3, 3), (1, 5), (4, 2), (2, 2, 2)])
def test_larger_pads_of_slices_back_to_the_shape(shape: tuple[int, ...], between: str, dtype: str) -> None:
    x = np.arange(1, np.prod(shape) + 1).reshape(shape) % 8 + 1
    x = x.astype(np.int8 if dtype == "i8" else np.float32)
    for text in pads_of_slices(shape, dtype, between):
        assert not differs(text, {"x": x}, "t4")
