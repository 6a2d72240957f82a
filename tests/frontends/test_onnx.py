# SPDX-License-Identifier: Apache-2.0
"""Models of ONNX: read, compiled, executed, compared with onnx's own evaluator; what is refused, and how."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright.diagnostics import TileError
from tilewright.frontends import from_onnx
from tilewright.frontends.importing import read_sample
from tilewright.tools import tile_import, tile_run

onnx = pytest.importorskip("onnx", reason="pip install onnx")
from onnx import TensorProto, numpy_helper  # noqa: E402
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
import exported_onnx  # noqa: E402

RANDOM = np.random.default_rng(7)
FLOAT, INT64, DOUBLE = TensorProto.FLOAT, TensorProto.INT64, TensorProto.DOUBLE


def draw(*shape: int, scale: float = 0.3) -> np.ndarray:
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


def info(name: str, shape: list[Any] | None, kind: int = FLOAT) -> Any:
    return make_tensor_value_info(name, kind, shape)


def save(
    path: Path,
    nodes: list[Any],
    inputs: dict[str, list[Any]],
    outputs: list[str],
    weights: dict[str, np.ndarray] | None = None,
    opset: int = 17,
) -> Path:
    """A model in a file; its inputs are of f32, the types of its outputs are left open."""
    tensors = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    results = [onnx.ValueInfoProto(name=name) for name in outputs]
    graph = make_graph(nodes, "g", [info(n, s) for n, s in inputs.items()], results, tensors)
    path.write_bytes(make_model(graph, opset_imports=[make_opsetid("", opset)]).SerializeToString())
    return path


def check(path: Path, bound: float = 1e-5, machine: str = "t16", **options: Any) -> Any:
    """Read, compile and run; every output as onnx's evaluator has it."""
    found = from_onnx(path, **options)
    program = tilewright.compile(found.module, machine=machine)
    result = tilewright.run(program, found.inputs, found.parameters)
    for name, wanted in found.expected.items():
        np.testing.assert_allclose(result.outputs[name], wanted, rtol=bound, atol=bound)
    return found


def operations(found: Any) -> dict[str, int]:
    counts = found.report()["operations"]
    return {name.partition(".")[2]: count for name, count in counts.items()}


# ------------------------------------------------------------------------------------------------ models


def test_a_perceptron_keeps_the_names_of_its_weights(tmp_path: Path) -> None:
    weights = {"fc1.weight": draw(32, 16), "fc1.bias": draw(32), "fc2": draw(32, 8)}
    nodes = [
        make_node("Gemm", ["x", "fc1.weight", "fc1.bias"], ["a"], transB=1),
        make_node("Relu", ["a"], ["b"]),
        make_node("MatMul", ["b", "fc2"], ["y"]),
    ]
    found = check(save(tmp_path / "m.onnx", nodes, {"x": ["batch", 16]}, ["y"], weights), bind={"batch": 4})
    assert set(found.parameters) == set(weights)
    for name, array in weights.items():
        np.testing.assert_array_equal(found.parameters[name], array)
    assert operations(found)["matmul"] == 2


