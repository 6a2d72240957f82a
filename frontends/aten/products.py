# SPDX-License-Identifier: Apache-2.0
"""ATen's products, attention, convolutions and pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.frontends.aten.graph import (
    Translation,
    Unsupported,
    array_of_tensor,
    element_of,
    is_float,
    operator,
    shape_of,
)
from tilewright.frontends.aten.pointwise import truth
from tilewright.frontends.aten.rows import wide

# --------------------------------------------------------------------------------------------------- products


def dot(t: Translation, a: SSAValue, b: SSAValue, over: tuple[int, int], batch: int = 0) -> SSAValue:
    """A product over one axis of each, the first `batch` axes paired."""
    leading = list(range(batch))
    return t.op(
        "dot_general",
        a,
        b,
        lhs_batching=leading,
        rhs_batching=leading,
        lhs_contracting=[over[0]],
        rhs_contracting=[over[1]],
        element=element_of(a),
    )


@operator("linear")
def linear(t: Translation, x: Any, weight: Any, bias: Any = None) -> SSAValue:
    x, weight = t.value(x), t.value(weight)
    found = dot(t, x, weight, (len(shape_of(x)) - 1, len(shape_of(weight)) - 1))
    return found if bias is None else t.op("add", found, t.broadcast(t.value(bias), t.shape))


@operator("matmul", "mm", "bmm", "mv", "dot")
def matmul(t: Translation, a: Any, b: Any) -> SSAValue:
    a, b = t.value(a), t.value(b)
    ranks = len(shape_of(a)), len(shape_of(b))
    if ranks[1] <= 2:  # every row of a, whatever its leading axes
        return dot(t, a, b, (ranks[0] - 1, 0))
    if ranks[0] == 1:
        a = t.reshape(a, [1, *shape_of(a)])
        found = _paired(t, a, b)
        shape = shape_of(found)
        return t.reshape(found, [*shape[:-2], shape[-1]])
    return _paired(t, a, b)


def _paired(t: Translation, a: SSAValue, b: SSAValue) -> SSAValue:
    leading = np.broadcast_shapes(shape_of(a)[:-2], shape_of(b)[:-2])
    a, b = (t.broadcast(v, [*leading, *shape_of(v)[-2:]]) for v in (a, b))
    rank = len(leading) + 2
    return dot(t, a, b, (rank - 1, rank - 2), rank - 2)


@operator("addmm", "baddbmm", "addmv")
def add_product(t: Translation, bias: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> SSAValue:
    found = t.times(matmul(t, a, b), alpha)
    if beta == 0:
        return found
    return t.op("add", t.times(t.broadcast(t.value(bias, t.element), t.shape), beta), found)


# -------------------------------------------------------------------------------------------------- attention


@operator("scaled_dot_product_attention")
def attention(
    t: Translation, q: Any, k: Any, v: Any, mask: Any = None, dropout: float = 0.0, is_causal: bool = False,
    *, scale: float | None = None, enable_gqa: bool = False,
) -> SSAValue:  # fmt: skip
    """
    One attention: the mask is added after the scale, a row of scores that is hidden whole gives zeros, query
    i stands at key i.
    """
    if dropout:
        raise Unsupported("random numbers have no meaning here: export the module in eval()")
    q, k, v = t.value(q), t.value(k), t.value(v)
    if not isinstance(scale, int | float | None):
        raise Unsupported("a scale that is no number: write softmax(scale * q k^T) v")
    factor = 1 / math.sqrt(shape_of(q)[-1]) if scale is None else float(scale)
    ends = 3 if enable_gqa else 2
    leads = [shape_of(value)[:-ends] for value in (q, k, v)]
    lead = np.broadcast_shapes(*leads)
    q, k, v = (t.broadcast(value, [*lead, *shape_of(value)[-ends:]]) for value in (q, k, v))
    scores = (*shape_of(q)[:-1], shape_of(k)[-2])
    given, causal = _mask(t, mask, scores)
    placed = {} if given is None else {"mask_place": "after_scale"}
    return t.composite(
        tt.AttentionOp,
        q,
        k,
        v,
        given,
        scale=factor,
        causal=causal or is_causal,
        element_type=t.element,
        **placed,
    )


def _mask(t: Translation, mask: Any, scores: Sequence[int]) -> tuple[SSAValue | None, bool]:
    """A mask as an operand, or as the causal flag where that is what it says."""
    if mask is None:
        return None, False
    if isinstance(mask, t.torch.Tensor):
        array = array_of_tensor(mask)
        if array.dtype != np.bool_ and np.isin(array, (0, -np.inf)).all():
            array = array == 0
        if array.dtype == np.bool_:
            seen = np.broadcast_to(array, scores)
            if seen.all():
                return None, False
            if (seen == np.tril(np.ones(scores[-2:], bool))).all():
                return None, True
            return _fit(t, t.build.constant(array, i1), scores), False
    return _fit(t, t.value(mask), scores), False


def _fit(t: Translation, mask: SSAValue, scores: Sequence[int]) -> SSAValue:
    """A mask of two axes at least, the last one of the keys."""
    shape = shape_of(mask)
    if len(shape) < 2:
        mask = t.reshape(mask, [*(1,) * (2 - len(shape)), *shape])
    shape = shape_of(mask)
    if not is_float(element_of(mask)) and element_of(mask) != i1:
        mask = truth(t, mask)
    return t.broadcast(mask, [*shape[:-1], scores[-1]])


# ------------------------------------------------------------------------------------------------ convolution


MOST_WEIGHTS = 1 << 24
"""Elements of the matrix of a linear map of places."""


@operator(
    "upsample_bilinear2d", "_upsample_bilinear2d_aa", "upsample_bicubic2d", "_upsample_bicubic2d_aa",
    "upsample_linear1d",
)  # fmt: skip
def linear_map(t: Translation, x: SSAValue, *arguments: Any) -> SSAValue:
    """A map of the places behind batch and channels, as the matrix that torch gives for the identity."""
    spatial = 1 if "1d" in str(t.node.target) else 2
    lead, old, new = shape_of(x)[:-spatial], shape_of(x)[-spatial:], t.shape[-spatial:]
    if prod(old) * prod(new) > MOST_WEIGHTS:
        raise Unsupported(
            f"{list(old)} places to {list(new)} need a matrix of more than {MOST_WEIGHTS} numbers"
        )
    with t.torch.no_grad():
        unit = t.torch.eye(prod(old)).reshape(1, prod(old), *old)
        weights = t.node.target(unit, *arguments).reshape(prod(old), prod(new))
    flat = t.reshape(x, [*lead, prod(old)])
    found = dot(t, flat, t.value(weights, element_of(x)), (len(lead), 0))
    return t.reshape(found, t.shape)


def _pair(given: Any, spatial: int) -> list[int]:
    listed = [given] if isinstance(given, int) else list(given)
    return listed * spatial if len(listed) == 1 else listed


@operator("convolution")
def convolution(
    t: Translation, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, extra: Any, groups: int,
) -> SSAValue:  # fmt: skip
    x, weight = t.value(x), t.value(weight)
    rank = len(shape_of(weight))
    single = len(shape_of(x)) < rank  # torch adds the batch
    if single:
        x = t.reshape(x, [1, *shape_of(x)])
    spatial = rank - 2
    stride, padding, dilation, extra = (_pair(n, spatial) for n in (stride, padding, dilation, extra))
    sizes = shape_of(weight)[2:]
    layout, kernel = list(range(rank)), list(range(rank))
    steps, gaps, low, high = stride, [1] * spatial, padding, padding
    if transposed:
        if groups != 1:
            raise Unsupported("a transposed convolution has no groups")
        weight = t.op("reverse", weight, dimensions=list(range(2, rank)))
        kernel = [1, 0, *range(2, rank)]
        reach = [d * (n - 1) for d, n in zip(dilation, sizes, strict=True)]
        low = [r - p for r, p in zip(reach, padding, strict=True)]
        high = [r - p + e for r, p, e in zip(reach, padding, extra, strict=True)]
        steps, gaps = [1] * spatial, stride
    found = t.op(
        "convolution",
        x,
        weight,
        strides=steps,
        padding=[n for pair in zip(low, high, strict=True) for n in pair],
        input_dilation=gaps,
        kernel_dilation=dilation,
        input_layout=layout,
        kernel_layout=kernel,
        output_layout=layout,
        feature_groups=groups,
        batch_groups=1,
        element=element_of(x),
    )
    if bias is not None:
        wide_bias = t.op("broadcast_in_dim", t.value(bias), dimensions=[1], shape=shape_of(found))
        found = t.op("add", found, wide_bias)
    return t.reshape(found, t.shape) if single else found


@operator("conv1d.default", "conv2d.default", "conv3d.default")
def plain_convolution(
    t: Translation, x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> SSAValue:  # fmt: skip
    return convolution(t, x, weight, bias, stride, padding, dilation, False, 0, groups)


# ---------------------------------------------------------------------------------------------------- pooling


def _windows(
    t: Translation, x: SSAValue, kind: str, size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool,
    spatial: int,
) -> SSAValue:  # fmt: skip
    if ceil:
        raise Unsupported("windows that reach over the end (ceil_mode) have no meaning here")
    rank = len(shape_of(x))
    ones = [1] * (rank - spatial)
    size = _pair(size, spatial)
    stride = size if stride in (None, []) else _pair(stride, spatial)
    around = _pair(padding, spatial)
    return t.op(
        "reduce_window",
        x,
        kind=kind,
        window=[*ones, *size],
        strides=[*ones, *stride],
        dilation=[*ones, *_pair(dilation, spatial)],
        padding=[*[0] * (2 * len(ones)), *(n for p in around for n in (p, p))],
    )


@operator("max_pool2d", "max_pool1d")
def max_pool(
    t: Translation, x: SSAValue, size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
    ceil: bool = False,
) -> SSAValue:  # fmt: skip
    spatial = 1 if "1d" in str(t.node.target) else 2
    return _windows(t, x, "max", size, list(stride), padding, dilation, ceil, spatial)


@operator("max_pool2d_with_indices")
def max_pool_with_places(
    t: Translation, x: SSAValue, size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
    ceil: bool = False,
) -> list[Any]:  # fmt: skip
    """The places have no value here: who uses them is told."""
    if any(t.torch.fx.Node is type(user) and user.args[1] == 1 and user.users for user in t.node.users):
        raise Unsupported("the places of maxima of windows are not computed")
    return [_windows(t, x, "max", size, list(stride), padding, dilation, ceil, 2), None]


@operator("avg_pool2d", "avg_pool1d")
def average_pool(
    t: Translation, x: SSAValue, size: Any, stride: Any = (), padding: Any = 0, ceil: bool = False,
    inside: bool = True, divisor: int | None = None,
) -> SSAValue:  # fmt: skip
    """Sums of windows over their extent: `inside` counts the padding too."""
    spatial = 1 if "1d" in str(t.node.target) else 2
    x = t.value(x, wide(element_of(x)))
    total = _windows(t, x, "sum", size, list(stride), padding, 1, ceil, spatial)
    if inside or divisor or not any(_pair(padding, spatial)):
        return t.op("divide", total, t.like(divisor or prod(_pair(size, spatial)), total))
    ones = t.full(1, shape_of(x), element_of(x))
    return t.op("divide", total, _windows(t, ones, "sum", size, list(stride), padding, 1, ceil, spatial))


@operator("adaptive_avg_pool2d", "_adaptive_avg_pool2d", "adaptive_avg_pool1d")
def adaptive_average_pool(t: Translation, x: SSAValue, sizes: Sequence[int]) -> SSAValue:
    sizes = _pair(sizes, len(sizes))
    extents = shape_of(x)[-len(sizes) :]
    if any(n % size for n, size in zip(extents, sizes, strict=True)):
        return linear_map(t, x, sizes)
    split = [n for extent, size in zip(extents, sizes, strict=True) for n in (size, extent // size)]
    lead = shape_of(x)[: -len(sizes)]
    wide_x = t.reshape(t.value(x, wide(element_of(x))), [*lead, *split])
    axes = [len(lead) + 2 * i + 1 for i in range(len(sizes))]
    total = t.op("reduce", wide_x, kind="sum", dimensions=axes)
    count = prod(n // size for n, size in zip(extents, sizes, strict=True))
    return t.op("divide", total, t.like(count, total))


@operator("upsample_nearest2d", "upsample_nearest1d")
def nearest(t: Translation, x: SSAValue, *_: Any) -> SSAValue:
    """Every place repeated a whole number of times."""
    spatial = 1 if "1d" in str(t.node.target) else 2
    lead, old, new = shape_of(x)[:-spatial], shape_of(x)[-spatial:], t.shape[-spatial:]
    if any(n % o for n, o in zip(new, old, strict=True)):
        raise Unsupported(f"{list(old)} places are not repeated evenly to {list(new)}")
    shape = [*lead, *(n for o, m in zip(old, new, strict=True) for n in (o, m // o))]
    at = [*range(len(lead)), *(len(lead) + 2 * i for i in range(spatial))]
    return t.reshape(t.op("broadcast_in_dim", x, dimensions=at, shape=shape), t.shape)
