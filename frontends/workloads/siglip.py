# SPDX-License-Identifier: Apache-2.0
"""
`tile-workload siglip`: the vision tower of SigLIP So400m/14-384 with random weights.

Patches of 14x14x3 values -> embedding and positions -> 27 encoder layers -> norm: output `tokens` (samples *
729, 1152); a learned probe attends to them, then an MLP: output `pooled` (samples, 1152). The input is
`patches` (samples * 729, 588) cut by the host, values in the order channel, row, column; with `images` it is
`images` (samples * 3, 384, 384), of which the 27x27 patches leave out the last 6 rows and columns, as the
tower's convolution does.
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.frontends.program_folder import ProgramFolder, Tolerance
from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads import forward, trunk
from tilewright.frontends.workloads.ir import Block, Value, program
from tilewright.frontends.workloads.weights import generator, normal, xavier_uniform

DEFAULT = e.Shape(tokens=729, width=1152, heads=16, mlp=4304, layers=27, batch=1, patch=588)
DEFAULT_MODE = e.Mode("f8", "f8")
CHANNELS = 3
LEFT_OVER = 6
"""Rows and columns of an image beyond the last whole patch: 384 = 27 * 14 + 6."""


def draw(shape: e.Shape, seed: int) -> tuple[np.random.Generator, dict[str, np.ndarray]]:
    """Weights by name; the layers come last, so towers that differ in their number share the others."""
    rng = generator(seed)
    values = trunk.draw(rng, shape)
    values["head.probe"] = xavier_uniform(rng, (1, shape.width))
    for name in ("q", "k", "v", "projection"):
        values |= e.draw_linear(rng, f"head.{name}", shape.width, shape.width)
    values |= e.draw_norm(rng, "head.norm", shape.width)
    values |= e.draw_linear(rng, "head.up", shape.width, shape.mlp)
    values |= e.draw_linear(rng, "head.down", shape.mlp, shape.width)
    return rng, values


def cut(images: np.ndarray, grid: int, side: int) -> np.ndarray:
    """(samples * channels, height, width) -> (samples * grid * grid, channels * side * side)."""
    images = images.reshape(-1, CHANNELS, *images.shape[1:])[:, :, : grid * side, : grid * side]
    patches = images.reshape(-1, CHANNELS, grid, side, grid, side).transpose(0, 2, 4, 1, 3, 5)
    return np.ascontiguousarray(patches).reshape(-1, CHANNELS * side * side)


def cut_ir(block: Block, images: Value, shape: e.Shape, grid: int, side: int) -> Value:
    """`cut` as views."""
    covered = grid * side
    whole = block.slice("covered", images, (0, 0, 0), (images.shape[0], covered, covered))
    split = block.reshape("image_patches", whole, (shape.batch, CHANNELS, grid, side, grid, side))
    by_patch = block.transpose("patch_pixels", split, (0, 2, 4, 1, 3, 5))
    return block.reshape("patches", by_patch, (shape.rows, shape.patch))


def tolerances(mode: e.Mode, layers: int) -> dict[str, Tolerance]:
    """
    By output. The outputs are normalised, so their errors do not depend on the width.

    At full shape in f8, rounding each operation once leaves `tokens` 0.20 off at worst (of 840,000 values)
    and `pooled` 0.17 after 27 layers, with row cosines of 0.999. The machine, which rounds partial
    products too, has `tokens` 0.10 off after one layer, 0.16 after four and 0.19 after 27.
    """
    if "f8" in (mode.precision, mode.attention):
        tokens, pooled = (0.15, 0.2) if layers <= 1 else (0.2, 0.2) if layers <= 4 else (0.3, 0.3)
        return {
            "tokens": Tolerance(tokens, min_row_cosine=0.99),
            "pooled": Tolerance(pooled, min_row_cosine=0.99),
        }
    if mode.accumulate == "f16":
        return dict.fromkeys(("tokens", "pooled"), Tolerance(0.15, min_row_cosine=0.999))
    return dict.fromkeys(("tokens", "pooled"), Tolerance(0.03, min_row_cosine=0.9999))


def build(
    shape: e.Shape = DEFAULT, mode: e.Mode = DEFAULT_MODE, seed: int = 0, *, images: bool = False
) -> ProgramFolder:
    """The folder's contents; `images`: the program cuts the patches itself."""
    grid, side = math.isqrt(shape.tokens), math.isqrt(shape.patch // CHANNELS)
    if images and (grid * grid != shape.tokens or side * side * CHANNELS != shape.patch):
        raise e.WorkloadError(
            f"--images needs a square of square patches, not {shape.tokens} tokens of {shape.patch} values",
            hint="--tokens must be a square and --patch three times a square",
        )
    rng, values = draw(shape, seed)
    if images:
        size = grid * side + LEFT_OVER
        inputs = {"images": normal(rng, (shape.batch * CHANNELS, size, size), 1.0)}
        patches = cut(inputs["images"], grid, side)
    else:
        inputs = {"patches": normal(rng, (shape.rows, shape.patch), 1.0)}
        patches = inputs["patches"]
    values |= trunk.draw_layers(rng, shape)

    parameters = e.Parameters(values, mode)
    body = trunk.Trunk.of(parameters, shape)
    probe = parameters.one("head.probe")
    w: dict[str, Value] = {}
    for name in ("q", "k", "v", "projection", "up", "down"):
        w[f"{name}_weight"], w[f"{name}_bias"] = parameters.linear(f"head.{name}")
    head_norm = parameters.norm("head.norm")

    calibration = e.Calibration()
    layers: list[np.ndarray] = []
    expected = run_forward(patches, parameters, shape, calibration, layers)

    block = Block()
    (name, values_in), *_ = inputs.items()
    x_input = Value(name, values_in.shape, "f16")
    x_patches = cut_ir(block, x_input, shape, grid, side) if images else x_input
    tokens = body.tokens(block, x_patches, shape, mode, calibration.scales())

    scale = calibration.scales("head.")
    keys_in = e.operand(block, tokens, mode, scale("pool_input"))
    queries_in = e.operand(block, probe, mode, scale("probe"))
    q = e.linear(block, "q", queries_in, w["q_weight"], w["q_bias"], mode.accumulate)
    k, v = (e.linear(block, n, keys_in, w[f"{n}_weight"], w[f"{n}_bias"], mode.accumulate) for n in "kv")
    context = e.operand(
        block, e.attend(block, q, k, v, shape.batch, shape.heads, mode, scale), mode, scale("context")
    )
    attended = e.linear(
        block, "attended", context, w["projection_weight"], w["projection_bias"], mode.accumulate
    )
    normed = block.layer_norm("head_norm", attended, *head_norm, e.EPSILON)
    pooled = block.add("pooled", attended, e.mlp(block, normed, w, mode, scale))

    options = vars(shape) | {"images": images, "precision": mode.precision, "attention": mode.attention}
    title = "SigLIP vision tower, random weights: " + ", ".join(
        f"{key} {value}" for key, value in options.items()
    )
    return ProgramFolder(
        program=program(title, [x_input], parameters.arguments, block, {"tokens": tokens, "pooled": pooled}),
        parameters=values,
        inputs=inputs,
        expected=expected,
        layers={"layers.x_next": np.stack(layers)} if layers else {},
        seed=seed,
        tolerance=tolerances(mode, shape.layers),
        precision=str(mode),
        workload={"name": "siglip", **options},
    )


def run_forward(
    patches: np.ndarray,
    parameters: e.Parameters,
    shape: e.Shape,
    calibration: e.Calibration,
    layers: list[np.ndarray],
) -> dict[str, np.ndarray]:
    """
    The outputs in float32, of the weights as stored; `layers` gets the residual stream after each layer, in
    f16.
    """
    x = trunk.run_forward(patches, parameters, shape, calibration, layers)
    pooled = forward.attention_pooling(x, parameters.group("head."), shape.heads, calibration.under("head."))
    return {"tokens": x.reshape(shape.rows, shape.width), "pooled": pooled}
