# SPDX-License-Identifier: Apache-2.0
"""Figures in documents are written by a command; the cheap ones are made again here."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
if str(ROOT / "benchmarks") not in sys.path:
    sys.path.insert(0, str(ROOT / "benchmarks"))

from figures import command  # noqa: E402
from figures.blocks import BLOCK, STAMP, Part, Table, blocks, differences, documents, render  # noqa: E402
from figures.founding import PHASES, PLAN, TRIED  # noqa: E402
from figures.producers import PRODUCERS  # noqa: E402
from figures.runs import Failed, Runs  # noqa: E402

BY_HAND: dict[str, str] = {
    "| effort | nodes | width | candidates of a strategy | passes | plans that may be refused |": "settings",
    "| phase | messages | factor |": "schedules of phases made when the scheduler was designed",
    "| what | cycles a layer | what would change it |": "estimates of what is in the way of a goal",
    "| change | siglip, 1 layer | digits, c600 | digits, t64 |": "a record of changes between two versions",
    "| strategy | siglip, 1 layer | a layer |": "what each strategy gained when it came",
    "| products and norms | siglip, 1 layer | a layer |": "what each strategy gained when it came",
    "| rewrite of the pooling head | siglip, 1 layer | outside of the layers |": "what a rewrite gained",
    "| what completes the last panel | siglip, 1 layer | a layer | outside of the layers |": "a field",
    "| shape | machine | copied around single bytes | with lanes | the even shape beside it |": "a record",
    "| what is left out | siglip, 1 layer | a layer |": "what changes behind the plan gained",
    "| what changed | siglip, 1 layer | a layer |": "what schedules and folding gained in f16",
    "| what changed | a layer | outside | siglip, 1 layer | first iteration |": "messages before and after",
    "| phase | before | now | what is left |": "messages before and after, by phase",
    "| what changed | c600 | t64 |": "what changes of casts and blocks gained",
    "| program | machine | off | fast | |": "what the search found when it came",
    "| program | cycles |": "runs of minutes each, made when the search came",
    "| status | means |": "exit statuses",
}
"""First line of a table with figures that no command writes: why."""


def test_every_block_has_a_producer_and_every_producer_a_block() -> None:
    assert sorted(name for _, name, _ in blocks()) == sorted(PRODUCERS)


def test_blocks_are_closed() -> None:
    for path in documents():
        text = path.read_text("utf-8")
        opened = len(re.findall("<!-- figures:", text))
        assert opened == len(BLOCK.findall(text)) == len(re.findall("<!-- /figures -->", text)), path


def test_every_block_says_what_made_it() -> None:
    for path, name, contents in blocks():
        (stamp,) = STAMP.findall(contents) or [""]
        machine = re.escape(PRODUCERS[name].machine)
        assert re.match(rf"_tilewright \d+\.\d+\.\d+, commit [0-9a-f]+\+?, machine {machine}[;_]", stamp), (
            f"{path.name}: {name}: `make figures` writes it"
        )


def test_tables_of_figures_outside_of_blocks_are_known() -> None:
    found: list[str] = []
    for path in documents():
        text = BLOCK.sub("", path.read_text("utf-8"))
        for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            head, _, *rows = table.splitlines()
            cells = [cell.strip() for row in rows for cell in row.strip("|").split("|")]
            figures = [cell for cell in cells if re.fullmatch(r"[\d.,]*\d[\d.,]*( ?[%skM]| bytes)?", cell)]
            if 3 * len(figures) >= len(cells):
                found.append(head)
    assert sorted(found) == sorted(BY_HAND), "a block of `benchmarks/figures` would write it"


def test_comparing_leaves_out_timings_and_the_stamp() -> None:
    def table(cycles: str, seconds: str) -> Table:
        return Table(["what", "cycles", "s"], [["a", cycles, seconds]], frozenset({"s"}))

    written = "\n".join([*render([table("1,000", "3.1"), "**1,000 cycles**"]), "", "_tilewright 0.1.0, x_"])
    assert differences(written, [table("1,000", "9.9"), "**1,000 cycles**"]) == []
    (changed,) = differences(written, [table("1,001", "3.1"), "**1,000 cycles**"])
    assert changed == "document: | a | 1,000 | ~ |\n     now: | a | 1,001 | ~ |"
    assert len(differences(written, [table("1,000", "3.1"), "**1,002 cycles**"])) == 1
    assert len(differences(written, [table("1,000", "3.1")])) == 1


@pytest.mark.parametrize("name", [name for name, made in PRODUCERS.items() if made.cost == "fast"])
def test_cheap_figures_are_those_of_the_document(name: str) -> None:
    contents = {found: text for _, found, text in blocks()}[name]
    departed = differences(contents, PRODUCERS[name].make(Runs()))
    assert not departed, f"`make figures FIGURES={name}` writes what is right\n" + "\n".join(departed)


def test_a_block_that_fails_takes_no_other_with_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_: Runs) -> list[Part]:
        raise Failed("tile-run digits: error: no")

    def breaks(_: Runs) -> list[Part]:
        raise KeyError("layers.down")

    makers = {"small": fails, "allocation-classes": breaks, "published-exchange": lambda _: ["now"]}
    for name, make in makers.items():
        monkeypatch.setitem(PRODUCERS, name, replace(PRODUCERS[name], make=make))
    assert command.main(["--check", *makers]) == 1
    out = capsys.readouterr().out
    assert "small: failed" in out and "tile-run digits: error: no\n" in out
    assert "allocation-classes: failed" in out and "KeyError: 'layers.down'" in out
    assert "published-exchange: departs" in out


def test_what_is_forced_on_the_founding_plan_is_in_it() -> None:
    operators = json.loads(PLAN.read_text("utf-8"))["operators"]
    for text, names, fields in TRIED:
        for name in names.split():
            old = operators[f"layers.{name}"]
            assert any(old.get(key) != value for key, value in fields.items()), text
            assert "strategy" in fields or fields.keys() <= {*old, "filler"}, text


def test_operators_of_a_layer_are_in_one_phase_each() -> None:
    named = [name for _, names, _ in PHASES for name in names.split()]
    assert len(named) == len(set(named))
    operators = json.loads(PLAN.read_text("utf-8"))["operators"]
    inside = {name.removeprefix("layers.") for name in operators if name.startswith("layers.")}
    assert inside <= set(named)
