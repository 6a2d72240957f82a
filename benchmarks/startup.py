# SPDX-License-Identifier: Apache-2.0
"""
Start-up of tile-opt on a ten-line file, beside xdsl-opt's.

Prints the median of several runs; fails where tile-opt takes more than 1.5 times as long or 0.4 s.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """\
func.func @f(%a: i32, %b: i32) -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.addi %a, %0 : i32
  %2 = arith.addi %b, %0 : i32
  %3 = arith.muli %1, %2 : i32
  %4 = arith.subi %3, %a : i32
  %5 = arith.subi %4, %b : i32
  %6 = arith.muli %5, %5 : i32
  func.return %6 : i32
}
"""
RUNS = 11
RATIO_LIMIT = 1.5
SECONDS_LIMIT = 0.4


def seconds(tool: str, path: Path) -> float:
    """One run of a tool of this environment."""
    command = [str(Path(sys.executable).parent / tool), str(path)]
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.mlir"
        path.write_text(PROGRAM, "utf-8")
        samples: dict[str, list[float]] = {"xdsl-opt": [], "tile-opt": []}
        for _ in range(RUNS):  # in turn, so that a busy machine slows both
            for tool, times in samples.items():
                times.append(seconds(tool, path))
    medians = {tool: statistics.median(times) for tool, times in samples.items()}
    ratio = medians["tile-opt"] / medians["xdsl-opt"]
    for tool, median in medians.items():
        print(f"{tool}: {median:.3f} s")
    print(f"tile-opt / xdsl-opt: {ratio:.2f} (limit {RATIO_LIMIT}; {SECONDS_LIMIT} s)")
    return int(ratio > RATIO_LIMIT or medians["tile-opt"] > SECONDS_LIMIT)


if __name__ == "__main__":
    sys.exit(main())
