# SPDX-License-Identifier: Apache-2.0
"""Lowering of products: of matrices, of windows with a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import f16, f32, i8, i32
from xdsl.ir import SSAValue

from tilewright.dialects import tile_tensor as tt
from tilewright.dialects.hlo.shapes import free_axes
from tilewright.dialects.hlo.values import is_floating
from tilewright.passes.hlo.lower_movement import box, spread
from tilewright.passes.hlo.one_operation import NoLowering, OneOperation, Rule
from tilewright.passes.hlo.rewriting import element_of, shape_of


def _dot_general(lower: OneOperation) -> SSAValue:
    op = lower.op
    lhs, rhs = op.operands
    lb, rb = op.get("lhs_batching"), op.get("rhs_batching")
    lc, rc = op.get("lhs_contracting"), op.get("rhs_contracting")
    lf, rf = free_axes(len(shape_of(lhs)), lb, lc), free_axes(len(shape_of(rhs)), rb, rc)
    left, transpose_a = _matrix(lower, lhs, lb, lf, lc)
    right, transpose_b = _matrix(lower, rhs, rb, rc, rf)
    ea, eb = element_of(lhs), element_of(rhs)
    if ea != eb and not (tt.is_float8(ea) and tt.is_float8(eb)):
        wide = (
            f32
            if f32 in (ea, eb) or {str(ea), str(eb)} == {"f16", "bf16"}
            else ea
            if not tt.is_float8(ea)
            else eb
        )
        left, right = (v if element_of(v) == wide else lower.add(tt.CastOp(v, wide)) for v in (left, right))
    element = element_of(left)
    if is_floating(element):
        if not is_floating(lower.element):
            raise NoLowering(f"a product of {ea} and {eb} is a float, not {lower.element}")
        accumulate = op.get("accumulate")
        sums = {"f16": f16, "f32": f32, None: f32 if tt.is_float8(element) else None}[accumulate]
        value = lower.add(
            tt.MatmulOp(
                left,
                right,
                lower.element,
                transpose_a=transpose_a,
                transpose_b=transpose_b,
                accumulate=cast(Any, sums),
                **lower.saturation,
            )
        )
    elif element == i8 and lower.element == i32:
        value = lower.add(tt.MatmulOp(left, right, i32, transpose_a=transpose_a, transpose_b=transpose_b))
    else:
        value = _integer_product(lower, left, right, transpose_a, transpose_b)
    return lower.reshape(value, lower.shape)


def _integer_product(
    lower: OneOperation, left: SSAValue, right: SSAValue, transpose_a: bool, transpose_b: bool
) -> SSAValue:
    """A product of integers that the matrix unit does not know: element by element, then summed."""
    rank = len(shape_of(left))
    swap = [*range(rank - 2), rank - 1, rank - 2]
    a = lower.transpose(left, swap) if transpose_a else left
    b = right if transpose_b else lower.transpose(right, swap)
    *batch, m, k = shape_of(a)
    n = shape_of(b)[-2]
    if prod(batch) * m * n * k > 1 << 20:
        raise NoLowering(f"products of {element_of(left)} to {lower.element} have no kernel")
    parts = [v if element_of(v) == lower.element else lower.add(tt.CastOp(v, lower.element)) for v in (a, b)]
    wide = lower.add(
        tt.MulOp(lower.reshape(parts[0], [*batch, m, 1, k]), lower.reshape(parts[1], [*batch, 1, n, k]))
    )
    return lower.add(tt.ReduceOp(wide, "sum", [rank]))


def _matrix(
    lower: OneOperation, value: SSAValue, batch: list[int], rows: list[int], columns: list[int]
) -> tuple[SSAValue, bool]:
    """
    A value as [batch.., rows, columns] of a product whose free axes are flattened, and whether it is
    given with its last two axes exchanged instead of moved.
    """
    shape = shape_of(value)
    extents = [shape[axis] for axis in batch]
    m, n = prod(shape[a] for a in rows), prod(shape[a] for a in columns)
    moved = [*batch, *rows, *columns]
    exchanged = [*batch, *columns, *rows]
    last = max((a for a in range(len(shape)) if shape[a] != 1), default=None)
    if moved != sorted(moved) and (exchanged == sorted(exchanged) or (last is not None and last in rows)):
        order, inner, flag = exchanged, [n, m], True
    else:
        order, inner, flag = moved, [m, n], False
    return lower.reshape(lower.transpose(value, order), [*extents, *inner]), flag


def _convolution(lower: OneOperation) -> SSAValue:
    """Windows that neither overlap nor leave anything out are rows of a matrix."""
    op = lower.op
    x, kernel = op.operands
    at_in, at_kernel, at_out = (op.get(f"{n}_layout") for n in ("input", "kernel", "output"))
    spatial = len(at_in) - 2
    sizes = [shape_of(kernel)[axis] for axis in at_kernel[2:]]
    plain = (
        op.get("strides") == sizes
        and op.get("feature_groups") == op.get("batch_groups") == 1
        and all(d == 1 for d in (*op.get("input_dilation"), *op.get("kernel_dilation")))
        and min(op.get("padding"), default=0) >= 0
    )
    if not plain:
        return _windows(lower, x, kernel)
    x, kernel = lower.transpose(x, at_in), lower.transpose(kernel, at_kernel)
    low, high = [0, 0, *op.get("padding")[0::2]], [0, 0, *op.get("padding")[1::2]]
    if any((*low, *high)):
        x = lower.add(tt.PadOp(x, low, high))
    batch, features = shape_of(x)[:2]
    counts = [lower.shape[axis] for axis in at_out[2:]]
    used = [batch, features, *(c * s for c, s in zip(counts, sizes, strict=True))]
    x = box(lower, x, [0] * len(used), used)
    split = [batch, features]
    for count, size in zip(counts, sizes, strict=True):
        split += [count, size]
    x = lower.reshape(x, split)
    order = [0, *(2 + 2 * i for i in range(spatial)), 1, *(3 + 2 * i for i in range(spatial))]
    width = features * prod(sizes)
    rows = lower.reshape(lower.transpose(x, order), [batch * prod(counts), width])
    out = shape_of(kernel)[0]
    weights = lower.reshape(kernel, [out, width])
    value = lower.add(tt.MatmulOp(rows, weights, lower.element, transpose_b=True, **lower.saturation))
    value = lower.reshape(value, [batch, *counts, out])
    # axes of `value`: batch, spatial, feature; the result's are where `output_layout` says
    place = [0, len(counts) + 1, *range(1, spatial + 1)]
    permutation = [0] * len(place)
    for i, axis in enumerate(at_out):
        permutation[axis] = place[i]
    return lower.transpose(value, permutation)


def _windows(lower: OneOperation, x: SSAValue, kernel: SSAValue) -> SSAValue:
    """A convolution in the tensor dialect's order: batch, places, channels; places, channels, outputs."""
    op = lower.op
    at_in, at_kernel, at_out = (op.get(f"{n}_layout") for n in ("input", "kernel", "output"))
    if op.get("batch_groups") != 1:
        raise NoLowering("groups of the batch have no kernel")
    x = lower.transpose(x, [at_in[0], *at_in[2:], at_in[1]])
    kernel = lower.transpose(kernel, [*at_kernel[2:], at_kernel[1], at_kernel[0]])
    spatial = len(at_in) - 2
    low, high = op.get("padding")[0::2], op.get("padding")[1::2]
    gaps = [d - 1 for d in op.get("input_dilation")]
    if any(gaps) or min((*low, *high), default=0) < 0:
        zero = lower.constant(np.zeros([]), element_of(x))
        for axis in range(spatial):
            x = spread(lower, x, zero, axis + 1, gaps[axis])
        start = [0, *(max(-a, 0) for a in low), 0]
        sizes = [
            n - max(-a, 0) - max(-b, 0)
            for n, a, b in zip(shape_of(x), [0, *low, 0], [0, *high, 0], strict=True)
        ]
        x = box(lower, x, start, sizes)
        low, high = [max(a, 0) for a in low], [max(b, 0) for b in high]
    value = lower.add(
        tt.ConvolutionOp(
            x,
            kernel,
            strides=op.get("strides"),
            low=low,
            high=high,
            dilation=op.get("kernel_dilation"),
            groups=op.get("feature_groups"),
            element_type=lower.element,
            **lower.saturation,
        )
    )
    place = [0, spatial + 1, *range(1, spatial + 1)]
    permutation = [0] * len(place)
    for i, axis in enumerate(at_out):
        permutation[axis] = place[i]
    return lower.transpose(value, permutation)


RULES: Mapping[str, Rule] = {
    "dot_general": _dot_general,
    "convolution": _convolution,
}
