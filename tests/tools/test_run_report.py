# SPDX-License-Identifier: Apache-2.0
"""
The reports of tile-run: cycles by operator add up to those of the run, bounds are those of hand-counted work,
the error by layer is that of the values themselves, and calibration changes the program that runs.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from tilewright.dialects.parsing import context, parse_module
from tilewright.frontends.program_folder import ProgramFolder
from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads import vit
from tilewright.machine import load
from tilewright.sim.results import Step
from tilewright.tools import run_report, tile_run

SHAPE = e.Shape(tokens=16, width=32, heads=2, mlp=48, layers=3, batch=1, patch=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "vit"
    vit.build(SHAPE, e.Mode("f16", "f16")).write(path)
    return path


def run(folder: Path, *arguments: str) -> dict[str, object]:
    out = folder.parent / "result.json"
    assert tile_run.main([str(folder), "--machine", "t16", "--json", str(out), *arguments]) == 0
    return json.loads(out.read_text(encoding="utf-8"))


def test_cycles_by_operator_add_up(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = run(folder, "--profile-operators")
    operators: list[dict[str, float]] = record["operators"]  # type: ignore[assignment]
    cycles: dict[str, int] = record["cycles"]  # type: ignore[assignment]
    assert sum(entry["total"] for entry in operators) == cycles["total"]
    assert sum(entry["compute"] + entry["reduction"] for entry in operators) == cycles["compute"]
    for name in ("exchange", "copy", "sync"):
        assert sum(entry[name] for entry in operators) == cycles[name]
    by_name = {entry["name"]: entry for entry in operators}
    for name in ("tokens", "layers.up_product", "layers.heads_context"):
        entry = by_name[name]  # type: ignore[index]
        assert entry["compute"] > entry["compute_bound"] > 0 and entry["exchange_bound"] > 0
    printed = capsys.readouterr().out
    assert "cycles by operator" in printed and "layers.up_product" in printed


def test_error_by_layer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = run(folder)
    layers: list[dict[str, float]] = record["layers"]  # type: ignore[assignment]
    assert [layer["iteration"] for layer in layers] == [0, 1, 2]
    assert all(layer["value"] == "layers.x_next" for layer in layers)
    assert all(0 < layer["max_abs_error"] < 0.05 and layer["mean_row_cosine"] > 0.999 for layer in layers)
    assert "error by layer" in capsys.readouterr().out


def test_calibration_makes_another_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, coarse = run(folder), run(folder, "--calibrate", str(folder / "inputs.safetensors"))
    assert coarse["precision"] == "f8, calibrated"
    errors = [record["checks"][0]["max_abs_error"] for record in (plain, coarse)]  # type: ignore[index]
    assert 4 * errors[0] < errors[1] < 0.5
    coarse_folder = folder.parent / "coarse"
    vit.build(SHAPE, e.Mode("f8", "f16")).write(coarse_folder)
    arguments = [str(coarse_folder), "--machine", "t16", "--calibrate", str(folder / "inputs.safetensors")]
    assert tile_run.main(arguments) == 1
    assert "found nothing to turn into FP8" in capsys.readouterr().err


def test_work_is_counted_by_hand() -> None:
    text = """
func.func @main(
  %x: tensor<32x64xf16>, %ws: !tile_repeat.sequence<5 x tensor<64x64xf16>>
) -> tensor<32x64xf16> {
  %r = tile_repeat.repeat "layers" count 5 carried(%h = %x : tensor<32x64xf16>)
      iterated(%w = %ws : !tile_repeat.sequence<5 x tensor<64x64xf16>>) -> (tensor<32x64xf16>) {
    %p = tile_tensor.matmul %h, %w accumulate f16
        : (tensor<32x64xf16>, tensor<64x64xf16>) -> tensor<32x64xf16>
    %t = tile_tensor.reshape %p : (tensor<32x64xf16>) -> tensor<2x16x64xf16>
    %u = tile_tensor.reshape %t : (tensor<2x16x64xf16>) -> tensor<32x64xf16>
    tile_repeat.yield %u : tensor<32x64xf16>
  }
  %s = tile_tensor.relu %r : (tensor<32x64xf16>) -> tensor<32x64xf16>
  func.return %s : tensor<32x64xf16>
}"""
    work = run_report.program_work(parse_module(text, ctx=context()), load("t4"))
    assert list(work) == ["layers.p", "s"]
    # 64 products a cycle: 16 inputs by 16 columns in the 4 cycles of a row
    assert work["layers.p"] == run_report.Work(
        "matmul", 5, 5 * 32 * 64 * 64 / 64, 5 * 2 * (32 * 64 + 64 * 64)
    )
    # 3 bundles of 6 workers for 24 elements, 6 cycles each way round
    assert work["s"] == run_report.Work("relu", 1, 32 * 64 * 18 // 24, 2 * 32 * 64)


def test_steps_are_grouped_by_their_operator() -> None:
    def step(name: str, category: str, provenance: str, cycles: int, assumed: bool = False) -> Step:
        evidence = "assumed" if assumed else "measured"
        return Step(name, category, provenance, 0, cycles, 0.0, 1, (), 0, 0, evidence)  # type: ignore[arg-type]

    machine = load("t4")
    work = {
        "a": run_report.Work("matmul", 2, 40.0, 160),
        "fused": run_report.Work("add", 2, 8.0, 16),
    }
    steps = [
        step("gemm.f16.f32", "compute", "a: matmul", 100),
        step("a: partials", "exchange", "a: partials", 30),
        step("reduce_partials", "compute", "a: add 2 partials", 20, True),
        step("copy", "copy", "next: carried", 7),
    ]
    a, moved, fused = run_report.operator_cycles(steps, work, machine)
    assert (a.compute, a.exchange, a.reduction, a.assumed, a.total) == (100, 30, 20, 20, 150)
    assert (a.compute_bound, a.exchange_bound, a.iterations) == (10.0, 10.0, 2)
    assert (moved.name, moved.kind, moved.copy, moved.compute_bound) == ("next", "move", 7, None)
    assert (fused.name, fused.total, fused.compute_bound) == ("fused", 0, 2.0)
    assert a.gap == 140.0
    assert moved.gap is None and fused.gap is None  # of another, whose kernels did the work


def test_values_of_several_runs_are_found() -> None:
    expected = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
    folder = ProgramFolder("", layers={"layers.x": expected, "gone": expected})
    errors = run_report.LayerErrors({"layers.x": folder.layers["layers.x"]}, run=1)

    class Tapped:
        value, iteration, data = "layers.x", (2,), expected[1, 2] + 0.5

    errors.tap(Tapped())  # type: ignore[arg-type]
    (layer,) = errors.to_json()
    assert (layer["iteration"], layer["max_abs_error"]) == (2, 0.5)
