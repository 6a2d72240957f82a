# SPDX-License-Identifier: Apache-2.0
"""
Predicted against published cycles: the registry's formulas on every point of `measurements.json`.

The file holds figures that others published from a real C600, each with its source. A point marked `fit` may
shape a formula, a point marked `check` may not; the marks are the file's, not ours. A published formula
stands for its points: it is compared at sample extents and counted apart, as agreement there is agreement
with a fit and not with a clock; so is a point that was published together with the formula used here. Points
of superseded versions of a kernel are shown and not scored.
"""

from __future__ import annotations

import functools
import json
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.machine.description import Machine, MachineError
from tilewright.machine.files import load
from tilewright.machine.kernels import Kernel, kernel, kernel_names
from tilewright.machine.kernels.formulas import Scalars

FILE = Path(__file__).parent / "measurements.json"
MEASURED_ON = "c600"
"""The machine whose figures the file holds."""
USES = ("fit", "check", "formula", "scaling")
WORST_CHECK = 0.10
"""Largest relative error allowed on a held-out point."""
WORST_MEDIAN = 0.03
"""Largest median relative error allowed over the fitted and held-out points."""


@dataclass(frozen=True)
class Point:
    """
    One published figure and what the registry says to it; cycles of one call on one tile.

    `use`: "fit", "check" (held out), "formula" (a published formula, or a point published with it) or
    "scaling" (an earlier version of the kernel). Only the first two are scored.
    """

    kernel: str
    what: str
    extents: tuple[int, ...]
    measured: int
    predicted: int
    use: str
    source: str
    dtypes: tuple[str, ...] = ()
    form: str = ""

    @property
    def error(self) -> float:
        """Relative error, signed: positive where the prediction is too slow."""
        return self.predicted / self.measured - 1

    @property
    def scored(self) -> bool:
        return self.use in ("fit", "check")


F16, F8 = "f16", "f8E4M3FNUZ"


@dataclass(frozen=True)
class _Case:
    """How an entry of the file maps to a call: kernel, extents from the entry's fields, types, scalars."""

    kernel: str
    extents: Callable[[Mapping[str, Any]], tuple[int, ...]]
    dtypes: tuple[str, ...]
    scalars: tuple[tuple[str, int], ...] = ()


def _rows(entry: Mapping[str, Any]) -> tuple[int, ...]:
    return entry["rows"], entry.get("width", entry.get("keys_padded"))


def _flat(entry: Mapping[str, Any]) -> tuple[int, ...]:
    return (entry.get("elements") or entry["rows"] * entry["width"],)


NOT_MODELLED = "not modelled"
"""Use of a published figure of a kernel that no strategy calls for: kept, compared with nothing."""

_SOFTMAX_OLD = "softmax f16, earlier version, "
_CASES: dict[str, _Case] = {
    "add f16": _Case("pointwise.add", _flat, (F16,) * 3),
    "layer_norm f16": _Case("layer_norm", _rows, (F16,) * 4),
    "layer_norm f16, earlier version": _Case("layer_norm", _rows, (F16,) * 4),
    "norm statistics (mean, variance) f16": _Case("norm.statistics", _rows, (F16, "f32", "f32")),
    "norm apply from statistics f16": _Case("norm.apply", _rows, (F16, "f32", "f32", F16, F16, F16)),
    "softmax f16, one worker per row": _Case("softmax", _rows, (F16,) * 2, (("split", 0),)),
    "softmax f16, one row split over the workers": _Case("softmax", _rows, (F16,) * 2, (("split", 1),)),
    _SOFTMAX_OLD + "rows split over workers": _Case("softmax", _rows, (F16,) * 2),
    _SOFTMAX_OLD + "whole rows per worker": _Case("softmax", _rows, (F16,) * 2, (("split", 0),)),
    "gelu f16": _Case("pointwise.gelu_tanh", _flat, (F16,) * 2),
    "bias + gelu f16, aligned": _Case("bias_gelu", _rows, (F16,) * 3),
    "bias + gelu with f8 output": _Case("bias_gelu", _rows, (F16, F16, F8)),
    "gelu with f8 output": _Case("pointwise.gelu_tanh", _flat, (F16, F8)),
    "reduce 6 f16 partials": _Case("reduce_partials", lambda e: (6, e["elements"]), (F16,) * 2),
}


