# SPDX-License-Identifier: Apache-2.0
"""Windows at places that are known when the program runs, and caches that are updated where they are."""

from __future__ import annotations

import harness
import numpy as np
import pytest

from tilewright.backends.image import to_image
from tilewright.dialects import tile
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_asm import module_to_program
from tilewright.machine import load
from tilewright.passes.pipeline import compile as compile_program
from tilewright.sim.executor import Executor

HEADS, SHARED, DEPTH = 4, 2, 16
WIDTH = HEADS * DEPTH


def decoder(cache: int, layers: int, state: str = "iterated") -> str:
    """One step of decoding: a row is put into the caches of every layer and attends to what is there."""
    q, kv = f"tensor<{WIDTH}x{WIDTH}xf16>", f"tensor<{WIDTH}x{SHARED * DEPTH}xf16>"
    x, row, head = (
        f"tensor<1x{WIDTH}xf16>",
        f"tensor<1x{SHARED * DEPTH}xf16>",
        f"tensor<{HEADS}x1x{DEPTH}xf16>",
    )
    one, new = f"tensor<{SHARED}x{cache}x{DEPTH}xf16>", f"tensor<{SHARED}x1x{DEPTH}xf16>"

    def sequence(member: str) -> str:
        return f"!tile_repeat.sequence<{layers} x {member}>"

    def parameters(name: str) -> str:
        return "[" + ", ".join(f'"{name}.{i}"' for i in range(layers)) + "]"

    weights = {"wq": q, "wk": kv, "wv": kv, "wo": q}
    arguments = ", ".join(
        f"%{n}s: {sequence(t)} {{tile_tensor.parameter = {parameters(n)}}}" for n, t in weights.items()
    )
    members = ", ".join(f"%{n} = %{n}s : {sequence(t)}" for n, t in weights.items())
    whole = f"tensor<{layers}x{SHARED}x{cache}x{DEPTH}xf16>"
    index = "tensor<i32>"
    if state == "iterated":
        caches = sequence(one)
        carried = f"%x = %x0 : {x}"
        members = f"%kc = %ks : {caches}, %vc = %vs : {caches}, {members}"
        update = "\n".join(
            f"    %n{c} = tile_tensor.dynamic_update_slice %{c}c, %{c}1, %z, %p, %z"
            f" : ({one}, {new}, {index}, {index}, {index}) -> {one}\n"
            f"    %{c}r = tile_tensor.reshape %n{c} : ({one}) -> {one}"
            for c in "kv"
        )
        end, results = f"%h : {x} collect %nk, %nv : {one}, {one}", f"{x}, {caches}, {caches}"
    else:
        caches = whole
        box, inside = f"tensor<1x{SHARED}x1x{DEPTH}xf16>", f"tensor<1x{SHARED}x{cache}x{DEPTH}xf16>"
        carried = f"%x = %x0 : {x}, %kc = %ks : {whole}, %vc = %vs : {whole}, %l = %zero : {index}"
        update = "\n".join(
            f"    %{c}2 = tile_tensor.reshape %{c}1 : ({new}) -> {box}\n"
            f"    %n{c} = tile_tensor.dynamic_update_slice %{c}c, %{c}2, %l, %z, %p, %z"
            f" : ({whole}, {box}, {index}, {index}, {index}, {index}) -> {whole}\n"
            f"    %{c}now = tile_tensor.dynamic_slice %n{c}, %l, %z, %z, %z"
            f" sizes [1, {SHARED}, {cache}, {DEPTH}]"
            f" : ({whole}, {index}, {index}, {index}, {index}) -> {inside}\n"
            f"    %{c}r = tile_tensor.reshape %{c}now : ({inside}) -> {one}"
            for c in "kv"
        )
        update += f"\n    %next = tile_tensor.add %l, %o1 : ({index}, {index}) -> {index}"
        end = f"%h, %nk, %nv, %next : {x}, {whole}, {whole}, {index}"
        results = f"{x}, {whole}, {whole}, {index}"
    outs = "%y, %nks, %nvs" + ("" if state == "iterated" else ", %last")
    return f"""
func.func @main(%x0: {x} {{tile_tensor.input = "x"}}, %pos: {index} {{tile_tensor.input = "position"}},
    %mask: tensor<1x{cache}xf16> {{tile_tensor.input = "mask"}},
    %ks: {caches} {{tile_tensor.input = "keys"}}, %vs: {caches} {{tile_tensor.input = "values"}}, {arguments})
    -> ({x} {{tile_tensor.output = "y"}}, {caches} {{tile_tensor.output = "keys"}},
        {caches} {{tile_tensor.output = "values"}}) {{
  %zero = tile_tensor.constant dense<0> : {index}
  %one = tile_tensor.constant dense<1> : {index}
  {outs} = tile_repeat.repeat "layers" count {layers} carried({carried})
      invariant(%p = %pos : {index}, %m = %mask : tensor<1x{cache}xf16>, %z = %zero : {index},
        %o1 = %one : {index}) iterated({members}) -> ({results}) {{
    %q0 = tile_tensor.matmul %x, %wq : ({x}, {q}) -> {x}
    %q1 = tile_tensor.reshape %q0 : ({x}) -> {head}
    %k0 = tile_tensor.matmul %x, %wk : ({x}, {kv}) -> {row}
    %k1 = tile_tensor.reshape %k0 : ({row}) -> {new}
    %v0 = tile_tensor.matmul %x, %wv : ({x}, {kv}) -> {row}
    %v1 = tile_tensor.reshape %v0 : ({row}) -> {new}
{update}
    %a = tile_tensor.attention %q1, %kr, %vr, %m scale 0.25
        : ({head}, {one}, {one}, tensor<1x{cache}xf16>) -> {head}
    %ar = tile_tensor.reshape %a : ({head}) -> {x}
    %o = tile_tensor.matmul %ar, %wo : ({x}, {q}) -> {x}
    %h = tile_tensor.add %x, %o : ({x}, {x}) -> {x}
    tile_repeat.yield {end}
  }}
  func.return %y, %nks, %nvs : {x}, {caches}, {caches}
}}"""


