# SPDX-License-Identifier: Apache-2.0
"""Malformed supervisor programs, listings and IR of programs: words and text by hand, one message each."""

from __future__ import annotations

import time

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from tilewright.backends.image import OP_CALL, OP_END, OP_EXCHANGE, OP_REPEAT, encode_supervisor
from tilewright.backends.program import Call, Code, Constant, Operand, Program, ProgramError, Repeat, Table
from tilewright.backends.tasm import format_tasm, parse_tasm
from tilewright.dialects.parsing import parse_module
from tilewright.sim.illegal import IllegalProgram
from tilewright.sim.supervisor import DEEPEST, decode_supervisor

END = OP_END << 24 | 1


def call(*rest: int, ins: int = 0, scalars: int = 0) -> list[int]:
    """A call that is as long as it says."""
    return [OP_CALL << 24 | 4 + len(rest), 0, 0, ins | scalars << 24, *rest]


def repeat(*body: int, patch: tuple[int, ...] = ()) -> list[int]:
    return [OP_REPEAT << 24 | 4 + len(patch) + len(body), 2, len(body), len(patch) // 6, *patch, *body]


def nested(depth: int) -> list[int]:
    made: list[int] = []
    for _ in range(depth):
        made = repeat(*made)
    return made


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([7], "supervisor word 0: the program does not end with its last word"),
        ([OP_CALL << 24 | 2, 0, END], "supervisor word 1: the instruction is cut off"),
        ([OP_CALL << 24 | 9, END], "supervisor word 0: an instruction of 9 words does not fit here"),
        ([9 << 24 | 1, END], "supervisor word 0: unknown opcode 0x09"),
        ([OP_EXCHANGE << 24 | 4, 0, 0, 0, END], "the instruction has 3 words, its length says 4"),
        ([*nested(DEEPEST + 1), END], f"repeats are nested deeper than {DEEPEST}"),
        ([*call(0xFFFF, 0, 0, scalars=1), END], "scalar number 65535 has no name"),
        ([*call(0, 0, 0, 0, 0, 0, scalars=2), END], "the call states '"),
        ([*call(0), END], "the call's operands take 4 words, its length says 5"),
        ([*call(0, 1 << 16, 0, ins=1), END], "an operand has 1 address steps inside of 0 repeats"),
        (
            [*call(0, 1 << 8, 0, ins=1), END],
            "an axis has one digit of size 0, the outermost, and none without a size",
        ),
        (
            [*call(0, 1 << 8, 3, 0, 1, 1 << 16, 1, 1 << 16, 1, ins=1), END],
            "the digits of an axis count beyond 31 bits",
        ),
        ([*repeat(patch=(0, 1, 0, 1, 1, 5)), END], "a patch names the field at bit 5, where there is none"),
        ([OP_REPEAT << 24 | 4, 2, 3, 0, END], "a body of 3 words does not end where the repeat ends"),
    ],
)
def test_malformed_instructions(words: list[int], message: str) -> None:
    with pytest.raises(IllegalProgram) as caught:
        decode_supervisor(np.array(words, np.uint32))
    assert caught.value.rule == "malformed instruction" and message in str(caught.value)


def test_well_formed_words_are_read() -> None:
    """The helpers above write what the decoder reads, but for what a case breaks."""
    assert (
        len(decode_supervisor(np.array([*call(), *repeat(*call()), *nested(DEEPEST), END], np.uint32))) == 3
    )


LISTING = format_tasm(
    Program(
        "t4",
        "one",
        (Code("fill", 0x70000, 64),),
        0x71000,
        (Table("extents", 0x72000, np.ones((4, 2), np.uint32), "arguments"),),
        (),
        (),
        (Repeat("layers", 3, ()),),
        constants=(Constant("k", np.array([1, 2], np.int8)),),
    )
)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"fill"', r'"fi\qll"', "is no string: "),
        ("0x70000", "0x170000000", "0x170000000 is not a number from 0 to 4294967295"),
        ("#00000001_00000001", "#00000001_1", "'1' is no word: 8 hexadecimal digits"),
        ("#00000001_00000001", "#00000001", 'table "extents": 1 words are given for rows of 2'),
        ("#0102", "#010", "the bytes of a constant are two hexadecimal digits each"),
        ("#0102", "#01_02", "the bytes of a constant are two hexadecimal digits each"),
        (
            'repeat "layers" 3',
            'repeat "layers" 3 ' + 'repeat "inner" 2 ' * 80,
            f"repeats are nested deeper than {DEEPEST}",
        ),
    ],
)
def test_malformed_listings(old: str, new: str, message: str) -> None:
    assert old in LISTING
    text = LISTING.replace(old, new, 1)
    if "inner" in new:
        text += "  end\n" * 80
    with pytest.raises(ProgramError) as caught:
        parse_tasm(text)
    assert message in str(caught.value)


def programs(*calls: Call) -> Program:
    table = Table("extents", 0x72000, np.ones((4, 1), np.uint32), "arguments")
    return Program("t4", "one", (Code("fill", 0x70000, 64),), 0x71000, (table,), (), (), calls)


def fill(*scalars: tuple[str, int | float], axes: int = 1) -> Call:
    operand = Operand(0x79000, "u32", (((0, 1),),) * axes)
    return Call("fill", (), (operand,), scalars, "extents")


@pytest.mark.slow  # compares processor times, which a busy machine may bend
def test_many_names_of_scalars_take_linear_time() -> None:
    """Twice as many names take about twice as long: looked up in a list, four times."""

    def seconds(names: int) -> float:
        calls = [fill(*((f"n{i + j}", 1) for j in range(200))) for i in range(0, names, 200)]
        made = programs(*calls)
        start = time.process_time()
        assert encode_supervisor(made).scalar_names[-1] == f"n{names - 1}"
        return time.process_time() - start

    assert min(seconds(40_000) for _ in range(3)) < 3 * min(seconds(20_000) for _ in range(3)) + 0.02


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (programs(fill(("value", 1 << 70))), "scalar 'value' 1180591620717411303424 does not fit 64 bits"),
        (programs(fill(axes=300)), "an operand has 300 axes and 0 steps"),
    ],
)
def test_calls_that_cannot_be_encoded(program: Program, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        encode_supervisor(program)
    assert message in str(caught.value)


def test_repeats_in_ir_that_are_too_deep() -> None:
    opened = "".join(f'tile_asm.repeat "r{i}" count 2 {{\n' for i in range(DEEPEST + 1))
    exchange = 'tile_asm.exchange "e" rows "rows"\n'
    table = 'tile_asm.table "rows" rows at 0x72000 <[4, 1], "00000000000000000000000000000000">\n'
    head = 'tile_asm.program "p" machine "t4" supervisor 0x71000 {\n'
    text = head + table + opened + exchange + "}\n" * (DEEPEST + 2)
    with pytest.raises(VerifyException, match=f"repeats are nested deeper than {DEEPEST}"):
        parse_module(text).verify()
