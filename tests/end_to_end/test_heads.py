# SPDX-License-Identifier: Apache-2.0
"""
Attention by heads that are no whole panels, and values of any number of keys and batches, as the default rule
plans them: bit for bit.
"""

from __future__ import annotations

import harness
import numpy as np
import pytest

from tilewright.dialects.parsing import context, parse_module
from tilewright.machine.dtypes import numpy_dtype
from tilewright.passes.ir.tensors import choice_of
from tilewright.planning.operators.attention import OwnKeysRecord
from tilewright.planning.operators.matmul import MatmulRecord

F8 = "f8E4M3FNUZ"


def tensor(*shape: int, element: str = "f16") -> str:
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


def program(samples: int, tokens: int, heads: int, depth: int, element: str) -> str:
    """Q, K and V as products of one operand, cast to `element`, attention by heads."""
    rows, width = samples * tokens, heads * depth
    x, w, y = tensor(rows, 32, element=F8), tensor(32, width, element=F8), tensor(rows, width)
    stored = tensor(rows, width, element=element)
    split = tensor(samples, tokens, heads, depth, element=element)
    each = tensor(samples, heads, tokens, depth, element=element)
    result = tensor(samples, heads, tokens, depth)
    lines: list[str] = []
    for name in "qkv":
        lines.append(f"%{name}0 = tile_tensor.matmul %x, %w{name} accumulate f16 : ({x}, {w}) -> {y}")
        cast = f"%{name}1 = tile_tensor.cast %{name}0 : ({y}) -> {stored}"
        lines.append(
            cast if element != "f16" else f"%{name}1 = tile_tensor.add %{name}0, %{name}0 : ({y}, {y}) -> {y}"
        )
        lines.append(f"%{name}2 = tile_tensor.reshape %{name}1 : ({stored}) -> {split}")
        lines.append(
            f"%{name} = tile_tensor.transpose %{name}2 permutation [0, 2, 1, 3] : ({split}) -> {each}"
        )
    operands = f"({each}, {each}, {each}) -> {result}"
    lines.append(f"%r = tile_tensor.attention %q, %k, %v accumulate f16 scale 0.2 : {operands}")
    arguments = ", ".join(f'%w{n}: {w} {{tile_tensor.parameter = "{n}"}}' for n in "qkv")
    body = "\n  ".join(lines)
    return f"func.func @main(%x: {x}, {arguments}) -> {result} {{\n  {body}\n  func.return %r : {result}\n}}"


@pytest.mark.parametrize(
    ("samples", "tokens", "heads", "depth", "group"),
    [(2, 21, 2, 40, 20), (1, 37, 2, 72, 24), (2, 10, 1, 80, 80), (1, 35, 2, 96, 0)],
)
def test_heads_in_whole_panels(samples: int, tokens: int, heads: int, depth: int, group: int) -> None:
    text = program(samples, tokens, heads, depth, F8)
    compiled = harness.compile_text(text, "t16", search="off")
    kernels = {code.kernel for code in compiled.image.code}
    assert not kernels & {"widen", "narrow"} or depth % 2, "bytes are not taken out of their words"
    (record,) = plans(compiled, "attention")
    assert isinstance(record, OwnKeysRecord) and record.group == group
    values = next(r for r in plans(compiled, "matmul") if isinstance(r, MatmulRecord) and r.swap)
    assert (values.batch, values.word) == (samples, 4)
    harness.check(compiled, *operands(samples * tokens, heads * depth), (np.nan, 7.0))


@pytest.mark.parametrize(("samples", "tokens"), [(2, 9), (3, 7)])
def test_values_in_halves_of_several_samples(samples: int, tokens: int) -> None:
    compiled = harness.compile_text(program(samples, tokens, 2, 16, "f16"), "t16", search="off")
    values = next(r for r in plans(compiled, "matmul") if isinstance(r, MatmulRecord) and r.swap)
    assert (values.batch, values.word) == (samples, 2)
    harness.check(compiled, *operands(samples * tokens, 32), (np.nan, -42.0))


