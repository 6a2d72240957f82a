# SPDX-License-Identifier: Apache-2.0
"""The image: supervisor words say what the program says, files read back, damage is noticed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.backends.image import (
    Image,
    ImageError,
    encode_supervisor,
    supervisor_bytes,
    to_image,
)
from tilewright.backends.program import (
    Binding,
    Call,
    Code,
    Constant,
    Exchange,
    Instruction,
    Operand,
    Patch,
    Placed,
    Program,
    ProgramError,
    Repeat,
    Table,
    Tap,
)
from tilewright.sim.illegal import IllegalProgram
from tilewright.sim.supervisor import (
    DecodedCall,
    DecodedExchange,
    DecodedRepeat,
    DecodedTap,
    decode_supervisor,
)

small = st.integers(-(2**31), 2**31 - 1)
operands = st.builds(
    Operand,
    st.integers(0, 2**21),
    st.sampled_from(["f32", "f16", "f8E4M3FNUZ", "i8", "u32"]),
    st.lists(
        st.builds(
            lambda outer, inner: ((0, outer), *inner),
            small,
            st.lists(st.tuples(st.integers(1, 1000), small), max_size=2),
        ),
        max_size=4,
    ).map(tuple),
    st.lists(small, max_size=2).map(tuple),
)
calls = st.builds(
    Call,
    st.sampled_from(["cast", "gemm.f8"]),
    st.lists(operands, max_size=3).map(tuple),
    st.lists(operands, max_size=2).map(tuple),
    st.lists(
        st.tuples(
            st.sampled_from(["scale", "epsilon", "mine"]),
            st.integers(-(2**40), 2**40) | st.floats(allow_nan=False),
        ),
        max_size=3,
        unique_by=lambda scalar: scalar[0],
    ).map(tuple),
    st.just("extents"),
)
simple = calls | st.just(Exchange("rows")) | st.just(Tap("value", "x"))


def fitting(body: tuple[Instruction, ...], depth: int = 0) -> tuple[Instruction, ...]:
    """The body with no more address steps on an operand than repeats enclose it."""

    def one(instruction: Instruction) -> Instruction:
        match instruction:
            case Call():
                ins, outs = (
                    tuple(replace(operand, steps=operand.steps[:depth]) for operand in side)
                    for side in (instruction.ins, instruction.outs)
                )
                return replace(instruction, ins=ins, outs=outs)
            case Repeat():
                return replace(instruction, body=fitting(instruction.body, depth + 1))
            case _:
                return instruction

    return tuple(map(one, body))


bodies = st.recursive(
    st.lists(simple, max_size=3).map(tuple),
    lambda inner: st.lists(
        simple
        | st.builds(
            Repeat,
            st.just("r"),
            st.integers(0, 5),
            inner,
            st.lists(st.builds(Patch, st.just("rows"), st.just("positions"), small), max_size=2).map(tuple),
        ),
        max_size=3,
    ).map(tuple),
    max_leaves=5,
).map(fitting)


def program(body: tuple[Instruction, ...] = ()) -> Program:
    return Program(
        machine="t4",
        name="p",
        code=(Code("cast", 0x70000, 64), Code("gemm.f8", 0x70040, 64)),
        supervisor_address=0x71000,
        tables=(
            Table("extents", 0x72000, np.arange(12).reshape(4, 3), "arguments"),
            Table("rows", 0x74000, np.tile([5, 6], (4, 1)), "rows"),
            Table("positions", 0x73000, np.full((4, 1), 0xFFFFFFFF), "patch tables"),
        ),
        bindings=(Binding("x", "input", 0x78000, "f16", "[4]", "[4a]", (4,)),),
        placed=(Placed("x", 0x78000, 8, "activations", 0, 1),),
        body=body,
        constants=(Constant("c", np.arange(4, dtype=np.float16)),),
    )


def same(instruction: Instruction, decoded: object) -> bool:
    """Whether a decoded instruction says what the program's says."""
    match instruction, decoded:
        case Call(), DecodedCall():
            return (
                decoded.code == {"cast": 0x70000, "gemm.f8": 0x70040}[instruction.kernel]
                and (decoded.extents, decoded.extent_axes) == (0x72000, 3)
                and decoded.scalars == instruction.scalars
                and [type(v) for _, v in decoded.scalars] == [type(v) for _, v in instruction.scalars]
                and len(decoded.ins) == len(instruction.ins)
                and len(decoded.outs) == len(instruction.outs)
                and all(
                    (one.address, one.dtype, one.axes, one.steps)
                    == (other.address, other.dtype, other.axes, other.steps)
                    for one, other in zip(
                        (*instruction.ins, *instruction.outs), (*decoded.ins, *decoded.outs), strict=True
                    )
                )
            )
        case Exchange(), DecodedExchange():
            return (decoded.rows, decoded.width) == (0x74000, 2)
        case Repeat(), DecodedRepeat():
            return (
                decoded.count == instruction.count
                and [(p.rows, p.width, p.positions, p.count, p.delta_words, p.shift) for p in decoded.patches]
                == [(0x74000, 2, 0x73000, 1, p.delta_words, p.shift) for p in instruction.patches]
                and len(decoded.body) == len(instruction.body)
                and all(map(same, instruction.body, decoded.body))
            )
        case Tap(), DecodedTap():
            return True
        case _:
            return False


