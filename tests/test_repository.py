# SPDX-License-Identifier: Apache-2.0
"""Rules that hold for the repository as a whole."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("backends", "dialects", "frontends", "machine", "passes", "planning", "sim", "tools")
TEXT_SUFFIXES = {".py", ".md", ".toml", ".mlir", ".test", ".lark", ".json", ".txt", ".yml", ".sh", ""}

# Written in pieces so that this file passes its own rule: paths of one machine, hosts of package registries.
FORBIDDEN = re.compile(
    "|".join(
        ("/wo" + "rk/", "/ho" + "me/[a-z]", "pypi" + r"\.org", "regis" + r"try\.npmjs", "pythonho" + "sted")
    )
)


def tracked() -> list[Path]:
    """Files under version control; all files outside of build folders where there is no repository."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        paths = [ROOT / name.decode() for name in listing.stdout.split(b"\0") if name]
        return [path for path in paths if path.is_file()]
    return [p for p in sorted(ROOT.rglob("*")) if p.is_file() and not {".venv", "build"} & set(p.parts)]


def texts() -> list[tuple[str, str]]:
    return [
        (path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
        for path in tracked()
        if path.suffix in TEXT_SUFFIXES
    ]


def test_every_source_file_names_its_licence() -> None:
    missing = [
        name
        for name, text in texts()
        if name.endswith((".py", ".lark", ".toml")) and name not in ("pyproject.toml",)
        if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(text.splitlines()[:3])
    ]
    assert missing == []


def test_nothing_speaks_of_one_machine_or_of_package_hosts() -> None:
    found = [
        f"{name}:{number}: {line.strip()[:80]}"
        for name, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if FORBIDDEN.search(line)
    ]
    assert found == []


def test_no_large_files() -> None:
    large = [path.relative_to(ROOT).as_posix() for path in tracked() if path.stat().st_size > 2_000_000]
    assert large == []


def test_one_version() -> None:
    from tilewright.version import __version__

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "tilewright.version.__version__"}
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_every_package_folder_is_installed() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    listed = set(setuptools["packages"])
    packages = {
        "tilewright." + ".".join(path.parent.relative_to(ROOT).parts)
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("__init__.py")
    }
    assert packages <= listed, "packages missing from pyproject.toml"
    assert listed - packages == {"tilewright"}
    folders_with_code = {
        "tilewright." + ".".join(path.parent.relative_to(ROOT).parts)
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
    }
    assert folders_with_code <= packages, "folders without __init__.py"


def test_every_data_file_is_installed() -> None:
    """What is no Python in the package's folders is package data, or written for people."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-data"]
    folders = [path for path in tracked() if path.relative_to(ROOT).parts[0] in FOLDERS]
    missing: list[str] = []
    for path in folders:
        parts = path.relative_to(ROOT).parts
        packages = [(".".join(("tilewright", *parts[:n])), "/".join(parts[n:])) for n in range(1, len(parts))]
        known = any(fnmatch(rest, pattern) for name, rest in packages for pattern in data.get(name, ()))
        if path.suffix not in (".py", ".md") and not known:
            missing.append(path.relative_to(ROOT).as_posix())
    assert missing == []


def test_console_scripts_point_at_modules_that_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for name, target in project["scripts"].items():
        module, _, function = target.partition(":")
        path = ROOT / (module.replace(".", "/") + ".py")  # of the package itself, else of a folder beside it
        assert path.is_file(), name
        assert re.search(rf"^def {function}\(", path.read_text("utf-8"), re.M), name


def test_dependencies_are_pinned_for_make() -> None:
    pinned = {
        line.split("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        if "==" in line
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[\[<>=~! ]", requirement)[0].lower().replace("_", "-") for requirement in wanted}
    assert names <= pinned


def imports(path: Path) -> set[str]:
    """Modules that a file imports, at any depth of its code."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module)
    return found


@pytest.mark.parametrize("folder", ["planning", "machine"])
def test_planning_knows_no_ir(folder: str) -> None:
    """The libraries take and return plain data; only dialects, passes, frontends and tools see xDSL."""
    guilty = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / folder).rglob("*.py"))
        if any(name == "xdsl" or name.startswith("xdsl.") for name in imports(path))
    ]
    assert guilty == []


def test_the_universe_and_tile_opt_start_without_arrays() -> None:
    script = (
        "import sys, tilewright.tools.tile_opt, tilewright.universe;"
        "print([m for m in ('numpy', 'ml_dtypes', 'lark', 'rich', 'safetensors') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_the_universe_names_what_exists() -> None:
    from tilewright.universe import UNIVERSE

    for name, factory in UNIVERSE.all_dialects.items():
        assert factory().name == name
    for name, factory in UNIVERSE.all_passes.items():
        assert factory().name == name


def test_one_pass_per_file_and_every_pass_is_registered() -> None:
    from tilewright.universe import DIALECTS, PASSES

    files = {path.stem for path in (ROOT / "passes").glob("tile_*.py")}
    assert files == {name.replace("-", "_") for name in PASSES}
    assert set(DIALECTS) <= {path.stem for path in (ROOT / "dialects").glob("tile*.py")}
