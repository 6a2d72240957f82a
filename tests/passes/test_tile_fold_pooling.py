# SPDX-License-Identifier: Apache-2.0
"""
Pooling before projecting: the program means the same afterwards, in f32; what cannot be rewritten stays.
"""

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.reference import evaluate
from tilewright.dialects.tile_tensor import AttentionOp
from tilewright.frontends.program_folder import read_tensors, write_tensors
from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads import siglip
from tilewright.passes.ir.parameters import FoldError
from tilewright.passes.tile_fold_pooling import TileFoldPoolingPass, fold_pooling
from tilewright.tools.tile_opt import main as tile_opt
from tilewright.tools.tile_run import main as tile_run


def parse(text: str) -> ModuleOp:
    return parse_module(text, ctx=context())


def attentions(module: ModuleOp) -> int:
    return sum(isinstance(op, AttentionOp) for op in module.walk())


@pytest.mark.parametrize(
    ("mode", "samples", "near"),
    [(e.Mode("f16", "f16"), 1, 2e-3), (e.Mode("f8", "f8"), 1, 0.05), (e.Mode("f8", "f16"), 2, 0.02)],
    ids=str,
)
def test_the_head_of_a_tower_means_the_same(mode: e.Mode, samples: int, near: float) -> None:
    """
    Unrounded, but for the parameters, up to f16 of the new one. Queries of FP8 keep the rounding that they
    have in the program as given, which the evaluation it is compared with does not have.
    """
    folder = siglip.build(
        e.Shape(tokens=25, width=64, heads=4, mlp=96, layers=1, batch=samples, patch=12), mode
    )
    given, folded = parse(folder.program), parse(folder.program)
    (record,), added = fold_pooling(folded, folder.parameters)
    folded.verify()
    parse(str(folded)).verify()
    assert attentions(given) == 2 and attentions(folded) == 1
    assert record.attention == "heads_context" and record.added == (
        "head.k.weight*queries",
        "head.v.weight by head",
    )
    assert set(record.dropped) == {
        *(f"head.{name}" for name in ("probe", "q.weight", "q.bias", "k.weight", "k.bias", "v.weight"))
    }
    left = {name: value for name, value in folder.parameters.items() if name not in record.dropped}
    before = evaluate(given, folder.inputs, folder.parameters, round_activations=False)
    after = evaluate(folded, folder.inputs, left | added, round_activations=False)
    np.testing.assert_array_equal(before["tokens"], after["tokens"])
    error = np.linalg.norm(before["pooled"] - after["pooled"]) / np.linalg.norm(before["pooled"])
    assert error < near


TEXT = """
func.func @main(%x: tensor<6x40xf32>, %probe: tensor<2x40xf32> {tile_tensor.parameter = "probe"},
    %k: tensor<40x40xf32> {tile_tensor.parameter = "k", tile_tensor.scale = 1 : i32},
    %kb: tensor<40xf32> {tile_tensor.parameter = "kb"}, %v: tensor<40x40xf32> {tile_tensor.parameter = "v"},
    %vb: tensor<40xf32> {tile_tensor.parameter = "vb"}) -> tensor<4x2x10xf32> {
  %q0 = tile_tensor.reshape %probe : (tensor<2x40xf32>) -> tensor<2x4x10xf32>
  %q1 = tile_tensor.transpose %q0 permutation [1, 0, 2] : (tensor<2x4x10xf32>) -> tensor<4x2x10xf32>
  %k0 = tile_tensor.matmul %x, %k scale -1 : (tensor<6x40xf32>, tensor<40x40xf32>) -> tensor<6x40xf32>
  %k1 = tile_tensor.add %kb, %k0 : (tensor<40xf32>, tensor<6x40xf32>) -> tensor<6x40xf32>
  %k2 = tile_tensor.reshape %k1 : (tensor<6x40xf32>) -> tensor<6x4x10xf32>
  %k3 = tile_tensor.transpose %k2 permutation [1, 0, 2] : (tensor<6x4x10xf32>) -> tensor<4x6x10xf32>
  %v0 = tile_tensor.matmul %x, %v plus %vb
    : (tensor<6x40xf32>, tensor<40x40xf32>, tensor<40xf32>) -> tensor<6x40xf32>
  %v2 = tile_tensor.reshape %v0 : (tensor<6x40xf32>) -> tensor<6x4x10xf32>
  %v3 = tile_tensor.transpose %v2 permutation [1, 0, 2] : (tensor<6x4x10xf32>) -> tensor<4x6x10xf32>
  %y = tile_tensor.attention %q1, %k3, %v3 scale 3.0
    : (tensor<4x2x10xf32>, tensor<4x6x10xf32>, tensor<4x6x10xf32>) -> tensor<4x2x10xf32>
  func.return %y : tensor<4x2x10xf32>
}
"""
"""Two queries a head, columns that no panel divides, a scale on each way."""


def values() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    shapes = {"probe": (2, 40), "k": (40, 40), "kb": (40,), "v": (40, 40), "vb": (40,)}
    return {name: rng.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}


X = np.random.default_rng(4).normal(0, 1, (6, 40)).astype(np.float32)


