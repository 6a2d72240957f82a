# SPDX-License-Identifier: Apache-2.0
"""The public interface, as somebody uses it who has read nothing but its docstrings."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilewright
from tilewright.dialects.parsing import context, parse_module
from tilewright.passes import pipeline

TEXT = """
func.func @main(%x: tensor<4x16xf16> {tile_tensor.input = "x"},
                %w: tensor<16x8xf16> {tile_tensor.parameter = "w"})
    -> (tensor<4x8xf16> {tile_tensor.output = "y"}) {
  %y = tile_tensor.matmul %x, %w : (tensor<4x16xf16>, tensor<16x8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}
"""
X = np.arange(64, dtype=np.float16).reshape(4, 16) / 16
W = np.eye(16, 8, dtype=np.float16)


def test_text_is_compiled_and_run() -> None:
    program = tilewright.compile(TEXT, "t4")
    assert program.inputs == (tilewright.Tensor("x", (4, 16), "f16"),)
    assert program.parameters == (tilewright.Tensor("w", (16, 8), "f16"),)
    assert program.outputs == (tilewright.Tensor("y", (4, 8), "f16"),)
    result = tilewright.run(program, {"x": X}, {"w": W})
    assert np.array_equal(result.outputs["y"], X[:, :8])
    assert result.cycles["total"] == sum(result.evidence.values()) > 0
    assert np.array_equal(tilewright.reference(TEXT, {"x": X}, {"w": W})["y"], X[:, :8])


def test_a_module_is_left_as_it_is_and_a_plan_is_a_value(tmp_path: Path) -> None:
    module = parse_module(TEXT)
    before = str(module)
    program = tilewright.compile(module, "t4")
    assert str(module) == before
    assert program.plan is not None and list(program.plan.operators) == ["y"]
    again = tilewright.compile(module, "t4", plan=program.plan)
    assert str(again.module) == str(program.module)
    forced = tilewright.Plan(operators={"y": {"strategy": "grid", "grid": [1, 1, 1, 1]}})
    other = tilewright.compile(module, "t4", plan=forced)
    assert other.plan is not None and other.plan.operators["y"]["grid"] == [1, 1, 1, 1]
    file = tmp_path / "compiled.mlir"
    file.write_text(program.text(), encoding="utf-8")
    assert np.array_equal(tilewright.run(tilewright.compile(file), {"x": X}, {"w": W}).outputs["y"], X[:, :8])


def test_what_is_wrong_is_said() -> None:
    program = tilewright.compile(TEXT, "t4")
    with pytest.raises(tilewright.TileError, match="input 'x' is missing"):
        tilewright.run(program, {}, {"w": W})
    with pytest.raises(tilewright.TileError, match=r"parameter 'w' has shape \[8, 16\], not \[16, 8\]"):
        tilewright.run(program, {"x": X}, {"w": W.T})
    with pytest.raises(tilewright.TileError, match="cannot read the program"):
        tilewright.compile(Path("no-such-file.mlir"))
    with pytest.raises(tilewright.TileError, match="machine 't16' contradicts the module's"):
        tilewright.compile(f'builtin.module attributes {{tile.machine = "t4"}} {{ {TEXT} }}', "t16")
    with pytest.raises(AttributeError, match="module 'tilewright' has no attribute 'complie'"):
        _ = tilewright.complie  # type: ignore[attr-defined]


def test_the_package_is_typed_and_imports_nothing_before_it_is_used() -> None:
    code = (
        "import sys, tilewright; tilewright.__version__; "
        "print([m for m in ('numpy', 'xdsl', 'lark') if m in sys.modules], 'compile' in dir(tilewright))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[] True\n"
    assert (Path(tilewright.__file__).parent / "py.typed").exists()


TWO = """
builtin.module attributes {tile.machine = "t4"} {
  func.func @double(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %y = tile_tensor.add %x, %x : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    func.return %y : tensor<4x8xf16>
  }
  func.func @fourfold(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %y = func.call @twice(%x) : (tensor<4x8xf16>) -> tensor<4x8xf16>
    %z = func.call @twice(%y) : (tensor<4x8xf16>) -> tensor<4x8xf16>
    func.return %z : tensor<4x8xf16>
  }
  func.func @twice(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %y = tile_tensor.add %x, %x : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
    func.return %y : tensor<4x8xf16>
  }
}
"""


def test_one_of_several_programs_is_named() -> None:
    x = np.arange(32, dtype=np.float16).reshape(4, 8)
    for name, factor in (("double", 2), ("fourfold", 4)):
        program = tilewright.compile(TWO, entry=name)
        assert np.array_equal(tilewright.run(program, {"arg0": x}).outputs["out0"], factor * x)
        assert np.array_equal(tilewright.reference(TWO, {"arg0": x}, entry=name)["out0"], factor * x)
        again = tilewright.compile(program.text(), entry=name)
        assert str(again.module) == str(program.module)
    with pytest.raises(tilewright.TileError, match="the module has 2 programs") as caught:
        tilewright.compile(TWO)
    assert caught.value.notes == ("programs: @double, @fourfold",)
    with pytest.raises(tilewright.TileError, match="there is no program @twice"):
        tilewright.compile(TWO, entry="twice")
    with pytest.raises(tilewright.TileError, match="there is no program @other"):
        tilewright.compile(TEXT, "t4", entry="other")


def test_a_plan_is_of_one_program() -> None:
    module = parse_module(TWO)
    with pytest.raises(tilewright.TileError, match="a plan is of one program, the module has 2: @double"):
        pipeline.compile(module, plan=tilewright.Plan(), context=context())


def test_a_whole_program_has_no_foreign_operations() -> None:
    foreign = TEXT.replace("func.return", "%c = arith.constant 1 : i32\n  func.return")
    with pytest.raises(tilewright.TileError, match=r"arith\.constant has no lowering to tiles"):
        tilewright.compile(foreign, "t4")
    # Where no argument says that the function is a program, a region of it can be asked for.
    host = foreign.replace(' {tile_tensor.input = "x"}', "").replace(' {tile_tensor.parameter = "w"}', "")
    host = host.replace('(tensor<4x8xf16> {tile_tensor.output = "y"})', "tensor<4x8xf16>")
    with pytest.raises(tilewright.TileError, match=r"arith\.constant has no lowering to tiles"):
        tilewright.compile(host, "t4")
    program = tilewright.compile(host, "t4", entry="main_tiles_0")
    result = tilewright.run(program, {"arg0": X, "arg1": W})
    assert np.array_equal(result.outputs["out0"], X[:, :8])
