# SPDX-License-Identifier: Apache-2.0
"""
The record of one `tile-run`: what result.json holds (docs/spec/result.md), built from dataclasses and checked
by `validate`.

Later versions only add fields. `validate` therefore accepts fields it does not know, except where the set is
closed (memory categories), and refuses a missing field, a wrong type, a number that is not finite, and
figures that contradict each other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.diagnostics import TileError
from tilewright.frontends.program_folder import Tolerance
from tilewright.machine.description import CATEGORIES
from tilewright.machine.kernels.measurements import CYCLE_CLASSES

FORMAT = "tilewright-result"
VERSION = 1

MEMORY_CATEGORIES: tuple[str, ...] = CATEGORIES
"""What a byte of SRAM can be, in the order of the record."""


class ResultError(TileError):
    """
    A result record is malformed; the message starts with the path of the field, such as `repeats[0].count`.
    """


# --------------------------------------------------------------------------------------------- building


@dataclass(frozen=True)
class Cycles:
    """
    Total over phases of the slowest tile, and its parts on that critical path.

    `total` is their sum, from all inputs resident to the last output written. `assumed_share` is the part of
    the total (0 to 1) that rests on kernels marked as assumed.
    """

    compute: int
    exchange: int
    copy: int
    sync: int
    assumed_share: float = 0.0

    @property
    def total(self) -> int:
        return self.compute + self.exchange + self.copy + self.sync


@dataclass(frozen=True)
class Repeat:
    """Cycles of a repeat's first iteration and the mean of the others; None when there are no others."""

    name: str
    count: int
    first: int
    per_iteration: float | None


@dataclass(frozen=True)
class Compile:
    """Host cost of compiling; `phases` are seconds by phase name."""

    seconds: float
    peak_rss_bytes: int
    phases: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class Simulate:
    """Host cost of running on the machine model."""

    seconds: float
    peak_rss_bytes: int


@dataclass(frozen=True)
class Memory:
    """
    Where the bytes of SRAM go.

    `categories` maps each category to bytes per tile (tiles,); they sum to the tile's SRAM on every tile.
    """

    categories: Mapping[str, np.ndarray]

    def to_json(self) -> dict[str, Any]:
        unknown = [name for name in self.categories if name not in MEMORY_CATEGORIES]
        if unknown:
            raise ResultError(f"memory.categories: unknown category '{unknown[0]}'")
        arrays = {name: np.asarray(values, np.int64) for name, values in self.categories.items()}
        total = np.sum(list(arrays.values()), axis=0)
        if total.size and np.any(total != total[0]):
            tile = int(np.flatnonzero(total != total[0])[0])
            raise ResultError(
                f"memory.per_tile_total: tile {tile} accounts for {total[tile]} bytes, tile 0 for {total[0]}"
            )
        used = sum(
            (values for name, values in arrays.items() if name not in ("free", "unusable")),
            np.zeros(1, np.int64),
        )
        fullest = int(np.argmax(used))
        return {
            "max_tile_bytes": int(np.max(used, initial=0)),
            "max_tile": fullest,
            "max_tile_categories": {
                name: int(arrays[name][fullest]) if name in arrays and arrays[name].size else 0
                for name in MEMORY_CATEGORIES
            },
            "per_tile_total": int(total[0]) if total.size else 0,
            "categories": {
                name: {"max": int(arrays[name].max(initial=0)), "mean": float(arrays[name].mean())}
                if name in arrays and arrays[name].size
                else {"max": 0, "mean": 0.0}
                for name in MEMORY_CATEGORIES
            },
        }


@dataclass(frozen=True)
class Exchange:
    """
    What the fabric does in one run.

    `scheduled_over_bound` compares the schedules' cycles with their lower bounds, `estimate_over_scheduled`
    what planning estimated with what was scheduled; None where there is nothing to compare.
    """

    phases: int
    transfers: int
    row_bytes_max: int
    row_bytes_mean: float
    scheduled_over_bound: float | None = None
    estimate_over_scheduled: float | None = None


@dataclass(frozen=True)
class Origin:
    """
    What made the record: version of tilewright, commit of its sources ("+" behind it where they were changed;
    None where they are no checkout), digest of the machine's contents.
    """

    tilewright: str
    commit: str | None
    machine_digest: str


@dataclass(frozen=True)
class Check:
    """One output against its expected value; figures are None where a value is not finite."""

    output: str
    max_abs_error: float | None
    cosine: float | None
    min_row_cosine: float | None
    mean_row_cosine: float | None
    passed: bool


