# SPDX-License-Identifier: Apache-2.0
"""
`tile-workload vit`: a plain vision transformer of any shape with random weights.

Patches (rows, patch values) -> embedding and positions -> encoder layers -> norm: output `tokens` (rows,
width). With classes, the first token's head gives output `logits` (samples, classes).
"""

from __future__ import annotations

import numpy as np

from tilewright.frontends.program_folder import ProgramFolder, Tolerance
from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads import forward, trunk
from tilewright.frontends.workloads.ir import Block, Value, program
from tilewright.frontends.workloads.weights import generator, normal

DEFAULT = e.Shape(tokens=16, width=64, heads=4, mlp=128, layers=2, batch=1, patch=48)


def build(
    shape: e.Shape = DEFAULT, mode: e.Mode = e.DEFAULT_MODE, seed: int = 0, classes: int = 0
) -> ProgramFolder:
    """The folder's contents; `classes` 0 leaves the head out."""
    rng = generator(seed)
    patches = normal(rng, (shape.rows, shape.patch), 1.0)
    values = trunk.draw(rng, shape)
    if classes:
        values |= e.draw_linear(rng, "head", shape.width, classes)
    values |= trunk.draw_layers(rng, shape)

    parameters = e.Parameters(values, mode)
    body = trunk.Trunk.of(parameters, shape)
    head = parameters.linear("head") if classes else None

    calibration = e.Calibration()
    layers: list[np.ndarray] = []
    expected = run_forward(patches, parameters, shape, calibration, bool(classes), layers)

    scale = calibration.scales()
    block = Block()
    x_patches = Value("patches", patches.shape, "f16")
    outputs = {"tokens": body.tokens(block, x_patches, shape, mode, scale)}
    if head is not None:
        features = e.operand(block, e.first_token(block, outputs["tokens"], shape), mode, scale("head_input"))
        outputs["logits"] = e.linear(block, "logits", features, *head, mode.accumulate)
    options = vars(shape) | {"classes": classes, "precision": mode.precision, "attention": mode.attention}
    title = "Vision transformer, random weights: " + ", ".join(
        f"{key} {value}" for key, value in options.items()
    )
    coarse = "f8" in (mode.precision, mode.attention)
    fine = Tolerance(0.02, min_row_cosine=0.9999)
    if mode.accumulate == "f16":
        fine = Tolerance(0.1, min_row_cosine=0.999)
    tolerance = Tolerance(0.25, min_row_cosine=0.99) if coarse else fine
    return ProgramFolder(
        program=program(title, [x_patches], parameters.arguments, block, outputs),
        parameters=values,
        inputs={"patches": patches},
        expected=expected,
        layers={"layers.x_next": np.stack(layers)} if layers else {},
        seed=seed,
        tolerance=dict.fromkeys(outputs, tolerance),
        precision=str(mode),
        workload={"name": "vit", **options},
    )


def run_forward(
    patches: np.ndarray,
    parameters: e.Parameters,
    shape: e.Shape,
    calibration: e.Calibration,
    head: bool,
    layers: list[np.ndarray],
) -> dict[str, np.ndarray]:
    """
    The outputs in float32, of the weights as stored; `layers` gets the residual stream after each layer, in
    f16.
    """
    x = trunk.run_forward(patches, parameters, shape, calibration, layers)
    outputs = {"tokens": x.reshape(shape.rows, shape.width)}
    if head:
        calibration.under()("head_input", x[:, 0])
        outputs["logits"] = forward.linear(
            x[:, 0], parameters.as_stored("head.weight"), parameters.as_stored("head.bias")
        )
    return outputs
