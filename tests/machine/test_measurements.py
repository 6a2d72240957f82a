# SPDX-License-Identifier: Apache-2.0
"""Predicted against published cycles, and the tool that prints them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tilewright.machine import load
from tilewright.machine.kernels import kernel, kernel_names
from tilewright.machine.kernels.measurements import FILE, MachineError, points, summarise
from tilewright.tools import tile_kernels

C600 = load("c600")


def test_every_figure_of_the_file_is_compared():
    data = json.loads(FILE.read_text())
    kernels = [entry for entry in data["kernel_cycles"] if entry["use"] != "not modelled"]
    # seven formulas give two sample points each
    assert len(points()) == len(data["gemm_tile_cycles"]) + len(kernels) + 7


def test_predictions_hold():
    found = points()
    summary = summarise(found)
    for p in found:
        print(f"{p.kernel:28} {p.measured:8} {p.predicted:8} {p.error:+7.2%} {p.use}")
        if p.use == "check":
            assert abs(p.error) <= 0.10, p
        if p.use in ("fit", "formula"):
            assert abs(p.error) <= 0.005, p
    assert summary.median_error < 0.03 and summary.median_check_error < 0.03
    assert summary.checks >= 11 and summary.passed


def test_marks_are_those_of_the_file():
    """Held-out points stay held out; only a point published with the formula in use is set apart."""
    data = json.loads(FILE.read_text())
    marked = [e for k in ("gemm_tile_cycles", "kernel_cycles") for e in data[k] if e["use"] == "check"]
    assert len(marked) == summarise(points()).checks + sum("formula" in e for e in marked)


def test_measured_kernels_have_figures():
    summary = summarise(points())
    silent = (*summary.derived, *summary.assumed)
    assert not [n for n in silent if kernel(n).evidence == "measured"]
    named = (*summary.only_fit, *summary.held_out, *silent)
    assert sorted(named) == sorted(kernel_names())
    assert "layer_norm" in summary.only_fit and "bias_gelu" in summary.held_out


def test_rows_scale_as_published():
    """The earlier layer_norm took 2.964 times as long for three rows as for one."""
    one, three = kernel("layer_norm").cycles(C600, [[1, 1152], [3, 1152]], ("f16",) * 4)
    assert three / one == pytest.approx(21162 / 7140, rel=0.002)


def test_a_figure_of_an_unknown_kernel_is_an_error(tmp_path: Path):
    data = json.loads(FILE.read_text())
    data["kernel_cycles"].append({"kernel": "fft", "cycles": 1, "use": "check", "source": "x"})
    file = tmp_path / "m.json"
    file.write_text(json.dumps(data))
    with pytest.raises(MachineError, match="'fft'"):
        points(file)
    file.write_text("{")
    with pytest.raises(MachineError, match="cannot read measurements"):
        points(file)


def test_the_tool_prints_marks_and_gaps(capsys: pytest.CaptureFixture[str]):
    assert tile_kernels.run([]) == 0
    out = capsys.readouterr().out
    assert "18,576" in out and "18,470" in out and "check" in out
    assert "only fit points or published formulas: pointwise.add, " in out
    assert "no published figure, assumed: gemm.bf16, gemm.i8" in out
    assert "median error" in out


def test_the_tool_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert tile_kernels.run(["--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["format"], data["version"]) == ("tilewright-kernels", 1)
    assert [k["name"] for k in data["kernels"]] == list(kernel_names())
    assert data["summary"]["passed"] is True
    assert tile_kernels.run(["--json", str(tmp_path / "k.json")]) == 0
    assert json.loads((tmp_path / "k.json").read_text()) == data


def test_the_tool_itemises_a_call(capsys: pytest.CaptureFixture[str]):
    assert tile_kernels.run(["gemm.f8", "1x146x48x288"]) == 0
    out = capsys.readouterr().out
    assert "20,382" in out and "order k/32 m k%32" in out and "different memory elements" in out
    tile_kernels.run(["gemm.f8", "1x146x48x288", "--scalar", "weights_standard=1", "--json"])
    assert json.loads(capsys.readouterr().out)["call"]["cycles"] == 20_382 + 27 * 32


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gemm.f9"], "unknown kernel 'gemm.f9'"),
        (["gemm.f8", "1x2"], "got 2 extents"),
        (["gemm.f8", "1x2xax4"], "'a' is not a whole number"),
        (["cast", "8", "--types", "f16"], "has 2 operands, --types names 1"),
        (["cast", "8", "--types", "f16,f7"], "unknown element type 'f7'"),
        (["cast", "8", "--scalar", "scale"], "--scalar scale: '' is not a whole number"),
    ],
)
def test_the_tool_refuses(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]):
    assert tile_kernels.main(arguments) == 1
    err = capsys.readouterr().err
    assert err.startswith("tile-kernels: error: ") and message in err


def test_unknown_flags_exit_with_2(capsys: pytest.CaptureFixture[str]):
    assert tile_kernels.main(["--frobnicate"]) == 2
    assert "--frobnicate" in capsys.readouterr().err