@pytest.mark.parametrize(("given", "group"), [("", 0), (' {plan = {strategy = "panels", group = 33}}', 33)])
def test_heads_that_their_product_completes(given: str, group: int) -> None:
    """Heads of 33 columns have lanes to their last word already, and stay so unless panels are asked for."""
    text = program(1, 13, 3, 33, F8)
    for name in "qk":
        text = text.replace(f"cast %{name}0 :", f"cast %{name}0{given} :")
    compiled = harness.compile_text(text, "t16", search="off")
    kernels = {code.kernel for code in compiled.image.code}
    assert not kernels & {"widen", "narrow"} and ("cast.panels" in kernels) == bool(group)
    (record,) = plans(compiled, "attention")
    assert isinstance(record, OwnKeysRecord) and record.group == group
    harness.check(compiled, *operands(13, 99), (np.nan, 7.0))


@pytest.mark.parametrize(
    ("tokens", "parts", "features"),
    [(13, 1, ""), (61, 4, ""), (64, 4, "causal "), (29, 2, "causal window 9 "), (70, 3, "")],
)
def test_keys_of_less_than_a_pass(tokens: int, parts: int, features: str) -> None:
    """A tile of up to 16 keys takes half a pass of the second product in 8 bits; the rest of it is zeros."""
    text = program(1, tokens, 1, 40, F8).replace(
        "accumulate f16 scale 0.2",
        f"accumulate f16 scale 0.2 {features}{{plan = {{grid = array<i64: 1, 2, {parts}>}}}}",
    )
    compiled = harness.compile_text(text, "t16", search="off")
    harness.check(compiled, *operands(tokens, 40), (np.nan, 7.0))


def plans(compiled: harness.Compiled, kind: str) -> list[object]:
    """The records of the operators of a kind."""
    found = [op for op in compiled.oracle.module.walk() if op.name == f"tile_tensor.{kind}"]
    return [choice.record for op in found if (choice := choice_of(op)) is not None]


def operands(rows: int, width: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    rng = np.random.default_rng(rows)
    dtype = numpy_dtype(F8)
    inputs = {"arg0": rng.normal(size=(rows, 32)).astype(dtype)}
    return inputs, {name: (rng.normal(size=(32, width)) / 4).astype(dtype) for name in "qkv"}


def test_a_group_that_does_not_divide_a_head_is_refused() -> None:
    text = program(1, 8, 1, 72, F8).replace(
        "scale 0.2 :", "scale 0.2 {plan = {grid = array<i64: 1, 1, 1>, group = 7}} :"
    )
    with pytest.raises(
        harness.TileError, match="groups of 7 columns are for 8-bit heads that they divide; there are 72"
    ):
        harness.compile_module(parse_module(text, ctx=(ctx := context())), ctx, "t4")
    text = program(1, 8, 1, 72, F8).replace(
        "%q0 : (tensor<8x72xf16>)", '%q0 {plan = {strategy = "panels", group = 7}} : (tensor<8x72xf16>)'
    )
    with pytest.raises(harness.TileError, match="groups of 7 columns do not divide rows of 72"):
        harness.compile_module(parse_module(text, ctx=(ctx := context())), ctx, "t4")
    text = program(1, 8, 1, 72, F8).replace(
        "accumulate f16 :", "accumulate f16 {plan = {batch = 3, swap = true}} :", 1
    )
    with pytest.raises(harness.TileError, match="batch 3 does not divide the 8 rows of a swapped product"):
        harness.compile_module(parse_module(text, ctx=(ctx := context())), ctx, "t4")


def test_rows_of_ones_need_room() -> None:
    text = program(1, 8, 1, 32, F8).replace(
        "scale 0.2 :", "scale 0.2 {plan = {grid = array<i64: 1, 1, 1>, ones = true}} :"
    )
    with pytest.raises(harness.TileError, match="32 columns of values leave no room for rows of ones"):
        harness.compile_module(parse_module(text, ctx=(ctx := context())), ctx, "t4")