def block(tag: str, opset: int, n: int, d: int, heads: int) -> tuple[list[Any], dict[str, np.ndarray]]:
    """
    A pre-norm encoder layer from `{tag}.x` to `{tag}.y`, with shapes computed at run time as old exporters
    write them (opset 14), or whole operators (opset 23).
    """
    names: dict[str, np.ndarray] = {}
    nodes: list[Any] = []

    def weight(name: str, array: np.ndarray) -> str:
        names[f"{tag}.{name}"] = array
        return f"{tag}.{name}"

    def add(kind: str, inputs: list[str], name: str = "", **attributes: Any) -> str:
        out = name or f"{tag}.{kind}.{len(nodes)}"
        nodes.append(make_node(kind, inputs, [out], name=out, **attributes))
        return out

    def number(value: Any) -> str:
        return add("Constant", [], value=numpy_helper.from_array(np.asarray(value)))

    def norm(x: str, name: str) -> str:
        gamma, beta = weight(f"{name}.weight", 1 + draw(d)), weight(f"{name}.bias", draw(d))
        if opset >= 17:
            return add("LayerNormalization", [x, gamma, beta], axis=-1, epsilon=1e-6)
        apart = add("Sub", [x, add("ReduceMean", [x], axes=[-1])])
        square = add("Pow", [apart, number(np.float32(2))])
        variance = add("ReduceMean", [square], axes=[-1])
        root = add("Sqrt", [add("Add", [variance, number(np.float32(1e-6))])])
        return add("Add", [add("Mul", [add("Div", [apart, root]), gamma]), beta])

    def split(x: str) -> str:
        if opset >= 17:
            shape = number(np.array([0, 0, heads, d // heads]))
        else:
            first, second = (
                add(
                    "Unsqueeze",
                    [add("Gather", [add("Shape", [x]), number(np.int64(i))], axis=0), number(np.array([0]))],
                )
                for i in (0, 1)
            )
            shape = add(
                "Concat", [first, second, number(np.array([heads])), number(np.array([d // heads]))], axis=0
            )
        return add("Transpose", [add("Reshape", [x, shape])], perm=[0, 2, 1, 3])

    def linear(x: str, name: str, wide: int) -> str:
        width = d if name != "down" else 2 * d
        product = add("MatMul", [x, weight(f"{name}.weight", draw(width, wide, scale=width**-0.5))])
        return add("Add", [weight(f"{name}.bias", draw(wide)), product])

    x = f"{tag}.x"
    h = norm(x, "norm1")
    q, k, v = (split(linear(h, name, d)) for name in ("query", "key", "value"))
    if opset >= 23:
        context = add("Attention", [q, k, v])
    else:
        half = number(np.float32((d // heads) ** -0.25))
        kt = add("Transpose", [k], perm=[0, 1, 3, 2])
        scores = add("MatMul", [add("Mul", [q, half]), add("Mul", [kt, half])])
        context = add("MatMul", [add("Softmax", [scores], axis=-1), v])
    merged = add("Reshape", [add("Transpose", [context], perm=[0, 2, 1, 3]), number(np.array([0, 0, d]))])
    x = add("Add", [x, linear(merged, "projection", d)])
    up = linear(norm(x, "norm2"), "up", 2 * d)
    if opset >= 20:
        up = add("Gelu", [up])
    else:
        erf = add("Erf", [add("Div", [up, number(np.float32(np.sqrt(2)))])])
        up = add("Mul", [add("Mul", [up, add("Add", [erf, number(np.float32(1))])]), number(np.float32(0.5))])
    add("Add", [x, linear(up, "down", d)], f"{tag}.y")
    return nodes, names


def encoder(path: Path, opset: int, layers: int = 1) -> Path:
    nodes: list[Any] = []
    weights: dict[str, np.ndarray] = {}
    last = "x"
    for i in range(layers):
        nodes.append(make_node("Identity", [last], [f"l{i}.x"]))
        more, names = block(f"l{i}", opset, 17, 32, 4)
        nodes += more
        weights |= names
        last = f"l{i}.y"
    return save(path, nodes, {"x": ["batch", 17, 32]}, [last], weights, opset)


@pytest.mark.parametrize("opset", [14, 18, 23])
def test_an_encoder_layer_is_the_same_in_every_opset(tmp_path: Path, opset: int) -> None:
    found = check(encoder(tmp_path / "m.onnx", opset), bind={"batch": 1})
    counts = operations(found)
    assert (counts["attention"], counts["layer_norm"], counts["gelu"]) == (1, 2, 1)
    assert "mul" not in counts  # the roots of the scale on queries and keys are the attention's
    assert counts["matmul"] == 6 and "softmax" not in counts
    assert "l0.query.weight" in found.parameters


def test_layers_are_one_repeat(tmp_path: Path) -> None:
    found = check(encoder(tmp_path / "m.onnx", 14, 3), bind={"batch": 1})
    assert operations(found)["repeat"] == 1 and operations(found)["attention"] == 1
    assert any("3 copies" in note for note in found.report()["notes"])


def test_f16_stores_what_was_f32(tmp_path: Path) -> None:
    check(encoder(tmp_path / "m.onnx", 18), 3e-2, bind={"batch": 1}, precision="f16")


# -------------------------------------------------------------------------- what torch's exporters wrote


@pytest.mark.parametrize(
    ("number", "name"),
    [
        pytest.param(n, name, marks=[] if name in ("llama_18", "convolutions_23") else [pytest.mark.slow])
        for n, name in enumerate(exported_onnx.MODELS)
    ],
)
def test_exported_models_run_as_torch_ran_them(number: int, name: str) -> None:
    """Committed files and torch's values; neither torch nor transformers is needed."""
    path = exported_onnx.EXPORTED / f"onnx_{number:02}.onnx"
    sample = read_sample(path.with_suffix(".npz"))
    found = check(path, sample=sample)
    np.testing.assert_array_equal(found.expected["y"], sample["y"])
    for operation, count in EXPECTED_OPERATIONS[name].items():
        assert found.raised[operation] + operations(found).get(operation, 0) >= count, operation


def test_llama_is_the_same_in_opset_18_and_23() -> None:
    """Attention spelled out and whole: one repeat of the two layers, heads shared, the causal mask a flag."""
    counts: list[dict[str, int]] = []
    for number in (0, 1):
        found = from_onnx(exported_onnx.EXPORTED / f"onnx_{number:02}.onnx")
        counts.append(operations(found))
        (attention,) = (op for op in found.function.walk() if op.name == "tile_tensor.attention")
        assert [value.type.get_shape()[1] for value in attention.operands] == [8, 2, 2]  # type: ignore[attr-defined]
        assert "causal" in attention.properties
    assert counts[0] == counts[1]
    assert (counts[0]["repeat"], counts[0]["attention"], counts[0]["rms_norm"]) == (1, 1, 3)


@pytest.mark.slow
@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("torch", "transformers", "onnxscript")),
    reason="torch, transformers and onnxscript are not installed",
)
def test_a_llama_of_transformers_is_exported_and_read(tmp_path: Path) -> None:
    import torch

    torch.manual_seed(2)
    x, counts = torch.randint(0, 64, (1, 16)), []
    model = exported_onnx.llama(width=128, hidden=256, words=64)
    with torch.no_grad():
        expected = model(x).numpy()
    for opset in (18, 23):
        path = tmp_path / f"{opset}.onnx"
        exported_onnx.write_onnx(model, x, path, opset)
        found = check(path, machine="t64", sample={"x": x.numpy(), "y": expected})
        counts.append(operations(found))
    assert counts[0] == counts[1]
    assert (counts[0]["repeat"], counts[0]["attention"], counts[0]["rms_norm"]) == (1, 1, 3)


EXPECTED_OPERATIONS = {
    "llama_18": {"attention": 1, "rms_norm": 3, "silu": 1},
    "llama_23": {"attention": 1, "rms_norm": 3, "silu": 1},
    "encoder_14": {"attention": 1, "layer_norm": 2, "gelu": 1},
    "vit_18": {"attention": 1, "layer_norm": 3, "gelu": 1},
    "bert_20": {"attention": 1, "layer_norm": 3, "gelu": 1},
    "convolutions_23": {"convolution": 1, "softmax": 1},
}

# -------------------------------------------------------------------------------------------- operators


def test_a_loop_with_a_count_is_a_repeat(tmp_path: Path) -> None:
    body = make_graph(
        [
            make_node("MatMul", ["h", "w"], ["m"]),
            make_node("Tanh", ["m"], ["next"]),
            make_node("ReduceSum", ["next", "axes"], ["sum"], keepdims=0),
            make_node("Identity", ["go"], ["again"]),
        ],
        "body",
        [info("i", [], INT64), info("go", [], TensorProto.BOOL), info("h", [4, 8])],
        [info("again", [], TensorProto.BOOL), info("next", [4, 8]), info("sum", [4])],
    )
    weights = {"w": draw(8, 8), "count": np.array(5), "go0": np.array(True), "axes": np.array([1])}
    nodes = [make_node("Loop", ["count", "go0", "x"], ["y", "sums"], body=body)]
    found = check(save(tmp_path / "m.onnx", nodes, {"x": [4, 8]}, ["y", "sums"], weights))
    assert operations(found)["repeat"] == 1


def test_folded_weights_are_parameters_and_regrouped_ones_keep_their_name(tmp_path: Path) -> None:
    weights = {
        "table": draw(6, 32),
        "w": draw(24, 8),
        "shape": np.array([-1, 24]),
        "two": np.array(2, np.float32),
    }
    nodes = [
        make_node("Mul", ["table", "two"], ["double"]),
        make_node("Reshape", ["double", "shape"], ["rows"]),
        make_node("Transpose", ["w"], ["wt"]),
        make_node("MatMul", ["x", "wt"], ["m"]),
        make_node("Add", ["m", "rows"], ["y"]),
    ]
    found = check(save(tmp_path / "m.onnx", nodes, {"x": [8, 8]}, ["y"], weights))
    assert set(found.parameters) == {"w", "rows"}
    np.testing.assert_array_equal(found.parameters["w"], weights["w"])


def test_a_cast_to_fp8_saturates_if_it_says_so(tmp_path: Path) -> None:
    x = np.array([1.0, 1000.0, -1000.0, 448.0], np.float32)
    for saturate, bound in ((1, 448.0), (0, np.nan)):
        nodes = [
            make_node("Cast", ["x"], ["c"], to=TensorProto.FLOAT8E4M3FN, saturate=saturate),
            make_node("Cast", ["c"], ["y"], to=FLOAT),
        ]
        path = save(tmp_path / f"{saturate}.onnx", nodes, {"x": [4]}, ["y"], opset=19)
        found = from_onnx(path, sample={"x": x})
        result = tilewright.run(
            tilewright.compile(found.module, machine="t16"), found.inputs, found.parameters
        )
        np.testing.assert_array_equal(result.outputs["y"], [1.0, bound, -bound, 448.0])


def test_the_cached_keys_of_an_attention_come_first(tmp_path: Path) -> None:
    nodes = [
        make_node(
            "Attention",
            ["q", "k", "v", "", "pk", "pv"],
            ["y", "nk", "nv"],
            is_causal=1,
            q_num_heads=4,
            kv_num_heads=2,
        )
    ]
    inputs = {"q": [1, 3, 32], "k": [1, 3, 16], "v": [1, 3, 16], "pk": [1, 2, 5, 8], "pv": [1, 2, 5, 8]}
    found = check(save(tmp_path / "m.onnx", nodes, inputs, ["y", "nk", "nv"], opset=23))  # type: ignore[arg-type]
    assert operations(found)["attention"] == 1


def test_a_row_that_sees_no_key_gives_zero_also_where_the_scores_are_read(tmp_path: Path) -> None:
    seen = np.ones((4, 4), np.bool_)
    seen[2] = False
    node = make_node("Attention", ["q", "k", "v", "seen"], ["y", "", "", "p"], qk_matmul_output_mode=3)
    inputs: dict[str, list[Any]] = {name: [1, 2, 4, 8] for name in "qkv"}
    found = check(save(tmp_path / "m.onnx", [node], inputs, ["y", "p"], {"seen": seen}, opset=23))
    assert not found.expected["y"][:, :, 2].any() and found.expected["y"].any()


# ---------------------------------------------------------------------------------------------- refusals


def refusal(path: Path, **options: Any) -> TileError:
    with pytest.raises(TileError) as caught:
        from_onnx(path, **options)
    return caught.value


def test_everything_unsupported_is_one_error(tmp_path: Path) -> None:
    nodes = [
        make_node("NonZero", ["x"], ["a"], name="first"),
        make_node("Acosh", ["x"], ["b"], name="second"),
        make_node("Acosh", ["b"], ["c"], name="third"),
        make_node("Add", ["c", "x"], ["y"], name="fine"),
        make_node("Mine", ["x"], ["z"], name="other", domain="my.company"),
    ]
    error = refusal(save(tmp_path / "m.onnx", nodes, {"x": [4]}, ["y"]))
    assert error.message == "4 operations have no meaning on tiles"
    notes = "\n".join(error.notes)
    assert "NonZero, once, at first" in notes
    assert "Acosh, 2 times, first at second" in notes
    assert "my.company.Mine, once, at other: the domain 'my.company' is not known" in notes


def test_symbols_are_named_and_bound(tmp_path: Path) -> None:
    nodes = [make_node("Relu", ["x"], ["y"])]
    path = save(tmp_path / "m.onnx", nodes, {"x": ["batch", 4]}, ["y"])
    assert refusal(path).message == "axis 0 of 'x' is batch: it has no extent"
    path = save(tmp_path / "n.onnx", nodes, {"x": ["batch", 4, "tokens"]}, ["y"])
    error = refusal(path)
    assert error.message == "2 axes of inputs have no extent" and error.hint == "--bind batch=1 sets it"
    assert "axis 2 of 'x' is tokens" in error.notes
    assert refusal(path, bind={"batch": 1, "tokens": 2, "words": 3}).message == "no input has an axis words"
    check(path, bind={"batch": 2, "tokens": 3})


def test_wrong_models_are_refused_in_place(tmp_path: Path) -> None:
    relu = [make_node("Relu", ["x"], ["y"], name="n")]
    shape = {"s": np.array([3, 3])}
    for nodes, weights, options, text in (
        ([make_node("Relu", ["z"], ["y"])], {}, {}, "nothing computes 'z'"),
        ([make_node("Reshape", ["x", "s"], ["y"])], shape, {}, "[4, 2] has not as many elements as [3, 3]"),
        (
            [make_node("Squeeze", ["x", "s"], ["y"])],
            {"s": np.array([0])},
            {},
            "axes [0] of [4, 2] are not all 1",
        ),
        ([make_node("Gather", ["x", "s"], ["y"])], {"s": np.array([1, 9])}, {}, "an index is not below 4"),
        (
            [make_node("MatMul", ["x", "s"], ["y"])],
            {"s": np.array(1.0, np.float32)},
            {},
            "it multiplies numbers",
        ),
        (relu, {}, {"outputs": ["a"]}, "no node computes 'a'"),
    ):
        error = refusal(save(tmp_path / "m.onnx", nodes, {"x": [4, 2]}, ["y"], weights), **options)
        assert text in error.message
    inputs = {"q": [1, 3, 32], "k": [1, 3, 16], "v": [1, 3, 16]}
    node = make_node("Attention", ["q", "k", "v"], ["y"])
    error = refusal(save(tmp_path / "m.onnx", [node], inputs, ["y"], opset=23))  # type: ignore[arg-type]
    assert "the number of heads is missing" in error.message
    error = refusal(save(tmp_path / "old.onnx", relu, {"x": [4]}, ["y"], opset=11))
    assert error.message == "the model is of opset 11; 14 to 23 are read"


def test_files_that_are_no_models(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    assert refusal(path).message.startswith(f"cannot read '{path}'")
    path.write_bytes(b"")
    assert refusal(path).message == f"'{path}' is no model of ONNX: its graph is empty"
    path.write_bytes(b"\xff" * 20)
    assert f"'{path}' is no model of ONNX" in refusal(path).message


def test_what_the_evaluator_cannot_run(tmp_path: Path) -> None:
    nodes = [make_node("Einsum", ["x", "x"], ["y"], equation="ij,kj->i?")]
    with pytest.raises(TileError):
        from_onnx(save(tmp_path / "m.onnx", nodes, {"x": [4, 4]}, ["y"]))
    from tilewright.frontends.onnx.evaluator import evaluate

    with pytest.raises(TileError, match="onnx's evaluator cannot run the model"):
        evaluate(onnx.load(str(tmp_path / "m.onnx")), {"x": draw(4, 4)})


# --------------------------------------------------------------------------------------------- the tool


def test_the_tool_binds_and_cuts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, folder = encoder(tmp_path / "m.onnx", 18), tmp_path / "folder"
    assert tile_import.main([str(path), "-o", str(folder), "--bind", "batch"]) == 1
    assert "--bind takes NAME=N, not 'batch'" in capsys.readouterr().err
    sample = tmp_path / "sample.npz"
    np.savez(sample, x=draw(1, 17, 32))
    arguments = [str(path), "-o", str(folder), "--bind", "batch=1", "--sample", str(sample)]
    assert tile_import.main([*arguments, "--outputs", "l0.LayerNormalization.0"]) == 0
    assert "1 operations" in capsys.readouterr().out
    assert tile_import.main(arguments) == 0
    assert tile_run.main([str(folder), "--machine", "t16"]) == 0
