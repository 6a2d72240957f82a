# SPDX-License-Identifier: Apache-2.0
"""
Folding norms: the program means the same afterwards, in f32; what cannot take gamma and beta keeps them.
"""

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.reference import evaluate
from tilewright.dialects.tile_tensor import LayerNormOp
from tilewright.frontends.program_folder import read_tensors, write_tensors
from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads import vit
from tilewright.passes.ir.parameters import FoldError
from tilewright.passes.tile_fold_norms import TileFoldNormsPass, fold_norms
from tilewright.tools.tile_opt import main as tile_opt
from tilewright.tools.tile_run import main as tile_run


def parse(text: str) -> ModuleOp:
    return parse_module(text, ctx=context())


def vectors(module: ModuleOp) -> list[int]:
    return [len(op.vectors) for op in module.walk() if isinstance(op, LayerNormOp)]


@pytest.mark.parametrize("precision", ["f8", "f16"])
def test_a_transformer_means_the_same(precision: str) -> None:
    """Unrounded, but for the parameters, to what f32 and the precision of the folded parameters leave."""
    folder = vit.build(vit.DEFAULT, e.Mode(precision, "f16"), classes=5)
    rng = np.random.default_rng(7)
    parameters = dict(folder.parameters)
    for name, value in parameters.items():
        if "norm" in name:  # far from 1 and 0
            parameters[name] = (value + rng.normal(0, 0.5, value.shape)).astype(value.dtype)
    given, folded = parse(folder.program), parse(folder.program)
    record, added = fold_norms(folded, parameters)
    folded.verify()
    parse(str(folded)).verify()
    assert [entry.norm for entry in record] == ["layers.norm1", "layers.norm2"]
    assert vectors(given) == [2, 2, 2] and vectors(folded) == [0, 0, 2]
    before, after = (
        evaluate(module, folder.inputs, {**parameters, **added}, round_activations=False)["tokens"]
        for module in (given, folded)
    )
    near = 0.06 if precision == "f8" else 2e-3
    error = np.linalg.norm(before - after) / np.linalg.norm(before)
    assert error < near
    name = next(name for name in added if "norm1.weight" in name)
    old, gamma = name.split("*")
    np.testing.assert_array_equal(
        added[name],
        np.float32(parameters[gamma])[:, None] * np.float32(parameters[old]),
    )


TEXT = """
func.func @main(%x: tensor<4x8xf16>, %w: tensor<8x8xf16> {tile_tensor.parameter = "w"},
    %b: tensor<8xf16> {tile_tensor.parameter = "b"}, %g: tensor<8xf16> {tile_tensor.parameter = "g"},
    %o: tensor<8xf16> {tile_tensor.parameter = "o"}) -> tensor<4x8xf16> {
  %n = tile_tensor.layer_norm %x, %g, %o epsilon 1.0e-06
    : (tensor<4x8xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  %p = tile_tensor.matmul %n, %w scale 1 : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
  %y = tile_tensor.add %p, %b : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  func.return %y : tensor<4x8xf16>
}
"""
"""A norm, a product with a scale of its own, and a bias."""


def values() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {name: rng.normal(1, 1, (8, 8) if name == "w" else 8).astype(np.float32) for name in "wbgo"}


