# SPDX-License-Identifier: Apache-2.0
"""
Attention on a two-dimensional score grid per head: query parts by key parts, with a distributed softmax.

A tile holds the scores of one block of queries against one block of keys. Row maxima of the key parts are
exchanged, every tile exponentiates its block and sums it, multiplies by its block of V, and the partial
outputs and sums are reduced by their owners, which divide. Complete rows of K and V never exist on one tile.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import COLUMNS, WEIGHT_MEMORY, product
from tilewright.planning.exchange.estimate import pair_receive_cycles, receive_cycles
from tilewright.planning.layout import Axis, Layout, View
from tilewright.planning.operators.base import Operator, Record, Surroundings, ceil_div, round_up
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.grids import check_fits, check_parts
from tilewright.planning.operators.matmul import (
    batch_view,
    choose_kernel,
    replicas,
    splits,
    swap_last,
)
from tilewright.planning.operators.rowwise import empty_rows
from tilewright.planning.operators.strategy import Strategy
from tilewright.planning.operators.targets import Target
from tilewright.planning.stages import Stages, Value

ROW_COLUMNS = 8
"""Columns that are whole 8-byte items in every element type: rows of multiples of them need no panels."""


@dataclass(frozen=True)
class AttentionRecord(Record):
    """Parts of the batch (heads), of the queries and of the keys."""

    grid: tuple[int, ...] = (1, 1, 1)


@dataclass(frozen=True)
class Shape:
    batch: tuple[int, ...]
    queries: int
    keys: int
    depth: int
    value_depth: int
    score_kernel: str
    output_kernel: str
    dtype: str  # of q, k, v and the probabilities as the kernels read them
    scale: float
    result_dtype: str
    mask: tuple[int, ...] | None = None  # its shape, padded to the rank of the scores
    group: int = 1
    """
    Heads of queries that share a head of keys and values. They count as queries of one head: `queries` are
    those of all of them, one head after another.
    """
    band: Band | None = None
    mask_after: bool = False  # the mask is added to scores that have their scale
    boolean_mask: bool = False  # the mask says which keys are seen

    @property
    def b(self) -> int:
        return math.prod(self.batch)

    @property
    def mask_kernel(self) -> str:
        """The kernel that takes scores and mask."""
        return "mask_scores" if self.boolean_mask else "scaled_add" if self.mask_after else "pointwise.add"

    @property
    def rows(self) -> int:
        """Queries of one head."""
        return self.queries // self.group

    def view(self, *rest: int) -> View:
        """(.., heads, rows, *rest) onto storage axes (b, queries, rest...)."""
        if self.group == 1:
            return batch_view(self.batch, self.queries, *rest)
        whole = batch_view(self.batch, self.rows, *rest)
        *outer, shared = self.batch
        at = len(outer)
        heads = (*whole.digits[at], (self.group, 1, self.rows))
        shape = (*outer, shared * self.group, *whole.shape[at + 1 :])
        return View(shape, (*whole.digits[:at], heads, *whole.digits[at + 1 :]), whole.offsets)


@dataclass(frozen=True)
class Band:
    """Which keys query i sees: from `i + offset - before` to `i + offset + after`."""

    offset: int
    before: int
    after: int


FEATURES = ("mask", "boolean_mask", "mask_after_scale", "causal", "window", "shared_heads")


def features(operator: Operator) -> frozenset[str]:
    """Those of `FEATURES` that an attention needs: a strategy declines what it does not have."""
    attributes, (q, k) = operator.attributes, (shape for shape, _ in operator.operand_types[:2])
    found = {
        "mask": len(operator.operand_types) > 3,
        "boolean_mask": _is_boolean(operator),
        "mask_after_scale": attributes.get("mask_place", "before_scale") == "after_scale",
        "causal": bool(attributes.get("causal")),
        "window": attributes.get("window") is not None,
        "shared_heads": q[:-2] != k[:-2],
    }
    return frozenset(name for name, needed in found.items() if needed)


_UNBOUNDED = 1 << 30
"""As many keys on one side of a query as make no difference."""


def _band(operator: Operator) -> Band | None:
    causal, window = bool(operator.attributes.get("causal")), operator.attributes.get("window")
    if not causal and window is None:
        return None
    reach = _UNBOUNDED if window is None else int(window) - 1
    return Band(int(operator.attributes.get("query_offset", 0)), reach, 0 if causal else reach)


def canonical(operator: Operator) -> Shape:
    (q, dq), (k, dk), (v, dv) = operator.operand_types[:3]
    if dk != dq or dv != dq:
        raise operator.error(
            f"q, k and v have element types {dq}, {dk} and {dv}", hint="cast them to one type"
        )
    # Without `accumulate` FP8 adds in f16, everything else in f32: what `choose_kernel` does by itself.
    kernel_name, (dtype, _), _ = choose_kernel(operator, dq, dq, operator.attributes.get("accumulate"))
    if kernel_name == "gemm.f8":
        dtype = dq  # the unit reads OCP codes as they are
    group = math.prod(q[-3:-2]) // max(math.prod(k[-3:-2]), 1)
    return Shape(
        tuple(k[:-2]),
        q[-2] * group,
        k[-2],
        q[-1],
        v[-1],
        kernel_name,
        kernel_name,
        dtype,
        float(operator.attributes.get("scale", 1.0)),
        operator.result_dtype,
        _mask_shape(operator),
        group,
        _band(operator),
        operator.attributes.get("mask_place", "before_scale") == "after_scale" and not _is_boolean(operator),
        _is_boolean(operator),
    )


def _is_boolean(operator: Operator) -> bool:
    return len(operator.operand_types) > 3 and operator.operand_types[3][1] == "i1"


def _mask_shape(operator: Operator) -> tuple[int, ...] | None:
    if len(operator.operand_types) < 4:
        return None
    rank, mask = len(operator.operand_types[0][0]), operator.operand_types[3][0]
    return (1,) * (rank - len(mask)) + tuple(mask)


def blocks(shape: Shape, grid: tuple[int, ...]) -> tuple[int, int, int]:
    bp, qp, np_ = grid
    grain = max(COLUMNS, product(shape.output_kernel).inputs)
    return ceil_div(shape.b, bp), ceil_div(shape.queries, qp), round_up(ceil_div(shape.keys, np_), grain)


def used_grid(shape: Shape, grid: tuple[int, ...]) -> tuple[int, int, int]:
    bb, qb, nb = blocks(shape, grid)
    return ceil_div(shape.b, bb), ceil_div(shape.queries, qb), ceil_div(shape.keys, nb)


def choose_grid(shape: Shape, machine: Machine) -> tuple[int, int, int]:
    """The score grid with the least closed-form cycles."""
    return ranked_grids(shape, machine)[0]


@lru_cache(maxsize=64)
def ranked_grids(shape: Shape, machine: Machine, *, own_keys: str = "") -> tuple[tuple[int, int, int], ...]:
    """
    Score grids, the cheapest by the closed form first (kernels by the registry, exchange receive-bound);
    those that take too much memory come last. `own_keys`: the kernel that takes the softmax of the tile's own
    keys, outputs being merged.
    """
    bp = min(shape.b, machine.tiles)
    per = machine.tiles // bp
    found: list[tuple[int, tuple[int, int, int]]] = []
    grids = [
        (bp, qp, np_)
        for np_ in range(1, min(per, ceil_div(shape.keys, COLUMNS)) + 1)
        for most in [min(per // np_, shape.queries)]
        for qp in ((most,) if most % 2 == 0 or most == 1 else (most, most - 1))
    ]
    for grid in grids:
        _, _, nb = blocks(shape, grid)
        if ceil_div(shape.keys, nb) < grid[2]:
            continue
        total = grid_cycles(shape, grid, machine, own_keys)
        if _grid_bytes(shape, grid) > machine.sram_bytes // 3:
            total += 1 << 30
        found.append((total, grid))
    return tuple(grid for _, grid in sorted(found, key=lambda entry: entry[0]))


@lru_cache(maxsize=64)
def still_grid(shape: Shape, machine: Machine) -> tuple[int, int, int]:
    """The cheapest score grid that needs every key and value once: for a cache, which stays where it is."""
    bp = min(shape.b, machine.tiles)
    grids = [
        (bp, 1, np_)
        for np_ in range(1, min(machine.tiles // bp, ceil_div(shape.keys, COLUMNS)) + 1)
        if used_grid(shape, (bp, 1, np_))[2] == np_
    ]
    return min(grids, key=lambda grid: (grid_cycles(shape, grid, machine, keys_move=False), grid))


def _grid_bytes(shape: Shape, grid: tuple[int, int, int]) -> int:
    """About how many bytes of a tile a score grid takes."""
    bb, qb, nb = blocks(shape, grid)
    size, psize = itemsize(shape.dtype), itemsize(product(shape.output_kernel).partial)
    dp = round_up(shape.depth, product(shape.score_kernel).inputs)
    vp = round_up(shape.value_depth, COLUMNS)
    return bb * ((qb + nb) * dp * size + vp * nb * size + 2 * qb * nb * psize + 2 * qb * vp * psize)


def grid_cycles(
    shape: Shape, grid: tuple[int, int, int], machine: Machine, own_keys: str = "", *, keys_move: bool = True
) -> int:
    """Cycles of a score grid in closed form; `own_keys` as in `ranked_grids`."""
    bb, qb, nb = blocks(shape, grid)
    np_ = grid[2]
    size, partial = itemsize(shape.dtype), product(shape.output_kernel).partial
    psize = itemsize(partial)
    dp = round_up(shape.depth, product(shape.score_kernel).inputs)
    vp = round_up(shape.value_depth, COLUMNS)

    def cycles(name: str, *extents: int, dtypes: tuple[str, ...] = ()) -> int:
        return int(
            machine.family.kernel(name).cycles(
                machine, np.array([extents]), dtypes or (shape.dtype,) * 4, {}
            )[0]
        )

    total = cycles(shape.score_kernel, bb, qb, nb, dp) + cycles(shape.output_kernel, bb, qb, vp, nb)
    if shape.mask is not None:
        total += cycles(shape.mask_kernel, bb, qb, nb)
    raised = own_keys or "softmax.exp"
    total += (
        cycles(raised, bb, qb, nb)
        if shape.band is None
        else cycles(raised.replace("softmax", "band"), bb, qb, nb, 1, 1, dtypes=(shape.dtype,) * 6)
    )
    if keys_move:
        total += pair_receive_cycles(
            qb * dp,
            nb * (dp + vp),
            same_first=np_ % 2 == 0,  # as `tile_digits` lays them
            same_second=ceil_div(shape.queries, qb) % 2 == 0,
            nbytes=bb * size,
        )
    else:
        total += receive_cycles(bb * qb * dp * size)
    if np_ > 1 and own_keys:
        total += receive_cycles(bb * qb * (8 + vp * psize)) + 2 * machine.phase_overhead
        types = (partial, "f32", "f32", shape.result_dtype)
        total += cycles("softmax.merge", np_, bb, ceil_div(qb, np_), vp, dtypes=types)
    elif np_ > 1:
        maxima, outputs = receive_cycles(4 * bb * qb * np_), receive_cycles(bb * qb * vp * psize)
        total += maxima + outputs + 3 * machine.phase_overhead
        total += cycles("reduce_partials", np_, bb * ceil_div(qb, np_) * vp, dtypes=(partial, "f32"))
    return int(total)


@dataclass(frozen=True)
class Layouts:
    """
    Storage axes: q (b, m, d), k (b, n, d), v (b, e, n), scores (b, m, n), the rest with a leading axis of key
    parts.
    """

    q: Layout
    k: Layout
    v: Layout
    scores: Layout
    maxima: Layout
    all_maxima: Layout
    row: Layout
    sums: Layout
    partial: Layout
    arrived: Layout
    arrived_sums: Layout
    result: Layout
    result_row: Layout


Digits = tuple[tuple[int, int], ...]


def tile_digits(shape: Shape, grid: tuple[int, ...]) -> tuple[Digits, Digits, Digits]:
    """
    Where the parts of the batch, the queries and the keys lie, as (count, tile stride) digits, outer to
    inner.

    Tiles 2t and 2t + 1 share a bus and get what both want at twice the rate: keys and values if they are two
    parts of the queries, queries if they are two parts of the keys.
    """
    bp, qp, np_ = used_grid(shape, grid)
    _, qb, nb = blocks(shape, grid)
    queries, keys = qb * shape.depth, nb * (shape.depth + shape.value_depth)
    batch = ((bp, qp * np_),)
    if qp % 2 == 0 and (keys > queries or np_ % 2):
        return batch, ((qp // 2, 2 * np_), (2, 1)), ((np_, 2),)
    return batch, ((qp, np_),), ((np_, 1),)


def layouts(shape: Shape, grid: tuple[int, ...], machine: Machine) -> Layouts:
    _, _, np_ = used_grid(shape, grid)
    bb, qb, nb = blocks(shape, grid)
    batch, by_query, by_key = tile_digits(shape, grid)
    tiles = machine.tiles
    d_pass, n_pass = product(shape.score_kernel).inputs, product(shape.output_kernel).inputs
    b_axis, m_axis = Axis(shape.b, splits(bb, batch)), Axis(shape.queries, splits(qb, by_query))
    n_split = splits(nb, by_key)
    interleaved = WEIGHT_MEMORY
    out_memory = machine.family.kernel(shape.score_kernel).outs[0].memory
    wide = ((0, 0), (1, 0), (2, 0), (1, 1), (2, 1))
    panel = ((0, 0), (2, 0), (1, 0), (2, 1))
    q = Layout((b_axis, m_axis, Axis(shape.depth, (), (d_pass,))), panel, replicas(*by_key), 0, tiles)
    k = Layout(
        (b_axis, Axis(shape.keys, n_split, (COLUMNS,)), Axis(shape.depth, (), (d_pass,))),
        wide,
        replicas(*by_query),
        0,
        tiles,
        interleaved,
    )
    # keys of V complete the last word: whoever computes V transposed has the lane, and its probability is
    # zero (so that it may hold any finite number: `finite_lanes` of the operator)
    v_keys = round_up(shape.keys, max(1, 4 // itemsize(shape.dtype)))
    v = Layout(
        (b_axis, Axis(shape.value_depth, (), (COLUMNS,)), Axis(v_keys, n_split, (n_pass,))),
        wide,
        replicas(*by_query),
        0,
        tiles,
        interleaved,
    )
    scores = Layout((b_axis, m_axis, Axis(shape.keys, n_split, (COLUMNS,))), panel, (), 0, tiles, out_memory)
    p_axis, p_local = Axis(np_, splits(1, by_key)), Axis(np_)
    maxima = Layout((p_axis, b_axis, m_axis), ((0, 0), (1, 0), (2, 0)), (), 0, tiles)
    spread = replicas(*by_key)
    all_maxima = Layout((p_local, b_axis, m_axis), ((0, 0), (1, 0), (2, 0)), spread, 0, tiles)
    row = Layout((b_axis, m_axis), ((0, 0), (1, 0)), spread, 0, tiles)
    e_axis = Axis(shape.value_depth, (), (COLUMNS,))
    parts = ((0, 0), (1, 0), (3, 0), (2, 0), (3, 1))
    partial = Layout((p_axis, b_axis, m_axis, e_axis), parts, (), 0, tiles, out_memory)
    owner = m_axis
    if np_ > 1:
        owner = Axis(shape.queries, (*m_axis.splits, *splits(ceil_div(qb, np_), by_key)))
    arrived = Layout((p_local, b_axis, owner, e_axis), parts, (), 0, tiles)
    arrived_sums = Layout((p_local, b_axis, owner), ((0, 0), (1, 0), (2, 0)), (), 0, tiles)
    # Rows of a head one after another: whoever takes several heads side by side cuts them at other columns.
    whole = shape.value_depth % ROW_COLUMNS == 0
    rows = ((0, 0), (1, 0), (2, 0)) if whole else panel
    result = Layout((b_axis, owner, Axis(shape.value_depth) if whole else e_axis), rows, (), 0, tiles)
    result_row = Layout((b_axis, owner), ((0, 0), (1, 0)), (), 0, tiles)
    return Layouts(
        q, k, v, scores, maxima, all_maxima, row, maxima, partial, arrived, arrived_sums, result, result_row
    )


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> AttentionRecord:
    shape = canonical(operator)
    return AttentionRecord(grid_of_keys(shape, operands[1], machine) or choose_grid(shape, machine))


def grid_of_keys(shape: Shape, keys: Value | None, machine: Machine) -> tuple[int, int, int] | None:
    """The score grid that reads keys where they lie, if they lie as `still_targets` wants them."""
    if keys is None or keys.layout.memory != WEIGHT_MEMORY:
        return None
    grid = still_grid(shape, machine)
    where = layouts(shape, grid, machine).k, batch_view(shape.batch, shape.keys, shape.depth)
    return grid if where == (keys.layout, keys.view) else None


def still_targets(operator: Operator, machine: Machine) -> tuple[Target, Target]:
    """Where keys and values lie best that stay where they are from one run of an attention to the next."""
    shape = canonical(operator)
    where = layouts(shape, still_grid(shape, machine), machine)
    return (
        (where.k, batch_view(shape.batch, shape.keys, shape.depth)),
        (where.v, swap_last(batch_view(shape.batch, shape.value_depth, shape.keys))),
    )


CANDIDATES = 24
"""Score grids that are worth a closer look."""


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> Iterator[AttentionRecord]:
    """The cheapest score grids by the closed form."""
    for grid in ranked_grids(canonical(operator), machine)[:CANDIDATES]:
        yield AttentionRecord(grid)


def check_record(operator: Operator, record: AttentionRecord, machine: Machine) -> None:
    check_parts(operator, record.grid, ("batch", "queries", "keys"))
    check_fits(operator, record.grid, used_grid(canonical(operator), record.grid), machine)


def operand_targets(
    operator: Operator, record: AttentionRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    check_record(operator, record, machine)
    return shape_targets(canonical(operator), record, machine)


def shape_targets(shape: Shape, record: AttentionRecord, machine: Machine) -> tuple[Target | None, ...]:
    """Where the operands of an attention of this shape are wanted."""
    where = layouts(shape, record.grid, machine)
    return (
        (where.q, shape.view(shape.depth)),
        (where.k, batch_view(shape.batch, shape.keys, shape.depth)),
        (where.v, swap_last(batch_view(shape.batch, shape.value_depth, shape.keys))),
        *(() if shape.mask is None else (None,)),
    )


def mask_place(
    shape: Shape, grid: tuple[int, ...], machine: Machine
) -> tuple[Layout, View, dict[str, int], tuple[int, ...]]:
    """
    Where the mask is added: layout, view of the mask broadcast over the batch (b, m, n), its kernel axes,
    and that shape.

    A mask that is the same for all queries (of all heads that share keys) lies once beside every block of
    them.
    """
    assert shape.mask is not None
    where = layouts(shape, grid, machine).scores
    b_axis, m_axis, n_axis = where.axes
    n_axis = dataclasses.replace(n_axis, panels=())
    own_heads = shape.group > 1 and shape.mask[-3] != 1
    if shape.mask[-2] != 1 or shape.queries == 1 or own_heads:
        layout = Layout((b_axis, m_axis, n_axis), ((0, 0), (1, 0), (2, 0)), (), where.base, where.tiles)
        view = shape.view(shape.keys)
        return layout, view, {"b": 0, "m": 1, "n": 2}, view.shape
    _, by_query, _ = tile_digits(shape, grid)
    layout = Layout((b_axis, n_axis), ((0, 0), (1, 0)), replicas(*by_query), where.base, where.tiles)
    return layout, batch_view(shape.batch, shape.keys), {"b": 0, "m": -1, "n": 1}, (*shape.batch, shape.keys)


def mask_source(value: Value, full: tuple[int, ...], drop: bool) -> View | None:
    """The mask as it is stored, seen in the shape it is wanted in: without its axis of queries if `drop`."""
    view: View | None = value.view
    if drop:
        view = view.reshape((*value.shape[:-2], value.shape[-1])) if view is not None else None
    if view is None:
        return None
    return view.broadcast(full, tuple(range(len(full) - len(view.shape), len(full))))


def expand(
    operator: Operator, record: AttentionRecord, operands: tuple[Value, ...], machine: Machine
) -> Stages:
    """Scores, probabilities and outputs of every block; partial results of key parts are added up."""
    check_record(operator, record, machine)
    return Expansion(operator, record, operands, machine).stages()


SCORES = {"b": 0, "m": 1, "n": 2}
_LEFT = {"b": 0, "m": 1, "k": 2}
_RIGHT = {"b": 0, "n": 1, "k": 2}
PART_ROWS = {"b": 1, "m": 2}
"""Storage axes of operands: rows of one key part have the part in front."""
PART_BLOCK = {"b": 1, "m": 2, "n": 3}
_ROWS = {"b": 0, "m": 1}

Operand = tuple[str, dict[str, int]]
"""A buffer, and its storage axis for each kernel axis."""


class Expansion:
    """The stages of one attention, in the order in which a tile goes through them."""

    def __init__(
        self,
        operator: Operator,
        record: AttentionRecord,
        operands: tuple[Value, ...],
        machine: Machine,
        shape: Shape | None = None,
    ) -> None:
        self.operator = operator
        self.record = record
        self.machine = machine
        self.shape = shape or canonical(operator)
        self.where = layouts(self.shape, record.grid, machine)
        self.parts = used_grid(self.shape, record.grid)[2]
        self.builder = Builder(operator, operands, machine)
        self.constants: dict[str, np.ndarray] = {}
        self.band_operands = self.band()

    def band(self) -> list[Operand]:
        """The numbers of each block's first query and first key, if a query does not see all keys."""
        shape, grid = self.shape, self.record.grid
        if shape.band is None:
            return []
        _, qp, np_ = used_grid(shape, grid)
        _, qb, nb = blocks(shape, grid)
        batch, by_query, by_key = tile_digits(shape, grid)
        for name, count, block, own, other in (
            ("first_query", qp, qb, by_query, by_key),
            ("first_key", np_, nb, by_key, by_query),
        ):
            axis = Axis(count, splits(1, own))
            layout = Layout((axis,), ((0, 0),), replicas(*batch, *other), 0, self.machine.tiles)
            self.builder.add_buffer(name, layout, "i32", "parameters")
            self.constants[name] = np.arange(count, dtype=np.int32) * block
        return [("first_query", {"i": 0}), ("first_key", {"j": 0})]

    def band_scalars(self) -> dict[str, int]:
        band = self.shape.band
        if band is None:
            return {}
        return {"rows": self.shape.rows, "offset": band.offset, "before": band.before, "after": band.after}

    def stages(self) -> Stages:
        q, k, v, mask = self.operands()
        scores, scale = self.scores(q, k, mask)
        probabilities, sums = self.probabilities(scores, self.extremum(scores, scale), scale)
        outputs = self.outputs(probabilities, v)
        if self.parts == 1:
            self.divide((outputs, PART_BLOCK), (sums, PART_ROWS), self.where.sums)
        else:
            total, row_sum = self.reduced(outputs, sums)
            self.divide((total, SCORES), (row_sum, _ROWS), self.where.result_row)
        return self.finish()

    def finish(self) -> Stages:
        """All that was added; the buffer of the result is called so."""
        shape = self.shape
        return dataclasses.replace(
            self.builder.finish(("result", shape.view(shape.value_depth))), constants=self.constants
        )

    def operands(self) -> tuple[str, str, str, Operand | None]:
        """q, k, v and the mask (if there is one), brought to where the blocks want them in one phase."""
        operator, builder = self.operator, self.builder
        targets = shape_targets(self.shape, self.record, self.machine)[:3]
        sources = [self.source(i, target) for i, target in enumerate(targets) if target is not None]
        mask_axes: dict[str, int] = {}
        if self.shape.mask is not None:
            layout, view, mask_axes, full = mask_place(self.shape, self.record.grid, self.machine)
            source = mask_source(builder.operands[3], full, mask_axes["m"] == -1)
            if source is None:
                raise operator.error(
                    "the mask's layout cannot be broadcast", hint="give it the shape of the scores"
                )
            sources.append(("in3", source, (layout, view)))
        q, k, v, *mask = builder.convert(
            sources,
            ["q", "k", "v", "mask"][: len(sources)],
            "attention operands",
            zero_pad=True,
            finite_lanes=self.finite_lanes,
            pad_words=self.pad_words(),
        )
        return q, k, v, (mask[0], mask_axes) if mask else None

    def pad_words(self) -> dict[str, dict[int, int]]:
        """What the padding of operands repeats instead of zero (`Builder.convert`)."""
        return {}

    @property
    def finite_lanes(self) -> bool:
        """Whether what lies beside the operands' elements may come along (`Builder.convert`)."""
        return bool(self.operator.attributes.get("finite_lanes", False))

    def source(self, number: int, target: Target) -> tuple[str, View, Target]:
        """What is moved to be operand `number` at `target`."""
        return self.widened(number), self.builder.operands[number].view, target

    def widened(self, number: int) -> str:
        """Operand `number` as the kernels read it: FP8 that is added up in f32 is widened to f16."""
        value, dtype = self.builder.operands[number], self.shape.dtype
        if value.dtype == dtype:
            return f"in{number}"
        wide = self.builder.add_buffer(f"wide{number}", value.layout, dtype)
        self.builder.elementwise("cast", f"in{number}", wide, "operand in the kernel's format", scale=0)
        return wide

    def scores(self, q: str, k: str, mask: Operand | None) -> tuple[str, float]:
        """q k^T of every block, the mask added, and the scale that they do not have yet."""
        builder, shape, layout = self.builder, self.shape, self.where.scores
        dtype = product(shape.score_kernel).partial
        scores = builder.add_buffer("scores", layout, dtype)
        builder.compute(
            shape.score_kernel, "bmnk", [(q, _LEFT), (k, _RIGHT)], [(scores, SCORES)], "q k^T", scale=0
        )
        if mask is None:
            return scores, shape.scale
        masked = builder.add_buffer("masked", dataclasses.replace(layout, memory="any"), dtype)
        after: dict[str, float] = {"scale": shape.scale} if shape.mask_after or shape.boolean_mask else {}
        builder.compute(
            shape.mask_kernel,
            "bmn",
            [(scores, SCORES), mask],
            [(masked, SCORES)],
            {"scaled_add": "scale and add the mask"}.get(shape.mask_kernel, "the mask"),
            **after,
        )
        return masked, 1.0 if shape.mask_after else shape.scale

    def extremum(self, scores: str, scale: float) -> Operand:
        """The maximum of every row over all key parts: of scale * s where scale turns the order around."""
        builder, where = self.builder, self.where
        kernel_name, what = ("reduce.max", "row maxima") if scale >= 0 else ("reduce.min", "row minima")
        maxima = builder.add_buffer("maxima", where.maxima, "f32", "partials")
        if self.band_operands:
            builder.compute(
                kernel_name.replace("reduce", "band"),
                "bmnij",
                [(scores, SCORES), *self.band_operands],
                [(maxima, PART_ROWS)],
                f"{what} of the keys seen",
                **self.band_scalars(),
            )
        else:
            builder.compute(kernel_name, "bmn", [(scores, SCORES)], [(maxima, PART_ROWS)], what, reduced=1)
        if self.parts == 1:
            return maxima, PART_ROWS
        gathered = builder.add_buffer("all_maxima", where.all_maxima, "f32", "partials")
        every = View.identity((self.parts, self.shape.b, self.shape.queries))
        builder.gather_into([(maxima, every, every)], gathered, f"{what} of the key parts")
        row = builder.add_buffer("row_max", where.row, "f32")
        builder.compute(
            kernel_name, "bmp", [(gathered, {**PART_ROWS, "p": 0})], [(row, _ROWS)], what, reduced=1
        )
        return row, _ROWS

    def probabilities(self, scores: str, row: Operand, scale: float) -> tuple[str, str]:
        """exp(s - max) and the sums of its rows."""
        builder = self.builder
        p = self.probability_buffer()
        sums = builder.add_buffer("sums", self.where.sums, "f32", "partials")
        builder.compute(
            "band.exp" if self.band_operands else "softmax.exp",
            "bmnij" if self.band_operands else "bmn",
            [(scores, SCORES), row, *self.band_operands],
            [(p, SCORES), (sums, PART_ROWS)],
            "exp(s - max)",
            scale=scale,
            **self.band_scalars(),
            **empty_rows(self.operator, "zero"),
        )
        return p, sums

    def probability_buffer(self) -> str:
        """
        Where probabilities go: the left operand of the second product, in panels as wide as a pass of its
        kernel, padding zero.
        """
        builder, shape, layout = self.builder, self.shape, self.where.scores
        *outer, keys = layout.axes
        keys = dataclasses.replace(keys, panels=(product(shape.output_kernel).inputs,))
        left = dataclasses.replace(layout, axes=(*outer, keys), memory="any")
        p = builder.add_buffer("p", left, shape.dtype)
        builder.fill_padding(p, "padding keys have probability zero")
        return p

    def outputs(self, probabilities: str, v: str) -> str:
        """p v of every block, not yet divided by the sums."""
        builder, name = self.builder, self.shape.output_kernel
        outputs = builder.add_buffer("outputs", self.where.partial, product(name).partial, "partials")
        builder.compute(
            name, "bmnk", [(probabilities, _LEFT), (v, _RIGHT)], [(outputs, PART_BLOCK)], "p v", scale=0
        )
        return outputs

    def reduced(self, outputs: str, sums: str) -> tuple[str, str]:
        """Outputs and sums of all key parts added up, by the owners of the result."""
        builder, shape, where, parts = self.builder, self.shape, self.where, self.parts
        partial_type = product(shape.output_kernel).partial
        arrived = builder.add_buffer("arrived", where.arrived, partial_type, "partials")
        arrived_sums = builder.add_buffer("arrived_sums", where.arrived_sums, "f32", "partials")
        blocks_ = View.identity((parts, shape.b, shape.queries, shape.value_depth))
        rows = View.identity((parts, shape.b, shape.queries))
        builder.gather_each(
            [([(outputs, blocks_, blocks_)], arrived), ([(sums, rows, rows)], arrived_sums)],
            "outputs and sums of the key parts",
        )
        total = builder.add_buffer("output", where.result, "f32")
        builder.compute(
            "reduce_partials",
            "pbmn",
            [(arrived, {"p": 0, **PART_BLOCK})],
            [(total, SCORES)],
            f"add {parts} partial outputs",
        )
        row_sum = builder.add_buffer("row_sum", where.result_row, "f32")
        builder.compute(
            "reduce_partials",
            "pbm",
            [(arrived_sums, {"p": 0, **PART_ROWS})],
            [(row_sum, _ROWS)],
            f"add {parts} partial sums",
        )
        return total, row_sum

    def divide(self, outputs: Operand, sums: Operand, rows: Layout) -> None:
        """The result: outputs divided by the sums of their rows, which lie as `rows`."""
        builder, shape = self.builder, self.shape
        _, axes = sums
        inverse = builder.add_buffer("inverse", rows, "f32")
        builder.compute("pointwise.reciprocal", "bm", [sums], [(inverse, axes)], "one over the sums")
        builder.add_buffer("result", self.where.result, shape.result_dtype, "activations")
        builder.compute(
            "pointwise.mul",
            "bmn",
            [outputs, (inverse, {**axes, "n": -1})],
            [("result", SCORES)],
            "divide by the sums",
            **self.operator.saturation,
        )


SCORE_GRID = Strategy(
    "score_grid",
    ("attention",),
    AttentionRecord,
    default=default_record,
    candidates=candidates,
    targets=operand_targets,
    expand=expand,
)
STRATEGIES = (SCORE_GRID,)
