# SPDX-License-Identifier: Apache-2.0
"""
Extents that end inside a word: rows, hidden widths and heads are completed with lanes that nobody observes,
and cost about what the next whole word costs.
"""

from __future__ import annotations

from pathlib import Path

import harness
import numpy as np
import pytest

from tilewright.frontends.workloads import vit
from tilewright.frontends.workloads.encoder import Mode, Shape
from tilewright.machine.dtypes import numpy_dtype
from tilewright.passes.ir.tensors import choice_of
from tilewright.planning.operators.matmul import MatmulRecord
from tilewright.tools import result_schema
from tilewright.tools.tile_run import main as tile_run

F8 = "f8E4M3FNUZ"
BYTES = {"widen", "narrow"}
"""Kernels that take elements out of their words."""


DEFAULT_RULE = ("--search=off", "--poison=nan")


@pytest.mark.parametrize(
    ("width", "heads", "mlp", "cycles"),
    [(99, 9, 256, 42_784), (96, 4, 193, 32_656)],
)
def test_cycles_of_odd_extents(width: int, heads: int, mlp: int, cycles: int, tmp_path: Path) -> None:
    """On t64 width 112 with 8 heads takes 40,081, hidden 208 beside width 96 32,107."""
    shape = Shape(tokens=64, width=width, heads=heads, mlp=mlp, layers=1, batch=1, patch=48)
    vit.build(shape, Mode("f8", "f16")).write(tmp_path)
    file = tmp_path / "result.json"
    assert tile_run([str(tmp_path), "--machine=t64", "--compare=each", *DEFAULT_RULE, f"--json={file}"]) == 0
    assert result_schema.read(file)["cycles"]["total"] == cycles


HEADS_OF_33 = Shape(tokens=61, width=99, heads=3, mlp=256, layers=1, batch=1, patch=48)


@pytest.mark.parametrize(
    ("machine", "wide", "narrow"),
    [
        ("t64", 42_637, 42_510),
        pytest.param("c600", 31_823, 31_525, marks=pytest.mark.slow),
    ],
)
def test_narrow_attention_pays_in_small_programs(
    machine: str, wide: int, narrow: int, tmp_path: Path
) -> None:
    """Queries and keys are stored in 8 bits where their partials are added, in no phase of their own."""
    for attention, cycles in (("f16", wide), ("f8", narrow)):
        vit.build(HEADS_OF_33, Mode("f8", attention)).write(tmp_path)
        file = tmp_path / f"{attention}.json"
        assert tile_run([str(tmp_path), f"--machine={machine}", *DEFAULT_RULE, f"--json={file}"]) == 0
        assert result_schema.read(file)["cycles"]["total"] == cycles


PRODUCT = """
func.func @main(%x: tensor<9x33xf16>, %w: tensor<33x22xf16> {{tile_tensor.parameter = "w"}},
    %b: tensor<22xf16> {{tile_tensor.parameter = "b"}}) -> (tensor<2x9x11xf16>, tensor<9x22xf16>) {{
  %0 = tile_tensor.matmul %x, %w plus %b accumulate f32 {{plan = {{grid = array<i64: {grid}>, {fields}}}}}
    : (tensor<9x33xf16>, tensor<33x22xf16>, tensor<22xf16>) -> tensor<9x22xf16>
  %1 = tile_tensor.exp %0 : (tensor<9x22xf16>) -> tensor<9x22xf16>
  %2 = tile_tensor.reshape %0 : (tensor<9x22xf16>) -> tensor<9x2x11xf16>
  %3 = tile_tensor.transpose %2 permutation [1, 0, 2] : (tensor<9x2x11xf16>) -> tensor<2x9x11xf16>
  func.return %3, %1 : tensor<2x9x11xf16>, tensor<9x22xf16>
}}
"""


@pytest.mark.parametrize("grid", ["1, 2, 2, 1", "1, 3, 1, 1"])
@pytest.mark.parametrize("fields", ["group = 11", "inner = 3", "group = 1, inner = 11"])
def test_groups_of_products(grid: str, fields: str) -> None:
    """Whatever lay in memory before: lanes behind groups are not observed."""
    compiled = harness.compile_text(PRODUCT.format(grid=grid, fields=fields), "t4")
    rng = np.random.default_rng(3)
    inputs = {"arg0": rng.normal(size=(9, 33)).astype(np.float16)}
    parameters = {
        "w": rng.normal(size=(33, 22)).astype(np.float16),
        "b": rng.normal(size=22).astype(np.float16),
    }
    harness.check(compiled, inputs, parameters, (np.nan, 7.0))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("group = 4", "group 4 does not divide the 22 elements of a product of two axes, not swapped"),
        ("inner = 7", "inner 7 does not divide the 33 elements of a product of two axes, not swapped"),
    ],
)
def test_groups_that_do_not_divide_are_refused(fields: str, message: str) -> None:
    with pytest.raises(harness.TileError, match=message):
        harness.compile_text(PRODUCT.format(grid="1, 1, 1, 1", fields=fields), "t4")


