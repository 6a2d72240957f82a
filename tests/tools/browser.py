# SPDX-License-Identifier: Apache-2.0
"""Drives a page of tile-report in headless Chromium, as a person would: presses what can be seen."""

from __future__ import annotations

import html
import http.server
import json
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

VIEWS = ("summary", "timeline", "memory", "exchange", "layouts", "program")

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
<script>{
let clicks = 0;
const wait = () => new Promise(done => setTimeout(done, 50));
// Press at a place of a node, which has to be what is seen there.
const press = async (node, x = null, y = null) => {
  if (typeof node === "string") node = document.getElementById(node);
  node.scrollIntoView({block: "nearest"});
  if (y != null) scrollBy(0, node.getBoundingClientRect().top + y - innerHeight / 2);
  const box = node.getBoundingClientRect();
  const place = {
    clientX: box.left + (x ?? box.width / 2), clientY: box.top + (y ?? box.height / 2), bubbles: true};
  const seen = document.elementFromPoint(place.clientX, place.clientY);
  if (!node.contains(seen)) throw new Error(`${node.id || node.textContent} is hidden by ${seen?.outerHTML}`);
  for (const type of ["mousedown", "mouseup", "click"]) seen.dispatchEvent(new MouseEvent(type, place));
  clicks++;
  await wait();
};
const mouse = (node, type, x, y) => {
  const box = node.getBoundingClientRect(), place = {clientX: box.left + x, clientY: box.top + y};
  node.dispatchEvent(new MouseEvent(type, {...place, bubbles: true}));
};
const wheel = (node, x, y, deltaY) => {
  const box = node.getBoundingClientRect(), place = {clientX: box.left + x, clientY: box.top + y};
  node.dispatchEvent(new WheelEvent("wheel", {...place, deltaY, bubbles: true, cancelable: true}));
};
const type = (id, text) => {
  const node = document.getElementById(id);
  node.value = text; node.dispatchEvent(new Event("input"));
};
const change = (id, value) => {
  const node = document.getElementById(id);
  node.value = value; node.dispatchEvent(new Event("change"));
};
const text = id => document.getElementById(id).textContent;
const cells = row => [...row.cells].map(cell => cell.textContent);
const rows = id => [...document.querySelectorAll(`#${id} tbody tr`)].map(cells);
const views = () => [...document.querySelectorAll("nav button")].map(b => b.id.replace("view-", ""));
// What is wider than the room that it has.
const boxes = () => [document.documentElement,
  ...document.querySelectorAll("header, nav, .panel, .scroll, .tools")];
const cut = () => boxes()
  .filter(node => node.scrollWidth > node.clientWidth + 1).map(node => node.outerHTML.slice(0, 160));
(async () => {
  const out = {};
  for (let i = 0; i < 400 && !window.report?.ready; i++) await wait();
  try { await drive(out); } catch (error) { faults.push(String(error.stack)); }
  out.faults = faults;
  out.requests = performance.getEntriesByType("resource").map(e => e.name);
  document.getElementById("driven").textContent = JSON.stringify(out);
})();
async function drive(out) { %s }
}</script>
"""

EVERY_VIEW = """
        out.views = views(); out.cut = {};
        for (const view of out.views) { await press("view-" + view); await wait(); out.cut[view] = cut(); }
"""
"""A script that looks at every view; nothing may be cut off in any."""


def _command(folder: Path, width: int, *more: str) -> list[str]:
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    command += ["--disable-component-update", "--disable-sync", "--disable-extensions", "--no-first-run"]
    return [*command, f"--window-size={width},1000", f"--user-data-dir={folder}", *more]


def _comes_up(user: Path) -> bool:
    """Whether the browser shows a page that does nothing."""
    try:
        done = subprocess.run(
            _command(user, 1280, "--dump-dom", "about:blank"), capture_output=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def in_browser(page: Path, script: str, width: int = 1280) -> dict[str, Any]:
    """What a script has put into `out` in the page, with the page's faults and requests."""
    text = page.read_text("utf-8").replace("<head>", "<head>" + PROBE, 1)
    driven = page.with_suffix(".driven.html")
    driven.write_text(text.replace("</body>", DRIVER.replace("%s", script) + "</body>"), "utf-8")
    for attempt in range(3):  # on a busy machine the browser itself sometimes does not come up
        user = page.parent / f"chromium{attempt}"
        try:
            done = subprocess.run(
                _command(user, width, "--virtual-time-budget=20000", "--dump-dom", driven.as_uri()),
                capture_output=True,
                text=True,
                timeout=90,
                check=False,
            )
            break
        except subprocess.TimeoutExpired:
            continue
    else:
        assert not _comes_up(page.parent / "empty"), "the page keeps the browser busy for 90 s, three times"
        pytest.skip("Chromium does not come up")
    found = re.search(r'<pre id="driven">(.*?)</pre>', done.stdout, re.S)
    assert found is not None and found[1], done.stderr[-2000:]
    out = json.loads(html.unescape(found[1]))
    assert out["faults"] == [], "\n".join(out["faults"])
    assert out["requests"] == []
    return out


def seconds_to_open(page: Path, enough: float) -> float:
    """
    Seconds from the navigation until the first view is drawn, as the browser counts them: the least of three
    times, or the first that is `enough`.
    """
    found: list[float] = []
    for _ in range(3):
        found.append(_open_once(page))
        if found[-1] < enough:
            break
    return min(found)


def _open_once(page: Path) -> float:
    found: list[float] = []

    class Told(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.append(float(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Told)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tell = f"""
        <script>(async () => {{
          while (!window.report?.ready) await new Promise(done => setTimeout(done, 5));
          await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
          navigator.sendBeacon("http://127.0.0.1:{server.server_port}/", String(performance.now() / 1000));
        }})()</script>"""
    timed = page.with_suffix(".timed.html")
    timed.write_text(page.read_text("utf-8").replace("</body>", tell + "</body>"), "utf-8")
    command = _command(page.parent / "timed", 1280, "--remote-debugging-port=0", timed.as_uri())
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as browser:
        limit = time.monotonic() + 60
        while not found and time.monotonic() < limit:
            time.sleep(0.02)
        browser.terminate()
    server.shutdown()
    server.server_close()
    if not found:
        pytest.skip("Chromium does not come up")
    return found[0]


def number(cell: str) -> int:
    return int(cell.replace(",", ""))


def table(rows: Sequence[Sequence[str]]) -> dict[str, str]:
    """A table of two columns."""
    return {row[0]: row[1] for row in rows}
