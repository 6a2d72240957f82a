# SPDX-License-Identifier: Apache-2.0
"""result.json: what is built validates, and each field that is wrong is named by its path."""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tilewright.frontends.program_folder import Tolerance
from tilewright.tools import result_schema as r


def result(**changes: Any) -> r.Result:
    fields: dict[str, Any] = {
        "program": "vit/program.mlir",
        "machine": "t4",
        "tiles": 4,
        "clock_hz": 1.5e9,
        "precision": "f8",
        "cycles": r.Cycles(compute=700, exchange=200, copy=50, sync=50, assumed_share=0.25),
        "repeats": [r.Repeat("layers", 3, 400, np.float64(300.5)), r.Repeat("once", 1, 7, None)],
        "compile": r.Compile(1.5, 10**8, {"plan": 1.0}),
        "simulate": r.Simulate(2.5, 10**8),
        "memory": r.Memory({"parameters": np.array([10, 20, 0, 0]), "free": np.array([90, 80, 100, 100])}),
        "exchange": r.Exchange(3, 40, np.int64(200), 150.0, 1.04, None),
        "code_bytes_max": 4096,
        "checks": [r.Check("tokens", 0.1, 0.999, 0.99, 0.995, True)],
        "evidence": dict(zip(r.CYCLE_CLASSES, (400, 200, 100, 50, 200, 50), strict=True)),
        "origin": r.Origin("0.2.0", None, "ab12"),
    }
    return r.Result(**(fields | changes))


def test_a_built_record_validates_and_comes_back(tmp_path: Path) -> None:
    built = result(task={"accuracy": 0.975, "agreement": 0.995, "logits_rel_rms": 0.04})
    built.write(tmp_path / "result.json")
    record = r.read(tmp_path / "result.json")
    assert record == built.to_json()
    assert record["cycles"]["total"] == 1000
    assert record["memory"]["max_tile_bytes"] == 20
    assert record["memory"]["max_tile"] == 1
    assert sum(record["memory"]["max_tile_categories"].values()) == 100
    assert record["memory"]["per_tile_total"] == 100
    assert record["memory"]["categories"]["parameters"] == {"max": 20, "mean": 7.5}
    assert list(record["memory"]["categories"]) == list(r.MEMORY_CATEGORIES)
    assert record["passed"] is True


def test_unknown_fields_are_later_additions() -> None:
    record = result().to_json()
    record["later"] = record["cycles"]["later"] = 1
    r.validate(record)


DELETE = object()


def change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def apply(record: dict[str, Any]) -> None:
        *way, last = re.findall(r"[^.\[\]]+", path)
        node: Any = record
        for step in way:
            node = node[int(step)] if isinstance(node, list) else node[step]
        if value is DELETE:
            del node[last]
        else:
            node[int(last) if isinstance(node, list) else last] = value

    return apply


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("format", "other", 'must be "tilewright-result"'),
        ("version", 2, "is 2, this tilewright reads up to version 1"),
        ("program", DELETE, "is missing"),
        ("tiles", 0, "must be at least 1"),
        ("tiles", True, "must be a whole number, it is true or false"),
        ("clock_hz", "fast", "must be a number, it is text"),
        ("clock_hz", float("nan"), "must be finite"),
        ("cycles.total", 999, "is 999, the parts sum to 1000"),
        ("cycles.sync", 1.5, "must be a whole number"),
        ("cycles.assumed_share", 1.5, "must be between 0 and 1"),
        ("cycles.copy", DELETE, "is missing"),
        ("evidence.assumed", 51, "the classes sum to 1001 cycles, the total is 1000"),
        ("evidence.derived", DELETE, "is missing"),
        ("evidence.guessed", 0, "is not a class of evidence"),
        ("machine_digest", 5, "must be text"),
        ("commit", 5, "must be text or null"),
        ("repeats", {}, "must be a list, it is an object"),
        ("repeats[0].count", -1, "must be at least 0"),
        ("repeats[0].per_iteration", None, "must be a number when count is 3"),
        ("repeats[1].per_iteration", 3.0, "must be null when count is 1"),
        ("compile.phases", [], "must be an object"),
        ("compile.phases.plan", -1.0, "must be at least 0"),
        ("simulate.peak_rss_bytes", DELETE, "is missing"),
        ("memory.max_tile_bytes", 101, "is more than a tile has"),
        ("memory.categories.rows", DELETE, "is missing"),
        ("memory.categories.cache", {"max": 0, "mean": 0}, "is not a category"),
        ("memory.categories.rows.mean", 5.0, "must be between 0 and 0"),
        ("memory.categories.rows", {"max": 5, "mean": 5.0}, "the means sum to 105 bytes, a tile has 100"),
        ("exchange.row_bytes_mean", 201, "must be between 0 and 200"),
        ("exchange.scheduled_over_bound", "?", "must be a number or null"),
        ("checks[0].cosine", 2, "must be between -1 and 1"),
        ("checks[0].passed", 1, "must be true or false"),
        ("passed", False, "must say whether every check passed"),
        ("task", {"accuracy": 0.5}, "is missing"),
    ],
)
def test_each_wrong_field_is_named(path: str, value: Any, message: str) -> None:
    record = copy.deepcopy(result().to_json())
    change(path, value)(record)
    with pytest.raises(r.ResultError, match=re.escape(message)) as caught:
        r.validate(record)
    named = caught.value.message.partition(":")[0]
    # a category's figures are checked one by one, their sum as a whole; a task lacks a field
    assert named in (path, path.rpartition(".")[0], f"{path}.agreement", "memory.categories", "evidence")


