# SPDX-License-Identifier: Apache-2.0
"""tile-report: its figures are those of result.json, and its page works in a browser that has no network."""

from __future__ import annotations

import csv
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import browser
import numpy as np
import pytest

from tilewright.frontends.program_folder import write_tensors
from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.profile import Profile
from tilewright.tools.report import tables, trace
from tilewright.tools.tile_report import main as tile_report
from tilewright.tools.tile_run import main as tile_run

SHAPE = Shape(tokens=16, width=32, heads=2, mlp=48, layers=3, batch=1, patch=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Profiles `a` (t16), `b` (the same under another plan), `short` (did not fit), and `a.json`."""
    path = tmp_path_factory.mktemp("report")
    vit.build(SHAPE, Mode("f8", "f16")).write(path / "vit")
    common = [str(path / "vit"), "--machine", "t16"]
    plan = path / "plan.json"
    assert tile_run([*common, "--profile", str(path / "a"), "--json", str(path / "a.json")]) == 0
    assert tile_run([*common, "--dump-plan", str(plan)]) == 0
    data = json.loads(plan.read_text("utf-8"))
    record = data["operators"]["layers.up_product"]
    _, down, across, deep = record["grid"]
    record["grid"] = [1, across, down, deep]
    plan.write_text(json.dumps(data), "utf-8")
    assert tile_run([*common, "--plan", str(plan), "--profile", str(path / "b")]) == 0
    assert tile_run([*common, "--exchange-cap", "16", "--profile", str(path / "short")]) == 1
    return path


def result(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "a.json").read_text("utf-8"))


def test_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert tile_report([str(folder / "a"), "--text"]) == 0
    printed = capsys.readouterr().out
    assert f"{result(folder)['cycles']['total']:,}" in printed
    for title in ("summary", "cycles by operator", "costliest steps", "exchange phases", "homes", "live on"):
        assert title in printed
    assert tile_report([str(folder / "short"), "--text"]) == 0
    printed = capsys.readouterr().out
    assert "exchange rows take" in printed and "--exchange-cap BYTES" in printed and "live on" in printed


def test_csv_sums_are_those_of_the_record(folder: Path, tmp_path: Path) -> None:
    assert tile_report([str(folder / "a"), "--csv", str(tmp_path / "csv")]) == 0
    read: dict[str, list[dict[str, str]]] = {}
    for path in (tmp_path / "csv").iterdir():
        with path.open(encoding="utf-8", newline="") as file:
            read[path.stem] = list(csv.DictReader(file))
    assert set(read) >= {"summary", "operators", "steps", "phases", "parameters", "tiles", "buffers", "peak"}
    total = result(folder)["cycles"]["total"]
    assert sum(int(row["cycles"]) for row in read["steps"]) == total
    assert sum(int(row["total"]) for row in read["operators"]) == total
    assert all(int(row["busy"]) + int(row["waiting"]) == total for row in read["tiles"])
    profile = Profile(folder / "a")
    for row in read["tiles"]:
        assert sum(int(row[f"{n} at the peak"]) for n in profile.categories) == profile.machine.sram_bytes
    live = sum(int(row["bytes"]) for row in read["peak"])
    reserved = sum(r.end - r.start for r in profile.machine.reservations if r.category != "unusable")
    assert live + reserved == profile.peak().nbytes
    names = [row["tensor"] for row in read["parameters"]]
    assert len(names) == len(set(names)) and any("fc1" in name or "up" in name for name in names)


def test_trace_has_the_cycles_of_the_run(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    assert tile_report([str(folder / "a"), "--trace", str(file)]) == 0
    found = [e for e in read_trace(file) if e["ph"] == "X"]
    record = result(folder)
    for category in ("compute", "exchange", "copy", "sync"):
        path = [e for e in found if e["tid"] == 0 and e["cat"] == category]
        cycles = sum(e["args"]["cycles"] for e in path)
        assert cycles == pytest.approx(record["cycles"][category], rel=1e-9)
    path = [e for e in found if e["tid"] == 0]
    total = round(record["cycles"]["total"] * 1e9 / record["clock_hz"])
    assert sum(nanoseconds(e["dur"]) for e in path) == total  # nothing between two steps of the path
    clock = record["clock_hz"] / 1e9
    assert all(abs(nanoseconds(e["dur"]) - e["args"]["cycles"] / clock) <= 1 for e in found)


def nanoseconds(microseconds: float) -> int:
    return round(microseconds * 1000)


def read_trace(file: Path) -> list[dict[str, Any]]:
    """
    The events of a trace, held to the trace event format as the importer of Perfetto reads it: a JSON object
    of complete events and names, numbers in whole nanoseconds, steps of a thread one after another.
    """
    data = json.loads(file.read_text("utf-8"))
    assert set(data) == {"displayTimeUnit", "traceEvents"} and data["displayTimeUnit"] in ("ms", "ns")
    names: dict[tuple[int, int], str] = {}
    ends: dict[int, int] = {}
    for event in data["traceEvents"]:
        assert type(event["pid"]) is type(event["tid"]) is int and type(event["name"]) is str
        if event["ph"] == "M":
            assert set(event) == {"ph", "pid", "tid", "name", "args"}
            assert event["name"] in ("process_name", "thread_name") and set(event["args"]) == {"name"}
            if event["name"] == "thread_name":
                names[event["pid"], event["tid"]] = event["args"]["name"]
            continue
        assert event["ph"] == "X" and type(event["cat"]) is str and type(event["args"]) is dict
        for key in ("ts", "dur"):
            assert event[key] >= 0 and event[key] * 1000 == pytest.approx(nanoseconds(event[key]), abs=1e-3)
        assert (event["pid"], event["tid"]) in names
        begin = nanoseconds(event["ts"])
        assert begin >= ends.get(event["tid"], 0)
        ends[event["tid"]] = begin + nanoseconds(event["dur"])
    assert len(names) == len(set(names.values())) > 1
    return data["traceEvents"]


def test_the_importer_of_perfetto_reads_the_trace(folder: Path, tmp_path: Path) -> None:
    """The package `perfetto` brings no trace processor along; where there is one, it has the same sums."""
    perfetto = pytest.importorskip("perfetto.trace_processor")
    shell = shutil.which("trace_processor_shell") or shutil.which("trace_processor")
    if shell is None:
        pytest.skip("no trace processor")
    file = tmp_path / "trace.json"
    assert tile_report([str(folder / "a"), "--trace", str(file)]) == 0
    config = perfetto.TraceProcessorConfig(bin_path=shell)
    with perfetto.TraceProcessor(trace=str(file), config=config) as processor:
        query = """
            select category, sum(dur) as dur, count(*) as count,
                sum(extract_arg(arg_set_id, 'args.cycles')) as cycles
            from slice join thread_track on track_id = thread_track.id join thread using (utid)
            where tid = 0 group by category
        """
        read = {row.category: row for row in processor.query(query)}
        count = next(iter(processor.query("select count(*) as n from slice"))).n
    events = [e for e in read_trace(file) if e["ph"] == "X"]
    assert count == len(events)  # none was dropped
    record = result(folder)
    for category, row in read.items():
        path = [e for e in events if e["tid"] == 0 and e["cat"] == category]
        assert (row.count, row.dur) == (len(path), sum(nanoseconds(e["dur"]) for e in path))
        assert row.cycles == pytest.approx(record["cycles"][category], rel=1e-9)


def test_compare(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert tile_report(["--compare", str(folder / "a"), str(folder / "b")]) == 0
    printed = capsys.readouterr().out
    a, b = Profile(folder / "a"), Profile(folder / "b")
    assert f"{b.cycles - a.cycles:,}" in printed
    changed = re.findall(r"^│ (\S+) .*differs", printed, re.M)
    assert changed == ["layers.up_product"]
    assert tile_report(["--compare", str(folder / "a"), str(folder / "a")]) == 0
    assert "differs" not in capsys.readouterr().out
    assert tile_report(["--compare", str(folder / "a"), str(folder / "short")]) == 0


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "a profile is needed"),
        (["{a}", "--compare", "{a}", "{a}"], 2, "leave the first argument out"),
        (["--compare", "{a}", "{a}", "--csv", "x"], 2, "--compare prints tables"),
        (["{cut}", "--text"], 1, "this is no profile, or it is damaged or cut short"),
        (["{missing}", "--text"], 1, "no such file"),
        (["{newer}"], 1, "reads up to"),
        (["{short}", "--trace", "{out}"], 1, "there is no trace"),
        (["{a}", "-o", "{folder}"], 1, "is a folder"),
    ],
)
def test_what_goes_wrong_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int, message: str
) -> None:
    (folder / "cut").write_bytes((folder / "a").read_bytes()[:4000])
    with np.load(folder / "a") as archive:
        parts = dict(archive)
    header = json.loads(parts["header"].tobytes()) | {"version": 99}
    parts["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with (folder / "newer").open("wb") as file:
        np.savez(file, **parts)
    names = {n: folder / n for n in ("a", "cut", "missing", "newer", "short", "out")} | {"folder": folder}
    capsys.readouterr()
    assert tile_report([argument.format(**names) for argument in arguments]) == status
    assert message in capsys.readouterr().err


def test_the_page_asks_nobody(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    assert tile_report([str(folder / "a"), "-o", str(file)]) == 0
    text = file.read_text("utf-8")
    assert not re.search(r"(src|href)=\"(?!data:)|https?://|import\(|fetch\(", text)
    assert len(text) < 400_000
    assert tile_report([str(folder / "a")]) == 0  # beside the profile
    assert (folder / "a.html").read_text("utf-8").startswith("<!doctype html>")


def test_a_profile_without_anything(folder: Path, tmp_path: Path) -> None:
    """A compilation that ended before it had buffers."""
    short = Profile(folder / "short")
    header = replace(short.header, buffers=(), instructions=(), operators=())
    arrays = {k: v for k, v in short.arrays.items() if k in ("places", "tile_group", "tile_class")}
    arrays["held"] = np.zeros((0, int(short.tile_class.max()) + 1), np.bool_)
    Profile.of(header, arrays).write(tmp_path / "empty")
    for option in (["--text"], ["--csv", str(tmp_path / "csv")], ["-o", str(tmp_path / "empty.html")]):
        assert tile_report([str(tmp_path / "empty"), *option]) == 0


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"strategy": "grid", "grid": [1, 4, 90, 4]}, "divided: rows in 4, columns in 90, contraction in 4"),
        (
            {"strategy": "grid", "grid": [1, 1, 1, 1], "swap": True, "share": 1, "base": 7},
            "not divided, operands swapped, from tile 7 on",
        ),
        ({"strategy": "leader", "leader": -1}, "laid out evenly over all tiles"),
        ({"strategy": "rows", "parts": 3}, "rows in 3 parts"),
        ({"strategy": "rows", "parts": 3, "depth": [2, 1]}, "rows, parts 3, depth 2 1"),
        ({"strategy": "columns", "width": 3, "fast": True}, "columns, width 3, fast"),
        ({}, ""),
    ],
)
def test_plans_in_words(record: dict[str, Any], text: str) -> None:
    """What the sentences do not know is said field by field."""
    assert tables.sentence(json.dumps(record)) == text


def test_threads_of_a_trace_are_bounded(folder: Path) -> None:
    profile = Profile(folder / "a")
    profile.tile_class = np.arange(profile.machine.tiles, dtype=np.int32)
    names = [e for e in trace.events(profile) if e["ph"] == "M"]
    assert len(names) == 2 + min(profile.machine.tiles, trace.MOST_TILES)


# ------------------------------------------------------------------------------------------- in a browser

in_a_browser = pytest.mark.skipif(browser.CHROMIUM is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def page(folder: Path) -> Path:
    assert tile_report([str(folder / "a"), "-o", str(folder / "page.html")]) == 0
    return folder / "page.html"


@pytest.mark.browser
@in_a_browser
def test_the_page_shows_what_the_record_says(folder: Path, page: Path) -> None:
    out = browser.in_browser(
        page,
        """
        out.cycles = text("cycles"); out.operators = rows("operators"); out.run = rows("run");
        """
        + browser.EVERY_VIEW,
    )
    record, profile = result(folder), Profile(folder / "a")
    assert browser.number(out["cycles"]) == record["cycles"]["total"]
    shown = {row[0]: row[1:] for row in out["operators"]}
    assert list(shown) == [entry["name"] for entry in record["operators"]]
    for entry in record["operators"]:
        total, *bounds = shown[entry["name"]][:3]
        assert browser.number(total) == entry["total"]
        for cell, name in zip(bounds, ("compute_bound", "exchange_bound"), strict=True):
            assert cell == ("" if entry[name] is None else f"{round(entry[name]):,}")
    run = browser.table(out["run"])
    memory = record["memory"]
    assert run["bytes ever in use, most on a tile"] == (
        f"{memory['max_tile_bytes']:,} on tile {memory['max_tile']}"
    )
    assert browser.number(run["bytes in use on it"]) == profile.peak().nbytes <= memory["max_tile_bytes"]
    (check,) = (c for c in record["checks"] if c["output"] == "tokens")
    assert f"max abs error {check['max_abs_error']:.6g}" in run["output tokens"]
    assert tuple(out["views"]) == browser.VIEWS
    assert not any(out["cut"].values())
    assert browser.seconds_to_open(page, 3) < 3
    wide = browser.in_browser(page, browser.EVERY_VIEW, width=1920)
    assert not any(wide["cut"].values())


@pytest.mark.browser
@in_a_browser
def test_the_timeline_is_zoomed_searched_and_opened(folder: Path, page: Path) -> None:
    out = browser.in_browser(
        page,
        """
        await press("view-timeline");
        let line = document.getElementById("timeline"); const state = report.state;
        const start = [state.from, state.to];
        wheel(line, 600, 100, -100); wheel(line, 600, 100, -100); await wait();
        out.zoomed = (state.to - state.from) / (start[1] - start[0]);
        const before = state.from;
        mouse(line, "mousedown", 700, 100); mouse(line, "mousemove", 640, 100);
        mouse(line, "mouseup", 640, 100);
        out.moved = state.from - before;
        await press("whole"); mouse(line, "mousemove", 600, 32); out.tip = text("tip");
        type("search", "layers.up_product"); out.found = text("found");
        const enter = new KeyboardEvent("keydown", {key: "Enter"});
        document.getElementById("search").dispatchEvent(enter); await wait();
        out.span = state.to - state.from;
        line = document.getElementById("timeline");
        // every tile can be reached: a class is opened by a press on its name
        out.tiles = report.profiles[0].classes.map(c => c.tiles);
        const many = report.profiles[0].classes.findIndex(c => c.tiles.length > 1);
        out.many = many;
        if (many >= 0) { await press(line, 40, 52 + 16 * many + 6); out.opened = [...state.open]; }
        change("goto", 7); await press(line, 40, 58); out.tile = state.tile;
        // a press on a step says what it is and where it stands
        await press("whole"); await press(document.getElementById("timeline"), 500, 32);
        out.operator = state.operator; out.about = text("about");
        """,
    )
    profile = Profile(folder / "a")
    assert out["zoomed"] == pytest.approx(0.64) and out["moved"] > 0
    assert re.search(r"operator .*\n.*cycles", out["tip"])
    cycles = sum(
        int(c)
        for s, c in zip(profile.steps, profile.step_cycles, strict=True)
        if "layers.up_product" in f"{s.operator} {s.name} {s.reason}"
    )
    assert out["found"].endswith(f"{cycles:,} cycles") and 0 < out["span"] < profile.cycles
    assert sorted(t for tiles in out["tiles"] for t in tiles) == list(range(profile.machine.tiles))
    assert out["many"] < 0 or out["opened"] == [out["many"]]
    assert out["operator"] in {s.operator for s in profile.steps} and out["operator"] in out["about"]


@pytest.mark.browser
@in_a_browser
def test_an_operator_leads_to_the_timeline_and_its_source(folder: Path, page: Path) -> None:
    out = browser.in_browser(
        page,
        """
        await press("view-program"); await wait();
        const graph = document.getElementById("graph");
        mouse(graph, "mousemove", 300, 24 + 30 * 2 + 10); out.tip = text("tip");
        await press(graph, 300, 24 + 30 * 2 + 10);
        out.view = report.state.view; out.operator = report.state.operator; out.clicks = clicks;
        out.here = document.querySelector("#source .here").textContent; out.facts = rows("facts");
        """,
    )
    profile = Profile(folder / "a")
    (operator,) = (o for o in profile.operators if o.name == out["operator"])
    assert (out["view"], out["clicks"]) == ("timeline", 2) and out["tip"].startswith(operator.name)
    line = int(operator.source.split(":")[-2])
    (text,) = (s.text for s in profile.source if s.line == line)
    assert out["here"].split(None, 1) == [str(line), text.strip()]
    assert f"%{operator.name.rpartition('.')[2]} = " in text
    assert browser.number(browser.table(out["facts"])["cycles"]) == operator.total


@pytest.mark.browser
@in_a_browser
def test_answers_are_at_most_three_clicks_away(folder: Path, page: Path) -> None:
    """From the page as it opens: the clicks that each question takes, and what then stands first."""
    out = browser.in_browser(
        page,
        """
        const start = () => { report.go("summary"); clicks = 0; };
        start(); await press(document.querySelectorAll("#operators th")[4]);
        out.gap = [clicks, rows("operators")[0][0]];
        start(); await press("view-memory"); out.live = [clicks, rows("live"), text("live-title")];
        start(); await press("view-exchange"); out.phase = [clicks, rows("phases")[0]];
        start(); await press("view-memory"); await press("homes-search"); type("homes-search", "layers.1.up");
        out.homes = [clicks, rows("homes")];
        // another tile, another moment
        change("tile", 3); await wait(); out.tile = report.state.tile; out.event = report.state.event;
        await press("over", 400, 100); out.eventAfter = report.state.event;
        await press("fullest"); out.back = [report.state.tile, report.state.event];
        """,
    )
    assert max(out[key][0] for key in ("gap", "live", "phase", "homes")) <= 3
    profile = Profile(folder / "a")
    gaps = {o.name: o.gap for o in profile.operators if o.gap is not None}
    assert out["gap"][1] == max(gaps, key=lambda name: gaps[name] or 0)
    most = profile.peak()
    held = profile.held[:, profile.tile_class[most.tile]] & profile.live(most.instruction)
    live = sorted((-b.nbytes, b.name) for b, here in zip(profile.buffers, held, strict=True) if here)
    assert sorted((-browser.number(r[2]), r[0]) for r in out["live"][1]) == live
    assert f"{len(live)} buffers live on tile {most.tile}" in out["live"][2]
    sent = profile.sent.sum(axis=1) * np.array([p.executions for p in profile.phases])
    assert out["phase"][1][0] == profile.phases[int(sent.argmax())].name
    assert browser.number(out["phase"][1][2]) == int(sent.max())
    homes = {row[0]: row for row in out["homes"][1]}
    assert set(homes) == {"encoder.layers.1.up.weight", "encoder.layers.1.up.bias"}
    for name, row in homes.items():
        (binding,) = (b for b in profile.bindings if name in b.tensors and b.kind == "parameter")
        assert row[4] == hex(binding.address + binding.tensors.index(name) * binding.stride)
        assert browser.number(row[5]) == int((profile.homes[binding.home] > 0).sum())
    assert out["tile"] == 3 and out["eventAfter"] != out["event"]
    assert out["back"] == [most.tile, most.instruction]


@pytest.mark.browser
@in_a_browser
def test_layouts_and_conversions_are_drawn(folder: Path, page: Path) -> None:
    out = browser.in_browser(
        page,
        """
        // views that are left before their frame comes draw nothing, and end
        for (const view of views()) report.go(view);
        await press("view-layouts");
        for (let i = 0; i < 3; i++) change("conversion", i);
        change("conversion", -1); await wait();
        out.values = [...document.querySelectorAll("#valueA option")].map(o => o.textContent);
        const options = [...document.querySelectorAll("#conversion option")];
        out.conversions = options.slice(1).map(o => o.textContent); out.moved = [];
        for (let i = 0; i < out.conversions.length; i++) {
          change("conversion", i); await wait(); out.moved.push(rows("moved").map(r => r[1]));
        }
        const hover = (id, x, y) => {
          mouse(document.getElementById(id), "mousemove", x, y);
          return text("tip");
        };
        out.chip = hover("valueB-chip", 10, 10); out.element = hover("valueB-elements", 10, 10);
        out.ends = hover("moves", 60, 40);
        out.cut = cut();
        change("valueB", 0); await wait(); out.plain = report.state.conversion;
        """,
    )
    profile = Profile(folder / "a")
    assert sum(len(phase.moves) for phase in profile.phases) == len(out["conversions"])
    at = 0
    for number, phase in enumerate(profile.phases):
        figures = out["moved"][at : at + len(phase.moves)]
        at += len(phase.moves)
        moved, stays = (sum(browser.number(move[i]) for move in figures) for i in (0, 1))
        # what the machine model delivered; a tile may hear what it sends itself
        assert moved <= int(profile.received[number].sum()) <= moved + stays
    assert re.match(r"tile \d+: [\d,]+ bytes", out["chip"]) and "on tile" in out["element"]
    assert "sends" in out["ends"] and out["cut"] == [] and out["plain"] == -1
    assert {"tokens (output)", "layers.up_product (result)"} <= set(out["values"])


@pytest.mark.browser
@in_a_browser
def test_pages_of_a_failure_and_of_a_comparison(folder: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.html"
    assert tile_report([str(folder / "short"), "-o", str(short)]) == 0
    script = """
        out.message = text("failure");
        await press("view-memory"); out.live = rows("live").length;
        """
    out = browser.in_browser(short, script + browser.EVERY_VIEW)
    assert "exchange rows take" in out["message"] and out["live"] > 10
    assert out["views"] == ["summary", "memory", "layouts", "program"] and not any(out["cut"].values())
    both = tmp_path / "compare.html"
    assert tile_report(["--compare", str(folder / "a"), str(folder / "b"), "-o", str(both)]) == 0
    script = """
        out.totals = rows("compare-totals"); out.operators = rows("compare-operators");
        out.plans = rows("compare-plans");
        change("which", 1); await press("view-summary"); out.cycles = text("cycles");
        """
    out = browser.in_browser(both, script + browser.EVERY_VIEW)
    a, b = Profile(folder / "a"), Profile(folder / "b")
    assert out["totals"][0][1:4] == [f"{v:,}" for v in (a.cycles, b.cycles, b.cycles - a.cycles)]
    assert out["operators"][0][0] and out["cycles"] == f"{b.cycles:,}"
    assert [row[0] for row in out["operators"] if row[5] == "differs"] == ["layers.up_product"]
    assert ["operators", "layers.up_product"] in [row[:2] for row in out["plans"]]
    assert out["views"] == [*browser.VIEWS, "compare"] and not any(out["cut"].values())


ONE = """
func.func @main(%x: tensor<8xf16> {tile_tensor.input = "x"}) -> (tensor<8xf16> {tile_tensor.output = "y"}) {
  %y = tile_tensor.relu %x : (tensor<8xf16>) -> tensor<8xf16>
  func.return %y : tensor<8xf16>
}
"""
ZERO_TRIPS = """
func.func @main(%x: tensor<8xf16> {tile_tensor.input = "x"}) -> (tensor<8xf16> {tile_tensor.output = "y"}) {
  %r = tile_repeat.repeat "none" count 0 carried(%c = %x : tensor<8xf16>) -> (tensor<8xf16>) {
    %n = tile_tensor.add %c, %c : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
    tile_repeat.yield %n : tensor<8xf16>
  }
  %y = tile_tensor.add %r, %x : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  func.return %y : tensor<8xf16>
}
"""
TOO_LARGE = """
func.func @main(%x: tensor<8xf16> {tile_tensor.input = "x"})
    -> (tensor<1024x1024xf16> {tile_tensor.output = "y"}) {
  %b = tile_tensor.broadcast %x dimensions [2] : (tensor<8xf16>) -> tensor<1024x128x8xf16>
  %r = tile_tensor.reshape %b : (tensor<1024x128x8xf16>) -> tensor<1024x1024xf16>
  %y = tile_tensor.relu %r : (tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  func.return %y : tensor<1024x1024xf16>
}
"""


@pytest.mark.browser
@in_a_browser
@pytest.mark.parametrize(
    ("text", "views"),
    [
        (ONE, ["summary", "timeline", "memory", "layouts", "program"]),
        (ZERO_TRIPS, ["summary", "timeline", "memory", "layouts", "program"]),
        (TOO_LARGE, ["summary", "program"]),
    ],
    ids=["one-operation", "zero-trips", "refused-before-buffers"],
)
def test_pages_of_little(tmp_path: Path, text: str, views: list[str]) -> None:
    """Four tiles, one operation; a repeat that never runs; what is refused from its shapes."""
    (tmp_path / "p.mlir").write_text(text, "utf-8")
    write_tensors(tmp_path / "in.safetensors", {"x": np.ones(8, np.float16)})
    command = [str(tmp_path / "p.mlir"), "--machine", "t4", "--inputs", str(tmp_path / "in.safetensors")]
    refused = text is TOO_LARGE
    assert tile_run([*command, "--profile", str(tmp_path / "p")]) == int(refused)
    assert tile_report([str(tmp_path / "p"), "-o", str(tmp_path / "p.html")]) == 0
    script = """
        await press("view-program");
        await press("graph", 300, 34 + 30 * (report.profiles[0].operators.length - 1));
        out.about = text("about"); await press("view-summary"); out.summary = text("main");
        """
    out = browser.in_browser(tmp_path / "p.html", browser.EVERY_VIEW + script)
    assert out["views"] == views and not any(out["cut"].values())
    profile = Profile(tmp_path / "p")
    assert any(o.name in out["about"] for o in profile.operators)
    assert "tile_tensor." in out["about"]  # its line of the program
    if refused:
        assert profile.failure is not None and profile.failure.message in out["summary"]
        assert "does not fit" in profile.failure.message and not profile.buffers
