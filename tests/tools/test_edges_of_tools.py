# SPDX-License-Identifier: Apache-2.0
"""Keys that nobody reads, numbers beyond 64 bits, full disks and interrupts, for every tool and file."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright import launch
from tilewright.diagnostics import TileError
from tilewright.frontends.program_folder import ProgramFolder
from tilewright.machine import load
from tilewright.planning.memory.problem import Problem, Solution
from tilewright.planning.plan import Plan

ROOT = Path(__file__).parents[2]
PYTHON = sys.executable

PLAN: dict[str, Any] = {"format": "tilewright-plan", "version": 1, "machine": "t4", "operators": {}}
RUN: dict[str, Any] = {"format": "tilewright-run", "version": 1, "tolerance": {"y": {}}}
PROBLEM: dict[str, Any] = {
    "format": "tilewright-allocation-problem",
    "version": 1,
    "ranges": [[0, 1024]],
    "buffers": [{"name": "b", "nbytes": 8, "first": 0, "last": 1}],
}
SOLUTION: dict[str, Any] = {
    "format": "tilewright-allocation",
    "version": 1,
    "addresses": {"b": 0},
    "choices": {},
}


def read(kind: str, data: Mapping[str, Any] | str, folder: Path) -> object:
    path = folder / ("run.json" if kind == "run" else f"{kind}.json")
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    match kind:
        case "plan":
            return Plan.read(path)
        case "problem":
            return Problem.read(path)
        case "solution":
            return Solution.from_json(json.loads(path.read_text()), Problem.from_json(PROBLEM))
        case _:
            (folder / "program.mlir").write_text("builtin.module {}\n", encoding="utf-8")
            return ProgramFolder.read(folder)


@pytest.mark.parametrize(
    ("kind", "data", "message", "hint"),
    [
        ("plan", {**PLAN, "operator": {}}, "unknown key 'operator'", "did you mean `operators`?"),
        ("plan", {**PLAN, "machine": 4}, "is the name of a machine", None),
        ("plan", {**PLAN, "version": 0}, "version 0", "use a newer tilewright"),
        ("run", {**RUN, "tolerence": {}}, "unknown key 'tolerence'", "did you mean `tolerance`?"),
        ("run", {**RUN, "zebra": 1}, "unknown key 'zebra'", "known: format, version, program"),
        (
            "run",
            {**RUN, "tolerance": {"y": {"max_abs_eror": 1}}},
            "unknown field",
            "did you mean `max_abs_error`?",
        ),
        ("run", {**RUN, "task": {"kinds": "x"}}, "unknown key 'kinds'", "did you mean `kind`?"),
        ("run", {**RUN, "workload": [1]}, '"workload" must be an object', None),
        ("problem", {**PROBLEM, "seperate": []}, "unknown key 'seperate'", "did you mean `separate`?"),
        (
            "problem",
            {**PROBLEM, "buffers": [{"nbyte": 8}]},
            "unknown field 'nbyte'",
            "did you mean `nbytes`?",
        ),
        ("solution", {**SOLUTION, "adresses": {}}, "unknown key 'adresses'", "did you mean `addresses`?"),
    ],
)
def test_unknown_keys(
    kind: str, data: dict[str, Any], message: str, hint: str | None, tmp_path: Path
) -> None:
    with pytest.raises(TileError) as caught:
        read(kind, data, tmp_path)
    assert message in caught.value.message
    assert hint is None or (caught.value.hint or "").startswith(hint)


def test_notes_of_the_writer_are_kept(tmp_path: Path) -> None:
    read("plan", {**PLAN, "_comment": "tried on Monday"}, tmp_path)
    read("run", {**RUN, "_comment": "for the demo"}, tmp_path)


@pytest.mark.parametrize(("kind", "data"), [("plan", PLAN), ("run", RUN), ("problem", PROBLEM)])
@pytest.mark.parametrize("number", ["1" + "0" * 30, "-1" + "0" * 30, "9" * 5000, "9223372036854775808"])
def test_integers_beyond_64_bits(kind: str, data: dict[str, Any], number: str, tmp_path: Path) -> None:
    text = json.dumps(data)[:-1] + f', "_note": {number}}}'
    with pytest.raises(TileError, match="has more than 64 bits"):
        read(kind, text, tmp_path)
    with pytest.raises(TileError, match="the number 1e400 is beyond the largest"):
        read(kind, json.dumps(data)[:-1] + ', "_note": 1e400}', tmp_path)
    with pytest.raises(TileError, match="NaN is no JSON number"):
        read(kind, json.dumps(data)[:-1] + ', "_note": NaN}', tmp_path)
    with pytest.raises(TileError, match="nested too deeply"):
        read(kind, json.dumps(data)[:-1] + ', "_note": ' + "[" * 200_000 + "]" * 200_000 + "}", tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ranges": [[0, 2**40]]}, "not below 0x100000000"),
        ({"regions": [{"name": "r", "start": 0, "end": 2**20, "element_bytes": 1}]}, "memory elements"),
        ({"buffers": [{**PROBLEM["buffers"][0], "nbytes": 2**40}]}, "has a number beyond 4294967296"),
        ({"buffers": [{**PROBLEM["buffers"][0], "at": 1020}]}, "which leaves the available memory"),
        ({"buffers": [{**PROBLEM["buffers"][0], "at": -2}]}, "is pinned to the address -2"),
        ({"buffers": [{**PROBLEM["buffers"][0], "last": 2**40}]}, "is live at an event beyond"),
        ({"classes": [[0, 2**40]]}, "a class of 1099511627776 tiles"),
    ],
)
def test_problems_within_a_tile_memory(change: dict[str, Any], message: str) -> None:
    with pytest.raises(TileError, match=message):
        Problem.from_json({**PROBLEM, **change})


def test_addresses_within_memory() -> None:
    with pytest.raises(TileError, match="'b' is at 9223372036854775807, outside of all memory"):
        Solution.from_json({**SOLUTION, "addresses": {"b": 2**63 - 1}}, Problem.from_json(PROBLEM))


def test_machine_files_name_near_fields(tmp_path: Path) -> None:
    text = (ROOT / "machine" / "t4.toml").read_text(encoding="utf-8").replace("workers =", "worker =")
    (tmp_path / "m.toml").write_text(text, encoding="utf-8")
    with pytest.raises(TileError) as caught:
        load(tmp_path / "m.toml")
    assert caught.value.hint == "did you mean `workers`?"


# -- full disks and interrupts

TOOLS = {
    "tile_alloc": ["{problem}"],
    "tile_import": ["{program}", "-o", "{folder}"],
    "tile_kernels": [],
    "tile_opt": ["{program}"],
    "tile_reduce": [],
    "tile_report": [],
    "tile_run": ["{program}", "--machine", "t4"],
    "tile_workload": ["--list"],
}


SILENT = ("tile_reduce", "tile_report", "tile_workload")
"""Tools that write to standard output only when much else is right."""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("tool", [name for name in TOOLS if name not in SILENT])
def test_a_full_disk_ends_in_a_line(tool: str, tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(
        "func.func @main() -> tensor<4xf16> {\n"
        "  %c = tile_tensor.constant dense<1.0> : tensor<4xf16>\n"
        "  %y = tile_tensor.neg %c : (tensor<4xf16>) -> tensor<4xf16>\n"
        "  func.return %y : tensor<4xf16>\n}\n",
        encoding="utf-8",
    )
    (tmp_path / "problem.json").write_text(json.dumps(PROBLEM), encoding="utf-8")
    arguments = [
        a.format(program=tmp_path / "p.mlir", problem=tmp_path / "problem.json", folder=tmp_path / "f")
        for a in TOOLS[tool]
    ]
    code = f"import sys; from tilewright import launch; sys.exit(launch.{tool}())"
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [PYTHON, "-c", code, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    name = tool.replace("_", "-")
    assert done.stderr == f"{name}: error: cannot write the output: no space left on device\n"
    assert done.returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    from tilewright.tools import tile_opt

    (tmp_path / "p.mlir").write_text("builtin.module {}\n", encoding="utf-8")
    assert tile_opt.main([str(tmp_path / "p.mlir"), "-o", "/dev/full"]) == 1
    assert not os.path.isfile("/dev/full")


@pytest.mark.parametrize("tool", TOOLS)
def test_an_interrupt_while_importing(
    tool: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(module: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(launch.importlib, "import_module", interrupted)
    assert getattr(launch, tool)() == 130
    assert capsys.readouterr().err == f"{tool.replace('_', '-')}: interrupted\n"


def test_the_console_scripts_go_through_the_launcher() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert set(scripts.values()) == {f"tilewright.launch:{tool}" for tool in TOOLS}
    assert {name.replace("-", "_") for name in scripts} == set(TOOLS)


def test_the_launcher_imports_nothing_else() -> None:
    code = "import sys, tilewright.launch; print([m for m in sys.modules if m.startswith(('numpy', 'xdsl'))])"
    assert subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_tool_called_many_times_keeps_nothing(tmp_path: Path) -> None:
    """What one call leaves behind is collected: files stay mapped as long as their tensors live."""
    from tilewright.frontends.program_folder import write_tensors
    from tilewright.tools import tile_run

    (tmp_path / "program.mlir").write_text(
        'func.func @main(%x: tensor<4xf32> {tile_tensor.input = "x"})'
        ' -> (tensor<4xf32> {tile_tensor.output = "y"}) {\n'
        "  %y = tile_tensor.neg %x : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  func.return %y : tensor<4xf32>\n}\n",
        encoding="utf-8",
    )
    (tmp_path / "run.json").write_text(json.dumps({**RUN, "tolerance": {}}), encoding="utf-8")
    write_tensors(tmp_path / "inputs.safetensors", {"x": np.ones(4, np.float32)})
    open_files: list[int] = []
    for _ in range(4):
        assert tile_run.main([str(tmp_path), "--machine", "t4"]) == 0
        gc.collect()
        open_files.append(len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0)
    assert open_files[1] == open_files[-1] and gc.get_freeze_count() == 0


def test_pins_that_clash_are_refused_before_a_search(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tilewright.tools import tile_alloc

    pinned = [
        {"name": name, "nbytes": 16, "first": 0, "last": 1, "at": at} for name, at in (("a", 0), ("b", 8))
    ]
    (tmp_path / "problem.json").write_text(json.dumps({**PROBLEM, "buffers": pinned}), encoding="utf-8")
    assert tile_alloc.main([str(tmp_path / "problem.json")]) == 1
    assert "what is pinned cannot stay there: a and b overlap at 0x8" in capsys.readouterr().err


def test_a_page_is_opened_in_the_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import webbrowser

    from tilewright.tools import tile_report
    from tilewright.tools.report import html

    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(html, "write_page", lambda path, *_: path.write_text(""))
    parse = tile_report._parser().parse_args
    for flags in ([], ["--open"]):
        tile_report._write_page(tmp_path / "page.html", (), (), parse(["x", *flags]))
    assert opened == [(tmp_path / "page.html").resolve().as_uri()]
