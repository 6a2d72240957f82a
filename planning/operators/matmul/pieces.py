# SPDX-License-Identifier: Apache-2.0
"""
A product whose streamed operand arrives in pieces, because a whole one takes too much of a tile.

Each tile's block of rows is cut in equal pieces (the last may be smaller). One staging buffer takes them one
after another: a piece arrives, the matrix kernel multiplies it, its partial products leave. The next piece
overwrites the buffer, so it cannot come before the kernel has read the last one: that dependence keeps pieces
apart where phases are merged. It arrives in the phase in which the partial products of the last one leave.
Every sum is the same as without pieces, since the contraction is not cut.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.planning.exchange.copies import choose_move
from tilewright.planning.layout import Axis, Layout, View
from tilewright.planning.layout.padding import panel_padding
from tilewright.planning.operators.base import Operator, ceil_div
from tilewright.planning.operators.builder import Builder
from tilewright.planning.operators.grids import splits
from tilewright.planning.operators.matmul.places import Layouts, tile_order
from tilewright.planning.operators.matmul.records import MatmulRecord, contracted, shape_of
from tilewright.planning.operators.matmul.shape import Shape, blocks
from tilewright.planning.operators.targets import Target


@dataclass(frozen=True)
class Run:
    """
    The same rows of several blocks: of `parts` blocks from block `part` on the rows from `start` on, `rows`
    of them.
    """

    part: int
    parts: int
    start: int
    rows: int

    def of(self, view: View, axis: int, block: int) -> View | None:
        """These rows of a view that has all rows along `axis`, as (block, row); None where digits are cut."""
        before, behind = view.shape[:axis], view.shape[axis + 1 :]

        def cut(found: View, axis: int, first: int, count: int) -> View | None:
            sizes = (*found.shape[:axis], count, *found.shape[axis + 1 :])
            return found.slice([first if i == axis else 0 for i in range(found.rank)], sizes)

        if self.parts == 1:
            found = cut(view, axis, self.part * block + self.start, self.rows)
            return found and found.reshape((*before, 1, self.rows, *behind))
        found = cut(view, axis, self.part * block, self.parts * block)
        found = found and found.reshape((*before, self.parts, block, *behind))
        return found and cut(found, axis + 1, self.start, self.rows)


def runs(extent: int, block: int, pieces: int) -> list[list[Run]]:
    """The rows of each piece of an axis in blocks: those of whole blocks, and those of a shorter last one."""
    size, whole, rest = ceil_div(block, pieces), extent // block, extent % block
    found: list[list[Run]] = []
    for start in range(0, block, size):
        rows = min(size, block - start)
        last = min(rest - start, rows)
        piece = [Run(0, whole, start, rows)] if whole else []
        found.append([*piece, *([Run(whole, 1, start, last)] if last > 0 else [])])
    return found


@dataclass(frozen=True)
class Piece:
    """
    One piece: what is brought for it, as (view of the operand, view of the staging buffer), and the layout of
    its partial products, with (view of them, rows) for each run of rows.
    """

    arrive: tuple[tuple[View, View], ...]
    partial: Layout
    products: tuple[tuple[View, Run], ...]


@dataclass(frozen=True)
class Streamed:
    """
    A streamed operand that is still in the buffer `source`: its pieces, and the buffer `staged` that takes
    them one after another. `block`: rows of a tile's block.
    """

    source: str
    staged: str
    pieces: tuple[Piece, ...]
    block: int


def streamed(
    builder: Builder, record: MatmulRecord, source: str, view: View, target: Target, where: Layouts
) -> Streamed:
    """
    The streamed operand of a record with pieces, which lies in `source` with a view and is wanted as `target`
    says; adds its staging buffer. Raises PlanError where its rows cannot be cut so.
    """
    shape = shape_of(builder.operator, record)
    _, block, _, _ = blocks(shape, record.grid)
    size = ceil_div(block, record.pieces)
    order = tile_order(shape, record.grid, record.share)

    def rows(piece: Sequence[Run], size: int) -> Axis:
        last = piece[-1]
        return Axis((last.part + last.parts - 1) * size + last.rows, splits(size, order.m))

    given, wanted = (_by_rows(builder.operator, record, v) for v in (view, target[1]))
    stored = stored_products(where)
    cuts = runs(shape.m, block, record.pieces)
    pieces: list[Piece] = []
    for piece in cuts:
        height = piece[0].rows
        arrive = [
            (_rows_of(builder.operator, run, given, 1, block), _placed(run, wanted, 1, size)) for run in piece
        ]
        axes = (*where.partial.axes[:2], rows(piece, height), *where.partial.axes[3:])
        pieces.append(
            Piece(
                tuple(arrive),
                dataclasses.replace(where.partial, axes=axes),
                tuple((_placed(run, stored, 2, height), run) for run in piece),
            )
        )
    one, _, k = where.a.axes
    staged = dataclasses.replace(where.a, axes=(one, rows(cuts[0], size), k))
    name = builder.add_buffer(("left", "right")[record.swap], staged, builder.get(source).dtype)
    return Streamed(source, name, tuple(pieces), block)


def multiply_pieces(
    builder: Builder,
    shape: Shape,
    operand: Streamed,
    w: str,
    into: str,
    target: View,
    others: Sequence[tuple[str, View, View]],
    reason: str,
    gathered: str,
) -> None:
    """
    Bring, multiply and send off one piece after another: the partial products (part, batch, row, column) go
    to `target` in the buffer `into`, and so do `others` with those of the last piece. Where they are
    rearranged on the way all of them go at the end, since what rearranges writes whole shards.
    """
    staged = builder.get(operand.staged).layout
    if operand.pieces[0].arrive[0][1].shape[-1] < staged.axes[-1].extent:  # lanes behind the contraction
        builder.fill(operand.staged, f"{reason} operands: zero padding")
    elif panel_padding(staged):
        builder.fill_padding(operand.staged, f"{reason} operands: padding")
    leave: list[list[tuple[str, View, View]]] = []
    for piece in operand.pieces:
        partial = builder.add_buffer("partial", piece.partial, shape.partial, "partials")
        rows = [_rows_of(builder.operator, run, target, 2, operand.block) for _, run in piece.products]
        leave.append([(partial, view, place) for (view, _), place in zip(piece.products, rows, strict=True)])
    partials = [moves[0][0] for moves in leave]
    leave[-1] += others
    every, room = [move for moves in leave for move in moves], builder.get(into)
    sources = [(builder.get(name).layout, view, place) for name, view, place in every]
    if choose_move(sources, room.layout, room.dtype).kind != "words":
        leave = [*([] for _ in partials[1:]), every]
    before: list[tuple[list[tuple[str, View, View]], str]] = []
    for piece, partial, moves in zip(operand.pieces, partials, leave, strict=True):
        arrive = [(operand.source, source, place) for source, place in piece.arrive]
        phase = f"{gathered}, operands" if before else f"{reason} operands"
        builder.gather_each([*before, (arrive, operand.staged)], phase)
        matrix_kernel(builder, shape, operand.staged, w, partial, reason)
        before = [(moves, into)] if moves else []
    builder.gather_each(before, gathered)


def matrix_kernel(builder: Builder, shape: Shape, a: str, w: str, partial: str, reason: str) -> None:
    """The call that multiplies a block of the streamed operand by the panels of the other."""
    builder.compute(
        shape.kernel,
        "bmnk",
        [(a, {"b": -1 if shape.shared else 0, "m": 1, "k": 2}), (w, {"b": 0, "n": 1, "k": 2})],
        [(partial, {"b": 1, "m": 2, "n": 3})],
        reason,
        scale=shape.scale,
    )


def stored_products(where: Layouts) -> View:
    """What is sent of all that the unit writes, as (part, batch, row, column) in its storage."""
    return View.identity(where.partial.shape)


def _by_rows(operator: Operator, record: MatmulRecord, view: View) -> View:
    """
    A view of the streamed operand as (batch, rows, contraction): a leading axis that the other operand does
    not have counts as rows.
    """
    shape = shape_of(operator, record)
    k = contracted(operator, int(record.swap))
    leading = range(view.rank - 2)
    kinds = (shape.leading or (0,) * len(shape.batch))[-len(leading) :] if leading else ()
    batch = [axis for axis, kind in zip(leading, kinds, strict=True) if kind != 1]
    rows = [axis for axis, kind in zip(leading, kinds, strict=True) if kind == 1]
    extents = math.prod(view.shape[axis] for axis in batch), shape.m, view.shape[k]
    found = view.transpose([*batch, *rows, 2 * view.rank - 3 - k, k]).reshape(extents)
    assert found is not None  # axes that become one always can
    return found


def _rows_of(operator: Operator, run: Run, view: View, axis: int, block: int) -> View:
    found = run.of(view, axis, block)
    if found is None:
        raise operator.error(
            f"blocks of {block} rows of the operand or the result cannot be cut in pieces by views",
            hint="use pieces 1",
        )
    return found


def _placed(run: Run, view: View, axis: int, size: int) -> View:
    """The rows of a run where each block has `size` of them: the view with (block, row) for its rows."""
    digits = ((run.parts, axis, size),), ((run.rows, axis, 1),)
    offsets = [*view.offsets]
    offsets[axis] = run.part * size
    shape = (*view.shape[:axis], run.parts, run.rows, *view.shape[axis + 1 :])
    return View(shape, (*view.digits[:axis], *digits, *view.digits[axis + 1 :]), tuple(offsets))
