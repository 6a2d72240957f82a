# SPDX-License-Identifier: Apache-2.0
"""A plan unfolded without IR is what lowering makes of it, and costs what its execution costs."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

import tilewright.api as api
from tilewright.diagnostics import TileError
from tilewright.dialects import tile
from tilewright.dialects.entry import entry_function
from tilewright.dialects.parsing import context, parse_module
from tilewright.frontends.workloads import siglip, vit
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.machine import Machine, load
from tilewright.passes import pipeline
from tilewright.passes.ir.graph import GraphOfModule
from tilewright.passes.ir.hoisting import kept_buffers
from tilewright.passes.ir.memory import memory_requests
from tilewright.passes.ir.tensors import MACHINE
from tilewright.planning.graph import Graph, OperatorNode
from tilewright.planning.memory.bounds import payloads
from tilewright.planning.operators import strategies
from tilewright.planning.operators.base import Surroundings
from tilewright.planning.operators.strategy import Choice
from tilewright.planning.plan import Plan
from tilewright.planning.search.favourites import Decisions, Planned, choose
from tilewright.planning.search.price import Pricer
from tilewright.planning.steps import Item, Loop, Phase, kept_fills
from tilewright.planning.unfold import unfold

sys.path.insert(0, str(Path(__file__).parents[1] / "end_to_end"))
import random_programs as programs  # pyright: ignore[reportMissingImports]
import test_caches as caches  # pyright: ignore[reportMissingImports]

SMALL = Shape(tokens=9, width=32, heads=2, mlp=64, layers=3, batch=1, patch=12)


def graph_of(text: str, machine: str) -> GraphOfModule:
    module = parse_module(text, ctx=(ctx := context()))
    pipeline.compile(module, machine, context=ctx, until="tile-fuse-epilogues")
    module.attributes[MACHINE] = StringAttr(machine)
    return GraphOfModule(module)


def lowered(module: ModuleOp) -> Iterator[tuple[Any, ...]]:
    """What happens on buffers, a repeat before its body."""

    def walk(block: Any, depth: int) -> Iterator[tuple[Any, ...]]:
        for op in block.ops:
            if isinstance(op, tile.ComputeOp):
                types = [tile.buffer_type(b) for b in op.buffers]
                kinds = tuple((t.dtype, str(t.layout)) for t in types)
                yield depth, op.kernel.data, kinds, op.scalar_values()
            elif isinstance(op, tile.ExchangeOp):
                yield (
                    depth,
                    "exchange",
                    sorted(
                        (str(tile.buffer_type(a).layout), str(v), str(tile.buffer_type(b).layout), str(w))
                        for a, v, b, w in op.moves()
                    ),
                )
            elif isinstance(op, tile.RepeatOp):
                yield depth, "repeat", op.iterations
                yield from walk(op.body.block, depth + 1)

    return walk(entry_function(module).body.block, 0)


def unfolded(items: Sequence[Item], depth: int = 0) -> Iterator[tuple[Any, ...]]:
    for item in items:
        if isinstance(item, Loop):
            yield depth, "repeat", item.count
            yield from unfolded(item.body, depth + 1)
        elif isinstance(item, Phase):
            moves = [
                (p.stores[m.src], m.src_view, p.stores[m.dst], m.dst_view)
                for p in item.parts
                for m in p.stage.moves  # type: ignore[union-attr]
            ]
            yield (
                depth,
                "exchange",
                sorted((str(a.buffer.layout), str(v), str(b.buffer.layout), str(w)) for a, v, b, w in moves),
            )
        elif item.stage is not None:
            stage: Any = item.stage
            buffers = [item.stores[o.buffer].buffer for o in (*stage.ins, *stage.outs)]
            kinds = tuple((b.dtype, str(b.layout)) for b in buffers)
            yield depth, stage.kernel, kinds, tuple(sorted(stage.scalars))


def both(text: str, machine: str) -> tuple[list[Any], list[Any]]:
    program = graph_of(text, machine)
    planned = choose(program.graph, load(machine), Plan())
    found = unfold(program.graph, planned.choices, planned.placements, load(machine))
    module = parse_module(text, ctx=(ctx := context()))
    pipeline.compile(module, machine, context=ctx, homes="planned", until="tile-fuse-stores", search="off")
    return list(lowered(module)), list(unfolded(found.body))


@pytest.mark.parametrize("machine", ["t4", "t16"])
def test_an_encoder_unfolds_as_it_is_lowered(machine: str) -> None:
    expected, found = both(siglip.build(SMALL).program, machine)
    assert found == expected


@pytest.mark.parametrize("state", ["iterated", "carried"])
def test_caches_unfold_where_they_stay(state: str) -> None:
    """Members of a sequence and state of a repeat that are updated in place are not copied."""
    expected, found = both(caches.decoder(9, 2, state), "t4")
    assert found == expected


def test_one_copy_is_two_results_of_a_repeat_without_iterations() -> None:
    text = """
