# SPDX-License-Identifier: Apache-2.0
"""Listings read back to the same program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.backends import sidecar
from tilewright.backends.program import (
    Binding,
    Call,
    Code,
    Constant,
    Exchange,
    Operand,
    Patch,
    Placed,
    Program,
    ProgramError,
    Repeat,
    Table,
    Tap,
)
from tilewright.backends.rows import encode
from tilewright.backends.tasm import format_tasm, parse_tasm
from tilewright.machine import load
from tilewright.planning.exchange.messages import Messages
from tilewright.planning.exchange.schedule import schedule


def sample() -> Program:
    one = np.array
    machine = load("t4")
    messages = Messages(one([2]), one([0]), one([0]), one([0]), one([1]), one([0]), one([64]))
    rows = encode(schedule(messages, machine), [0x78000, 0x90000], machine)
    operand = Operand(0x79000, "f16", (((0, 0),), ((0, 16),), ((0, 160), (16, 1))), (1024, -8))
    scalars = (("scale", -2), ("epsilon", 1e-06), ("value", float("-inf")), ("factor", 2.0))
    call = Call(
        "gemm.f16.f16", (operand,), (replace(operand, axes=(), steps=()),), scalars, "extents", 'm "x".mlir:7'
    )
    return Program(
        machine="t4",
        name="sample",
        code=(Code("gemm.f16.f16", 0x70000, 1536),),
        supervisor_address=0x71000,
        tables=(
            Table("extents", 0x72000, np.tile([1, 2, 3, 4], (4, 1)), "arguments"),
            Table("rows", 0x74000, rows.words, "rows"),
            Table("positions", 0x73000, np.zeros((4, 0), np.uint32), "patch tables"),
        ),
        bindings=(
            Binding("x", "input", 0x79000, "f16", "[40/10@1, 32|16]", "[40a, 32b]", (40, 32)),
            Binding("w", "parameter", 0x80400, "f8E4M3FNUZ", "[4]", "[4a]", (4,), ("a", "b"), 2, 64, -3),
            Binding("s", "output", 0x80400, "f32", "[]", "[]", ()),
        ),
        placed=(Placed("x", 0x79000, 640, "activations", 0, 3),),
        body=(
            Exchange("rows"),
            Repeat(
                "layers",
                3,
                (call, Repeat("inner", 0, ()), Tap("state", "x"), Exchange("rows", "m.mlir:6", "weights")),
                (Patch("rows", "positions", -256), Patch("rows", "positions", 4, 0)),
            ),
        ),
        constants=(Constant("c", np.arange(3, dtype=np.float16)), Constant("s", np.float32(2).reshape(()))),
    )


@pytest.mark.parametrize("rows", [0, 4])
def test_a_listing_reads_back(rows: int) -> None:
    program = sample()
    text = format_tasm(program, rows)
    assert parse_tasm(text) == program
    assert format_tasm(parse_tasm(text), rows) == text


def test_scalars_keep_their_kind() -> None:
    repeat = parse_tasm(format_tasm(sample())).body[1]
    assert isinstance(repeat, Repeat)
    call = repeat.body[0]
    assert isinstance(call, Call)
    assert [type(value) for _, value in call.scalars] == [int, float, float, float]


def test_rows_are_explained() -> None:
    text = format_tasm(sample(), 4)
    assert "send, 16 cycles, sends 16 words, from 0x78000" in text
    assert "receives to 0x90000" in text


def test_tables_may_go_to_a_sidecar_file(tmp_path: Path) -> None:
    tables = sidecar.Tables(tmp_path / "p.tasm.data")
    for table in sample().tables:
        tables.add(table.words.astype("<u4").tobytes())
    with sidecar.referring(tables):
        text = format_tasm(sample())
    assert not tables.path.exists()  # printing writes nothing
    tables.write()
    assert "tiles 0" not in text
    with sidecar.reading(tmp_path):
        assert parse_tasm(text) == sample()


def test_the_line_that_cannot_be_read_is_named() -> None:
    lines = format_tasm(sample()).splitlines()
    lines[1] = ".code gemm 1"
    with pytest.raises(ProgramError, match="at line 2"):
        parse_tasm("\n".join(lines))


def test_a_table_without_all_its_rows_is_refused() -> None:
    text = format_tasm(sample()).replace("tiles 0-3: #00000001", "tiles 0-2: #00000001")
    with pytest.raises(ProgramError, match="has rows for 3 of 4 tiles"):
        parse_tasm(text)
