# SPDX-License-Identifier: Apache-2.0
"""Where things live: imports go one way, machine numbers stay with the machine, passes are thin."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("machine", "planning", "backends", "dialects", "passes", "sim", "frontends", "tools")
"""A room imports from those before it, and from the few modules of `tilewright` that import nothing."""

EXCEPTIONS = {
    # The fabric's rows have one encoding; a schedule counts their words.
    ("planning/exchange/schedule.py", "tilewright.backends.rows"),
    # Calibration reads the files of a program folder.
    ("passes/tile_quantize.py", "tilewright.frontends.program_folder"),
    ("passes/ir/parameters.py", "tilewright.frontends.program_folder"),
}


def imports(path: Path) -> Iterator[str]:
    """The modules of ours that a file imports, those of functions included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tilewright."):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("tilewright."))


def sources(room: str) -> Iterator[Path]:
    return (path for path in sorted((ROOT / room).rglob("*.py")) if "__pycache__" not in path.parts)


def test_imports_go_one_way() -> None:
    found: set[tuple[str, str]] = set()
    for place, room in enumerate(ROOMS):
        for path in sources(room):
            for module in imports(path):
                target = module.split(".")[1]
                if target in ROOMS[place + 1 :]:
                    found.add((path.relative_to(ROOT).as_posix(), module))
    assert found == EXCEPTIONS


PACKAGES = {
    "planning/operators/matmul": (
        "shape",
        "records",
        "grids",
        "addends",
        "places",
        "pieces",
        "choice",
        "expansion",
    ),
    "planning/operators/attention": ("shape", "grids", "places", "expansion", "score_grid", "own_keys"),
}
"""Packages whose modules import from those named before them: what is computed, where, in which steps."""


def test_modules_of_a_package_go_one_way() -> None:
    for package, order in PACKAGES.items():
        prefix = f"tilewright.{package.replace('/', '.')}."
        assert {path.stem for path in (ROOT / package).glob("*.py")} == {"__init__", *order}
        for place, name in enumerate(order):
            used = {
                m.removeprefix(prefix) for m in imports(ROOT / package / f"{name}.py") if m.startswith(prefix)
            }
            assert used <= set(order[:place]), (package, name)


def test_private_names_stay_in_their_module() -> None:
    found: list[tuple[str, str]] = []
    for room in (*ROOMS, "tilewright"):
        for path in sources(room):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tilewright"):
                    names = (alias.name for alias in node.names)
                    found += [(path.name, name) for name in names if re.match(r"_(?!_)", name)]
    assert found == []


def test_planning_and_machine_know_no_ir() -> None:
    for room in ("machine", "planning"):
        for path in sources(room):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"^\s*(from|import) xdsl", text, re.M), path


def test_passes_are_thin() -> None:
    """What a pass decides is in planning."""
    limits = {"tile_plan_layouts": 150, "tile_select_homes": 150, "tile_compile": 150}
    for name, most in limits.items():
        lines = (ROOT / "passes" / f"{name}.py").read_text(encoding="utf-8").count("\n")
        assert lines <= most, name


def test_a_file_of_passes_is_a_pass() -> None:
    others = {"__init__.py", "pipeline.py"}
    for path in (ROOT / "passes").glob("*.py"):
        is_pass = re.search(r"\((Module|Program|Folding)Pass\)", path.read_text("utf-8"))
        assert path.name in others or is_pass, path.name


NUMBERS = (
    "1472",
    "638976",
    "0x4c000",
    "0x80000",
    "0xe8000",
    "311296",
    "524288",
    "950272",
    "0xe7bb0",
    "81920",
)
"""Numbers of the c600: tiles, bytes and bounds of its memory, its cap on rows."""


def test_numbers_of_a_machine_stay_in_its_file() -> None:
    found: list[str] = []
    for room in (*ROOMS[1:], "tilewright"):
        for path in sources(room):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and type(node.value) is int:
                    if node.value in {int(number, 0) for number in NUMBERS}:
                        found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}")
    assert found == []
