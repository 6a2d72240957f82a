# SPDX-License-Identifier: Apache-2.0
"""
Every strategy at sizes that no block divides: its default and its candidates expand, each target is one that
the operand can be brought to, the work adds up, and what cannot be is refused.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_cases import T4, T16, Tensor, check, flat, moved, operator, rows, work

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.exchange.geometry import element_places
from tilewright.planning.operators import (
    Choice,
    Operator,
    Strategy,
    Surroundings,
    favourite,
    read_choice,
    strategies,
)
from tilewright.planning.operators.targets import flat_layout
from tilewright.planning.stages import PlanError, Stages, Value


def product(b: tuple[int, ...], m: int, n: int, k: int, dtype: str = "f16", **attributes: Any) -> Operator:
    left = (*b, k, m) if attributes.get("transpose_a") else (*b, m, k)
    right = (*b, n, k) if attributes.get("transpose_b") else (*b, k, n)
    result = "f16" if dtype.startswith("f8") else dtype
    return operator("matmul", ((left, dtype), (right, dtype)), ((*b, m, n), result), **attributes)


def added(batch: tuple[int, ...], m: int, n: int, k: int, *addends: str, accumulate: str = "f16") -> Operator:
    """A product in f16 and what is added to it."""
    shapes = {"vector": (n,), "whole": (*batch, m, n)}
    return operator(
        "matmul",
        (((*batch, m, k), "f16"), ((*batch, k, n), "f16"), *((shapes[a], "f16") for a in addends)),
        ((*batch, m, n), "f16"),
        accumulate=accumulate,
    )


def attention(b: tuple[int, ...], queries: int, keys: int, depth: int, values: int) -> Operator:
    shapes = ((*b, queries, depth), (*b, keys, depth), (*b, keys, values))
    return operator(
        "attention", tuple((s, "f16") for s in shapes), ((*b, queries, values), "f16"), scale=0.25
    )


def norm(r: int, c: int, name: str = "layer_norm", dtype: str = "f16") -> Operator:
    vectors = 2 if name == "layer_norm" else 1
    return operator(name, (((r, c), dtype), *[((c,), dtype)] * vectors), ((r, c), dtype), epsilon=1e-6)


def softmax(shape: tuple[int, ...], dtype: str = "f32") -> Operator:
    return operator("softmax", ((shape, dtype),), (shape, dtype))


def reduce(shape: tuple[int, ...], axes: tuple[int, ...], kind: str, keep: bool, dtype: str) -> Operator:
    result = tuple(1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes)
    return operator("reduce", ((shape, dtype),), (result, dtype), axes=axes, kind=kind, keep_dims=keep)


def gather(table: tuple[int, ...], indices: tuple[int, ...], axis: int, dtype: str = "f16") -> Operator:
    result = (*table[:axis], *indices, *table[axis + 1 :])
    return operator("gather", ((table, dtype), (indices, "i32")), (result, dtype), axis=axis)


def concat(parts: tuple[tuple[int, ...], ...], axis: int, dtype: str) -> Operator:
    total = sum(part[axis] for part in parts)
    result = (*parts[0][:axis], total, *parts[0][axis + 1 :])
    return operator("concat", tuple((p, dtype) for p in parts), (result, dtype), axis=axis)


def pad(shape: tuple[int, ...], low: tuple[int, ...], high: tuple[int, ...], dtype: str) -> Operator:
    result = tuple(a + n + b for a, n, b in zip(low, shape, high, strict=True))
    return operator("pad", ((shape, dtype),), (result, dtype), low=low, high=high, value=3.0)


def binary(name: str, a: tuple[int, ...], b: tuple[int, ...], dtype: str) -> Operator:
    return operator(name, ((a, dtype), (b, dtype)), (tuple(np.broadcast_shapes(a, b)), dtype))


CASES = {
    "product of ones": product((), 1, 1, 1),
    "product of primes": product((), 7, 13, 11),
    "product of long primes": product((), 127, 17, 67),
    "product of a row": product((), 1, 48, 64),
    "product in batches": product((3,), 5, 19, 33),
    "product in batches of two axes": product((2, 3), 5, 16, 32),
    "product of transposed operands": product((), 7, 13, 11, transpose_a=True, transpose_b=True),
    "product in f8": product((), 33, 31, 65, "f8E4M3FNUZ"),
    "product of OCP formats": product((), 9, 31, 65, "f8E4M3FN"),
    "product in f32": product((), 9, 31, 65, "f32"),
    "product in bf16": product((), 9, 17, 5, "bf16"),
    "product and a vector": added((), 33, 31, 65, "vector"),
    "product and both": added((), 12, 96, 64, "vector", "whole"),
    "product and a stream": added((), 13, 64, 40, "whole"),
    "product and three": added((2,), 5, 7, 9, "vector", "whole", "vector"),
    "product in f32 and both": added((), 5, 64, 40, "vector", "whole", accumulate="f32"),
    "attention of primes": attention((3,), 7, 11, 5, 13),
    "attention of one query": attention((1,), 1, 37, 16, 16),
    "attention of one key": attention((2,), 5, 1, 8, 8),
    "norm of primes": norm(13, 37),
    "norm of one row": norm(1, 64),
    "norm of one column": norm(11, 1),
    "norm of panels": norm(17, 192),
    "norm of squares": norm(13, 37, "rms_norm"),
    "softmax of primes": softmax((7, 11)),
    "softmax of one": softmax((1, 1)),
    "softmax of halves": softmax((3, 5, 7), "f16"),
    "sum of columns": reduce((5, 7, 3), (1,), "sum", False, "f32"),
    "mean of everything": reduce((5, 7), (0, 1), "mean", True, "f32"),
    "maximum of rows": reduce((13, 17), (0,), "max", True, "f16"),
    "gather of rows": gather((37, 13), (5,), 0),
    "gather of columns": gather((7, 11, 3), (2, 3), 1),
    "gather from one row": gather((1, 5), (7,), 0, "f32"),
    "concat of odd parts": concat(((3, 5), (3, 1), (3, 7)), 1, "f16"),
    "concat of one": concat(((3, 5),), 0, "f32"),
    "pad of all sides": pad((3, 5), (1, 2), (0, 3), "f16"),
    "pad of bytes": pad((7,), (3,), (2,), "f8E4M3FNUZ"),
    "pad of rows of panels": pad((5, 64), (1, 0), (2, 0), "f16"),
    "sum of a vector": binary("add", (7, 13), (13,), "f16"),
    "product with a column": binary("mul", (7, 13), (7, 1), "f16"),
    "sum of one": binary("add", (7, 13), (1,), "f32"),
    "cast": operator("cast", (((7, 13), "f16"),), ((7, 13), "f8E4M3FNUZ"), scale=-1),
    "gelu": operator("gelu", (((7, 13), "f16"),), ((7, 13), "f16")),
    "bias and gelu": operator("bias_gelu", (((7, 13), "f16"), ((13,), "f16")), ((7, 13), "f16")),
}
MOST = 12
"""Candidates that are expanded of each strategy."""


def choices(op: Operator, operands: tuple[Value, ...], machine: Machine) -> list[Choice]:
    """The default of every strategy and what it proposes, in order."""
    near = Surroundings(scarce=True)  # strategies for when memory is missing too
    found: list[Choice] = []
    for strategy in strategies(op):
        records = list(islice(strategy.candidates(op, operands, machine, near), 500))
        assert 0 < len(records) < 200, "candidates are bounded"
        assert len({str(r) for r in records}) == len(records), "none comes twice"
        assert strategy.default(op, operands, machine, near) in records
        found += [Choice(strategy, record) for record in records[:MOST]]
    return found


def lanes(op: Operator) -> int:
    """Elements that complete rows that end inside a word to words of 8-bit elements."""
    columns, dtype = op.result_shape[-1], op.result_dtype
    cut = columns * min(itemsize(dtype), itemsize(op.operand_types[0][1])) % 4
    return math.prod(op.result_shape[:-1]) * (-columns % 4) if cut else 0


def amount(op: Operator, stages: Stages, machine: Machine) -> None:
    """Every element is computed once: by the operator's definition, not by its expansion."""
    result = math.prod(op.result_shape)
    if op.name == "matmul":
        k = op.operand_types[0][0][-2 if op.attributes.get("transpose_a") else -1]
        assert work(stages, "gemm.", machine).prod(axis=1).sum() >= result * k
    elif op.name == "attention":
        (*b, q, d), _ = op.operand_types[0]
        (*_, n, e), _ = op.operand_types[2]
        assert work(stages, "gemm.", machine).prod(axis=1).sum() >= math.prod(b) * q * n * (d + e)
        kernels = {getattr(stage, "kernel", "") for stage in stages.stages}
        (name,) = kernels & {"softmax.part", "softmax.raise", "softmax.exp"}
        assert work(stages, name, machine).prod(axis=1).sum() >= math.prod(b) * q * n
    elif op.name in ("softmax", "rms_norm"):
        assert work(stages, op.name, machine).prod(axis=1).sum() == result + lanes(op)
    elif op.name == "layer_norm":
        split = any("norm.merge_apply" in getattr(stage, "kernel", "") for stage in stages.stages)
        name = "norm.merge_apply" if split else "layer_norm"
        # (parts of the statistics,) rows, columns
        assert work(stages, name, machine)[:, -2:].prod(axis=1).sum() == result + lanes(op)
    elif op.name == "reduce":
        assert work(stages, "reduce.", machine).prod(axis=1).sum() == math.prod(op.operand_types[0][0])
    elif op.name == "gather":
        extents = work(stages, "gather_rows", machine)
        table, count = op.operand_types[0][0], math.prod(op.operand_types[1][0])
        columns = math.prod(table) // table[op.attributes["axis"]]
        # (batch, indices, rows, columns): the tables' parts are the table, and all indices go to each
        assert (extents[:, 1] == count).all()
        assert extents[:, 2:].prod(axis=1).sum() == table[op.attributes["axis"]] * columns
    elif op.name not in ("concat", "pad"):
        kernel = {"cast": "cast", "bias_gelu": "bias_gelu"}.get(op.name, "pointwise.")
        columns = 3 if choice_of_panels(stages) else None
        completed = lanes(op) if columns and op.result_shape[-1] % 2 else 0  # halves that end inside a word
        assert work(stages, kernel, machine)[:, :columns].prod(axis=1).sum() == result + completed


