# SPDX-License-Identifier: Apache-2.0
"""tile-roll-repeat: what was unrolled comes back, computes the same, and nothing else is touched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.dialects.entry import read_entry
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.reference import evaluate
from tilewright.dialects.tile_repeat import RepeatOp
from tilewright.passes.tile_roll_repeat import TileRollRepeatPass
from tilewright.passes.tile_unroll_repeat import TileUnrollRepeatPass

T = "tensor<2x2xf32>"
UNARY = ("neg", "tanh", "abs", "square", "relu")


def body(draw: st.DrawFn) -> tuple[list[str], str, list[str], bool]:
    """Operations on %x, weights %w0..., an invariant %m; the last one's name; the kinds of the parameters."""
    lines: list[str] = []
    values = ["%x"]
    weights: list[str] = []
    uses_invariant = False
    for i in range(draw(st.integers(2, 6))):
        kind = draw(st.sampled_from(("unary", "weight", "invariant", "inner")))
        last = values[-1]
        if kind == "weight":
            weights.append(f"%w{len(weights)}")
            lines.append(f"%v{i} = tile_tensor.add {last}, {weights[-1]} : ({T}, {T}) -> {T}")
        elif kind == "invariant":
            uses_invariant = True
            lines.append(f"%v{i} = tile_tensor.maximum {last}, %m : ({T}, {T}) -> {T}")
        elif kind == "inner":
            other = draw(st.sampled_from(values))
            lines.append(f"%v{i} = tile_tensor.sub {last}, {other} : ({T}, {T}) -> {T}")
        else:
            lines.append(f"%v{i} = tile_tensor.{draw(st.sampled_from(UNARY))} {last} : ({T}) -> {T}")
        values.append(f"%v{i}")
    return lines, values[-1], weights, uses_invariant


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_rolling_is_the_inverse_of_unrolling(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 5))
    lines, last, weights, invariant = body(data.draw)
    s = f"!tile_repeat.sequence<{count} x {T}>"
    arguments = [f"%x0: {T}", f"%n: {T}"]
    for w in weights:
        names = ", ".join(f'"{w[1:]}.{i}"' for i in range(count))
        arguments.append(f"{w}s: {s} {{tile_tensor.parameter = [{names}]}}")
    header = f"carried(%x = %s : {T})" + (f" invariant(%m = %n : {T})" if invariant else "")
    if weights:
        header += " iterated(" + ", ".join(f"{w} = {w}s : {s}" for w in weights) + ")"
    text = f"""
    func.func @main({", ".join(arguments)}) -> {T} {{
      %s = tile_tensor.erf %x0 : ({T}) -> {T}
      %y = tile_repeat.repeat "layers" count {count} {header} -> ({T}) {{
        {chr(10).join(lines)}
        tile_repeat.yield {last} : {T}
      }}
      %z = tile_tensor.sigmoid %y : ({T}) -> {T}
      func.return %z : {T}
    }}"""
    module, ctx = parse_module(text), context()
    draw = np.random.default_rng(0)
    inputs = {name: draw.normal(size=(2, 2)).astype(np.float32) for name in ("arg0", "arg1")}
    parameters = {
        f"{w[1:]}.{i}": draw.normal(size=(2, 2)).astype(np.float32) for w in weights for i in range(count)
    }
    expected = evaluate(module, inputs, parameters)
    operations = len(lines) + 1
    TileUnrollRepeatPass().apply(ctx, module)
    unrolled = str(module)
    TileRollRepeatPass().apply(ctx, module)
    module.verify()
    repeats = [op for op in module.walk() if isinstance(op, RepeatOp)]
    assert len(repeats) >= 1, unrolled
    assert sum(op.iterations * (len(list(op.body_block.ops)) - 1) for op in repeats) >= count * (
        operations - 1
    )
    assert sum(len(a.names) for a in read_entry(module).parameters) == len(weights) * count
    found = evaluate(module, inputs, parameters)
    assert np.array_equal(found["out0"], expected["out0"], equal_nan=True)
    TileUnrollRepeatPass().apply(ctx, module)
    again = evaluate(module, inputs, parameters)
    assert np.array_equal(again["out0"], expected["out0"], equal_nan=True)


@pytest.mark.parametrize("count", [2, 6])
def test_the_layers_of_a_transformer_come_back(count: int) -> None:
    from tilewright.frontends.workloads import vit
    from tilewright.frontends.workloads.encoder import Mode, Shape

    shape = Shape(tokens=4, width=32, heads=2, mlp=64, layers=count, batch=1, patch=8)
    folder = vit.build(shape, Mode("f16", "f16"), seed=1)
    module, ctx = parse_module(folder.program), context()
    before = next(op for op in module.walk() if isinstance(op, RepeatOp))
    kinds = [op.name for op in before.body_block.ops]
    shape_of = (before.iterations, len(before.carried), len(before.invariant), len(before.iterated))
    TileUnrollRepeatPass().apply(ctx, module)
    TileRollRepeatPass().apply(ctx, module)
    module.verify()
    (after,) = [op for op in module.walk() if isinstance(op, RepeatOp)]
    assert [op.name for op in after.body_block.ops] == kinds
    assert shape_of == (after.iterations, len(after.carried), len(after.invariant), len(after.iterated))


def test_a_parameter_that_something_else_reads_is_not_stacked() -> None:
    a, b = (f'%{n}: {T} {{tile_tensor.parameter = "{n}"}}' for n in "ab")
    text = f"""
    func.func @main(%x: {T}, {a}, {b}) -> {T} {{
      %p = tile_tensor.add %x, %a : ({T}, {T}) -> {T}
      %q = tile_tensor.neg %p : ({T}) -> {T}
      %r = tile_tensor.add %q, %b : ({T}, {T}) -> {T}
      %s = tile_tensor.neg %r : ({T}) -> {T}
      %t = tile_tensor.sub %s, %a : ({T}, {T}) -> {T}
      func.return %t : {T}
    }}"""
    module = parse_module(text)
    TileRollRepeatPass().apply(context(), module)
    assert not [op for op in module.walk() if isinstance(op, RepeatOp)]


def test_the_fewest_repetitions_and_operations_are_options() -> None:
    line = f"%{{1}} = tile_tensor.tanh %{{0}} : ({T}) -> {T}\n"
    chain = "".join(line.format(i, i + 1) for i in range(4))
    text = f"func.func @main(%0: {T}) -> {T} {{\n{chain}func.return %4 : {T}\n}}"
    for options, count in (({"min_ops": 1}, 4), ({}, 2), ({"min_count": 3}, None)):
        module = parse_module(text)
        TileRollRepeatPass(**options).apply(context(), module)
        module.verify()
        assert [op.iterations for op in module.walk() if isinstance(op, RepeatOp)] == (
            [count] if count else []
        )
