# SPDX-License-Identifier: Apache-2.0
"""Plans are searched with one default everywhere, only where there is a choice, and at no risk."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

import tilewright.api as api
from tilewright.diagnostics import TileError
from tilewright.dialects.parsing import context, parse_module
from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Shape
from tilewright.passes import pipeline, tile_plan_layouts
from tilewright.passes.ir.graph import plan_of
from tilewright.passes.tile_lower_to_buffers import TileLowerToBuffersPass
from tilewright.planning.operators import Operator, strategies
from tilewright.planning.operators.cast_panels import PANELS
from tilewright.planning.plan import Plan
from tilewright.planning.search import search
from tilewright.planning.search.search import DEFAULT_EFFORT
from tilewright.tools import tile_opt, tile_run

SMALL = vit.build(Shape(tokens=8, width=32, heads=2, mlp=64, layers=2, batch=1, patch=12)).program


def planned(text: str, effort: Any = None, plan: Plan | None = None) -> ModuleOp:
    module = parse_module(text, ctx=(ctx := context()))
    pipeline.compile(module, "t4", plan, context=ctx, until="tile-plan-layouts", search=effort)
    return module


@pytest.fixture(scope="module")
def fast() -> ModuleOp:
    return planned(SMALL, "fast")


def test_one_default_for_all(fast: ModuleOp, capsys: pytest.CaptureFixture[str]) -> None:
    """The pipeline, the interface for programs and the tools alike; their help says so."""
    off = planned(SMALL, "off")
    assert str(planned(SMALL)) == str({"off": off, "fast": fast}[DEFAULT_EFFORT])
    assert str(fast) != str(off)
    decided = api.compile(SMALL, "t4").plan
    assert decided is not None and decided.operators == plan_of(planned(SMALL)).operators
    for tool in (tile_opt, tile_run):
        try:
            tool.main(["--help"])
        except SystemExit:
            pass
        assert f"(default: {DEFAULT_EFFORT})" in " ".join(capsys.readouterr().out.split())


def test_what_is_planned_stays_as_it_is(fast: ModuleOp) -> None:
    """Written to text and compiled again, with any effort; also the layouts that a repeat carries."""
    text = str(fast)
    for effort in ("off", "fast"):
        assert str(planned(text, effort)) == text


def test_a_whole_plan_is_not_searched(fast: ModuleOp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is priced where nothing is left to decide."""
    plan = plan_of(fast)

    def forbidden(*args: object, **kwargs: object) -> None:
        raise AssertionError("a search")

    monkeypatch.setattr(tile_plan_layouts, "Search", forbidden)
    assert plan_of(planned(SMALL, "fast", plan)).operators == plan.operators
    with pytest.raises(AssertionError, match="a search"):
        planned(SMALL, "fast")


def test_a_plan_that_is_given_is_replayed(fast: ModuleOp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a word of the search the rest follows the default rule, whatever is the default."""
    plan = plan_of(fast)
    name, record = next(iter(plan.operators.items()))
    monkeypatch.setattr(search, "DEFAULT_EFFORT", "fast")
    for part in (Plan({name: record}), Plan(layouts={"x": ("",)}), Plan(homes={"w": ("",)})):
        assert search.effort_for(part) == "off"
    part = Plan({name: record})
    replayed = str(planned(SMALL, plan=part))
    assert replayed == str(planned(SMALL, "off", part)) != str(planned(SMALL, "fast", part))
    assert str(planned(SMALL, plan=Plan())) == str(planned(SMALL)) == str(fast)


def test_a_plan_that_cannot_be_lowered_gives_way_to_the_default_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of any kind, other than missing memory: the plan that nobody searched for is tried, too."""
    off = planned(SMALL, "off")
    refused: list[str] = []
    lower = TileLowerToBuffersPass.apply

    def apply(self: TileLowerToBuffersPass, ctx: Any, op: ModuleOp) -> None:
        if plan_of(op).operators != plan_of(off).operators:
            refused.append("")
            raise TileError("a plan that nobody foresaw")
        lower(self, ctx, op)

    monkeypatch.setattr(TileLowerToBuffersPass, "apply", apply)
    decided = api.compile(SMALL, "t4", search="fast").plan
    assert decided is not None and decided.operators == plan_of(off).operators
    assert len(refused) == 1


def test_an_error_that_no_plan_can_help_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def apply(self: TileLowerToBuffersPass, ctx: Any, op: ModuleOp) -> None:
        raise TileError("no plan can help")

    monkeypatch.setattr(TileLowerToBuffersPass, "apply", apply)
    with pytest.raises(TileError, match="no plan can help") as caught:
        api.compile(SMALL, "t4", search="fast")
    assert not caught.value.notes


@pytest.mark.parametrize("shape", [(), (1,), (8, 1)])
def test_what_serves_nowhere_is_no_candidate(shape: tuple[int, ...]) -> None:
    """Columns in whole panels, of which there are none: the strategy was asked for its targets, and fell."""
    several = (*shape[:-1], 2)
    for extents, names in ((shape, False), (several, True)):
        cast = Operator("cast", {}, ((extents, "f16"),), ((extents, "f8E4M3FNUZ"),))
        assert (PANELS.name in {s.name for s in strategies(cast)}) == names
