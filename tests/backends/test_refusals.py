# SPDX-License-Identifier: Apache-2.0
"""What the back ends say about values, programs, image files and listings that cannot be."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.backends.host import HostError, pack, packing, quantise
from tilewright.backends.image import Image, ImageError, encode_supervisor, to_image
from tilewright.backends.program import Call, Code, Operand, Program, ProgramError, Table
from tilewright.backends.tasm import format_tasm, parse_tasm
from tilewright.planning.layout import Axis, Layout, Split, row_major
from tilewright.planning.layout.view import View

# Values


def test_an_array_of_another_shape() -> None:
    with pytest.raises(HostError, match=r"an array of shape \(3,\) is given for a value of shape \(4,\)"):
        pack(np.zeros(3, np.float32), row_major((4,)), View.identity((4,)), "f32", 0, 4)


def test_values_that_no_element_type_can_hold() -> None:
    with pytest.raises(HostError, match="values of type complex64 cannot be stored as f32"):
        quantise(np.zeros(2, np.complex64), "f32")


def test_a_layout_that_is_too_wide() -> None:
    layout = Layout((Axis(4, (Split(1, 1),)), Axis(1 << 16), Axis(1 << 14)), ((0, 0), (1, 0), (2, 0)))
    view = View((4, 2, 2), ((((4, 0, 1)),), ((2, 1, (1 << 16) - 1),), ((2, 2, (1 << 14) - 1),)), (0, 0, 0))
    with pytest.raises(HostError, match=r"spreads over more than 2\^31 elements"):
        packing(layout, view, 4, 4)


# Programs


def program() -> Program:
    """One call of a kernel without operands."""
    table = Table("extents", 0x72000, np.ones((4, 1), np.uint32), "arguments")
    call = Call("fill", (), (Operand(0x79000, "u32", (((0, 1),),)),), (("value", 0),), "extents")
    return Program("t4", "one", (Code("fill", 0x70000, 64),), 0x71000, (table,), (), (), (call,))


def test_a_call_of_more_operands_than_a_word_counts() -> None:
    made = program()
    call = made.body[0]
    assert isinstance(call, Call)
    many = replace(made, body=(replace(call, outs=call.outs * 256),))
    with pytest.raises(ProgramError, match="call of 'fill' has more than 255 operands, axes or scalars"):
        encode_supervisor(many)


def test_a_table_between_words() -> None:
    made = program()
    odd = replace(made, tables=(replace(made.tables[0], address=0x72002),))
    with pytest.raises(ProgramError, match="'extents' is placed at 0x72002, which is not a word address"):
        to_image(odd)


# Image files


def _saved(folder: Path) -> Path:
    path = folder / "one.image.json"
    to_image(program()).save(path)
    return path


def _without_words(path: Path) -> None:
    (path.parent / json.loads(path.read_text())["data"]["file"]).unlink()


def _with_other_words(path: Path) -> None:
    words = path.parent / json.loads(path.read_text())["data"]["file"]
    data = bytearray(words.read_bytes())
    data[0] ^= 1
    words.write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), "cannot read the image '"),
        (lambda path: path.write_text("[1]"), "' is not a program image"),
        (_without_words, "cannot read the image's words: "),
        (_with_other_words, "does not match the sha256 in 'one.image.json'"),
    ],
)
def test_damaged_image_files(tmp_path: Path, damage: Callable[[Path], None], message: str) -> None:
    path = _saved(tmp_path)
    Image.load(path)
    damage(path)
    with pytest.raises(ImageError) as caught:
        Image.load(path)
    assert message in str(caught.value)


# Listings


def test_text_that_is_no_listing() -> None:
    with pytest.raises(ProgramError, match="the listing cannot be read at line 1: "):
        parse_tasm("once upon a time\n")
    with pytest.raises(ProgramError, match="the listing cannot be read at "):
        parse_tasm("")


def test_rows_of_a_table_that_do_not_follow_each_other() -> None:
    text = format_tasm(program())
    assert "tiles 0-3: #00000001" in text
    with pytest.raises(ProgramError, match="does not continue 0 of 4 tiles"):
        parse_tasm(text.replace("tiles 0-3: #00000001", "tiles 1-3: #00000001"))
