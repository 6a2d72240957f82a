# SPDX-License-Identifier: Apache-2.0
"""What the tool says about itself is complete: every option of every pass, the document's table."""

from __future__ import annotations

import dataclasses
import importlib
import re
import tomllib
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from tilewright.diagnostics import TileError
from tilewright.dialects.text.sources import Source
from tilewright.options import meaning_of, range_of
from tilewright.tools.driver.arguments import COMMON
from tilewright.tools.driver.document import DOCUMENT, written
from tilewright.tools.driver.pipeline import SOURCE_NAME, build_pipeline
from tilewright.tools.tile_opt import TileOptMain, main
from tilewright.universe import DIALECTS, UNIVERSE

ROOT = Path(__file__).parents[2]
SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
TOOLS = sorted(name.replace("-", "_") for name in SCRIPTS)


def fields() -> list[tuple[str, dataclasses.Field[Any]]]:
    found: list[tuple[str, dataclasses.Field[Any]]] = []
    for name, factory in UNIVERSE.all_passes.items():
        found += [(name, field) for field in dataclasses.fields(factory()) if field.name != "name"]
    return found


def test_every_option_has_a_meaning_and_every_number_a_range() -> None:
    for name, field in fields():
        assert meaning_of(field), f"{name}: {field.name}"
        hint = get_type_hints(UNIVERSE.all_passes[name]())[field.name]
        if hint in (int, int | None, float):
            assert range_of(field), f"{name}: {field.name}"


def test_every_option_stands_in_a_test() -> None:
    texts = [path.read_text("utf-8") for path in ROOT.glob("filecheck/**/*.[mt]*")]
    texts += [path.read_text("utf-8") for path in ROOT.glob("tests/**/*.py") if path.name != "test_help.py"]
    text = "\n".join(texts)
    for name, field in fields():
        spellings = (f"{field.name.replace('_', '-')}=", f"{field.name}=")
        assert any(spelling in text for spelling in spellings), f"{name}: {field.name}"


def run_lines() -> str:
    """The commands of all lit tests."""
    found: list[str] = []
    for path in ROOT.glob("filecheck/**/*.[mt]*"):
        found += [line for line in path.read_text("utf-8").splitlines() if "RUN:" in line]
    return "\n".join(found)


def test_every_option_of_a_pass_stands_in_a_lit_test() -> None:
    text = run_lines()
    for name, field in fields():
        option = field.name.replace("_", "-")
        assert re.search(rf"{name}\{{[^}}]*\b{option}=", text), f"{name}{{{option}=}}"


def test_every_option_of_the_tool_stands_in_a_lit_test() -> None:
    text = run_lines()
    for action in TileOptMain(args=[]).parser.actions():
        flags = action.option_strings
        assert not flags or any(re.search(rf"{flag}(?![\w-])", text) for flag in flags), flags


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_has_the_common_options(tool: str, capsys: pytest.CaptureFixture[str]) -> None:
    run = importlib.import_module(f"tilewright.tools.{tool}").main
    name = tool.replace("_", "-")
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith((f"usage: {name} ", f"{name} [FILE]"))
    for flag in ("--help", "--quiet", "--verbose", "--completion", "--version"):
        assert flag in text
    assert max(map(len, text.splitlines())) <= 112, "fits a terminal"
    assert run(["--version"]) == 0
    assert re.fullmatch(rf"{name} [\w.]+ \(xdsl [\w.]+\)\n", capsys.readouterr().out)
    assert run(["--completion", "fish"]) == 0
    assert f"complete -c {name} -l verbose" in capsys.readouterr().out
    assert run(["--versio"]) == 2
    told = f"{name}: error: unknown option `--versio`\nhint: did you mean `--version`"
    assert capsys.readouterr().err.startswith(told)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_option_of_every_tool_stands_in_a_test(tool: str) -> None:
    text = run_lines() + "".join(
        path.read_text("utf-8") for path in ROOT.glob("tests/**/*.py") if path.name != "test_help.py"
    )
    if tool == "tile_opt":
        return
    parser = importlib.import_module(f"tilewright.tools.{tool}")._parser()
    for action in parser.actions():
        if action.dest not in COMMON and action.option_strings:
            assert any(re.search(rf"[\"' ]{flag}[\"'= \n]", text) for flag in action.option_strings), action


@pytest.mark.parametrize(
    ("text", "least"),
    [("tile-roll-repeat{min-count=1}", 2), ("tile-convert-compact-micro-panels{budget=0}", 1)],
)
def test_numbers_out_of_range_are_refused(text: str, least: int) -> None:
    with pytest.raises(TileError, match="cannot be") as caught:
        build_pipeline(Source(SOURCE_NAME, text), UNIVERSE.all_passes)
    assert caught.value.hint == f"its range: at least {least}"


def test_the_table_of_the_document_is_that_of_the_code() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert written(text) == text, "python -m tilewright.tools.driver.document"


@pytest.mark.parametrize("name", UNIVERSE.all_passes)
def test_help_on_every_pass(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{name}: ")
    for owner, field in fields():
        if owner == name:
            assert f"  {field.name.replace('_', '-')} " in out


def test_help_on_every_operation(capsys: pytest.CaptureFixture[str]) -> None:
    for dialect in DIALECTS:
        for operation in UNIVERSE.all_dialects[dialect]().operations:
            assert main(["--help", operation.name]) == 0
            assert capsys.readouterr().out.startswith(f"{operation.name}: ")
