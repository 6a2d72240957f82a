# SPDX-License-Identifier: Apache-2.0
"""Operands compiled for numpy against element-by-element access."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.sim.access import compile_access, gather, is_broadcast, scatter

TILES, BYTES = 6, 4096
START = 1024


@st.composite
def operands(draw):
    """Axes, extents, element size and the address modulo 4 of a random operand that fits."""
    rank = draw(st.integers(0, 3))
    axes, extents = [], []
    for _ in range(rank):
        if draw(st.integers(0, 4)) == 0:
            axes.append(((0, 0),))
        else:
            inner = draw(st.lists(st.tuples(st.integers(1, 4), st.integers(-3, 12)), max_size=2))
            axes.append(((0, draw(st.integers(-3, 20))), *inner))
        extents.append(draw(st.integers(1, 7)))
    size = draw(st.sampled_from([1, 2, 4]))
    phase = draw(st.sampled_from([p for p in range(0, 4, size)]))
    return tuple(axes), tuple(extents), size, phase


def positions(axes, extents) -> tuple[tuple[int, ...], list[int]]:
    """Shape and element offsets in order, one element at a time."""
    shape = tuple(1 if is_broadcast(axis) else n for axis, n in zip(axes, extents, strict=True))
    found = []
    for index in itertools.product(*(range(n) for n in shape)):
        offset = 0
        for axis, i in zip(axes, index, strict=True):
            for place, (size, stride) in reversed(list(enumerate(axis))):
                offset += (i if place == 0 else i % size) * stride
                i = i if place == 0 else i // size
        found.append(offset)
    return shape, found


@settings(max_examples=300, deadline=None)
@given(operands(), st.sampled_from([slice(0, 6), slice(1, 6, 2), slice(4, 5), np.array([0, 1, 5])]))
def test_gather_and_scatter_follow_the_digits(operand, tiles) -> None:
    axes, extents, size, phase = operand
    shape, offsets = positions(axes, extents)
    at = START + phase
    access = compile_access(axes, extents, size, phase)
    assert access.shape == shape
    reach = [o * size for o in offsets]
    assert (access.low, access.high) == (min(reach), max(reach) + size)

    covered = np.zeros(BYTES, bool)
    for o in reach:
        covered[at + o : at + o + size] = True
    masks = (covered.reshape(-1, 4) * [1, 2, 4, 8]).sum(axis=1)
    words = np.flatnonzero(masks)
    assert np.array_equal(access.touched() + at // 4, words)
    assert np.array_equal(access.masks if access.masks is not None else np.full(len(words), 15), masks[words])
    assert access.duplicates == (
        len(set(offsets)) != len(offsets) or bool(covered.sum() != len(offsets) * size)
    )

    numbers = np.arange(TILES)[tiles]
    memory = np.random.default_rng(0).integers(0, 256, (TILES, BYTES), np.uint8)
    got = gather(memory, tiles, at, access)
    assert got.shape == (len(numbers), *shape) and got.flags.c_contiguous
    expected = memory.view(f"u{size}")[numbers][:, [at // size + o for o in offsets]]
    assert np.array_equal(got.reshape(expected.shape), expected)

    if not access.duplicates:
        values = np.random.default_rng(1).integers(0, 250, got.shape).astype(got.dtype)
        other = memory.copy()
        scatter(memory, tiles, at, access, values)
        for tile, row in zip(numbers, values.reshape(len(numbers), -1), strict=True):
            other.view(f"u{size}")[tile, [at // size + o for o in offsets]] = row
        assert np.array_equal(memory, other)
