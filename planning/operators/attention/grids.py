# SPDX-License-Identifier: Apache-2.0
"""Score grids of one attention, with their cycles in closed form."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import COLUMNS, product
from tilewright.planning.exchange.estimate import pair_receive_cycles, receive_cycles
from tilewright.planning.operators.attention.shape import Shape, blocks, used_grid
from tilewright.planning.operators.base import ceil_div, round_up


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
