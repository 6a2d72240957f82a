# SPDX-License-Identifier: Apache-2.0
"""Errors in plain xdsl-opt are diagnostics: what, where and what to do, without a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

XDSL_OPT = Path(sys.executable).parent / "xdsl-opt"


def xdsl_opt(tmp_path: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "p.mlir").write_text(text, encoding="utf-8")
    command = [str(XDSL_OPT), "p.mlir", *options]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)


def program(body: str, width: int = 8) -> str:
    x, w = f"tensor<4x{width}xf16>", f"tensor<{width}x{width}xf16>"
    line = body.format(types=f"({x}, {w}) -> {x}", type=f"({x}) -> {x}")
    arguments = f'%x: {x}, %w: {w} {{tile_tensor.parameter = "w"}}'
    return f"func.func @main({arguments}) -> {x} {{\n  %y = {line}\n  func.return %y : {x}\n}}\n"


COMPILE = ("-p", 'tile-compile{machine="t4"}')

WRONG = {
    "a parse error": (
        program("tile_tensor.matmul %x, %w acumulate f32 : {types}"),
        (),
        "p.mlir:2:34: error: Expected ':'\n"
        "  %y = tile_tensor.matmul %x, %w acumulate f32 : (tensor<4x8xf16>, tensor<8x8xf16>) -> "
        "tensor<4x8xf16>\n"
        "                                 ^~~~~~~~~\n",
    ),
    "an attribute that does not parse": (
        'func.func private @f(tensor<4x8xf16, #tile_layout.at<"[4, 8">>)',
        (),
        "p.mlir:1:54: error: '[4, 8' is not a layout (it stops too early); ",
    ),
    "an operation that does not verify": (
        program("tile_tensor.matmul %x, %w : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x9xf16>").replace(
            "return %y : tensor<4x8xf16>", "return %y : tensor<4x9xf16>"
        ),
        (),
        "xdsl-opt: error: expects a result of shape 4x8, found 4x9\n"
        'note: in `%y = "tile_tensor.matmul"(%x, %w)',
    ),
    "a plan that does not fit the machine": (
        program("tile_tensor.softmax %x {{plan = {{parts = 9 : i64}}}} : {type}"),
        COMPILE,
        "xdsl-opt: error: softmax: 9 row parts; machine t4 has 4 tiles\n"
        "note: in `%y = tile_tensor.softmax %x {plan = {parts = 9 : i64",
    ),
    "a place that the text gives": (
        program('tile_tensor.softmax %x {{plan = {{parts = 9 : i64}}}} : {type} loc("model.py":7:3)'),
        COMPILE,
        "model.py:7:3: error: softmax: 9 row parts; machine t4 has 4 tiles\n",
    ),
    "a program that does not fit": (
        program("tile_tensor.matmul %x, %w : {types}", width=8000),
        COMPILE,
        "xdsl-opt: error: the parameters do not fit: they take 128,000,000 bytes, 127,120,576 too many\n"
        "note: ",
    ),
    "a machine that is not there": (
        program("tile_tensor.matmul %x, %w : {types}"),
        ("-p", 'tile-compile{machine="t5"}'),
        "xdsl-opt: error: ",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_errors_are_diagnostics(tmp_path: Path, what: str) -> None:
    text, options, expected = WRONG[what]
    result = xdsl_opt(tmp_path, text, *options)
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.startswith(expected)
    assert "Traceback" not in result.stderr and "tilewright/" not in result.stderr


def test_xdsl_itself_prints_them_as_diagnostics(tmp_path: Path) -> None:
    text, options, _ = WRONG["a place that the text gives"]
    result = xdsl_opt(tmp_path, text, *options, "--verify-diagnostics")
    assert result.returncode == 0
    assert result.stdout.startswith("softmax: 9 row parts; machine t4 has 4 tiles\nat model.py:7:3\n")
    text, options, _ = WRONG["a program that does not fit"]
    result = xdsl_opt(tmp_path, text, *options, "--verify-diagnostics")
    assert result.returncode == 0 and "\nhint: use a larger machine, or fewer layers\n" in result.stdout
    text, options, _ = WRONG["a parse error"]
    result = xdsl_opt(tmp_path, text, *options, "--parsing-diagnostics")
    assert result.returncode == 0 and "Expected ':'" in result.stdout


def test_errors_of_others_are_left_alone(tmp_path: Path) -> None:
    result = xdsl_opt(tmp_path, "func.func @f() { %c = arith.constant }")
    assert result.returncode == 1 and result.stderr.startswith("Traceback")
