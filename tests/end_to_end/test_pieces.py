# SPDX-License-Identifier: Apache-2.0
"""Small pieces that cut words, of tensors that are large beside them, fit and hold the right values."""

import numpy as np
import pytest
from test_views import differs


def tensor(shape: tuple[int, ...], dtype: str) -> str:
    return "tensor<" + "".join(f"{n}x" for n in shape) + f"{dtype}>"


def program(inputs: dict[str, str], lines: list[str], result: str, type_: str) -> str:
    arguments = ", ".join(f'%{name}: {t} {{tile_tensor.input = "{name}"}}' for name, t in inputs.items())
    head = f'func.func @main({arguments}) -> ({type_} {{tile_tensor.output = "y"}}) {{'
    return "\n".join([head, *lines, f"return {result} : {type_}", "}"])


def whole_numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(-4, 5, shape).astype(np.float32)


def reversed_in_pieces(pieces: int) -> str:
    """All rows of x in pieces of 3 rows of 5, the last first."""
    whole, piece = tensor((3 * pieces, 5), "f16"), tensor((3, 5), "f16")
    lines = [
        f"%s{i} = tile_tensor.slice %x offsets [{start}, 0] sizes [3, 5] : ({whole}) -> {piece}"
        for i, start in enumerate(range(3 * (pieces - 1), -1, -3))
    ]
    names, types = ", ".join(f"%s{i}" for i in range(pieces)), ", ".join([piece] * pieces)
    lines.append(f"%r = tile_tensor.concat {names} axis 0 : ({types}) -> {whole}")
    return program({"x": whole}, lines, "%r", whole)


def test_a_concatenation_of_257_pieces_fits() -> None:
    """A tensor of 7.7 KB was widened once a piece: 282 KB on every tile."""
    assert not differs(reversed_in_pieces(257), {"x": whole_numbers(771, 5)}, "t16")


@pytest.mark.parametrize(("dtype", "rows"), [("f16", 6_000), ("f8E4M3FNUZ", 30_000)])
def test_pads_of_many_pieces_share_what_they_read(dtype: str, rows: int) -> None:
    """Independent operators move in one phase: together they hold one rearranged copy, not one each."""
    whole, piece, padded = tensor((rows, 5), dtype), tensor((3, 5), dtype), tensor((3, 7), dtype)
    count = 40
    lines = [f"%a0 = tile_tensor.slice %x offsets [0, 0] sizes [3, 5] : ({whole}) -> {piece}"]
    lines.append(f"%m0 = tile_tensor.pad %a0 low [0, 1] high [0, 1] : ({piece}) -> {padded}")
    for i in range(1, count):
        lines += [
            f"%s{i} = tile_tensor.slice %x offsets [{7 * i}, 0] sizes [3, 5] : ({whole}) -> {piece}",
            f"%p{i} = tile_tensor.pad %s{i} low [0, 1] high [0, 1] : ({piece}) -> {padded}",
            f"%m{i} = tile_tensor.maximum %m{i - 1}, %p{i} : ({padded}, {padded}) -> {padded}",
        ]
    text = program({"x": whole}, lines, f"%m{count - 1}", padded)
    assert not differs(text, {"x": whole_numbers(rows, 5)}, "t16")


def test_a_piece_of_a_tensor_that_fills_half_the_memory() -> None:
    """Only the words around the piece are rearranged."""
    whole, line = tensor((1500, 1000), "f8E4M3FNUZ"), tensor((1_500_000,), "f8E4M3FNUZ")
    piece, padded = tensor((15,), "f8E4M3FNUZ"), tensor((18,), "f8E4M3FNUZ")
    lines = [
        f"%f = tile_tensor.reshape %x : ({whole}) -> {line}",
        f"%s = tile_tensor.slice %f offsets [700001] sizes [15] : ({line}) -> {piece}",
        f"%r = tile_tensor.pad %s low [1] high [2] : ({piece}) -> {padded}",
    ]
    text = program({"x": whole}, lines, "%r", padded)
    assert not differs(text, {"x": whole_numbers(1500, 1000)}, "t16")


@pytest.mark.parametrize("made", [False, True])
def test_columns_of_several_tensors_travel_in_turn(made: bool) -> None:
    """
    A column has no small box around it, so whole tensors are widened, but not all at once; also where they
    are results of operators, whose independent phases are merged.
    """
    rows, columns, count = 300, 120, 8
    whole, piece = tensor((rows, columns), "f8E4M3FNUZ"), tensor((rows, 1), "f8E4M3FNUZ")
    result = tensor((rows, count), "f8E4M3FNUZ")
    lines: list[str] = []
    for i in range(count):
        lines.append(f"%z{i} = tile_tensor.neg %x{i} : ({whole}) -> {whole}" if made else "")
        source = f"%z{i}" if made else f"%x{i}"
        box = f"offsets [0, {7 * i + 1}] sizes [{rows}, 1]"
        lines.append(f"%s{i} = tile_tensor.slice {source} {box} : ({whole}) -> {piece}")
    names, types = ", ".join(f"%s{i}" for i in range(count)), ", ".join([piece] * count)
    lines.append(f"%r = tile_tensor.concat {names} axis 1 : ({types}) -> {result}")
    text = program({f"x{i}": whole for i in range(count)}, lines, "%r", result)
    assert not differs(text, {f"x{i}": whole_numbers(rows, columns) + i % 2 for i in range(count)}, "t4")
