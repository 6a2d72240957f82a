# SPDX-License-Identifier: Apache-2.0
"""What stages say of themselves is what comes out: cycles, bytes that are live, bytes of exchange rows."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.backends.image import to_image
from tilewright.dialects.parsing import parse_module
from tilewright.dialects.tile import ExchangeOp
from tilewright.dialects.tile_asm import module_to_program
from tilewright.machine import load
from tilewright.passes import pipeline
from tilewright.passes.ir.exchange import phase_messages, phase_schedule
from tilewright.passes.ir.graph import GraphOfModule
from tilewright.planning.exchange.estimate import estimated_row_bytes
from tilewright.planning.graph import Graph, OperatorNode
from tilewright.planning.search.favourites import Planned
from tilewright.planning.stages import ExchangeStage, Stages
from tilewright.sim.executor import Executor
from tilewright.tools.driver.main import make_context

T16 = load("t16")


def program(body: str, *arguments: str, result: str) -> ModuleOp:
    args = ", ".join(
        f'%{name}: {type_} {{tile_tensor.input = "{name}"}}'
        for name, type_ in (a.split(":") for a in arguments)
    )
    return parse_module(
        f'builtin.module attributes {{tile.machine = "t16"}} {{\n'
        f"func.func @main({args}) -> {result} {{\n{body}\nfunc.return %y : {result}\n}}\n}}",
        "program.mlir",
    )


PROGRAMS = {
    "product": program(
        "%y = tile_tensor.matmul %a, %b {plan = {grid = array<i64: 1, 2, 2, 4>}}"
        " : (tensor<64x256xf16>, tensor<256x64xf16>) -> tensor<64x64xf16>",
        "a:tensor<64x256xf16>",
        "b:tensor<256x64xf16>",
        result="tensor<64x64xf16>",
    ),
    "attention": program(
        "%y = tile_tensor.attention %q, %k, %v scale 0.25"
        " : (tensor<2x32x16xf16>, tensor<2x32x16xf16>, tensor<2x32x16xf16>) -> tensor<2x32x16xf16>",
        "q:tensor<2x32x16xf16>",
        "k:tensor<2x32x16xf16>",
        "v:tensor<2x32x16xf16>",
        result="tensor<2x32x16xf16>",
    ),
    "norm": program(
        "%y = tile_tensor.layer_norm %x, %g, %b epsilon 1.0e-06"
        " : (tensor<16x192xf16>, tensor<192xf16>, tensor<192xf16>) -> tensor<16x192xf16>",
        "x:tensor<16x192xf16>",
        "g:tensor<192xf16>",
        "b:tensor<192xf16>",
        result="tensor<16x192xf16>",
    ),
    "softmax": program(
        "%y = tile_tensor.softmax %x : (tensor<40x96xf32>) -> tensor<40x96xf32>",
        "x:tensor<40x96xf32>",
        result="tensor<40x96xf32>",
    ),
}


def planned(module: ModuleOp) -> tuple[Graph, Planned]:
    copy = module.clone()
    pipeline.compile(copy, context=make_context(), homes="planned", until="tile-plan-layouts", search="off")
    read = GraphOfModule(copy)
    return read.graph, read.planned()


def expansion(module: ModuleOp) -> Stages:
    """The stages of the one operator of a program."""
    graph, plan = planned(module)
    (node,) = [n for n in graph.nodes() if isinstance(n, OperatorNode)]
    operands = tuple(graph.stored(v, plan.placements[v]) for v in node.operands)
    return plan.choices[node.name].expand(node.operator, operands, T16)


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_cost_what_the_model_counts(name: str) -> None:
    module = PROGRAMS[name].clone()
    stages = expansion(module)
    pipeline.compile(module, context=make_context(), homes="planned", search="off")
    executor = Executor(to_image(module_to_program(module)), T16)
    executor.load({})
    inputs = {
        binding.name: np.ones(binding.shape, np.float32)
        for binding in module_to_program(module).bindings
        if binding.kind == "input"
    }
    result = executor.run(inputs)
    cost = stages.cost(T16)
    assert cost.compute == result.cycles["compute"]
    assert cost.copy == result.cycles["copy"]
    exchanged = result.cycles["exchange"] + result.cycles["sync"]
    assert abs(cost.exchange - exchanged) <= 0.2 * exchanged


@pytest.mark.parametrize("name", PROGRAMS)
def test_bytes_that_are_live(name: str) -> None:
    """By brute force: a buffer is live from the first to the last stage that names it."""
    stages = expansion(PROGRAMS[name])
    live = stages.live_bytes()
    assert len(live) == len(stages.stages) + 1
    for event in range(len(live)):
        expected = 0
        for key, buffer in stages.buffers.items():
            named = [
                i
                for i, stage in enumerate(stages.stages)
                if key
                in (
                    [n for m in stage.moves for n in (m.src, m.dst)]
                    if isinstance(stage, ExchangeStage)
                    else [o.buffer for o in (*stage.ins, *stage.outs)]
                )
            ]
            if key in [result for result, _ in stages.results]:
                named.append(len(stages.stages))
            if key in stages.constants:
                named.append(0)
            if named and min(named) <= event <= max(named):
                expected += buffer.bytes
        assert live[event] == expected
    assert stages.peak_bytes() == max(live)


@pytest.mark.parametrize("name", PROGRAMS)
def test_row_bytes_are_estimated(name: str) -> None:
    """The fullest row of each phase, within a third of what is scheduled and 32 bytes."""
    module = PROGRAMS[name].clone()
    pipeline.compile(module, context=make_context(), homes="planned", until="tile-merge-phases", search="off")
    phases = [op for op in module.walk() if isinstance(op, ExchangeOp)]
    for phase in phases:
        scheduled = 4 * phase_schedule(phase, T16).row_words.max()
        estimated = estimated_row_bytes(phase_messages(phase), T16).max()
        assert abs(estimated - scheduled) <= scheduled / 3 + 32
    assert (expansion(PROGRAMS[name]).row_bytes(T16) > 0).any() == bool(phases)
