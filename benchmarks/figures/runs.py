# SPDX-License-Identifier: Apache-2.0
"""Runs of workloads for figures: each made once, by the tools, its record kept."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any


class Missing(Exception):
    """A workload that cannot be made here: weights that are not installed."""


class Failed(Exception):
    """A run that did not end well, and what it said."""


class Runs:
    """
    Records (result.json) of runs by workload and options; `repeats` is how often a timed one is made. Several
    threads may ask: each run is made by one of them, the others wait for it.
    """

    def __init__(self, repeats: int = 1) -> None:
        self.repeats = repeats
        self._folder = tempfile.TemporaryDirectory(prefix="figures-")  # goes when this object goes
        self.folder = Path(self._folder.name)
        self.records: dict[tuple[str, ...], dict[str, Any]] = {}
        self._locks: defaultdict[object, threading.Lock] = defaultdict(threading.Lock)
        self._asking = threading.Lock()

    def _lock(self, key: object) -> threading.Lock:
        with self._asking:
            return self._locks[key]

    def workload(self, *arguments: str) -> Path:
        """The program folder of `tile-workload arguments`."""
        path = self.folder / "-".join(arguments).replace("/", "_")
        with self._lock(path):
            if not path.exists():
                done = _tool("tile-workload", *arguments, "-o", str(path))
                if done.returncode:
                    raise Missing(done.stderr.strip().splitlines()[0])
        return path

    def run(
        self, workload: tuple[str, ...], machine: str, *options: str, timed: bool = False
    ) -> dict[str, Any]:
        """
        The record of `tile-run`, whose checks have to pass unless it calibrates. `timed`: the seconds are the
        median of `repeats` runs.
        """
        key = (*workload, machine, *options)
        wanted = self.repeats if timed else 1
        with self._lock(key):
            if key not in self.records or len(self.records[key]["all_seconds"]) < wanted:
                folder = self.workload(*workload)
                records = [self._once(folder, machine, options) for _ in range(wanted)]
                made = records[0]
                made["all_seconds"] = [(r["compile"]["seconds"], r["simulate"]["seconds"]) for r in records]
                made["compile"]["seconds"] = statistics.median(r["compile"]["seconds"] for r in records)
                made["simulate"]["seconds"] = statistics.median(r["simulate"]["seconds"] for r in records)
                self.records[key] = made
            return self.records[key]

    def _once(self, folder: Path, machine: str, options: tuple[str, ...]) -> dict[str, Any]:
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".json", delete=False) as made:
            result = Path(made.name)
        done = _tool("tile-run", str(folder), "--machine", machine, "--json", str(result), *options)
        if done.returncode:
            raise Failed(f"tile-run {folder.name} {' '.join(options)}: {done.stdout}{done.stderr}")
        return json.loads(result.read_text("utf-8"))


def _tool(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True)
