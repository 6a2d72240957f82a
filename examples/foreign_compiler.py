# SPDX-License-Identifier: Apache-2.0
"""
A foreign compiler: host code with operations of its own around two functions for tiles.

    python examples/foreign_compiler.py

The compiler `toy` has a dialect of its own (`toy.log`, `toy.config`) and lowers the rest of its programs to
`arith`, `scf` and `func`. What it wants on tiles it leaves as functions of `tile_tensor` operations, which
its host code calls; a third piece stands in the middle of host code. It runs one pass, `tile-compile`, as any
xDSL compiler runs passes, and gets back the same module: the foreign text byte for byte as it was, a
declaration for each program, and the programs compiled in nested modules (`tile.program`). Programs are taken
out by name and run on the machine model; the host is played by a few lines of Python.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def
from xdsl.passes import PassPipeline

import tilewright
from tilewright.dialects.parsing import context, parse_module
from tilewright.universe import UNIVERSE


@irdl_op_definition
class LogOp(IRDLOperation):
    """Notes a tensor under a name."""

    name = "toy.log"
    value = operand_def(TensorType)
    label = prop_def(StringAttr)
    assembly_format = "$label $value attr-dict `:` type($value)"


@irdl_op_definition
class ConfigOp(IRDLOperation):
    """Something of the compiler's own, at the top of a module."""

    name = "toy.config"
    entry = prop_def(StringAttr)
    assembly_format = "$entry attr-dict"


Toy = Dialect("toy", [LogOp, ConfigOp])

TEXT = """
builtin.module attributes {tile.machine = "t4", toy.version = 3 : i32} {
  toy.config "host"
  func.func @host(%steps: index, %x: tensor<8x32xf16>, %w: tensor<32x32xf16>) -> (tensor<8x32xf16>, index) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %last, %count = scf.for %i = %zero to %steps step %one iter_args(%state = %x, %n = %zero)
        -> (tensor<8x32xf16>, index) {
      %next = func.call @layer(%state, %w) : (tensor<8x32xf16>, tensor<32x32xf16>) -> tensor<8x32xf16>
      toy.log "state" %next : tensor<8x32xf16>
      %more = arith.addi %n, %one : index
      scf.yield %next, %more : tensor<8x32xf16>, index
    }
    %result = func.call @head(%last) : (tensor<8x32xf16>) -> tensor<8x32xf16>
    func.return %result, %count : tensor<8x32xf16>, index
  }
  func.func @layer(%x: tensor<8x32xf16>, %w: tensor<32x32xf16>) -> tensor<8x32xf16> {
    %y = tile_tensor.matmul %x, %w : (tensor<8x32xf16>, tensor<32x32xf16>) -> tensor<8x32xf16>
    %z = func.call @activation(%y) : (tensor<8x32xf16>) -> tensor<8x32xf16>
    func.return %z : tensor<8x32xf16>
  }
  func.func private @activation(%x: tensor<8x32xf16>) -> tensor<8x32xf16> {
    %y = tile_tensor.tanh %x : (tensor<8x32xf16>) -> tensor<8x32xf16>
    func.return %y : tensor<8x32xf16>
  }
  func.func @head(%x: tensor<8x32xf16>) -> tensor<8x32xf16> {
    %y = tile_tensor.softmax %x : (tensor<8x32xf16>) -> tensor<8x32xf16>
    func.return %y : tensor<8x32xf16>
  }
  func.func @other(%x: tensor<8x32xf16>, %k: i32) -> (tensor<8x32xf16>, i32) {
    %k2 = arith.addi %k, %k : i32
    %a = tile_tensor.exp %x : (tensor<8x32xf16>) -> tensor<8x32xf16>
    %b = tile_tensor.add %a, %x : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x32xf16>
    toy.log "b" %b : tensor<8x32xf16>
    func.return %b, %k2 : tensor<8x32xf16>, i32
  }
}
"""


def foreign_text(module: ModuleOp) -> list[str]:
    """The text of the operations at the top of the module that are of the foreign compiler alone."""

    def foreign(op: Operation) -> bool:
        if isinstance(op, FuncOp):
            return op.sym_name.data == "host"
        return not isinstance(op, ModuleOp)

    return [str(op) for op in module.ops if foreign(op)]


def main() -> None:
    """Compile the module, run its programs, compare, print."""
    ctx = context()
    ctx.load_dialect(Toy)
    module = parse_module(TEXT, ctx=ctx)
    before = foreign_text(module)

    tile_compile = UNIVERSE.all_passes["tile-compile"]()
    PassPipeline((tile_compile(),)).apply(ctx, module)
    module.verify()
    assert foreign_text(module) == before and len(before) == 2, "the foreign text has changed"
    text = str(module)
    for line in before[1].splitlines():
        assert line.strip() in text
    for piece in ("arith.addi %k, %k : i32", 'toy.log "b"', "func.call @other_tiles_0(%x)"):
        assert piece in text, piece
    parse_module(text, ctx=ctx)  # it reads back

    programs = {
        name: tilewright.compile(module, entry=name, context=ctx)
        for name in ("layer", "head", "other_tiles_0")
    }

    def call(name: str, *arguments: np.ndarray) -> np.ndarray:
        """What the host's `func.call` means."""
        program = programs[name]
        given = {tensor.name: array for tensor, array in zip(program.inputs, arguments, strict=True)}
        result = tilewright.run(program, given)
        print(f"@{name} on {program.machine.name}: {result.cycles['total']:,.0f} cycles")
        return result.outputs[program.outputs[0].name]

    random = np.random.default_rng(0)
    x = random.standard_normal((8, 32)).astype(np.float16)
    w = (random.standard_normal((32, 32)) / 6).astype(np.float16)

    state = x  # @host with three steps
    for _ in range(3):
        state = call("layer", state, w)
    found = call("head", state)

    expected = x.astype(np.float64)
    for _ in range(3):
        expected = np.tanh(expected @ w)
    expected = np.exp(expected) / np.exp(expected).sum(1, keepdims=True)
    assert np.abs(found - expected).max() < 2e-3
    assert np.abs(call("other_tiles_0", x) - (np.exp(x.astype(np.float64)) + x)).max() < 2e-2
    print("the foreign text is unchanged; results equal numpy's")


if __name__ == "__main__":
    main()
