# SPDX-License-Identifier: Apache-2.0
"""tile-run from the command line: what it writes and refuses, and modules of every level."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.dialects.tile_asm import module_to_program
from tilewright.frontends import program_folder
from tilewright.frontends.program_folder import read_tensors, write_tensors
from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.machine import load
from tilewright.machine.numerics import operations as numerics
from tilewright.sim.executor import Executor
from tilewright.tools import result_schema
from tilewright.tools.driver.main import load_module
from tilewright.tools.tile_opt import main as tile_opt
from tilewright.tools.tile_run import main as tile_run
from tilewright.version import __version__

SMALL = Shape(tokens=5, width=16, heads=2, mlp=32, layers=3, batch=1, patch=24)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vit")
    vit.build(SMALL, Mode("f8", "f16"), seed=1, classes=3).write(path)
    return path


def record(folder: Path, tmp_path: Path, *arguments: str) -> dict[str, Any]:
    """What result.json holds after a good run."""
    file = tmp_path / "sub" / "result.json"
    assert tile_run([str(folder), "--machine", "t4", "--json", str(file), *arguments]) == 0
    return result_schema.read(file)


def outputs(file: Path, tmp_path: Path, *arguments: str) -> dict[str, bytes]:
    """The outputs of a good run, to the bit."""
    artifacts = tmp_path / "artifacts"
    assert tile_run([str(file), "--artifacts", str(artifacts), *arguments]) == 0
    return {k: v.tobytes() for k, v in read_tensors(artifacts / "outputs.safetensors").items()}


def test_result_json(folder: Path, tmp_path: Path) -> None:
    data = record(folder, tmp_path)
    machine = load("t4")
    assert (data["format"], data["version"]) == ("tilewright-result", 1)
    assert data["program"].endswith("program.mlir")
    assert (data["machine"], data["tiles"], data["precision"]) == ("t4", 4, "f8")
    assert data["clock_hz"] == machine.clock_hz
    cycles = data["cycles"]
    assert cycles["total"] == sum(cycles[name] for name in ("compute", "exchange", "copy", "sync"))
    assert min(cycles[name] for name in ("compute", "exchange", "copy", "sync")) > 0
    evidence = data["evidence"]
    assert list(evidence) == list(result_schema.CYCLE_CLASSES)
    assert sum(evidence.values()) == cycles["total"]
    assert (evidence["exchange"], evidence["sync"]) == (cycles["exchange"], cycles["sync"])
    assert min(evidence["measured_held_out"], evidence["measured"], evidence["derived"]) > 0
    assert cycles["assumed_share"] == evidence["assumed"] / cycles["total"]
    assert data["tilewright_version"] == __version__
    assert data["commit"] is None or re.fullmatch(r"[0-9a-f]{40}\+?", data["commit"])
    (repeat,) = data["repeats"]
    assert (repeat["name"], repeat["count"]) == ("layers", 3)
    assert 0 < repeat["first"] and 0 < repeat["per_iteration"]
    assert repeat["first"] + 2 * repeat["per_iteration"] < cycles["total"]
    assert {"tile-plan-layouts", "tile-lower-to-asm"} <= set(data["compile"]["phases"])
    assert sum(data["compile"]["phases"].values()) <= 1.2 * data["compile"]["seconds"] + 1
    assert data["compile"]["peak_rss_bytes"] > 1e7 and data["simulate"]["peak_rss_bytes"] > 1e7
    memory = data["memory"]
    assert memory["per_tile_total"] == machine.sram_bytes
    assert set(memory["categories"]) == set(result_schema.MEMORY_CATEGORIES)
    for name in ("parameters", "activations", "rows", "patch tables", "code", "host", "stacks"):
        assert 0 < memory["categories"][name]["max"] < machine.sram_bytes, name
    total = sum(entry["mean"] for entry in memory["categories"].values())
    assert total == pytest.approx(machine.sram_bytes)
    exchange = data["exchange"]
    assert exchange["phases"] > 0
    assert 0 < exchange["row_bytes_mean"] <= exchange["row_bytes_max"] <= memory["categories"]["rows"]["max"]
    assert 0 < data["code_bytes_max"] <= memory["categories"]["code"]["max"]
    assert [check["output"] for check in data["checks"]] == ["tokens", "logits"]
    for check in data["checks"]:
        assert check["passed"] and 0 < check["max_abs_error"] < 1 and 0.99 < check["min_row_cosine"] <= 1
    assert data["passed"] is True


def test_a_failed_check_is_in_the_record_and_in_the_exit_status(folder: Path, tmp_path: Path) -> None:
    wrong = {name: value + 1 for name, value in read_tensors(folder / "expected.safetensors").items()}
    write_tensors(tmp_path / "wrong.safetensors", wrong)
    file = tmp_path / "result.json"
    command = [str(folder), "--machine", "t4", "--expected", str(tmp_path / "wrong.safetensors")]
    assert tile_run([*command, "--json", str(file)]) == 1
    data = json.loads(file.read_text("utf-8"))
    assert data["passed"] is False
    assert not any(check["passed"] for check in data["checks"])


@pytest.mark.parametrize(
    "passes", ["tile-plan-layouts", "tile-plan-layouts,tile-lower-to-buffers", "tile-compile"]
)
def test_what_tile_opt_began_is_finished(passes: str, folder: Path, tmp_path: Path) -> None:
    values = [f"--{name}={folder / name}.safetensors" for name in ("parameters", "inputs", "expected")]
    direct = outputs(folder / "program.mlir", tmp_path, "--machine", "t4", *values)
    began = tmp_path / "began.mlir"
    command = [str(folder / "program.mlir"), "--machine", "t4", "-o", str(began)]
    # biases are fused into gelu by the whole compilation; a prefix starts with it
    if passes != "tile-compile":
        passes = f"tile-fuse-epilogues,{passes}"
    assert tile_opt([*command, f"--pass-pipeline=builtin.module({passes})"]) == 0
    assert outputs(began, tmp_path, *values) == direct
    # the artifacts hold the compiled module, which runs too
    assert outputs(tmp_path / "artifacts" / "program.asm.mlir", tmp_path, *values) == direct


def test_runs_with_one_parameter_load(folder: Path, tmp_path: Path) -> None:
    values = read_tensors(folder / "inputs.safetensors")
    runs = {name: np.stack([value, -value, 2 * value]) for name, value in values.items()}
    write_tensors(tmp_path / "runs.safetensors", runs)
    parameters = ("--machine", "t4", f"--parameters={folder / 'parameters.safetensors'}")
    file = tmp_path / "program.mlir"
    file.write_text((folder / "program.mlir").read_text("utf-8"), "utf-8")
    together = outputs(
        file, tmp_path, *parameters, f"--inputs={tmp_path / 'runs.safetensors'}", "--runs", "3"
    )
    fresh: dict[str, bytes] = {}
    for run in range(3):
        write_tensors(tmp_path / "one.safetensors", {name: value[run] for name, value in runs.items()})
        one = outputs(file, tmp_path, *parameters, f"--inputs={tmp_path / 'one.safetensors'}")
        fresh = {name: fresh.get(name, b"") + value for name, value in one.items()}
    assert together == fresh


@pytest.mark.parametrize("poison", ["nan", "inf", "-42", "0", "7"])
def test_poison(poison: str, folder: Path, tmp_path: Path) -> None:
    values = [f"--{name}={folder / name}.safetensors" for name in ("parameters", "inputs")]
    file = folder / "program.mlir"
    clean = outputs(file, tmp_path, "--machine", "t4", *values)
    assert outputs(file, tmp_path, "--machine", "t4", f"--poison={poison}", *values) == clean


def test_placement_is_the_final_one(folder: Path, tmp_path: Path) -> None:
    outputs(folder, tmp_path, "--machine", "t4")
    placement = json.loads((tmp_path / "artifacts" / "placement.json").read_text("utf-8"))
    assert (placement["format"], placement["version"]) == ("tilewright-placement", 1)
    machine = load("t4")
    for entry in placement["placed"]:
        assert machine.sram_base <= entry["address"]
        assert entry["address"] + entry["bytes"] <= machine.sram_base + machine.sram_bytes
        assert entry["category"] in result_schema.MEMORY_CATEGORIES
    # what the machine program reads and writes lies where the report says
    program = module_to_program(load_module(tmp_path / "artifacts" / "program.asm.mlir"))
    ranges = [(e["address"], e["address"] + e["bytes"]) for e in placement["placed"]]
    for binding in program.bindings:
        last = binding.address + max(binding.count - 1, 0) * binding.stride
        assert any(first <= binding.address and last < end for first, end in ranges), binding.name
    for table in program.tables:
        assert (table.address, table.address + table.nbytes) in ranges, table.name


def test_compare_each_says_that_nothing_departs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tile_run([str(folder), "--machine", "t4", "--compare=each"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert re.search(r"oracle of the plan: \d+ values, bit for bit: nothing departs", out)
    assert re.search(
        r"reference of the program as given: \d+ values, within their bounds: nothing departs", out
    )
    assert re.search(r"\n\d+ steps a run: those of the program\n", out)


def test_compare_each_of_a_step_done_twice(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every value is right."""
    true = Executor._exchange

    def again(self: Executor, *arguments: Any) -> None:
        true(self, *arguments)
        true(self, *arguments)

    monkeypatch.setattr(Executor, "_exchange", again)
    assert tile_run([str(folder), "--machine", "t4", "--compare=each"]) == 1
    out, err = capsys.readouterr()
    assert "steps a run: not those of the program" in out and out.count("nothing departs") == 2
    assert re.search(r"steps: '\S.*' is executed 2 times, the program has it 1 times", err)