def test_scales_and_several_queries() -> None:
    """In f32 all along: nothing but the order of operations has changed."""
    module = parse(TEXT)
    expected = evaluate(module, {"arg0": X}, values())["out0"]
    (record,), added = fold_pooling(module, values())
    assert record.dropped == ("probe", "k", "kb", "v")
    assert np.abs(added[record.added[0]]).max() <= 1
    found = evaluate(module, {"arg0": X}, values() | added)["out0"]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


NO_HEADS = "its keys or values are no heads of a product"
NO_MATRIX = "the matrix of its keys or values is no parameter of its own"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (' {tile_tensor.parameter = "probe"}', "", "its queries depend on an input"),
        ("scale 3.0", "scale 3.0 causal", "its queries do not see all keys alike"),
        ("scale 3.0", "scale 3.0 {plan = {}}", "it is planned"),
        ("func.return %y", "func.return %y, %k0", "its keys or values are read elsewhere"),
        ("func.return %y", "func.return %y, %k", NO_MATRIX),
        ("matmul %x, %v", "matmul %x2, %v", "keys and values are products of different operands"),
        ("%v0 :", "%v : ", NO_HEADS),
        ("%k2 permutation [1, 0, 2]", "%k9 permutation [1, 0, 2]", NO_HEADS),
    ],
)
def test_what_stays(old: str, new: str, why: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert old in TEXT
    text = TEXT.replace(old, new)
    if "%x2" in new:
        text = text.replace("%x: ", "%x2: tensor<6x40xf32>, %x: ")
    if "%v : " in new:
        text = text.replace("reshape %v :  (", "reshape %x : (")
    if "%k9" in new:
        text = text.replace(
            "  %k3 =",
            "  %k8 = tile_tensor.transpose %k1 permutation [1, 0] : (tensor<6x40xf32>) -> tensor<40x6xf32>\n"
            "  %k9 = tile_tensor.reshape %k8 : (tensor<40x6xf32>) -> tensor<6x4x10xf32>\n  %k3 =",
        )
    if "return %y, " in new:
        second = "tensor<6x40xf32>" if "%k0" in new else "tensor<40x40xf32>"
        text = text.replace(f"{new} : tensor<4x2x10xf32>", f"{new} : tensor<4x2x10xf32>, {second}")
        text = text.replace(") -> tensor<4x2x10xf32> {", f") -> (tensor<4x2x10xf32>, {second}) {{")
    (tmp_path / "p.mlir").write_text(text)
    write_tensors(tmp_path / "w.safetensors", values())
    pipeline = f"tile-fold-pooling{{parameters={tmp_path / 'w.safetensors'}}}"
    assert tile_opt([str(tmp_path / "p.mlir"), "-p", pipeline, "--remarks"]) == 0
    out, err = capsys.readouterr()
    assert f"attention projects keys and values before it pools: {why}" in err
    assert "tile_tensor.attention" in out


def test_the_pass_writes_the_new_parameters(tmp_path: Path) -> None:
    write_tensors(tmp_path / "w.safetensors", values())
    into = tmp_path / "folded.safetensors"
    TileFoldPoolingPass(parameters=str(tmp_path / "w.safetensors"), into=str(into)).apply(
        context(), parse(TEXT)
    )
    assert set(read_tensors(into)) == {*values(), "k*queries", "v by head"}


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(FoldError, match="the parameter 'k' has no value"):
        fold_pooling(parse(TEXT), {name: value for name, value in values().items() if name != "k"})
    with pytest.raises(FoldError, match="tile-fold-pooling needs the values of the parameters"):
        TileFoldPoolingPass().apply(context(), parse(TEXT))
    (tmp_path / "p.mlir").write_text(TEXT.replace("scale 3.0", "scale 3.0 causal"))
    write_tensors(tmp_path / "w.safetensors", values())
    write_tensors(tmp_path / "x.safetensors", {"arg0": X})
    arguments = ["--machine", "t4", "--fold-pooling"]
    for name in ("parameters", "inputs"):
        arguments += [f"--{name}", str(tmp_path / f"{'w' if name == 'parameters' else 'x'}.safetensors")]
    assert tile_run([str(tmp_path / "p.mlir"), *arguments]) == 1
    assert "--fold-pooling found no attention whose queries are parameters" in capsys.readouterr().err
    buffers = tmp_path / "buffers.mlir"
    pipeline = "tile-plan-layouts,tile-lower-to-buffers"
    assert tile_opt([str(tmp_path / "p.mlir"), "--machine", "t4", "-p", pipeline, "-o", str(buffers)]) == 0
    assert tile_run([str(buffers), *arguments]) == 1
    assert "--fold-pooling needs the tensor program, not a compiled one" in capsys.readouterr().err


def test_a_run_that_pools_first_is_right(tmp_path: Path) -> None:
    """Against the outputs of the program as given, in the folder, and value by value against its own."""
    shape = e.Shape(tokens=25, width=64, heads=4, mlp=96, layers=1, patch=12)
    siglip.build(shape, e.Mode("f8", "f8")).write(tmp_path)
    arguments = [str(tmp_path), "--machine", "t16", "--fold-pooling", "--fold-norms"]
    assert tile_run(arguments) == 0
    assert tile_run([*arguments, "--compare", "each"]) == 0
