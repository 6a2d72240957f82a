# SPDX-License-Identifier: Apache-2.0
"""
Matrix multiplication: a 3-D grid of tiles (m, n, k parts) with the partial products of the k parts reduced
by their owners.

Every tile multiplies a block [m, k] by a block [k, n]; tiles that differ in k only hold partial sums of the
same block, exchange them (reduce-scatter over rows of the block, or over columns where rows are too few) and
add them up. The reduction can leave the result in the small blocks of rows that streams of residuals are kept
in (`target`), and takes the addends of the product as further terms: the first whole one where it lies, or
else a vector, and the others behind the partials. With `swap` the two operands change roles, so the product
leaves the matrix unit transposed: rows of the right operand are streamed and the result's m axis becomes the
innermost one. Both roles read the same
bytes: panels have k innermost.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import COLUMNS, WEIGHT_MEMORY, product
from tilewright.planning.exchange.copies import choose_move
from tilewright.planning.exchange.estimate import pair_receive_cycles, receive_cycles
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.planning.operators.base import Operator, Record, Surroundings, ceil_div, round_up
from tilewright.planning.operators.blocks import block_layout
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.pointwise import broadcast_target, kept_axes
from tilewright.planning.operators.strategy import Strategy
from tilewright.planning.operators.targets import Target
from tilewright.planning.stages import PlanError, Stages, Value

FNUZ = ("f8E4M3FNUZ", "f8E5M2FNUZ")
PARTS, BLOCKS = "parts", "blocks"
OCP = {"f8E4M3FN": "f8E4M3FNUZ", "f8E5M2": "f8E5M2FNUZ"}


@dataclass(frozen=True)
class MatmulRecord(Record):
    """
    Parts of the batch, the streamed rows (m), the panel columns (n) and the contraction (k), after the swap.
    """

    grid: tuple[int, ...] = (1, 1, 1, 1)
    swap: bool = False
    share: int = 1
    """
    Neighbouring column blocks whose result is owned in common: wider column blocks of fewer rows on each
    owner.
    """
    base: int = 0
    """First tile of the grid: products on separate tiles run side by side."""
    batch: int = 1
    """With `swap`: equal parts of the left operand's rows, each a product of its own with the right one."""
    word: int = 0
    """Elements that a row of the result is completed to a multiple of; at least those of its own words."""
    target: str = PARTS
    """
    Where the reduction leaves the result: "parts", with the tiles that have partials of it, or "blocks" of
    rows over all tiles (`block_layout`).
    """


