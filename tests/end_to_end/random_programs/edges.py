# SPDX-License-Identifier: Apache-2.0
"""Rules that values drawn at random reach too rarely, each on values that show it: by turns of the seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tilewright.machine.dtypes import float_format

from .values import FP8, TYPES, Value
from .writer import Writer


def edge(w: Writer, seed: int) -> list[Value]:
    """One of them, in every type by turns; a round begins one further, since every fifth seed has no edge."""
    turn = seed // 3
    number = turn // len(EDGES)
    return EDGES[(turn + number) % len(EDGES)](w, number)


def given(w: Writer, data: np.ndarray, dtype: str) -> Value:
    """An input of these values, which the host rounds to their type."""
    value = Value(w.fresh("e"), data.shape, dtype)
    w.arguments.append(f'{value.name}: {value.type} {{tile_tensor.input = "{value.name[1:]}"}}')
    w.inputs[value.name[1:]] = data.astype(np.float32)
    return value


def drawn(w: Writer, values: Sequence[float], *shape: int) -> np.ndarray:
    return np.random.default_rng(w.rng.getrandbits(32)).choice(np.float64(values), shape)


def saturating(turn: int) -> str:
    return "saturate = false" if turn // len(FP8) % 2 else ""


def overflowing_sum(w: Writer, turn: int) -> list[Value]:
    """A sum that its type does not hold, before a gelu that holds more: the two cannot be one."""
    dtype = ("f16", *FP8)[turn % 5]
    near = 0.75 * float_format(dtype).max_value
    x, bias = (
        given(w, drawn(w, (near, -near, 1.0), 3, 6), dtype),
        given(w, drawn(w, (near, near, 0.5), 6), dtype),
    )
    total = w.op("add", [x, bias], "", x.shape, dtype, saturating(turn))
    return [w.op("gelu", [total], "approximate tanh", x.shape, "f32")]


def beyond_of_bias_gelu(w: Writer, turn: int) -> list[Value]:
    dtype = FP8[turn % len(FP8)]
    far = 0.75 * float_format(dtype).max_value
    x = given(w, drawn(w, (far, -far, 2.0), 2, 8), "f32")
    bias = given(w, drawn(w, (far, far, 0.5), 8), "f32")
    return [w.op("bias_gelu", [x, bias], "", x.shape, dtype, saturating(turn))]


def beyond_of_rows(w: Writer, turn: int) -> list[Value]:
    """Reductions and running sums beyond 8-bit types."""
    dtype = FP8[turn % len(FP8)]
    far = 0.6 * float_format(dtype).max_value
    x = given(w, drawn(w, (far, far, far, -far, 1.0), 3, 7), "f32")
    found = [w.op("cumsum", [x], "", x.shape, dtype, saturating(turn))]
    for kind in ("sum", "max", "mean"):
        rows = x if kind == "sum" else given(w, drawn(w, (4 * far, 3 * far, 5 * far), 3, 7), "f32")
        found.append(Value(w.fresh(), (3,), dtype))
        attributes = f" {{{saturating(turn)}}}" if saturating(turn) else ""
        w.lines.append(
            f"{w.indent}{found[-1].name} = tile_tensor.reduce {kind} {rows.name} axes [1]{attributes} : "
            f"({rows.type}) -> {found[-1].type}"
        )
    return found


def beyond_of_attention(w: Writer, turn: int) -> list[Value]:
    """Means of values beyond an 8-bit type."""
    dtype = FP8[turn % len(FP8)]
    far = min(1.6 * float_format(dtype).max_value, 65504.0)
    q, k = given(w, drawn(w, (1.0, -1.0, 0.5), 3, 4), "f16"), given(w, drawn(w, (1.0, 0.0), 5, 4), "f16")
    v = given(w, np.repeat(drawn(w, (far, -far, far, 1.0), 1, 6), 5, axis=0), "f16")
    return [w.op("attention", [q, k, v], "scale 0.5", (3, 6), dtype, saturating(turn))]


def far_scores(w: Writer, turn: int) -> list[Value]:
    """Rows whose exponentials overflow unless the right extreme is subtracted."""
    dtype = TYPES[turn % len(TYPES)]
    far = min(float_format(dtype).max_value, 3000.0)
    x = given(w, drawn(w, (far, -far, far - far / 1000, 1.0, 0.0), 4, 9), dtype)
    scale = "-3.0" if turn % 3 else "3.0"
    return [w.op("softmax", [x], f"scale {scale}", x.shape, "f32")]


def rows_with_nan(w: Writer, turn: int) -> list[Value]:
    """Maxima and minima of rows some of which have a NaN."""
    dtype, kind = TYPES[turn % len(TYPES)], ("max", "min")[turn // len(TYPES) % 2]
    data = drawn(w, (1.0, -2.0, 0.5, 4.0), 4, 6)
    data[w.rng.randrange(4), w.rng.randrange(6)] = np.nan
    x, result = given(w, data, dtype), Value(w.fresh(), (4,), dtype)
    w.lines.append(
        f"{w.indent}{result.name} = tile_tensor.reduce {kind} {x.name} axes [1] : ({x.type}) -> {result.type}"
    )
    return [result]


EDGES = (overflowing_sum, beyond_of_bias_gelu, beyond_of_rows, beyond_of_attention, far_scores, rows_with_nan)
