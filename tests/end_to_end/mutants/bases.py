# SPDX-License-Identifier: Apache-2.0
"""The programs that are changed, and what a change is worth: refused, departed, inert."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import harness
import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from tilewright.backends.image import Image, to_image
from tilewright.backends.program import (
    Program,
)
from tilewright.diagnostics import TileError
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_asm import module_to_program
from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.machine import Machine, load
from tilewright.sim.executor import Executor
from tilewright.sim.illegal import IllegalProgram
from tilewright.sim.memory import Memory
from tilewright.sim.oracle import Oracle, OracleError, compare_each, differing
from tilewright.sim.results import RunResult
from tilewright.tools.run_compare import other_steps

PAIRS = """
builtin.module {
  func.func @pairs(%x: tensor<64x64xf16> {tile_tensor.input = "x"},
                   %w: tensor<64x256xf16> {tile_tensor.parameter = "w"},
                   %v: tensor<256x64xf16> {tile_tensor.parameter = "v"})
      -> (tensor<64x64xf16> {tile_tensor.output = "y"}) {
    %a = tile_tensor.matmul %x, %w accumulate f16
        : (tensor<64x64xf16>, tensor<64x256xf16>) -> tensor<64x256xf16>
    %s = tile_tensor.softmax %a : (tensor<64x256xf16>) -> tensor<64x256xf16>
    %b = tile_tensor.matmul %s, %v : (tensor<64x256xf16>, tensor<256x64xf16>) -> tensor<64x64xf16>
    func.return %b : tensor<64x64xf16>
  }
}
"""
MIXED = """
builtin.module {
  func.func @mixed(%i: tensor<9xi32> {tile_tensor.input = "i"},
                   %n: tensor<9x24xi32> {tile_tensor.input = "n"},
                   %t: tensor<40x24xf32> {tile_tensor.parameter = "t"},
                   %g: tensor<24xf32> {tile_tensor.parameter = "g"},
                   %b: tensor<24xf32> {tile_tensor.parameter = "b"})
      -> (tensor<9xf32> {tile_tensor.output = "sums"}, tensor<9x24xi32> {tile_tensor.output = "least"}) {
    %e = tile_tensor.gather %t, %i axis 0 : (tensor<40x24xf32>, tensor<9xi32>) -> tensor<9x24xf32>
    %l = tile_tensor.layer_norm %e, %g, %b epsilon 1.0e-05
        : (tensor<9x24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<9x24xf32>
    %s = tile_tensor.reduce sum %l axes [1] : (tensor<9x24xf32>) -> tensor<9xf32>
    %a = tile_tensor.abs %n : (tensor<9x24xi32>) -> tensor<9x24xi32>
    %m = tile_tensor.minimum %a, %n : (tensor<9x24xi32>, tensor<9x24xi32>) -> tensor<9x24xi32>
    func.return %s, %m : tensor<9xf32>, tensor<9x24xi32>
  }
}
"""
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Base:
    """A program that is right, and what it gives."""

    name: str
    machine: Machine
    program: Program
    oracle: Oracle
    inputs: Arrays
    parameters: Arrays
    outputs: Arrays
    cycles: dict[str, float]
    steps: int

    @property
    def image(self) -> Image:
        return to_image(self.program)


def _compile(text: str, machine: str) -> tuple[Program, Oracle]:
    module = parse_module(text, ctx=(ctx := context()))
    module.attributes["tile.machine"] = StringAttr(machine)
    harness.plan(module, ctx, load(machine), None)
    oracle = Oracle(module)
    for step in harness.passes()[harness.PLANNING + 1 :]:
        step.apply(ctx, module)
    return module_to_program(module), oracle


def _random(r: np.random.Generator, like: np.ndarray) -> np.ndarray:
    """Values in which no two places are alike, so that reading the wrong one shows."""
    if like.dtype.kind in "iub":
        return r.integers(0, 40, like.shape).astype(like.dtype)
    return (r.standard_normal(like.shape) * 0.5).astype(np.float32)


@cache
def base(name: str) -> Base:
    """One of the base programs: repeats and attention on four tiles, FP8, items in pairs, integers."""
    r = np.random.default_rng(7)
    if name in ("repeats", "fp8"):
        shape, mode, machine = {
            "repeats": (Shape(9, 32, 2, 48, 3, 1, 24), Mode("f16", "f16"), "t4"),
            "fp8": (Shape(9, 64, 2, 96, 2, 1, 32), Mode("f8", "f8"), "t16"),
        }[name]
        folder = vit.build(shape, mode, seed=1, classes=5)
        text, inputs, parameters = folder.program, dict(folder.inputs), dict(folder.parameters)
        parameters = {
            k: v if v.dtype.itemsize == 1 else _random(r, np.asarray(v)) for k, v in parameters.items()
        }
    elif name == "pairs":
        text, machine = PAIRS, "t16"
        inputs = {"x": _random(r, np.zeros((64, 64)))}
        parameters = {"w": _random(r, np.zeros((64, 256))), "v": _random(r, np.zeros((256, 64)))}
    else:
        text, machine = MIXED, "t4"
        inputs = {"i": _random(r, np.zeros(9, np.int32)), "n": r.integers(-99, 99, (9, 24)).astype(np.int32)}
        parameters = {
            "t": _random(r, np.zeros((40, 24))),
            "g": _random(r, np.zeros(24)),
            "b": _random(r, np.zeros(24)),
        }
    program, oracle = _compile(text, machine)
    executor = Executor(to_image(program), load(machine), float("nan"))
    executor.load(parameters)
    found, result = compare_each(executor, oracle, inputs, parameters)
    assert found is None and result is not None
    count = len(result.steps)
    return Base(
        name, load(machine), program, oracle, inputs, parameters, result.outputs, result.cycles, count
    )


BASES = ("repeats", "fp8", "pairs", "mixed")


@dataclass
class Mutant:
    """
    `make` gives the changed image (or refuses); `what` names the bytes that were changed. `why` says why they
    mean nothing, or None when they should have meant something; it is asked only of a mutant that behaves as
    the base.
    """

    what: str
    make: Callable[[], Image]
    why: Callable[[], str | None] = lambda: None


@dataclass(frozen=True)
class Outcome:
    """`verdict`: refused, departed, other cycles, or inert; `detail`: the rule or the reason."""

    verdict: str
    detail: str


def same_memory(
    one: Base, mutated: Image, address: int, nbytes: int, tiles: np.ndarray | slice = slice(None)
) -> bool:
    """
    Whether a run leaves the same memory on these tiles as the right program's, but for the bytes that were
    changed.
    """

    def memory(image: Image) -> Memory:
        executor = Executor(image, one.machine, float("nan"))
        executor.load(one.parameters)
        executor.run(one.inputs)
        return executor.memory

    ours, theirs = memory(one.image), memory(mutated)
    differs = ours.data != theirs.data
    differs[:, address - ours.base : address - ours.base + nbytes] = False
    return not differs[tiles].any() and bool((ours.valid == theirs.valid)[tiles].all())


def judge(one: Base, mutant: Mutant) -> Outcome:
    """
    What becomes of a mutant. Only refusals that the tools print as diagnostics are caught: anything else
    passes through. AssertionError when the changed bytes make no difference and nobody knows why.
    """
    try:
        image = mutant.make()
        executor = Executor(image, one.machine, float("nan"), most_steps=4 * one.steps)
        executor.load(one.parameters)
        found, result = compare_each(executor, one.oracle, one.inputs, one.parameters)
    except IllegalProgram as error:
        return Outcome("refused", error.rule)
    except OracleError as error:
        return Outcome("departed", error.message)
    except TileError as error:
        return Outcome("refused", f"{type(error).__name__}")
    except (ParseError, VerifyException, DiagnosticException) as error:
        return Outcome("refused", f"{type(error).__name__}")
    if found is not None:
        return Outcome("departed", str(found))
    assert isinstance(result, RunResult)
    if sorted(result.outputs) != sorted(one.outputs):
        return Outcome("departed", "other outputs")
    for name, expected in one.outputs.items():
        assert not differing(expected, result.outputs[name]).any(), mutant.what
    if twice := other_steps(one.program, result.steps):
        return Outcome("departed", f"steps: {twice[0]}")
    if result.cycles != one.cycles:
        return Outcome("other cycles", f"{result.cycles['total']} for {one.cycles['total']}")
    reason = mutant.why()
    assert reason is not None, f"{one.name}: no difference and no reason: {mutant.what}"
    return Outcome("inert", reason)