def choice_of_panels(stages: Stages) -> bool:
    """Whether a cast completes its columns to panels, whose lanes are an axis of their own."""
    return any(getattr(stage, "kernel", "") == "cast.panels" for stage in stages.stages)


@pytest.mark.parametrize("machine", [T4, T16], ids=lambda m: m.name)
@pytest.mark.parametrize("case", CASES)
def test_defaults_and_candidates_expand(case: str, machine: Machine) -> None:
    op = CASES[case]
    operands = tuple(flat(tensor, machine) for tensor in op.operand_types)
    for choice in choices(op, operands, machine):
        stages = choice.expand(op, operands, machine)
        check(op, operands, stages, machine)
        amount(op, stages, machine)
        assert stages.cost(machine).total > 0 or not stages.stages
        assert read_choice(op, choice.to_json()) == choice


@pytest.mark.parametrize("case", CASES)
def test_a_target_is_a_place_for_its_operand(case: str) -> None:
    """Every element of the operand has one place in it; an operand that lies there is used where it is."""
    op = CASES[case]
    operands = tuple(flat(tensor, T16) for tensor in op.operand_types)
    for choice in choices(op, operands, T16):
        targets = choice.targets(op, operands, T16)
        assert len(targets) == len(operands)
        for target, (shape, _) in zip(targets, op.operand_types, strict=True):
            if target is None:
                continue
            layout, view = target
            assert view.shape == shape
            tile, offset = element_places(layout, view)
            places = set(zip(tile.ravel().tolist(), offset.ravel().tolist(), strict=True))
            assert len(places) == math.prod(shape)
        unplaced = choice.targets(op, (None,) * len(operands), T16) if op.name in PLACED_ANYWHERE else targets
        assert unplaced == targets