def test_bytes_must_be_accounted_for_on_every_tile() -> None:
    memory = r.Memory({"parameters": np.array([10, 20]), "free": np.array([90, 70])})
    with pytest.raises(r.ResultError, match="tile 1 accounts for 90 bytes, tile 0 for 100"):
        memory.to_json()
    with pytest.raises(r.ResultError, match="unknown category 'cache'"):
        r.Memory({"cache": np.array([1])}).to_json()


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(r.ResultError, match="cannot read"):
        r.read(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(r.ResultError, match="is not JSON"):
        r.read(tmp_path / "bad.json")
    with pytest.raises(r.ResultError, match="cannot write"):
        result().write(tmp_path / "no" / "folder.json")


def test_compare() -> None:
    expected = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]], np.float32)
    check = r.compare("y", expected.astype(np.float16), expected, Tolerance(0.0, 1.0 - 1e-12, 1.0 - 1e-12))
    assert check.passed and check.max_abs_error == 0 and check.mean_row_cosine == pytest.approx(1)
    turned = expected * [[1, -1], [1, 1], [1, 1]]
    check = r.compare(
        "y", turned.astype(ml_dtypes.float8_e4m3fnuz), expected, Tolerance(5.0, min_row_cosine=0.0)
    )
    assert not check.passed and check.max_abs_error == 4 and check.min_row_cosine == pytest.approx(-0.6)
    assert r.compare("y", turned, expected, Tolerance(4.0)).passed
    assert not r.compare("y", turned, expected, Tolerance(3.9)).passed
    assert not r.compare("y", turned, expected, Tolerance(cosine=0.9)).passed


def test_compare_what_is_not_finite() -> None:
    expected = np.array([1.0, np.inf, np.nan], np.float32)
    broken = np.array([np.nan, 1.0, 1.0], np.float32)
    check = r.compare("y", broken, expected, None)
    assert not check.passed and check.max_abs_error is None
    result(checks=[check]).to_json()
    assert r.compare("y", np.array([np.inf], np.float32), np.array([np.inf]), None).passed
    assert not r.compare("y", np.array([np.nan], np.float32), np.array([0.0]), Tolerance(1.0)).passed


def test_compare_shapes() -> None:
    assert r.compare("y", np.zeros((0, 3)), np.zeros((0, 3)), Tolerance(0.0)).passed
    assert r.compare("y", np.array(2.0), np.array(2.0), Tolerance(0.0)).passed
    with pytest.raises(r.ResultError, match=r"output 'y' has shape \[2\], expected \[3\]"):
        r.compare("y", np.zeros(2), np.zeros(3), None)


def test_the_specification_names_every_field() -> None:
    text = (Path(__file__).parents[2] / "docs" / "spec" / "result.md").read_text()

    def keys(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {key for member in value.values() for key in keys(member)}
        return {key for member in value for key in keys(member)} if isinstance(value, list) else set()

    record = json.loads(
        json.dumps(result(task={"accuracy": 1, "agreement": 1, "logits_rel_rms": 0}).to_json())
    )
    del record["compile"]["phases"]["plan"]
    assert [key for key in sorted(keys(record)) if f"`{key}`" not in text] == []
