# SPDX-License-Identifier: Apache-2.0
"""The search for plans of whole programs: cheaper, the same everywhere, replayed, and driven by memory."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

import tilewright.api as api
from tilewright import instrumentation, settings
from tilewright.dialects.parsing import context, parse_module
from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.machine import load
from tilewright.passes import pipeline
from tilewright.passes.ir.graph import GraphOfModule
from tilewright.passes.ir.support import RowsTooLong
from tilewright.passes.ir.tensors import MACHINE
from tilewright.passes.tile_plan_layouts import what_is_missing
from tilewright.planning.graph import Graph, OperatorNode
from tilewright.planning.memory.explain import AllocationError, solve
from tilewright.planning.memory.problem import Buffer, Problem
from tilewright.planning.operators import strategies
from tilewright.planning.operators.base import Surroundings
from tilewright.planning.operators.strategy import Choice
from tilewright.planning.operators.targets import flat_layout
from tilewright.planning.plan import Plan
from tilewright.planning.search.favourites import choose
from tilewright.planning.search.price import Pricer
from tilewright.planning.search.report import report
from tilewright.planning.search.search import BUDGETS, Search
from tilewright.planning.search.workers import ExecutorError, executor_of
from tilewright.planning.stages import PlanError
from tilewright.planning.unfold import unfold

SMALL = Shape(tokens=16, width=64, heads=4, mlp=128, layers=3, batch=1, patch=48)

PRODUCT = """
builtin.module {
  func.func @main(%x: tensor<64x64xf16> {tile_tensor.input = "x"},
                  %w: tensor<64x64xf16> {tile_tensor.parameter = "w"}) -> tensor<64x64xf16> {
    %y = tile_tensor.matmul %x, %w : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %z = tile_tensor.matmul %y, %w : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    func.return %z : tensor<64x64xf16>
  }
}
"""


def graph_of(text: str, machine: str) -> Graph:
    module = parse_module(text, ctx=(ctx := context()))
    pipeline.compile(module, machine, context=ctx, until="tile-fuse-epilogues")
    module.attributes[MACHINE] = StringAttr(machine)
    return GraphOfModule(module).graph


@pytest.fixture(scope="module")
def searched() -> Search:
    found = Search(graph_of(vit.build(SMALL).program, "t16"), load("t16"), Plan(), BUDGETS["fast"])
    found.best()
    return found


def test_the_plan_is_cheaper_and_its_report_says_why(searched: Search) -> None:
    best = searched.best()
    assert best.price.cycles < 0.9 * searched.favourite.price.cycles
    found = report(searched, best)
    assert found["winner"]["price"]["cycles"] == best.price.cycles
    assert found["winner"]["differs"]
    tried = [entry for entries in found["points"].values() for entry in entries]
    assert {"cycles"} <= {entry["dropped"] for entry in tried}
    # an option that is better by itself is cheaper than all that were dropped for their cycles
    assert all(e["cycles"] >= best.price.cycles for e in tried if e["dropped"] == "cycles")
    assert json.loads(json.dumps(found)) == found


def test_what_it_promises_is_executed(searched: Search) -> None:
    """Outputs as the reference, fewer cycles than by the default rule; the plan replays without search."""
    folder = vit.build(SMALL, Mode(precision="f16"))
    programs = {effort: api.compile(folder.program, "t16", search=effort) for effort in ("off", "fast")}
    inputs, parameters = dict(folder.inputs), dict(folder.parameters)
    results = {effort: api.run(p, inputs, parameters) for effort, p in programs.items()}
    assert results["fast"].cycles["total"] < 0.95 * results["off"].cycles["total"]
    expected = api.reference(folder.program, inputs, parameters)
    for name, value in expected.items():
        np.testing.assert_allclose(results["fast"].outputs[name], value, rtol=0.05, atol=0.05)
    again = api.compile(folder.program, "t16", plan=programs["fast"].plan, search="fast")
    assert again.text() == programs["fast"].text()


def test_a_refusal_leads_to_a_plan_that_needs_less(searched: Search) -> None:
    """
    What the allocator lacks is taken off the memory: behind the default rule's, which is tried whenever its
    price says that it fits, the next plan is another, and smaller.
    """
    search = Search(searched.graph, searched.machine, Plan(), BUDGETS["fast"])
    first = search.best()
    need = next(n for n in first.price.needs if n.memory == "any")
    search.refuse(first, "tile memory is 4000 bytes short", "any", 4000)
    second = search.best()
    assert search.is_default(second) and not search.is_default(first)
    search.refuse(second, "tile memory is 4000 bytes short", "any", 4000)
    third = search.best()
    after = next(n for n in third.price.needs if n.memory == "any")
    assert len({search.key(s) for s in (first, second, third)}) == 3
    assert after.live < need.live
    assert search.lacks(first)
    assert search.rounds[0].missing == 4000


def test_a_shard_that_no_range_holds_is_refused_when_it_is_made() -> None:
    machine = load("t4")
    graph = graph_of(PRODUCT.replace("64x64", "512x512"), "t4")
    pricer = Pricer(machine)
    node = next(n for n in graph.nodes() if isinstance(n, OperatorNode))
    strategy = strategies(node.operator)[0]
    choice = Choice(strategy, strategy.record.from_json({"grid": [1, 1, 1, 1]}))
    types = node.operator.operand_types
    values = tuple(
        graph.stored(v, flat_layout(shape, dtype, machine))
        for v, (shape, dtype) in zip(node.operands, types, strict=True)
    )
    with pytest.raises(PlanError, match="takes 524,288 bytes of a tile, the largest range of"):
        pricer.candidate(node, choice, values)


def test_the_report_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "reports" / "plan.json"
    with settings.use(settings.Settings(search="fast", plan_report=path)):
        module = parse_module(PRODUCT, ctx=(ctx := context()))
        pipeline.compile(module, "t4", context=ctx)
    found = json.loads(path.read_text("utf-8"))
    assert found["format"] == "tilewright-plan-report"
    assert found["rounds"][-1]["verdict"] == "fits"


def test_over_the_cap_every_plan_is_recorded_and_the_phases_are_named(tmp_path: Path) -> None:
    """Rows that no plan keeps below the cap: bounded rounds, then the phases of the nearest plan."""
    path = tmp_path / "plan.json"
    with settings.use(settings.Settings(search="fast", plan_report=path, exchange_cap=16)):
        module = parse_module(PRODUCT, ctx=(ctx := context()))
        with pytest.raises(RowsTooLong, match="the cap is 16") as caught:
            pipeline.compile(module, "t4", context=ctx)
    assert any("bytes  y: matmul operands" in note for note in caught.value.notes)
    found = json.loads(path.read_text("utf-8"))
    rounds = found["rounds"]
    assert 1 <= len(rounds) <= BUDGETS["fast"].rounds
    assert all(r["memory"] == "rows" and r["missing"] > 0 for r in rounds)
    assert len({r["cycles"] for r in rounds}) == len(rounds) or len(rounds) == 1
    assert found["nearest"]["missing"] == min(r["missing"] for r in rounds)
    assert f"{len(rounds)} plans were tried" in caught.value.notes


def test_the_nearest_plan_says_what_bound_it() -> None:
    """Tile, event, what is live, what is available, and whether that is a proof: of what came nearest."""
    graph, machine = graph_of(PRODUCT, "t4"), load("t4")
    search = Search(graph, machine, Plan(), BUDGETS["fast"])
    for size in (1 << 19, 1 << 18):
        problem = Problem((Buffer("y.left", size, 0, 0),), machine.available(), name="main")
        with pytest.raises(AllocationError) as caught:
            solve(problem)
        missing, memory = what_is_missing(caught.value)
        state = search.best()
        search.refuse(
            state, caught.value.message, memory, missing, "planned", caught.value.diagnosis.to_json()
        )
    found = report(search, search.favourite)["nearest"]
    assert found["number"] == 2
    said = found["diagnosis"]
    assert said["proof"] and said["tile"] == 0 and said["event"] == 0
    assert said["live_bytes"] == 1 << 18
    assert said["available_bytes"] == sum(end - start for start, end in machine.available())
    assert said["short_bytes"] == found["missing"] > 0


def test_patience_counts_from_the_nearest_plan() -> None:
    """Bytes missing, then cycles short; proofs after what only found no place; of equals the first."""
    search = Search(graph_of(PRODUCT, "t4"), load("t4"), Plan(), BUDGETS["fast"])
    assert search.nearest is None and search.fruitless == 0
    refusals = ((900, False, 1, 0), (700, True, 1, 1), (500, False, 3, 0), (500, False, 3, 1))
    for missing, proof, number, fruitless in refusals:
        search.refuse(search.best(), "no place", "any", missing, "planned", {"proof": proof})
        search.rounds[-1].short = 0
        assert search.nearest is search.rounds[number - 1]
        assert search.fruitless == fruitless
    search.refuse(search.best(), "no place", "any", 600, "planned", {"proof": False})
    assert search.fruitless == 2 and not search.exhausted
    search.refuse(search.best(), "no place", "any", 600, "planned", {"proof": False})
    assert search.fruitless == search.budget.patience and search.exhausted


def test_copies_below_words_are_a_line_of_the_report() -> None:
    """Columns of half words that change places: their copies are told apart from the rest of the cycles."""
    text = """
