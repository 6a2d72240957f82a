# SPDX-License-Identifier: Apache-2.0
"""Which records are worth a look: the default one in closed form, then the cheapest grids."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.planning.operators.base import PIECES, Operator, Surroundings
from tilewright.planning.operators.blocks import block_layout
from tilewright.planning.operators.matmul.addends import first_addend
from tilewright.planning.operators.matmul.grids import choose_grid, grids
from tilewright.planning.operators.matmul.records import (
    BLOCKS,
    PARTS,
    MatmulRecord,
    contracted,
    hosted,
    shape_of,
)
from tilewright.planning.operators.matmul.shape import PANEL_WORD, Shape, blocks, lanes, used_grid
from tilewright.planning.operators.targets import WORD
from tilewright.planning.stages import Value

CANDIDATES = 24
"""Grids of either orientation that are worth a closer look."""

STREAMED = 4
"""Grids of either orientation that are looked at in pieces too, where nothing fits without."""


def default_record(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> MatmulRecord:
    """The cheapest grid by the closed form, of the orientation that its reader asks for."""
    found = dataclasses.replace(wanted(near, near.transposed), inner=stored_groups(operator, operands))
    shape = shape_of(operator, found)
    cut = shape.n % 2 or (near.word == PANEL_WORD and shape.n % PANEL_WORD)
    if not near.transposed and cut and itemsize(operator.result_dtype) == 2:
        found = dataclasses.replace(found, word=PANEL_WORD)  # there are lanes: enough for a cast to 8 bits
        shape = shape_of(operator, found)
    grid = choose_grid(shape, machine, near.tiles[1])
    target = PARTS if near.transposed else choose_target(operator, operands, machine)
    shares = target == PARTS and (not near.transposed or near.word == PANEL_WORD)
    share = choose_share(shape, grid, near.panels) if shares else 1
    pieces = 1 if found.inner else max(1, min(near.pieces, blocks(shape, grid)[1]))
    return dataclasses.replace(found, grid=grid, share=share, target=target, pieces=pieces)


def wanted(near: Surroundings, swap: bool) -> MatmulRecord:
    """The fields of a record that follow from what is around the product."""
    if not swap or not near.transposed:
        return MatmulRecord(swap=swap, base=near.tiles[0], group=0 if swap else near.head)
    return MatmulRecord(swap=True, base=near.tiles[0], batch=near.batch, word=near.word)


def stored_groups(operator: Operator, operands: tuple[Value | None, ...]) -> int:
    """
    The group of `MatmulRecord.inner`: elements of the left operand that lie together, with lanes of zeros
    behind them, where they cut words and the host can write the other operand so. 0 if there is none.
    """
    value, hosts = operands[0], operator.attributes.get("host_lanes", (False, False))
    if value is None or not operator.attributes.get("zero_lanes") or not hosts[1] or len(value.shape) != 2:
        return 0
    axis = contracted(operator, 0)
    group, room = value.view.run(axis, value.layout.shape)
    cut = group * itemsize(value.dtype) % WORD
    return group if group < value.shape[axis] and cut and room >= lanes(group) else 0


def choose_target(operator: Operator, operands: tuple[Value | None, ...], machine: Machine) -> str:
    """Blocks of rows where the stream that is added lies in them, or lies nowhere yet."""
    blocks = block_layout(operator.result_shape, machine)
    own = first_addend(operator)
    if blocks is None or own is None or operator.operand_types[own][0] != operator.result_shape:
        return PARTS
    value = operands[own]
    return BLOCKS if value is None or (value.layout, value.view) == blocks else PARTS


def candidates(
    operator: Operator, operands: tuple[Value | None, ...], machine: Machine, near: Surroundings
) -> Iterator[MatmulRecord]:
    """
    The default, then the cheapest grids by the closed form, of both orientations, with each share; the first
    of them in pieces too where nothing fits without. Where the host may complete the contraction
    (`MatmulRecord.filler`), all but the default do without kernels that fill.
    """
    first = default_record(operator, operands, machine, near)
    yield first
    yield from in_pieces(operator, first, near, (PIECES // 2, PIECES, 2 * PIECES))
    filler = hosted(operator) is not None and not first.inner
    if filler and not first.group:
        yield dataclasses.replace(first, filler=True)
    _, tiles = near.tiles
    for swap in (near.transposed, not near.transposed):
        fields = dataclasses.replace(wanted(near, swap), inner=first.inner)
        fields = dataclasses.replace(fields, filler=filler and not fields.group)
        shape = shape_of(operator, fields)
        found = grids(shape, machine)
        allowed = np.flatnonzero(found.tiles <= (tiles or machine.tiles))
        best = allowed[np.argsort(found.cycles[allowed], kind="stable")][:CANDIDATES]
        for number, parts in enumerate(found.parts[best]):
            grid = (int(parts[0]), int(parts[1]), int(parts[2]), int(parts[3]))
            for share in sorted({1, choose_share(shape, grid)}):
                record = dataclasses.replace(fields, grid=grid, share=share)
                if record not in (first, dataclasses.replace(first, filler=fields.filler)):
                    yield record
                    if number < STREAMED:
                        yield from in_pieces(operator, record, near, (PIECES,))
            if not swap and first.target == BLOCKS and (1, grid) != (first.share, first.grid):
                yield dataclasses.replace(fields, grid=grid, share=1, target=BLOCKS)


def in_pieces(
    operator: Operator, record: MatmulRecord, near: Surroundings, counts: Sequence[int]
) -> Iterator[MatmulRecord]:
    """
    The record with its streamed operand in pieces, where that is wanted and a block of that operand is at
    least as large as one of the other, which stays whole.
    """
    shape = shape_of(operator, record)
    _, rows, columns, _ = blocks(shape, record.grid)
    if near.divided and rows >= columns and not record.inner:
        for pieces in counts:
            if pieces <= rows:
                yield dataclasses.replace(record, pieces=pieces, filler=False)


def choose_share(shape: Shape, grid: tuple[int, ...], panels: int = 0) -> int:
    """
    Column blocks to own in common so that an owner's columns fill whole FP8 panels, where its rows allow it.
    Groups of `panels` columns are completed to panels anyway: where a block has whole ones, rows stay longer.
    """
    _, _, np_, kp = used_grid(shape, grid)
    _, mb, nb, _ = blocks(shape, grid)
    if panels and nb % panels == 0:
        return 1
    share = 2 if nb % 32 == 16 else 1
    return share if kp > 1 and np_ % share == 0 and mb >= kp * share else 1
