# SPDX-License-Identifier: Apache-2.0
"""Pictures in documents: the page of tile-report on the founding workload, as headless Chromium shows it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from figures.blocks import ROOT
from figures.founding import FASTEST, FOLDS, TOWER
from figures.runs import Missing, Runs

FOLDER = ROOT / "docs" / "images"
PICTURES = {
    "report-timeline.png": ("timeline,light,operator=layers.up_product", 760),
    "report-memory.png": ("memory,light", 780),
    "report-layouts.png": ("layouts,light,conversion=layers.up_product.left", 960),
}
"""By file: what the address of the page says behind `#`, and the height in pixels; all are 1280 wide."""


def make(runs: Runs) -> None:
    """Run 27 layers with a profile, and draw it. Raises Missing where Chromium is not installed."""
    chromium()
    profile = runs.folder / "siglip.profile"
    workload = (*TOWER, "--layers", "27")
    runs.run(workload, "c600", *FOLDS, "--plan", str(FASTEST), "--profile", str(profile))
    draw(profile, FOLDER)


def chromium() -> str:
    """The browser."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        raise Missing("Chromium is not installed")
    return found


def draw(profile: Path, folder: Path) -> None:
    """Write the pictures of a profile to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    report = Path(sys.executable).parent / "tile-report"
    with tempfile.TemporaryDirectory() as made:
        page = Path(made) / "page.html"
        subprocess.run(
            [report, profile.name, "-o", page], cwd=profile.parent, check=True, capture_output=True
        )
        for name, (address, height) in PICTURES.items():
            command = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
            command += [f"--user-data-dir={made}/browser", f"--window-size=1280,{height}"]
            command += ["--virtual-time-budget=5000", f"--screenshot={folder / name}"]
            subprocess.run([*command, f"{page.as_uri()}#{address}"], check=True, capture_output=True)


if __name__ == "__main__":
    draw(Path(sys.argv[1]).resolve(), FOLDER)
