# SPDX-License-Identifier: Apache-2.0
"""What a plan says of a matrix multiplication, and what it may say."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from tilewright.machine import Machine
from tilewright.planning.operators.base import Operator, Record, ceil_div
from tilewright.planning.operators.blocks import block_layout
from tilewright.planning.operators.matmul.shape import (
    PANEL_WORD,
    Shape,
    canonical,
    lanes,
    swapped,
    used_grid,
)

PARTS, BLOCKS = "parts", "blocks"


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
    filler: bool = False
    """
    The contraction ends in a whole panel: zeros that the host writes behind a parameter, times copies of the
    last elements of the other operand's rows, which are as finite as they are. Nothing is filled by a kernel.
    """
    group: int = 0
    """
    Columns of the result that stay together (those of a head): each group is completed to words of 8-bit
    elements with lanes, so that whoever takes the groups apart moves whole words. 0: columns follow each
    other.
    """
    inner: int = 0
    """The same of the contraction, whose left operand lies in such groups."""
    pieces: int = 1
    """
    Pieces of the streamed rows of each tile's block, which arrive and are multiplied one after another: a
    whole block of them need not fit.
    """


def shape_of(operator: Operator, record: MatmulRecord) -> Shape:
    """The product that a record computes."""
    shape = swapped(canonical(operator), record.swap)
    for name, group, extent in (("group", record.group, shape.n), ("inner", record.inner, shape.k)):
        if group < 0 or (group and (extent % group or shape.batch or (name == "group" and record.swap))):
            raise operator.error(
                f"{name} {group} does not divide the {extent} elements of a product of two axes, not swapped",
                hint=f"use {name} 0",
            )
    shape = dataclasses.replace(
        shape,
        n=shape.n // record.group * lanes(record.group) if record.group else shape.n,
        k=shape.k // record.inner * lanes(record.inner) if record.inner else shape.k,
        group=record.group,
        inner=record.inner,
        word=record.word,
        lanes=bool(operator.attributes.get("zero_lanes", False)),
        filled=record.filler,
    )
    if record.batch == 1:
        return shape
    if record.batch < 1 or not record.swap or shape.batch or shape.n % record.batch:
        raise operator.error(
            f"batch {record.batch} does not divide the {shape.n} rows of a swapped product of two axes",
            hint="use batch 1",
        )
    return dataclasses.replace(shape, batch=(record.batch,), n=shape.n // record.batch, shared=True)


def check_record(operator: Operator, record: MatmulRecord, machine: Machine) -> None:
    """Raises PlanError for a record that the operator or the machine does not allow."""
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
        record.swap
        or record.share > 1
        or record.group
        or block_layout(operator.result_shape, machine) is None
    ):
        raise operator.error(
            f"target {BLOCKS} is for products of two axes and whole panels, not swapped, with share 1",
            hint=f"use target {PARTS}",
        )
    if record.filler and (hosted(operator) is None or record.inner or record.group):
        raise operator.error(
            "a filler is for a contraction that ends inside a panel, of a parameter and something else, "
            "and without groups",
            hint="use filler = false",
        )
    rows = ceil_div(shape.m, parts[1])
    if not 1 <= record.pieces <= max(1, rows):
        raise operator.error(
            f"pieces {record.pieces} does not cut the {rows} streamed rows of a block",
            hint="use pieces 1",
        )
    if record.pieces > 1 and (record.filler or record.inner):
        raise operator.error(
            "pieces are for a contraction without a filler and without groups", hint="use pieces 1"
        )
    used = math.prod(parts)
    if record.base < 0 or record.base + used > machine.tiles:
        raise operator.error(
            f"grid {list(record.grid)} needs {used} tiles from tile {record.base} on; "
            f"machine {machine.name} has {machine.tiles}",
            hint="lower one of the parts",
        )


def hosted(operator: Operator) -> int | None:
    """
    The operand of a product behind whose contraction the host may write zeros: the only parameter, of the
    type that the kernel reads, with fewer missing elements than there are. None if there is no such operand,
    or nothing to fill.
    """
    shape = canonical(operator)
    hosts = [i for i, host in enumerate(operator.attributes.get("host_lanes", ())) if host]
    missing = -shape.k % shape.inputs
    given = tuple(dtype for _, dtype in operator.operand_types[:2])
    if len(hosts) != 1 or not 0 < missing <= shape.k or given != shape.operand_dtype:
        return None
    if shape.k % PANEL_WORD or shape.batch:
        return None
    return hosts[0]


def contracted(operator: Operator, number: int) -> int:
    """The axis of an operand of a product that is summed over."""
    rank = len(operator.operand_types[number][0])
    turned = bool(operator.attributes.get(("transpose_a", "transpose_b")[number]))
    return rank - 2 if turned == (number == 0) else rank - 1
