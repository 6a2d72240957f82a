# SPDX-License-Identifier: Apache-2.0
"""
How far a machine's result may lie from the reference: the bounds that docs/spec/numerics.md derives.

A bound is of one operation, from the values of its operands as the machine has them: an interval whose ends
are the exact value minus and plus the error that the accumulation type and the number of terms allow, each
rounded to the result's type. Nothing here depends on a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.nearest import nearest
from tilewright.dialects.reference import Step
from tilewright.dialects.reference.arrays import saturates
from tilewright.dialects.reference.elementwise import gelu_tanh
from tilewright.dialects.reference.products import convolve, scaled_scores, shared_heads, visible_keys
from tilewright.dialects.reference.rows import scale_of
from tilewright.dialects.reference.windows import under_windows
from tilewright.dialects.tensor.base import element_of, is_float, is_float8
from tilewright.machine.dtypes import float_format
from tilewright.machine.kernels.matrix_unit import pass_inputs
from tilewright.machine.numerics.pointwise import functions_of

Array = NDArray[Any]
Error = tuple[Array, Array]
"""The largest error of the exact value before its rounding; where anything may come out, NaN included."""

LIBRARY = 2.0**-40
"""Between two f64 evaluations of a transcendental function, relative; the argument may be rounded too."""

F32_UNIT = 2.0**-24
_F64_LARGEST = np.finfo(np.float64).max
_F32_LARGEST = float_format("f32").max_value
GELU_SLOPE = 1.13
"""The largest slope of gelu, of either form."""
GELU_MINIMUM = -0.76
"""Where gelu is least, rounded down: it falls from -0 at minus infinity to about -0.17 at -0.7525."""


@dataclass(frozen=True)
class Bounds:
    """
    The values that a result may have, element by element, f64: from `low` to `high`, with -0 below +0.

    Both are NaN where only NaN will do. `nan` says where NaN may come out beside the interval, `free` where
    anything may (an accumulation may have overflowed on the way).
    """

    low: Array
    high: Array
    nan: Array
    free: Array

    def departing(self, found: Array) -> NDArray[np.bool_]:
        """Which elements of a result lie outside."""
        value = np.asarray(found).astype(np.float64)
        with np.errstate(all="ignore"):
            inside = (value >= self.low) & (value <= self.high)
            for end, wrong in ((self.low, np.signbit(value)), (self.high, ~np.signbit(value))):
                opposite = np.signbit(end) != np.signbit(value)
                inside &= ~((value == 0) & (end == 0) & opposite & wrong)
        both = np.isnan(self.low) & np.isnan(self.high)
        accepted = np.where(np.isnan(value), both | self.nan, inside)
        return np.asarray(~(accepted | self.free), np.bool_)


@dataclass(frozen=True)
class Slack:
    """
    How far a value that a fused operation took without its rounding may lie from the reference's: by `wide`,
    or anywhere where `free`. `size` is the largest magnitude that it had on the way, where f32 rounds it.
    """

    wide: Array
    free: NDArray[np.bool_]
    size: Array


def slack_of(step: Step, before: Slack | None) -> Slack:
    """That of the result of a product, or of a sum of one that was not shown (`before`)."""
    exact = np.asarray(step.exact, np.float64)
    rounded = step.result.astype(np.float64)
    with np.errstate(all="ignore"):
        wide, free = np.abs(exact - rounded), np.isfinite(exact) & ~np.isfinite(rounded)
        size = np.abs(exact)
        operands = [x.astype(np.float64) for x in step.operands]
        if isinstance(step.op, tt.MatmulOp | tt.LayerNormOp):
            error, anything = _ERRORS[type(step.op)](step.op, operands, exact)
            wide, free, size = wide + error, free | anything, size + error
            if isinstance(step.op, tt.MatmulOp):  # its partial sums may cancel
                size = np.maximum(size, _magnitude(step.op, operands) + error)
        elif before is not None:
            wide, free = wide + before.wide, free | before.free
            size = before.size + np.maximum(*(_finite(x) for x in operands))
    return Slack(np.where(np.isfinite(wide), wide, 0.0), free, np.where(np.isfinite(size), size, 0.0))


def takes_unrounded(op: Any, operand: Any) -> bool:
    """
    Whether an operation may be fused with the sum, product or norm that it takes: the rounding of that must
    not show in more than the last place of the result. A sum in 8 bits always shows, by its saturation.
    """
    taken, result = element_of(operand), element_of(op.result)
    if is_float8(taken):
        return False
    if isinstance(op, tt.GeluOp):
        return taken == result or str(taken) == "f32"
    return isinstance(op, tt.CastOp) or taken == result


def bounds(step: Step, slack: Slack | None = None) -> Bounds:
    """
    The bounds of one step of the reference; `slack` is how far one operand may lie from the one given.
    """
    op, element = step.op, element_of(step.op.result)
    error = _error_of(op) or (None if slack is None else _none)
    if error is None or not is_float(element):
        exactly = np.asarray(step.result).astype(np.float64)
        nothing, either = np.zeros(exactly.shape, bool), exactly
        if isinstance(op, tt.GatherOp) and is_float(element):  # parts of the table are added up: -0 + 0
            either = np.where(exactly == 0, 0.0, exactly)
        return Bounds(exactly, either, nothing, nothing)
    exact = np.asarray(step.exact, np.float64)
    if isinstance(op, tt.CastOp):
        exact = np.ldexp(step.operands[0].astype(np.float64), -op.scale.value.data)
    with np.errstate(all="ignore"):
        operands = [x.astype(np.float64) for x in step.operands]
        wide, free = error(op, operands, exact)
        if slack is not None:
            # further terms of a sum in f32 are rounded to it, the first ones too
            rounded = 0.0
            if isinstance(op, tt.AddOp):
                rounded = 4 * F32_UNIT * (slack.size + np.abs(exact))
                # terms come in any order: some of them may add up beyond f32 though all of them do not
                free = free | (slack.size + np.maximum(*map(_finite, operands)) > _F32_LARGEST)
            wide = wide + _slope(op) * slack.wide + rounded
            free = free | slack.free
        wide, free = np.broadcast_to(wide, exact.shape), np.broadcast_to(free, exact.shape)
        finite = np.isfinite(exact)
        free = free | (finite & ~np.isfinite(wide))
        wide = np.where(finite & ~free, wide, 0.0)
        ends: list[Array] = []
        for end in (exact - wide, exact + wide):
            end = np.where(wide == 0, exact, end)  # -0 + 0 is +0
            end = np.where(finite, np.clip(end, -_F64_LARGEST, _F64_LARGEST), end)
            if _through_f32(op):
                beyond = finite & (np.abs(end) > _F32_LARGEST) & (saturates(op) and is_float8(element))
                end = np.where(beyond, np.copysign(_F32_LARGEST, end), nearest(end, "f32"))
            ends.append(nearest(end, str(element), saturates(op)).astype(np.float64))
    low, high = ends
    # ends beyond a type without infinities, on both sides of what it holds: all of it lies between them
    free = free | (np.isnan(low) & np.isnan(high) & finite & (np.abs(wide) > np.abs(exact)))
    one = np.isnan(low) != np.isnan(high)
    return Bounds(
        np.where(one & np.isnan(low), -np.inf, low), np.where(one & np.isnan(high), np.inf, high), one, free
    )


def of_cast(op: Any, before: Bounds) -> Bounds:
    """
    The bounds of a cast to a float type of a value that was rounded, but not shown: scaling and rounding keep
    the order of what they are applied to. `before` are those of the value.
    """
    element, scale = str(element_of(op.result)), -op.scale.value.data
    with np.errstate(all="ignore"):
        low, high = (
            nearest(np.ldexp(end, scale), element, saturates(op)).astype(np.float64)
            for end in (before.low, before.high)
        )
    one = np.isnan(low) != np.isnan(high)
    return Bounds(
        np.where(one & np.isnan(low), -np.inf, low),
        np.where(one & np.isnan(high), np.inf, high),
        before.nan | one,
        before.free,
    )


def either(one: Bounds, other: Bounds) -> Bounds:
    """What lies in one of two intervals, or between them."""
    empty = np.isnan(one.low) | np.isnan(other.low)
    return Bounds(
        np.fmin(one.low, other.low),
        np.fmax(one.high, other.high),
        one.nan | other.nan | empty,
        one.free | other.free,
    )


def _slope(op: Any) -> float:
    """How much of an error of its operand an operation can have in its result."""
    if isinstance(op, tt.CastOp):
        return 2.0**-op.scale.value.data
    return GELU_SLOPE if isinstance(op, tt.GeluOp) else 1.0


# -- the error of each operation before its rounding ---------------------------------------------------------


def _none(op: Any, operands: Sequence[Array], exact: Array) -> Error:
    return np.zeros(exact.shape), np.zeros(exact.shape, bool)


def _library(op: Any, operands: Sequence[Array], exact: Array) -> Error:
    return np.abs(exact) * LIBRARY, np.zeros(exact.shape, bool)


def _bias_gelu(op: Any, operands: Sequence[Array], exact: Array) -> Error:
    total = operands[0] + operands[1]  # held in f32
    rounding = np.where(np.isfinite(total), F32_UNIT * np.abs(total), 0.0)
    wide = GELU_SLOPE * rounding
    # left of its minimum gelu falls from -0: value and error lie between that and its value at the right end
    right = total + rounding
    falling = -gelu_tanh(np.minimum(right, GELU_MINIMUM))
    wide = np.where(right < GELU_MINIMUM, np.minimum(wide, falling), wide)
    return (
        wide + np.abs(exact) * LIBRARY,
        np.isfinite(total) & (np.abs(total) > _F32_LARGEST),
    )


@dataclass(frozen=True)
class _Sum:
    """What is known of a sum on the matrix unit: its type, and how many terms one rounding takes."""

    dtype: str
    inputs: int

    @property
    def unit(self) -> float:
        return 2.0 ** -(float_format(self.dtype).mantissa_bits + 1)

    @property
    def largest(self) -> float:
        return float_format(self.dtype).max_value

    def error(self, terms: int, magnitude: Array) -> Error:
        """
        Of a sum of products of this magnitude, however its passes are divided and added up: a rounding to
        the type a pass, one of f32 for each part, and those of subnormal results.
        """
        passes = -(-terms // self.inputs) + 1
        tiny = 2.0 ** (float_format(self.dtype).quantum_log2 - 1)
        relative = passes * (self.unit + F32_UNIT)
        wide = magnitude * (relative / (1 - relative)) + 2 * passes * tiny
        return wide, magnitude * (1 + relative) >= self.largest


def _sum_of(operand: str, accumulate: str) -> _Sum:
    # an f32 sum of 8-bit operands takes them as f16
    widened = "f16" if operand.startswith("f8") and accumulate == "f32" else operand
    return _Sum(accumulate, pass_inputs(widened))


def _finite(x: Array) -> Array:
    return np.where(np.isfinite(x), np.abs(x), 0.0)


def _magnitude(op: tt.MatmulOp, operands: Sequence[Array]) -> Array:
    """The sum of what a product's terms are without their signs: the most that some add up to."""
    a, b = (_finite(x) for x in operands[:2])
    a = a.swapaxes(-1, -2) if op.transpose_a is not None else a
    b = b.swapaxes(-1, -2) if op.transpose_b is not None else b
    return np.ldexp(np.matmul(a, b), op.scale.value.data)


