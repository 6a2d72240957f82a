# SPDX-License-Identifier: Apache-2.0
"""The kernel registry: completeness, rules, and the laws every cycle formula keeps."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.diagnostics import TileError
from tilewright.machine import load
from tilewright.machine.kernels import UnknownKernel, kernel, kernel_names
from tilewright.machine.kernels.measurements import EVIDENCE, evidence
from tilewright.machine.numerics.pointwise import TABLE
from tilewright.sim.kernels import SEMANTICS

C600 = load("c600")
GEMMS = ("gemm.f8", "gemm.f16.f16", "gemm.f16.f32", "gemm.f32", "gemm.bf16", "gemm.i8")
F8 = "f8E4M3FNUZ"


def _rank(name: str) -> int:
    axes = kernel(name).axes
    return len(axes) + axes.count("...")


def _types(name: str, dtype: str = "f16") -> tuple[str, ...]:
    entry = kernel(name)
    return (dtype,) * (len(entry.ins) + len(entry.outs))


def test_the_registry_is_complete():
    expected = [
        *GEMMS,
        *(facts.kernel for facts in TABLE),
        *"cast copy widen narrow fill reduce_partials reduce.sum reduce.max reduce.min reduce.prod".split(),
        *"layer_norm rms_norm softmax softmax.exp patch_rows bias_gelu norm.statistics norm.apply".split(),
    ]
    assert not [name for name in expected if name not in kernel_names()]


def test_every_kernel_has_semantics():
    silent = [name for name in kernel_names() if name not in SEMANTICS]
    assert silent == ["patch_rows"]  # the executor patches rows itself


@pytest.mark.parametrize("name", kernel_names())
def test_rules_are_well_formed(name: str):
    entry = kernel(name)
    assert entry.evidence in ("measured", "derived", "assumed")
    assert len(entry.source) > 5 and entry.code_bytes > 0 and entry.code_bytes % 8 == 0
    operands = (*entry.ins, *entry.outs)
    assert entry.outs and len({rule.name for rule in operands}) >= len(operands) - 2  # merge keeps its names
    for first, second in entry.separate:
        assert 0 <= first < second < len(operands)
    assert not entry.granule or len(entry.granule) == len(entry.axes)
    for rule in operands:
        assert rule.memory in ("any", "standard", "interleaved") and rule.tail >= 0
        assert rule.alignment & (rule.alignment - 1) == 0
        assert all(axis in entry.axes or axis == "..." for axis in rule.axes)
        assert all(digit.axis in rule.axes for digit in rule.digits())
    hash(entry)


def test_gemm_rules():
    for name, inputs in zip(GEMMS, (32, 16, 16, 8, 16, 32), strict=True):
        entry = kernel(name)
        assert entry.granule == (1, 1, 16, inputs)
        assert entry.padded(np.array([2, 5, 17, 33])).tolist() == [2, 5, 32, -(-33 // inputs) * inputs]
        a, w = entry.ins
        assert [(d.axis, d.kind, d.size, d.free) for d in a.digits()] == [
            ("k", "blocks", inputs, False),
            ("m", "whole", 1, False),
            ("k", "inside", inputs, False),
        ]
        assert [(d.axis, d.kind, d.free) for d in w.digits()] == [
            ("n", "blocks", True),
            ("k", "blocks", True),
            ("n", "inside", False),
            ("k", "inside", False),
        ]
        assert entry.outs[0].memory == "interleaved" and entry.separate == ((0, 2),)


@pytest.mark.parametrize("name", kernel_names())
def test_empty_calls_cost_nothing_and_terms_sum(name: str):
    rank = _rank(name)
    extents = np.arange(1, 5 * rank + 1).reshape(5, rank) % 41 + 1
    extents[2, 0] = 0
    extents[3, -1] = 0
    cycles = kernel(name).cycles(C600, extents, _types(name))
    assert cycles.shape == (5,) and cycles.dtype == np.int64
    assert (cycles[[2, 3]] == 0).all() and (cycles[[0, 1, 4]] > 0).all()
    terms = kernel(name).itemise(C600, extents, _types(name))
    assert (sum(c for _, c in terms) == cycles).all()
    assert all((c >= 0).all() for _, c in terms)
    assert len({term for term, _ in terms}) == len(terms)
    one_by_one = [kernel(name).cycles(C600, row, _types(name))[0] for row in extents]
    assert one_by_one == cycles.tolist()


@pytest.mark.parametrize("name", kernel_names())
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_more_work_never_costs_less(name: str, data: st.DataObject):
    rank = _rank(name)
    small = data.draw(st.lists(st.integers(1, 200), min_size=rank, max_size=rank))
    axis = data.draw(st.integers(0, rank - 1))
    large = list(small)
    large[axis] += data.draw(st.integers(1, 50))
    dtype = data.draw(st.sampled_from(["f16", "f32", F8]))
    cycles = kernel(name).cycles(C600, np.array([small, large]), _types(name, dtype))
    assert cycles[0] <= cycles[1]


def test_matrix_rates():
    """A long panel approaches the multiply-accumulate rate of the unit, and never exceeds it."""
    for name, rate in zip(GEMMS[:4], (128, 64, 32, 16), strict=True):
        m = 100_000
        cycles = int(kernel(name).cycles(C600, (1, m, 64, 64), _types(name))[0])
        assert 0.99 * rate < m * 64 * 64 / cycles < rate


def test_gemm_pays_for_every_batch_and_for_padding():
    gemm = kernel("gemm.f8")
    types = (F8, F8, "f16")
    one, three = gemm.cycles(C600, [[1, 9, 16, 32], [3, 9, 16, 32]], types)
    assert three == 3 * one
    assert gemm.cycles(C600, (1, 9, 1, 1), types)[0] == one
    assert gemm.cycles(C600, (1, 9, 17, 33), types)[0] == 294 + 4 * (4 * 9 + 160)
    slow = gemm.cycles(C600, (1, 9, 17, 33), types, {"weights_standard": 1})[0]
    assert slow - (294 + 4 * (4 * 9 + 160)) == 4 * 32


def test_copy_by_run_length():
    copy = kernel("copy")
    types = ("f16", "f16")
    by_run = {run: int(copy.cycles(C600, (1000,), types, {"run_bytes": run})[0]) for run in (400, 8, 4, 2)}
    # 5 runs of 400 bytes; runs of 8 bytes cost what their words cost
    assert by_run == {400: 288 + 250 + 4 * 12, 8: 288 + 1500, 4: 288 + 1500, 2: 288 + 10_000}
    assert copy.cycles(C600, (1000,), types)[0] == 288 + 250
    assert copy.cycles(C600, (10, 100), types)[0] == 288 + 250
    assert copy.cycles(C600, (100,), (F8, F8), {"run_bytes": 1})[0] == 288 + 2000


def test_reductions_by_the_width_of_their_loads():
    """P partials of n halves: 2 P + 9 bundles for 8 of a worker, P + 9 where they load at 16 bytes."""
    types = ("f16", "f16")
    for p, n in ((4, 1152), (15, 576), (2, 40)):
        rounds = -(-n // 48) * 6
        one, wide = (
            kernel(f"reduce_partials{kind}").cycles(C600, (p, n), types)[0] for kind in ("", ".wide")
        )
        assert (one, wide) == (282 + rounds * (2 * p + 9), 282 + rounds * (p + 9))
        onto, wide_onto = (
            kernel(f"reduce_partials.{kind}").cycles(C600, (p, n), ("f16", *types))[0]
            for kind in ("onto", "wide_onto")
        )
        assert (onto, wide_onto) == (282 + rounds * (2 * p + 11), 282 + rounds * (p + 11))
    flat = kernel("reduce_partials.onto").cycles(C600, (3, 6, 96), ("f16", *types))[0]
    vector = kernel("reduce_partials.onto").cycles(C600, (3, 6, 96), ("f16", *types), {"vector": 1})[0]
    assert vector - flat == 6 * (2 * 12 + 10 * 6)


def test_an_f8_result_costs_a_conversion():
    for name in ("pointwise.add", "bias_gelu", "reduce_partials", "softmax", "layer_norm"):
        extents = (4, 96)
        plain = kernel(name).cycles(C600, extents, _types(name))[0]
        f8 = kernel(name).cycles(C600, extents, (*_types(name)[:-1], F8))[0]
        assert f8 > plain


def test_rows_use_the_cheaper_distribution():
    """Six narrow rows go to six workers; one wide row is shared by all."""
    norm = kernel("layer_norm")
    one, six, twelve = norm.cycles(C600, [[1, 96], [6, 96], [12, 96]], _types("layer_norm"))
    assert six < 6 * one and twelve < 2 * six
    wide, three = norm.cycles(C600, [[1, 1152], [3, 1152]], _types("layer_norm"))
    assert wide < three <= 3 * wide


def _evidence(name: str, extents: tuple[int, ...], types: tuple[str, ...], **scalars: int) -> str:
    return EVIDENCE[evidence(kernel(name), C600, extents, types, scalars)[0]]


def test_evidence_depends_on_types():
    assert _evidence("gemm.f8", (1, 9, 16, 32), (F8, F8, "f16")) == "measured_held_out"
    assert _evidence("gemm.f8", (1, 9, 16, 32), ("f8E5M2FNUZ", F8, "f16")) == "measured_held_out"
    assert _evidence("pointwise.add", (96,), ("f16",) * 3) == "measured"
    assert _evidence("pointwise.add", (96,), ("f16", "f16", F8)) == "derived"
    assert _evidence("pointwise.add", (96,), ("f32",) * 3) == "derived"
    assert _evidence("pointwise.add", (96,), ("bf16",) * 3) == "assumed"
    assert _evidence("gemm.i8", (1, 9, 16, 32), ("i8", "i8", "i32")) == "assumed"
    assert _evidence("reduce_partials", (6, 1312), ("f16", "f16")) == "measured_held_out"
    assert _evidence("reduce_partials", (6, 1312), ("f16", "f32")) == "derived"
    assert _evidence("copy", (96,), ("bf16", "bf16")) == "measured"


def test_evidence_depends_on_the_form_in_use():
    """Norms and bias and gelu were measured row after row; nobody measured workers that own whole rows."""
    norm = ("f16", "f32", "f32")
    assert _evidence("norm.statistics", (1, 1152), norm) == "measured"
    assert _evidence("norm.statistics", (6, 96), norm) == "derived"
    assert _evidence("norm.statistics", (1, 1152), ("f32",) * 3) == "derived"
    apply = ("f16", "f32", "f32", "f16", "f16", "f16")
    assert _evidence("norm.apply", (1, 1152), apply) == "measured"
    assert _evidence("norm.apply", (12, 96), apply) == "derived"
    assert _evidence("bias_gelu", (3, 2152), ("f16",) * 3) == "measured_held_out"
    assert _evidence("bias_gelu", (6, 96), ("f16",) * 3) == "derived"
    assert _evidence("bias_gelu", (1, 2152), ("f16", "f16", F8)) == "measured_held_out"
    assert _evidence("softmax", (6, 768), ("f16",) * 2) == "measured"
    assert _evidence("gemm.f16.f16", (1, 9, 16, 32), ("f16",) * 3) == "measured_held_out"
    assert _evidence("gemm.f16.f16", (1, 9, 16, 32), ("f16",) * 3, weights_standard=1) == "measured"
    assert _evidence("copy", (1000,), ("f16",) * 2, run_bytes=8) == "derived"
    assert _evidence("copy", (1024,), ("f16",) * 2, run_bytes=32) == "measured"
    assert _evidence("copy", (1000,), ("f16",) * 2, run_bytes=4) == "derived"


def test_evidence_of_many_calls_is_that_of_each():
    types = ("f16",) * 3
    calls = np.array([[1, 2152], [6, 96], [0, 96], [3, 2152]])
    together = evidence(kernel("bias_gelu"), C600, calls, types)
    assert together.tolist() == [int(evidence(kernel("bias_gelu"), C600, call, types)[0]) for call in calls]


def test_a_tile_unlike_the_measured_one_has_no_measured_kernels():
    other = dataclasses.replace(C600, workers=4)
    assert EVIDENCE[evidence(kernel("gemm.f8"), other, (1, 9, 16, 32), (F8, F8, "f16"))[0]] == "derived"
    assert EVIDENCE[evidence(kernel("gemm.f8"), load("t16"), (1, 9, 16, 32), (F8, F8, "f16"))[0]] == (
        "measured_held_out"
    )


def test_a_wider_result_of_a_reduction_costs_more():
    one, two = (kernel("reduce_partials").cycles(C600, (4, 960), ("f16", out))[0] for out in ("f16", "f32"))
    assert two - 282 == 2 * (one - 282)


def test_unknown_kernel_names_near_ones():
    with pytest.raises(UnknownKernel) as error:
        kernel("pointwise.ad")
    assert error.value.hint is not None and "pointwise.add" in error.value.hint
    assert isinstance(error.value, KeyError) and isinstance(error.value, TileError)
    assert str(error.value) == "unknown kernel 'pointwise.ad'"


def test_wrong_number_of_extents():
    with pytest.raises(ValueError, match="has axes"):
        kernel("gemm.f8").cycles(C600, (1, 2, 3), _types("gemm.f8"))


def test_patching_costs_come_from_the_registry():
    m = load("c600")
    assert m.patch_cycles(78)[0] == 936
    assert m.patch_cycles(np.array([0, 1, 6, 7])).tolist() == [0, 288, 288, 342]


def test_a_batch_of_calls_is_fast():
    extents = np.tile(np.array([1, 146, 48, 288]), (1472 * 100, 1))
    cycles = kernel("gemm.f8").cycles(C600, extents, _types("gemm.f8"))
    assert (cycles == 20_382).all()
