# SPDX-License-Identifier: Apache-2.0
"""Grids of one matrix multiplication, with their cycles in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tilewright.machine import Machine
from tilewright.machine.dtypes import itemsize
from tilewright.machine.kernels.matrix_unit import COLUMNS
from tilewright.planning.exchange.estimate import pair_receive_cycles, receive_cycles
from tilewright.planning.operators.base import ceil_div, round_up
from tilewright.planning.operators.matmul.shape import Shape


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
