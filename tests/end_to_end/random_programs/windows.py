# SPDX-License-Identifier: Apache-2.0
"""Windows that move over a tensor: convolutions and reductions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tilewright.machine.dtypes import is_integer

from .values import ELEMENTS, FLOATS, LIMIT, Shape, Value, array
from .writer import Writer


def windows(w: Writer, extents: Sequence[int], least: int = 1) -> tuple[Shape, dict[str, list[int]], Shape]:
    """Sizes of windows over these extents, the clauses that say how they move, and how often they fit."""
    rng = w.rng
    size = tuple(rng.randint(min(least, n), min(n, 3)) for n in extents)
    given = {
        "strides": [rng.choice((1, 1, 2, 3)) for _ in extents],
        "low": [rng.choice((0, 0, 1, 2)) for _ in extents],
        "high": [rng.choice((0, 0, 1)) for _ in extents],
        "dilation": [rng.choice((1, 1, 2)) for _ in extents],
    }
    room = [a + n + b for a, n, b in zip(given["low"], extents, given["high"], strict=True)]
    given["dilation"] = [
        d if (k - 1) * d < n else 1 for d, k, n in zip(given["dilation"], size, room, strict=True)
    ]
    result = tuple(
        (n - (k - 1) * d - 1) // s + 1
        for n, k, d, s in zip(room, size, given["dilation"], given["strides"], strict=True)
    )
    for name in list(given):
        if rng.random() < 0.7 and all(n == (name in ("strides", "dilation")) for n in given[name]):
            del given[name]
    return size, given, result


def convolution(w: Writer) -> Value:
    rng = w.rng
    axes = rng.choice((1, 1, 2, 2))
    channels = rng.choice((1, 2, 4, 6))
    dtype = w.element(FLOATS)
    shape = (rng.choice((1, 2)), *(rng.randint(1, 6) for _ in range(axes)), channels)
    x = w.some(lambda v: v.dtype == dtype and 3 <= len(v.shape) <= 4 and v.shape[-1] in (1, 2, 4, 6)
               and math.prod(v.shape) <= 300, lambda: (shape, dtype))  # fmt: skip
    channels = x.shape[-1]
    size, given, result = windows(w, x.shape[1:-1])
    groups = rng.choice((1, channels, channels, *((2,) if channels % 2 == 0 else ())))
    outputs = groups * rng.choice((1, 1, 2, 3))
    weights = w.argument((*size, channels // groups, outputs), dtype)
    clauses = " ".join(f"{name} {array(values)}" for name, values in given.items())
    clauses += f" groups {groups}" if groups > 1 else ""
    out = rng.choice((dtype, *FLOATS))
    return w.op(
        "convolution", [x, weights], clauses.strip(), (x.shape[0], *result, outputs), out, w.saturation(out)
    )


def reduce_window(w: Writer) -> Value:
    rng = w.rng
    elements = tuple(e for e in ELEMENTS if e != "i1")
    x = w.some(
        lambda v: 1 <= len(v.shape) <= 4 and v.dtype != "i1" and math.prod(v.shape) <= LIMIT // 3,
        lambda: (w.shape(1, 4, LIMIT // 3), w.element(elements)),
    )
    rank = len(x.shape)
    moving = sorted(rng.sample(range(rank), min(rank, rng.choice((1, 2, 2)))))
    part, given, result = windows(w, [x.shape[axis] for axis in moving])
    size, shape = [1] * rank, list(x.shape)
    clauses = {name: [int(name in ("strides", "dilation"))] * rank for name in given}
    for i, axis in enumerate(moving):
        size[axis], shape[axis] = part[i], result[i]
        for name, values in given.items():
            clauses[name][axis] = values[i]
    integer = is_integer(x.dtype)
    kind = rng.choice(("sum", "max", "min") if integer else ("sum", "max", "min", "mean"))
    dtype = x.dtype if integer else rng.choice((x.dtype, "f32", *FLOATS))
    text = " ".join(f"{name} {array(values)}" for name, values in clauses.items())
    return w.op(
        f"reduce_window {kind}",
        [x],
        f"size {array(size)} {text}".strip(),
        tuple(shape),
        dtype,
        "" if integer else w.saturation(dtype),
    )
