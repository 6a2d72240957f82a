# SPDX-License-Identifier: Apache-2.0
"""tile-unroll-repeat: the unrolled program computes the same from the same tensors, for nests of repeats."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import UnknownLoc

from tilewright.dialects.entry import read_entry
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.reference import evaluate
from tilewright.dialects.tile_repeat import MemberOp, PackOp, RepeatOp
from tilewright.passes.tile_unroll_repeat import TileUnrollRepeatPass

T = "tensor<2x2xf32>"


def sequence(*counts: int) -> str:
    type_ = T
    for count in reversed(counts):
        type_ = f"!tile_repeat.sequence<{count} x {type_}>"
    return type_


def program(outer: int, inner: int, second: int, collect_inner: bool) -> str:
    """
    A repeat in a repeat, over nested parameters and an input sequence; one over what the first collected.
    """
    nested, flat, inputs = sequence(outer, inner), sequence(outer), sequence(outer)
    names = ", ".join(f'"w.{i}.{j}"' for i in range(outer) for j in range(inner))
    biases = ", ".join(f'"b.{i}"' for i in range(second))
    traced = f"%k : {sequence(inner)}" if collect_inner else f"%q : {T}"
    trace_type = sequence(outer, inner) if collect_inner else sequence(outer)
    return f"""
    func.func @main(
        %ws: {nested} {{tile_tensor.parameter = [{names}], tile_tensor.scale = -1 : i32}},
        %x0: {T},
        %in: {inputs},
        %bs: {sequence(second)} {{tile_tensor.parameter = [{biases}]}})
        -> ({T}, {trace_type}, {flat}, {sequence(second)}) {{
      %y, %trace, %members = tile_repeat.repeat "outer" count {outer} carried(%x = %x0 : {T})
          invariant(%m = %x0 : {T}) iterated(%w = %ws : {nested}, %i = %in : {inputs})
          -> ({T}, {trace_type}, {flat}) {{
        %q = tile_tensor.add %x, %i : ({T}, {T}) -> {T}
        %z, %k = tile_repeat.repeat "inner" count {inner} carried(%t = %q : {T}) invariant(%n = %m : {T})
            iterated(%v = %w : {sequence(inner)}) -> ({T}, {sequence(inner)}) {{
          %u = tile_tensor.matmul %t, %v scale -1 : ({T}, {T}) -> {T}
          %s = tile_tensor.sub %u, %n : ({T}, {T}) -> {T}
          tile_repeat.yield %s : {T} collect %t : {T}
        }}
        tile_repeat.yield %z : {T} collect {traced.split(" : ")[0]}, %i : {traced.split(" : ")[1]}, {T}
      }}
      %last = tile_repeat.repeat "second" count {outer} carried(%x = %y : {T})
          iterated(%c = %members : {flat}) -> ({T}) {{
        %a = tile_tensor.maximum %x, %c : ({T}, {T}) -> {T}
        tile_repeat.yield %a : {T}
      }}
      %end = tile_repeat.repeat "third" count {second} carried(%x = %last : {T})
          iterated(%b = %bs : {sequence(second)}) -> ({T}) {{
        %a = tile_tensor.add %x, %b : ({T}, {T}) -> {T}
        tile_repeat.yield %a : {T}
      }}
      func.return %end, %trace, %members, %bs : {T}, {trace_type}, {flat}, {sequence(second)}
    }}"""


COUNT = st.integers(0, 3)


@settings(max_examples=40, deadline=None)
@given(COUNT, COUNT, COUNT, st.booleans())
def test_unrolled_programs_compute_the_same(outer, inner, second, collect_inner) -> None:
    source = program(outer, inner, second, collect_inner)
    module = parse_module(source, "model.mlir")
    random = np.random.default_rng(outer * 100 + inner * 10 + second)

    def tensor(*shape: int) -> np.ndarray:
        return random.normal(size=shape).astype(np.float32)

    parameters = {f"w.{i}.{j}": tensor(2, 2) for i in range(outer) for j in range(inner)}
    parameters |= {f"b.{i}": tensor(2, 2) for i in range(second)}
    inputs = {"arg1": tensor(2, 2), "arg2": tensor(outer, 2, 2)}
    expected = evaluate(module, inputs, parameters)

    TileUnrollRepeatPass().apply(context(), module)
    module.verify()
    assert not any(isinstance(op, RepeatOp) for op in module.walk())
    entry = read_entry(module)
    assert [name for argument in entry.parameters for name in argument.names] == list(parameters)
    assert [argument.name for argument in entry.inputs] == ["arg1", "arg2"]
    assert not any(isinstance(op.location, UnknownLoc) for op in entry.func.walk())
    for op in module.walk():
        if isinstance(op, PackOp | MemberOp):
            assert op.result.first_use is not None
    found = evaluate(module, inputs, parameters)
    assert list(found) == list(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value)


def test_the_pass_reads_back_and_does_nothing_twice() -> None:
    module = parse_module(program(2, 2, 1, True))
    TileUnrollRepeatPass().apply(context(), module)
    once = str(module)
    TileUnrollRepeatPass().apply(context(), module)
    assert str(module) == once
    assert str(parse_module(once)) == once


def test_values_of_an_enclosing_repeat_reach_foreign_regions() -> None:
    module = parse_module(
        f"""
        func.func @main(%x0: {T}) -> {T} {{
          %y = tile_repeat.repeat "r" count 2 carried(%x = %x0 : {T}) -> ({T}) {{
            %a = "test.op"() ({{
              "test.termop"(%x) : ({T}) -> ()
            }}) : () -> {T}
            tile_repeat.yield %a : {T}
          }}
          func.return %y : {T}
        }}"""
    )
    TileUnrollRepeatPass().apply(context(), module)
    module.verify()
    function = module.body.block.first_op
    first, second, _ = function.body.block.ops
    assert first.regions[0].block.first_op.operands[0] is function.body.block.args[0]
    assert second.regions[0].block.first_op.operands[0] is first.results[0]
