# SPDX-License-Identifier: Apache-2.0
"""
Start of `tile-opt` on a small file against `xdsl-opt`: processor time of pairs of runs, one after the other,
and the time to import the tool. Processor time is what a busy machine leaves comparable. Exit status 1 where
the ratio is over its bound.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = "func.func @main(%a: i32) -> i32 {\n  func.return %a : i32\n}\n"
RATIO = 1.05
"""The most that the start of tile-opt may take, as a multiple of xdsl-opt's."""
IMPORT_SECONDS = 0.2
"""The most that its import may take, most of which is xDSL's, on a machine that is not busy."""


def processor_seconds(command: list[str]) -> float:
    """Of one run: user and system time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratios(pairs: int) -> list[float]:
    """Of tile-opt's processor time to xdsl-opt's; every second pair in the other order."""
    folder = Path(sys.executable).parent
    found: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "small.mlir"
        path.write_text(PROGRAM, "utf-8")
        commands = [[str(folder / tool), str(path)] for tool in ("tile-opt", "xdsl-opt")]
        for command in commands:
            processor_seconds(command)  # files are read and compiled once
        for number in range(pairs):
            first, second = commands if number % 2 == 0 else reversed(commands)
            taken = {first[0]: processor_seconds(first), second[0]: processor_seconds(second)}
            found.append(taken[commands[0][0]] / taken[commands[1][0]])
    return found


def import_seconds(module: str) -> float:
    """Processor time of an import as the launcher makes it, without that of the interpreter; best of five."""
    program = (
        "import gc, time; gc.disable(); start = time.process_time();"
        f" import {module}; print(time.process_time() - start)"
    )
    # compiled modules are kept, as they are for a user: the compiler of Python is not measured
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return min(
        float(
            subprocess.run(
                [sys.executable, "-c", program], capture_output=True, check=True, env=environment
            ).stdout
        )
        for _ in range(5)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    found = ratios(parser.parse_args().pairs)
    tool, base = import_seconds("tilewright.tools.tile_opt"), import_seconds("xdsl.xdsl_opt_main")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(
        f"tile-opt / xdsl-opt on a small file: median {statistics.median(found):.3f} of {len(found)} pairs"
        f" ({min(found):.3f} to {max(found):.3f}); bound {RATIO}"
    )
    print(f"import of the tool: {tool:.3f} s, of which {base:.3f} s xDSL's; bound {IMPORT_SECONDS} s")
    return int(statistics.median(found) > RATIO)


if __name__ == "__main__":
    sys.exit(main())
