# SPDX-License-Identifier: Apache-2.0
"""
`tile-workload digits`: a small vision transformer trained on scikit-learn's digits, with 400 test images.

Input `patches` (samples * 16, 4) per run: 2x2 patches, patches and pixels row-major; output `logits`
(samples, 10). The 400 images are the runs axis of inputs and expected outputs. The task file holds all labels
and the logits of the unquantised model.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import tilewright.frontends
from tilewright.frontends.program_folder import ProgramFolder, Task, Tolerance
from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads import forward
from tilewright.frontends.workloads.ir import Block, Value, program

SHAPE = e.Shape(tokens=17, width=64, heads=4, mlp=172, layers=3, batch=50, patch=4)
CLASSES = 10
TOLERANCES = {
    e.Mode("f8", "f16"): Tolerance(2.0, cosine=0.998),
    e.Mode("f8", "f8"): Tolerance(3.0, cosine=0.995),
    e.Mode("f16", "f8"): Tolerance(2.0, cosine=0.998),
    e.Mode("f16", "f16"): Tolerance(0.05, cosine=0.9999),
}
"""
About twice what rounding alone does over the 400 images (logits reach 5). No cosine by row: an image between
two digits has small logits, whose direction one rounding can turn.
"""
_FILE = Path(tilewright.frontends.__file__).parent / "data" / "digits_vit.npz"


def load() -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    """
    The trained model: f32 values by our names, matrices (in, out); patches (400, 16, 4); labels; logits in
    FP32.
    """
    with np.load(_FILE, allow_pickle=False) as file:
        raw = {name: file[name] for name in file.files}
    values: dict[str, np.ndarray] = {
        "class_token": raw["cls"][0],
        "positions": raw["pos"][0],
        "norm.weight": raw["n.weight"],
        "norm.bias": raw["n.bias"],
    }

    def put(name: str, weight: np.ndarray, bias: np.ndarray) -> None:
        values[f"{name}.weight"] = np.ascontiguousarray(weight.T)
        values[f"{name}.bias"] = bias

    put("embedding", raw["emb.weight"], raw["emb.bias"])
    put("head", raw["head.weight"], raw["head.bias"])
    for layer in range(SHAPE.layers):
        ours, theirs = e.layer_tensor(layer, ""), f"blocks.{layer}."
        for number, name in enumerate("qkv"):
            rows = slice(number * SHAPE.width, (number + 1) * SHAPE.width)
            put(ours + name, raw[theirs + "qkv.weight"][rows], raw[theirs + "qkv.bias"][rows])
        for name, theirs_name in (("projection", "o"), ("up", "f1"), ("down", "f2")):
            put(ours + name, raw[f"{theirs}{theirs_name}.weight"], raw[f"{theirs}{theirs_name}.bias"])
        for name, theirs_name in (("norm1", "n1"), ("norm2", "n2")):
            for kind in ("weight", "bias"):
                values[f"{ours}{name}.{kind}"] = raw[f"{theirs}{theirs_name}.{kind}"]
    images = raw["x_test"]
    patches = images.reshape(-1, 4, 2, 4, 2).transpose(0, 1, 3, 2, 4).reshape(-1, 16, 4)
    return values, patches, raw["y_test"], raw["logits_f32"]


def logits(
    patches: np.ndarray, w: dict[str, np.ndarray], observe: forward.Observe = forward.ignore
) -> np.ndarray:
    """float32 forward pass: patches (samples, 16, 4) -> (samples, 10)."""
    x = forward.linear(patches, w["embedding.weight"], w["embedding.bias"])
    first = np.broadcast_to(w["class_token"], (len(x), 1, SHAPE.width))
    x = np.concatenate([first, x], 1) + w["positions"]
    for layer in range(SHAPE.layers):
        prefix = e.layer_tensor(layer, "")
        x = forward.encoder_layer(
            x, {name: w[prefix + name] for name in e.LAYER_TENSORS}, SHAPE.heads, observe
        )
    features = forward.layer_norm(x[:, 0], w["norm.weight"], w["norm.bias"])
    observe("head_input", features)
    return forward.linear(features, w["head.weight"], w["head.bias"])


def build(batch: int = SHAPE.batch, mode: e.Mode = e.DEFAULT_MODE) -> ProgramFolder:
    """The folder's contents; `batch` must divide the 400 images."""
    shape = replace(SHAPE, batch=batch)
    values, patches, labels, reference = load()
    if len(patches) % batch:
        raise e.WorkloadError(
            f"--batch {batch} does not divide the {len(patches)} images",
            hint=f"divisors: {', '.join(str(n) for n in range(1, 401) if len(patches) % n == 0)}",
        )
    runs = len(patches) // batch

    parameters = e.Parameters(values, mode)
    embedding = parameters.linear("embedding", matrix=False)
    class_token, positions = parameters.one("class_token"), parameters.one("positions")
    sequences = parameters.layers(shape.layers)
    norm, head = parameters.norm("norm"), parameters.linear("head")

    calibration = e.Calibration()
    inputs = patches.astype(np.float16)
    expected = logits(inputs.astype(np.float32), parameters.group(""), calibration.under())

    scale = calibration.scales()
    block = Block()
    x_patches = Value("patches", (batch * 16, shape.patch), "f16")
    x = e.embed(block, x_patches, *embedding, mode)
    x = block.reshape("patch_samples", x, (batch, 16, shape.width))
    first = block.broadcast("class_tokens", class_token, (batch, 1, shape.width), (1, 2))
    x = block.concat("token_samples", [first, x], 1)
    x = block.add("positioned", x, positions)
    x = block.reshape("embedded", x, (shape.rows, shape.width))
    x = e.encoder(block, x, sequences, shape, mode, scale)
    # only the class tokens reach the head: the other rows need no norm
    features = block.layer_norm("features", e.first_token(block, x, shape), *norm, e.EPSILON)
    outputs = {
        "logits": e.linear(
            block, "logits", e.operand(block, features, mode, scale("head_input")), *head, mode.accumulate
        )
    }
    options = {"batch": batch, "precision": mode.precision, "attention": mode.attention}
    title = "Vision transformer trained on digits: " + ", ".join(
        f"{key} {value}" for key, value in options.items()
    )
    return ProgramFolder(
        program=program(title, [x_patches], parameters.arguments, block, outputs),
        parameters=values,
        inputs={"patches": inputs.reshape(runs, batch * 16, shape.patch)},
        expected={"logits": expected.reshape(runs, batch, CLASSES)},
        tolerance={"logits": TOLERANCES[replace(mode, sums="auto")]},
        precision=str(mode),
        runs=runs,
        task=Task("classification", "logits", labels, reference),
        workload={"name": "digits", **options},
    )