builtin.module {
  func.func @main(%x: tensor<64x64xf16> {tile_tensor.input = "x"}) -> tensor<64x64xf16> {
    %t = tile_tensor.transpose %x permutation [1, 0] : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %y = tile_tensor.add %x, %t : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    func.return %y : tensor<64x64xf16>
  }
}
"""
    search = Search(graph_of(text, "t4"), load("t4"), Plan(), BUDGETS["fast"])
    said = report(search, search.favourite)["default"]["price"]["cycles_in_copies_below_words"]
    result = api.run(api.compile(text, "t4"), {"x": np.zeros((64, 64), np.float16)}, {})
    assert said["total"] == result.cycles["copy"] > 0
    assert said["by_operator"] == {"y": said["total"]}


FITS = Path(__file__).parents[1] / "data" / "fits"


@pytest.mark.parametrize("layers", [2, 12])
def test_one_element_of_interleaved_memory_is_enough(layers: int) -> None:
    """What arrives may not share an element with what is sent: partials and panels lie elsewhere."""
    text = (FITS / f"vit_32_64_4_128_{layers}_f8.mlir").read_text("utf-8")
    module = parse_module(text, ctx=(ctx := context()))
    pipeline.compile(module, str(FITS / "t16q.toml"), context=ctx, search="off")
    assert pipeline.level_of(module) == "machine"


def test_a_plan_that_fails_with_planned_homes_is_tried_with_balanced_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """
    12 layers on a quarter of the memory: the same plan is short where planning put its homes and fits where
    they are compact and rotated. Its first failure is remembered, and does not answer the second attempt.
    """
    made: list[tuple[str, str, str]] = []
    attempt = pipeline._Attempts.attempt

    def watched(self: Any, search: Search, state: Any, homes: Any, original: Any, **kwargs: Any) -> Any:
        failure = attempt(self, search, state, homes, original, **kwargs)
        made.append((search.key(state), homes, "" if failure is None else failure.message))
        again = None if failure is None else attempt(self, search, state, homes, original, **kwargs)
        assert again is failure
        return failure

    monkeypatch.setattr(pipeline._Attempts, "attempt", watched)
    monkeypatch.setattr(pipeline, "RESIDENT_SHARE", 0)  # homes are planned at first, however much they fill
    path = tmp_path / "plan.json"
    with settings.use(settings.Settings(search="fast", plan_report=path)):
        module = parse_module(
            (FITS / "vit_32_64_4_128_12_f8.mlir").read_text("utf-8"), ctx=(ctx := context())
        )
        pipeline.compile(module, str(FITS / "t16qe.toml"), context=ctx)
    assert [homes for _, homes, _ in made] == ["planned", "selected"]
    assert made[0][0] == made[1][0]
    assert "bytes short" in made[0][2] and not made[1][2]
    (found,) = json.loads(path.read_text("utf-8"))["rounds"]
    assert (found["homes"], found["verdict"]) == ("selected", "fits")


@pytest.mark.slow
def test_hash_seeds_do_not_matter(tmp_path: Path) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(vit.build(SMALL).program, encoding="utf-8")
    texts = []
    for seed in ("0", "1", "77"):
        out = tmp_path / f"{seed}.mlir"
        command = [sys.executable, "-m", "tilewright.tools.tile_opt", str(program), "--machine", "t16"]
        command += ["-p", "tile-fuse-epilogues,tile-plan-layouts", "--search=fast", "-o", str(out)]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
        texts.append(out.read_text("utf-8"))
    assert texts[0] == texts[1] == texts[2]


class Dying(Executor):
    """Runs what it is given here, until it has had enough: then as if all workers had been killed."""

    def __init__(self, tasks: int) -> None:
        self.left = tasks

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        if self.left == 0:
            raise BrokenExecutor
        self.left -= 1
        future: Future[object] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.fixture(scope="module")
def layer() -> Graph:
    """A program of some forty tasks: a layer of a small encoder."""
    shape = replace(SMALL, tokens=4, width=32, mlp=32, heads=2, layers=1)
    return graph_of(vit.build(shape).program, "t4")


@pytest.fixture(scope="module")
def alone(layer: Graph) -> Search:
    """The search of one process."""
    found = Search(layer, load("t4"), Plan(), BUDGETS["fast"])
    found.best()
    return found


@pytest.mark.parametrize(("batch", "tasks"), [(64, 1 << 30), (7, 10)])
def test_workers_and_batches_do_not_matter(layer: Graph, alone: Search, batch: int, tasks: int) -> None:
    """The same plan from any batch size, and when the workers die on the way."""
    executor = Dying(tasks)
    shared = Search(layer, load("t4"), Plan(), BUDGETS["fast"], executor=executor, batch=batch)
    assert shared.key(shared.best()) == alone.key(alone.best())
    assert [t.__dict__ for t in shared.tried] == [t.__dict__ for t in alone.tried]
    assert shared.best().price == alone.best().price
    assert executor.left == max(0, tasks - 43)


class Killing(Executor):
    """Hands tasks on to an executor; with the tenth of them a worker of it is killed."""

    def __init__(self, executor: Executor, kill: Callable[[], None]) -> None:
        self.executor, self.kill, self.handed = executor, kill, 0

    def submit(self, fn, /, *args, **kwargs):  # type: ignore[no-untyped-def]
        self.handed += 1
        future = self.executor.submit(fn, *args, **kwargs)
        if self.handed == 10:
            self.kill()
        return future


def plans_found(executor: Executor, graph: Graph, *batches: int) -> set[str]:
    searches = [
        Search(graph, load("t4"), Plan(), BUDGETS["fast"], executor=executor, batch=batch)
        for batch in batches
    ]
    return {search.key(search.best()) for search in searches}


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_processes_find_the_same_plan(layer: Graph, alone: Search, workers: int) -> None:
    """Of any number, with any batch, and when one of them is killed."""
    with executor_of(f"processes:{workers}") as executor:
        assert executor is not None
        assert plans_found(executor, layer, 1, 7, 64) == {alone.key(alone.best())}

        def kill() -> None:
            os.kill(next(iter(executor._processes)), signal.SIGKILL)  # type: ignore[union-attr]

        killing = Killing(executor, kill)
        assert plans_found(killing, layer, 7) == {alone.key(alone.best())}
        assert killing.handed >= 10


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_cluster_finds_the_same_plan(layer: Graph, alone: Search, workers: int) -> None:
    """Of any number of workers, with any batch, and when one of them is killed."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        with executor_of(address) as executor, distributed.Client(cluster) as client:
            assert executor is not None
            assert plans_found(executor, layer, 1, 7, 64) == {alone.key(alone.best())}

            def kill() -> None:
                os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)

            killing = Killing(executor, kill)
            assert plans_found(killing, layer, 7) == {alone.key(alone.best())}
            assert killing.handed >= 10


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("threads", "'threads' names no executor"),
        ("processes:0", "'processes:0' names no executor"),
        ("dask://", "'dask://' names no executor"),
    ],
)
def test_what_names_no_executor(spec: str, message: str) -> None:
    with pytest.raises(ExecutorError, match=message), executor_of(spec):
        pass


