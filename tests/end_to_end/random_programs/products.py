# SPDX-License-Identifier: Apache-2.0
"""Products and attention, and sums that are fused with what they follow."""

from __future__ import annotations

import math

import numpy as np

from .values import EXTENTS, FLOATS, FP8, SCALES, Value
from .writer import Writer


def matmul(w: Writer) -> Value:
    rng = w.rng
    kind = rng.choice(("f8", "f8", "f16", "f16", "f32", "bf16", "i8"))
    types = {"f8": FP8}.get(kind, (kind,))
    a = w.some(lambda v: len(v.shape) >= 2 and v.dtype in types, lambda: (w.shape(2, 4), rng.choice(types)))
    batch = a.shape[:-2]
    ta, tb = rng.random() < 0.3, rng.random() < 0.4
    m, k = (a.shape[-1], a.shape[-2]) if ta else (a.shape[-2], a.shape[-1])
    n = rng.choice(EXTENTS)
    other, full = batch, batch
    if batch and rng.random() < 0.35:  # axes that one operand does not have
        other = tuple(1 if rng.random() < 0.5 else extent for extent in batch)[rng.randint(0, len(batch)) :]
    elif len(batch) < 3 and math.prod(batch) * m * n < 300 and rng.random() < 0.2:
        other = (rng.choice((2, 3)), *(extent if extent > 1 else rng.choice((1, 2)) for extent in batch))
        full = np.broadcast_shapes(batch, other)
    if kind in ("f16", "f8") and rng.random() < 0.3:  # weights stay as they are
        types = FP8 if a.dtype == "f16" else ("f16",)
    b = w.get((*other, n, k) if tb else (*other, k, n), rng.choice(types))
    batch = full
    if kind == "i8":
        result, accumulate = "i32", rng.choice((None, "i32", "i32", "i32"))
    else:
        result = rng.choice((*{"f8": ("f16", "f16", a.dtype)}.get(kind, (kind, kind, "f32")), *FLOATS))
        accumulate = rng.choice((None, None, "f16", "f32") if kind in ("f8", "f16") else (None, "f32"))
    clauses = " ".join(
        filter(
            None,
            (
                "transpose_a" if ta else "",
                "transpose_b" if tb else "",
                f"accumulate {accumulate}" if accumulate else "",
                f"scale {rng.randint(-4, 3)}" if kind != "i8" and rng.random() < 0.5 else "",
            ),
        )
    )
    return w.op("matmul", [a, b], clauses, (*batch, m, n), result, w.saturation(result))


def linear(w: Writer) -> Value:
    """A product and what is added to it, apart, to be fused where its types allow it, or as its addends."""
    rng = w.rng
    kind = rng.choice(("f8", "f16", "f16", "f32", "bf16"))
    types = FP8 if kind == "f8" else (kind,)
    batch = rng.choice(((), (), (), (2,)))
    m, k, n = rng.choice((1, 3, 5, 12)), rng.choice((3, 16, 40, 96)), rng.choice((2, 7, 32, 64, 96))
    a, b = w.get((*batch, m, k), rng.choice(types)), w.get((*batch, k, n), rng.choice(types))
    result = rng.choice(
        {"f8": ("f16", "f16", "f16", "f32", a.dtype), "f16": ("f16", "f16", "f32")}.get(kind, (kind,))
    )
    accumulate = rng.choice((None, "f16", "f32") if kind in ("f8", "f16") else (None, "f32"))
    narrow = accumulate == "f16" or (accumulate is None and kind == "f8" and result != "f32")
    clauses = f"accumulate {accumulate}" if accumulate else ""
    full = (*batch, m, n)
    if rng.random() < 0.4:
        of = rng.choice(("f16", *FP8) if narrow else FLOATS)
        addends = [w.get(rng.choice((full, (n,))), of) for _ in range(rng.choice((1, 2, 3)))]
        clauses = f"plus {', '.join(v.name for v in addends)} {clauses}".strip()
        return w.op("matmul", [a, b], clauses, full, result, w.saturation(result), more=addends)
    total = w.op("matmul", [a, b], clauses, full, result, w.saturation(result))
    for shape in rng.choice((((n,),), (full,), ((n,), full), (full, (n,)), ((n,), (n,)))):
        other = w.get(shape, result if rng.random() < 0.9 else rng.choice(FLOATS))
        if other.dtype != total.dtype:
            return total
        operands = [total, other] if rng.random() < 0.7 else [other, total]
        total = w.op("add", operands, "", full, total.dtype, w.saturation(total.dtype))
    return total


def bias_gelu(w: Writer) -> Value:
    """A sum and its gelu, to be fused where their types allow it; or the fused operation itself."""
    rng = w.rng
    x = w.some(lambda v: v.shape and v.dtype in FLOATS, lambda: (w.shape(1, 3), w.element(FLOATS)))
    y = w.get(x.shape[-1:], x.dtype)
    last = rng.choice((x.dtype, x.dtype, *FLOATS))
    if rng.random() < 0.4:
        y = y if rng.random() < 0.5 else w.get(x.shape[-1:], rng.choice(FLOATS))
        return w.op("bias_gelu", [x, y], "", x.shape, last, w.saturation(last))
    dtype = rng.choice((x.dtype, x.dtype, x.dtype, *FLOATS))
    total = w.op("add", [x, y], "", x.shape, dtype, w.saturation(dtype))
    return w.op("gelu", [total], "approximate tanh", total.shape, last, w.saturation(last))


def attention(w: Writer) -> Value:
    rng = w.rng
    dtype = w.element(FLOATS)
    q = w.some(lambda v: 2 <= len(v.shape) and v.dtype == dtype, lambda: (w.shape(2, 4), dtype))
    batch, queries, depth = q.shape[:-2], q.shape[-2], q.shape[-1]
    keys, value_depth = rng.choice(EXTENTS), rng.choice(EXTENTS)
    shared = batch
    if batch and rng.random() < 0.5:  # fewer heads of keys and values
        shared = (*batch[:-1], rng.choice([n for n in range(1, batch[-1] + 1) if batch[-1] % n == 0]))
    k, v = w.get((*shared, keys, depth), dtype), w.get((*shared, keys, value_depth), dtype)
    result = rng.choice((dtype, *FLOATS))
    operands = [q, k, v]
    if rng.random() < 0.5:
        if rng.random() < 0.3:
            rank = rng.randint(0, len(batch))
            own = tuple(rng.choice((1, n)) for n in (*batch[len(batch) - rank :], queries))
            operands.append(w.get((*own, keys), "i1"))
        else:
            operands.append(w.mask(batch, queries, keys, rng.choice(FLOATS)))
    narrow = dtype == "f16" or dtype in FP8
    accumulate = rng.choice((None, "f16", "f32") if narrow else (None, None, "f32"))
    clauses = f"accumulate {accumulate}" if accumulate else ""
    if rng.random() < 0.7:
        clauses += f" scale {rng.choice(SCALES)}"
    if len(operands) > 3 and rng.random() < 0.4:
        clauses += " mask_place after_scale"
    causal, window = rng.random() < 0.3, rng.random() < 0.25
    clauses += " causal" if causal else ""
    clauses += f" window {rng.choice((1, 2, 5, 40))}" if window else ""
    if (causal or window) and rng.random() < 0.6:
        clauses += f" query_offset {rng.choice((keys - queries, -queries, -2, 1, keys))}"
    return w.op(
        "attention",
        operands,
        w.with_empty_rows(clauses.strip()),
        (*q.shape[:-1], value_depth),
        result,
        w.saturation(result),
    )
