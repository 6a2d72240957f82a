# SPDX-License-Identifier: Apache-2.0
"""Physical positions and route latencies, held to the published figures and to a plain scalar evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.machine import load, names


def test_c600_latency_figures():
    m = load("c600")
    tile = np.arange(m.tiles)
    table = m.latency(tile[:, None], tile[None, :])
    assert (table.min(), table.max()) == (19, 165)
    assert round(float(table.mean()), 1) == 65.1
    column = (m.physical(tile) // 4) % 16
    same = table[column[:, None] == column[None, :]]
    assert (same.min(), same.max(), same.mean()) == (24, 72, 48)
    neighbours = m.latency(tile[:-1], tile[1:])
    assert (neighbours.min(), neighbours.max(), round(float(neighbours.mean()))) == (19, 72, 47)


@pytest.mark.parametrize("name", names())
def test_logical_and_physical_are_inverse(name: str):
    m = load(name)
    tile = np.arange(m.tiles)
    physical = m.physical(tile)
    assert len(np.unique(physical)) == m.tiles
    assert (m.logical(physical) == tile).all()
    assert m.logical(-1) == -1 and m.logical(1 << 20) == -1
    assert (m.logical(np.setdiff1d(np.arange(physical.max()), physical)) == -1).all()


def test_c600_snakes_down_the_columns_in_pairs():
    m = load("c600")
    assert (np.sort(m.physical(np.arange(1472))) == np.arange(1472)).all()
    assert m.physical(np.array([0, 1, 2, 44, 45, 46, 47, 91, 92])).tolist() == [
        0, 2, 64, 22 * 64, 22 * 64 + 2, 22 * 64 + 1, 22 * 64 + 3, 3, 4,
    ]  # fmt: skip


@pytest.mark.parametrize("name", names())
def test_pairs_are_neighbours(name: str):
    m = load(name)
    tile = np.arange(m.tiles)
    assert (m.partner(tile) == (tile ^ 1)).all()


@pytest.mark.parametrize("name", names())
def test_select_lead_counts_rows(name: str):
    m = load(name)
    lead = m.select_lead(np.arange(m.tiles))
    assert lead.min() == 52 and lead.max() == 52 + 2 * (m.topology.rows - 1)


@pytest.mark.parametrize("name", ["t4", "t16", "t64"])
def test_small_machines_are_parts_of_the_same_fabric(name: str):
    """A tile of a small machine has the latencies of the c600 tile with its physical id."""
    m, c600 = load(name), load("c600")
    tile = np.arange(m.tiles)
    on_c600 = c600.logical(m.physical(tile))
    assert (on_c600 >= 0).all()
    assert (m.latency(tile[:, None], tile) == c600.latency(on_c600[:, None], on_c600)).all()
    if m.topology.rows > 1:
        assert len(np.unique(m.latency(0, tile))) > 3  # schedules on it cannot get away with one latency


def _by_hand(source: int, destination: int) -> int:
    """The route as a sum of legs for two physical ids, one step at a time."""
    columns = source // 4 % 16, destination // 4 % 16
    halves = [c // 8 for c in columns]
    depth = [c if c < 8 else 15 - c for c in columns]
    cycles = 22 + 2 * (source // 64)
    cycles += 4 * depth[0] + (8 if halves[0] else 0)
    inside = columns[0] % 8
    cycles += inside + 1 if halves[0] == halves[1] else 16 - inside
    start = 6 * depth[0] + (6 if halves[0] != source % 2 else 0)
    taps = {(0, True): 1, (0, False): 5, (1, True): 2, (1, False): 4}
    stop = 6 * depth[1] + taps[destination // 2 % 2, halves[1] == destination % 2]
    return cycles + abs(stop - start) - 4 * depth[1] - columns[1]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 1471), st.integers(0, 1471))
def test_latency_against_scalars(source: int, destination: int):
    m = load("c600")
    assert m.latency(source, destination) == _by_hand(int(m.physical(source)), int(m.physical(destination)))


def test_the_row_of_the_receiver_does_not_matter():
    m = load("c600")
    physical = np.arange(1472)
    to = m.logical(physical % 64), m.logical(physical)
    assert (m.latency(7, to[0]) == m.latency(7, to[1])).all()