def test_a_scheduler_that_is_not_there() -> None:
    if importlib.util.find_spec("distributed") is None:
        message = "dask.distributed is not installed"
    else:
        message = "no scheduler answers at 127.0.0.1:1"
    with pytest.raises(ExecutorError, match=message), executor_of("dask://127.0.0.1:1"):
        pass


def test_weights_in_standard_memory_are_read_at_their_price() -> None:
    """The twin of a strategy executes, in either memory, and costs what its loads cost."""
    machine = load("t4")
    text = PRODUCT.replace("64x64", "128x128")
    graph = graph_of(text, "t4")
    node = next(n for n in graph.nodes() if isinstance(n, OperatorNode))
    base = choose(graph, machine, Plan())
    plan = base.plan(graph, "t4")
    twin = {name: {**r, "strategy": "grid.standard"} for name, r in plan.operators.items()}
    compiled = [api.compile(text, "t4", plan=Plan(records)) for records in (plan.operators, twin)]
    rng = np.random.default_rng(1)
    values = {name: rng.standard_normal((128, 128)).astype(np.float16) / 8 for name in "xw"}
    results = [api.run(p, {"x": values["x"]}, {"w": values["w"]}) for p in compiled]
    for name, found in results[0].outputs.items():
        np.testing.assert_array_equal(found, results[1].outputs[name])
    prices = []
    for records in (plan.operators, twin):
        pricer = Pricer(machine, balanced=False)
        planned = choose(graph, machine, Plan(records))
        found = pricer.price(unfold(graph, planned.choices, planned.placements, machine, pricer))
        prices.append(found)
    assert prices[0].cycles < prices[1].cycles
    interleaved = [next(n.live for n in p.needs if n.memory == "interleaved") for p in prices]
    assert interleaved[1] < interleaved[0]
    strategy = strategies(node.operator)[-1]
    values_ = (None, None)
    assert strategy.name == "grid.standard"
    assert not list(strategy.candidates(node.operator, values_, machine, Surroundings()))
    assert list(strategy.candidates(node.operator, values_, machine, Surroundings(scarce=True)))