def _matmul(op: tt.MatmulOp, operands: Sequence[Array], exact: Array) -> Error:
    magnitude, addends = _magnitude(op, operands), [_finite(x) for x in operands[2:]]
    terms = operands[0].shape[-1 if op.transpose_a is None else -2]
    wide, free = _sum_of(str(op.operand_type), str(op.accumulate_type)).error(terms, magnitude)
    elements = [str(element_of(value)) for value in (op.lhs, op.rhs)]
    if "f8E5M2" in elements and is_float8(op.operand_type) and str(op.accumulate_type) == "f16":
        # the unit multiplies 8-bit floats in formats without infinities: theirs are NaN
        ends = [~np.isfinite(x) & (e == "f8E5M2") for x, e in zip(operands[:2], elements, strict=True)]
        rows = np.asarray(ends[0].any(axis=-2 if op.transpose_a is not None else -1))[..., :, None]
        columns = np.asarray(ends[1].any(axis=-1 if op.transpose_b is not None else -2))[..., None, :]
        free = free | rows | columns
    if not addends:
        return wide, free
    total = sum(addends, magnitude + wide)
    free = free | (total * (1 + 4 * F32_UNIT) >= _F32_LARGEST)
    return wide + 1.01 * (len(addends) + 1) * F32_UNIT * total, free  # further terms of the sum in f32


