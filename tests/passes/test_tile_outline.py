# SPDX-License-Identifier: Apache-2.0
"""Outlining: whatever a foreign function mixes, it computes the same with the regions taken out."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, SSAValue

from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.reference import constant_array, evaluate
from tilewright.dialects.tile_tensor import ConstantOp
from tilewright.passes.ir.programs import Census, program_name, programs
from tilewright.passes.tile_outline import TileOutlinePass

TYPE = "tensor<2x3xf32>"
BINARY = ("tile_tensor.add", "tile_tensor.mul", "arith.addf", "arith.mulf")
FUNCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "tile_tensor.add": np.add,
    "tile_tensor.mul": np.multiply,
    "tile_tensor.neg": np.negative,
    "arith.addf": np.add,
    "arith.mulf": np.multiply,
    "arith.negf": np.negative,
}


def mixed(seed: int) -> str:
    """A function of operations of ours and of arith, in any order; a helper of ours that it may call."""
    rng = random.Random(seed)
    values, lines = ["%a", "%b"], []
    for i in range(rng.randrange(1, 14)):
        kind = rng.random()
        if kind < 0.15:
            lines.append(f"%v{i} = tile_tensor.constant dense<{rng.randrange(1, 3)}.0> : {TYPE}")
        elif kind < 0.3:
            op = rng.choice(("tile_tensor.neg", "arith.negf"))
            type_ = f"({TYPE}) -> {TYPE}" if op.startswith("tile") else TYPE
            lines.append(f"%v{i} = {op} {rng.choice(values)} : {type_}")
        elif kind < 0.4:
            lines.append(f"%v{i} = func.call @helper({rng.choice(values)}) : ({TYPE}) -> {TYPE}")
        else:
            op = rng.choice(BINARY)
            type_ = f"({TYPE}, {TYPE}) -> {TYPE}" if op.startswith("tile") else TYPE
            lines.append(f"%v{i} = {op} {rng.choice(values)}, {rng.choice(values)} : {type_}")
        values.append(f"%v{i}")
    results = [rng.choice(values) for _ in range(rng.randrange(1, 3))]
    types = ", ".join([TYPE] * len(results))
    body = "\n    ".join(lines)
    return f"""
  func.func @host(%a: {TYPE}, %b: {TYPE}, %c: index) -> ({types}) {{
    {body}
    func.return {", ".join(results)} : {types}
  }}
  func.func @helper(%x: {TYPE}) -> {TYPE} {{
    %y = tile_tensor.add %x, %x : ({TYPE}, {TYPE}) -> {TYPE}
    func.return %y : {TYPE}
  }}
"""


def host(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "host")


def run(module: ModuleOp, a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """The host's results; what it calls is evaluated by the reference."""
    called = {program_name(program): program for program in programs(module)}
    block: Block = host(module).body.block
    values: dict[SSAValue, np.ndarray] = {block.args[0]: a, block.args[1]: b}
    for op in block.ops:
        found = [values[operand] for operand in op.operands]
        if op.name == "func.return":
            return found
        if isinstance(op, ConstantOp):
            values[op.result] = constant_array(op.value)
        elif isinstance(op, CallOp) and op.callee.root_reference.data not in called:
            values[op.results[0]] = found[0] + found[0]
        elif isinstance(op, CallOp):
            given = {f"arg{i}": array for i, array in enumerate(found)}
            outputs = evaluate(called[op.callee.root_reference.data], given, {})
            values |= {result: outputs[f"out{i}"] for i, result in enumerate(op.results)}
        else:
            values[op.results[0]] = FUNCTIONS[op.name](*found)
    raise AssertionError("no return")


def foreign(module: ModuleOp) -> list[str]:
    return [op.name for op in host(module).walk() if op.name.startswith("arith.")]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_what_a_foreign_module_computes_stays(seed: int) -> None:
    module = parse_module(mixed(seed))
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-2, 3, (2, 3)).astype(np.float32) for _ in range(2))
    expected, before = run(module, a, b), foreign(module)
    TileOutlinePass().apply(context(), module)
    module.verify()
    assert not any(op.name.startswith("tile_") for op in host(module).walk())
    assert foreign(module) == before
    for one, other in zip(run(module, a, b), expected, strict=True):
        assert np.array_equal(one, other), str(module)
    again = module.clone()
    TileOutlinePass().apply(context(), again)
    assert str(again) == str(module)


def test_a_module_that_is_one_program_is_left_alone() -> None:
    text = f"func.func @f(%x: {TYPE}) -> {TYPE} {{\n%y = tile_tensor.neg %x : ({TYPE}) -> {TYPE}\n"
    module = parse_module(f"{text}func.return %y : {TYPE}\n}}")
    before = str(module)
    TileOutlinePass().apply(context(), module)
    assert str(module) == before and programs(module) == (module,)


def test_a_nested_module_of_one_program_is_marked() -> None:
    helper = mixed(0)[mixed(0).index("func.func @helper") :]
    module = parse_module(f"builtin.module {{ {helper} }} builtin.module {{}}")
    TileOutlinePass().apply(context(), module)
    assert [program_name(program) for program in programs(module)] == ["helper"]
    assert str(module).count("builtin.module") == 3


@pytest.mark.parametrize("width", ["index", "i2", "f64"])
def test_functions_on_other_types_are_foreign(width: str) -> None:
    module = parse_module(f"func.func @f(%x: tensor<4x{width}>) {{ func.return }}")
    assert Census.of(module).ours == {}
