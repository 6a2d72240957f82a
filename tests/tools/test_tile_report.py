# SPDX-License-Identifier: Apache-2.0
"""tile-report: its figures are those of result.json, and its page works in a browser that has no network."""

from __future__ import annotations

import csv
import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.profile import Profile
from tilewright.tools.report import tables, trace
from tilewright.tools.tile_report import main as tile_report
from tilewright.tools.tile_run import main as tile_run

SHAPE = Shape(tokens=16, width=32, heads=2, mlp=48, layers=3, batch=1, patch=12)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


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
    data = json.loads(file.read_text("utf-8"))
    found = [e for e in data["traceEvents"] if e["ph"] == "X"]
    record = result(folder)
    for category in ("compute", "exchange", "copy", "sync"):
        path = [e for e in found if e["tid"] == 0 and e["cat"] == category]
        cycles = sum(e["args"]["cycles"] for e in path)
        assert cycles == pytest.approx(record["cycles"][category], rel=1e-9)
        duration = sum(e["dur"] for e in path) * record["clock_hz"] / 1e6
        assert duration == pytest.approx(record["cycles"][category], rel=1e-9)
    threads = {e["tid"] for e in data["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}
    assert {e["tid"] for e in found} <= threads and len(threads) > 1
    for thread in threads:  # one after another
        events = [e for e in found if e["tid"] == thread]
        ends = [e["ts"] + e["dur"] for e in events]
        assert all(e["ts"] >= end - 1e-6 for e, end in zip(events[1:], ends, strict=False))


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


# ------------------------------------------------------------------------------------------- in a browser

PROBE = """
<script>
const faults = [];
addEventListener("error", e => faults.push(String(e.message)));
addEventListener("unhandledrejection", e => faults.push(String(e.reason)));
console.error = (...all) => faults.push(all.join(" "));
</script>
"""
DRIVER = """
<pre id="driven"></pre>
<script>
const wait = () => new Promise(done => setTimeout(done, 50));
const mouse = (node, type, x, y) => {
  const box = node.getBoundingClientRect(), place = {clientX: box.left + x, clientY: box.top + y};
  node.dispatchEvent(new MouseEvent(type, {...place, bubbles: true}));
};
const change = (id, value) => {
  const node = document.getElementById(id);
  node.value = value; node.dispatchEvent(new Event("change"));
};
const wheel = (node, x, y, deltaY) => {
  const box = node.getBoundingClientRect(), place = {clientX: box.left + x, clientY: box.top + y};
  node.dispatchEvent(new WheelEvent("wheel", {...place, deltaY, bubbles: true, cancelable: true}));
};
const cells = row => [...row.cells].map(cell => cell.textContent);
const rows = id => [...document.querySelectorAll(`#${id} tbody tr`)].map(cells);
const click = id => document.getElementById(id).click();
(async () => {
  const out = {};
  for (let i = 0; i < 200 && !window.report?.ready; i++) await wait();
  try { await drive(out); } catch (error) { faults.push(error.stack); }
  out.faults = faults;
  out.requests = performance.getEntriesByType("resource").map(e => e.name);
  document.getElementById("driven").textContent = JSON.stringify(out);
})();
async function drive(out) { %s }
</script>
"""


def in_browser(page: Path, script: str) -> dict[str, Any]:
    """What a script has put into `out` in the page, with the page's faults and requests."""
    assert CHROMIUM is not None
    text = page.read_text("utf-8").replace("<head>", "<head>" + PROBE, 1)
    driven = page.with_suffix(".driven.html")
    driven.write_text(text.replace("</body>", DRIVER % script + "</body>"), "utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    command += ["--disable-component-update", "--disable-sync", "--disable-extensions", "--no-first-run"]
    command += ["--window-size=1280,1000", "--virtual-time-budget=5000", "--dump-dom"]
    for attempt in range(3):  # on a busy machine the browser itself sometimes does not come up
        user = page.parent / f"chromium{attempt}"
        try:
            done = subprocess.run(
                [*command, f"--user-data-dir={user}", driven.as_uri()],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            break
        except subprocess.TimeoutExpired:
            continue
    else:
        pytest.skip("Chromium does not come up")
    found = re.search(r'<pre id="driven">(.*?)</pre>', done.stdout, re.S)
    assert found is not None and found[1], done.stderr[-2000:]
    return json.loads(html.unescape(found[1]))


browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@pytest.mark.browser
@browser
def test_the_page_shows_what_the_record_says(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    assert tile_report([str(folder / "a"), "-o", str(page)]) == 0
    out = in_browser(
        page,
        """
        out.cycles = document.getElementById("cycles").textContent;
        out.operators = rows("operators");
        out.views = [...document.querySelectorAll("nav button")].map(b => b.textContent);
        out.wide = [];
        for (const view of out.views) {
          click("view-" + view.toLowerCase()); await wait();
          if (document.documentElement.scrollWidth > innerWidth) out.wide.push(view);
        }
        click("view-timeline"); await wait();
        const line = document.getElementById("timeline"), state = report.state;
        const start = [state.from, state.to];
        wheel(line, 600, 100, -100); wheel(line, 600, 100, -100); await wait();
        out.zoomed = (state.to - state.from) / (start[1] - start[0]);
        const before = state.from;
        mouse(line, "mousedown", 700, 100);
        mouse(line, "mousemove", 640, 100);
        mouse(line, "mouseup", 640, 100);
        out.moved = state.from - before;
        click("whole"); mouse(line, "mousemove", 600, 32);
        out.tip = document.getElementById("tip").textContent;
        const search = document.getElementById("search");
        search.value = "layers.up_product"; search.dispatchEvent(new Event("input"));
        out.found = document.getElementById("found").textContent;
        search.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"})); await wait();
        out.span = report.state.to - report.state.from;
        // the operator with the largest gap: one click on the heading of the column
        click("view-summary"); await wait();
        document.querySelectorAll("#operators th")[4].click(); out.gap = rows("operators")[0][0];
        // the buffers that are live at the peak of the fullest tile
        click("view-memory"); click("fullest"); await wait(); out.live = rows("live");
        change("tile", 3); await wait();
        out.tile = report.state.tile; out.event = report.state.event;
        mouse(document.getElementById("over"), "click", 400, 100); await wait();
        out.eventAfter = report.state.event;
        // where parameters live
        const homes = document.getElementById("homes-search");
        homes.value = "layers.1"; homes.dispatchEvent(new Event("input")); out.homes = rows("homes");
        // the phase that sends most
        click("view-exchange"); await wait(); out.phase = rows("phases")[0];
        """,
    )
    assert out["faults"] == [] and out["requests"] == []
    record, profile = result(folder), Profile(folder / "a")
    assert out["cycles"] == f"{record['cycles']['total']:,}"
    shown = {row[0]: int(row[1].replace(",", "")) for row in out["operators"]}
    assert shown == {entry["name"]: entry["total"] for entry in record["operators"]}
    assert out["views"] == ["Summary", "Timeline", "Memory", "Exchange", "Layouts", "Program"]
    assert out["wide"] == []
    assert out["zoomed"] == pytest.approx(0.64) and out["moved"] > 0
    assert re.search(r"operator .*\n.*cycles", out["tip"])
    cycles = sum(
        int(c)
        for s, c in zip(profile.steps, profile.step_cycles, strict=True)
        if "layers.up_product" in f"{s.operator} {s.name} {s.reason}"
    )
    assert out["found"].endswith(f"{cycles:,} cycles") and 0 < out["span"] < profile.cycles
    gaps = {o.name: o.gap for o in profile.operators if o.gap is not None}
    assert out["gap"] == max(gaps, key=lambda name: gaps[name] or 0)
    peak = tables.peak(profile)
    assert out["live"][0][0] == peak.rows[0][0]
    assert sorted(row[0] for row in out["live"]) == sorted(str(row[0]) for row in peak.rows)
    assert out["tile"] == 3 and out["eventAfter"] != out["event"]
    assert out["homes"] and all("layers.1" in row[0] and row[4].startswith("0x") for row in out["homes"])
    sent = profile.sent.sum(axis=1) * np.array([p.executions for p in profile.phases])
    assert out["phase"][0] == profile.phases[int(sent.argmax())].name
    assert out["phase"][2] == f"{int(sent.max()):,}"


@pytest.mark.browser
@browser
def test_pages_of_a_failure_and_of_a_comparison(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "short.html"
    assert tile_report([str(folder / "short"), "-o", str(page)]) == 0
    script = """
        out.message = document.getElementById("failure").textContent;
        click("view-memory"); await wait(); out.live = rows("live").length;
        click("view-program"); await wait(); out.views = document.querySelectorAll("nav button").length;
        """
    out = in_browser(page, script)
    assert out["faults"] == [] and "exchange rows take" in out["message"] and out["live"] > 10
    page = tmp_path / "compare.html"
    assert tile_report(["--compare", str(folder / "a"), str(folder / "b"), "-o", str(page)]) == 0
    script = """
        out.totals = rows("compare-totals"); out.operators = rows("compare-operators");
        change("which", 1); click("view-summary"); await wait();
        out.cycles = document.getElementById("cycles").textContent;
        """
    out = in_browser(page, script)
    a, b = Profile(folder / "a"), Profile(folder / "b")
    assert out["faults"] == [] and out["totals"][0][1:4] == [
        f"{v:,}" for v in (a.cycles, b.cycles, b.cycles - a.cycles)
    ]
    assert out["operators"][0][0] and out["cycles"] == f"{b.cycles:,}"
    assert [row[0] for row in out["operators"] if row[5] == "differs"] == ["layers.up_product"]


def test_threads_of_a_trace_are_bounded(folder: Path) -> None:
    profile = Profile(folder / "a")
    profile.tile_class = np.arange(profile.machine.tiles, dtype=np.int32)
    names = [e for e in trace.events(profile) if e["ph"] == "M"]
    assert len(names) == 2 + min(profile.machine.tiles, trace.MOST_TILES)
