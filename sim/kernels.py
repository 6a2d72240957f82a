# SPDX-License-Identifier: Apache-2.0
"""
What each registered kernel computes, vectorised over tiles.

A semantics is `fn(ins, outs_dtype, scalars, extents) -> outs`. Every array has a leading tiles axis and then
the operand's axes (size 1 where it is broadcast), is contiguous and of the operand's element type. `extents`
are the kernel's axes, common to the tiles of the call. All arithmetic is in `numerics`; this file only fits
shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tilewright.machine import dtypes
from tilewright.machine.kernels.chains import CHAINS, Expression
from tilewright.machine.kernels.matrix_unit import PRODUCTS, panel_inputs
from tilewright.machine.kernels.scalars import STORES
from tilewright.machine.numerics import operations as numerics
from tilewright.machine.numerics.pointwise import TABLE

Array = np.ndarray
Scalars = Mapping[str, float | int]
Semantics = Callable[[Sequence[Array], tuple[str, ...], Scalars, tuple[int, ...]], list[Array]]


PANEL = panel_inputs(1)
"""8-bit columns of a panel."""


class UnknownSemantics(KeyError):
    """A kernel name without semantics."""


def _full(x: Array, shape: tuple[int, ...]) -> Array:
    return np.ascontiguousarray(np.broadcast_to(x, shape))


def _tiles(ins: Sequence[Array]) -> int:
    return max((x.shape[0] for x in ins), default=1)


def _gemm(acc_dtype: str, inputs_per_pass: int) -> Semantics:
    def run(
        ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
    ) -> list[Array]:
        a, w = ins
        lead = np.broadcast_shapes(a.shape[:2], w.shape[:2])
        a = np.broadcast_to(a, (*lead, *a.shape[2:]))
        w = np.broadcast_to(w, (*lead, *w.shape[2:]))
        out = numerics.gemm(a, w, acc_dtype, inputs_per_pass, int(scalars.get("scale", 0)))
        saturate = bool(scalars.get("saturate", 1))
        return [out if outs[0] == acc_dtype else numerics.cast_array(out, outs[0], 0, saturate)]

    return run


def _pointwise(function: str) -> Semantics:
    def run(
        ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
    ) -> list[Array]:
        out = numerics.pointwise(function, *ins, dtype=outs[0], saturate=bool(scalars.get("saturate", 1)))
        return [_full(out, (out.shape[0], *extents))]

    return run


def _chain(expression: Expression) -> Semantics:
    """The functions of a chain one after another, each rounded to the type of the result."""

    def run(
        ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
    ) -> list[Array]:
        given = iter(ins)

        def value(part: Expression) -> Array:
            if isinstance(part, str):
                return next(given)
            function, *inner = part
            assert isinstance(function, str)
            return numerics.pointwise(function, *(value(x) for x in inner), dtype=outs[0], saturate=saturate)

        saturate = bool(scalars.get("saturate", 1))
        out = value(expression)
        return [_full(out, (out.shape[0], *extents))]

    return run


def _cast(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    saturate = bool(scalars.get("saturate", 1))
    truncate = bool(scalars.get("truncate", 0))
    out = numerics.cast_array(ins[0], outs[0], int(scalars.get("scale", 0)), saturate, truncate)
    return [_full(out, (out.shape[0], *extents))]


def _cast_panels(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    """Groups of `group` columns, `pitch` apart (default: that many), each completed to panels with zeros."""
    *_, columns, stored = extents
    group = int(scalars["group"])
    pitch = int(scalars.get("pitch", group))
    lanes = -(-group // PANEL) * PANEL
    count = -(-columns // pitch)
    if pitch < group or columns % pitch or stored != count * lanes:
        raise ValueError(f"{columns} columns in groups of {pitch} take {count * lanes} lanes, not {stored}")
    x = _full(ins[0], (ins[0].shape[0], *extents[:-1]))
    (cast,) = _cast([x], outs, scalars, extents[:-1])
    out = np.zeros((*cast.shape[:-1], count, lanes), cast.dtype)
    out[..., :group] = cast.reshape(*cast.shape[:-1], count, pitch)[..., :group]
    return [out.reshape(*cast.shape[:-1], stored)]


def _copy(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    return [_full(ins[0], (ins[0].shape[0], *extents))]


_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def _widen(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    bits = np.ascontiguousarray(ins[0]).view(_BITS[ins[0].dtype.itemsize]).astype(np.uint32)
    return [_full(bits, (bits.shape[0], *extents))]


def _narrow(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    target = dtypes.numpy_dtype(outs[0])
    words = np.ascontiguousarray(ins[0]).view(np.uint32)
    out = words.astype(_BITS[target.itemsize]).view(target)
    return [_full(out, (out.shape[0], *extents))]


def _fill(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    """No input says how many tiles there are: the result has a tiles axis of one, to be broadcast."""
    words = np.full((1, *extents), int(scalars["value"]) & 0xFFFFFFFF, np.uint32)
    return [words.view(dtypes.numpy_dtype(outs[0]))]


def _gather_rows(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    """
    The rows of the table whose numbers, counted from `first`, the indices name; zeros for other indices.

    `rows` is the height of the whole table where indices beyond it mean its first and last row.
    """
    table, indices, first = ins  # (T, r, c), (T, t), (T, p)
    table = np.broadcast_to(table, (table.shape[0], extents[2], table.shape[2]))
    wanted = indices[:, None, :].astype(np.int64)
    if "rows" in scalars:
        wanted = np.clip(wanted, 0, int(scalars["rows"]) - 1)
    local = wanted - first[:, :, None]  # (T, p, t)
    inside = (local >= 0) & (local < table.shape[1])
    tiles = np.arange(table.shape[0])[:, None, None]
    rows = table[tiles, np.where(inside, local, 0)]  # (T, p, t, c)
    return [np.where(inside[..., None], rows, np.zeros((), table.dtype))]


def _update_window(count: int) -> Semantics:
    def run(
        ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
    ) -> list[Array]:
        x, window, *numbers = ins
        tiles = _tiles(ins)
        shape = (tiles, *extents[0 : 2 * count : 2], *extents[4 * count :])
        x = _full(x, shape)
        window = np.broadcast_to(window, (tiles, *window.shape[1:]))
        index: list[Array] = [np.arange(tiles).reshape(-1, *(1,) * count)]
        inside: Array = np.ones((1,) * (count + 1), bool)
        for number in range(count):
            start, first = (n[:, :1].astype(np.int64) for n in numbers[2 * number : 2 * number + 2])
            rows = int(scalars[f"rows{number + 1}" if number else "rows"])
            size = extents[2 * number + 1]
            start = np.clip(start, 0, max(rows - size, 0))
            local = first + np.arange(extents[2 * number]) - start  # (T, r)
            at = [tiles if axis == 0 else -1 if axis == number + 1 else 1 for axis in range(count + 1)]
            local = np.broadcast_to(local, (tiles, local.shape[1])).reshape(at)
            inside = inside & (local >= 0) & (local < size)
            index.append(np.clip(local, 0, size - 1))
        inside = inside.reshape(*inside.shape, *(1,) * (x.ndim - inside.ndim))
        return [np.where(inside, window[tuple(index)], x)]

    return run


def _read_window(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    x, start = ins
    tiles, rows, size = _tiles(ins), extents[0], extents[1]
    x = np.broadcast_to(x, (tiles, *x.shape[1:]))
    first = np.clip(start[:, :1].astype(np.int64), 0, max(rows - size, 0))
    rows_read = np.broadcast_to(first, (tiles, 1)) + np.arange(size)  # (T, t)
    return [np.ascontiguousarray(x[np.arange(tiles)[:, None], rows_read])]


def _reduce_partials(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    parts = [ins[0][:, min(p, ins[0].shape[1] - 1)] for p in range(extents[0])]
    out = numerics.reduce_partials(parts, outs[0], bool(scalars.get("saturate", 1)))
    return [_full(out, (out.shape[0], *extents[1:]))]


def _reduce_onto(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    first, rest = ins
    parts = [first, *(rest[:, min(p, rest.shape[1] - 1)] for p in range(extents[0]))]
    out = numerics.reduce_partials(parts, outs[0], bool(scalars.get("saturate", 1)))
    return [_full(out, (out.shape[0], *extents[1:]))]


def _reduce(kind: str) -> Semantics:
    def run(
        ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
    ) -> list[Array]:
        reduced = int(scalars.get("reduced", 1))
        kept = extents[: len(extents) - reduced]
        full = _full(ins[0], (ins[0].shape[0], *extents))
        rows = int(np.prod(kept, dtype=np.int64))
        columns = int(np.prod(extents[len(kept) :], dtype=np.int64))
        count = scalars.get("count")
        out = numerics.reduce_rows(
            kind,
            full.reshape(full.shape[0], rows, columns),
            outs[0],
            None if count is None else int(count),
            bool(scalars.get("saturate", 1)),
        )
        return [out.reshape(full.shape[0], *kept)]

    return run


def _row_vector(x: Array) -> Array:
    """(T, c) -> (T, 1, c), to broadcast over rows."""
    return x[:, None, :]


def _columns(x: Array, scalars: Scalars, extents: tuple[int, ...]) -> Array:
    """The first `columns` columns of rows (all without that scalar); ValueError where there are fewer."""
    columns = int(scalars.get("columns", extents[-1]))
    if columns > extents[-1]:
        raise ValueError(f"rows of {extents[-1]} columns do not have {columns}")
    return _full(x, (x.shape[0], *extents))[..., :columns]


def _with_lanes(rows: Array, extents: tuple[int, ...]) -> Array:
    """Rows completed to the columns of the call by lanes of zeros."""
    out = np.zeros((*rows.shape[:-1], extents[-1]), rows.dtype)
    out[..., : rows.shape[-1]] = rows
    return out


def _layer_norm(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    x, *vectors = ins
    x = _columns(_full(x, (_tiles(ins), *extents)), scalars, extents)
    rows = numerics.layer_norm_rows(
        x,
        [_row_vector(v)[..., : x.shape[-1]] for v in vectors],
        float(scalars["epsilon"]),
        outs[0],
        bool(scalars.get("saturate", 1)),
        int(scalars.get("scale", 0)),
    )
    return [_with_lanes(rows, extents)]


def _norm_statistics(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    x = _full(ins[0], (ins[0].shape[0], *extents))
    return [
        numerics.cast_array(out, kind) for out, kind in zip(numerics.norm_statistics(x), outs, strict=True)
    ]


def _norm_apply(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    """Without gamma and beta: `norm.mix`."""
    x, mean, variance, *vectors = ins
    x = _full(x, (_tiles(ins), *extents))
    return [
        numerics.norm_apply(
            x,
            mean,
            variance,
            [_row_vector(v) for v in vectors],
            float(scalars["epsilon"]),
            outs[0],
            bool(scalars.get("saturate", 1)),
            int(scalars.get("scale", 0)),
        )
    ]


def _norm_merge_apply(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    """The statistics of the parts of rows merged, in f32, and `norm.apply` or `norm.mix` behind it."""
    x, *parts = ins[:3]
    full = [_full(part, (part.shape[0], *extents[:2])) for part in parts]
    means, variances = (np.moveaxis(part, 1, 0) for part in full)  # (p, T, r)
    merged = numerics.norm_merge(means, variances, int(scalars["count"]))
    statistics = [numerics.cast_array(out, "f32") for out in merged]
    return _norm_apply([x, *statistics, *ins[3:]], outs, scalars, extents[1:])


def _bias_gelu(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    x = _full(ins[0], (_tiles(ins), *extents))
    saturate = bool(scalars.get("saturate", 1))
    return [numerics.bias_gelu_rows(x, _row_vector(ins[1]), outs[0], saturate)]


def _rms_norm(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    x, gamma = ins
    x = _columns(_full(x, (_tiles(ins), *extents)), scalars, extents)
    saturate, gamma = bool(scalars.get("saturate", 1)), _row_vector(gamma)[..., : x.shape[-1]]
    rows = numerics.rms_norm_rows(x, gamma, float(scalars["epsilon"]), outs[0], saturate)
    return [_with_lanes(rows, extents)]


def _softmax(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    x = _columns(ins[0], scalars, extents)
    scale, saturate = float(scalars.get("scale", 1.0)), bool(scalars.get("saturate", 1))
    rows = numerics.softmax_rows(x, scale, outs[0], saturate, _empty_rows(scalars, "nan"))
    return [_with_lanes(rows, extents)]


def _empty_rows(scalars: Scalars, default: str) -> str:
    """The word behind the number of `empty_rows`; ValueError for a number that has none."""
    number = scalars.get("empty_rows", numerics.EMPTY_ROWS.index(default))
    if number not in range(len(numerics.EMPTY_ROWS)):
        raise ValueError(f"empty_rows is 0 to {len(numerics.EMPTY_ROWS) - 1}, found {number}")
    return numerics.EMPTY_ROWS[int(number)]


def _softmax_exp(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    scores, extreme = ins
    scores = _full(scores, (_tiles(ins), *extents))
    extreme = _full(extreme, scores.shape[:-1])
    scale, saturate = float(scalars.get("scale", 1.0)), bool(scalars.get("saturate", 1))
    empty = _empty_rows(scalars, "zero")
    return list(numerics.softmax_exp(scores, extreme, scale, outs[0], outs[1], saturate, empty))


def _seen(scores: Array, first_query: Array, first_key: Array, scalars: Scalars, hidden: float) -> Array:
    """Scores (T, b, m, n) with `hidden` where a row does not see a key: rows repeat after `rows` queries."""
    queries = first_query[:, :1].astype(np.int64) + np.arange(scores.shape[2])  # (T, m)
    keys = first_key[:, :1].astype(np.int64) + np.arange(scores.shape[3])  # (T, n)
    at = queries % int(scalars["rows"]) + int(scalars["offset"])
    ahead = keys[:, None, :] - at[:, :, None]  # (T, m, n)
    seen = (ahead >= -int(scalars["before"])) & (ahead <= int(scalars["after"]))
    return np.where(seen[:, None], scores, np.array(hidden, scores.dtype))


def _band(kind: str) -> Semantics:
    def run(
        ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
    ) -> list[Array]:
        scores = _full(ins[0], (_tiles(ins), *extents[:3]))
        seen = _seen(scores, ins[1], ins[2], scalars, -np.inf if kind == "max" else np.inf)
        rows = numerics.reduce_rows(kind, seen.reshape(len(seen), -1, extents[2]), outs[0], None, False)
        return [rows.reshape(len(seen), *extents[:2])]

    return run


def _taps(x: Array, scalars: Scalars, high: int, wide: int) -> Array:
    """(T, n, p, q, c) -> (T, n, y, x, c, k): what lies under each window, row after row of it."""

    def scalar(name: str) -> tuple[int, int]:
        return int(scalars.get(f"{name}_y", 1)), int(scalars.get(f"{name}_x", 1))

    size, stride, dilation = scalar("size"), scalar("stride"), scalar("dilation")
    pieces: list[Array] = []
    for i in range(size[0]):
        for j in range(size[1]):
            rows = i * dilation[0] + stride[0] * np.arange(high)
            columns = j * dilation[1] + stride[1] * np.arange(wide)
            if rows[-1] >= x.shape[2] or columns[-1] >= x.shape[3]:
                raise ValueError(f"windows reach beyond {x.shape[2]} rows of {x.shape[3]}")
            pieces.append(x[:, :, rows[:, None], columns[None, :]])
    return np.stack(pieces, axis=-1)


def _window(kind: str) -> Semantics:
    def run(
        ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
    ) -> list[Array]:
        n, p, q, c, high, wide = extents
        x = _full(ins[0], (ins[0].shape[0], n, p, q, c))
        count = scalars.get("count")
        out = numerics.reduce_rows(
            kind,
            _taps(x, scalars, high, wide),
            outs[0],
            None if count is None else int(count),
            bool(scalars.get("saturate", 1)),
        )
        return [np.ascontiguousarray(out)]

    return run


def _band_exp(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    scores, extreme, first_query, first_key = ins
    scores = _full(scores, (_tiles(ins), *extents[:3]))
    hidden = -np.inf if float(scalars.get("scale", 1.0)) >= 0 else np.inf
    seen = _seen(scores, first_query, first_key, scalars, hidden)
    return _softmax_exp([seen, extreme], outs, scalars, extents[:3])


def _mask_scores(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    """Scores where the mask is true; else the infinity that the scale makes negative."""
    x, mask = ins
    hidden = np.array(-np.inf if float(scalars["scale"]) >= 0 else np.inf, x.dtype)
    out = numerics.cast_array(np.where(mask.astype(bool), x, hidden), outs[0])
    return [_full(out, (_tiles(ins), *extents))]


def _band_part(kernel: Semantics) -> Semantics:
    def run(
        ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
    ) -> list[Array]:
        scores = _full(ins[0], (_tiles(ins), *extents[:3]))
        hidden = -np.inf if float(scalars.get("scale", 1.0)) >= 0 else np.inf
        return kernel([_seen(scores, ins[1], ins[2], scalars, hidden)], outs, scalars, extents[:3])

    return run


def _scaled_add(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    x, y = ins
    out = numerics.scaled_add(x, y, float(scalars["scale"]), outs[0], bool(scalars.get("saturate", 1)))
    return [_full(out, (_tiles(ins), *extents))]


def _window_products(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    n, p, q, c, high, wide, k = extents
    x = _full(ins[0], (_tiles(ins), n, p, q, c))
    weights = _full(ins[1], (ins[1].shape[0], k, c)).swapaxes(1, 2)[:, None, None, None]
    taps = _taps(x, scalars, high, wide)
    if taps.shape[-1] != k:
        raise ValueError(f"windows of {taps.shape[-1]} elements, {k} weights")
    return [numerics.window_products(taps, weights, outs[0], bool(scalars.get("saturate", 1)))]


def _extreme_index(kind: str) -> Semantics:
    def run(
        ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
    ) -> list[Array]:
        return [numerics.extreme_index_rows(kind, _full(ins[0], (ins[0].shape[0], *extents)))]

    return run


def _sort(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    x = _full(ins[0], (ins[0].shape[0], *extents))
    order = numerics.sort_rows(x, bool(scalars.get("descending", 0)))
    return [np.take_along_axis(x, order, axis=-1)]


def _argsort(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    x = _full(ins[0], (ins[0].shape[0], *extents))
    return [np.ascontiguousarray(numerics.sort_rows(x, bool(scalars.get("descending", 0))))]


def _cumsum(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    x = _full(ins[0], (ins[0].shape[0], *extents))
    return [numerics.cumsum_rows(x, outs[0], bool(scalars.get("saturate", 1)))]


def _scatter_add(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    """To the rows that the indices, counted from `first`, name; all tiles as one base of all their rows."""
    _, t, r, c = extents
    tiles = _tiles(ins)
    base, updates = _full(ins[0], (tiles, r, c)), _full(ins[2], (tiles, t, c))
    places = _full(ins[1], (tiles, t)).astype(np.int64) - _full(ins[3], (tiles, 1)).astype(np.int64)
    places = np.where((places >= 0) & (places < r), places + r * np.arange(tiles)[:, None], -1)
    out = numerics.scatter_add_rows(
        base.reshape(tiles * r, c),
        places.reshape(-1),
        updates.reshape(tiles * t, c),
        outs[0],
        bool(scalars.get("saturate", 1)),
    )
    return [out.reshape(tiles, r, c)]


def _softmax_part(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    scores = _full(ins[0], (_tiles(ins), *extents))
    scale, saturate = float(scalars.get("scale", 1.0)), bool(scalars.get("saturate", 1))
    p, extreme, total = numerics.softmax_part(scores, scale, outs[0], saturate, _empty_rows(scalars, "zero"))
    return [p, numerics.cast_array(extreme, outs[1]), numerics.cast_array(total, outs[2])]


def _softmax_merge(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    tiles = _tiles(ins)
    parts = np.moveaxis(_full(ins[0], (tiles, *extents)), 1, 0)  # (p, T, b, m, n)
    extremes, sums = (np.moveaxis(_full(x, (tiles, *extents[:-1])), 1, 0) for x in ins[1:])
    scale, saturate = float(scalars.get("scale", 1.0)), bool(scalars.get("saturate", 1))
    return [numerics.softmax_merge(list(parts), extremes, sums, scale, outs[0], saturate)]


def _softmax_raise(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    p, extreme, _ = _softmax_part(ins, (*outs, "f32"), scalars, extents)
    return [p, extreme]


def _softmax_merge_columns(
    ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
) -> list[Array]:
    """Columns of outputs, the first of the others being the sums."""
    tiles, (p, b, m, n, c) = _tiles(ins), extents
    if c <= n:
        raise ValueError(f"{c} columns hold no sums behind {n} of outputs")
    parts = np.moveaxis(_full(ins[0], (tiles, p, b, m, c)), 1, 0)  # (p, T, b, m, c)
    extremes = np.moveaxis(_full(ins[1], (tiles, p, b, m)), 1, 0)
    scale, saturate = float(scalars.get("scale", 1.0)), bool(scalars.get("saturate", 1))
    outputs, sums = [part[..., :n] for part in parts], parts[..., n]
    empty = _empty_rows(scalars, "zero")
    return [numerics.softmax_merge(outputs, extremes, sums, scale, outs[0], saturate, empty)]


SEMANTICS: dict[str, Semantics] = {
    **{p.kernel: _gemm(p.partial, p.inputs) for p in PRODUCTS},
    **{entry.kernel: _pointwise(entry.name) for entry in TABLE},
    **{chain.kernel: _chain(chain.expression) for chain in CHAINS},
    "cast": _cast,
    "cast.panels": _cast_panels,
    "copy": _copy,
    "widen": _widen,
    "narrow": _narrow,
    "fill": _fill,
    "gather_rows": _gather_rows,
    **{f"update_window{'' if count == 1 else count}": _update_window(count) for count in (1, 2, 3, 4)},
    "read_window": _read_window,
    "reduce_partials": _reduce_partials,
    "reduce_partials.onto": _reduce_onto,
    "reduce_partials.wide": _reduce_partials,
    "reduce_partials.wide_onto": _reduce_onto,
    **{f"reduce.{kind}": _reduce(kind) for kind in ("sum", "max", "min", "prod")},
    **{f"window.{kind}": _window(kind) for kind in ("sum", "max", "min")},
    "window.products": _window_products,
    "argmax": _extreme_index("max"),
    "argmin": _extreme_index("min"),
    "sort": _sort,
    "argsort": _argsort,
    "cumsum": _cumsum,
    "scatter_add": _scatter_add,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "norm.statistics": _norm_statistics,
    "norm.apply": _norm_apply,
    "norm.mix": _norm_apply,
    "norm.merge_apply": _norm_merge_apply,
    "norm.merge_mix": _norm_merge_apply,
    "bias_gelu": _bias_gelu,
    "softmax": _softmax,
    "softmax.exp": _softmax_exp,
    "band.max": _band("max"),
    "band.min": _band("min"),
    "band.exp": _band_exp,
    "band.part": _band_part(_softmax_part),
    "band.raise": _band_part(_softmax_raise),
    "scaled_add": _scaled_add,
    "mask_scores": _mask_scores,
    "softmax.part": _softmax_part,
    "softmax.raise": _softmax_raise,
    "softmax.merge_columns": _softmax_merge_columns,
    "softmax.merge": _softmax_merge,
}


def semantics(name: str) -> Semantics:
    """The semantics of a kernel; raises UnknownSemantics (a KeyError)."""
    try:
        found = SEMANTICS[name]
    except KeyError:
        raise UnknownSemantics(f"kernel '{name}' has no semantics") from None
    return _casting(found)


def _casting(made: Semantics) -> Semantics:
    """A kernel that casts its result as it stores it where it is told to (`STORES`)."""

    def run(
        ins: Sequence[Array], outs: tuple[str, ...], scalars: Scalars, extents: tuple[int, ...]
    ) -> list[Array]:
        if STORES[0] not in scalars:
            return made(ins, outs, scalars, extents)
        (out,) = made(ins, ("f16",), scalars, extents)
        scale, saturate = int(scalars[STORES[0]]), bool(scalars.get(STORES[1], 1))
        return [numerics.cast_array(out, outs[0], scale, saturate)]

    return run