PLACED_ANYWHERE = ("matmul", "attention", "gather", "softmax", "rms_norm", "reduce", "concat", "pad")
"""Operators whose targets do not depend on where their operands lie."""


@pytest.mark.parametrize(
    ("op", "record", "message", "machine"),
    [
        (product((), 8, 8, 8), {"grid": [1, 1, 1]}, r"grid \[1, 1, 1\] is not four positive parts", T4),
        (product((), 8, 8, 8), {"grid": [1, 0, 1, 1]}, "is not four positive parts", T4),
        (
            product((), 8, 64, 64),
            {"grid": [1, 8, 1, 1]},
            r"needs 8 tiles from tile 0 on; machine t4 has 4",
            T4,
        ),
        (product((), 8, 64, 64), {"grid": [1, 4, 1, 1], "base": 1}, "needs 4 tiles from tile 1 on", T4),
        (product((), 8, 64, 64), {"grid": [1, 1, 2, 1], "share": 2}, "share 2 does not divide the 2", T4),
        (product((), 8, 48, 64), {"grid": [1, 1, 3, 4], "share": 2}, "share 2 does not divide the 3", T16),
        (
            product((), 8, 64, 64),
            {"grid": [1, 2, 1, 1], "pieces": 5},
            "pieces 5 does not cut the 4 streamed",
            T4,
        ),
        (product((), 8, 64, 64), {"pieces": 0}, "pieces 0 does not cut the 8 streamed rows of a block", T4),
        (product((), 8, 64, 64), {"target": "here"}, "the target of a product is parts or blocks, found", T4),
        (
            product((), 8, 64, 64),
            {"target": "blocks", "swap": True},
            "target blocks is for products of two",
            T4,
        ),
        (product((), 8, 8, 64), {"target": "blocks"}, "target blocks is for products of two axes", T4),
        (attention((2,), 8, 8, 8, 8), {"grid": [2, 8, 1]}, "machine t4 has 4", T4),
        (attention((2,), 8, 8, 8, 8), {"grid": [2, 8]}, "grid", T4),
        (gather((64, 8), (3,), 0), {"grid": [64, 1]}, "machine t4 has 4", T4),
        (norm(8, 37), {"split": True}, "only a layer_norm of rows of several whole panels can be split", T4),
        (softmax((8, 8)), {"parts": 5}, "5 row parts; machine t4 has 4 tiles", T4),
        (binary("add", (7, 13), (13,), "f16"), {"leader": 1}, "operand 1 cannot give the result", T4),
        (binary("add", (7, 13), (13,), "f16"), {"leader": 2}, "operand 2 cannot give the result", T4),
        (CASES["bias and gelu"], {"leader": 0}, "operand 0 cannot give the result its layout", T4),
        (CASES["pad of bytes"], {"grid": [1]}, "plan has no field 'grid'", T4),
        (CASES["softmax of one"], {"parts": "all"}, "plan field 'parts' is an integer", T4),
        (CASES["product of ones"], {"grid": [1, True, 1, 1]}, "plan field 'grid' is a list of integers", T4),
    ],
)
def test_records_that_cannot_be_are_refused(
    op: Operator, record: dict[str, Any], message: str, machine: Machine
) -> None:
    operands = tuple(flat(tensor, machine) for tensor in op.operand_types)
    with pytest.raises(PlanError, match=message):
        choice = read_choice(op, record)
        choice.targets(op, operands, machine)
        choice.expand(op, operands, machine)