def test_a_body_is_searched_once_whatever_its_count() -> None:
    """Three layers or thirty: the same nodes, the same choices."""
    found = []
    for layers in (3, 30):
        text = vit.build(replace(SMALL, tokens=4, width=32, mlp=32, heads=2, layers=layers)).program
        search = Search(graph_of(text, "t4"), load("t4"), Plan(), BUDGETS["fast"])
        best = search.best()
        found.append((search.nodes, {name: c.to_json() for name, c in best.planned.choices.items()}))
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_vision_transformer_that_nearly_fits_fits() -> None:
    """ViT-L/32 in f16, 24 layers on 1472 tiles: a few KB short with every operator's favourite."""
    program = FITS / "vit_l32_f16_24.mlir"
    api.compile(program, "c600", search="fast")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tokens", "width", "mlp", "layers", "machine"),
    [(128, 128, 512, 6, "t64qe"), (128, 256, 1024, 4, "t64he"), (32, 64, 128, 12, "t64qe")],
)
def test_small_memories_hold_what_fits(tokens: int, width: int, mlp: int, layers: int, machine: str) -> None:
    """64 and 112 KiB on each of 64 tiles: the first is short of memory with every operator's favourite."""
    shape = Shape(tokens=tokens, width=width, heads=4, mlp=mlp, layers=layers, batch=1, patch=48)
    program = vit.build(shape).program.replace("_weight accumulate f16 :", "_weight accumulate f32 :")
    api.compile(program, str(FITS / f"{machine}.toml"), search="fast")


class Told(instrumentation.Instrument):
    """Notes steps that work on no module, and how far they were."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.done: list[tuple[int, int]] = []

    def before(self, step: str, module: object) -> None:
        if module is None:
            self.steps.append(step)

    def advanced(self, step: str, done: int, total: int) -> None:
        if step == pipeline.SEARCH:
            self.done.append((done, total))


def test_the_search_is_a_step_that_says_how_far_it_is() -> None:
    with instrumentation.use(told := Told()):
        module = parse_module(vit.build(SMALL).program, ctx=(ctx := context()))
        pipeline.compile(module, "t16", context=ctx, search="fast")
    assert set(told.steps) == {pipeline.SEARCH}
    assert told.done[0][0] == 1 and all(1 <= done <= total for done, total in told.done)
