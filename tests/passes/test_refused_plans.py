# SPDX-License-Identifier: Apache-2.0
"""Behind a searched plan that is refused the default rule's is tried: nothing is lost by a search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

import tilewright.api as api
from tilewright.diagnostics import TileError
from tilewright.dialects.parsing import context, parse_module
from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Shape
from tilewright.machine import load
from tilewright.passes import pipeline
from tilewright.passes.ir.graph import GraphOfModule, plan_of
from tilewright.passes.ir.tensors import MACHINE
from tilewright.passes.tile_fuse_epilogues import TileFuseEpiloguesPass
from tilewright.passes.tile_lower_to_buffers import TileLowerToBuffersPass
from tilewright.planning.plan import Plan
from tilewright.planning.search.search import BUDGETS, FURTHER, Search
from tilewright.planning.stages import PlanError

SMALL = vit.build(Shape(tokens=8, width=32, heads=2, mlp=64, layers=1, batch=1, patch=12)).program
FITS = Path(__file__).parents[1] / "data" / "fits"


def test_behind_a_refused_plan_comes_the_default_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every searched plan is refused, and nothing is said of the next: what `off` makes comes out."""
    off = api.compile(SMALL, "t4", search="off")
    assert off.plan is not None
    expected = off.plan.operators
    asked: list[bool] = []
    lower = TileLowerToBuffersPass.apply

    def apply(self: TileLowerToBuffersPass, ctx: Any, op: ModuleOp) -> None:
        asked.append(plan_of(op).operators == expected)
        if not asked[-1]:
            raise PlanError("no place")
        lower(self, ctx, op)

    monkeypatch.setattr(TileLowerToBuffersPass, "apply", apply)
    assert api.compile(SMALL, "t4", search="fast").text() == off.text()
    assert asked.index(True) == 2  # behind one plan, with homes as planned and with balanced ones
    assert asked.count(False) <= 2 * (1 + FURTHER)


def test_a_better_plan_may_follow_the_default_rules() -> None:
    module = parse_module(SMALL, ctx=(ctx := context()))
    module.attributes[MACHINE] = StringAttr("t4")
    TileFuseEpiloguesPass().apply(ctx, module)
    search = Search(GraphOfModule(module).graph, load("t4"), Plan(), BUDGETS["fast"])
    search.refuse(search.best(), "refused", "something that is not priced")
    default = search.best()
    assert search.is_default(default)
    assert not search.accept(default, "planned")
    tried: list[str] = []
    while not search.is_default(state := search.best()):
        assert state.price.cycles < default.price.cycles
        tried.append(search.key(state))
        search.refuse(state, "refused", "something that is not priced")
    assert 1 <= len(tried) == len(set(tried)) <= FURTHER
    assert search.accept(state, "planned")
    assert [r.verdict for r in search.rounds] == ["refused", "", *["refused"] * len(tried)]


def fits(text: str, machine: Path, search: Any) -> bool:
    try:
        pipeline.compile(parse_module(text, ctx=(ctx := context())), str(machine), context=ctx, search=search)
    except TileError:
        return False
    return True


TIGHT = (
    *(("vit_32_64_4_128_2_f8", machine) for machine in ("t16q", "t16qe")),
    ("vit_32_64_4_128_12_f8", "t16qe"),
)
"""Programs on a quarter of the memory; every searched plan of the first is refused for fragmentation."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "machine"), TIGHT)
def test_what_fits_without_a_search_fits_with_one(name: str, machine: str) -> None:
    text, file = (FITS / f"{name}.mlir").read_text("utf-8"), FITS / f"{machine}.toml"
    assert fits(text, file, "off") and fits(text, file, "fast")


@pytest.mark.slow
@pytest.mark.parametrize("columns", [448, 512])
def test_no_search_refuses_what_is_tight(columns: int) -> None:
    """Two products and their activation, around the size at which a tile's memory is full."""
    hidden, stream = f"tensor<64x{columns}xf16>", "tensor<64x128xf16>"
    up, down = f"tensor<128x{columns}xf16>", f"tensor<{columns}x128xf16>"
    text = f"""builtin.module {{
  func.func @main(%x: {stream} {{tile_tensor.input = "x"}}, %u: {up} {{tile_tensor.parameter = "u"}},
                  %d: {down} {{tile_tensor.parameter = "d"}}) -> {stream} {{
    %h = tile_tensor.matmul %x, %u : ({stream}, {up}) -> {hidden}
    %g = tile_tensor.gelu %h : ({hidden}) -> {hidden}
    %y = tile_tensor.matmul %g, %d : ({hidden}, {down}) -> {stream}
    %z = tile_tensor.add %y, %x : ({stream}, {stream}) -> {stream}
    func.return %z : {stream}
  }}
}}"""
    assert fits(text, FITS / "t16qe.toml", "fast") or not fits(text, FITS / "t16qe.toml", "off")
