# SPDX-License-Identifier: Apache-2.0
"""
Products whose streamed operand arrives in pieces: right whatever the shapes, one piece at a time on every
tile, and refused where its rows cannot be cut.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from operator_cases import T4, T16, check, flat, operator, work

from tilewright.frontends.program_folder import write_tensors
from tilewright.planning.layout import Axis, Layout, View
from tilewright.planning.operators import Operator, Surroundings, read_choice
from tilewright.planning.operators.matmul import blocks, candidates, shape_of
from tilewright.planning.operators.matmul.pieces import runs
from tilewright.planning.phases import Access, levels
from tilewright.planning.stages import (
    Buffer,
    ComputeStage,
    ExchangeStage,
    PlanError,
    Stages,
    Value,
    used_buffers,
)
from tilewright.tools.tile_run import main as tile_run


def run(folder: Path, text: str, tensors: dict[str, np.ndarray], plan: dict[str, Any], machine: str) -> None:
    """Execute a program with a plan in memory full of NaN, value by value against the reference."""
    (folder / "p.mlir").write_text(text)
    write_tensors(folder / "x.safetensors", tensors)
    whole = {"format": "tilewright-plan", "version": 2, "machine": machine, "operators": plan}
    (folder / "plan.json").write_text(json.dumps(whole))
    arguments = [f"--machine={machine}", "--compare=each", "--poison=nan"]
    files = [f"--inputs={folder / 'x.safetensors'}", f"--plan={folder / 'plan.json'}"]
    assert tile_run([str(folder / "p.mlir"), *arguments, *files, f"--json={folder / 'r.json'}"]) == 0


def program(shapes: list[tuple[int, ...]], element: str, attributes: str, result: tuple[int, ...]) -> str:
    """A product of two operands and a sum of what is behind them, which is fused with it."""

    def tensor(shape: tuple[int, ...], dtype: str) -> str:
        return f"tensor<{''.join(f'{n}x' for n in shape)}{dtype}>"

    types = [tensor(shape, element if i < 2 else "f16") for i, shape in enumerate(shapes)]
    names = [f"%a{i}" for i in range(len(shapes))]
    arguments = ", ".join(f"{name}: {kind}" for name, kind in zip(names, types, strict=True))
    kind, last = tensor(result, "f16"), "%y"
    lines = [f"%y = tile_tensor.matmul %a0, %a1 {attributes} : ({types[0]}, {types[1]}) -> {kind}"]
    for name, addend in zip(names[2:], types[2:], strict=True):
        lines.append(f"%s{name[2:]} = tile_tensor.add {last}, {name} : ({kind}, {addend}) -> {kind}")
        last = f"%s{name[2:]}"
    body = "\n    ".join([*lines, f"func.return {last} : {kind}"])
    return f"func.func @main({arguments}) -> {kind} {{\n    {body}\n}}\n"


F8 = "f8E4M3FNUZ"


@pytest.mark.parametrize(
    ("shapes", "element", "attributes", "record", "machine"),
    [
        ([(26, 48), (48, 40)], "f16", "", {"grid": [1, 2, 2, 2], "pieces": 2}, "t16"),
        ([(26, 48), (48, 40)], F8, "", {"grid": [1, 2, 2, 2], "pieces": 4}, "t16"),
        ([(26, 48), (48, 40)], "f16", "", {"grid": [1, 4, 1, 3], "pieces": 3}, "t16"),
        ([(23, 37), (37, 19)], "f16", "", {"grid": [1, 3, 1, 1], "pieces": 3}, "t4"),
        ([(23, 40), (40, 19)], F8, "accumulate f16", {"grid": [1, 3, 1, 1], "pieces": 8}, "t4"),
        ([(48, 26), (40, 48)], "f16", "transpose_a transpose_b", {"grid": [1, 2, 2, 2], "pieces": 2}, "t16"),
        ([(26, 48), (48, 40)], F8, "", {"grid": [1, 2, 2, 2], "pieces": 3, "swap": True}, "t16"),
        ([(26, 48), (48, 40)], "f16", "", {"grid": [1, 2, 2, 2], "pieces": 3, "share": 2}, "t16"),
        ([(3, 9, 32), (3, 32, 20)], "f16", "", {"grid": [3, 2, 1, 2], "pieces": 2}, "t16"),
        ([(3, 9, 32), (32, 20)], "f16", "", {"grid": [1, 3, 1, 2], "pieces": 2}, "t16"),
        ([(9, 32), (3, 32, 20)], F8, "", {"grid": [1, 2, 2, 2], "pieces": 4, "swap": True}, "t16"),
        ([(26, 48), (48, 40), (40,)], "f16", "", {"grid": [1, 2, 2, 2], "pieces": 2}, "t16"),
        ([(26, 48), (48, 40), (26, 40)], F8, "", {"grid": [1, 2, 1, 3], "pieces": 5}, "t16"),
        (
            [(32, 48), (48, 64), (64,), (32, 64)],
            "f16",
            "",
            {"grid": [1, 2, 2, 3], "pieces": 3, "target": "blocks"},
            "t16",
        ),
    ],
)
def test_pieces_give_what_a_whole_operand_does(
    shapes: list[tuple[int, ...]],
    element: str,
    attributes: str,
    record: dict[str, Any],
    machine: str,
    tmp_path: Path,
) -> None:
    """Executed value by value against the reference of the program, in memory full of NaN."""
    a, b = (shape[::-1] if "transpose" in attributes else shape for shape in shapes[:2])
    result = (*(a[:-2] or b[:-2]), a[-2], b[-1])
    rng = np.random.default_rng(sum(a))
    dtype = np.float16 if element == "f16" else ml_dtypes.float8_e4m3fnuz
    tensors = {
        f"arg{i}": rng.normal(0, 1, shape).astype(dtype if i < 2 else np.float16)
        for i, shape in enumerate(shapes)
    }
    name = "y" if len(shapes) == 2 else f"s{len(shapes) - 1}"
    run(tmp_path, program(shapes, element, attributes, result), tensors, {name: record}, machine)


@given(st.integers(1, 60), st.integers(1, 8), st.integers(1, 12))
def test_each_row_is_in_one_piece(extent: int, parts: int, pieces: int) -> None:
    """Every row once, and of no block more rows at one time than the first piece has."""
    block = -(-extent // parts)
    seen: list[int] = []
    for piece in runs(extent, block, pieces):
        for found in piece:
            assert found.rows <= -(-block // pieces)
            for part in range(found.part, found.part + found.parts):
                first = part * block + found.start
                assert first // block == (first + found.rows - 1) // block == part
                seen += range(first, first + found.rows)
    assert sorted(seen) == list(range(extent))


def product(m: int, n: int, k: int, dtype: str = "f16", **attributes: Any) -> Operator:
    return operator("matmul", (((m, k), dtype), ((k, n), dtype)), ((m, n), "f16"), **attributes)


def expanded(op: Operator, record: dict[str, Any]) -> Stages:
    return read_choice(op, record).expand(op, tuple(flat(tensor, T16) for tensor in op.operand_types), T16)


@pytest.mark.parametrize(("dtype", "k"), [("f16", 96), ("f16", 37), (F8, 90)])
@pytest.mark.parametrize(("swap", "parts"), [(False, 1), (True, 1), (False, 2)])
def test_a_tile_holds_one_piece_at_a_time(dtype: str, k: int, swap: bool, parts: int) -> None:
    """The kernel's extents are those of pieces and add up; what is staged is as small as they are."""
    op = product(64, 64, k, dtype)
    whole, pieces = (
        expanded(op, {"grid": [1, 2, 2, parts], "swap": swap, "pieces": count}) for count in (1, 4)
    )
    check(op, pieces.operands, pieces, T16)
    (gemm,) = {s.ins[0].buffer for s in pieces.stages if isinstance(s, ComputeStage) and "gemm" in s.kernel}
    assert pieces.buffers[gemm].bytes * 4 == whole.buffers[gemm].bytes
    assert pieces.peak_bytes() < whole.peak_bytes()
    extents = work(pieces, "gemm.", T16)
    assert (
        set(extents[:, 1]) == {8}
        and extents.prod(axis=1).sum() == work(whole, "gemm.", T16).prod(axis=1).sum()
    )


