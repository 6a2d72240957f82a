# SPDX-License-Identifier: Apache-2.0
"""
`tile-run --cases FILE.jsonl`: small programs with their inputs and results, one JSON record a line.

A record has `id`; the program as text of StableHLO (`args_mlir`, or `generic`); `inputs`, and `checks`, each
with `kind` (`eq` or `almost_eq` within `tolerance`, absolute), `result` (its number) and `expected`. Tensors
are `shape`, `dtype` (MLIR's name) and `hex`, the little-endian bytes. `poison` fills unwritten memory. A
record is right, unsupported (the import or the compiler refuses it, and says why) or wrong; that fails.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from tilewright.diagnostics import TileError
from tilewright.json_text import read_json
from tilewright.suggestions import near

FORMAT = "tilewright-cases"
VERSION = 1
TEXTS = ("args_mlir", "generic")
KINDS = ("eq", "almost_eq")


class CasesError(TileError):
    """A file of cases that cannot be read."""


@dataclass
class Verdict:
    """What became of one record."""

    id: str
    status: str
    """`right`, `unsupported` or `wrong`."""
    reason: str = ""
    cycles: int | None = None
    max_abs_error: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if value not in ("", None)}


@dataclass
class Verdicts:
    """All records of a file."""

    machine: str
    records: list[Verdict] = field(default_factory=list[Verdict])

    def count(self, status: str) -> int:
        return sum(1 for record in self.records if record.status == status)

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "machine": self.machine,
            "counts": {status: self.count(status) for status in ("right", "unsupported", "wrong")},
            "records": [record.to_json() for record in self.records],
        }


def read_cases(path: Path) -> list[dict[str, Any]]:
    """The records of a file. Raises `CasesError` with the line that is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CasesError(f"cannot read the cases '{path}': {error}") from None
    records: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}:1"
        try:
            record = read_json(line)
        except ValueError as error:
            raise CasesError(f"a case is no JSON: {error}", location=place) from None
        if not isinstance(record, dict):
            raise CasesError("a case is a JSON object", location=place)
        if not any(isinstance(record.get(key), str) for key in TEXTS):
            raise CasesError(f"a case has its program as {' or '.join(TEXTS)}", location=place)
        for key in ("inputs", "checks"):
            if not isinstance(record.get(key), list):
                raise CasesError(f"a case has a list of {key}", location=place)
        for check in record["checks"]:
            kind = check.get("kind") if isinstance(check, dict) else None
            if kind not in KINDS:
                raise CasesError(
                    f"a check of kind {kind!r} is not known", location=place, hint=near(str(kind), KINDS)
                )
        record["place"] = place
        records.append(record)
    if not records:
        raise CasesError(f"'{path}' holds no cases")
    return records


def array_of_record(entry: Mapping[str, Any], place: str) -> np.ndarray:
    """A tensor of a record. Raises `CasesError`."""
    from tilewright.dialects.hlo.values import dtype_of, element_type

    try:
        dtype = dtype_of(element_type(str(entry["dtype"])))
        shape = [int(extent) for extent in entry["shape"]]
        data = bytes.fromhex(str(entry["hex"]))
        return np.frombuffer(data, dtype).reshape(shape)
    except (KeyError, TypeError, ValueError, TileError) as error:
        raise CasesError(f"a tensor of a case is malformed: {error}", location=place) from None


def run_cases(path: Path, machine: str) -> Verdicts:
    """Run all records of a file on a machine. Raises `CasesError` for a file that cannot be read."""
    verdicts = Verdicts(machine)
    for number, record in enumerate(read_cases(path)):
        name = str(record.get("id", number))
        place = record["place"]
        inputs = [array_of_record(entry, place) for entry in record["inputs"]]
        expected = [array_of_record(check.get("expected") or {}, place) for check in record["checks"]]
        verdicts.records.append(_run(name, record, inputs, expected, machine))
    return verdicts


def _run(
    name: str,
    record: Mapping[str, Any],
    inputs: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    machine: str,
) -> Verdict:
    from tilewright.backends.image import to_image
    from tilewright.dialects.tile_asm import module_to_program
    from tilewright.frontends import importing
    from tilewright.frontends.stablehlo import read_stablehlo
    from tilewright.machine import load
    from tilewright.passes import pipeline
    from tilewright.sim.executor import Executor

    text = next(record[key] for key in TEXTS if isinstance(record.get(key), str))
    try:
        model = read_stablehlo(text, name)
        names = [name for _, name in importing.argument_names(model.function)]
        imported = importing.import_model(model)
        outputs = importing.output_names(imported.function)
        pipeline.compile(imported.module, machine=machine, context=Context())
        program = module_to_program(imported.module)
        poison = record.get("poison")
        executor = Executor(
            to_image(program), load(program.machine), None if poison is None else float(poison)
        )
        executor.load(imported.parameters)
    except (TileError, ParseError, DiagnosticException, VerifyException) as error:
        reason = getattr(error, "message", str(error).strip().splitlines()[-1])
        notes = [*getattr(error, "notes", ())][:1]
        return Verdict(name, "unsupported", ": ".join([reason, *notes]))
    if len(names) != len(inputs):
        return Verdict(name, "wrong", f"the program takes {len(names)} arguments, the case has {len(inputs)}")
    result = executor.run(dict(zip(names, inputs, strict=True)))
    found = [result.outputs[output] for output in outputs]
    worst = 0.0
    for check, wanted in zip(record["checks"], expected, strict=True):
        number = int(check.get("result", 0))
        if not 0 <= number < len(found):
            return Verdict(name, "wrong", f"there is no result {number}")
        reason, error = _compare(found[number], wanted, float(check.get("tolerance", 0.0)))
        worst = max(worst, error)
        if reason:
            return Verdict(name, "wrong", f"result {number}: {reason}", max_abs_error=worst)
    return Verdict(name, "right", cycles=int(result.cycles["total"]), max_abs_error=worst)


def _compare(found: np.ndarray, wanted: np.ndarray, tolerance: float) -> tuple[str, float]:
    """Why a result is not what it should be (nothing if it is), and the largest error."""
    if found.shape != wanted.shape:
        return f"has shape {list(found.shape)}, not {list(wanted.shape)}", 0.0
    if not found.size:
        return "", 0.0
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(invalid="ignore"):
        error = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    bad = ~(error <= tolerance)
    if not bad.any():
        return "", float(error.max())
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    largest = float(np.nan_to_num(error, nan=np.inf).max())
    return f"{int(bad.sum())} of {bad.size} elements differ, first {a[at]} for {b[at]} at {list(at)}", largest


def report(verdicts: Verdicts, path: Path | None) -> int:
    """Print what is not right and the counts, write the JSON; the exit status."""
    for record in verdicts.records:
        if record.status != "right":
            print(f"{record.id}: {record.status}: {record.reason}")
    counts = ", ".join(f"{verdicts.count(status)} {status}" for status in ("right", "unsupported", "wrong"))
    print(f"{len(verdicts.records)} cases on {verdicts.machine}: {counts}")
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(verdicts.to_json(), indent=1) + "\n", encoding="utf-8")
    return 1 if verdicts.count("wrong") else 0


__all__ = ["CasesError", "Verdict", "Verdicts", "array_of_record", "read_cases", "report", "run_cases"]