def test_types_that_no_unit_multiplies_are_refused() -> None:
    op = operator("matmul", (((4, 4), "f32"), ((4, 4), "i8")), ((4, 4), "f32"))
    operands = tuple(flat(tensor, T4) for tensor in op.operand_types)
    with pytest.raises(PlanError, match="no matrix kernel multiplies f32 by i8"):
        favourite(op).default(op, operands, T4, Surroundings())


@pytest.mark.parametrize(
    "op",
    [
        product((), 0, 8, 8),
        product((), 4, 8, 0),
        norm(0, 8),
        reduce((0, 5), (0,), "max", False, "f32"),
        gather((5, 0), (2,), 0),
        binary("add", (0, 3), (3,), "f16"),
    ],
    ids=lambda op: op.name,
)
def test_tensors_of_nothing_have_no_choices(op: Operator) -> None:
    operands = tuple(flat(tensor, T4) for tensor in op.operand_types)
    choice, *_ = choices(op, operands, T4)
    stages = choice.expand(op, operands, T4)
    check(op, operands, stages, T4)
    assert work_is_fill_alone(stages)


def work_is_fill_alone(stages: Stages) -> bool:
    return all(getattr(stage, "kernel", "exchange") == "fill" for stage in stages.stages)


SIZES = st.integers(1, 9)


@st.composite
def concatenations(draw: st.DrawFn) -> tuple[Operator, list[bool]]:
    rank = draw(st.integers(1, 3))
    axis = draw(st.integers(0, rank - 1))
    shape = [draw(SIZES) for _ in range(rank)]
    parts = tuple((*shape[:axis], draw(SIZES), *shape[axis + 1 :]) for _ in range(draw(st.integers(1, 4))))
    op = concat(parts, axis, draw(st.sampled_from(("f16", "f32", "i8"))))
    return op, [rank == 2 and draw(st.booleans()) for _ in parts]


def stored(tensor: Tensor, by_rows: bool, machine: Machine) -> Value:
    return rows(tensor, machine) if by_rows else flat(tensor, machine)