def test_a_scale_of_the_product_is_one_of_its_offset() -> None:
    """In f32 all along: nothing but the order of operations has changed."""
    x = np.random.default_rng(4).normal(0, 1, (4, 8)).astype(np.float32)
    module = parse(TEXT.replace("f16", "f32"))
    expected = evaluate(module, {"arg0": x}, values())["out0"]
    (record,), added = fold_norms(module, values())
    assert dict(record.renamed) == {"b": "b*o", "w": "w*g"}
    found = evaluate(module, {"arg0": x}, {**values(), **added})["out0"]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("func.return %y :", "func.return %n :", "something else than a product with a parameter reads it"),
        ("%n, %w scale", "%n, %w transpose_a scale", "a product reads it transposed"),
        ("%n, %w scale", "%n, %x2 scale", "the other operand of a product is no parameter of its own"),
        ("%p, %b :", "%p, %p2 :", "a product behind it has no bias to take beta"),
        ("epsilon 1.0e-06\n", "epsilon 1.0e-06 scale 1\n", "its result is scaled"),
        ("epsilon 1.0e-06\n", "epsilon 1.0e-06 {plan = {}}\n", "it is planned"),
        (' {tile_tensor.parameter = "g"}', "", "they are no parameters"),
    ],
)
def test_what_keeps_its_vectors(
    old: str, new: str, why: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert old in TEXT
    text = TEXT.replace(old, new)
    if "transpose_a" in new:
        text = text.replace("4x8", "8x8")
    if "%x2" in new:
        text = text.replace("%x: ", "%x2: tensor<8x8xf16>, %x: ")
    if "%p2" in new:
        text = text.replace("%x: ", "%p2: tensor<8xf16>, %x: ")
    (tmp_path / "p.mlir").write_text(text)
    write_tensors(tmp_path / "w.safetensors", values())
    pipeline = f"tile-fold-norms{{parameters={tmp_path / 'w.safetensors'}}}"
    assert tile_opt([str(tmp_path / "p.mlir"), "-p", pipeline, "--remarks"]) == 0
    out, err = capsys.readouterr()
    assert f"the norm keeps its gamma and beta: {why}" in err
    assert "layer_norm %x, %" in out


def test_the_pass_writes_the_new_parameters(tmp_path: Path) -> None:
    write_tensors(tmp_path / "w.safetensors", values())
    module, into = parse(TEXT), tmp_path / "folded.safetensors"
    TileFoldNormsPass(parameters=str(tmp_path / "w.safetensors"), into=str(into)).apply(context(), module)
    assert set(read_tensors(into)) == {*"wbgo", "w*g", "b*o"}


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(FoldError, match="the parameter 'w' has no value"):
        fold_norms(parse(TEXT), {name: value for name, value in values().items() if name != "w"})
    with pytest.raises(FoldError, match="tile-fold-norms needs the values of the parameters"):
        TileFoldNormsPass().apply(context(), parse(TEXT))
    (tmp_path / "p.mlir").write_text(TEXT.replace("func.return %y", "func.return %n"))
    write_tensors(tmp_path / "w.safetensors", values())
    write_tensors(tmp_path / "x.safetensors", {"arg0": np.ones((4, 8), np.float16)})
    arguments = [str(tmp_path / "p.mlir"), "--machine", "t4", "--fold-norms"]
    arguments += [
        "--parameters",
        str(tmp_path / "w.safetensors"),
        "--inputs",
        str(tmp_path / "x.safetensors"),
    ]
    assert tile_run(arguments) == 1
    assert "--fold-norms found no norm to fold" in capsys.readouterr().err
    buffers = tmp_path / "buffers.mlir"
    pipeline = "tile-plan-layouts,tile-lower-to-buffers"
    assert tile_opt([str(tmp_path / "p.mlir"), "--machine", "t4", "-p", pipeline, "-o", str(buffers)]) == 0
    assert tile_run([str(buffers), *arguments[1:]]) == 1
    assert "--fold-norms needs the tensor program, not a compiled one" in capsys.readouterr().err


def test_a_run_with_folded_norms_is_right(tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(TEXT)
    write_tensors(tmp_path / "w.safetensors", values())
    write_tensors(tmp_path / "x.safetensors", {"arg0": np.random.default_rng(1).normal(0, 1, (4, 8))})
    arguments = [str(tmp_path / "p.mlir"), "--machine", "t4", "--fold-norms", "--compare", "each"]
    arguments += [
        "--parameters",
        str(tmp_path / "w.safetensors"),
        "--inputs",
        str(tmp_path / "x.safetensors"),
    ]
    assert tile_run(arguments) == 0