@settings(max_examples=100, deadline=None)
@given(bodies)
def test_words_say_what_the_program_says(body: tuple[Instruction, ...]) -> None:
    supervisor = encode_supervisor(program(body))
    decoded = decode_supervisor(supervisor.words, supervisor.scalar_names)
    assert len(decoded) == len(body)
    assert all(map(same, body, decoded))
    assert supervisor_bytes(body) == 4 * len(supervisor.words)


@settings(max_examples=200, deadline=None)
@given(bodies, st.data())
def test_a_changed_word_is_read_or_refused_but_never_crashes(body: tuple[Instruction, ...], data) -> None:
    words = encode_supervisor(program(body)).words.copy()
    at = data.draw(st.integers(0, len(words) - 1))
    words[at] = data.draw(st.integers(0, 2**32 - 1))
    try:
        decode_supervisor(words[: data.draw(st.integers(1, len(words)))])
    except IllegalProgram as error:
        assert error.rule in ("malformed instruction", "too many steps")


def test_taps_and_names_are_in_the_manifest() -> None:
    image = to_image(program((Tap("first", "x"), Exchange("rows", "m.mlir:1", "swap"))))
    assert [tap.value for tap in image.taps] == ["first"]
    assert [(entry.kind, entry.name) for entry in image.debug] == [("tap", "first"), ("exchange", "swap")]


def test_a_file_reads_back(tmp_path: Path) -> None:
    image = to_image(program((Exchange("rows"),)))
    image.save(tmp_path / "p.json")
    again = Image.load(tmp_path / "p.json")
    for one, other in zip(image.segments, again.segments, strict=True):
        assert (one.name, one.address, one.category) == (other.name, other.address, other.category)
        assert np.array_equal(one.words, other.words)
    for name in ("machine", "name", "supervisor", "code", "bindings", "placed", "debug", "taps", "constants"):
        assert getattr(image, name) == getattr(again, name)


def test_rows_that_all_tiles_share_are_stored_once() -> None:
    shapes = {segment.name: segment.words.shape for segment in to_image(program()).segments}
    assert shapes["rows"] == (1, 2)
    assert shapes["extents"] == (4, 3)


def test_a_newer_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    to_image(program()).save(path)
    manifest = json.loads(path.read_text())
    manifest["version"] = 99
    path.write_text(json.dumps(manifest))
    with pytest.raises(ImageError, match="version 99, this tilewright reads up to 1"):
        Image.load(path)


def test_damaged_words_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    to_image(program()).save(path)
    data = tmp_path / "p.json.data"
    data.write_bytes(data.read_bytes()[:-1] + b"\xff")
    with pytest.raises(ImageError, match="sha256"):
        Image.load(path)


def test_words_stay_beside_their_manifest(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    to_image(program()).save(path)
    path.write_text(path.read_text().replace('"p.json.data"', '"../p.json.data"'))
    with pytest.raises(ImageError, match="outside its folder"):
        Image.load(path)


@pytest.mark.parametrize("text", ["", "[1]", '{"format": "other"}'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(ImageError):
        Image.load(path)


def test_tables_that_overlap_are_refused() -> None:
    made = program()
    moved = replace(made.tables[1], address=0x72004)
    with pytest.raises(ProgramError, match=r"'rows' at 0x72004 overlaps 'extents', which ends at 0x7200c"):
        to_image(replace(made, tables=(made.tables[0], moved)))


def test_a_table_that_is_not_there_is_named() -> None:
    with pytest.raises(ProgramError, match="no table is named 'nothing'"):
        to_image(program((Exchange("nothing"),)))


def test_a_kernel_without_code_is_named() -> None:
    with pytest.raises(ProgramError, match="kernel 'copy' is called but has no code"):
        to_image(program((Call("copy", (), (), (), "extents"),)))
