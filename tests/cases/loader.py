# SPDX-License-Identifier: Apache-2.0
"""
Small programs made from public bug reports of other tensor compilers, with inputs and expected results.

A record of `tests/data/reported_cases.jsonl` holds the values; the program beside this file, named after the
record, holds the same computation in `tile_tensor`. `name.fused.mlir` is a second program for the record,
written with the named operation (softmax, layer_norm) in place of its parts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.machine.dtypes import numpy_dtype

FOLDER = Path(__file__).parent
RECORDS = FOLDER.parent / "data" / "reported_cases.jsonl"

NOT_TRANSCRIBED: Mapping[str, str] = {
    "iree-org/iree#9297": "pad with interior padding of a tensor without rows",
    "openxla/stablehlo interpret/scatter.mlir": "dynamic_update_slice",
    "tenstorrent/tt-mlir#7360": "a matrix product without rows",
}
"""Records that have no program here, and what they need."""


@dataclass(frozen=True)
class Check:
    """What one output must be: `eq` by value, `almost_eq` within a difference, `close` within ULPs."""

    kind: str
    output: str
    expected: np.ndarray
    tolerance: float

    def failure(self, found: np.ndarray) -> str | None:
        """What is wrong with `found`, or None. NaN equals NaN, 0 equals -0."""
        if found.shape != self.expected.shape:
            return f"{self.output}: shape {found.shape}, expected {self.expected.shape}"
        if found.dtype != self.expected.dtype:
            return f"{self.output}: type {found.dtype}, expected {self.expected.dtype}"
        wanted, got = self.expected.astype(np.float64), found.astype(np.float64)
        same = (wanted == got) | (np.isnan(wanted) & np.isnan(got))
        if self.kind == "close":
            good = same | (_ulps(self.expected, found) <= self.tolerance)
        else:
            with np.errstate(invalid="ignore"):
                good = same | (np.abs(wanted - got) <= (0.0 if self.kind == "eq" else self.tolerance))
        if good.all():
            return None
        first = tuple(int(i) for i in np.argwhere(~good)[0]) if good.ndim else ()
        return (
            f"{self.output}: {np.count_nonzero(~good)} of {good.size} elements differ "
            f"({self.kind}, tolerance {self.tolerance}); "
            f"at {list(first)} found {got[first]}, expected {wanted[first]}"
        )


@dataclass(frozen=True)
class Case:
    """One program with its values; `poison` is what padding and unused memory may hold."""

    name: str
    record: str
    path: Path
    inputs: Mapping[str, np.ndarray]
    checks: tuple[Check, ...]
    poison: float | None
    symptom: str

    @property
    def text(self) -> str:
        """The program."""
        return self.path.read_text()


def slug(record: str) -> str:
    """The file name for the id of a record."""
    return re.sub(r"[^a-z0-9]+", "-", record.lower()).strip("-")


def records() -> list[dict[str, Any]]:
    """All records, also those without a program."""
    return [json.loads(line) for line in RECORDS.read_text().splitlines()]


def cases() -> list[Case]:
    """Every program with its values, in the order of the records."""
    return [
        _case(record, path)
        for record in records()
        if record["id"] not in NOT_TRANSCRIBED
        for suffix in ("", ".fused")
        if (path := FOLDER / f"{slug(record['id'])}{suffix}.mlir").exists() or not suffix
    ]


def _case(record: dict[str, Any], path: Path) -> Case:
    poison = record.get("poison")
    return Case(
        name=path.stem,
        record=record["id"],
        path=path,
        inputs={f"arg{number}": _array(value) for number, value in enumerate(record["inputs"])},
        checks=tuple(
            Check(
                check["kind"],
                f"out{check['result']}",
                _array(check["expected"]),
                float(check.get("tolerance", 0.0)),
            )
            for check in record["checks"]
        ),
        poison=None if poison is None else float(poison),
        symptom=record["symptom"],
    )


def _array(value: dict[str, Any]) -> np.ndarray:
    flat = np.frombuffer(bytes.fromhex(value["hex"]), numpy_dtype(value["dtype"]))
    return flat.reshape(value["shape"])


def _ulps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Distance in representable values, for floats of one type."""
    signed = np.dtype(f"i{a.dtype.itemsize}")
    lowest = int(np.iinfo(signed).min)
    ordered = []
    for array in (a, b):
        bits = array.view(signed).astype(np.int64)
        ordered.append(np.where(bits < 0, lowest - bits, bits))
    return np.abs(ordered[0] - ordered[1])
