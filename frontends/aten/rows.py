# SPDX-License-Identifier: Apache-2.0
"""ATen's reductions, softmax, norms and orders: what works along axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import Any

from xdsl.dialects.builtin import bf16, f16, f32, i64
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.frontends.aten.graph import (
    OPERATORS,
    Translation,
    Unsupported,
    element_of,
    is_float,
    operator,
    shape_of,
)
from tilewright.frontends.aten.pointwise import truth

# ------------------------------------------------------------------------------------------------- reductions


def wide(element: Attribute) -> Attribute:
    """The type in which torch sums."""
    return f32 if element in (f16, bf16) else element


@operator("sum")
def sum_(t: Translation, x: SSAValue, axes: Any = None, keep: bool = False, **_: Any) -> SSAValue:
    listed = t.axes(axes, len(shape_of(x)))
    return t.reduce(t.value(x, t.element), "sum", listed, keep)


def mean_of(t: Translation, x: SSAValue, axes: Sequence[int], keep: bool) -> SSAValue:
    total = t.reduce(x, "sum", axes, keep)
    return t.op("divide", total, t.like(prod(shape_of(x)[axis] for axis in axes), total))


@operator("mean")
def mean(t: Translation, x: SSAValue, axes: Any = None, keep: bool = False, **_: Any) -> SSAValue:
    return mean_of(t, t.value(x, wide(t.element)), t.axes(axes, len(shape_of(x))), keep)


def _extreme(kind: str) -> Any:
    def lower(t: Translation, x: SSAValue, axes: Any = None, keep: bool = False) -> SSAValue:
        return t.reduce(x, kind, t.axes(axes, len(shape_of(x))), keep)

    return lower


OPERATORS.update({name: _extreme(name[1:]) for name in ("amax", "amin")})
OPERATORS.update({f"{kind}.default": _extreme(kind) for kind in ("max", "min")})


@operator("max.other")
def maximum(t: Translation, a: Any, b: Any) -> SSAValue:
    return t.op("maximum", *t.together(a, b, element=t.element))


@operator("min.other")
def minimum(t: Translation, a: Any, b: Any) -> SSAValue:
    return t.op("minimum", *t.together(a, b, element=t.element))


def _with_places(kind: str) -> Any:
    def lower(t: Translation, x: SSAValue, axis: int, keep: bool = False) -> list[SSAValue]:
        axis = t.axis(axis, len(shape_of(x)))
        values = t.reduce(x, kind, [axis], keep)
        return [values, t.reshape(_place(t, x, kind, axis), shape_of(values))]

    return lower


OPERATORS.update({f"{kind}.dim": _with_places(kind) for kind in ("max", "min")})


def _place(t: Translation, x: SSAValue, kind: str, axis: int) -> SSAValue:
    return t.op("arg_reduce", x, kind=kind, dimension=axis, element=i64)


def _arg(kind: str) -> Any:
    def lower(t: Translation, x: SSAValue, axis: int | None = None, keep: bool = False) -> SSAValue:
        if axis is None:
            x, axis = t.reshape(x, [prod(shape_of(x))]), 0
        return t.reshape(_place(t, x, kind, t.axis(axis, len(shape_of(x)))), t.shape)

    return lower


OPERATORS.update({"argmax": _arg("max"), "argmin": _arg("min")})


def _logical(kind: str) -> Any:
    def lower(t: Translation, x: SSAValue, axes: Any = None, keep: bool = False) -> SSAValue:
        return t.reduce(truth(t, x), kind, t.axes(axes, len(shape_of(x))), keep)

    return lower


OPERATORS.update({"any": _logical("or"), "all": _logical("and")})


@operator("prod.default", "prod.dim_int")
def product(t: Translation, x: SSAValue, axis: Any = None, keep: bool = False, **_: Any) -> SSAValue:
    return t.reduce(t.value(x, t.element), "product", t.axes(axis, len(shape_of(x))), keep)


def _variance(t: Translation, x: SSAValue, axes: Any, correction: Any, keep: bool) -> list[SSAValue]:
    """Variance and mean, in the type in which torch sums."""
    listed = t.axes(axes, len(shape_of(x)))
    x = t.value(x, wide(element_of(x)))
    middle = mean_of(t, x, listed, True)
    off = t.op("subtract", x, t.broadcast(middle, shape_of(x)))
    total = t.reduce(t.op("multiply", off, off), "sum", listed, keep)
    count = prod(shape_of(x)[axis] for axis in listed) - (1 if correction is None else correction)
    return [t.op("divide", total, t.like(max(count, 0), total)), t.reshape(middle, shape_of(total))]


@operator("var.correction")
def variance(
    t: Translation, x: SSAValue, axes: Any = None, *, correction: Any = None, keepdim: bool = False
) -> SSAValue:
    return _variance(t, x, axes, correction, keepdim)[0]


@operator("std.correction")
def deviation(
    t: Translation, x: SSAValue, axes: Any = None, *, correction: Any = None, keepdim: bool = False
) -> SSAValue:
    return t.op("sqrt", _variance(t, x, axes, correction, keepdim)[0])


@operator("var_mean.correction")
def variance_and_mean(
    t: Translation, x: SSAValue, axes: Any = None, *, correction: Any = None, keepdim: bool = False
) -> list[SSAValue]:
    return [t.convert(v, element_of(x)) for v in _variance(t, x, axes, correction, keepdim)]


@operator("linalg_vector_norm")
def vector_norm(
    t: Translation, x: SSAValue, order: float = 2, axes: Any = None, keep: bool = False, **_: Any
) -> SSAValue:
    listed = t.axes(axes, len(shape_of(x)))
    x = t.value(x, wide(t.element))
    if order == 2:
        return t.op("sqrt", t.reduce(t.op("multiply", x, x), "sum", listed, keep))
    size = t.op("abs", x)
    if order == 1:
        return t.reduce(size, "sum", listed, keep)
    if math.isinf(order):
        return t.reduce(size, "max" if order > 0 else "min", listed, keep)
    raise Unsupported(f"there is no norm of order {order}")


@operator("logsumexp")
def log_sum_exp(t: Translation, x: SSAValue, axes: Any, keep: bool = False) -> SSAValue:
    listed = t.axes(axes, len(shape_of(x)))
    x = t.value(x, wide(t.element))
    largest, total = _shifted(t, x, listed)
    found = t.op("add", t.op("log", total), largest)
    return found if keep else t.reshape(found, t.shape)


def _shifted(t: Translation, x: SSAValue, axes: Sequence[int]) -> tuple[SSAValue, SSAValue]:
    """The maximum, and the sum of exponentials of what lies below it; both with their axes."""
    largest = t.reduce(x, "max", axes, True)
    off = t.op("subtract", x, t.broadcast(largest, shape_of(x)))
    return largest, t.reduce(t.op("exponential", off), "sum", axes, True)


# ---------------------------------------------------------------------------------------------------- softmax


@operator("softmax.int", "_softmax", "special_softmax")
def softmax(t: Translation, x: SSAValue, axis: int, *_: Any, **__: Any) -> SSAValue:
    rank = len(shape_of(x))
    if not rank:
        return t.like(1, t.value(x, t.element))
    axis = t.axis(axis, rank)
    return t.composite(tt.SoftmaxOp, x, axis=None if axis == rank - 1 else axis, element_type=t.element)


@operator("_safe_softmax")
def safe_softmax(t: Translation, x: SSAValue, axis: int, *_: Any, **__: Any) -> SSAValue:
    """Rows that are hidden whole give zeros."""
    rank = len(shape_of(x))
    axis = t.axis(axis, rank)
    place = None if axis == rank - 1 else axis
    return t.composite(tt.SoftmaxOp, x, axis=place, empty_rows="zero", element_type=t.element)


@operator("log_softmax.int", "_log_softmax")
def log_softmax(t: Translation, x: SSAValue, axis: int, *_: Any, **__: Any) -> SSAValue:
    rank = len(shape_of(x))
    x = t.value(x, wide(t.element))
    largest, total = _shifted(t, x, [t.axis(axis, rank)])
    off = t.op("subtract", x, t.broadcast(largest, shape_of(x)))
    return t.op("subtract", off, t.broadcast(t.op("log", total), shape_of(x)))


# ------------------------------------------------------------------------------------------------------ norms


def _rows(t: Translation, x: SSAValue, extents: Sequence[int]) -> tuple[SSAValue, int]:
    """A value with its last axes as one, and the extent of that."""
    width = prod(extents)
    rank = len(shape_of(x)) - len(extents)
    return t.reshape(x, [*shape_of(x)[:rank], width]), width


def _vector(t: Translation, given: Any, width: int, number: float) -> SSAValue:
    if given is None:
        return t.value(t.torch.full((width,), number))
    return t.reshape(t.value(given), [width])


@operator("layer_norm")
def layer_norm(
    t: Translation, x: Any, extents: Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-5,
    *_: Any,
) -> SSAValue:  # fmt: skip
    x = t.value(x)
    shape = shape_of(x)
    flat, width = _rows(t, x, extents)
    vectors = []
    if weight is not None or bias is not None:
        vectors = [_vector(t, weight, width, 1.0), _vector(t, bias, width, 0.0)]
    return t.reshape(t.composite(tt.LayerNormOp, flat, *vectors, epsilon=eps), shape)


@operator("native_layer_norm")
def native_layer_norm(t: Translation, x: Any, extents: Any, weight: Any, bias: Any, eps: float) -> list[Any]:
    return [layer_norm(t, x, extents, weight, bias, eps), None, None]  # statistics are of training


@operator("rms_norm", "_fused_rms_norm")
def rms_norm(
    t: Translation, x: Any, extents: Sequence[int], weight: Any = None, eps: float | None = None
) -> Any:
    x = t.value(x)
    shape = shape_of(x)
    flat, width = _rows(t, x, extents)
    if eps is None:
        eps = float(t.torch.finfo(t.stand_in(x).dtype).eps)
    found = t.reshape(t.composite(tt.RmsNormOp, flat, _vector(t, weight, width, 1.0), epsilon=eps), shape)
    return [found, None] if "fused" in str(t.node.target) else found


def _channels(t: Translation, vector: Any, x: SSAValue, element: Attribute) -> SSAValue:
    """A vector along axis 1 of a value, everywhere."""
    value = t.value(vector, element)
    return t.op("broadcast_in_dim", value, dimensions=[1], shape=shape_of(x))


def _affine(t: Translation, x: SSAValue, weight: Any, bias: Any) -> SSAValue:
    if weight is not None:
        x = t.op("multiply", x, _channels(t, weight, x, element_of(x)))
    return x if bias is None else t.op("add", x, _channels(t, bias, x, element_of(x)))


@operator("group_norm")
def group_norm(
    t: Translation, x: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> SSAValue:
    x = t.value(x)
    shape = shape_of(x)
    rows = t.reshape(x, [shape[0], groups, prod(shape) // (shape[0] * groups)])
    found = t.reshape(t.composite(tt.LayerNormOp, rows, epsilon=eps), shape)
    return _affine(t, found, weight, bias)


@operator("instance_norm")
def instance_norm(
    t: Translation, x: Any, weight: Any, bias: Any, mean: Any, var: Any, own: bool, _: float, eps: float,
    *__: Any,
) -> SSAValue:  # fmt: skip
    if not own:
        return _batch(t, t.value(x), weight, bias, mean, var, eps)
    return group_norm(t, x, shape_of(t.value(x))[1], weight, bias, eps)


def _batch(t: Translation, x: SSAValue, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> SSAValue:
    """The statistics are vectors that are known: scale and shift are made of them first."""
    element = wide(element_of(x))
    spread = t.value(var, element)
    scale = t.op("rsqrt", t.op("add", spread, t.like(eps, spread)))
    if weight is not None:
        scale = t.op("multiply", scale, t.value(weight, element))
    shift = t.op("negate", t.op("multiply", t.value(mean, element), scale))
    if bias is not None:
        shift = t.op("add", shift, t.value(bias, element))
    return t.convert(_affine(t, t.value(x, element), scale, shift), element_of(x))


@operator("batch_norm")
def batch_norm(
    t: Translation, x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool, _: float, eps: float,
    *__: Any,
) -> SSAValue:  # fmt: skip
    if training or mean is None:
        raise Unsupported("statistics of the batch are of training: export the module in eval()")
    return _batch(t, t.value(x), weight, bias, mean, var, eps)


@operator("_native_batch_norm_legit_no_training")
def known_batch_norm(
    t: Translation, x: Any, weight: Any, bias: Any, mean: Any, var: Any, _: float, eps: float
) -> list[Any]:
    return [_batch(t, t.value(x), weight, bias, mean, var, eps), None, None]


# ------------------------------------------------------------------------------------------------------ order


@operator("cumsum")
def cumulative_sum(t: Translation, x: SSAValue, axis: int, **_: Any) -> SSAValue:
    if not shape_of(x):
        return t.value(x, t.element)
    axis = t.axis(axis, len(shape_of(x)))
    return t.op("cumulative", t.value(x, t.element), kind="sum", dimension=axis)


def _last(t: Translation, x: SSAValue, axis: int) -> list[int]:
    """The permutation that exchanges an axis with the last one."""
    order = list(range(len(shape_of(x))))
    axis = t.axis(axis, len(order))
    order[axis], order[-1] = order[-1], order[axis]
    return order


@operator("topk")
def top_k(
    t: Translation, x: SSAValue, count: int, axis: int = -1, largest: bool = True, *_: Any, **__: Any
) -> list[SSAValue]:
    order = _last(t, x, axis)
    moved = t.transpose(x, order)
    if not largest:
        if not is_float(element_of(x)):
            raise Unsupported("the smallest integers are not found: negate them")
        moved = t.op("negate", moved)
    values = t.op("top_k", moved, count=count, element=element_of(x))
    places = t.op("top_k", moved, count=count, places=True, element=i64)
    if not largest:
        values = t.op("negate", values)
    return [t.transpose(values, order), t.transpose(places, order)]


@operator("sort.default", "sort.stable")
def sort(
    t: Translation, x: SSAValue, *arguments: Any, dim: int = -1, descending: bool = False, stable: Any = None
) -> list[SSAValue]:
    if arguments:
        dim = arguments[0]
    if len(arguments) > 1:
        descending = arguments[1]
    axis = t.axis(dim, len(shape_of(x)))
    values = t.op("sort", x, dimension=axis, descending=descending, element=element_of(x))
    places = t.op("sort", x, dimension=axis, descending=descending, places=True, element=i64)
    return [values, places]


@operator("argsort.default", "argsort.stable")
def argsort(
    t: Translation, x: SSAValue, *arguments: Any, dim: int = -1, descending: bool = False, **_: Any
) -> SSAValue:
    if arguments:
        dim = arguments[0]
    if len(arguments) > 1:
        descending = arguments[1]
    axis = t.axis(dim, len(shape_of(x)))
    return t.op("sort", x, dimension=axis, descending=descending, places=True, element=i64)