def test_compare_each_of_wrong_arithmetic(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oracle shares its arithmetic with the model and agrees; the reference does not."""
    true = numerics.layer_norm_rows
    monkeypatch.setattr(numerics, "layer_norm_rows", lambda *a, **k: -true(*a, **k))
    assert tile_run([str(folder), "--machine", "t4", "--compare=each"]) == 1
    out, err = capsys.readouterr()
    assert "bit for bit: nothing departs" in out
    assert re.search(r"within their bounds: [1-9]\d* depart", out)
    assert re.search(r"the reference: value '\S+' of iteration \[0\] departs at \[0, 0\] \(tile 0, ", err)


def test_compare_each_of_a_wrong_machine(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What only the machine does shows in both."""
    true = Executor.read

    def spoilt(self: Executor, *arguments: Any, **options: Any) -> np.ndarray:
        return -true(self, *arguments, **options)

    monkeypatch.setattr(Executor, "read", spoilt)
    assert tile_run([str(folder), "--machine", "t4", "--compare=each"]) == 1
    out, err = capsys.readouterr()
    assert "bit for bit: the first that departs ends the comparison" in out
    assert "the oracle of the plan: value '" in err and "the reference: value '" in err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--runs", "0"], 1, "--runs is at least 1, not 0"),
        (["--runs", "4"], 1, "the inputs hold"),
        (["--machine", "t5"], 1, "unknown machine 't5'"),
        (["--machine", "nowhere.toml"], 1, "cannot read machine file"),
        (["--expected", "nowhere.safetensors"], 1, "cannot read 'nowhere.safetensors'"),
        (["--plan", "nowhere.json"], 1, "cannot read the plan"),
        (["--exchange-cap", "100"], 1, "bytes a tile; the cap is 100"),
        (["--poison", "much"], 2, "invalid float value: 'much'"),
        (["--frobnicate"], 2, "unknown option `--frobnicate`"),
    ],
)
def test_refused(
    arguments: list[str],
    status: int,
    message: str,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    values = read_tensors(folder / "inputs.safetensors")
    write_tensors(
        tmp_path / "runs.safetensors", {name: np.stack([value] * 3) for name, value in values.items()}
    )
    inputs = ["--inputs", str(tmp_path / "runs.safetensors")]
    assert tile_run([str(folder), "--machine", "t4", *inputs, *arguments]) == status
    assert message in capsys.readouterr().err


def test_truth_values_in_files(tmp_path: Path) -> None:
    """Inputs, parameters and outputs of i1 are bools in the files, or bytes of 0 and 1."""
    (tmp_path / "program.mlir").write_text(
        """
        func.func @main(%a: tensor<3x5xi1> {tile_tensor.input = "a"},
            %w: tensor<5xi1> {tile_tensor.parameter = "w"})
            -> (tensor<3x5xi1> {tile_tensor.output = "y"}) {
          %y = tile_tensor.xor %a, %w : (tensor<3x5xi1>, tensor<5xi1>) -> tensor<3x5xi1>
          func.return %y : tensor<3x5xi1>
        }"""
    )
    a, w = np.arange(15).reshape(3, 5) % 2 == 0, np.array([1, 0, 0, 1, 1], np.uint8)
    for name, tensors in (
        ("inputs", {"a": a}),
        ("parameters", {"w": w}),
        ("expected", {"y": a ^ (w != 0)}),
    ):
        write_tensors(tmp_path / f"{name}.safetensors", tensors)
    run = {"format": program_folder.FORMAT, "version": 1, "program": "program.mlir"}
    (tmp_path / "run.json").write_text(json.dumps(run))
    assert tile_run([str(tmp_path), "--machine", "t4"]) == 0
    write_tensors(tmp_path / "expected.safetensors", {"y": a})
    assert tile_run([str(tmp_path), "--machine", "t4"]) == 1


def test_indices_of_64_bits_are_narrowed_where_they_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "program.mlir").write_text(
        """
        func.func @main(%t: tensor<5x4xf16> {tile_tensor.parameter = "t"},
            %i: tensor<3xi32> {tile_tensor.input = "i"})
            -> (tensor<3x4xf16> {tile_tensor.output = "y"}) {
          %y = tile_tensor.gather %t, %i : (tensor<5x4xf16>, tensor<3xi32>) -> tensor<3x4xf16>
          func.return %y : tensor<3x4xf16>
        }"""
    )
    run = {"format": program_folder.FORMAT, "version": 1, "program": "program.mlir"}
    (tmp_path / "run.json").write_text(json.dumps(run))
    table, indices = np.arange(20, dtype=np.float16).reshape(5, 4), np.array([4, 0, 7])
    write_tensors(tmp_path / "parameters.safetensors", {"t": table})
    write_tensors(tmp_path / "inputs.safetensors", {"i": indices})
    write_tensors(tmp_path / "expected.safetensors", {"y": table[[4, 0, 4]]})
    assert tile_run([str(tmp_path), "--machine", "t4", "--compare=each"]) == 0
    write_tensors(tmp_path / "inputs.safetensors", {"i": indices + (1 << 40)})
    assert tile_run([str(tmp_path), "--machine", "t4"]) == 1
    assert "input 'i' is i32 in the program, the file holds 1099511627780" in capsys.readouterr().err
