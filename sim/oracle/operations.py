# SPDX-License-Identifier: Apache-2.0
"""
What each planned operation gives, bit for bit: plain numpy on logical shapes, in the order of passes that the
plan implies.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tilewright.diagnostics import TileError
from tilewright.dialects.reference import constant_array
from tilewright.machine.dtypes import is_integer, name_of, numpy_dtype
from tilewright.machine.kernels.matrix_unit import product
from tilewright.machine.numerics import operations as numerics
from tilewright.machine.numerics.pointwise import OPERATIONS, function_of
from tilewright.passes.ir.tensors import choice_of, operator_of
from tilewright.planning.operators import attention as attention_plan
from tilewright.planning.operators import gather as gather_plan
from tilewright.planning.operators import matmul as matmul_plan
from tilewright.planning.operators import movement, windows
from tilewright.planning.operators.base import Operator
from tilewright.planning.operators.blocks import column_width
from tilewright.planning.operators.empty import is_empty, value_of_nothing
from tilewright.planning.operators.movement import fill_word
from tilewright.planning.operators.rowwise import reduction, row_axis
from tilewright.planning.operators.standard import SUFFIX

Array = NDArray[Any]


class OracleError(TileError):
    """A module without plans, an operation that the oracle does not know, or values that do not fit."""


def evaluate_operation(op: Operation, operands: Sequence[Array]) -> Array:
    """The result of one planned tensor operation on operands of their own types."""
    kind = op.name.partition(".")[2]
    if op.name in ("tile_layout.convert", "tile_layout.materialize", "tile_layout.home"):
        return operands[0]
    if not op.name.startswith("tile_tensor."):
        raise OracleError(f"{op.name} has no oracle", location=op.location)
    if kind == "constant":
        return constant_array(cast("Any", op.properties["value"]))
    operator = operator_of(op)
    if kind == "reduce_window" and is_empty(operator):
        word = fill_word(value_of_nothing(operator), operator.result_dtype)
        element = np.frombuffer(word.to_bytes(4, "little"), numpy_dtype(operator.result_dtype))[0]
        return np.full(operator.result_shape, element)
    if kind in ("matmul", "attention", "convolution") and is_empty(operator):  # a sum over nothing
        return np.zeros(operator.result_shape, numpy_dtype(operator.result_dtype))
    if kind == "matmul":
        return _matmul(operator, _record(op), *operands)
    if kind == "attention":
        return _attention(operator, _record(op), *operands)
    if kind == "layer_norm":
        return _layer_norm(operator, *operands, _record(op))
    if kind == "gather":
        return _gather(operator, _record(op), *operands)
    if kind == "bias_gelu":
        x, bias = operands
        return numerics.bias_gelu_rows(x, bias, operator.result_dtype, _saturates(operator))
    if kind in OPERATIONS:
        return _pointwise(operator, operands)
    function = _OPERATIONS.get(kind)
    if function is None:
        raise OracleError(f"{op.name} has no oracle", location=op.location)
    return np.ascontiguousarray(function(operator, *operands)).reshape(operator.result_shape)


_STRATEGIES = ("grid", "score_grid", "own_keys", "rows")
"""Strategies whose order of sums the oracle knows."""


def _record(op: Operation) -> Any:
    choice = choice_of(op)
    if choice is None:
        raise OracleError(f"{op.name} has no plan", location=op.location, hint="run tile-plan-layouts first")
    if choice.strategy.name.removesuffix(SUFFIX) not in _STRATEGIES:
        raise OracleError(f"strategy {choice.strategy.name!r} has no oracle", location=op.location)
    return choice.record


def _matmul(
    operator: Operator, record: matmul_plan.MatmulRecord, a: Array, b: Array, *addends: Array
) -> Array:
    shape = matmul_plan.canonical(operator)
    a, b = (
        numerics.cast_array(x, dtype, matmul_plan.cast_exponent(name_of(x.dtype), dtype), False)
        if name_of(x.dtype) != dtype
        else x
        for x, dtype in zip((a, b), shape.operand_dtype, strict=True)
    )
    if operator.attributes.get("transpose_a"):
        a = a.swapaxes(-1, -2)
    if not operator.attributes.get("transpose_b"):
        b = b.swapaxes(-1, -2)
    if record.swap:
        a, b = b, a
    shape = matmul_plan.swapped(shape, record.swap)
    if record.inner:
        a, b = (_in_groups(x, record.inner, matmul_plan.PANEL_WORD) for x in (a, b))
        shape = dataclasses.replace(shape, k=a.shape[-1])
    _, _, _, block = matmul_plan.blocks(shape, record.grid)
    _, _, _, count = matmul_plan.used_grid(shape, record.grid)
    parts = [
        numerics.gemm_logical(a, b, shape.partial, shape.inputs, shape.scale, part * block, block)
        for part in range(count)
    ]
    own = matmul_plan.first_addend(operator)
    if own is not None or count > 1:
        terms = [part.swapaxes(-1, -2) if record.swap else part for part in parts]
        first = [] if own is None else [addends[own - 2]]
        further = [addends[i - 2] for i in matmul_plan.further_addends(operator)]
        return numerics.reduce_partials((*first, *terms, *further), shape.result_dtype, _saturates(operator))
    if shape.partial != shape.result_dtype:
        result = numerics.cast_array(parts[0], shape.result_dtype, 0, _saturates(operator))
    else:
        result = parts[0]
    return np.ascontiguousarray(result.swapaxes(-1, -2)) if record.swap else result


def _attention(
    operator: Operator,
    record: attention_plan.AttentionRecord,
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None = None,
) -> Array:
    shape = attention_plan.canonical(operator)
    if name_of(q.dtype) != shape.dtype:  # widened
        q, k, v = (numerics.cast_array(x, shape.dtype) for x in (q, k, v))
    heads = q.shape[:-2]
    if k.shape[:-2] != heads:
        k, v = (np.repeat(x, heads[-1] // x.shape[-3], axis=-3) for x in (k, v))
    _, _, block = attention_plan.blocks(shape, record.grid)
    _, _, count = attention_plan.used_grid(shape, record.grid)
    score, output = product(shape.score_kernel), product(shape.output_kernel)
    score_type, partial_type = score.partial, output.partial
    columns = [slice(part * block, min((part + 1) * block, shape.keys)) for part in range(count)]
    if isinstance(record, attention_plan.OwnKeysRecord) and record.group:
        q, k = (_in_groups(x, record.group, score.inputs) for x in (q, k))
    scores = [numerics.gemm_logical(q, k[..., keys, :], score_type, score.inputs) for keys in columns]
    boolean = mask is not None and mask.dtype == np.bool_
    after = operator.attributes.get("mask_place") == "after_scale" and not boolean
    if mask is not None and not boolean:
        scores = [
            numerics.scaled_add(s, mask[..., keys], shape.scale, score_type)
            if after
            else numerics.pointwise("add", s, mask[..., keys], dtype=score_type)
            for s, keys in zip(scores, columns, strict=True)
        ]
    scale = 1.0 if after else shape.scale
    extreme = "min" if scale < 0 else "max"
    hidden = np.array(np.inf if scale < 0 else -np.inf, scores[0].dtype)
    seen = _visible(operator, q.shape[-2], k.shape[-2])
    if boolean:
        seen = seen & mask
    scores = [np.where(seen[..., keys], s, hidden) for s, keys in zip(scores, columns, strict=True)]
    if isinstance(record, attention_plan.OwnKeysRecord):
        return _own_keys(operator, shape, scale, record, scores, [v[..., keys, :] for keys in columns])
    extrema = np.stack([numerics.reduce_rows(extreme, s, "f32") for s in scores], axis=-1)
    row = numerics.reduce_rows(extreme, extrema, "f32")
    empty = str(operator.attributes.get("empty_rows", "zero"))
    partials: list[Array] = []
    sums: list[Array] = []
    for s, keys in zip(scores, columns, strict=True):
        p, total = numerics.softmax_exp(s, row, scale, shape.dtype, "f32", True, empty)
        sums.append(total)
        values = v[..., keys, :].swapaxes(-1, -2)
        partials.append(numerics.gemm_logical(p, values, partial_type, output.inputs))
    if count == 1:
        summed, total = partials[0], sums[0]
    else:
        summed = numerics.reduce_partials(partials, "f32", True)
        total = numerics.reduce_partials(sums, "f32", True)
    inverse = numerics.pointwise("reciprocal", total, dtype="f32")
    return numerics.pointwise(
        "mul", summed, inverse[..., None], dtype=shape.result_dtype, saturate=_saturates(operator)
    )


def _visible(operator: Operator, queries: int, keys: int) -> Array:
    """Which keys a query sees, bool (queries, keys)."""
    attributes = operator.attributes
    at = np.arange(queries) + int(attributes.get("query_offset", 0))
    lowest, highest = np.full(queries, -(1 << 40)), np.full(queries, 1 << 40)
    if attributes.get("window") is not None:
        lowest, highest = at - int(attributes["window"]) + 1, at + int(attributes["window"]) - 1
    if attributes.get("causal"):
        highest = np.minimum(highest, at)
    key = np.arange(keys)
    return (key >= lowest[:, None]) & (key <= highest[:, None])


def _in_groups(x: Array, group: int, inputs: int) -> Array:
    """Groups of columns, each completed with zeros to a multiple of `inputs`."""
    grouped = x.reshape(*x.shape[:-1], -1, group)
    pad = np.zeros((*grouped.shape[:-1], -group % inputs), x.dtype)
    return np.concatenate([grouped, pad], axis=-1).reshape(*x.shape[:-1], -1)


def _own_keys(
    operator: Operator,
    shape: attention_plan.Shape,
    scale: float,
    record: attention_plan.OwnKeysRecord,
    scores: Sequence[Array],
    values: Sequence[Array],
) -> Array:
    """Softmax of the keys of each part by itself; its outputs are merged. The sums may be one more output."""
    output = product(shape.output_kernel)
    empty = str(operator.attributes.get("empty_rows", "zero"))
    parts = [numerics.softmax_part(s, scale, shape.dtype, True, empty) for s in scores]
    outputs: list[Array] = []
    for (p, _, _), v in zip(parts, values, strict=True):
        if record.ones:
            v = np.concatenate([v, np.ones((*v.shape[:-1], 1), v.dtype)], axis=-1)
        outputs.append(numerics.gemm_logical(p, v.swapaxes(-1, -2), output.partial, output.inputs))
    extremes, sums = (np.stack(statistic) for statistic in list(zip(*parts, strict=True))[1:])
    if record.ones:
        sums = np.stack([x[..., -1] for x in outputs])
        outputs = [x[..., :-1] for x in outputs]
    return numerics.softmax_merge(
        outputs,
        extremes,
        sums,
        scale,
        shape.result_dtype,
        _saturates(operator),
        empty if record.ones else "nan",
    )


def _pointwise(operator: Operator, operands: Sequence[Array]) -> Array:
    function = function_of(operator.name, operator.attributes).name
    result = numerics.pointwise(
        function, *operands, dtype=operator.result_dtype, saturate=_saturates(operator)
    )
    return np.broadcast_to(result, operator.result_shape)


def _gather(operator: Operator, record: gather_plan.GatherRecord, table: Array, indices: Array) -> Array:
    result = _rows(operator, table, indices, int(operator.attributes.get("axis", 0)))
    parts, _ = gather_plan.used_grid(gather_plan.canonical(operator), record.grid)
    if parts == 1:
        return result
    return numerics.reduce_partials((result, np.zeros_like(result)), operator.result_dtype)  # -0 and NaN show


def _rows(operator: Operator, table: Array, indices: Array, axis: int) -> Array:
    """The rows that the indices name: the nearest one, or zeros, for an index outside of the table."""
    if not table.shape[axis]:
        return np.zeros(operator.result_shape, table.dtype)
    result = np.take(table, indices, axis=axis, mode="clip")
    if operator.attributes.get("out_of_range") != "zero":
        return result
    outside = (indices < 0) | (indices >= table.shape[axis])
    outside = outside.reshape((*(1,) * axis, *outside.shape, *(1,) * (table.ndim - axis - 1)))
    return np.where(outside, np.zeros((), table.dtype), result)


def _saturates(operator: Operator) -> bool:
    return bool(operator.attributes.get("saturate", True))


def _cast(operator: Operator, x: Array) -> Array:
    attributes = operator.attributes
    truncate = attributes.get("rounding") == "truncate"
    return numerics.cast_array(
        x, operator.result_dtype, int(attributes.get("scale", 0)), _saturates(operator), truncate
    )


def _reduce(operator: Operator, x: Array) -> Array:
    kind, rank = operator.attributes["kind"], x.ndim
    reduced = sorted(int(axis) % rank for axis in operator.attributes["axes"])
    kept = [axis for axis in range(rank) if axis not in reduced]
    columns = math.prod(x.shape[axis] for axis in reduced)
    rows = x.transpose(*kept, *reduced).reshape(
        -1 if columns else math.prod(x.shape[a] for a in kept), columns
    )
    if kind == "mean":
        return numerics.reduce_rows("sum", rows, operator.result_dtype, columns, _saturates(operator))
    return numerics.reduce_rows(reduction(kind), rows, operator.result_dtype, saturate=_saturates(operator))


def _along(function: Callable[..., Array]) -> Callable[..., Array]:
    """An operation on rows, along the axis that it names."""

    def run(operator: Operator, x: Array, *rest: Any) -> Array:
        axis = row_axis(operator)
        rows = np.ascontiguousarray(np.moveaxis(x, axis, -1))
        return np.ascontiguousarray(np.moveaxis(function(operator, rows, *rest), -1, axis))

    return run


@_along
def _layer_norm(operator: Operator, x: Array, *rest: Any) -> Array:
    *vectors, record = rest
    how = _epsilon(operator), operator.result_dtype, _saturates(operator)
    scale = int(operator.attributes.get("scale", 0))
    if record.split:
        block = column_width(x.shape[-1])
        parts = [numerics.norm_statistics(x[..., at : at + block]) for at in range(0, x.shape[-1], block)]
        means, variances = (np.stack(statistic) for statistic in zip(*parts, strict=True))
        mean, variance = numerics.norm_merge(means, variances, x.shape[-1])
        return numerics.norm_apply(x, mean, variance, vectors, *how, scale)
    return numerics.layer_norm_rows(x, vectors, *how, scale)


@_along
def _rms_norm(operator: Operator, x: Array, gamma: Array) -> Array:
    return numerics.rms_norm_rows(x, gamma, _epsilon(operator), operator.result_dtype, _saturates(operator))


def _epsilon(operator: Operator) -> float:
    return float(operator.attributes.get("epsilon", 1e-6))


@_along
def _softmax(operator: Operator, x: Array) -> Array:
    return numerics.softmax_rows(
        x,
        float(operator.attributes.get("scale", 1.0)),
        operator.result_dtype,
        _saturates(operator),
        str(operator.attributes.get("empty_rows", "nan")),
    )


def _order(operator: Operator, x: Array) -> Array:
    """Places along the rows of an operation, or what lies there."""
    axis = row_axis(operator)
    rows = np.ascontiguousarray(np.moveaxis(x, axis, -1))
    if operator.name in ("argmax", "argmin"):
        return numerics.extreme_index_rows(operator.name[3:], rows)
    if operator.name == "cumsum":
        found = numerics.cumsum_rows(rows, operator.result_dtype, _saturates(operator))
    else:
        found = numerics.sort_rows(rows, bool(operator.attributes.get("descending")))
        found = np.take_along_axis(rows, found, axis=-1) if operator.name == "sort" else found
    return np.moveaxis(found, -1, axis)


def _scatter_add(operator: Operator, base: Array, indices: Array, updates: Array) -> Array:
    rows = base.shape[0]
    columns = math.prod(base.shape[1:])
    flat = base.reshape(rows, columns), updates.reshape(len(indices), columns)
    return numerics.scatter_add_rows(
        flat[0], indices.astype(np.int64), flat[1], operator.result_dtype, _saturates(operator)
    ).reshape(base.shape)


def _pad(operator: Operator, x: Array) -> Array:
    value = operator.attributes.get("value", 0.0)
    if not is_integer(operator.result_dtype):
        value = numerics.round_to(np.array([value], np.float64), operator.result_dtype)[0]
    result = np.full(operator.result_shape, value, x.dtype)
    taken, offsets, steps = movement.inside(operator)
    box = tuple(slice(start, start + size) for start, size in taken)
    target = tuple(
        slice(offset, offset + (size - 1) * step + 1, step) if size else slice(0, 0)
        for offset, step, (_, size) in zip(offsets, steps, taken, strict=True)
    )
    result[target] = x[box]
    return result


def _broadcast(operator: Operator, x: Array) -> Array:
    extents = [1] * len(operator.result_shape)
    for dimension, extent in zip(operator.attributes["dimensions"], x.shape, strict=True):
        extents[dimension] = extent
    return np.broadcast_to(x.reshape(extents), operator.result_shape)


def _slice(operator: Operator, x: Array) -> Array:
    offsets, sizes = operator.attributes["offsets"], operator.attributes["sizes"]
    steps = operator.attributes.get("strides", (1,) * x.ndim)
    box = zip(offsets, sizes, steps, strict=True)
    return x[tuple(slice(o, o + (n - 1) * k + 1, k) if n else slice(0, 0) for o, n, k in box)]


def _taps(operator: Operator, x: Array) -> Array:
    """What lies under each window, its elements behind one another on a last axis; padding included."""
    shape = windows.canonical(operator)
    taps: list[Array] = []
    fill = np.frombuffer(
        fill_word(windows.around(operator), name_of(x.dtype)).to_bytes(4, "little"), x.dtype
    )[0]
    for i in range(shape.size[0]):
        for j in range(shape.size[1]):
            found = x
            for axis, position, pair in zip(shape.axes, (i, j), (0, 1), strict=True):
                if axis is None:
                    continue
                at = position * shape.dilation[pair] - shape.low[pair]
                at = at + shape.strides[pair] * np.arange(shape.results[pair])
                inside = (at >= 0) & (at < shape.extents[pair])
                found = np.take(found, np.where(inside, at, 0), axis=axis)
                found = np.where(inside.reshape(-1, *[1] * (x.ndim - axis - 1)), found, fill)
            taps.append(found)
    return np.stack(taps, axis=-1)


def _convolution(operator: Operator, x: Array, weights: Array) -> Array:
    """Of each channel by itself."""
    taps = weights.reshape(-1, weights.shape[-1]).T  # (c, k)
    return numerics.window_products(_taps(operator, x), taps, operator.result_dtype, _saturates(operator))


def _reduce_window(operator: Operator, x: Array) -> Array:
    kind = operator.attributes["kind"]
    count = math.prod(operator.attributes["size"]) if kind == "mean" else None
    return numerics.reduce_rows(
        reduction(kind), _taps(operator, x), operator.result_dtype, count, _saturates(operator)
    )


def _dynamic_slice(operator: Operator, x: Array, *starts: Array) -> Array:
    for axis, (start, size) in enumerate(zip(starts, operator.result_shape, strict=True)):
        first = np.clip(int(start), 0, x.shape[axis] - size)
        x = np.take(x, np.arange(first, first + size), axis=axis)
    return x


def _dynamic_update_slice(operator: Operator, x: Array, update: Array, *starts: Array) -> Array:
    result = np.array(x)
    window = result
    for axis, (start, size) in enumerate(zip(starts, update.shape, strict=True)):
        first = np.clip(int(start), 0, x.shape[axis] - size)
        window = window.swapaxes(0, axis)[first : first + size].swapaxes(0, axis)
    window[...] = update
    return result


_OPERATIONS: dict[str, Callable[..., Array]] = {
    "broadcast": _broadcast,
    "cast": _cast,
    "scatter_add": _scatter_add,
    **dict.fromkeys(("argmax", "argmin", "argsort", "cumsum", "sort"), _order),
    "convolution": _convolution,
    "reduce_window": _reduce_window,
    "concat": lambda operator, *xs: np.concatenate(xs, axis=int(operator.attributes["axis"])),
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "pad": _pad,
    "reduce": _reduce,
    "reshape": lambda operator, x: x.reshape(operator.result_shape),
    "rms_norm": _rms_norm,
    "slice": _slice,
    "softmax": _softmax,
    "transpose": lambda operator, x: x.transpose(operator.attributes["permutation"]),
}
