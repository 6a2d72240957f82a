# SPDX-License-Identifier: Apache-2.0
"""
The vision tower of SigLIP So400m in FP8 on c600 with examples/siglip/fastest.json: 4 and 27 layers, norms and
pooling folded, compiled, executed byte by byte and checked.

Prints cycles, the fullest tile, seconds and memory of the host; fails where a limit is broken. `--layers N
...` runs others. Takes about four minutes on two idle cores; the tables are in docs/siglip.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PLAN = ROOT / "examples" / "siglip" / "fastest.json"
FOLDS = ("--fold-norms", "--fold-pooling")
CYCLES_LIMIT = 5_950_000
COMPILE_LIMIT = 15.0
SIMULATE_LIMIT = 300.0
RATIO_LIMIT = 1.2
"""Seconds of compiling 27 layers over those of 4."""
COMPILE_GIB, SIMULATE_GIB = 1.6, 4.0
ROWS_LIMIT = 26 * 1024


def tool(name: str, *arguments: str) -> None:
    """Run a tool of this environment; its own words stay unread unless it fails."""
    command = [str(Path(sys.executable).parent / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")


def measure(layers: int, folder: Path) -> dict[str, Any]:
    """What result.json says of one tower."""
    result = folder / "result.json"
    tool("tile-workload", "siglip", "--layers", str(layers), "--precision", "f8", "-o", str(folder))
    tool("tile-run", str(folder), "--machine", "c600", *FOLDS, "--plan", str(PLAN), "--json", str(result))
    return json.loads(result.read_text("utf-8"))


def exceeded(record: dict[str, Any]) -> list[str]:
    """Limits that a tower of 27 layers breaks."""
    compiling, simulating = record["compile"], record["simulate"]
    figures = (
        ("cycles", record["cycles"]["total"], CYCLES_LIMIT),
        ("seconds of compiling", compiling["seconds"], COMPILE_LIMIT),
        ("GiB of compiling", compiling["peak_rss_bytes"] / 2**30, COMPILE_GIB),
        ("seconds of simulating", simulating["seconds"], SIMULATE_LIMIT),
        ("GiB of simulating", simulating["peak_rss_bytes"] / 2**30, SIMULATE_GIB),
        ("bytes of rows", record["exchange"]["row_bytes_max"], ROWS_LIMIT),
    )
    return [f"{name}: {value:,.6g} is over {limit:,}" for name, value, limit in figures if value > limit]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, nargs="+", default=[4, 27])
    counts = parser.parse_args().layers
    found: dict[int, dict[str, Any]] = {}
    broken: list[str] = []
    print("layers     cycles  first  others  fullest tile   rows  messages  compile s  GiB  simulate s  GiB")
    for layers in counts:
        with tempfile.TemporaryDirectory() as folder:
            record = found[layers] = measure(layers, Path(folder))
        (repeat,) = record["repeats"]
        compiling, simulating = record["compile"], record["simulate"]
        others = repeat["per_iteration"] or 0
        print(
            f"{layers:6} {record['cycles']['total']:10,} {repeat['first']:,} {others:,.0f}"
            f" {record['memory']['max_tile_bytes']:13,} {record['exchange']['row_bytes_max']:6,}"
            f" {record['exchange']['transfers']:9,}"
            f" {compiling['seconds']:10.1f} {compiling['peak_rss_bytes'] / 2**30:4.2f}"
            f" {simulating['seconds']:11.1f} {simulating['peak_rss_bytes'] / 2**30:4.2f}",
            flush=True,
        )
        broken += [f"{layers} layers: {text}" for text in exceeded(record)]
    if 4 in found and 27 in found:
        ratio = found[27]["compile"]["seconds"] / found[4]["compile"]["seconds"]
        print(f"compiling 27 layers takes {ratio:.2f} times as long as 4 (limit {RATIO_LIMIT})")
        if ratio > RATIO_LIMIT:
            broken.append(f"ratio: {ratio:.2f} is over {RATIO_LIMIT}")
    for text in broken:
        print(text)
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main())