@dataclass(frozen=True)
class Result:
    """Everything in result.json."""

    program: str
    machine: str
    tiles: int
    clock_hz: float
    precision: str | None
    cycles: Cycles
    compile: Compile
    simulate: Simulate
    memory: Memory
    exchange: Exchange
    code_bytes_max: int
    repeats: Sequence[Repeat] = ()
    checks: Sequence[Check] = ()
    task: Mapping[str, float] | None = None
    evidence: Mapping[str, int] | None = None
    """Cycles by what they rest on (`CYCLE_CLASSES`), summing to the total."""
    origin: Origin | None = None
    sections: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields of the record: `operators` and `layers` (tilewright.tools.run_report)."""

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """The validated record."""
        record: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "program": self.program,
            "machine": self.machine,
            "tiles": self.tiles,
            "clock_hz": self.clock_hz,
            "precision": self.precision,
            "cycles": {"total": self.cycles.total, **vars(self.cycles)},
            "repeats": [dict(vars(repeat)) for repeat in self.repeats],
            "compile": {**vars(self.compile), "phases": dict(self.compile.phases)},
            "simulate": dict(vars(self.simulate)),
            "memory": self.memory.to_json(),
            "exchange": dict(vars(self.exchange)),
            "code_bytes_max": self.code_bytes_max,
            "checks": [dict(vars(check)) for check in self.checks],
            "passed": self.passed,
        }
        if self.evidence is not None:
            record["evidence"] = dict(self.evidence)
        if self.origin is not None:
            record["tilewright_version"] = self.origin.tilewright
            record["commit"] = self.origin.commit
            record["machine_digest"] = self.origin.machine_digest
        if self.task is not None:
            record["task"] = dict(self.task)
        record |= {name: value for name, value in self.sections.items() if name not in record}
        record = _plain(record)
        validate(record)
        return record

    def write(self, path: Path) -> None:
        record = self.to_json()
        try:
            path.write_text(json.dumps(record, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        except OSError as error:
            raise ResultError(f"cannot write '{path}': {error.strerror or error}") from error


def compare(output: str, actual: np.ndarray, expected: np.ndarray, tolerance: Tolerance | None) -> Check:
    """
    The check of one output over all its runs; rows are along the last axis.

    Without a tolerance it passes when every value is finite where the expected one is. Two zero rows have
    cosine 1.
    """
    if actual.shape != expected.shape:
        raise ResultError(
            f"output '{output}' has shape {list(actual.shape)}, expected {list(expected.shape)}"
        )
    if actual.size == 0:
        return Check(output, 0.0, 1.0, 1.0, 1.0, True)
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        # equal infinities differ by nothing
        error = float(np.max(np.where(a == b, 0.0, np.abs(a - b))))
        whole = float(_cosine(a.reshape(1, -1), b.reshape(1, -1))[0])
        rows = _cosine(
            a.reshape(-1, a.shape[-1] if a.ndim else 1), b.reshape(-1, b.shape[-1] if b.ndim else 1)
        )
        worst, mean = float(np.min(rows)), float(np.mean(rows))
    limits = tolerance or Tolerance()
    comparisons = (
        limits.max_abs_error is None or error <= limits.max_abs_error,
        limits.cosine is None or whole >= limits.cosine,
        limits.min_row_cosine is None or worst >= limits.min_row_cosine,
        bool(np.all(np.isfinite(a) | (a == b) | (np.isnan(a) & np.isnan(b)))),
    )
    figures = [value if math.isfinite(value) else None for value in (error, whole, worst, mean)]
    return Check(output, *figures, passed=all(comparisons))


def _cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of each pair of rows (rows, values) -> (rows,)."""
    norms = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    both_zero = ~a.any(-1) & ~b.any(-1)
    return np.where(both_zero, 1.0, np.einsum("rv,rv->r", a, b) / np.where(norms == 0, 1.0, norms))


def _plain(value: Any) -> Any:
    """numpy scalars as Python's."""
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return value.item() if isinstance(value, np.generic) else value


# ------------------------------------------------------------------------------------------- validation