@dataclass(frozen=True)
class Shape:
    """
    One matmul in the machine's terms: b batches of m rows x n columns x k, after the swap.

    A leading axis that only one operand has counts as rows (of the left one) or columns (of the right one):
    the other operand is the same for all of it, and is held once. `leading` says for every leading axis of
    the result which of (b, m, n) it belongs to; all are batch axes where it is empty.
    """

    batch: tuple[int, ...]  # extents of the leading axes of the result
    m: int
    n: int
    k: int
    kernel: str
    operand_dtype: tuple[str, str]  # as the kernel reads them (left, right before the swap)
    scale: int
    result_dtype: str
    leading: tuple[int, ...] = ()
    word: int = 0  # elements that rows are completed to
    shared: bool = False  # the streamed operand is one for all batches
    lanes: bool = False  # lanes of zeros complete the contraction to whole words of the narrowest type

    @property
    def b(self) -> int:
        return self.outer(0)

    def outer(self, kind: int) -> int:
        """Elements of the leading axes that belong to b (0), m (1) or n (2)."""
        kinds = self.leading or (0,) * len(self.batch)
        return math.prod(n for n, own in zip(self.batch, kinds, strict=True) if own == kind)

    def view(self, *last: tuple[int, int, int]) -> View:
        """
        (leading axes, two last axes) onto three storage axes; each last axis is (extent, storage axis, b 0,
        m 1, n 2 or k 3). A leading axis that belongs to none of them has extent 1.
        """
        at = {0: 0, **{kind: axis for _, axis, kind in last}}
        stride = {0: 1, **{kind: extent for extent, _, kind in last}}
        shape: list[int] = []
        digits: list[tuple[tuple[int, int, int], ...]] = []
        kinds = self.leading or (0,) * len(self.batch)
        for extent, kind in zip(reversed(self.batch), reversed(kinds), strict=True):
            here = extent if kind in at else 1
            shape.append(here)
            digits.append(((here, at.get(kind, -1), stride.get(kind, 0)),))
            stride[kind] = stride.get(kind, 0) * extent
        shape.reverse()
        digits.reverse()
        return View(
            (*shape, *(extent for extent, _, _ in last)),
            (*digits, *(((extent, axis, 1),) for extent, axis, _ in last)),
            (0, 0, 0),
        )

    @property
    def left(self) -> View:
        """The left operand [.., m, k] onto (b, m, k)."""
        return self.view((self.m // self.outer(1), 1, 1), (self.k, 2, 3))

    @property
    def right(self) -> View:
        """The right operand [.., n, k] onto (b, n, k)."""
        return self.view((self.n // self.outer(2), 1, 2), (self.k, 2, 3))

    @property
    def product(self) -> View:
        """The result [.., m, n] onto (b, m, n)."""
        return self.view((self.m // self.outer(1), 1, 1), (self.n // self.outer(2), 2, 2))

    @property
    def inputs(self) -> int:
        return product(self.kernel).inputs

    @property
    def partial(self) -> str:
        return product(self.kernel).partial


def choose_kernel(
    operator: Operator, a: str, b: str, accumulate: str | None
) -> tuple[str, tuple[str, str], int]:
    """
    The matrix kernel for two element types, the types it reads, and the exponent that a reinterpretation
    adds.

    OCP FP8 values are twice the FNUZ value of the same code, so they are converted exactly with scale +1
    each.
    """
    exponent = sum(1 for t in (a, b) if t in OCP)
    fa, fb = OCP.get(a, a), OCP.get(b, b)
    if fa in FNUZ and fb in FNUZ:
        if accumulate == "f32":  # the unit accumulates FP8 in f16 only: widen exactly to f16 operands
            return "gemm.f16.f32", ("f16", "f16"), 0
        return "gemm.f8", (fa, fb), exponent
    if a == b == "f16":
        return ("gemm.f16.f16" if accumulate == "f16" else "gemm.f16.f32"), (a, b), 0
    if {a, b} <= {"f16", *FNUZ, *OCP}:
        return "gemm.f16.f32" if accumulate != "f16" else "gemm.f16.f16", ("f16", "f16"), 0
    if a == b == "f32":
        return "gemm.f32", (a, b), 0
    if a == b == "bf16":
        return "gemm.bf16", (a, b), 0
    if a == b == "i8":
        return "gemm.i8", (a, b), 0
    raise operator.error(
        f"no matrix kernel multiplies {a} by {b}", hint="cast the operands to one of f8, f16, f32, bf16 or i8"
    )


def cast_exponent(source: str, dtype: str) -> int:
    """The scale of the cast of an operand to the kernel's type: OCP FP8 becomes FNUZ at half its value."""
    return 1 if source in OCP and dtype in FNUZ else 0


def accumulation(operator: Operator) -> str | None:
    """The type of the running sum as the operator defines it: FP8 products with an f32 result add in f32."""
    accumulate = operator.attributes.get("accumulate")
    if accumulate is None and operator.result_dtype == "f32":
        return "f32"
    return accumulate


def canonical(operator: Operator) -> Shape:
    """The unswapped shape of a matmul operator."""
    (sa, da), (sb, db) = operator.operand_types[:2]
    attrs = operator.attributes
    m, k = (sa[-1], sa[-2]) if attrs.get("transpose_a") else (sa[-2], sa[-1])
    n = sb[-2] if attrs.get("transpose_b") else sb[-1]
    name, dtypes, exponent = choose_kernel(operator, da, db, accumulation(operator))
    scale = int(attrs.get("scale", 0)) + exponent
    batch, kinds = _leading(sa[:-2], sb[:-2])
    shape = Shape(batch, m, n, k, name, dtypes, scale, operator.result_dtype, kinds)
    return dataclasses.replace(shape, m=m * shape.outer(1), n=n * shape.outer(2))


def _leading(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The leading axes of a product, and which of b, m and n each belongs to (empty: all to b)."""
    rank = max(len(left), len(right))
    left, right = (1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right
    kinds = tuple(0 if a == b else 1 if b == 1 else 2 for a, b in zip(left, right, strict=True))
    batch = tuple(b if a == 1 else a for a, b in zip(left, right, strict=True))
    return batch, kinds if any(kinds) else ()


def swapped(shape: Shape, swap: bool) -> Shape:
    if not swap:
        return shape
    a, b = shape.operand_dtype
    return dataclasses.replace(
        shape,
        m=shape.n,
        n=shape.m,
        operand_dtype=(b, a),
        leading=tuple((0, 2, 1)[kind] for kind in shape.leading),
    )


def shape_of(operator: Operator, record: MatmulRecord) -> Shape:
    """The product that a record computes."""
    shape = dataclasses.replace(
        swapped(canonical(operator), record.swap),
        word=record.word,
        lanes=bool(operator.attributes.get("zero_lanes", False)),
    )
    if record.batch == 1:
        return shape
    if record.batch < 1 or not record.swap or shape.batch or shape.n % record.batch:
        raise operator.error(
            f"batch {record.batch} does not divide the {shape.n} rows of a swapped product of two axes",
            hint="use batch 1",
        )
    return dataclasses.replace(shape, batch=(record.batch,), n=shape.n // record.batch, shared=True)


def blocks(shape: Shape, grid: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Batch, row, column and contraction block of a tile: columns and contraction in whole panels."""
    bp, mp, np_, kp = grid
    return (
        ceil_div(shape.b, bp),
        ceil_div(shape.m, mp),
        round_up(ceil_div(shape.n, np_), COLUMNS),
        round_up(ceil_div(shape.k, kp), shape.inputs),
    )


def used_grid(shape: Shape, grid: tuple[int, ...]) -> tuple[int, int, int, int]:
    """The grid without parts that own nothing."""
    bb, mb, nb, kb = blocks(shape, grid)
    return ceil_div(shape.b, bb), ceil_div(shape.m, mb), ceil_div(shape.n, nb), ceil_div(shape.k, kb)


@dataclass(frozen=True, eq=False)
class Grids:
    """
    Candidate grids of one matmul: parts int64 (grids, 4) of (b, m, n, k), tiles used and closed-form cycles
    (grids,).
    """

    parts: np.ndarray
    tiles: np.ndarray
    cycles: np.ndarray

    def best(self, tiles: int) -> int:
        """The index of the cheapest grid on at most `tiles` tiles."""
        return int(np.argmin(np.where(self.tiles <= tiles, self.cycles, np.iinfo(np.int64).max)))

    def fewest(self, cycles: int) -> int:
        """The fewest tiles with which no more than `cycles` are needed; a huge number if none does."""
        return int(np.where(self.cycles <= cycles, self.tiles, 1 << 40).min())


@lru_cache(maxsize=256)
def grids(shape: Shape, machine: Machine) -> Grids:
    """
    All grids that differ in their blocks, with their cycles: matrix kernel, operand and partial exchange,
    reduction.

    Exchange is receive-bound: the bytes of both blocks, or one control per panel row where rows are short.
    """
    tiles = machine.tiles
    bp = min(shape.b, tiles)
    per = tiles // bp
    bb = ceil_div(shape.b, bp)
    m_parts = _distinct_parts(shape.m, min(per, shape.m), 1)
    n_parts = _distinct_parts(shape.n, min(per, ceil_div(shape.n, COLUMNS)), COLUMNS)
    k_parts = _distinct_parts(shape.k, min(per, ceil_div(shape.k, shape.inputs), 48), shape.inputs)
    mp, np_, kp = (g.ravel() for g in np.meshgrid(m_parts, n_parts, k_parts, indexing="ij"))
    fits = mp * np_ * kp <= per
    mp, np_, kp = mp[fits], np_[fits], kp[fits]
    mb = -(-shape.m // mp)
    n_part, k_part = -(-shape.n // np_), -(-shape.k // kp)
    nb = -(-n_part // COLUMNS) * COLUMNS
    kb = -(-k_part // shape.inputs) * shape.inputs
    size, partial = itemsize(shape.operand_dtype[0]), itemsize(shape.partial)
    gemm = machine.family.kernel(shape.kernel).cycles(
        machine,
        np.stack([np.full_like(mb, bb), mb, nb, kb], axis=1),
        (*shape.operand_dtype, shape.partial),
        {},
    )
    received = pair_receive_cycles(
        mb,
        nb,
        same_first=np_ % 2 == 0,  # as `tile_order` lays them
        same_second=mp % 2 == 0,
        nbytes=bb * kb * size,
        messages=bb * mb * (kb // shape.inputs) + bb * (nb // COLUMNS),
    )
    reduced = np.where(kp > 1, receive_cycles(bb * mb * nb * partial) + machine.phase_overhead, 0)
    rows = -(-mb // kp)
    adds = machine.family.kernel("reduce_partials.wide").cycles(
        machine, np.stack([kp, bb * rows * nb], axis=1), (shape.partial, shape.result_dtype), {}
    )
    total = gemm + received + machine.phase_overhead + reduced + np.where(kp > 1, adds, 0)
    room = bb * ((mb + nb) * kb * size + 2 * mb * nb * partial)
    total = np.where(room <= machine.sram_bytes // 4, total, total + (1 << 30) + room)
    used = bp * -(-shape.m // mb) * -(-shape.n // nb) * -(-shape.k // kb)
    return Grids(np.stack([np.full_like(mp, bp), mp, np_, kp], axis=1), used, total)


def choose_grid(shape: Shape, machine: Machine, tiles: int = 0) -> tuple[int, int, int, int]:
    """The grid with the least closed-form cycles on at most `tiles` tiles (0: all of the machine)."""
    found = grids(shape, machine)
    bp, mp, np_, kp = (int(p) for p in found.parts[found.best(tiles or machine.tiles)])
    return bp, mp, np_, kp


def side_by_side(shapes: Sequence[Shape], machine: Machine) -> list[tuple[int, int]] | None:
    """
    Tiles (first, number) for matmuls that run at the same time, so that the slowest is as fast as can be;
    None if they do not fit beside each other. Ranges begin at even tiles: pairs of tiles share a bus.
    """
    candidates = [grids(shape, machine) for shape in shapes]
    limits = np.unique(np.concatenate([c.cycles for c in candidates]))

    def counts(cycles: int) -> list[int]:
        return [round_up(c.fewest(cycles), 2) for c in candidates]

    low, high = 0, len(limits) - 1
    if sum(counts(int(limits[high]))) > machine.tiles:
        return None
    while low < high:
        middle = (low + high) // 2
        if sum(counts(int(limits[middle]))) <= machine.tiles:
            high = middle
        else:
            low = middle + 1
    sizes = counts(int(limits[low]))
    return [(sum(sizes[:i]), size) for i, size in enumerate(sizes)]


def _distinct_parts(extent: int, limit: int, grain: int) -> np.ndarray:
    """Part counts that give different blocks (in whole grains), each the smallest count of its block."""
    grains = max(1, -(-extent // grain))
    counts = np.arange(1, max(1, min(limit, grains)) + 1)
    block = -(-grains // counts)
    return np.unique(-(-grains // block))


# -- layouts


@dataclass(frozen=True)
class Layouts:
    """Layouts of one grid. Storage axes: (b, m, k), (b, n, k), (p, b, m, n) and (b, m, n)."""

    a: Layout
    w: Layout
    partial: Layout
    arrived: Layout
    result: Layout


@dataclass(frozen=True)
class TileOrder:
    """
    Where the parts of a grid lie: for each of its axes (count, tile stride) digits of the part number, outer
    to inner.
    """

    b: tuple[tuple[int, int], ...]
    m: tuple[tuple[int, int], ...]
    n: tuple[tuple[int, int], ...]
    k: tuple[tuple[int, int], ...]


def tile_order(shape: Shape, grid: tuple[int, ...], share: int = 1) -> TileOrder:
    """
    The order of a grid over the tiles: batch, rows, columns, parts of the contraction next to each other, and
    inside of those pairs of column blocks or of row blocks.

    Tiles 2t and 2t + 1 share a bus and get what both want at twice the rate. The left operand is the same
    along n, the right one along m: pairs run along the axis on which the larger operand is the same, if its
    number of parts is even. Parts of the contraction stay close, because they exchange partial products all
    with all.
    """
    bp, mp, np_, kp = used_grid(shape, grid)
    _, mb, nb, _ = blocks(shape, grid)
    left = mb if np_ % 2 == 0 and (share == 1 or share % 2 == 0) else 0
    right = nb if mp % 2 == 0 else 0
    b = ((bp, mp * np_ * kp),)
    if left and left >= right:
        return TileOrder(b, ((mp, np_ * kp),), ((np_ // 2, 2 * kp), (2, 1)), ((kp, 2),))
    if right:
        return TileOrder(b, ((mp // 2, 2 * np_ * kp), (2, 1)), ((np_, 2 * kp),), ((kp, 2),))
    return TileOrder(b, ((mp, np_ * kp),), ((np_, kp),), ((kp, 1),))


def splits(block: int, digits: Sequence[tuple[int, int]]) -> tuple[Split, ...]:
    """An axis cut in blocks that lie on the tiles by these digits."""
    inner = [math.prod(count for count, _ in digits[i + 1 :]) for i in range(len(digits))]
    return tuple(Split(block * size, stride) for size, (_, stride) in zip(inner, digits, strict=True))


def layouts(shape: Shape, grid: tuple[int, ...], machine: Machine, share: int = 1, base: int = 0) -> Layouts:
    _, _, _, kp = used_grid(shape, grid)
    bb, mb, nb, kb = blocks(shape, grid)
    tiles, p = machine.tiles, shape.inputs
    where = tile_order(shape, grid, share)
    b_axis = Axis(shape.b, splits(bb, where.b))
    m_axis = Axis(shape.m, splits(mb, where.m))
    n_axis = Axis(shape.n, splits(nb, where.n), (COLUMNS,))
    k_axis = Axis(round_up(shape.k, PANEL_WORD) if shape.lanes else shape.k, splits(kb, where.k), (p,))
    one, copies = (Axis(1), (*where.b, *where.n)) if shape.shared else (b_axis, where.n)
    a = Layout((one, m_axis, k_axis), ((0, 0), (2, 0), (1, 0), (2, 1)), replicas(*copies), base, tiles)
    w = Layout(
        (b_axis, n_axis, k_axis),
        ((0, 0), (1, 0), (2, 0), (1, 1), (2, 1)),
        replicas(*where.m),
        base,
        tiles,
        WEIGHT_MEMORY,
    )
    # products keep whole words where rows end inside one: the unit writes whole panels, so the lanes exist
    n_stored = round_up(shape.n, word_elements(shape))
    n_axis = Axis(n_stored, n_axis.splits, (COLUMNS,))
    p_axis = Axis(kp, splits(1, where.k))
    order4 = ((0, 0), (1, 0), (3, 0), (2, 0), (3, 1))
    partial = Layout(
        (p_axis, b_axis, m_axis, n_axis),
        order4,
        (),
        base,
        tiles,
        machine.family.kernel(shape.kernel).outs[0].memory,
    )
    if kp == 1:
        one = Layout((b_axis, m_axis, n_axis), ((0, 0), (2, 0), (1, 0), (2, 1)), (), base, tiles)
        return Layouts(a, w, partial, partial, one)
    m_out, n_out = m_axis, n_axis
    if share > 1:
        rows = ceil_div(mb, kp * share)
        groups, members = _grouped(where.n, share)
        m_out = Axis(shape.m, (*m_axis.splits, *splits(share * rows, where.k), *splits(rows, members)))
        n_out = Axis(n_stored, splits(nb * share, groups), (COLUMNS,))
    elif mb >= kp:
        m_out = Axis(shape.m, (*m_axis.splits, *splits(ceil_div(mb, kp), where.k)))
    else:
        grain = max(1, 4 // itemsize(shape.partial), 4 // itemsize(shape.result_dtype))
        part = round_up(ceil_div(nb, kp), grain)
        part = round_up(part, COLUMNS) if part > COLUMNS else part
        n_out = Axis(
            n_stored, (*n_axis.splits, *splits(part, where.k)), (COLUMNS,) if part % COLUMNS == 0 else ()
        )
    order = ((0, 0), (2, 0), (1, 0), (2, 1)) if n_out.panels else ((0, 0), (1, 0), (2, 0))
    result = Layout((b_axis, m_out, n_out), order, (), base, tiles)
    arrived = Layout(
        (Axis(kp), b_axis, m_out, n_out), ((0, 0), *((x + 1, level) for x, level in order)), (), base, tiles
    )
    return Layouts(a, w, partial, arrived, result)


def _grouped(
    digits: Sequence[tuple[int, int]], share: int
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """Digits of the groups of `share` neighbouring parts, and of the parts inside of a group."""
    groups: list[tuple[int, int]] = []
    members: list[tuple[int, int]] = []
    for count, stride in reversed(digits):
        inside = min(count, share)
        share //= inside
        if inside > 1:
            members.insert(0, (inside, stride))
        if count > inside:
            groups.insert(0, (count // inside, stride * inside))
    return tuple(groups), tuple(members)


def word_elements(shape: Shape) -> int:
    """Elements of the narrower of the product's types in a word, and what its readers complete rows to."""
    return max(1, shape.word, 4 // min(itemsize(shape.partial), itemsize(shape.result_dtype)))


def replicas(*pairs: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple((count, stride) for count, stride in pairs if count > 1)


def batch_view(batch: tuple[int, ...], *rest: int) -> View:
    """(*batch, *rest) onto storage axes (b, rest...): the batch axes merge, row-major."""
    shape = (*batch, *rest)
    digits: list[tuple[tuple[int, int, int], ...]] = []
    stride = math.prod(batch)
    for extent in batch:
        stride //= max(extent, 1)
        digits.append(((extent, 0, stride),))
    digits += [((extent, i + 1, 1),) for i, extent in enumerate(rest)]
    return View(shape, tuple(digits), (0,) * (1 + len(rest)))


def unbatched(view: View, shape: Shape) -> View:
    """A view (batch, n, rest) of batches that are parts of the rows, as (rows, rest)."""
    if not shape.shared:
        return view
    rows = view.reshape((shape.b * shape.n, view.shape[-1]))
    assert rows is not None
    return rows


def swap_last(view: View) -> View:
    rank = len(view.shape)
    result = view.transpose((*range(rank - 2), rank - 1, rank - 2))
    assert result is not None
    return result


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> MatmulRecord:
    found = wanted(near, near.transposed)
    shape = shape_of(operator, found)
    if not near.transposed and shape.n % 2 and itemsize(operator.result_dtype) == 2:
        found = dataclasses.replace(found, word=PANEL_WORD)  # there are lanes: enough for a cast to 8 bits
        shape = shape_of(operator, found)
    grid = choose_grid(shape, machine, near.tiles[1])
    target = PARTS if near.transposed else choose_target(operator, operands, machine)
    shares = target == PARTS and (not near.transposed or near.word == PANEL_WORD)
    share = choose_share(shape, grid) if shares else 1
    return dataclasses.replace(found, grid=grid, share=share, target=target)


PANEL_WORD = 4
"""8-bit elements of a word: their panels are as wide as two of the unit's."""


def wanted(near: Surroundings, swap: bool) -> MatmulRecord:
    """The fields of a record that follow from what is around the product."""
    if not swap or not near.transposed:
        return MatmulRecord(swap=swap, base=near.tiles[0])
    return MatmulRecord(swap=True, base=near.tiles[0], batch=near.batch, word=near.word)


def choose_target(operator: Operator, operands: tuple[Value | None, ...], machine: Machine) -> str:
    """Blocks of rows where the stream that is added lies in them, or lies nowhere yet."""
    blocks = block_layout(operator.result_shape, machine)
    own = first_addend(operator)
    if blocks is None or own is None or operator.operand_types[own][0] != operator.result_shape:
        return PARTS
    value = operands[own]
    return BLOCKS if value is None or (value.layout, value.view) == blocks else PARTS


def first_addend(operator: Operator) -> int | None:
    """The operand that a sum begins with: the first addend of the result's shape, else the first one."""
    shapes = [shape for shape, _ in operator.operand_types]
    whole = [i for i in range(2, len(shapes)) if shapes[i] == operator.result_shape]
    return whole[0] if whole else 2 if len(shapes) > 2 else None


def further_addends(operator: Operator) -> list[int]:
    """The operands that are added behind the partial products, in this order."""
    own = first_addend(operator)
    return [i for i in range(2, len(operator.operand_types)) if i != own]


CANDIDATES = 24
"""Grids of either orientation that are worth a closer look."""


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> Iterator[MatmulRecord]:
    """The default, then the cheapest grids by the closed form, of both orientations, with each share."""
    first = default_record(operator, operands, machine, near)
    yield first
    _, tiles = near.tiles
    for swap in (near.transposed, not near.transposed):
        fields = wanted(near, swap)
        shape = shape_of(operator, fields)
        found = grids(shape, machine)
        allowed = np.flatnonzero(found.tiles <= (tiles or machine.tiles))
        best = allowed[np.argsort(found.cycles[allowed], kind="stable")][:CANDIDATES]
        for parts in found.parts[best]:
            grid = (int(parts[0]), int(parts[1]), int(parts[2]), int(parts[3]))
            for share in sorted({1, choose_share(shape, grid)}):
                record = dataclasses.replace(fields, grid=grid, share=share)
                if record != first:
                    yield record
            if not swap and first.target == BLOCKS and (1, grid) != (first.share, first.grid):
                yield dataclasses.replace(fields, grid=grid, share=1, target=BLOCKS)


def choose_share(shape: Shape, grid: tuple[int, ...]) -> int:
    """
    Column blocks to own in common so that an owner's columns fill whole FP8 panels, where its rows allow it.
    """
    _, _, np_, kp = used_grid(shape, grid)
    _, mb, nb, _ = blocks(shape, grid)
    share = 2 if nb % 32 == 16 else 1
    return share if kp > 1 and np_ % share == 0 and mb >= kp * share else 1


def check_record(operator: Operator, record: MatmulRecord, machine: Machine) -> None:
    if len(record.grid) != 4 or any(part < 1 for part in record.grid):
        raise operator.error(f"grid {list(record.grid)} is not four positive parts (batch, m, n, k)")
    shape = shape_of(operator, record)
    parts = used_grid(shape, record.grid)
    if record.share < 1 or parts[2] % record.share or (record.share > 1 and parts[3] == 1):
        raise operator.error(
            f"share {record.share} does not divide the {parts[2]} column blocks in use, "
            "or there are no partials to reduce",
            hint="use share 1",
        )
    if record.target not in (PARTS, BLOCKS):
        raise operator.error(f"the target of a product is {PARTS} or {BLOCKS}, found {record.target!r}")
    if record.target == BLOCKS and (
        record.swap or record.share > 1 or block_layout(operator.result_shape, machine) is None
    ):
        raise operator.error(
            f"target {BLOCKS} is for products of two axes and whole panels, not swapped, with share 1",
            hint=f"use target {PARTS}",
        )
    used = math.prod(parts)
    if record.base < 0 or record.base + used > machine.tiles:
        raise operator.error(
            f"grid {list(record.grid)} needs {used} tiles from tile {record.base} on; "
            f"machine {machine.name} has {machine.tiles}",
            hint="lower one of the parts",
        )


def operand_targets(
    operator: Operator, record: MatmulRecord, operands: tuple[Value | None, ...], machine: Machine
) -> tuple[Target | None, ...]:
    """Where the two operands are wanted, as (layout, view of the operand's logical shape)."""
    check_record(operator, record, machine)
    shape = shape_of(operator, record)
    where = layouts(shape, record.grid, machine, record.share, record.base)
    left, right = (where.a, shape.left), (where.w, shape.right)
    if shape.shared:
        left, right = (where.a, batch_view((), shape.m, shape.k)), (where.w, unbatched(shape.right, shape))
    if record.swap:
        left, right = right, left
    attrs = operator.attributes
    left_view = swap_last(left[1]) if attrs.get("transpose_a") else left[1]
    right_view = right[1] if attrs.get("transpose_b") else swap_last(right[1])
    place = result_place(operator, record, machine)
    addends = [
        broadcast_target(*place, operator.operand_types[i][0], operator.result_shape)
        for i in range(2, len(operator.operand_types))
    ]
    for i in further_addends(operator):
        if len(operator.operand_types[i][0]) == 1:
            addends[i - 2] = None
    ranks = [len(operand) for operand, _ in operator.operand_types[:2]]
    return (left[0], _of_rank(left_view, ranks[0])), (right[0], _of_rank(right_view, ranks[1])), *addends


def _of_rank(view: View, rank: int) -> View:
    """The view without leading axes of one element that the operand does not have."""
    drop = len(view.shape) - rank
    return View(view.shape[drop:], view.digits[drop:], view.offsets) if drop else view


def result_place(operator: Operator, record: MatmulRecord, machine: Machine) -> Target:
    """Layout and view of the result, as the operator has it."""
    if record.target == BLOCKS:
        blocks = block_layout(operator.result_shape, machine)
        assert blocks is not None
        return blocks
    shape = shape_of(operator, record)
    layout = layouts(shape, record.grid, machine, record.share, record.base).result
    view = shape.product
    return layout, unbatched(swap_last(view), shape) if record.swap else view


def expand(operator: Operator, record: MatmulRecord, operands: tuple[Value, ...], machine: Machine) -> Stages:
    check_record(operator, record, machine)
    builder = Builder(operator, operands, machine)
    shape = canonical(operator)
    names = ["in0", "in1"]
    for i, dtype in enumerate(shape.operand_dtype):
        if (
            operands[i].dtype != dtype
        ):  # OCP formats become FNUZ at half the value; FP8 is widened exactly to f16
            cast = builder.add_buffer(f"cast{i}", operands[i].layout, dtype)
            exponent = cast_exponent(operands[i].dtype, dtype)
            builder.elementwise(
                "cast", names[i], cast, "operand in the kernel's format", scale=exponent, saturate=0
            )
            names[i] = cast
    targets = operand_targets(operator, record, operands, machine)
    own = first_addend(operator)
    names += [f"in{i}" for i in range(2, len(operands))]
    wanted = [0, 1] if own is None else [0, 1, own]
    found = builder.convert(
        [
            (names[i], operands[i].view, target)
            if (target := targets[i]) is not None
            else _in_full(builder, i, *result_place(operator, record, machine))
            for i in wanted
        ],
        ["left", "right", "addend"][: len(wanted)],
        f"{operator.name} operands",
        zero_pad=True,
        finite_lanes=shape_of(operator, record).lanes,
        loose=["addend"],
    )
    a, w = (found[1], found[0]) if record.swap else (found[0], found[1])
    shape = shape_of(operator, record)
    if own is None and record.target == PARTS:
        result, view = multiply(
            builder, shape, record.grid, a, w, operator.name, share=record.share, base=record.base
        )
        return builder.finish((result, unbatched(swap_last(view), shape) if record.swap else view))
    return _add_up(builder, record, shape, a, w, found[2] if own is not None else None)


def _add_up(builder: Builder, record: MatmulRecord, shape: Shape, a: str, w: str, own: str | None) -> Stages:
    """
    Matrix kernel and one sum: the first addend, the partial products, the further addends.

    Vectors that move in whole words arrive behind the partials, repeated for every row; what does not is
    added by a further call on the sum in f32.
    """
    operator, machine = builder.operator, builder.machine
    layout, view = result_place(operator, record, machine)
    where = layouts(shape, record.grid, machine, record.share, record.base)
    kp = used_grid(shape, record.grid)[3]
    partial = _products(builder, shape, where, kp, a, w, operator.name)
    scattered = kp > 1 or record.target == BLOCKS
    axes = _axes_of(layout)
    slots: list[tuple[str, View, View]] = []
    later: list[int] = []
    count = kp
    if scattered:
        room = Layout(
            (Axis(kp + len(further_addends(operator))), *layout.axes),
            ((0, 0), *((axis + 1, level) for axis, level in layout.order)),
            layout.replicas,
            layout.base,
            layout.tiles,
        )
        for i in further_addends(operator):
            slot = _slot(builder, i, shape, view, room, count)
            if slot is None:
                later.append(i)
            else:
                slots.append(slot)
                count += 1
        room = wide_partials(dataclasses.replace(room, axes=(Axis(count), *room.axes[1:])), shape, machine)
        summed = builder.add_buffer("arrived", room, shape.partial, "partials")
        stored = (kp, shape.b, shape.m, round_up(shape.n, word_elements(shape)))
        target = _behind(_stored_view(shape, record, layout), 0, kp)
        builder.gather_into(
            [(partial, View.identity(stored), target), *slots], summed, f"{operator.name} partials"
        )
        terms = {"p": 0, **{name: axis + 1 for name, axis in axes.items()}}
    else:
        later = further_addends(operator)
        summed, terms = partial, {"p": 0, **{name: axis + 1 for name, axis in axes.items()}}
    parts = f"add {count} partials" if count > 1 else "result type"
    sums = [(own, summed, terms, f"{operator.name}: {parts}")]
    for i in later:
        target = broadcast_target(layout, view, operator.operand_types[i][0], operator.result_shape)
        (name,) = builder.convert(
            [
                _in_full(builder, i, layout, view)
                if target is None
                else (f"in{i}", builder.operands[i].view, target)
            ],
            ["addend"],
            f"{operator.name} addend",
        )
        kept = _kept(layout, view, operator, i)
        sums.append((None, name, {"p": -1, **kept}, f"{operator.name}: addend"))
    running = own
    for number, (_, name, found, reason) in enumerate(sums):
        last = number == len(sums) - 1
        dtype, category = (operator.result_dtype, "activations") if last else ("f32", "staging")
        result = builder.add_buffer("result" if last else "sum", layout, dtype, category)
        ins: list[tuple[str, dict[str, int]]] = [(name, found)]
        scalars: dict[str, int] = dict(operator.saturation) if last else {}
        if running is not None:
            first = axes
            if number == 0 and (i := first_addend(operator)) is not None:
                first = _kept(layout, view, operator, i)
            if -1 in first.values():
                scalars["vector"] = 1
            ins.insert(0, (running, first))
        wide = builder.get(name).layout.memory == "interleaved" and scattered
        builder.compute(
            reducer(wide, running is not None), ("p", *axes), ins, [(result, axes)], reason, **scalars
        )
        running = result
    assert running is not None
    return builder.finish((running, view))


def wide_partials(room: Layout, shape: Shape, machine: Machine) -> Layout:
    """
    The room for partials (first axis), in memory that loads 16 bytes at once, where the machine has it and
    rows of panels make their distances whole.
    """
    inner = room.axes[room.order[-1][0]]
    size = inner.panels[-1] * itemsize(shape.partial) if inner.panels else 1
    if size % 16 or not any(region.name == "interleaved" for region in machine.regions):
        return room
    return dataclasses.replace(room, memory="interleaved")


def reducer(wide: bool, onto: bool) -> str:
    """The kernel that adds partials up: `wide` ones load 16 bytes at once, a first term may lie apart."""
    return (
        "reduce_partials"
        + {
            (False, False): "",
            (False, True): ".onto",
            (True, False): ".wide",
            (True, True): ".wide_onto",
        }[wide, onto]
    )


def _axes_of(layout: Layout) -> dict[str, int]:
    """Kernel axes of a result's storage axes."""
    return {f"x{i}": i for i in range(len(layout.axes))}


def _kept(layout: Layout, view: View, operator: Operator, index: int) -> dict[str, int]:
    """Kernel axes of an addend beside the result: the axes that a vector does not have are -1."""
    shape = operator.operand_types[index][0]
    if broadcast_target(layout, view, shape, operator.result_shape) is None:
        return _axes_of(layout)
    return kept_axes(layout, view, shape, operator.result_shape)


def _in_full(builder: Builder, index: int, layout: Layout, view: View) -> tuple[str, View, Target]:
    """A vector that is sent for every row."""
    source = builder.operands[index].view.broadcast(
        builder.operator.result_shape, (len(builder.operator.result_shape) - 1,)
    )
    assert source is not None
    return f"in{index}", source, (layout, view)


def _slot(
    builder: Builder, index: int, shape: Shape, view: View, room: Layout, place: int
) -> tuple[str, View, View] | None:
    """The move of a further addend to its place behind the partials; None where it cuts words."""
    value = builder.operands[index]
    if value.dtype != shape.partial or not view.is_bijection(room.shape[1:]):
        return None
    full = builder.operator.result_shape
    source = value.view.broadcast(full, tuple(range(len(full) - len(value.shape), len(full))))
    if source is None:
        return None
    target = _behind(view, place, 0)
    found = choose_move([(value.layout, source, target)], room, value.dtype)
    return (f"in{index}", source, target) if found.kind == "words" else None


def _behind(view: View, place: int, count: int) -> View:
    """A view of a result in a buffer of several: of one at `place`, or with `count` of them as first axis."""
    digits = tuple(
        tuple((size, axis if axis < 0 else axis + 1, stride) for size, axis, stride in ds)
        for ds in view.digits
    )
    if count:
        return View((count, *view.shape), (((count, 0, 1),), *digits), (0, *view.offsets))
    return View(view.shape, digits, (place, *view.offsets))


def _stored_view(shape: Shape, record: MatmulRecord, layout: Layout) -> View:
    """All that the unit wrote of a product, (b, m, n with its lanes), in the storage of the result."""
    if record.target == BLOCKS:
        return View((1, shape.m, shape.n), (((1, -1, 0),), ((shape.m, 0, 1),), ((shape.n, 1, 1),)), (0, 0))
    return View.identity((shape.b, shape.m, round_up(shape.n, word_elements(shape))))


def multiply(
    builder: Builder,
    shape: Shape,
    grid: tuple[int, ...],
    a: str,
    w: str,
    reason: str,
    name: str = "result",
    share: int = 1,
    base: int = 0,
) -> tuple[str, View]:
    """
    Matrix kernel, exchange of partials and reduction, operands being in place; returns the result and its
    view.
    """
    where = layouts(shape, grid, builder.machine, share, base)
    kp = used_grid(shape, grid)[3]
    view = shape.product
    partial = _products(builder, shape, where, kp, a, w, reason)
    if kp == 1:
        if shape.partial == shape.result_dtype:
            return partial, _without_parts(view)
        result = builder.add_buffer(name, where.result, shape.result_dtype, "activations")
        axes = {"b": 0, "m": 1, "n": 2}
        builder.compute(
            "cast",
            "bmn",
            [(partial, {"b": 1, "m": 2, "n": 3})],
            [(result, axes)],
            f"{reason}: result type",
            scale=0,
            saturate=int(builder.operator.attributes.get("saturate", True)),
        )
        return result, view
    room = wide_partials(where.arrived, shape, builder.machine)
    arrived = builder.add_buffer("arrived", room, shape.partial, "partials")
    parts = View.identity((kp, shape.b, shape.m, round_up(shape.n, word_elements(shape))))
    builder.gather_into([(partial, parts, parts)], arrived, f"{reason} partials")
    result = builder.add_buffer(name, where.result, shape.result_dtype, "activations")
    axes4 = {"p": 0, "b": 1, "m": 2, "n": 3}
    builder.compute(
        reducer(room.memory == "interleaved", False),
        "pbmn",
        [(arrived, axes4)],
        [(result, {"b": 0, "m": 1, "n": 2})],
        f"{reason}: add {kp} partials",
        **builder.operator.saturation,
    )
    return result, view


def _products(builder: Builder, shape: Shape, where: Layouts, kp: int, a: str, w: str, reason: str) -> str:
    """The matrix kernel; returns the buffer of its partials."""
    partial = builder.add_buffer("partial" if kp > 1 else "product", where.partial, shape.partial, "partials")
    builder.compute(
        shape.kernel,
        "bmnk",
        [(a, {"b": -1 if shape.shared else 0, "m": 1, "k": 2}), (w, {"b": 0, "n": 1, "k": 2})],
        [(partial, {"b": 1, "m": 2, "n": 3})],
        reason,
        scale=shape.scale,
    )
    return partial


def _without_parts(view: View) -> View:
    """The same view onto storage axes (p, b, m, n) with a single part."""
    digits = tuple(tuple((size, axis + 1, stride) for size, axis, stride in ds) for ds in view.digits)
    return View(view.shape, digits, (0, *view.offsets))


GRID = Strategy(
    "grid",
    ("matmul",),
    MatmulRecord,
    default=default_record,
    candidates=candidates,
    targets=operand_targets,
    expand=expand,
)
STRATEGIES = (GRID,)

__all__ = ["GRID", "MatmulRecord", "PlanError", "default_record", "expand", "operand_targets"]
