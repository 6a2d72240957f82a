# SPDX-License-Identifier: Apache-2.0
"""Reductions, norms and softmax, orders and running sums."""

from __future__ import annotations

import random

from tilewright.machine.dtypes import is_integer

from .values import ELEMENTS, FLOATS, FP8, INTEGERS, SCALES, TYPES, Value
from .writer import Writer


def reduce(w: Writer) -> Value:
    rng = w.rng
    x = w.some(lambda v: True, lambda: (w.shape(0, 4), w.element(ELEMENTS)))
    axes = sorted(rng.sample(range(len(x.shape)), min(len(x.shape), rng.choice((0, 1, 1, 1, 2, 2, 3)))))
    integer = is_integer(x.dtype)
    kind = rng.choice(
        ("any", "all")
        if x.dtype == "i1"
        else ("sum", "max", "min", "prod")
        if integer
        else ("sum", "max", "min", "prod", "mean", "mean")
    )
    keep = rng.random() < 0.4
    shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape) if keep or i not in axes)
    dtype = (
        x.dtype
        if x.dtype == "i1"
        else rng.choice((x.dtype, "i32"))
        if integer
        else rng.choice((x.dtype, "f32", *FLOATS))
    )
    result = Value(w.fresh(), shape, dtype)
    saturation = "" if integer else w.saturation(dtype)
    w.lines.append(
        f"{w.indent}{result.name} = tile_tensor.reduce {kind} {x.name} axes [{', '.join(map(str, axes))}]"
        f"{' keep_dims' if keep else ''}{' {' + saturation + '}' if saturation else ''}"
        f" : ({x.type}) -> {result.type}"
    )
    w.values.append(result)
    return result


def layer_norm(w: Writer) -> Value:
    return norm(w, "layer_norm")


def rms_norm(w: Writer) -> Value:
    return norm(w, "rms_norm")


def softmax(w: Writer) -> Value:
    return norm(w, "softmax")


def norm(w: Writer, name: str) -> Value:
    rng = w.rng
    x = w.some(lambda v: v.shape and not is_integer(v.dtype), lambda: (w.shape(1, 4), w.element(FLOATS)))
    axis = rng.randrange(len(x.shape)) if rng.random() < 0.4 else len(x.shape) - 1
    columns = (x.shape[axis],)
    along = f"axis {axis} " if axis < len(x.shape) - 1 or rng.random() < 0.2 else ""
    dtype = rng.choice((x.dtype, x.dtype, *FLOATS))
    if name == "softmax":
        clauses = along + (f"scale {rng.choice(SCALES)}" if rng.random() < 0.6 else "")
        return w.op(name, [x], w.with_empty_rows(clauses), x.shape, dtype, w.saturation(dtype))
    vectors = [w.get(columns, rng.choice(FLOATS)) for _ in range(2 if name == "layer_norm" else 1)]
    epsilon = f"{along}epsilon {rng.choice(('1.0e-05', '1.0e-06', '0.1', '0.0'))}"
    aside = random.Random(f"{len(w.lines)} {epsilon} {x.type} {dtype}")
    if name == "layer_norm" and aside.random() < 0.3:
        vectors = []
    if name == "layer_norm" and aside.random() < 0.2:
        epsilon += f" scale {aside.randint(-6, 6)}"
    result = w.op(name, [x, *vectors], epsilon, x.shape, dtype, w.saturation(dtype))
    if name == "layer_norm" and aside.random() < 0.4:
        stored = aside.choice(FP8)
        saturation = aside.choice(("", "saturate = false"))
        return w.op("cast", [result], f"scale {aside.randint(-6, 3)}", x.shape, stored, saturation)
    return result


ORDERS = ("argmax", "argmin", "cumsum", "sort", "argsort", "top_k", "top_k_indices")
ORDER_TURNS = [(element, name) for element in (*TYPES, *INTEGERS) for name in ORDERS]


def ordering(w: Writer) -> Value:
    """An order, a running sum, or where an extreme lies, along some axis; ties and NaN among the values."""
    rng = w.rng
    elements = tuple(e for e in ELEMENTS if e != "i1")
    x = w.some(lambda v: v.shape and v.dtype != "i1", lambda: (w.shape(1, 4), w.element(elements)))
    if rng.random() < 0.3 and not is_integer(x.dtype):
        x = w.op("round", [x], "", x.shape, x.dtype)
    return ordered(w, x, rng.choice(ORDERS))


def ordered(w: Writer, x: Value, name: str) -> Value:
    rng = w.rng
    axis = rng.randrange(len(x.shape))
    along = f"axis {axis}" if axis < len(x.shape) - 1 or rng.random() < 0.3 else ""
    if name.startswith("arg") and name != "argsort":
        return w.op(name, [x], along, (*x.shape[:axis], *x.shape[axis + 1 :]), "i32")
    if name == "cumsum":
        dtype = x.dtype if is_integer(x.dtype) else rng.choice((x.dtype, *FLOATS))
        attributes = "" if is_integer(dtype) else w.saturation(dtype)
        return w.op(name, [x], along, x.shape, dtype, attributes)
    dtype = "i32" if name in ("argsort", "top_k_indices") else x.dtype
    if name.startswith("top"):
        count = rng.randint(1, x.shape[axis])
        shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
        return w.op(name, [x], f"count {count} {along}".strip(), shape, dtype)
    clauses = f"{along} {rng.choice(('', 'descending'))}".strip()
    return w.op(name, [x], clauses, x.shape, dtype)