def _attention(op: tt.AttentionOp, operands: Sequence[Array], exact: Array) -> Error:
    q, k, v = operands[0], *(shared_heads(operands[0], x) for x in operands[1:3])
    element, accumulate = element_of(op.query), str(op.accumulate_type)
    unit = _sum_of(str(element), accumulate)
    held = "f16" if is_float8(element) and accumulate == "f32" else str(element)  # the probabilities
    keys = k.shape[-2]
    if not keys:
        return _none(op, operands, exact)
    scores = np.matmul(q, k.swapaxes(-1, -2))
    wrong, over = unit.error(q.shape[-1], np.matmul(_finite(q), _finite(k).swapaxes(-1, -2)))
    mask = operands[3] if len(operands) > 3 else None
    scale, seen = scale_of(op), visible_keys(op, *scores.shape[-2:])
    if op.mask is not None and str(element_of(op.mask)) == "i1":
        mask = None
        seen = seen & (operands[3] != 0)
    after = mask is not None and op.mask_place.data is tt.MaskPlace.AFTER_SCALE
    z = np.where(seen, scaled_scores(op, scores, mask), -np.inf)
    if mask is not None:
        if after:
            wrong = wrong * abs(scale)
        scores = z if after else scores + mask
        wrong = wrong + unit.unit * (np.abs(scores) + wrong)
    wrong = np.where(np.isfinite(scores) & seen, wrong, 0.0)
    lost = np.isfinite(scores) & (np.abs(scores) + wrong >= unit.largest) & seen
    over = over & seen
    dz = wrong if after else wrong * abs(scale)
    if op.empty_rows.data == tt.EmptyRows.UNIFORM:  # every key of a row that is masked whole counts alike
        z = np.where((z == -np.inf).all(axis=-1, keepdims=True), 0.0, z)
    # only what may be the largest shifts the row
    surest = np.max(z - dz, axis=-1, keepdims=True)
    candidate = z + dz >= surest
    shift = np.max(np.where(candidate, dz, 0.0), axis=-1, keepdims=True)
    largest = np.max(z, axis=-1, keepdims=True)
    p = np.where(z == -np.inf, 0.0, np.exp(z - largest))
    free = over.any(axis=-1) | np.where(lost, candidate | (p > 1e-30), False).any(axis=-1)
    fmt = float_format(held)
    rounding, tiny = 2.0 ** -(fmt.mantissa_bits + 1), 2.0 ** (fmt.quantum_log2 - 1)
    # a part of the keys may be exponentiated by itself and weighed by an exponential in f32
    weight = 2 * F32_UNIT
    spread = np.expm1(np.minimum(dz + shift + weight + LIBRARY * np.abs(z - largest), 600.0))
    spread = np.where(p > 0, spread, 0.0)
    dp = p * (spread + rounding * (1 + spread)) + np.where(z == -np.inf, 0.0, tiny + 2.0**-149)
    values = _finite(v)
    carried = np.matmul(p + dp, values)
    summed, _ = unit.error(keys, carried)
    # in such a part every exponential may be 1
    _, full = unit.error(keys, np.broadcast_to(values.sum(axis=-2, keepdims=True), carried.shape))
    top = np.matmul(dp, values) + summed
    total = p.sum(axis=-1, keepdims=True)
    spent = dp.sum(axis=-1, keepdims=True)
    # the sum may be one more column of the product
    bottom = spent + F32_UNIT * (keys + 1) * (total + spent) + unit.error(keys, total + spent)[0]
    wide = (top + np.abs(exact) * bottom) / (total - bottom)
    wide = wide + (np.abs(exact) + wide) * 4 * F32_UNIT + 2.0**-148
    infinite = np.broadcast_to((~np.isfinite(v)).any(axis=-2, keepdims=True), exact.shape)
    never = np.broadcast_to(
        np.asarray(total <= 0), exact.shape
    )  # rows masked whole, and NaN: exactly as they are
    free = np.asarray(free)[..., None] | (full & ~never) | (infinite & ~np.isnan(exact))
    return np.where(never | np.isnan(total), 0.0, np.where(total > bottom, wide, np.inf)), free