HEADS = """
func.func @main(%x: tensor<13x{width}xf16>, %g: tensor<{width}xf16> {{tile_tensor.parameter = "g"}},
    %e: tensor<{width}xf16> {{tile_tensor.parameter = "e"}},
    %wq: {w} {{tile_tensor.parameter = "wq"}}, %wk: {w} {{tile_tensor.parameter = "wk"}},
    %wv: {w} {{tile_tensor.parameter = "wv"}}, %wo: {w} {{tile_tensor.parameter = "wo"}})
    -> tensor<13x{width}xf16> {{
  %n = tile_tensor.layer_norm %x, %g, %e epsilon 1e-5
    : (tensor<13x{width}xf16>, tensor<{width}xf16>, tensor<{width}xf16>) -> tensor<13x{width}xf16>
  %h = tile_tensor.cast %n : (tensor<13x{width}xf16>) -> tensor<13x{width}xf8E4M3FNUZ>
{products}
  %c = tile_tensor.attention %qt, %kt, %vt accumulate f16 scale 0.2
    : ({t}, {t}, {t}) -> tensor<{heads}x13x{head}xf16>
  %ct = tile_tensor.transpose %c permutation [1, 0, 2]
    : (tensor<{heads}x13x{head}xf16>) -> tensor<13x{heads}x{head}xf16>
  %cr = tile_tensor.reshape %ct : (tensor<13x{heads}x{head}xf16>) -> tensor<13x{width}xf16>
  %cc = tile_tensor.cast %cr : (tensor<13x{width}xf16>) -> tensor<13x{width}xf8E4M3FNUZ>
  %o = tile_tensor.matmul %cc, %wo accumulate f16
    : (tensor<13x{width}xf8E4M3FNUZ>, {w}) -> tensor<13x{width}xf16>
  %r = tile_tensor.add %x, %o : (tensor<13x{width}xf16>, tensor<13x{width}xf16>) -> tensor<13x{width}xf16>
  func.return %r : tensor<13x{width}xf16>
}}
"""


def heads_program(heads: int, head: int, element: str) -> str:
    """Norm, products of queries, keys and values, attention, projection and residual."""
    width = heads * head
    t, lines = f"tensor<{heads}x13x{head}x{element}>", list[str]()
    for name in "qkv":
        lines += [
            f"%{name} = tile_tensor.matmul %h, %w{name} accumulate f16"
            f" : (tensor<13x{width}x{F8}>, tensor<{width}x{width}x{F8}>) -> tensor<13x{width}xf16>",
            f"%{name}c = tile_tensor.{'abs' if element == 'f16' else 'cast'} %{name}"
            f" : (tensor<13x{width}xf16>) -> tensor<13x{width}x{element}>",
            f"%{name}r = tile_tensor.reshape %{name if element == 'f16' else name + 'c'}"
            f" : (tensor<13x{width}x{element}>) -> tensor<13x{heads}x{head}x{element}>",
            f"%{name}t = tile_tensor.transpose %{name}r permutation [1, 0, 2]"
            f" : (tensor<13x{heads}x{head}x{element}>) -> {t}",
        ]
    products = "\n".join(f"  {line}" for line in lines if "abs" not in line)
    w = f"tensor<{width}x{width}x{F8}>"
    return HEADS.format(width=width, heads=heads, head=head, w=w, t=t, products=products)


@pytest.mark.parametrize(
    ("heads", "head", "element"), [(3, 11, "f16"), (3, 33, F8), (5, 7, F8), (1, 13, "f16")]
)
def test_heads_that_cut_words(heads: int, head: int, element: str) -> None:
    compiled = harness.compile_text(heads_program(heads, head, element), "t16")
    assert not {code.kernel for code in compiled.image.code} & BYTES, "nothing is taken out of its words"
    width, rng = heads * head, np.random.default_rng(head)
    inputs = {"arg0": rng.normal(size=(13, width)).astype(np.float16)}
    parameters = {
        n: rng.normal(size=(width, width)).astype(numpy_dtype(F8)) / 4 for n in ("wq", "wk", "wv", "wo")
    }
    parameters = {n: x.astype(numpy_dtype(F8)) for n, x in parameters.items()}
    parameters |= {n: rng.normal(size=width).astype(np.float16) for n in "ge"}
    harness.check(compiled, inputs, parameters, (np.nan, 7.0))
    grouped = [choice_of(op) for op in compiled.oracle.module.walk() if op.name == "tile_tensor.matmul"]
    records = [choice.record for choice in grouped if choice is not None]
    assert sum(isinstance(r, MatmulRecord) and r.group == head for r in records) == (2 if heads > 1 else 0)
