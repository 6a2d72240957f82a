# SPDX-License-Identifier: Apache-2.0
"""The part that vision transformers share: patches -> embedding and positions -> encoder layers -> norm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tilewright.frontends.workloads import encoder as e
from tilewright.frontends.workloads import forward
from tilewright.frontends.workloads.ir import Block, Members, Value
from tilewright.frontends.workloads.weights import normal


def draw(rng: np.random.Generator, shape: e.Shape) -> dict[str, np.ndarray]:
    """Weights by name of all but the layers."""
    values = e.draw_linear(rng, "embedding", shape.patch, shape.width)
    values["positions"] = normal(rng, (shape.tokens, shape.width), shape.width**-0.5)
    return values | e.draw_norm(rng, "norm", shape.width)


def draw_layers(rng: np.random.Generator, shape: e.Shape) -> dict[str, np.ndarray]:
    """Weights by name of the layers."""
    values: dict[str, np.ndarray] = {}
    for layer in range(shape.layers):
        values |= e.draw_layer(rng, e.layer_tensor(layer, ""), shape)
    return values


@dataclass(frozen=True)
class Trunk:
    """The parameters as values of a program."""

    embedding: tuple[Value, Value]
    positions: Value
    sequences: Mapping[str, Members]
    norm: tuple[Value, Value]

    @classmethod
    def of(cls, parameters: e.Parameters, shape: e.Shape) -> Trunk:
        """Declares the parameters, in this order."""
        embedding = parameters.linear("embedding", matrix=False)
        positions = parameters.one("positions")
        sequences = parameters.layers(shape.layers) if shape.layers else {}
        return cls(embedding, positions, sequences, parameters.norm("norm"))

    def tokens(self, block: Block, patches: Value, shape: e.Shape, mode: e.Mode, scale: e.Scales) -> Value:
        """`patches` (rows, patch values) -> `tokens` (rows, width)."""
        x = e.add_positions(block, e.embed(block, patches, *self.embedding, mode), self.positions, shape)
        if self.sequences:
            x = e.encoder(block, x, self.sequences, shape, mode, scale)
        return block.layer_norm("tokens", x, *self.norm, e.EPSILON)


def run_forward(
    patches: np.ndarray,
    parameters: e.Parameters,
    shape: e.Shape,
    calibration: e.Calibration,
    layers: list[np.ndarray],
) -> np.ndarray:
    """
    The tokens (samples, tokens, width) in float32, of the weights as stored; `layers` gets the residual
    stream after each layer, in f16.
    """
    w = parameters.group
    embedding = w("embedding.")
    x = forward.linear(patches.astype(np.float32), embedding["weight"], embedding["bias"])
    x = x.reshape(shape.batch, shape.tokens, shape.width) + parameters.as_stored("positions")
    for layer in range(shape.layers):
        x = forward.encoder_layer(x, w(e.layer_tensor(layer, "")), shape.heads, calibration.under())
        layers.append(x.reshape(shape.rows, shape.width).astype(np.float16))
    norm = w("norm.")
    return forward.layer_norm(x, norm["weight"], norm["bias"])
