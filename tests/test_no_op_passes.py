# SPDX-License-Identifier: Apache-2.0
"""The tool that turns passes into no-ops (`make test-passes`, and `make test-full` with every pass)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.universe import PASSES

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "no_op_passes"
PROGRAM = """
import sys
from tilewright.universe import UNIVERSE
for name in sys.argv[1:]:
    cls = UNIVERSE.all_passes[name]()
    print(name, cls.name, cls.apply.__code__.co_filename.endswith("sitecustomize.py"))
"""


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_has_a_lit_folder(name: str) -> None:
    folder = ROOT / "filecheck" / "passes" / name
    assert [path for path in folder.glob("*") if path.suffix in (".mlir", ".test")], folder


def test_the_named_pass_and_no_other_does_nothing() -> None:
    chosen = ("tile-roll-repeat", "tile-merge-phases", "tile-fuse-epilogues")
    environment = {**os.environ, "PYTHONPATH": str(FOLDER), "TILE_NO_OP_PASS": chosen[1]}
    command = [sys.executable, "-c", PROGRAM, *chosen]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{name} {name} {name == chosen[1]}" for name in chosen]
