# SPDX-License-Identifier: Apache-2.0
"""
A value goes from one random layout to another and back: through transfers, schedule, encoding, the checker,
and the fabric on real memory.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tilewright.backends.rows import encode
from tilewright.machine import Machine, load
from tilewright.planning.exchange import Messages, schedule
from tilewright.planning.exchange.check import check
from tilewright.planning.exchange.geometry import transfers
from tilewright.planning.layout import Axis, Layout, Split, View
from tilewright.sim import fabric

EXTENTS = (1, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 29, 32, 48, 61, 64, 96, 97, 128)
ROOM = 0x6000
"""Bytes of a shard at most: three buffers, each in memory elements of its own."""
SIZES = {"f8E4M3FNUZ": 1, "f16": 2, "f32": 4}


def random_layout(random: np.random.Generator, shape: tuple[int, ...], tiles: int) -> Layout:
    """A grid with ragged blocks, cut once or twice, in panels of any size and order, copied and rotated."""
    left = tiles
    axes: list[Axis] = []
    stride = 1
    pairs = random.random() < 0.3  # both tiles of each pair hold the same
    if pairs:
        stride, left = 2, tiles // 2
    for extent in shape:
        splits: list[Split] = []
        block = extent
        for _ in range(int(random.integers(0, 3))):
            parts = int(random.integers(1, min(left, max(block, 1), 48) + 1))
            block = -(-block // parts)
            parts = -(-(splits[-1].block if splits else extent) // block)
            if parts > left:
                break
            splits.append(Split(block, stride))
            stride *= parts
            left //= parts
        panels: list[int] = []
        size = block
        for _ in range(int(random.integers(0, 3))):
            choices = [p for p in (2, 3, 4, 8, 16, 32) if p < size and (not panels or panels[-1] % p == 0)]
            if not choices:
                break
            size = int(random.choice(choices))
            panels.append(size)
        axes.append(Axis(extent, tuple(splits), tuple(panels)))
    digits = [(a, level) for a, axis in enumerate(axes) for level in range(len(axis.panels) + 1)]
    order = [digits[i] for i in random.permutation(len(digits))]
    replicas: tuple[tuple[int, int], ...] = ((2, 1),) if pairs else ()
    if left > 1 and random.random() < 0.4:
        replicas = (*replicas, (int(random.integers(2, min(left, 40) + 1)), stride))
    base = int(random.integers(0, tiles))
    return Layout(tuple(axes), tuple(order), replicas, base // 2 * 2 if pairs else base, tiles)


def move(
    machine: Machine, memory: np.ndarray, src: Layout, dst: Layout, places: list[int], size: int
) -> float:
    """One phase from the first place to the second, judged; returns the share of bytes in 8-byte items."""
    view = View.identity(tuple(axis.extent for axis in src.axes))
    t = transfers(src, view, dst, view, size)
    zero = np.zeros(len(t), np.int64)
    wanted = Messages(t.src_tile, zero, t.src_byte, t.dst_tile, zero + 1, t.dst_byte, t.nbytes)
    made = schedule(wanted, machine)
    rows = encode(made, places, machine).words
    # rows lie between the reservations and the first buffer; longer ones are judged without a place
    first = max(r.end for r in machine.reservations if r.start < machine.region("standard").end)
    at = -(-first // 0x4000) * 0x4000 if 4 * rows.shape[1] <= 0x4000 else None
    delivery = fabric.deliver(rows, machine, address=at)
    assert check(rows, wanted, places, machine, row_address=at) == []
    fabric.move(delivery, memory)
    return made.paired_share


def free_places(machine: Machine) -> list[int]:
    """Three places for a shard in memory elements of their own, clear of rows and reservations."""
    interleaved = machine.region("interleaved").start
    return [machine.region("standard").end - 0x8000, interleaved + 0x2000, interleaved + 0x10000]


def case(machine: Machine, seed: int) -> float | None:
    """There and back; None if the layouts ask for less than words, or for too much memory."""
    random = np.random.default_rng(seed)
    shape = tuple(int(random.choice(EXTENTS)) for _ in range(int(random.integers(1, 4))))
    dtype = str(random.choice(list(SIZES)))
    size = SIZES[dtype]
    one, two = random_layout(random, shape, machine.tiles), random_layout(random, shape, machine.tiles)
    view = View.identity(shape)
    if max(one.shard_bytes(size), two.shard_bytes(size)) > ROOM or math.prod(shape) > 1 << 18:
        return None
    if not (
        transfers(one, view, two, view, size).whole_words
        and transfers(two, view, one, view, size).whole_words
    ):
        return None
    places = free_places(machine)
    memory = random.integers(0, 256, (machine.tiles, machine.sram_bytes), np.uint8)
    value = random.integers(0, 256, (*shape, size), np.uint8)

    return reshard(machine, memory, one, two, places, value, size)


def images(layout: Layout, value: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tile and byte of every byte of a value in every copy, and the byte."""
    *shape, size = value.shape
    index = np.indices(shape).reshape(len(shape), -1)
    tile, offset = layout.positions(*index)
    flat = value.reshape(-1, size)
    tiles, bytes_, data = [], [], []
    for copy in np.ndindex(*(count for count, _ in layout.replicas)):
        shift = sum(c * stride for c, (_, stride) in zip(copy, layout.replicas, strict=True))
        for k in range(size):
            tiles.append((tile + shift) % layout.tiles)
            bytes_.append(offset * size + k)
            data.append(flat[:, k])
    return np.concatenate(tiles), np.concatenate(bytes_), np.concatenate(data)


def reshard(
    machine: Machine,
    memory: np.ndarray,
    one: Layout,
    two: Layout,
    places: list[int],
    value: np.ndarray,
    size: int,
) -> float:
    at = [place - machine.sram_base for place in places]
    tile, byte, data = images(one, value)
    memory[tile, at[0] + byte] = data
    share = move(machine, memory, one, two, places[:2], size)
    there = images(two, value)
    assert (memory[there[0], at[1] + there[1]] == there[2]).all()
    share = max(share, move(machine, memory, two, one, places[1:], size))
    assert (memory[tile, at[2] + byte] == data).all()
    return share


def several(name: str, first: int, count: int) -> tuple[int, int]:
    """Cases done, and cases with 8-byte items."""
    machine = load(name)
    shares = [share for seed in range(first, first + count) if (share := case(machine, seed)) is not None]
    return len(shares), sum(share > 0 for share in shares)


@pytest.mark.parametrize(("name", "count", "least"), [("t4", 100, 30), ("t16", 60, 20), ("t64", 16, 4)])
def test_there_and_back(name: str, count: int, least: int) -> None:
    done, _ = several(name, 0, count)
    assert done >= least


def test_there_and_back_on_all_tiles() -> None:
    assert several("c600", 0, 3)[0] >= 1


THOUSANDS = (
    *(("t4", first, 500, 100) for first in range(1000, 4000, 500)),
    *(("t16", first, 500, 80) for first in range(1000, 3500, 500)),
    *(("t64", first, 125, 15) for first in range(1000, 2000, 125)),
    *(("c600", first, 10, 1) for first in range(1000, 1080, 10)),
)
"""Machine, first seed, seeds, and how many of them have to give a value that moves."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "first", "count", "least"), THOUSANDS)
def test_there_and_back_thousands_of_times(name: str, first: int, count: int, least: int) -> None:
    done, wide = several(name, first, count)
    assert done >= least
    assert wide or name in ("t64", "c600")  # too few there to ask for items of 8 bytes in each part