def read(path: Path) -> dict[str, Any]:
    """A validated record from a file."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultError(f"cannot read '{path}': {error.strerror or error}") from error
    except ValueError as error:
        raise ResultError(f"'{path}' is not JSON: {error}") from error
    validate(record)
    return record


@dataclass(frozen=True)
class _Node:
    """A value of the record and its path."""

    value: Any
    path: str

    def fail(self, what: str) -> ResultError:
        return ResultError(f"{self.path or 'result'}: {what}")

    def __getitem__(self, key: str) -> _Node:
        if not isinstance(self.value, dict):
            raise self.fail(f"must be an object, it is {_kind(self.value)}")
        path = f"{self.path}.{key}" if self.path else key
        if key not in self.value:
            raise ResultError(f"{path}: is missing")
        return _Node(self.value[key], path)

    def members(self) -> list[tuple[str, _Node]]:
        if not isinstance(self.value, dict):
            raise self.fail(f"must be an object, it is {_kind(self.value)}")
        return [(key, self[key]) for key in self.value]

    def items(self) -> list[_Node]:
        if not isinstance(self.value, list):
            raise self.fail(f"must be a list, it is {_kind(self.value)}")
        return [_Node(member, f"{self.path}[{number}]") for number, member in enumerate(self.value)]

    def text(self, nullable: bool = False) -> None:
        if not (isinstance(self.value, str) or (nullable and self.value is None)):
            raise self.fail(f"must be text{' or null' if nullable else ''}, it is {_kind(self.value)}")

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.fail(f"must be true or false, it is {_kind(self.value)}")
        return self.value

    def whole(self, least: int = 0) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.fail(f"must be a whole number, it is {_kind(self.value)}")
        if self.value < least:
            raise self.fail(f"must be at least {least}, it is {self.value}")
        return self.value

    def number(self, low: float = 0.0, high: float = math.inf, nullable: bool = False) -> float | None:
        if nullable and self.value is None:
            return None
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            raise self.fail(f"must be a number{' or null' if nullable else ''}, it is {_kind(self.value)}")
        if not math.isfinite(self.value):
            raise self.fail(f"must be finite, it is {self.value}")
        if not low <= self.value <= high:
            span = f"between {low:g} and {high:g}" if high < math.inf else f"at least {low:g}"
            raise self.fail(f"must be {span}, it is {self.value}")
        return float(self.value)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def validate(record: Mapping[str, Any]) -> None:
    """Raises `ResultError` with the path of the first field that is wrong."""
    root = _Node(record, "")
    root["format"].text()
    if record["format"] != FORMAT:
        raise root["format"].fail(f'must be "{FORMAT}", it is "{record["format"]}"')
    version = root["version"].whole(1)
    if version > VERSION:
        raise root["version"].fail(f"is {version}, this tilewright reads up to version {VERSION}")
    root["program"].text()
    root["machine"].text()
    root["tiles"].whole(1)
    root["clock_hz"].number()
    root["precision"].text(nullable=True)
    _cycles(root["cycles"])
    if "evidence" in record:
        _evidence(root["evidence"], record["cycles"]["total"])
    if "commit" in record:
        root["tilewright_version"].text()
        root["commit"].text(nullable=True)
        root["machine_digest"].text()
    for repeat in root["repeats"].items():
        repeat["name"].text()
        count = repeat["count"].whole()
        repeat["first"].whole()
        mean = repeat["per_iteration"].number(nullable=True)
        if (mean is None) != (count <= 1):
            raise repeat["per_iteration"].fail(
                f"must be {'null' if count <= 1 else 'a number'} when count is {count}"
            )
    compile_ = root["compile"]
    compile_["seconds"].number()
    compile_["peak_rss_bytes"].whole()
    for _, seconds in compile_["phases"].members():
        seconds.number()
    root["simulate"]["seconds"].number()
    root["simulate"]["peak_rss_bytes"].whole()
    _memory(root["memory"])
    exchange = root["exchange"]
    for name in ("phases", "transfers", "row_bytes_max"):
        exchange[name].whole()
    exchange["row_bytes_mean"].number(high=exchange["row_bytes_max"].value)
    exchange["scheduled_over_bound"].number(nullable=True)
    exchange["estimate_over_scheduled"].number(nullable=True)
    root["code_bytes_max"].whole()
    passed = True
    for check in root["checks"].items():
        check["output"].text()
        check["max_abs_error"].number(nullable=True)
        for name in ("cosine", "min_row_cosine", "mean_row_cosine"):
            check[name].number(-1.000001, 1.000001, nullable=True)  # a cosine in f64 is not exactly within 1
        passed &= check["passed"].flag()
    if root["passed"].flag() != passed:
        raise root["passed"].fail("must say whether every check passed")
    if "task" in record:
        task = root["task"]
        task["accuracy"].number(high=1.0)
        task["agreement"].number(high=1.0)
        task["logits_rel_rms"].number(nullable=True)


def _cycles(cycles: _Node) -> None:
    parts = {name: cycles[name].whole() for name in ("compute", "exchange", "copy", "sync")}
    total = cycles["total"].whole()
    if total != sum(parts.values()):
        raise cycles["total"].fail(f"is {total}, the parts sum to {sum(parts.values())}")
    cycles["assumed_share"].number(high=1.0)


def _evidence(evidence: _Node, total: int) -> None:
    found = sum(evidence[name].whole() for name in CYCLE_CLASSES)
    for name, part in evidence.members():
        if name not in CYCLE_CLASSES:
            raise part.fail(f"is not a class of evidence; known: {', '.join(CYCLE_CLASSES)}")
    if found != total:
        raise evidence.fail(f"the classes sum to {found} cycles, the total is {total}")


def _memory(memory: _Node) -> None:
    total = memory["per_tile_total"].whole()
    if memory["max_tile_bytes"].whole() > total:
        raise memory["max_tile_bytes"].fail(
            f"is more than a tile has: {memory['max_tile_bytes'].value} > {total}"
        )
    means = 0.0
    for name, category in memory["categories"].members():
        if name not in MEMORY_CATEGORIES:
            raise category.fail(f"is not a category; known: {', '.join(MEMORY_CATEGORIES)}")
        largest = category["max"].whole()
        mean = category["mean"].number(high=largest)
        means += mean or 0.0
    for name in MEMORY_CATEGORIES:
        memory["categories"][name]  # each is there
    if not math.isclose(means, total, rel_tol=1e-9, abs_tol=0.5):
        raise memory["categories"].fail(f"the means sum to {means:g} bytes, a tile has {total}")