func.func @main(%a: tensor<40xf16> {tile_tensor.parameter = "a"})
    -> (tensor<40xf16> {tile_tensor.output = "x"}, tensor<40xf16> {tile_tensor.output = "y"}) {
  %x, %y = tile_repeat.repeat "r" count 0 carried(%b = %a : tensor<40xf16>, %c = %a : tensor<40xf16>)
      -> (tensor<40xf16>, tensor<40xf16>) {
    tile_repeat.yield %c, %b : tensor<40xf16>, tensor<40xf16>
  }
  func.return %x, %y : tensor<40xf16>, tensor<40xf16>
}"""
    expected, found = both(text, "t4")
    assert found == expected
    assert [kernel for _, kernel, *_ in found] == ["copy"]


@pytest.mark.parametrize("first", [0, 12])
def test_random_programs_unfold_as_they_are_lowered(first: int) -> None:
    compared = 0
    for seed in range(first, first + 12):
        text = (programs.repeated if seed % 2 else programs.program)(7_000 + seed).text
        try:
            expected, found = both(text, "t4")
        except TileError:
            continue
        assert found == expected, seed
        compared += 1
    assert compared >= 8


@pytest.mark.parametrize("precision", ["f16", "f8"])
@pytest.mark.parametrize("machine", ["t4", "t16"])
def test_fills_that_are_priced_once_are_those_that_placing_may_keep(machine: str, precision: str) -> None:
    text = vit.build(SMALL, Mode(precision=precision)).program
    graph, described = graph_of(text, machine).graph, load(machine)
    planned = choose(graph, described, Plan())
    program = unfold(graph, planned.choices, planned.placements, described)
    module = parse_module(text, ctx=(ctx := context()))
    pipeline.compile(module, machine, context=ctx, homes="planned", until="tile-fuse-stores", search="off")
    kept = kept_buffers(entry_function(module))
    loops = [item for item, _ in program.items() if isinstance(item, Loop)]
    priced = [step for loop in loops for fills in kept_fills(loop).values() for step in fills]
    assert len(priced) == sum(len(buffer.fills) for buffer in kept) > 0


WIDE = Shape(tokens=65, width=128, heads=4, mlp=512, layers=1, batch=1, patch=48)
DINOV2 = Shape(tokens=257, width=384, heads=6, mlp=1536, layers=1, batch=1, patch=588)
"""A block of DINOv2 ViT-S/14, with its embedding."""


def random_choices(graph: Graph, machine: Machine, base: Planned, rng: random.Random) -> dict[str, Choice]:
    """Of three products, any of the records that a search would look at."""
    products = [n for n in graph.nodes() if isinstance(n, OperatorNode) and n.operator.name == "matmul"]
    found: dict[str, Choice] = {}
    for node in rng.sample(products, 3):
        values = tuple(
            graph.stored(v, base.placements[v]) if v in base.placements else None for v in node.operands
        )
        records = [
            Choice(strategy, record)
            for strategy in strategies(node.operator)
            for record in itertools.islice(
                strategy.candidates(node.operator, values, machine, Surroundings()), 12
            )
        ]
        found[node.name] = rng.choice(records)
    return found


@pytest.mark.parametrize(
    ("machine", "shape", "precision", "near"),
    [
        ("t16", SMALL, "f8", 0.01),
        ("t64", SMALL, "f8", 0.01),
        ("t64", WIDE, "f16", 0.02),
        pytest.param("c600", DINOV2, "f16", 0.02, marks=pytest.mark.slow),
    ],
)
def test_estimates_order_plans_as_execution_does(
    machine: str, shape: Shape, precision: str, near: float
) -> None:
    """Ten random plans of a program: each as near to its execution as that, in the order of execution."""
    text, described = vit.build(shape, Mode(precision=precision)).program, load(machine)
    graph = graph_of(text, machine).graph
    pricer = Pricer(described, balanced=False)
    base = choose(graph, described, Plan())
    rng = random.Random(12)
    estimated: list[int] = []
    executed: list[float] = []
    while len(executed) < 10:
        choices = random_choices(graph, described, base, rng)
        try:
            planned = choose(graph, described, Plan(), decisions=Decisions(choices), expander=pricer)
            price = pricer.price(unfold(graph, planned.choices, planned.placements, described, pricer))
            compiled = api.compile(text, machine, plan=planned.plan(graph, machine), homes="planned")
        except TileError:  # a plan that does not fit
            continue
        zeros = [
            {t.name: np.zeros(t.shape, np.float32) for t in tensors}
            for tensors in (compiled.inputs, compiled.parameters)
        ]
        estimated.append(price.cycles)
        executed.append(api.run(compiled, *zeros).cycles["total"])
    assert np.abs(np.array(estimated) / np.array(executed) - 1).max() < near
    ranks = [np.argsort(np.argsort(values, kind="stable")) for values in (estimated, executed)]
    assert np.corrcoef(ranks[0], ranks[1])[0, 1] >= 0.95


@pytest.mark.parametrize("machine", ["t16", "t64"])
def test_live_bytes_are_those_that_allocation_finds(machine: str) -> None:
    """Tensors, resident sequences, code, rows and tables at the fullest event, within 2 % and 1 KiB."""
    text = vit.build(SMALL).program
    program = graph_of(text, machine)
    pricer = Pricer(load(machine), balanced=False)
    planned = choose(program.graph, load(machine), Plan())
    price = pricer.price(unfold(program.graph, planned.choices, planned.placements, load(machine), pricer))
    module = parse_module(text, ctx=(ctx := context()))
    pipeline.compile(
        module, machine, context=ctx, homes="planned", until="tile-schedule-exchange", search="off"
    )
    requests = memory_requests(entry_function(module), load(machine), strict=False)
    for need in price.needs[:-1]:
        found = max(p.live for p in payloads(requests.problem, need.memory))
        assert abs(need.live - found) < 0.02 * found + 1024, need