def test_a_piece_arrives_while_the_products_of_the_last_one_leave() -> None:
    """So streaming takes a phase for each further piece, and none for its products."""
    phases = []
    for pieces in (1, 4):
        stages = expanded(product(64, 64, 96), {"grid": [1, 2, 2, 2], "pieces": pieces})
        steps = []
        for stage in stages.stages:
            names = used_buffers(stage)
            if isinstance(stage, ExchangeStage):
                written = {move.dst for move in stage.moves}
                steps.append(
                    Access(tuple(n for n in names if n not in written), tuple(written), exchange=True)
                )
            else:
                outs = tuple(operand.buffer for operand in stage.outs)
                steps.append(Access(tuple(n for n in names if n not in outs), outs, kernel=stage.kernel))
        at = levels(steps)
        phases.append(len({level for level, step in zip(at, steps, strict=True) if step.exchange}))
        gemms = [level for level, step in zip(at, steps, strict=True) if "gemm" in step.kernel]
        assert gemms == list(range(1, pieces + 1))
    assert phases == [2, 5]


def test_rows_that_no_view_cuts_are_refused() -> None:
    """Three groups of nine rows with lanes between them, in blocks of fourteen rows."""
    op = product(27, 32, 32)
    layout = Layout((Axis(36), Axis(32)), ((0, 0), (1, 0)), tiles=16)
    view = View((27, 32), (((3, 0, 12), (9, 0, 1)), ((32, 1, 1),)), (0, 0))
    left = Value(Buffer(layout, "f16", "activations"), view)
    right = flat(op.operand_types[1], T16)
    choice = read_choice(op, {"grid": [1, 2, 1, 1], "pieces": 2})
    with pytest.raises(PlanError, match="blocks of 14 rows of the operand or the result cannot be cut"):
        choice.expand(op, (left, right), T16)
    by_groups = read_choice(op, {"grid": [1, 3, 1, 1], "pieces": 2})
    check(op, (left, right), by_groups.expand(op, (left, right), T16), T16)


def test_what_completes_a_contraction_arrives_whole() -> None:
    op = product(8, 32, 80, F8, host_lanes=(False, True))
    record = {"grid": [1, 1, 1, 3], "filler": True}
    check(op, tuple(flat(tensor, T16) for tensor in op.operand_types), expanded(op, record), T16)
    with pytest.raises(PlanError, match="pieces are for a contraction without a filler"):
        expanded(op, {**record, "pieces": 2})
    with pytest.raises(PlanError, match="without a filler and without groups"):
        expanded(op, {"grid": [1, 1, 1, 3], "inner": 20, "pieces": 2})


def test_pieces_are_offered_where_nothing_fits_without() -> None:
    """Those of the larger operand; nothing changes where memory is only scarce."""
    op = product(256, 64, 64)
    for near, found in (
        (Surroundings(), {1}),
        (Surroundings(scarce=True), {1}),
        (Surroundings(scarce=True, divided=True), {1, 2, 4, 8}),
    ):
        records = list(candidates(op, (None, None), T4, near))
        assert {record.pieces for record in records} == found
        for record in records:
            if record.pieces > 1:
                shape = shape_of(op, record)
                _, rows, columns, _ = blocks(shape, record.grid)
                assert rows >= max(columns, record.pieces)
