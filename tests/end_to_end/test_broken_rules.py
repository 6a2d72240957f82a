# SPDX-License-Identifier: Apache-2.0
"""Rules of docs/spec/tensor.md broken in the machine model: the programs of `meaning` see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from meaning import BY_NAME
from meaning.machine import machine_output

from tilewright.machine.numerics import operations as numerics
from tilewright.machine.numerics import pointwise, rounding
from tilewright.sim import kernels


def without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda scalars: {key: value for key, value in scalars.items() if key not in names}


def scalars_changed(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Any], Any]:
    """A kernel that is told something else."""
    return lambda run: lambda ins, outs, scalars, extents: run(ins, outs, change(dict(scalars)), extents)


def results_changed(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Any], Any]:
    """A kernel whose results are changed."""
    return lambda run: lambda *args: [change(array) for array in run(*args)]


def in_f16(array: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return array.astype(np.float16).astype(array.dtype)


def in_f32(run: Any) -> Any:
    """Products with the sum of another type."""
    return kernels._gemm("f32", 16)


unsaturated = scalars_changed(lambda scalars: {**scalars, "saturate": 0})
saturated = scalars_changed(without("saturate"))


def row_mutation(number: int) -> Callable[[Any], Any]:
    return scalars_changed(lambda scalars: {**scalars, "empty_rows": number})


BANDS = ("band.max", "band.min", "band.exp", "band.part", "band.raise")

BROKEN: tuple[tuple[str, dict[str, Callable[[Any], Any]], tuple[str, ...]], ...] = (
    (
        "reductions do not saturate",
        dict.fromkeys(("reduce.sum", "reduce.max", "reduce.min", "reduce.prod"), unsaturated),
        (
            "sums of rows saturate",
            "products of rows saturate, beyond f32 too",
            "means saturate",
            "maxima saturate",
            "minima saturate",
        ),
    ),
    (
        "norms do not saturate",
        dict.fromkeys(("layer_norm", "rms_norm", "norm.merge_apply"), unsaturated),
        ("norms saturate", "norms of f16 saturate", "norms of split rows saturate", "rms_norm saturates"),
    ),
    ("casts of products do not saturate", {"cast": unsaturated}, ("products saturate",)),
    (
        "sums, exponentials, quotients and attention do not saturate",
        dict.fromkeys(
            ("pointwise.add", "pointwise.exp", "pointwise.div", "softmax.merge", "softmax.merge_columns"),
            unsaturated,
        ),
        (
            "a sum in 8 bits saturates before its gelu",
            "exponentials of finite numbers saturate",
            "quotients saturate",
            "attention saturates",
        ),
    ),
    (
        "`saturate = false` is forgotten",
        dict.fromkeys(
            ("reduce.sum", "layer_norm", "cast", "softmax.merge", "softmax.merge_columns"), saturated
        ),
        (
            "rows that are told not to saturate",
            "norms that are told not to saturate",
            "products that are told not to saturate",
            "attention that is told not to saturate",
        ),
    ),
    (
        "products add up in f16",
        {"gemm.f16.f32": results_changed(in_f16)},
        (
            "f16 products far from zero",
            "attention of f16 adds up in f32",
            "outputs of attention of f16 add up in f32",
            "FP8 attention adds up in f32 when told",
        ),
    ),
    (
        "what is told to add up in f16 adds up in f32",
        {name: in_f32 for name in ("gemm.f8", "gemm.f16.f16")},
        ("what f16 products told to add up in f16 lose", "FP8 products add up in f16"),
    ),
    (
        "casts round",
        {"cast": scalars_changed(without("truncate"))},
        ("floats toward zero", "the low bits of what is beyond"),
    ),
    (
        "casts truncate",
        {"cast": scalars_changed(lambda s: {**s, "truncate": 1})},
        ("floats to the nearest integer",),
    ),
    (
        "rows outside give zeros",
        {"gather_rows": scalars_changed(without("rows"))},
        ("rows outside are clamped", "rows outside of a table on several tiles"),
    ),
    (
        "rows outside are clamped",
        {"gather_rows": scalars_changed(lambda s: {**s, "rows": 3})},
        ("rows outside are zero", "columns outside are zero"),
    ),
    (
        "masked rows of attention are NaN",
        dict.fromkeys(("softmax.part", "softmax.raise", "softmax.merge_columns"), row_mutation(2)),
        (
            "attention of no key gives zeros",
            "attention of no key: the mean",
            "a mask that a negative scale makes one",
        ),
    ),
    (
        "heads that share keys stand one behind another",
        dict.fromkeys(BANDS, scalars_changed(lambda scalars: {**scalars, "rows": 1 << 20})),
        ("a query of each head that shares keys stands at its own place",),
    ),
    (
        "windows are one wider",
        dict.fromkeys(
            BANDS,
            scalars_changed(lambda scalars: {**scalars, "before": int(scalars["before"]) + 1}),
        ),
        ("a window behind a causal query, with a negative scale",),
    ),
    (
        "masked rows of attention are zero",
        dict.fromkeys(("softmax.part", "softmax.raise", "softmax.merge_columns"), row_mutation(0)),
        ("attention of no key: NaN", "attention of no key: the mean"),
    ),
    (
        "masked rows of softmax are NaN",
        {"softmax": row_mutation(2)},
        ("softmax of a masked row: zero", "softmax of a masked row: uniform"),
    ),
    ("masked rows of softmax are zero", {"softmax": row_mutation(0)}, ("softmax of a masked row",)),
)


@pytest.mark.parametrize(
    ("mutation", "programs"), [entry[1:] for entry in BROKEN], ids=[entry[0] for entry in BROKEN]
)
def test_a_broken_rule_is_seen(
    mutation: dict[str, Callable[[Any], Any]], programs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for kernel, change in mutation.items():
        monkeypatch.setitem(kernels.SEMANTICS, kernel, change(kernels.SEMANTICS[kernel]))
    for name in programs:
        assert BY_NAME[name].wrong(machine_output(BY_NAME[name])) is not None, f"{name}: nothing shows"


def divides_to_zero(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(y == 0, 0, pointwise.INTEGERS["sub"](x, x))


ARITHMETIC: tuple[tuple[str, Any, str, Any, tuple[str, ...]], ...] = (
    ("integer division by zero", pointwise.INTEGERS, "div", divides_to_zero, ("integer division by zero",)),
    (
        "an exponential that overflows",
        pointwise.FLOATS,
        "exp",
        np.exp,
        ("exponentials of finite numbers saturate",),
    ),
    ("squares that never overflow", numerics, "_squares", np.square, ("one square beyond f32",)),
    (
        "a maximum with numpy's zeros",
        pointwise.FLOATS,
        "max",
        lambda x, y: np.where(x >= y, x, y),
        ("the sign of a maximum of zeros",),
    ),
    (
        "a largest zero",
        numerics,
        "_max_rows",
        lambda x: x.max(axis=-1) * 1.0 - 0.0 if x.size else x,
        ("the sign of the least zero", "the sign of the largest zero"),
    ),
    ("rounding through f16", rounding, "round_to_grid", None, ("f16 sums in f8E5M2 are rounded once",)),
)


@pytest.mark.parametrize("broken", ARITHMETIC, ids=[entry[0] for entry in ARITHMETIC])
def test_broken_arithmetic_is_seen(broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, owner, name, change, programs = broken
    if change is None:
        original = getattr(owner, name)
        change = lambda x, *rest: original(in_f16(x), *rest)  # noqa: E731
    if isinstance(owner, dict):
        monkeypatch.setitem(owner, name, change)
    else:
        monkeypatch.setattr(owner, name, change)
    problems = [BY_NAME[name].wrong(machine_output(BY_NAME[name])) for name in programs]
    assert any(problem is not None for problem in problems)


def test_a_negative_scale_needs_the_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    true = numerics.reduce_rows
    monkeypatch.setattr(
        numerics, "reduce_rows", lambda kind, *rest: true("max" if kind == "min" else kind, *rest)
    )
    case = BY_NAME["attention with a negative scale"]
    assert case.wrong(machine_output(case)) is not None
