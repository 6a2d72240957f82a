# SPDX-License-Identifier: Apache-2.0
"""
The vision tower of SigLIP with its 27 layers on 1472 tiles, executed once: its profile adds up on every tile
and at every event, and its page is small, quick, and says what the record says.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import browser
import numpy as np
import pytest

from tilewright.profile import Profile
from tilewright.tools.tile_report import main as tile_report

ROOT = Path(__file__).parent.parent.parent
LAYERS = 27

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`run.profile`, `run.json` and `run.html`; made in processes of their own, which take 3 GiB."""
    path = tmp_path_factory.mktemp("siglip")
    program, plan = path / "siglip", ROOT / "examples" / "siglip" / "plan.json"
    run = ["tile_run", program, "--machine", "c600", "--plan", plan]
    for tool, *arguments in (
        ["tile_workload", "siglip", "--layers", LAYERS, "--precision", "f8", "-o", program],
        [*run, "--profile", path / "run.profile", "--json", path / "run.json"],
    ):
        command = [sys.executable, "-m", f"tilewright.tools.{tool}", *map(str, arguments)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert tile_report([str(path / "run.profile"), "-o", str(path / "run.html")]) == 0
    return path


@pytest.fixture(scope="module")
def record(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "run.json").read_text("utf-8"))


def test_files_are_small(folder: Path) -> None:
    assert (folder / "run.profile").stat().st_size <= 30_000_000
    assert (folder / "run.html").stat().st_size <= 12_000_000


def test_cycles_add_up_on_every_tile(folder: Path, record: dict[str, Any]) -> None:
    """From the arrays of the file alone: the steps of a tile, and its waiting, are the cycles of the run."""
    with np.load(folder / "run.profile") as file:
        header = json.loads(file["header"].tobytes())
        first, later, attributed = file["first"], file["later"], file["attributed"]
        segments, lengths = file["executed_segment"], file["executed_cycles"]
    total = record["cycles"]["total"]
    assert int(lengths.sum()) == int(attributed.sum()) == total
    spent = first.astype(np.int64) + later  # (steps, tiles)
    waited = np.zeros(header["machine"]["tiles"], np.int64)
    for number, segment in enumerate(header["segments"]):
        part = slice(segment["first_step"], segment["first_step"] + segment["steps"])
        executions = lengths[segments == number]
        assert len(executions) == segment["count"]
        waiting = executions.sum() - spent[part].sum(axis=0)
        assert waiting.min() == 0 or segment["count"] > 1  # its slowest tile does not wait
        assert waiting.min() >= 0
        waited += waiting
    assert (spent.sum(axis=0) + waited == total).all()
    by_category: dict[str, int] = {}
    for step, cycles in zip(header["steps"], attributed.sum(axis=1).tolist(), strict=True):
        by_category[step["category"]] = by_category.get(step["category"], 0) + cycles
    for name in ("compute", "exchange", "copy", "sync"):
        assert by_category[name] == record["cycles"][name]


def test_memory_adds_up_on_every_tile_at_every_event(folder: Path, record: dict[str, Any]) -> None:
    profile = Profile(folder / "run.profile")
    tiles, total = profile.machine.tiles, profile.machine.sram_bytes
    ever = record["memory"]["max_tile_bytes"]
    for instruction in range(-1, len(profile.instructions) + 1):
        memory = profile.memory(instruction)
        assert set(memory) == set(profile.categories)
        values = np.stack(list(memory.values()))  # (categories, tiles)
        assert values.shape[1] == tiles and values.min() >= 0
        assert (values.sum(axis=0) == total).all()
        used = total - memory["free"] - memory["unusable"]
        assert int(used.max()) <= ever
    assert profile.peak().nbytes <= ever


def test_the_page(folder: Path, record: dict[str, Any]) -> None:
    if browser.CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    page = folder / "run.html"
    assert browser.seconds_to_open(page, 3) < 3
    out = browser.in_browser(
        page,
        """
        out.cycles = text("cycles"); out.operators = rows("operators"); out.run = rows("run");
        const start = () => { report.go("summary"); clicks = 0; };
        start(); await press(document.querySelectorAll("#operators th")[4]);
        out.gap = [clicks, rows("operators")[0]];
        start(); await press("view-memory"); out.live = [clicks, rows("live")];
        start(); await press("view-exchange"); out.phase = [clicks, rows("phases")[0]];
        start(); await press("view-memory"); await press("homes-search"); type("homes-search", "layers.5.up");
        out.homes = [clicks, rows("homes")];
        change("tile", 1471); await wait(); out.tile = report.state.tile;
        await press("view-timeline");
        const line = document.getElementById("timeline"), state = report.state;
        for (let i = 0; i < 20; i++) wheel(line, 600, 100, -100);
        await wait(); out.span = state.to - state.from;
        mouse(line, "mousemove", 600, 32); out.tip = text("tip");
        type("search", "layers.up_product"); out.found = text("found");
        change("goto", 1471); out.reached = report.profiles[0].classes.flatMap(c => c.tiles).length;
        """
        + browser.EVERY_VIEW,
    )
    profile = Profile(folder / "run.profile")
    assert browser.number(out["cycles"]) == record["cycles"]["total"]
    assert {r[0]: browser.number(r[1]) for r in out["operators"]} == {
        entry["name"]: entry["total"] for entry in record["operators"]
    }
    first = record["repeats"][0]["first"]
    assert browser.table(out["run"])[f"repeat layers x {LAYERS}"].startswith(f"first {first:,}, then ")
    assert max(out[key][0] for key in ("gap", "live", "phase", "homes")) <= 3
    gaps = {
        e["name"]: e["total"] - max(e["compute_bound"], e["exchange_bound"])
        for e in record["operators"]
        if e["compute_bound"] is not None
    }
    assert out["gap"][1][0] == max(gaps, key=lambda name: gaps[name])
    assert browser.number(out["gap"][1][4]) == round(max(gaps.values()))
    most = profile.peak()
    held = profile.held[:, profile.tile_class[most.tile]] & profile.live(most.instruction)
    assert sorted(row[0] for row in out["live"][1]) == sorted(
        b.name for b, here in zip(profile.buffers, held, strict=True) if here
    )
    sent = profile.sent.sum(axis=1) * np.array([p.executions for p in profile.phases])
    assert out["phase"][1][0] == profile.phases[int(sent.argmax())].name
    homes = {row[0]: row for row in out["homes"][1]}
    assert set(homes) == {"encoder.layers.5.up.weight", "encoder.layers.5.up.bias"}
    (binding,) = (b for b in profile.bindings if "encoder.layers.5.up.weight" in b.tensors)
    assert homes["encoder.layers.5.up.weight"][4] == hex(binding.address + 5 * binding.stride)
    assert out["tile"] == 1471 and out["reached"] == profile.machine.tiles
    assert 0 < out["span"] < profile.cycles / 50 and "cycles" in out["tip"]
    assert out["found"].endswith("cycles")
    assert tuple(out["views"]) == browser.VIEWS and not any(out["cut"].values())