@given(concatenations())
@settings(deadline=None)
def test_concat_is_numpys(case: tuple[Operator, list[bool]]) -> None:
    op, by_rows = case
    operands = tuple(stored(t, b, T4) for t, b in zip(op.operand_types, by_rows, strict=True))
    stages = Choice(favourite(op), favourite(op).record()).expand(op, operands, T4)
    check(op, operands, stages, T4)
    values = tuple(
        np.arange(math.prod(shape)).reshape(shape) + 100.0 * i
        for i, (shape, _) in enumerate(op.operand_types)
    )
    expected = np.concatenate(values, axis=op.attributes["axis"])
    assert np.array_equal(moved(op, stages, values), expected)


@st.composite
def paddings(draw: st.DrawFn) -> tuple[Operator, bool]:
    rank = draw(st.integers(1, 3))
    shape = tuple(draw(SIZES) for _ in range(rank))
    low, high = (tuple(draw(st.integers(0, 3)) for _ in shape) for _ in range(2))
    return pad(shape, low, high, draw(st.sampled_from(("f16", "f32", "i8")))), rank == 2 and draw(
        st.booleans()
    )


@given(paddings())
@settings(deadline=None)
def test_pad_is_numpys(case: tuple[Operator, bool]) -> None:
    op, by_rows = case
    operands = (stored(op.operand_types[0], by_rows, T4),)
    stages = Choice(favourite(op), favourite(op).record()).expand(op, operands, T4)
    check(op, operands, stages, T4)
    shape = op.operand_types[0][0]
    values = np.arange(math.prod(shape)).reshape(shape) + 10.0
    widths = list(zip(op.attributes["low"], op.attributes["high"], strict=True))
    assert np.array_equal(moved(op, stages, (values,)), np.pad(values, widths, constant_values=3.0))


@st.composite
def broadcasts(draw: st.DrawFn) -> tuple[Operator, list[bool]]:
    shape = tuple(draw(SIZES) for _ in range(draw(st.integers(1, 3))))
    other = tuple(1 if draw(st.booleans()) else n for n in shape)[draw(st.integers(0, len(shape) - 1)) :]
    pair = draw(st.permutations((shape, other)))
    op = binary(draw(st.sampled_from(("add", "sub", "mul"))), *pair, draw(st.sampled_from(("f16", "f32"))))
    return op, [len(s) == 2 and draw(st.booleans()) for s in pair]


@given(broadcasts())
@settings(deadline=None)
def test_elementwise_operators_broadcast_as_numpy_does(case: tuple[Operator, list[bool]]) -> None:
    op, by_rows = case
    operands = tuple(stored(t, b, T4) for t, b in zip(op.operand_types, by_rows, strict=True))
    a, b = (
        np.arange(math.prod(shape)).reshape(shape) + 2.0 + 50 * i
        for i, (shape, _) in enumerate(op.operand_types)
    )
    expected = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[op.name](a, b)
    for choice in choices(op, operands, T4):
        stages = choice.expand(op, operands, T4)
        check(op, operands, stages, T4)
        assert np.array_equal(moved(op, stages, (a, b)), expected)


@given(SIZES, st.integers(1, 40), st.integers(1, 70), st.data())
@settings(deadline=None)
def test_a_grid_covers_a_product(m: int, n: int, k: int, data: st.DataObject) -> None:
    """Any grid: parts that own nothing take no tile, and each product is in one tile's block."""
    op = product((), m, n, k)
    grid = data.draw(st.tuples(st.just(1), *[st.integers(1, 4)] * 3))
    operands = tuple(flat(tensor, T16) for tensor in op.operand_types)
    choice = read_choice(op, {"grid": list(grid), "swap": data.draw(st.booleans())})
    try:
        stages = choice.expand(op, operands, T16)
    except PlanError as error:
        assert "needs" in error.message and math.prod(grid) > 16
        return
    check(op, operands, stages, T16)
    extents = work(stages, "gemm.", T16)
    assert len(extents) <= math.prod(grid)
    rows_, columns = (n, m) if choice.to_json()["swap"] else (m, n)
    assert extents[:, 1].max() <= rows_ and extents.prod(axis=1).sum() >= m * n * k
    assert extents[:, 2].max() < columns + 16 and extents[:, 3].max() < k + 16


def test_strategies_are_named_once() -> None:
    for op in CASES.values():
        found: tuple[Strategy, ...] = strategies(op)
        assert favourite(op) is found[0] and len({s.name for s in found}) == len(found)
        assert all(op.name in s.operators for s in found)


def test_a_flat_sequence_is_cut_evenly() -> None:
    layout, view = flat_layout((7, 37), "f16", T16)
    tile, _ = element_places(layout, view)
    counts = np.bincount(tile.ravel())
    assert counts.max() - counts[:-1].min() == 0 and counts.sum() == 7 * 37
