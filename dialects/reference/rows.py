# SPDX-License-Identifier: Apache-2.0
"""The semantics of softmax, norms and reductions."""

from __future__ import annotations

import math

import numpy as np

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.reference.arrays import Array, Table, along, finite, highest_of, saturates
from tilewright.dialects.tile_tensor import element_of, is_float, is_float8
from tilewright.machine.dtypes import float_format, numpy_dtype


def scale_of(op: tt.SoftmaxOp | tt.AttentionOp) -> float:
    """The factor of the scores, as it is held: in f32."""
    return float(np.float32(op.scale.value.data))


def softmax_rows(op: tt.SoftmaxOp | tt.AttentionOp, scaled: Array) -> Array:
    """softmax of scaled scores; a row that is minus infinity throughout is what `empty_rows` says."""
    highest = scaled.max(axis=-1, keepdims=True, initial=-np.inf)
    raised = np.exp(scaled - highest)
    result = raised / raised.sum(axis=-1, keepdims=True)
    match op.empty_rows.data:
        case tt.EmptyRows.NAN:
            return result
        case tt.EmptyRows.ZERO:
            return np.where(highest == -np.inf, 0.0, result)
        case tt.EmptyRows.UNIFORM:
            return np.where(highest == -np.inf, 1.0 / max(scaled.shape[-1], 1), result)


def _statistic(x: Array) -> Array:
    """A statistic of rows (a mean over the last axis) as it is held: in f32."""
    return x.mean(axis=-1, keepdims=True).astype(np.float32).astype(np.float64)


def _square(x: Array) -> Array:
    """The square; infinite beyond f32, which statistics are held in."""
    square = x * x
    return np.where(np.isinf(square.astype(np.float32)), np.inf, square)


def _inverse_root(x: Array, epsilon: float) -> Array:
    root = 1.0 / np.sqrt(x + float(np.float32(epsilon)))
    return root.astype(np.float32).astype(np.float64)


def _layer_norm(op: tt.LayerNormOp, x: Array, *vectors: Array) -> Array:
    centred = x - _statistic(x)
    result = centred * _inverse_root(_statistic(_square(centred)), op.epsilon.value.data)
    if vectors:
        gamma, beta = vectors
        result = result * gamma + beta
    return np.ldexp(result, -op.scale.value.data)


def _rms_norm(op: tt.RmsNormOp, x: Array, gamma: Array) -> Array:
    return x * _inverse_root(_statistic(_square(x)), op.epsilon.value.data) * gamma


def _reduce(op: tt.ReduceOp, x: Array) -> Array:
    axes = tuple(op.axes.get_values())
    keep = op.keep_dims is not None
    if x.dtype.kind == "b":
        logical = np.any if op.kind.data == tt.Reduction.ANY else np.all
        return np.asarray(logical(x, axis=axes, keepdims=keep))
    integer = x.dtype.kind == "i"
    wide = x.astype(np.int64 if integer else np.float64)
    count = math.prod(x.shape[axis] for axis in axes)
    lowest, highest = _range_of_nothing(op)
    match op.kind.data:
        case tt.Reduction.PROD:
            product = wide.prod(axis=axes, keepdims=keep)
            factors = np.asarray(np.isfinite(wide).all(axis=axes, keepdims=keep))
            return product if integer else finite(product, factors)
        case tt.Reduction.SUM | tt.Reduction.MEAN:
            total = wide.sum(axis=axes, keepdims=keep)
            if not integer:  # a sum is -0 if all its terms are
                negative = (count > 0) & ((x == 0) & np.signbit(x)).all(axis=axes, keepdims=keep)
                total = np.where(total == 0, np.where(negative, -0.0, 0.0), total)
            return total if op.kind.data == tt.Reduction.SUM else total / np.float64(count)
        case tt.Reduction.MAX:
            return highest_of(wide, axes, keep, lowest if count == 0 else None)
        case _:
            return -highest_of(-wide, axes, keep, -highest if count == 0 else None)


def _range_of_nothing(op: tt.ReduceOp) -> tuple[float, float]:
    """What the maximum and the minimum over nothing are: the ends of the type."""
    element = element_of(op.operand)
    if not is_float(element):
        info = np.iinfo(numpy_dtype(str(element)))
        return int(info.min), int(info.max)
    if is_float8(element_of(op.result)) and saturates(op):
        largest = float_format(str(element_of(op.result))).max_value
        return -largest, largest
    return -np.inf, np.inf


SEMANTICS: Table = {
    tt.LayerNormOp: along(_layer_norm),
    tt.ReduceOp: _reduce,
    tt.RmsNormOp: along(_rms_norm),
    tt.SoftmaxOp: along(lambda op, x: softmax_rows(op, x * scale_of(op))),
}
