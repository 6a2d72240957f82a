# SPDX-License-Identifier: Apache-2.0
"""A program of twelve layers that fails in one pass comes down to a handful of operations."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.diagnostics import TileError
from tilewright.dialects.text.parser import parse_source
from tilewright.dialects.text.sources import Source, Sources
from tilewright.tools.driver import make_context
from tilewright.tools.driver.verify import verify_module
from tilewright.tools.reduction import count_operations, reduce_module
from tilewright.tools.tile_reduce import main
from tilewright.universe import UNIVERSE

T = "tensor<4x4xf16>"


def layers(count: int) -> str:
    """Layers of a product, a sum with a bias, a gelu and a residual sum; layer 7 has a softmax."""
    arguments = [f"%x: {T}"]
    body: list[str] = []
    x = "%x"
    for i in range(count):
        arguments += [
            f'%w{i}: {T} {{tile_tensor.parameter = "w.{i}"}}',
            f'%b{i}: tensor<4xf16> {{tile_tensor.parameter = "b.{i}"}}',
        ]
        body += [
            f"  %p{i} = tile_tensor.matmul {x}, %w{i} : ({T}, {T}) -> {T}",
            f"  %s{i} = tile_tensor.add %p{i}, %b{i} : ({T}, tensor<4xf16>) -> {T}",
            f"  %g{i} = tile_tensor.{'softmax' if i == 7 else 'gelu'} %s{i}"
            f" {'' if i == 7 else 'approximate tanh '}: ({T}) -> {T}",
            f"  %r{i} = tile_tensor.add %g{i}, {x} : ({T}, {T}) -> {T}",
        ]
        x = f"%r{i}"
    text = "\n".join(body)
    return f"func.func @main({', '.join(arguments)}) -> {T} {{\n{text}\n  func.return {x} : {T}\n}}\n"


def names(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk()]


def softmax(module: ModuleOp) -> bool:
    return "tile_tensor.softmax" in names(module)


def product_of_a_softmax(module: ModuleOp) -> bool:
    """A matmul that reads, through a sum, a softmax."""
    return any(
        getattr(use.operation, "name", "") == "tile_tensor.matmul"
        for op in module.walk()
        if op.name == "tile_tensor.softmax"
        for reader in op.results[0].uses
        for result in reader.operation.results
        for use in result.uses
    )


def two_gelus(module: ModuleOp) -> bool:
    return names(module).count("tile_tensor.gelu") >= 2


def a_parameter_twice(module: ModuleOp) -> bool:
    """Any value that an addition and a product both read."""
    return any(
        {use.operation.name for use in result.uses} >= {"tile_tensor.add", "tile_tensor.matmul"}
        for op in module.walk()
        for result in op.results
    )


FAULTS = [softmax, product_of_a_softmax, two_gelus, a_parameter_twice]


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults(
    fault: Callable[[ModuleOp], bool],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    @dataclass(frozen=True)
    class Probe(ModulePass):
        name = "tile-probe"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            if fault(op):
                raise TileError(f"{len(names(op))} operations are too much")

    monkeypatch.setitem(UNIVERSE.all_passes, "tile-probe", lambda: Probe)
    path, out = tmp_path / "layers.mlir", tmp_path / "out.mlir"
    path.write_text(layers(12), "utf-8")
    assert main([str(path), "-p", "canonicalize,tile-probe", "-o", str(out)]) == 0
    reduced = parse_source(make_context(), Source("out", out.read_text("utf-8")), Sources())
    verify_module(reduced)
    assert fault(reduced), "the fault is still there"
    assert count_operations(reduced) <= 10
    assert f"50 operations became {count_operations(reduced)}" in capsys.readouterr().err


def test_the_module_given_stays_as_it_is() -> None:
    module = parse_source(make_context(), Source("m", layers(3)), Sources())
    before = str(module)
    assert count_operations(reduce_module(module, two_gelus)) < 8
    assert str(module) == before


def test_a_command_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "layers.mlir"
    path.write_text(layers(3), "utf-8")
    script = "import sys; sys.exit('gelu' not in open(sys.argv[1]).read())"
    assert main([str(path), "--test", f'{sys.executable} -c "{script}"', "--timeout", "50", "-q"]) == 0
    out, err = capsys.readouterr()
    assert out.count("tile_tensor.") <= 2 and "gelu" in out and err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is nothing to test with"),
        (["-p", "cse"], "the pipeline does not fail on the program"),
        (["--test", "false"], "the program is not interesting as it is"),
    ],
)
def test_what_cannot_be_reduced(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "layers.mlir"
    path.write_text(layers(1), "utf-8")
    assert main([str(path), *arguments]) == 1
    assert message in capsys.readouterr().err