def _softmax(op: tt.SoftmaxOp, operands: Sequence[Array], exact: Array) -> Error:
    return np.abs(exact) * (1.01 * F32_UNIT), np.zeros(exact.shape, bool)


def _convolution(op: tt.ConvolutionOp, operands: Sequence[Array], exact: Array) -> Error:
    """As a product of as many terms as a window has elements, times the channels of a group."""
    magnitude = convolve(op, *(_finite(x) for x in operands))
    operand, narrow = element_of(op.operand), str(element_of(op.result)) != "f32"
    accumulate = "f16" if is_float8(operand) and narrow and not op.depthwise else "f32"
    terms = int(np.prod(operands[1].shape[:-1]))
    return _sum_of(str(operand), accumulate).error(terms, magnitude)


def _reduce_window(op: tt.ReduceWindowOp, operands: Sequence[Array], exact: Array) -> Error:
    if op.kind.data in (tt.WindowReduction.MAX, tt.WindowReduction.MIN):
        return _none(op, operands, exact)
    terms = int(np.prod(op.size.get_values()))
    magnitude = under_windows(op, _finite(operands[0]), 0.0).sum(axis=-1)
    return terms * 2.0**-52 * magnitude, np.zeros(exact.shape, bool)


def _cumsum(op: tt.CumsumOp, operands: Sequence[Array], exact: Array) -> Error:
    axis = -1 if op.axis is None else op.axis.value.data
    magnitude = np.cumsum(_finite(operands[0]), axis=axis)
    return exact.shape[axis] * 2.0**-52 * magnitude, np.zeros(exact.shape, bool)


