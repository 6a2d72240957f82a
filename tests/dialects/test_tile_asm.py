# SPDX-License-Identifier: Apache-2.0
"""The textual form of programs: it reads back to the same program, inline and with a sidecar file."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, FileLineColLoc, ModuleOp
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

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
from tilewright.dialects.asm.instructions import CallOp
from tilewright.dialects.tile_asm import TileAsm, module_to_program, program_to_module
from tilewright.tools.driver.output import print_beside, tables_of


def sample(words: int = 3) -> Program:
    rng = np.random.default_rng(0)
    operand = Operand(0x79000, "f16", (((0, 0),), ((0, 16),), ((0, 160), (16, 1))), (1024, -8))
    call = Call(
        "gemm.f16.f16",
        (operand, replace(operand, steps=())),
        (Operand(0x98000, "f32", ()),),
        (("scale", -2), ("epsilon", 1e-06), ("value", float("inf")), ("factor", 2.0)),
        "extents",
        "model.mlir:7:3 matmul",
    )
    return Program(
        machine="t4",
        name="sample",
        code=(Code("gemm.f16.f16", 0x70000, 1536),),
        supervisor_address=0x71000,
        tables=(
            Table("extents", 0x72000, np.tile([1, 2, 3, 4], (4, 1)), "arguments"),
            Table("rows", 0x74000, rng.integers(0, 2**32, (4, words), np.uint32), "rows"),
            Table("positions", 0x73000, np.zeros((4, 0), np.uint32), "patch tables"),
        ),
        bindings=(
            Binding("x", "input", 0x79000, "f16", "[40/10@1, 32|16]", "[40a, 32b]", (40, 32)),
            Binding("w", "parameter", 0x80400, "f8E4M3FNUZ", "[4]", "[4a]", (4,), ("a", "b"), 2, 64, -3),
        ),
        placed=(Placed("x", 0x79000, 640, "activations", 0, 3), Placed("p", 0x73000, 0, "patch tables")),
        body=(
            Exchange("rows"),
            Repeat(
                "layers",
                3,
                (
                    call,
                    Repeat("inner", 0, ()),
                    Tap("state", "x"),
                    Exchange("rows", "model.mlir:6:1", "weights"),
                ),
                (Patch("rows", "positions", -256), Patch("rows", "positions", 4, 0)),
            ),
        ),
        constants=(
            Constant("c", np.arange(3, dtype=np.float16)),
            Constant("scalar", np.float32(2).reshape(())),
        ),
    )


def text_of(module: ModuleOp, generic: bool = False) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=generic).print_op(module)
    return stream.getvalue()


def parse(text: str) -> ModuleOp:
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(TileAsm)
    return Parser(context, text).parse_module()


def test_a_program_and_its_module_are_inverse() -> None:
    program = sample()
    module = program_to_module(program)
    module.verify()
    assert module_to_program(module) == program


@pytest.mark.parametrize("generic", [False, True])
def test_text_reads_back(generic: bool) -> None:
    program = sample()
    text = text_of(program_to_module(program), generic)
    module = parse(text)
    module.verify()
    assert module_to_program(module) == program
    assert text_of(module, generic) == text


def test_scalars_keep_their_kind() -> None:
    program = module_to_program(parse(text_of(program_to_module(sample()))))
    repeat = program.body[1]
    assert isinstance(repeat, Repeat)
    call = repeat.body[0]
    assert isinstance(call, Call)
    assert [type(value) for _, value in call.scalars] == [int, float, float, float]


def test_an_instruction_has_the_location_of_its_provenance() -> None:
    module = program_to_module(sample())
    call = next(op for op in module.walk() if isinstance(op, CallOp))
    assert isinstance(call.location, FileLineColLoc)
    assert call.location.line.data == 7


def test_large_tables_go_to_a_sidecar_file(tmp_path: Path) -> None:
    program = sample(words=5000)
    module = program_to_module(program)
    assert sum(table.nbytes * 4 for table in program.tables) > sidecar.INLINE_LIMIT
    text = print_beside(tables_of(module), tmp_path / "p.mlir.data", lambda: text_of(module))
    assert len(text) < 5000
    assert 'file "p.mlir.data"' in text
    with sidecar.reading(tmp_path):
        assert module_to_program(parse(text)) == program


def test_a_changed_sidecar_file_is_refused(tmp_path: Path) -> None:
    module = program_to_module(sample())
    text = print_beside(tables_of(module), tmp_path / "p.data", lambda: text_of(module))
    path = tmp_path / "p.data"
    path.write_bytes(b"\x07" + path.read_bytes()[1:])
    with (
        sidecar.reading(tmp_path),
        pytest.raises(ParseError, match="does not hold what the text was written with"),
    ):
        parse(text)


def test_a_sidecar_reference_stays_in_its_folder(tmp_path: Path) -> None:
    module = program_to_module(sample())
    text = print_beside(tables_of(module), tmp_path / "p.data", lambda: text_of(module))
    with sidecar.reading(tmp_path / "sub"), pytest.raises(ParseError, match="must stay in its folder"):
        parse(text.replace('"p.data"', '"../p.data"'))


def test_a_missing_sidecar_file_is_named(tmp_path: Path) -> None:
    module = program_to_module(sample())
    text = print_beside(tables_of(module), tmp_path / "p.data", lambda: text_of(module))
    (tmp_path / "p.data").unlink()
    with sidecar.reading(tmp_path), pytest.raises(ParseError, match=r"cannot read sidecar file .*p\.data"):
        parse(text)


def test_large_tables_without_a_sidecar_are_elided() -> None:
    text = text_of(program_to_module(sample(words=20000)))
    assert len(text) < 5000
    with pytest.raises(ParseError, match="were not printed"):
        parse(text)


def test_a_name_that_nothing_has_is_refused() -> None:
    program = sample()
    with pytest.raises(VerifyException, match="no table is named 'nothing'"):
        program_to_module(replace(program, body=(Exchange("nothing"),))).verify()
    with pytest.raises(VerifyException, match="no binding is named 'nothing'"):
        program_to_module(replace(program, body=(Tap("v", "nothing"),))).verify()


def test_a_module_without_a_program_is_refused() -> None:
    with pytest.raises(ProgramError, match=r"0 tile_asm\.program"):
        module_to_program(ModuleOp([]))
