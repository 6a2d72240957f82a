# SPDX-License-Identifier: Apache-2.0
"""
A program built with xDSL: a residual block of a size that Python decides, without any text.

    python examples/program_built.py

Operations of `tile_tensor` are xDSL operations: their constructors infer types, and any builder of xDSL puts
them into a function. What an argument is (an input, a parameter, its name) stands in the function's argument
attributes. `tilewright.compile` takes the module as it is and leaves it so.
"""

from __future__ import annotations

import numpy as np
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType, f16
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

import tilewright
from tilewright.dialects.tile_tensor import AddOp, LayerNormOp, MatmulOp, ReluOp


def block(rows: int, width: int, layers: int) -> ModuleOp:
    """A module that computes `layers` times `x = norm(x + relu(x @ w))`."""
    activations, weight, vector = (TensorType(f16, shape) for shape in ([rows, width], [width] * 2, [width]))
    body = Block(arg_types=[activations, *[weight] * layers, vector, vector])
    x, *weights, gain, bias = body.args
    with ImplicitBuilder(body):
        value = x
        for w in weights:
            inner = ReluOp(MatmulOp(value, w, f16))
            value = LayerNormOp(AddOp(value, inner), gain, bias, epsilon=1e-6).result
        ReturnOp(value)

    def named(kind: str, name: str) -> DictionaryAttr:
        return DictionaryAttr({f"tile_tensor.{kind}": StringAttr(name)})

    function = FuncOp(
        "main",
        ([argument.type for argument in body.args], [activations]),
        Region(body),
        arg_attrs=ArrayAttr(
            [
                named("input", "x"),
                *(named("parameter", f"layers.{i}.weight") for i in range(layers)),
                named("parameter", "norm.gain"),
                named("parameter", "norm.bias"),
            ]
        ),
        res_attrs=ArrayAttr([named("output", "y")]),
    )
    return ModuleOp([function])


def main() -> None:
    """Build, compile for two machines, run, compare, print."""
    rows, width, layers = 24, 64, 2
    random = np.random.default_rng(0)
    x = random.standard_normal((rows, width)).astype(np.float16)
    parameters = {
        f"layers.{i}.weight": (random.standard_normal((width, width)) / 8).astype(np.float16)
        for i in range(layers)
    }
    parameters |= {"norm.gain": np.ones(width, np.float16), "norm.bias": np.zeros(width, np.float16)}

    expected = x.astype(np.float64)
    for i in range(layers):
        expected = expected + np.maximum(expected @ parameters[f"layers.{i}.weight"], 0)
        expected = (expected - expected.mean(1, keepdims=True)) / expected.std(1, keepdims=True)

    module = block(rows, width, layers)
    before = str(module)
    for machine in ("t4", "t16"):
        program = tilewright.compile(module, machine)
        result = tilewright.run(program, {"x": x}, parameters)
        error = np.abs(result.outputs["y"] - expected).max()
        print(f"{machine}: {result.cycles['total']:,.0f} cycles; largest error {error:.4f}")
        assert error < 0.02
    assert str(module) == before


if __name__ == "__main__":
    main()
