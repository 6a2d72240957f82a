# SPDX-License-Identifier: Apache-2.0
"""
Plain float32 numpy forward passes of the workloads: the source of their expected outputs.

Nothing here knows of the IR or of the machine. Weights are (in, out), activations (rows, width) with a
leading samples axis where samples attend apart from each other. `observe(name, values)` is told every tensor
that the f8 program casts, for calibration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from tilewright.machine.numerics.operations import pointwise

Observe = Callable[[str, np.ndarray], None]
LayerWeights = Mapping[str, np.ndarray]

EPSILON = 1e-6
"""Of every layer norm (SigLIP's `layer_norm_eps`; the digits model was trained with the same)."""


def ignore(name: str, values: np.ndarray) -> None:
    """The `observe` of a pass that calibrates nothing."""


def linear(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return x @ weight + bias


def layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, epsilon: float = EPSILON) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    variance = np.mean(centred * centred, -1, keepdims=True)
    return centred / np.sqrt(variance + np.float32(epsilon)) * gamma + beta


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    inner = np.float32(math.sqrt(2 / math.pi)) * (x + np.float32(0.044715) * (x * x * x))
    return np.float32(0.5) * x * (np.float32(1) + np.tanh(inner))


def gelu_erf(x: np.ndarray) -> np.ndarray:
    """Exact GELU; numpy has no erf, `tilewright.machine.numerics.operations` has one to the last place."""
    return pointwise("gelu_erf", x, dtype="f32")


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, heads: int, mask: np.ndarray | None = None
) -> np.ndarray:
    """
    q (samples, queries, width), k and v (samples, keys, width) -> (samples, queries, width), heads side by
    side in width. Keys whose `mask` (samples, keys) is 0 are not attended to.
    """
    samples, queries, width = q.shape

    def split(x: np.ndarray) -> np.ndarray:
        return x.reshape(samples, -1, heads, width // heads).transpose(0, 2, 1, 3)

    scores = split(q) @ split(k).transpose(0, 1, 3, 2) * np.float32(1 / math.sqrt(width // heads))
    if mask is not None:
        scores = np.where(mask[:, None, None, :] != 0, scores, np.float32(-np.inf))
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    scores /= scores.sum(-1, keepdims=True)
    return (scores @ split(v)).transpose(0, 2, 1, 3).reshape(samples, queries, width)


def mlp(x: np.ndarray, w: LayerWeights, observe: Observe) -> np.ndarray:
    """`up`, tanh GELU, `down`; x is the normalised input."""
    observe("mlp_input", x)
    hidden = gelu_tanh(linear(x, w["up.weight"], w["up.bias"]))
    observe("hidden", hidden)
    return linear(hidden, w["down.weight"], w["down.bias"])


def encoder_layer(x: np.ndarray, w: LayerWeights, heads: int, observe: Observe = ignore) -> np.ndarray:
    """One pre-norm encoder layer; x (samples, tokens, width)."""
    h = layer_norm(x, w["norm1.weight"], w["norm1.bias"])
    observe("attention_input", h)
    q, k, v = (linear(h, w[f"{name}.weight"], w[f"{name}.bias"]) for name in "qkv")
    for name, values in zip("qkv", (q, k, v), strict=True):
        observe(name, values)
    context = attention(q, k, v, heads)
    observe("context", context)
    x = x + linear(context, w["projection.weight"], w["projection.bias"])
    return x + mlp(layer_norm(x, w["norm2.weight"], w["norm2.bias"]), w, observe)


def attention_pooling(
    tokens: np.ndarray, w: LayerWeights, heads: int, observe: Observe = ignore
) -> np.ndarray:
    """
    SigLIP's head: a learned probe attends to the tokens (samples, tokens, width) -> (samples, width).

    After `SiglipMultiheadAttentionPoolingHead` of transformers: the residual of its MLP is the attention's
    output.
    """
    samples, _, width = tokens.shape
    observe("probe", w["probe"])
    observe("pool_input", tokens)
    q = np.broadcast_to(linear(w["probe"], w["q.weight"], w["q.bias"]), (samples, 1, width))
    k, v = (linear(tokens, w[f"{name}.weight"], w[f"{name}.bias"]) for name in "kv")
    for name, values in zip("qkv", (q, k, v), strict=True):
        observe(name, values)
    context = attention(q, k, v, heads)
    observe("context", context)
    pooled = linear(context, w["projection.weight"], w["projection.bias"])
    return (pooled + mlp(layer_norm(pooled, w["norm.weight"], w["norm.bias"]), w, observe))[:, 0]
