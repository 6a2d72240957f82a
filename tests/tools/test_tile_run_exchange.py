# SPDX-License-Identifier: Apache-2.0
"""What tile-run says about exchange phases: figures, the independent checker, the cap."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.dialects.tile_asm import module_to_program
from tilewright.machine import load
from tilewright.passes.ir.exchange import check_program, expected_phases, read_figures
from tilewright.passes.ir.tensors import MACHINE
from tilewright.passes.pipeline import passes
from tilewright.planning.exchange import ExchangeError
from tilewright.tools.driver.main import load_module, make_context
from tilewright.tools.tile_run import main as tile_run
from tilewright.tools.tile_workload import main as tile_workload


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vit")
    arguments = "--tokens 9 --width 64 --heads 2 --mlp 96 --layers 3 --patch 12".split()
    assert tile_workload(["vit", *arguments, "-o", str(folder)]) in (None, 0)
    return folder


def compiled(folder: Path, machine: str):
    """The phases before the last pass, and the program after it."""
    from xdsl.dialects.builtin import StringAttr

    context = make_context()
    module = load_module(folder / "program.mlir", context)
    module.attributes[MACHINE] = StringAttr(machine)
    *before, last = passes()
    for stage in before:
        stage.apply(context, module)
    phases, figures = expected_phases(module), read_figures(module)
    last.apply(context, module)
    assert read_figures(module) == figures  # they outlive the phases
    return phases, figures, module_to_program(module)


def test_figures_and_checks(vit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.json"
    assert (
        tile_run([str(vit), "--machine", "t16", "--search=off", "--check-exchange", "--json", str(out)]) == 0
    )
    said = re.search(r"(\d+) sets of exchange rows checked in (\d+) phases", capsys.readouterr().out)
    record = json.loads(out.read_text())
    exchange, phases = record["exchange"], record["exchange_phases"]
    assert said is not None and int(said[2]) == len(phases) < int(
        said[1]
    )  # some are in a repeat, and patched
    assert exchange["transfers"] == sum(p["transfers"] for p in phases) > 0
    # the lead-in and latencies weigh in phases of a few hundred cycles
    assert 1 < exchange["scheduled_over_bound"] < 2
    assert 0.8 < exchange["estimate_over_scheduled"] < 1.2
    assert record["cycles"]["exchange"] >= sum(p["scheduled"] for p in phases) * 0.9


def test_words_alone(tmp_path: Path) -> None:
    """--exchange-items=words: the same results with no 8-byte items, and later."""
    folder = tmp_path / "wide"
    arguments = "--tokens 32 --width 128 --heads 2 --mlp 256 --layers 1 --patch 12".split()
    assert tile_workload(["vit", *arguments, "-o", str(folder)]) in (None, 0)
    records, outputs = [], []
    for items in ("auto", "words"):
        run = tmp_path / items
        options = ["--exchange-items", items, "--check-exchange", "--artifacts", str(run)]
        assert tile_run([str(folder), "--machine", "t16", "--json", str(run / "r.json"), *options]) == 0
        records.append(json.loads((run / "r.json").read_text()))
        outputs.append((run / "outputs.safetensors").read_bytes())
    paired = [max(phase["paired"] for phase in record["exchange_phases"]) for record in records]
    assert paired[0] > 0 and paired[1] == 0
    assert outputs[0] == outputs[1]
    assert records[0]["cycles"]["exchange"] < records[1]["cycles"]["exchange"]


def test_phases_are_what_was_asked_for(vit: Path) -> None:
    phases, figures, program = compiled(vit, "t16")
    machine = load("t16")
    assert [p.reason for p in phases] == [f.reason for f in figures]
    assert check_program(program, phases, machine) > len(phases)
    # A wrong word of a row, a wrong step of a patch: both are found.
    table = next(t for t in program.tables if t.category == "rows")
    words = table.words.copy()
    words[:, 0] ^= 1
    spoiled = replace(
        program, tables=tuple(replace(t, words=words) if t is table else t for t in program.tables)
    )
    with pytest.raises(ExchangeError, match="do not do what they should"):
        check_program(spoiled, phases, machine)
    repeats = [i for i in program.body if hasattr(i, "patches")]
    patches = tuple(replace(p, delta_words=p.delta_words + 2) for p in repeats[0].patches)
    body = tuple(replace(i, patches=patches) if i is repeats[0] else i for i in program.body)
    with pytest.raises(ExchangeError, match="iteration 1"):
        check_program(replace(program, body=body), phases, machine)


def test_a_lowered_program_cannot_be_checked(
    vit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(vit), "--machine", "t16", "--artifacts", str(tmp_path)]
    assert tile_run(arguments) == 0
    lowered = tmp_path / "program.asm.mlir"
    values = [
        "--parameters",
        str(vit / "parameters.safetensors"),
        "--inputs",
        str(vit / "inputs.safetensors"),
    ]
    capsys.readouterr()
    assert tile_run([str(lowered), *values, "--check-exchange"]) == 1
    assert "--check-exchange: a lowered program no longer says" in capsys.readouterr().err


def test_the_cap_names_the_phases(vit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tile_run([str(vit), "--machine", "t16", "--exchange-cap", "400"]) == 1
    error = capsys.readouterr().err
    assert re.search(r"exchange rows take \d+ bytes a tile; the cap is 400", error)
    assert error.count(" bytes  layers.") >= 3 and "--exchange-cap BYTES allows more" in error
