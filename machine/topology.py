# SPDX-License-Identifier: Apache-2.0
"""
Where a tile sits on the fabric, and how long a word travels from one tile to another.

The numbers are those of the Mk2 fabric as published in osmarks/ipu-stack (`topology.rs` of its `ipu-target`);
the formulation below is ours. A physical id is `64 * row + 4 * column + lane`, with 4 lanes and 16 columns.
The columns are folded in the middle: c and 15 - c lie at the same distance from the spine, on its two sides.

Everything except the row of the sender depends only on the 64 positions (column, lane) of sender and
receiver, so the whole relation is one 64 x 64 table and a row term; the row of the receiver cancels. (The
receiver's row counts again in the lead of its source selection, which is `Machine.select_lead`.)
"""

from __future__ import annotations

import functools

import numpy as np

LANES = 4
COLUMNS = 16
POSITIONS = LANES * COLUMNS
SENDER_ROW_CYCLES = 2  # each row a sender lies further out delays its words by this
ENTRY_CYCLES = 22  # what is left of the path when every positional term is zero
HOP_CYCLES = 4  # one folded column, on the way in and on the way out
ROUTE_CYCLES = 6  # one folded column of distance between the two ends


def logical_grid(tiles: int, rows: int, columns: tuple[int, ...]) -> np.ndarray:
    """
    Physical ids of the logical tiles 0..tiles-1, int64 (tiles,).

    Logical ids go in pairs (lanes l and l + 2 of one column, which share an exchange bus). The pairs run down
    lane 0 of a column and back up its lane 1, then on to the next of `columns`.
    """
    tile = np.arange(tiles, dtype=np.int64)
    strip, place = np.divmod(tile // 2, rows)
    row = np.where(strip % 2 == 1, rows - 1 - place, place)
    column = np.asarray(columns, dtype=np.int64)[strip // 2]
    return POSITIONS * row + LANES * column + strip % 2 + 2 * (tile % 2)


@functools.cache
def position_table() -> np.ndarray:
    """
    Cycles from a send event to the first word written, for a sender in row 0: int64 (sender, receiver).

    Position = physical id mod 64. The cost is a sum over the legs of the path: out of the sender's column,
    the turn at the spine (short within one half, long across it), along the spine, and into the receiver's
    column.
    """
    position = np.arange(POSITIONS, dtype=np.int64)
    column, lane = position // LANES, position % LANES
    half = column // (COLUMNS // 2)
    fold = np.minimum(column, COLUMNS - 1 - column)
    odd_lane, high_lane = lane % 2, lane // 2
    # The lanes of a column hang on alternating sides of its bus; the side nearer to the spine is one tap
    # away.
    near = half == odd_lane
    tap = np.where(high_lane == 1, np.where(near, 2, 4), np.where(near, 1, 5))
    injected_at = ROUTE_CYCLES * (fold + (half ^ odd_lane))
    delivered_at = ROUTE_CYCLES * fold + tap
    along_spine = np.abs(delivered_at[None, :] - injected_at[:, None])
    depth = column % (COLUMNS // 2)
    turn = np.where(half[:, None] == half[None, :], depth[:, None] + 1, COLUMNS - depth[:, None])
    outbound = HOP_CYCLES * fold + 8 * half
    inbound = HOP_CYCLES * fold + column
    return ENTRY_CYCLES + outbound[:, None] - inbound[None, :] + turn + along_spine


def latency(source: np.ndarray, destination: np.ndarray) -> np.ndarray:
    """Cycles from send event to first word written, for physical ids (broadcast together), int64."""
    return position_table()[source % POSITIONS, destination % POSITIONS] + SENDER_ROW_CYCLES * (
        source // POSITIONS
    )