def _ceil(n: int, d: int) -> int:
    return -(-n // d)


@dataclass(frozen=True)
class _Formula:
    """A published formula, written apart from the registry's, and the extents at which they are compared."""

    case: _Case
    samples: tuple[tuple[int, ...], ...]
    published: Callable[..., int]


def _slow_gemm(name: str, operand: str, inputs: int) -> _Formula:
    case = _Case(name, _flat, (operand, operand, F16), (("weights_standard", 1),))
    samples = ((1, 146, 48, 288), (1, 57, 80, 128))
    return _Formula(
        case, samples, lambda b, m, n, k: b * 294 + _ceil(k, inputs) * _ceil(n, 16) * (4 * m + 192)
    )


_FORMULAS: dict[str, _Formula] = {
    "reduce P partials of n halves": _Formula(
        _Case("reduce_partials", _flat, (F16, F16)),
        ((4, 1152), (15, 2208)),
        lambda p, n: 282 + 6 * _ceil(n, 48) * (11 + 2 * (p - 1)),
    ),
    "cast f16 to f8, flat": _Formula(
        _Case("cast", _flat, (F16, F8)), ((576,), (2208,)), lambda n: 330 + 24 * _ceil(n, 48)
    ),
    "local copy": _Formula(_Case("copy", _flat, (F8, F8)), ((512,), (42056,)), lambda n: 288 + _ceil(n, 8)),
    "pack rows into panels of 16 columns, left operand": _Formula(
        _Case("copy", _flat, (F16, F16), (("run_bytes", 32),)), ((4608,), (46720,)), lambda n: 288 + n
    ),
    "indexed rearrangement": _Formula(
        _Case("copy", _flat, (F16, F16), (("run_bytes", 2),)), ((576,), (2208,)), lambda n: 288 + 10 * n
    ),
    "gemm f16, weights in standard memory": _slow_gemm("gemm.f16.f16", F16, 16),
    "gemm f8, weights in standard memory": _slow_gemm("gemm.f8", F8, 32),
}


def _point(case: _Case, what: str, extents: tuple[int, ...], measured: int, use: str, source: str) -> Point:
    entry, call = kernel(case.kernel), (load(MEASURED_ON), extents, case.dtypes, dict(case.scalars))
    predicted, form = int(entry.cycles(*call)[0]), str(entry.form_of(*call)[0])
    return Point(case.kernel, what, extents, measured, predicted, use, source, case.dtypes, form)


def _gemm(entry: Mapping[str, Any]) -> Point:
    name = {"f8": "gemm.f8", "f16": "gemm.f16.f16"}[entry["precision"]]
    operand = F8 if entry["precision"] == "f8" else F16
    slow = (("weights_standard", int(entry["weights"] != "interleaved")),)
    case = _Case(name, lambda e: (1, e["m"], e["n"], e["k"]), (operand, operand, F16), slow)
    what = f"{entry['precision']}, {entry['weights']} weights"
    return _point(case, what, case.extents(entry), entry["cycles"], entry["use"], entry["source"])


def _kernel_points(entry: Mapping[str, Any]) -> list[Point]:
    what, source = entry["kernel"], entry["source"]
    use = entry["use"]
    if use == NOT_MODELLED:
        return []
    if use.startswith("scaling"):
        use = "scaling"
    elif use == "check" and "formula" in entry:
        use = "formula"  # the registry uses the published formula, so this point is not held out from it
    if what in _FORMULAS:
        formula = _FORMULAS[what]
        return [
            _point(formula.case, entry["formula"], at, formula.published(*at), "formula", source)
            for at in formula.samples
        ]
    if what.startswith("patch words"):
        _, by_workers = entry["cycles"]  # the registry has no kernel of the supervisor
        case = _Case("patch_rows", _flat, ("u32", "u32"))
        return [_point(case, "patch words, six workers", (entry["words"],), by_workers, use, source)]
    case = _CASES.get(what)
    if case is None:
        raise MachineError(f"no kernel is known for the measurement {what!r}", location=str(FILE))
    return [_point(case, what, case.extents(entry), entry["cycles"], use, source)]


def points(file: Path = FILE) -> list[Point]:
    """
    All published kernel figures with their predictions, in the order of the file.

    Raises MachineError where the file holds a kernel that the registry cannot be asked about.
    """
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MachineError(f"cannot read measurements: {error}", location=str(file)) from error
    found = [_gemm(entry) for entry in data["gemm_tile_cycles"]]
    for entry in data["kernel_cycles"]:
        found += _kernel_points(entry)
    return found


EVIDENCE = ("measured_held_out", "measured", "derived", "assumed")
"""What the cycles of a call rest on, best first: `evidence`."""
CYCLE_CLASSES = (*EVIDENCE, "exchange", "sync")
"""What cycles of a run rest on: the evidence behind a kernel's cost, or the model of the fabric."""
_ANY_TYPE = frozenset({("copy", "one run"), ("patch_rows", "")})
"""Kernels and forms whose cost is published by the byte or the word, whatever is in it."""


@functools.cache
def _published() -> dict[tuple[str, tuple[str, ...], str], bool]:
    """Kernel, types and form of all published figures -> whether one of them is held out."""
    found: dict[tuple[str, tuple[str, ...], str], bool] = {}
    for point in points():
        if point.use != "scaling":
            key = _covered(point.kernel, point.dtypes, point.form)
            found[key] = found.get(key, False) or point.use == "check"
    return found


def _covered(name: str, dtypes: tuple[str, ...], form: str) -> tuple[str, tuple[str, ...], str]:
    if (name, form) in _ANY_TYPE:
        return name, (), form
    return name, tuple("f8" if d.startswith("f8") else d for d in dtypes), form


def evidence(
    entry: Kernel,
    machine: Machine,
    extents: npt.ArrayLike,
    dtypes: tuple[str, ...],
    scalars: Scalars | None = None,
) -> np.ndarray:
    """
    What the cycles of each call rest on: index into `EVIDENCE`, int64 (calls,). Arguments as for
    `Kernel.itemise`.

    Measured is what the published figures cover: this kernel, on these element types, in the form that the
    call uses, on a tile like the one measured. Everything else that a measured kernel does is derived.
    """
    forms = entry.form_of(machine, extents, dtypes, scalars)
    if entry.evidence == "assumed" or ("bf16" in dtypes and entry.name != "copy"):
        return np.full(len(forms), EVIDENCE.index("assumed"))
    if entry.evidence != "measured" or not _same_tile(machine):
        return np.full(len(forms), EVIDENCE.index("derived"))
    published = _published()
    kind = {form: published.get(_covered(entry.name, dtypes, form)) for form in dict.fromkeys(forms.tolist())}
    rank = {True: 0, False: 1, None: EVIDENCE.index("derived")}
    return np.array([rank[kind[form]] for form in forms.tolist()], dtype=np.int64)


@functools.cache
def _same_tile(machine: Machine) -> bool:
    """Whether the machine has the workers and the loads of the one that was measured."""
    measured = load(MEASURED_ON)
    loads = [{r.name: r.load_bytes for r in m.regions} for m in (machine, measured)]
    return machine.workers == measured.workers and loads[0] == loads[1]


@dataclass(frozen=True)
class Summary:
    """
    How good the formulas are. Errors are relative and unsigned.

    `median_error` is over fitted and held-out points, `median_check_error` over held-out points alone.
    `only_fit` names kernels whose figures all shaped the formula (published formulas included), `derived` and
    `assumed` those without a figure of their own.
    """

    median_error: float
    median_check_error: float
    worst_check_error: float
    checks: int
    fits: int
    only_fit: tuple[str, ...]
    held_out: tuple[str, ...]
    derived: tuple[str, ...]
    assumed: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return (
            self.median_error < WORST_MEDIAN
            and self.median_check_error < WORST_MEDIAN
            and self.worst_check_error <= WORST_CHECK
        )


def summarise(found: list[Point]) -> Summary:
    """The figures that the test and the tool hold the registry to."""
    errors = [abs(p.error) for p in found if p.scored]
    checks = [abs(p.error) for p in found if p.use == "check"]
    with_figure = {p.kernel for p in found if p.use != "scaling"}
    with_check = {p.kernel for p in found if p.use == "check"}
    silent = [name for name in kernel_names() if name not in with_figure]
    return Summary(
        median_error=statistics.median(errors),
        median_check_error=statistics.median(checks),
        worst_check_error=max(checks),
        checks=len(checks),
        fits=len(errors) - len(checks),
        only_fit=tuple(n for n in kernel_names() if n in with_figure and n not in with_check),
        held_out=tuple(n for n in kernel_names() if n in with_check),
        derived=tuple(n for n in silent if kernel(n).evidence != "assumed"),
        assumed=tuple(n for n in silent if kernel(n).evidence == "assumed"),
    )
