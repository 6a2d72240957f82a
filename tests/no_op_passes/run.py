# SPDX-License-Identifier: Apache-2.0
"""
Turns each pass into a no-op and expects its tests to fail: `python tests/no_op_passes/run.py [PASS ...]`.

The tests of a pass are the lit folder `filecheck/passes/<name>/` and, where it exists, the pytest file
`tests/passes/test_<name>.py` without its slow tests; that they are green with the pass is what `make test`
says. A control runs the tests of one pass without another, which has to be green. Prints a table (how many
lit files see it); exit status 1 if a pass survives.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tilewright.universe import PASSES

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
CONTROL = ("tile-fuse-epilogues", "tile-quantize")
"""The tests of the first pass do not need the second."""


def environment(name: str) -> dict[str, str]:
    """The environment in which the pass does nothing."""
    paths = os.pathsep.join(p for p in (str(HERE), os.environ.get("PYTHONPATH")) if p)
    return {**os.environ, "TILE_NO_OP_PASS": name, "PYTHONPATH": paths}


def lit(name: str, no_op: str) -> tuple[int, int]:
    """(failed, all) files of the pass's lit folder while the pass `no_op` does nothing."""
    command = [str(Path(sys.executable).parent / "lit"), "-s", f"filecheck/passes/{name}"]
    done = subprocess.run(command, cwd=ROOT, env=environment(no_op), capture_output=True, text=True)
    text = done.stdout + done.stderr
    total = re.search(r"Total Discovered Tests: (\d+)", text)
    failed = re.search(r"Failed *: (\d+)", text)
    if total is None:
        raise SystemExit(f"filecheck/passes/{name}: lit finds no tests there\n{text}")
    return int(failed[1]) if failed else 0, int(total[1])


def pytest(name: str) -> bool | None:
    """Whether the fast tests of the pass's pytest file pass; None where there is no such file."""
    path = ROOT / "tests" / "passes" / f"test_{name.replace('-', '_')}.py"
    if not path.exists():
        return None
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        str(path),
    ]
    return not subprocess.run(command, cwd=ROOT, env=environment(name), capture_output=True).returncode


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise SystemExit(f"no such pass: {', '.join(unknown)}")
    broken: list[str] = []
    tested, absent = CONTROL
    if lit(tested, absent)[0]:
        broken.append(f"control: the tests of {tested} fail without {absent}, which they do not use")
    print(f"{'pass without effect':36} {'lit files red':>14}  pytest     s")
    for name in names or PASSES:
        started = time.perf_counter()
        (red, total), python = lit(name, name), pytest(name)
        shown = {None: "-", True: "green", False: "red"}[python]
        seconds = time.perf_counter() - started
        print(f"{name:36} {f'{red} of {total}':>14}  {shown:6} {seconds:5.0f}", flush=True)
        if not red:
            broken.append(f"{name}: survives its lit folder")
        if python:
            broken.append(f"{name}: survives tests/passes/test_{name.replace('-', '_')}.py")
    for line in broken:
        print(f"error: {line}")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