def _scatter_add(op: tt.ScatterAddOp, operands: Sequence[Array], exact: Array) -> Error:
    base, indices, updates = operands
    magnitude = _finite(base)
    inside = (indices >= 0) & (indices < len(base))
    np.add.at(magnitude, indices[inside].astype(int), _finite(updates[inside]))
    return (1 + len(indices)) * 2.0**-52 * magnitude, np.zeros(exact.shape, bool)


def _reduce(op: tt.ReduceOp, operands: Sequence[Array], exact: Array) -> Error:
    axes, keep = tuple(op.axes.get_values()), op.keep_dims is not None
    x = operands[0]
    terms = max(1, int(np.prod([x.shape[axis] for axis in axes])))
    nothing = np.zeros(exact.shape, bool)
    match op.kind.data:
        case tt.Reduction.SUM:
            return terms * 2.0**-52 * _finite(x).sum(axis=axes, keepdims=keep), nothing
        case tt.Reduction.MEAN:
            magnitude = _finite(x).sum(axis=axes, keepdims=keep)
            return 2.0**-52 * magnitude + np.abs(exact) * 2.0**-52, nothing
        case tt.Reduction.PROD:
            size = np.log2(np.where(_finite(x) > 0, _finite(x), 1.0))
            ends = (np.maximum(size, 0), -np.minimum(size, 0))
            beyond = [end.sum(axis=axes, keepdims=keep) > 1000 for end in ends]
            return np.abs(exact) * (terms * 2.0**-52), np.asarray(beyond[0] | beyond[1])
        case _:
            return _none(op, operands, exact)


def _through_f32(op: Any) -> bool:
    """Whether a result is rounded to f32 before its own type."""
    if isinstance(op, tt.CumsumOp | tt.ScatterAddOp):
        return True
    if isinstance(op, tt.ReduceWindowOp):
        return op.kind.data not in (tt.WindowReduction.MAX, tt.WindowReduction.MIN)
    return isinstance(op, tt.ReduceOp) and op.kind.data not in (tt.Reduction.MAX, tt.Reduction.MIN)


