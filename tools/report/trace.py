# SPDX-License-Identifier: Apache-2.0
"""
A profile in the trace event format that Perfetto and Chrome read: a thread for the critical path, and one for
a tile of every class of tiles.

Times are microseconds of the machine's clock with three decimals, `args.cycles` cycles. Executions of a
repeat after the first take the mean of them all; on the critical path the cycles sum to those of the run.
Perfetto counts whole nanoseconds: begin and end are rounded to them, so that no step reaches into the next
one, which its importer would drop.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.profile import Profile

MOST_TILES = 64
"""Threads for tiles: more make files that no viewer opens quickly."""


def events(profile: Profile) -> Iterator[dict[str, Any]]:
    """The events: names of threads, then a complete event ("X") for every step of every execution."""
    _, first = np.unique(profile.tile_class, return_index=True)
    chosen = np.sort(first)[:MOST_TILES].tolist()
    yield _name("process_name", 0, f"{profile.program} on {profile.machine.name}")
    yield _name("thread_name", 0, "critical path")
    for tile in chosen:
        row, column, lane = profile.places[tile].tolist()
        yield _name("thread_name", tile + 1, f"tile {tile} (row {row}, column {column}, lane {lane})")
    nanoseconds = 1e9 / profile.machine.clock_hz
    seen: set[int] = set()
    for number, start, length in zip(
        profile.executed_segment.tolist(),
        profile.executed_start.tolist(),
        profile.executed_cycles.tolist(),
        strict=True,
    ):
        segment = profile.segments[number]
        part = slice(segment.first_step, segment.first_step + segment.steps)
        if number in seen:
            cycles = profile.later[part] / (segment.count - 1)
        else:
            seen.add(number)
            cycles = profile.first[part].astype(np.float64)
        slowest = cycles[:, int(cycles.sum(axis=0).argmax())]
        total = float(slowest.sum())
        threads = [(0, slowest * (length / total) if total else slowest)]
        threads += [(tile + 1, cycles[:, tile]) for tile in chosen]
        for thread, spent in threads:
            at = float(start)
            for step, took in zip(profile.steps[part], spent.tolist(), strict=True):
                if took:
                    begin, end = round(at * nanoseconds), round((at + took) * nanoseconds)
                    yield {
                        "ph": "X",
                        "pid": 0,
                        "tid": thread,
                        "ts": begin / 1000,
                        "dur": (end - begin) / 1000,
                        "name": step.name,
                        "cat": step.category,
                        "args": {"operator": step.operator, "cycles": took, "source": step.source},
                    }
                at += took


def _name(what: str, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": 0, "tid": thread, "name": what, "args": {"name": name}}


def write_trace(profile: Profile, path: Path) -> None:
    """Write the trace as JSON, an event a line."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
        file.write(",\n".join(json.dumps(event) for event in events(profile)))
        file.write("\n]}\n")
