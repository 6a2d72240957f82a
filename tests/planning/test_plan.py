# SPDX-License-Identifier: Apache-2.0
"""Plans as values: what a file says is what was decided, and what it names is what the program has."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import tilewright
from tilewright.diagnostics import TileError
from tilewright.dialects.parsing import parse_module
from tilewright.machine import load
from tilewright.passes.ir.graph import GraphOfModule
from tilewright.passes.ir.tensors import choice_of
from tilewright.planning.graph import Graph, OperatorNode, RepeatNode
from tilewright.planning.operators import (
    Operator,
    Strategy,
    Surroundings,
    favourite,
    matmul,
    read_choice,
    register,
    strategies,
    unregister,
)
from tilewright.planning.plan import Plan
from tilewright.planning.search.favourites import choose, surroundings
from tilewright.planning.stages import PlanError

T4 = load("t4")

LAYERS = """
builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x: tensor<8x64xf16> {tile_tensor.input = "x"},
                  %ws: !tile_repeat.sequence<3 x tensor<64x64xf16>> {tile_tensor.parameter = ["a", "b", "c"]},
                  %g: tensor<64xf16> {tile_tensor.parameter = "g"}) -> tensor<8x64xf16> {
    %y, %all = tile_repeat.repeat "layers" count 3
        carried(%h = %x : tensor<8x64xf16>) invariant(%s = %g : tensor<64xf16>)
        iterated(%w = %ws : !tile_repeat.sequence<3 x tensor<64x64xf16>>)
        -> (tensor<8x64xf16>, !tile_repeat.sequence<3 x tensor<8x64xf16>>) {
      %p = tile_tensor.matmul %h, %w : (tensor<8x64xf16>, tensor<64x64xf16>) -> tensor<8x64xf16>
      %n = tile_tensor.mul %p, %s : (tensor<8x64xf16>, tensor<64xf16>) -> tensor<8x64xf16>
      tile_repeat.yield %n : tensor<8x64xf16> collect %p : tensor<8x64xf16>
    }
    func.return %y : tensor<8x64xf16>
  }
}
"""


def graph_of(text: str) -> Graph:
    return GraphOfModule(parse_module(text, "program.mlir")).graph


def test_a_graph_says_what_the_program_says() -> None:
    graph = graph_of(LAYERS)
    assert graph.names == ["layers.p", "layers.n"]
    assert [graph.values[v].name for v in graph.arguments] == ["x", "a", "g"]
    assert [graph.values[v].origin for v in graph.arguments] == ["input", "parameter", "parameter"]
    (repeat,) = [node for node in graph.nodes() if isinstance(node, RepeatNode)]
    x, ws, g = graph.arguments
    (carried,), (invariant,), (iterated,), (collected,) = (
        repeat.carried,
        repeat.invariant,
        repeat.iterated,
        repeat.collected,
    )
    assert (carried.initial, invariant.outer, iterated.outer) == (x, g, ws)
    product, scaled = (node for node in repeat.body if isinstance(node, OperatorNode))
    assert product.operands == (carried.argument, iterated.argument)
    assert scaled.operands == (product.results[0], invariant.argument)
    assert carried.following == scaled.results[0] and collected.member == product.results[0]
    assert graph.values[ws].counts == (3,) and graph.values[iterated.argument].counts == ()
    assert graph.values[collected.result].counts == (3,)
    assert graph.chain(iterated.argument) == [iterated.argument, ws]
    assert [(use.node, use.index) for use in graph.uses[product.results[0]]] == [(scaled, 0)]


def test_a_plan_goes_to_a_file_and_back(tmp_path: Path) -> None:
    graph = graph_of(LAYERS)
    planned = choose(graph, T4, Plan())
    plan = planned.plan(graph, "t4")
    assert list(plan.operators) == graph.names
    assert list(plan.homes) == ["x", "a", "g"] and list(plan.layouts) == ["layers.h"]
    plan.write(tmp_path / "plan.json")
    read = Plan.read(tmp_path / "plan.json")
    assert dataclasses.replace(read, path="") == plan
    again = choose(graph, T4, read)
    assert again.placements == planned.placements
    assert {name: c.to_json() for name, c in again.choices.items()} == dict(plan.operators)


def test_the_plan_of_a_planned_module_is_read_from_it() -> None:
    module = parse_module(LAYERS, "program.mlir")
    program = GraphOfModule(module)
    planned = choose(program.graph, T4, Plan())
    program.write(planned)
    module.verify()
    again = GraphOfModule(module)
    assert again.planned().plan(again.graph, "t4") == planned.plan(program.graph, "t4")


def test_states_of_one_name_keep_their_layouts() -> None:
    """Numbers behind names do not outlive the text: both states are an `s`, one a matrix, one a stack."""
    matrix, stack = "tensor<8x8xf32>", "tensor<2x12x8xf32>"
    text = f"""func.func @main(%x: {matrix}, %m: {stack}, %w: {matrix}) -> ({matrix}, {stack}) {{
      %a, %b = tile_repeat.repeat "steps" count 3 carried(%s = %x : {matrix}, %s_1 = %m : {stack})
          invariant(%v = %w : {matrix}) -> ({matrix}, {stack}) {{
        %p = tile_tensor.matmul %s, %v : ({matrix}, {matrix}) -> {matrix}
        %n = tile_tensor.softmax %p : ({matrix}) -> {matrix}
        %l = tile_tensor.softmax %s_1 : ({stack}) -> {stack}
        tile_repeat.yield %n, %l : {matrix}, {stack}
      }}
      func.return %a, %b : {matrix}, {stack}
    }}"""
    plan = plan_read_back(text)
    assert list(plan.layouts) == ["steps.s", "steps.s_2"]


def test_an_input_may_be_called_as_a_parameter_is() -> None:
    text = """func.func @main(%x: tensor<1x8xf16> {tile_tensor.input = "a"},
        %w: tensor<8x4xf16> {tile_tensor.parameter = "a"}) -> tensor<1x4xf16> {
      %y = tile_tensor.matmul %x, %w : (tensor<1x8xf16>, tensor<8x4xf16>) -> tensor<1x4xf16>
      func.return %y : tensor<1x4xf16>
    }"""
    plan = plan_read_back(text)
    assert list(plan.homes) == ["a", "a_2"]


def plan_read_back(text: str) -> Plan:
    """The plan of a program, with which it is compiled to the same again."""
    compiled = tilewright.compile(text, machine="t16")
    assert compiled.plan is not None
    again = tilewright.compile(text, machine="t16", plan=compiled.plan)
    assert again.text() == compiled.text() and again.plan == compiled.plan
    return compiled.plan


def test_a_forced_home_and_a_forced_layout_are_taken() -> None:
    demanded = Plan(homes={"g": ("[64/16@1]",)}, layouts={"layers.h": ("[8/2@1, 64]",)})
    graph = graph_of(LAYERS)
    planned = choose(graph, T4, demanded)
    home, view = planned.placements[graph.arguments[2]]
    assert str(home).startswith("[64/16@1]") and view.shape == (64,)
    (repeat,) = [node for node in graph.nodes() if isinstance(node, RepeatNode)]
    assert str(planned.placements[repeat.carried[0].argument][0]).startswith("[8/2@1, 64]")
    assert planned.placements[repeat.carried[0].result] == planned.placements[repeat.carried[0].argument]


@pytest.mark.parametrize(
    ("plan", "message", "hint"),
    [
        (Plan(operators={"layer.p": {}}), "no operator is called 'layer.p'", "layers.p"),
        (Plan(homes={"gg": ("[64]",)}), "no parameter or input is called 'gg'", "did you mean `g`"),
        (Plan(layouts={"layer.h": ("[64]",)}), "no argument of a repeat is called 'layer.h'", "layers.h"),
        (Plan(homes={"g": ("[32]",)}), "g: the layout is for shape [32], the tensor has [64]", None),
        (Plan(homes={"g": ("[64",)}), "g: ", None),
        (
            Plan(operators={"layers.p": {"strategy": "grit"}}),
            "layers.p: matmul has no strategy 'grit'",
            "`grid`",
        ),
        (Plan(operators={"layers.p": {"grid": [1, 9, 9, 9]}}), "matmul: grid [1, 9, 9, 9] needs", None),
    ],
)
def test_what_the_program_does_not_have_is_refused(plan: Plan, message: str, hint: str | None) -> None:
    with pytest.raises(TileError) as caught:
        choose(graph_of(LAYERS), T4, plan)
    assert message in caught.value.message
    assert hint is None or (caught.value.hint is not None and hint in caught.value.hint)


def test_a_further_strategy_is_one_object() -> None:
    """It is listed after the favourite, chosen by name, and gone when it is withdrawn."""
    product = Operator("matmul", {}, (((8, 64), "f16"), ((64, 64), "f16")), (((8, 64), "f16"),))

    def on_one_row_of_tiles(*_: object) -> matmul.MatmulRecord:
        return matmul.MatmulRecord((1, 1, 4, 1))

    columns = Strategy(
        "columns",
        ("matmul",),
        matmul.MatmulRecord,
        default=on_one_row_of_tiles,
        candidates=lambda *_: (matmul.MatmulRecord((1, 1, 4, 1)),),
        targets=matmul.operand_targets,
        expand=matmul.expand,
        applies=lambda operator: operator.result_shape[-1] % 16 == 0,
    )
    register(columns)
    try:
        assert [s.name for s in strategies(product)] == ["grid", "grid.standard", "columns"]
        with pytest.raises(ValueError, match="matmul has a strategy 'columns' already"):
            register(columns)
        module = parse_module(LAYERS, "program.mlir")
        program = GraphOfModule(module)
        program.write(choose(program.graph, T4, Plan(operators={"layers.p": {"strategy": "columns"}})))
        choice = choice_of(program.operations["layers.p"])
        assert choice is not None and choice.strategy is columns
        assert favourite(product).name == "grid"
    finally:
        unregister(columns)
    with pytest.raises(PlanError, match="matmul has no strategy 'columns'"):
        read_choice(product, {"strategy": "columns"})


def test_candidates_are_bounded_and_legal() -> None:
    """Every candidate of every strategy has targets and expands."""
    graph = graph_of(LAYERS)
    planned = choose(graph, T4, Plan())
    for node in graph.nodes():
        if not isinstance(node, OperatorNode):
            continue
        operands = tuple(graph.stored(v, planned.placements[v]) for v in node.operands)
        near = surroundings(graph, node, graph.body, T4)
        assert near == Surroundings()
        for strategy in strategies(node.operator):
            scarce = Surroundings(scarce=True)  # strategies for when memory is missing too
            records = list(strategy.candidates(node.operator, operands, T4, scarce))
            assert 0 < len(records) < 200
            assert strategy.default(node.operator, operands, T4, near) in records
            for record in records:
                stages = strategy.expand(node.operator, record, operands, T4)
                assert stages.results and stages.cost(T4).total > 0