def _interval(*factors: tuple[Array, Array]) -> tuple[Array, Array]:
    """The product of intervals."""
    low, high = factors[0]
    for a, b in factors[1:]:
        corners = np.stack(np.broadcast_arrays(low * a, low * b, high * a, high * b))
        low, high = corners.min(axis=0), corners.max(axis=0)
    return low, high


def _norm(x: Array, gamma: Array, beta: Array | None, epsilon: float, exact: Array) -> Error:
    """By intervals: mean and variance within the roundings of f32, their merging included."""
    unit, tiny = F32_UNIT, 2.0**-148
    epsilon = float(np.float32(epsilon))
    mean = x.mean(axis=-1, keepdims=True) if beta is not None else np.zeros((*x.shape[:-1], 1))
    dm = (2 * unit * _finite(x).max(axis=-1, keepdims=True, initial=0.0) + tiny) * float(beta is not None)
    square = np.square(x - mean).mean(axis=-1, keepdims=True)
    ds = 4 * unit * square + 2 * dm * np.sqrt(square) + dm * dm + tiny
    ends: list[Array] = []
    for end in (square + ds, np.maximum(square - ds, 0.0)):
        held = nearest(end, "f32").astype(np.float64)
        ends.append(nearest(1 / np.sqrt(held + epsilon), "f32").astype(np.float64))
    constant = x.max(axis=-1, keepdims=True, initial=-np.inf) == x.min(axis=-1, keepdims=True, initial=np.inf)
    dm = np.where(constant & (nearest(mean, "f32") == mean), 0.0, dm)
    low, high = _interval((x - mean - dm, x - mean + dm), (ends[0], ends[1]), (gamma, gamma))
    if beta is not None:
        low, high = low + beta, high + beta
    wide = np.maximum(high - exact, exact - low)
    wide = wide + 2.0**-50 * (np.abs(exact) + np.abs(wide) + (0.0 if beta is None else np.abs(beta)))
    return np.where(wide > 0, wide, np.where(np.isnan(wide), np.inf, 0.0)), np.zeros(exact.shape, bool)


def _layer_norm(op: tt.LayerNormOp, operands: Sequence[Array], exact: Array) -> Error:
    x, *vectors = operands
    length = x.shape[-1 if op.axis is None else op.axis.value.data]
    gamma, beta = vectors or (np.ones(length), np.zeros(length))
    scale = op.scale.value.data
    wide, free = _along(
        op,
        x,
        np.ldexp(exact, scale),
        lambda x, exact: _norm(x, gamma, beta, op.epsilon.value.data, exact),
    )
    return np.ldexp(wide, -scale), free


def _rms_norm(op: tt.RmsNormOp, operands: Sequence[Array], exact: Array) -> Error:
    x, gamma = operands
    return _along(op, x, exact, lambda x, exact: _norm(x, gamma, None, op.epsilon.value.data, exact))


def _along(op: Any, x: Array, exact: Array, error: Callable[[Array, Array], Error]) -> Error:
    """Of an operation on rows along the axis that it names."""
    axis = -1 if op.axis is None else op.axis.value.data
    wide, free = error(np.moveaxis(x, axis, -1), np.moveaxis(exact, axis, -1))
    return np.moveaxis(wide, -1, axis), np.moveaxis(free, -1, axis)


def _error_of(op: tt.TensorOperation) -> Callable[[Any, Sequence[Array], Array], Error] | None:
    """Of a function of single elements: nothing where evaluations agree, else what libraries differ by."""
    functions = functions_of(op.name.partition(".")[2])
    if functions and functions[0].stored is None:
        return _none if all(function.exact for function in functions) else _library
    return _ERRORS.get(type(op))


_ERRORS: dict[type[tt.TensorOperation], Callable[[Any, Sequence[Array], Array], Error]] = {
    tt.AttentionOp: _attention,
    tt.BiasGeluOp: _bias_gelu,
    tt.ConvolutionOp: _convolution,
    tt.CumsumOp: _cumsum,
    tt.ScatterAddOp: _scatter_add,
    tt.ReduceWindowOp: _reduce_window,
    tt.LayerNormOp: _layer_norm,
    tt.MatmulOp: _matmul,
    tt.ReduceOp: _reduce,
    tt.RmsNormOp: _rms_norm,
    tt.SoftmaxOp: _softmax,
}