def values(cache: int, layers: int, position: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    inputs = {
        "x": rng.standard_normal((1, WIDTH)),
        "mask": np.where(np.arange(cache) <= position, 0.0, -np.inf)[None],
        "keys": rng.standard_normal((layers, SHARED, cache, DEPTH)),
        "values": rng.standard_normal((layers, SHARED, cache, DEPTH)),
    }
    shapes = {"wq": (WIDTH, WIDTH), "wk": (WIDTH, SHARED * DEPTH)} | {
        "wv": (WIDTH, SHARED * DEPTH),
        "wo": (WIDTH, WIDTH),
    }
    parameters = {
        f"{name}.{i}": (rng.standard_normal(shape) / 8).astype(np.float16)
        for i in range(layers)
        for name, shape in shapes.items()
    }
    typed = {name: array.astype(np.float16) for name, array in inputs.items()}
    return {**typed, "position": np.array(position, np.int32)}, parameters


@pytest.mark.parametrize("state", ["iterated", "carried"])
@pytest.mark.parametrize("position", [0, 17, 40])
def test_a_step_of_decoding(state: str, position: int) -> None:
    """Every value is right; of the caches one row of every layer changes, at a place that is drawn inside."""
    inputs, parameters = values(32, 3, position)
    found = harness.check(harness.compile_text(decoder(32, 3, state), "t16"), inputs, parameters, (7.0,))
    for name in ("keys", "values"):
        changed = (found[name] != inputs[name].astype(np.float32)).any(axis=(1, 3))
        assert changed.nonzero()[1].tolist() == [min(position, 31)] * 3


STATES_OF_ONE_NAME = """
func.func @main(%token: tensor<i32>, %rows: tensor<2x12x8xf32>, %at: tensor<i32>,
    %words: tensor<50x32xf32> {tile_tensor.parameter = "words"},
    %keys: tensor<32x16xf32> {tile_tensor.parameter = "keys"},
    %head: tensor<32x50xf32> {tile_tensor.parameter = "head"}) -> (tensor<i32>, tensor<2x12x8xf32>) {
  %last, %cache = tile_repeat.repeat "steps" count 3
      carried(%s = %token : tensor<i32>, %s_1 = %rows : tensor<2x12x8xf32>)
      invariant(%w = %words : tensor<50x32xf32>, %k = %keys : tensor<32x16xf32>,
        %h = %head : tensor<32x50xf32>, %p = %at : tensor<i32>)
      -> (tensor<i32>, tensor<2x12x8xf32>) {
    %x = tile_tensor.gather %w, %s : (tensor<50x32xf32>, tensor<i32>) -> tensor<32xf32>
    %c = tile_tensor.constant dense<0> : tensor<i32>
    %y = tile_tensor.reshape %x : (tensor<32xf32>) -> tensor<1x32xf32>
    %row = tile_tensor.matmul %y, %k : (tensor<1x32xf32>, tensor<32x16xf32>) -> tensor<1x16xf32>
    %new = tile_tensor.reshape %row : (tensor<1x16xf32>) -> tensor<2x1x8xf32>
    %all = tile_tensor.dynamic_update_slice %s_1, %new, %c, %p, %c
        : (tensor<2x12x8xf32>, tensor<2x1x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x12x8xf32>
    %logits = tile_tensor.matmul %y, %h : (tensor<1x32xf32>, tensor<32x50xf32>) -> tensor<1x50xf32>
    %flat = tile_tensor.reshape %logits : (tensor<1x50xf32>) -> tensor<50xf32>
    %next = tile_tensor.argmax %flat axis 0 : (tensor<50xf32>) -> tensor<i32>
    tile_repeat.yield %next, %all : tensor<i32>, tensor<2x12x8xf32>
  }
  func.return %last, %cache : tensor<i32>, tensor<2x12x8xf32>
}
"""


def test_a_token_and_a_cache_of_one_name() -> None:
    """Numbers behind names do not outlive the text: a scalar and a stack of rows are both called `s`."""
    rng = np.random.default_rng(0)
    inputs = {
        "arg0": np.array(7, np.int32),
        "arg1": rng.standard_normal((2, 12, 8)).astype(np.float32),
        "arg2": np.array(5, np.int32),
    }
    shapes = {"words": (50, 32), "keys": (32, 16), "head": (32, 50)}
    parameters = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    for machine in ("t4", "t16"):
        compiled = harness.compile_text(STATES_OF_ONE_NAME, machine, search="fast")
        harness.check(compiled, inputs, parameters, (7.0,))


@pytest.mark.parametrize("state", ["iterated", "carried"])
def test_a_cache_stays_where_it_is(state: str) -> None:
    """
    No buffer has the size of a cache beside the input's, the update alone is exchanged, and what is not
    attention costs the same with a cache of four times the rows.
    """
    cycles: dict[int, int] = {}
    for cache in (64, 256):
        module = parse_module(decoder(cache, 3, state), ctx=(ctx := context()))
        compile_program(module, "t64", None, context=ctx, until="tile-lower-to-buffers")
        allocated = [op for op in module.walk() if isinstance(op, tile.AllocOp)]
        caches = [op for op in allocated if op.buffer_name.data in ("keys", "values")]
        assert len(caches) == 2
        written = [
            op for op in module.walk() if isinstance(op, tile.ComputeOp) and "update" in op.kernel.data
        ]
        assert len(written) == 2
        for op, update in zip(caches, written, strict=True):
            assert tile.placed_in(update.buffers[len(update.buffers) - 1]).alloc is op
        moved = [
            tile.placed_in(buffer).alloc
            for op in module.walk()
            if isinstance(op, tile.ExchangeOp)
            for buffer in op.buffers
        ]
        assert not set(moved) & set(caches)
        compile_program(module, "t64", None, context=ctx)
        program = module_to_program(module)
        inputs, parameters = values(cache, 3, 5)
        executor = Executor(to_image(program), load("t64"))
        executor.load(parameters)
        steps = executor.run(inputs).steps
        cycles[cache] = sum(s.cycles for s in steps if "layers.a:" not in s.provenance)
    assert cycles[256] <= 1.1 * cycles[64]
