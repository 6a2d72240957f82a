# SPDX-License-Identifier: Apache-2.0
"""Models in text of StableHLO, pretty and generic, to executed bytes; what is not raised; what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.utils.exceptions import ParseError

import tilewright
import tilewright.frontends
from tilewright.diagnostics import TileError
from tilewright.dialects import tile_tensor
from tilewright.dialects.hlo.values import element_type
from tilewright.frontends import importing
from tilewright.frontends.middle import Model, ModelBuilder, ModelError
from tilewright.frontends.stablehlo import read_stablehlo
from tilewright.tools import tile_import, tile_run

PROGRAMS = Path(__file__).parents[1] / "data" / "jax_programs"
SMALL = ("gelu_tanh", "layernorm", "matmul_f16_acc32", "matmul_fp8_acc32", "patch_embed_conv", "softmax")
RAISED = {"gelu_tanh": {"gelu": 1}, "layernorm": {"layer_norm": 1}, "softmax": {"softmax": 1}}


def execute(model: Model, arguments: list[np.ndarray], machine: str = "t4") -> tuple[Any, list[np.ndarray]]:
    """The import, and what the machine model gives."""
    names = [name for _, name in importing.argument_names(model.function)]
    imported = importing.import_model(model)
    program = tilewright.compile(imported.module, machine=machine)
    values = dict(zip(names, arguments, strict=True))
    found = tilewright.run(program, values, {**imported.parameters, **values})
    return imported, [found.outputs[name] for name in importing.output_names(imported.function)]


@pytest.mark.parametrize("form", ["", ".generic"])
@pytest.mark.parametrize("name", SMALL)
def test_programs_of_jax_run_as_jax_ran_them(name: str, form: str) -> None:
    path = PROGRAMS / f"{name}{form}.mlir"
    model = read_stablehlo(path.read_text("utf-8"), path.name)
    sample = importing.read_sample(PROGRAMS / f"{name}.npz")
    arguments = importing.arguments_of(model, sample)
    imported, (found,) = execute(model, arguments)
    assert np.abs(found.astype(np.float64) - sample["out0"].astype(np.float64)).max() < 1e-5
    assert dict(imported.raised) == RAISED.get(name, {})


@pytest.mark.parametrize("form", ["", ".generic"])
def test_a_block_is_imported_and_run_from_the_command_line(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [
        str(PROGRAMS / f"block_small{form}.mlir"),
        "-o",
        str(tmp_path / "block"),
        "--parameters",
        "1-12",
    ]
    assert tile_import.main([*arguments, "--sample", str(PROGRAMS / "block_small.npz")]) == 0
    assert "1 attention, 1 gelu, 2 layer_norm), 16 parameters" in capsys.readouterr().out
    assert tile_run.main([str(tmp_path / "block"), "--machine", "t16"]) == 0
    assert "passed" in capsys.readouterr().out


# -- what is refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "module { func.func private @f() { return } func.func private @g() { return } }",
            "no function @main",
        ),
        (
            "func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> { return %x : tensor<?x4xf32> }",
            "axis 0 of argument 0 has no extent",
        ),
    ],
)
def test_models_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(TileError, match=message):
        importing.import_model(read_stablehlo(text))


def test_text_that_does_not_parse() -> None:
    convolution = (
        "%0 = stablehlo.convolution(%x, %x) window = {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"
    )
    head = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {"
    text = f"{head}\n {convolution}\n return %0 : tensor<4xf32>\n}}"
    with pytest.raises(ParseError, match="expected `dim_numbers = "):
        read_stablehlo(text)
    with pytest.raises(ParseError, match="a bracket is not closed"):
        read_stablehlo(
            'func.func @main() { %0 = "stablehlo.x"() {a = #stablehlo.dot<[1, 2} : () -> tensor<4xf32>'
        )
    with pytest.raises(ParseError, match="the reducer takes 2 values, found 1"):
        read_stablehlo(
            "func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {\n"
            "  %0 = stablehlo.reduce(%x init: %i) across dimensions = [0] : (tensor<4xf32>, tensor<f32>)"
            " -> tensor<f32> reducer(%a: tensor<f32>) { stablehlo.return %a : tensor<f32> }\n"
            "  return %0 : tensor<f32>\n}"
        )


def test_command_line_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    softmax = str(PROGRAMS / "softmax.mlir")
    for arguments, message in (
        ([softmax, "--parameters", "w"], "there is no argument 'w' to make a parameter of"),
        ([softmax, "--parameters", "0"], "no value for the parameter 'arg0'"),
        ([str(tmp_path / "x.caffe")], "is no kind of model that is known"),
        ([str(tmp_path / "x.mlir")], "cannot read"),
    ):
        assert tile_import.main([*arguments, "-o", str(tmp_path / "out")]) == 1
        assert message in capsys.readouterr().err


def test_samples_fit_the_model(tmp_path: Path) -> None:
    model = read_stablehlo((PROGRAMS / "softmax.mlir").read_text("utf-8"))
    with pytest.raises(ModelError, match=r"'arg0' has shape \[3\] in the sample, the model takes \[7, 13\]"):
        importing.arguments_of(model, {"arg0": np.zeros(3)})
    (tmp_path / "no.npz").write_bytes(b"PK")
    with pytest.raises(ModelError, match="cannot read"):
        importing.read_sample(tmp_path / "no.npz")


# -- the builder that readers use


def test_readers_build_models(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    weights, x = (random.standard_normal(shape).astype(np.float32) for shape in ((6, 8), (4, 8)))
    build = ModelBuilder("mlp")
    value = build.input("x", (4, 8), "f32")
    w = build.parameter("fc.weight", weights)
    with build.at("/fc/MatMul"):
        y = build.op(
            "dot_general", [value, w], element="f32", lhs_batching=[], rhs_batching=[], lhs_contracting=[1],
            rhs_contracting=[1],
        )  # fmt: skip
    y = build.composite(tile_tensor.ReluOp, y)
    table = build.constant(random.standard_normal((4, 6)), "f32")
    z = build.op("multiply", [y, table])
    model = build.finish({"y": z})
    (expected,) = importing.values_as_given(model, [x, weights])
    arguments = {"x": x, "fc.weight": weights}
    imported = importing.import_model(model)
    assert sorted(imported.parameters) == ["fc.weight"]
    folder = importing.folder_of(imported, arguments, {"y": expected})
    folder.write(tmp_path / "mlp")
    assert tile_run.main([str(tmp_path / "mlp"), "--machine", "t4"]) == 0


def test_readers_hear_where_something_does_not_fit() -> None:
    build = ModelBuilder()
    x = build.input("x", (4, 8), "f32")
    with (
        pytest.raises(ModelError, match=r"transpose: .* is not a permutation") as caught,
        build.at(("m.py", 3, 7)),
    ):
        build.op("transpose", [x], permutation=[0])
    assert "m.py:3:7" in str(caught.value.__notes__)
    with pytest.raises(ModelError, match=r"tile_tensor\.matmul: matmul contracts 8"):
        build.composite(tile_tensor.MatmulOp, x, x, element_type("f32"))
    build.parameter("w", np.zeros(3, np.float32))
    with pytest.raises(ModelError, match="the parameter 'w' is there twice"):
        build.parameter("w", np.zeros(3, np.float32))
    (y,) = build.unsupported("aten.sort", [x], [x.type], "it sorts")
    with pytest.raises(TileError, match="1 operation has no meaning on tiles") as caught:
        importing.import_model(build.finish({"y": y}))
    assert "aten.sort, once: it sorts" in caught.value.notes


# -- precision


@pytest.mark.parametrize(("precision", "least"), [("f16", 0.9999), ("f8", 0.99)])
def test_blocks_are_stored_narrow(precision: str, least: float) -> None:
    text = (PROGRAMS / "block_small.mlir").read_text("utf-8")
    sample = importing.read_sample(PROGRAMS / "block_small.npz")
    found = tilewright.frontends.from_stablehlo(text, parameters=["1-12"], sample=sample, precision=precision)
    program = tilewright.compile(found.module, machine="t16")
    result = tilewright.run(program, found.inputs, found.parameters).outputs["out0"].astype(np.float64)
    expected = sample["out0"].astype(np.float64)
    rows = (result * expected).sum(-1) / np.linalg.norm(result, axis=-1) / np.linalg.norm(expected, axis=-1)
    assert rows.min() > least
    assert any(note.startswith("f16: ") for note in found.notes)
    assert any("stored in f8E4M3FNUZ" in note for note in found.notes) == (precision == "f8")


def test_precisions_that_are_not_known() -> None:
    with pytest.raises(ModelError, match="there is no precision 'f4'"):
        tilewright.frontends.from_stablehlo((PROGRAMS / "softmax.mlir").read_text("utf-8"), precision="f4")
