# SPDX-License-Identifier: Apache-2.0
"""Attributes of the entry function's arguments and results that say what cannot be."""

from __future__ import annotations

import pytest

from tilewright.dialects.entry import ProgramError, read_entry
from tilewright.dialects.parsing import parse_module

X = "tensor<2xf16>"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            f"func.func @main(%x: {X} {{tile_tensor.input = 3 : i32}}) {{ func.return }}",
            f"argument 0 ({X}): `tile_tensor.input` is a string, found 3 : i32",
        ),
        (
            f'func.func @main(%x: {X} {{tile_tensor.parameter = "w", tile_tensor.input = "x"}})'
            " { func.return }",
            f'argument 0 ({X}): `tile_tensor.input` is absent on a parameter, found "x"',
        ),
        (
            'func.func @main(%x: tensor<4xi1> {tile_tensor.parameter = "w", tile_tensor.scale = 1 : i32})'
            " { func.return }",
            "argument 0 (tensor<4xi1>): `tile_tensor.scale` is for numbers, found 1 : i32",
        ),
        (
            f"func.func @main(%x: {X}) -> ({X} {{tile_tensor.output = 3 : i32}}) {{ func.return %x : {X} }}",
            "result 0: `tile_tensor.output` is a string, found 3 : i32",
        ),
        (
            f"func.func @main(%x: {X}) {{\n cf.br ^bb1\n^bb1:\n func.return\n}}",
            "@main has 2 blocks, a program has one",
        ),
    ],
)
def test_entries_that_cannot_be_read(source: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        read_entry(parse_module(source))
    assert caught.value.message == message and caught.value.location is not None
