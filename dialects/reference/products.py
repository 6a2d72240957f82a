# SPDX-License-Identifier: Apache-2.0
"""The semantics of products: matrices, convolutions, attention."""

from __future__ import annotations

import numpy as np

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.reference.arrays import Array, Table
from tilewright.dialects.reference.rows import scale_of, softmax_rows
from tilewright.dialects.reference.windows import shifted
from tilewright.dialects.tile_tensor import shape_of


def _matmul(op: tt.MatmulOp, a: Array, b: Array, *addends: Array) -> Array:
    if op.transpose_a is not None:
        a = a.swapaxes(-1, -2)
    if op.transpose_b is not None:
        b = b.swapaxes(-1, -2)
    if a.dtype.kind == "i":
        return np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64)
    return sum(addends, np.ldexp(np.matmul(a, b), op.scale.value.data))


def convolve(op: tt.ConvolutionOp, x: Array, weights: Array) -> Array:
    """The sums of products of a convolution, f64."""
    window = op.window(weights.shape[:-2])
    extents, groups = shape_of(op.result)[1:-1], op.groups.value.data
    picture = np.moveaxis(x, 0, -2)  # [s.., n, c]
    total = np.zeros((*extents, x.shape[0], weights.shape[-1]))
    for at in np.ndindex(*window.size):
        seen = shifted(picture, window, at, extents, 0.0)
        seen = seen.reshape(*seen.shape[:-1], groups, weights.shape[-2])
        matrix = weights[at].reshape(
            weights.shape[-2], groups, weights.shape[-1] // groups
        )  # [c / groups, groups, o / groups]
        total = total + np.einsum("...gc,cgo->...go", seen, matrix).reshape(total.shape)
    return np.moveaxis(total, -2, 0)


def _attention(op: tt.AttentionOp, q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
    k, v = shared_heads(q, k), shared_heads(q, v)
    scaled = scaled_scores(op, np.matmul(q, k.swapaxes(-1, -2)), mask)
    return np.matmul(softmax_rows(op, scaled), v)


def shared_heads(q: Array, x: Array) -> Array:
    """Keys or values [.., g, tk, d] as every head of the queries [.., h, tq, d] sees them."""
    if q.ndim < 3 or q.shape[-3] == x.shape[-3]:
        return x
    return np.repeat(x, q.shape[-3] // x.shape[-3], axis=-3)


def scaled_scores(op: tt.AttentionOp, scores: Array, mask: Array | None) -> Array:
    """Scores with their mask and scale; minus infinity where a query does not see a key."""
    scale = scale_of(op)
    if mask is None:
        scaled = scores * scale
    elif mask.dtype.kind == "b":
        scaled = np.where(mask, scores * scale, -np.inf)
    elif op.mask_place.data is tt.MaskPlace.AFTER_SCALE:
        scaled = scores * scale + mask
    else:
        scaled = (scores + mask) * scale
    return np.where(visible_keys(op, *scores.shape[-2:]), scaled, -np.inf)


def visible_keys(op: tt.AttentionOp, queries: int, keys: int) -> Array:
    """Which keys a query sees, bool [tq, tk]."""
    ahead = np.arange(keys)[None, :] - (np.arange(queries)[:, None] + op.query_offset.value.data)
    seen = np.ones(ahead.shape, bool)
    if op.causal is not None:
        seen &= ahead <= 0
    if op.window is not None:
        seen &= np.abs(ahead) < op.window.value.data
    return seen


SEMANTICS: Table = {
    tt.AttentionOp: _attention,
    tt.ConvolutionOp: convolve,
    tt.MatmulOp: _matmul,
}
